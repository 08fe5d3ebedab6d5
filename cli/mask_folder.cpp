// The folders of masks: a text, whose first line names the arrays that are written with it. So a
// later writing knows its own from what others put there.
#include <fmt/format.h>

#include <sstream>

#include "cli/files.h"
#include "cli/folders.h"
#include "cli/mask_export.h"
#include "diagrams/npy.h"

namespace napkin::cli {
namespace {

constexpr std::string_view kMark = "# Written by napkin mask, with";

/// What an earlier writing left there, the text of this name included; nothing where there is none.
std::set<std::string> written_before(const std::string& folder, const std::string& text) {
    const Result<std::string> content = text_of_file(folder + "/" + text);
    if (!content || !content->starts_with(kMark)) return {};
    std::set<std::string> names{text};
    std::istringstream words(content->substr(kMark.size(), content->find('\n') - kMark.size()));
    for (std::string name; words >> name;) names.insert(name);
    return names;
}

}  // namespace

std::optional<Diagnostic> write_mask_folder(const std::string& folder, const ExportedFile& text,
                                            const NamedTensors& arrays) {
    std::vector<ExportedFile> files;
    std::string mark{kMark};
    for (const auto& [name, tensor] : arrays) {
        files.push_back({name + ".npy", npy_bytes(tensor, NpyType::I4)});
        mark += " " + files.back().name;
    }
    files.push_back({text.name, mark + "\n" + text.text});
    const std::set<std::string> before = written_before(folder, text.name);
    std::set<std::string> outdated = before;
    for (const ExportedFile& file : files) outdated.erase(file.name);
    const auto wrote = [&](const std::string& name) { return before.contains(name); };
    return write_folder({folder, "mask", wrote}, files, outdated);
}

}  // namespace napkin::cli
