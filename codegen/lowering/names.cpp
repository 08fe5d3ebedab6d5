#include <cctype>

#include "codegen/lowering/scope.h"

namespace napkin::lowering {
namespace {

// Words of C++ and names that kernels use for themselves.
constexpr const char* kReserved[] = {"alignas",
                                     "alignof",
                                     "and",
                                     "asm",
                                     "auto",
                                     "bool",
                                     "break",
                                     "case",
                                     "catch",
                                     "char",
                                     "class",
                                     "concept",
                                     "const",
                                     "constexpr",
                                     "continue",
                                     "decltype",
                                     "default",
                                     "delete",
                                     "do",
                                     "double",
                                     "else",
                                     "enum",
                                     "explicit",
                                     "export",
                                     "extern",
                                     "false",
                                     "float",
                                     "for",
                                     "friend",
                                     "goto",
                                     "if",
                                     "inline",
                                     "int",
                                     "long",
                                     "mutable",
                                     "namespace",
                                     "new",
                                     "noexcept",
                                     "not",
                                     "nullptr",
                                     "operator",
                                     "or",
                                     "private",
                                     "protected",
                                     "public",
                                     "register",
                                     "requires",
                                     "return",
                                     "short",
                                     "signed",
                                     "sizeof",
                                     "static",
                                     "struct",
                                     "switch",
                                     "template",
                                     "this",
                                     "throw",
                                     "true",
                                     "try",
                                     "typedef",
                                     "typename",
                                     "union",
                                     "unsigned",
                                     "using",
                                     "virtual",
                                     "void",
                                     "volatile",
                                     "while",
                                     "xor",
                                     "memory",
                                     "kThreads",
                                     "threadIdx",
                                     "blockIdx",
                                     "gridDim",
                                     "blockDim",
                                     "nk",
                                     "group",
                                     "a",
                                     "b",
                                     "i",
                                     "j",
                                     "e",
                                     "f",
                                     "acc",
                                     "row",
                                     "column",
                                     "lane",
                                     "line",
                                     "sum",
                                     "best",
                                     "last",
                                     "other",
                                     "rank",
                                     "add",
                                     "subtract",
                                     "multiply",
                                     "divide",
                                     "guard",
                                     "maximum",
                                     "minimum",
                                     "modulo",
                                     "floor_divide",
                                     "absolute",
                                     "infinity",
                                     "minus_infinity",
                                     "convert",
                                     "round_to",
                                     "round_tf32",
                                     "to_f32",
                                     "i8",
                                     "i64",
                                     "u8",
                                     "u16",
                                     "u32",
                                     "u64",
                                     "bf16",
                                     "f16",
                                     "e4m3",
                                     "e5m2",
                                     "Ranked",
                                     "precedes",
                                     "emulator",
                                     "clamp",
                                     "saturate",
                                     "is_nan",
                                     "bits_of",
                                     "float_of",
                                     "shuffle_xor",
                                     "block_barrier",
                                     "warp_barrier",
                                     "Global",
                                     "Shared",
                                     "shared_tile",
                                     "rsqrtf",
                                     "expf",
                                     "logf",
                                     "sqrtf",
                                     "tanhf",
                                     "erff",
                                     "floorf",
                                     "powf",
                                     "outer_product",
                                     "found",
                                     "value",
                                     "next",
                                     "r",
                                     "c",
                                     "row_pass",
                                     "column_pass",
                                     "copy_vector",
                                     "integer_power",
                                     "signed_nibble",
                                     "replace_nan",
                                     "memcpy",
                                     "fmaxf",
                                     "fminf",
                                     "fabsf",
                                     "rintf",
                                     "fmaf",
                                     "NULL",
                                     "INFINITY",
                                     "NAN",
                                     "assert",
                                     "errno",
                                     "main"};

// What kernels for the tensor core use besides.
constexpr const char* kReservedForTensors[] = {
    "Conversion",    "Cursor",        "Flag",          "Fragment",      "LeftOperand",
    "Matrix",        "Maximum",       "Minimum",       "Order",         "Product",
    "RowFragment",   "Rows",          "StepOperands",  "Sum",           "as_left",
    "assume",        "block_maximum", "block_minimum", "block_product", "block_sum",
    "commit_copies", "copy_async",    "exp2_fast",     "exp2_gradual",  "exp_fast",
    "kTested",       "lane_index",    "load_left",     "load_rows",     "multiply_on",
    "pack",          "read_first",    "row_maximum",   "row_minimum",   "row_product",
    "row_sum",       "save_matrix",   "save_rows",     "seed",          "shared_matrix",
    "store",         "tanh_by_exp",   "tested",        "turn",          "wait_copies",
    "warp_index"};

}  // namespace

Names::Names() : taken_(std::begin(kReserved), std::end(kReserved)) {
    taken_.insert(std::begin(kReservedForTensors), std::end(kReservedForTensors));
    // Numbered names of phases and of parts of expressions.
    for (const char* base : {"all", "acc", "value", "next", "other", "last", "t", "r"})
        for (int number = 0; number < 256; ++number) taken_.insert(base + std::to_string(number));
}

std::string Names::identifier(const std::string& text) {
    std::string name;
    for (const char c : text) {
        const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
        // Two underscores in a row belong to the implementation.
        const char added = fits ? c : '_';
        if (added == '_' && !name.empty() && name.back() == '_') continue;
        name += added;
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
        name.front() == '_')
        name = "v" + name;
    return name;
}

bool Names::are_free(const std::vector<std::string>& names) const {
    for (const std::string& name : names)
        if (taken_.contains(name)) return false;
    return true;
}

std::string Names::fresh(const std::string& wanted) {
    const std::string base = identifier(wanted);
    std::string name = base;
    for (int number = 2; taken_.contains(name); ++number)
        name = base + "_" + std::to_string(number);
    taken_.insert(name);
    return name;
}

}  // namespace napkin::lowering
