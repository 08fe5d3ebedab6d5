#include "diagrams/evaluate/npy_messages.h"

#include <fmt/format.h>

#include "diagrams/evaluate/messages.h"

namespace napkin::messages {

Diagnostic cannot_read(const std::string& path, const std::string& reason) {
    return plain_error("E0511", fmt::format("cannot read `{}`: {}", path, reason));
}

Diagnostic damaged_npy(const std::string& path, const std::string& reason) {
    return plain_error("E0512", fmt::format("`{}` is no usable NumPy file: {}", path, reason),
                       "`numpy.save` writes such files");
}

Diagnostic unsupported_npy_type(const std::string& path, const std::string& descr) {
    return plain_error(
        "E0513", fmt::format("`{}` holds numbers of type `{}`, which are not read", path, descr),
        "f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 and b1 are; convert with "
        "`astype('float32')` or the like");
}

Diagnostic npy_length_differs(const std::string& path, std::size_t wanted, std::size_t found) {
    return plain_error(
        "E0514", fmt::format("`{}` is {}: its header promises {} bytes of numbers, {} follow", path,
                             found < wanted ? "truncated" : "too long", wanted, found));
}

Diagnostic npy_shape_differs(const std::string& path, const Diagram& diagram, ArrayId array,
                             const std::vector<std::int64_t>& found) {
    std::string wanted;
    std::vector<std::int64_t> extents;
    for (const AxisId axis : diagram[array].axes) {
        wanted += (wanted.empty() ? "" : ", ") + diagram[axis].name;
        extents.push_back(diagram[axis].extent);
    }
    return plain_error(
        "E0515",
        fmt::format("`{}` has shape {}, but `{}[{}]` has shape {}", path, shape_text(found),
                    diagram[array].name, wanted, shape_text(extents)),
        "transpose the array, or set sizes (`--set`)");
}

Diagnostic npy_kind_differs(const std::string& path, const Diagram& diagram, ArrayId array,
                            const std::string& descr) {
    const ElementType type = diagram[array].type;
    const char* wanted = type == ElementType::Bool ? "b1" : is_floating(type) ? "f4" : "i4";
    return plain_error("E0516",
                       fmt::format("`{}` holds numbers of type `{}`, but `{}` is of type {}", path,
                                   descr, diagram[array].name, name_of(type)),
                       fmt::format("convert with `astype('{}')`", wanted));
}

Diagnostic npy_integer_too_large(const std::string& path) {
    return plain_error("E0517",
                       fmt::format("`{}` holds an integer beyond 2^53, which cannot be kept "
                                   "exactly",
                                   path));
}

}  // namespace napkin::messages
