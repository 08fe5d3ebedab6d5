// What makes a folder a package: its projects for CMake and pip, and the kernels' images.
#include <fmt/format.h>

#include "codegen/export/printing.h"
#include "codegen/export/templates.h"

namespace napkin::exporting {
namespace {

/// The bytes as numbers of 64 bits, the lowest byte first, eight a line; PTX ends with a zero.
std::string words_of(std::string code) {
    constexpr std::size_t kWord = 8;
    constexpr std::size_t kLine = 5;
    code.resize((code.size() / kWord + 1) * kWord, '\0');
    std::string text;
    for (std::size_t at = 0; at < code.size(); at += kWord) {
        std::uint64_t word = 0;
        for (std::size_t byte = kWord; byte-- > 0;)
            word = word << 8U | static_cast<unsigned char>(code[at + byte]);
        text += fmt::format("{}{:#x},", at / kWord % kLine == 0 ? "\n    " : " ", word);
    }
    return text + "\n";
}

std::string kind_text(const ExportedImage& image) {
    if (image.kind == KernelImage::Ptx) return "PTX";
    return image.alone ? "ALONE" : "CUBIN";
}

}  // namespace

std::string print_images(const ExportKernels& kernels, const ExportedImages& images,
                         Places places) {
    for (const ExportedImage& image : images.list) {
        const std::string kind = kind_text(image);
        const std::string name = fmt::format("k{}{}", kind, image.capability);
        places["code"] +=
            fmt::format("static const uint64_t {}[] = {{{}}};\n", name, words_of(image.code));
        places["images"] += fmt::format("    {{{}, {}, {}}},\n", name, kind, image.capability);
    }
    for (const EmittedKernel* kernel : kernels.numbered())
        places["kernel_names"] += fmt::format("    \"{}\",\n", kernel->name);
    places["compiler"] = images.compiler;
    return fill(export_images_template(), places);
}

std::string print_cmake(const std::vector<std::string>& programs, const ExportedImages& images,
                        Places places) {
    const bool compiles = images.empty();
    places["languages"] = compiles ? "C CUDA" : "C";
    for (const char* place : {"choose_architecture", "cuda_properties", "cxx_library", "cxx_option",
                              "sources", "headers", "programs"})
        places[place];
    for (const std::string& name : programs) {
        const std::string kernels = name + (compiles ? ".cu" : "_images.c");
        places["sources"] += fmt::format(" {} {}.c", kernels, name);
        places["headers"] += fmt::format(" {}.h", name);
        places["programs"] += " " + name;
    }
    if (compiles) {
        places["choose_architecture"] =
            "# " + places.at("architecture_text") +
            fmt::format("\nset({0}_ARCHITECTURES {1} CACHE STRING \"that {0} is compiled for\")",
                        places.at("name"), places.at("architecture"));
        places["cuda_properties"] = fmt::format(
            "CUDA_ARCHITECTURES \"${{{}_ARCHITECTURES}}\"\n"
            "                                        "
            "CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Shared\n"
            "                                        ",
            places.at("name"));
        // What nvcc's host compiler leaves open, also where the linker is that of C.
        places["cxx_library"] = " stdc++";
        places["cxx_option"] = " -lstdc++";
    }
    return fill(export_cmake_template(), places);
}

std::string print_python_project(const std::vector<std::string>& programs, Places places) {
    const std::string& package = programs.front();
    for (const std::string& name : programs)
        for (const char* ending : {".py", ".cu", "_selftest.txt"})
            places["packaged"] +=
                fmt::format("\"{0}{1}\" = \"{2}/{3}\"\n", name, ending, package,
                            name == package && ending == std::string_view(".py") ? "__init__.py"
                                                                                 : name + ending);
    return fill(export_pyproject_template(), places);
}

}  // namespace napkin::exporting
