// Folders that commands write: over nothing that others wrote, and without what is left of an
// earlier writing.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/export/export.h"
#include "diagrams/diagnostic.h"

namespace napkin::cli {

struct OwnFolder {
    std::string path;
    std::string command;  ///< that writes it
    /// Whether the command wrote a file that is there, by its name.
    std::function<bool(const std::string& name)> wrote;
};

/// Why the files must not be written: what stands there is no folder, or a file of others.
[[nodiscard]] std::optional<Diagnostic> check_folder(const OwnFolder& folder,
                                                     const std::vector<ExportedFile>& files);
/// Writes all files, complete before the first of them replaces anything; what the command wrote
/// before of the outdated is removed.
[[nodiscard]] std::optional<Diagnostic> write_folder(const OwnFolder& folder,
                                                     const std::vector<ExportedFile>& files,
                                                     const std::set<std::string>& outdated);

}  // namespace napkin::cli
