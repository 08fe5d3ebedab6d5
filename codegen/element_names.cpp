#include "codegen/kernel_program.h"
#include "diagrams/result.h"

namespace napkin::kernel {

std::string element_name(ElementType type) {
    switch (type) {
    case ElementType::F32:
    case ElementType::TF32: return "float";
    case ElementType::BF16: return "bf16";
    case ElementType::F16: return "f16";
    case ElementType::E4M3: return "e4m3";
    case ElementType::E5M2: return "e5m2";
    case ElementType::I8:
    case ElementType::I4: return "i8";
    case ElementType::I32: return "int";
    case ElementType::I64: return "i64";
    case ElementType::Bool: return "u8";
    case ElementType::F64: break;
    }
    throw InternalError("a kernel has no 64-bit reals");
}

std::int64_t element_bytes(ElementType type) {
    return type == ElementType::I4 ? 1 : bits_of(type) / 8;
}

}  // namespace napkin::kernel
