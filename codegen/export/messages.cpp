#include "codegen/export/messages.h"

#include <fmt/format.h>

namespace napkin::messages {

Diagnostic bad_export_name(const std::string& name) {
    return plain_error("E0961",
                       fmt::format("`{}` cannot name files, functions and an operator", name),
                       "choose another with `--name`: letters, digits and underscores, no word "
                       "that C, C++ or Python use themselves and no header or module of theirs");
}

Diagnostic half_a_byte(const std::string& array) {
    return plain_error("E0962",
                       fmt::format("`{}` is one number of 4 bits, which no tensor holds", array),
                       "store it as `i8`");
}

Diagnostic split_bytes(const std::string& array, const std::string& axis, std::int64_t size) {
    return plain_error(
        "E0969",
        fmt::format("rows of `{}` have {} numbers of 4 bits along `{}`, so two share a byte", array,
                    size, axis),
        fmt::format("make `{}` even, or store `{}` as `i8`", axis, array));
}

Diagnostic nothing_to_export() {
    return plain_error("E0963", "no kernel computes anything: every output is an input",
                       "export a diagram with a statement");
}

Diagnostic no_image(const std::string& architecture, const std::string& compiler) {
    return plain_error(
        "E0967", fmt::format("{} makes no cubin of these kernels for {}", compiler, architecture),
        "leave it out of `--cubin`, or use another version of NVRTC");
}

Diagnostic gradient_differs(const std::string& how, const std::string& help) {
    return plain_error("E0968", how, help);
}

Diagnostic no_gradient(const std::string& gradient, const std::string& of,
                       const GradientSlope& slope, const std::string& sizes) {
    std::string inputs = slope.size == 1 ? "" : fmt::format(", of inputs about {:.4g}", slope.size);
    for (const auto& [name, value] : slope.chosen)
        inputs += fmt::format(", `{}` = {:.4g}", name, value);
    if (!inputs.empty()) inputs += ',';
    return plain_error(
        "E0970",
        fmt::format("`d{}` of `{}` is not the gradient of `{}`: along a random direction at {}{} "
                    "it says {:.4g}, and differences say {:.4g}",
                    slope.input, gradient, of, sizes, inputs, slope.claimed, slope.measured),
        "correct the diagram of the gradient, or give `--unproved` where another is meant, as of a "
        "rounding that lets gradients pass",
        Failure::NotProved);
}

Diagnostic foreign_file(const std::string& path, const std::string& command) {
    return plain_error(
        "E0964", fmt::format("`{}` is there already, and not from `napkin {}`", path, command),
        "choose another folder, or move the file away");
}

Diagnostic another_export(const std::string& folder, const std::string& name) {
    return plain_error("E0966", fmt::format("`{}` holds the export of `{}`", folder, name),
                       "choose another folder, or remove this one");
}

Diagnostic not_a_folder(const std::string& path) {
    return plain_error("E0965", fmt::format("`{}` is there already, and is no folder", path),
                       "choose another folder");
}

}  // namespace napkin::messages
