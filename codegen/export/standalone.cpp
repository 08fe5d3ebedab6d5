#include "codegen/export/standalone.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "codegen/prelude/prelude.h"
#include "diagrams/result.h"

namespace napkin::exporting {
namespace {

constexpr std::string_view kEmulated = "NAPKIN_EMULATED";
constexpr std::string_view kNamespace = "namespace nk {";
constexpr std::string_view kNamespaceEnd = "}  // namespace nk";

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// The name between quotes of `#include "name"`; empty for other lines.
std::string included(const std::string& line) {
    constexpr std::string_view kInclude = "#include \"";
    if (!line.starts_with(kInclude)) return "";
    return line.substr(kInclude.size(), line.find('"', kInclude.size()) - kInclude.size());
}

/// Copies a header's lines for a GPU, headers that it includes before them.
class Inliner {
public:
    void add(const std::string& name) {
        if (!done_.insert(name).second) return;
        const std::vector<PreludeFile>& files = prelude_files();
        const auto file = std::find_if(files.begin(), files.end(), [&](const PreludeFile& known) {
            return known.name == name;
        });
        invariant(file != files.end(), "the prelude has no file ", name);
        std::vector<std::string> own;
        // Whether lines are for a GPU, by conditional; others than the emulator's are kept.
        std::vector<Branch> branches;
        for (const std::string& line : lines_of(file->text)) {
            if (line == "#pragma once" || conditional(line, branches)) continue;
            if (std::any_of(branches.begin(), branches.end(),
                            [](Branch branch) { return branch == Branch::Dropped; }))
                continue;
            const std::string other = included(line);
            if (other.empty())
                own.push_back(line);
            else
                add(other);
        }
        text_.insert(text_.end(), own.begin(), own.end());
        text_.emplace_back();
    }

    /// Without empty lines next to each other, nor namespaces that end where the next begins.
    [[nodiscard]] std::string text() const {
        std::string text;
        bool blank = true;
        for (const std::string& line : text_) {
            if (line.empty() && blank) continue;
            blank = line.empty();
            text += line + "\n";
        }
        return text;
    }

private:
    enum class Branch { Kept, Dropped, Foreign };

    /// Follows #if and its like; true for a line that goes with the emulator's conditionals.
    static bool conditional(const std::string& line, std::vector<Branch>& branches) {
        if (line.starts_with("#if")) {
            const bool emulated = line.find(kEmulated) != std::string::npos;
            const bool negated = line.starts_with("#ifndef");
            branches.push_back(!emulated ? Branch::Foreign
                               : negated ? Branch::Kept
                                         : Branch::Dropped);
            return emulated;
        }
        if (branches.empty() || branches.back() == Branch::Foreign) {
            if (line.starts_with("#endif")) branches.pop_back();
            return false;
        }
        if (line.starts_with("#else")) {
            branches.back() = branches.back() == Branch::Kept ? Branch::Dropped : Branch::Kept;
            return true;
        }
        if (!line.starts_with("#endif")) return false;
        branches.pop_back();
        return true;
    }

    std::set<std::string> done_;
    std::vector<std::string> text_;
};

/// A kernel's source without its header and include, in a namespace of its own.
std::string kernel_text(const EmittedKernel& kernel, std::string& include) {
    const std::vector<std::string> lines = lines_of(kernel.source);
    const auto start = std::find(lines.begin(), lines.end(), kNamespace);
    const auto end = std::find(start, lines.end(), kNamespaceEnd);
    const auto header = std::find_if(
        lines.begin(), start, [](const std::string& line) { return !included(line).empty(); });
    invariant(start != lines.end() && end != lines.end() && header != start, "kernel ", kernel.name,
              " is not laid out as expected");
    include = included(*header);
    std::string text = fmt::format("namespace nk::{}_kernel {{\n", kernel.name);
    for (auto line = start + 1; line != end; ++line) text += *line + "\n";
    return text + fmt::format("}}  // namespace nk::{}_kernel\n", kernel.name);
}

}  // namespace

std::string inlined_prelude(const std::vector<std::string>& includes) {
    Inliner inliner;
    for (const std::string& name : includes) inliner.add(name);
    return inliner.text();
}

std::string standalone_source(const ExportKernels& kernels,
                              const std::vector<std::string>& header) {
    const EmittedProgram& program = kernels.program;
    std::vector<std::string> includes;
    std::string texts;
    std::string places;
    const auto add = [&](const EmittedKernel& kernel, std::size_t number, std::string_view arrays,
                         std::string_view left_out_by) {
        std::string include;
        std::string text = fmt::format(
            "\n// ---- kernel {}: region {}, for {}, blocks of {} threads, {} bytes of "
            "shared memory{} ----\n\n",
            kernel.name, kernel.region, kernel.target, kernel.threads, kernel.shared_bytes, arrays);
        text += kernel_text(kernel, include);
        if (!left_out_by.empty()) text = fmt::format("\n#ifndef {}{}#endif\n", left_out_by, text);
        texts += text;
        includes.push_back(include);
        places += fmt::format(
            "    if (number == {0})\n"
            "        *function = reinterpret_cast<const void*>(&nk::{1}_kernel::{1});\n",
            number, kernel.name);
    };
    for (std::size_t i = 0; i < program.kernels.size(); ++i) {
        const std::optional<EmittedKernel>& other = kernels.contiguous[i];
        add(program.kernels[i], i, other ? ", any strides" : "",
            other ? "NAPKIN_ONLY_CONTIGUOUS" : "");
        if (other)
            add(*other, kernels.contiguous_number(i), ", contiguous arrays", "NAPKIN_ONLY_STRIDED");
    }
    std::string text;
    for (const std::string& line : header) text += line.empty() ? "//\n" : "// " + line + "\n";
    text += fmt::format(
        "\n// Names of indices that a loop does not need are no mistake.\n"
        "#pragma nv_diag_suppress 177\n\n"
        "namespace {0}_export {{\n\n"
        "// ---- device primitives ----\n\n",
        program.name);
    text += inlined_prelude(includes) + texts;
    text += fmt::format(
        "\n}}  // namespace {0}_export\n\n"
        "#pragma nv_diag_default 177\n\n"
        "#ifndef __CUDACC_RTC__\n"
        "/// For {0}.c: the kernels{2}.\n"
        "extern \"C\" cudaError_t {0}_kernel(int number, const void** function) {{\n"
        "    using namespace {0}_export;\n{1}    return cudaSuccess;\n}}\n"
        "#endif\n",
        program.name, places,
        kernels.differ() ? " in the order in which they run, then those for contiguous arrays"
                         : " in the order in which they run");
    return text;
}

}  // namespace napkin::exporting
