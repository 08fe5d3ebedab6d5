#include "cli/folders.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/files.h"
#include "cli/messages.h"
#include "codegen/export/messages.h"

namespace napkin::cli {
namespace {

namespace fs = std::filesystem;

/// A folder inside another, removed with what is in it.
class Staging {
public:
    explicit Staging(const fs::path& folder) : path_((folder / ".napkin-XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) path_.clear();
    }
    ~Staging() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

std::string inside(const std::string& folder, const std::string& name) {
    return (fs::path(folder) / name).string();
}

std::optional<Diagnostic> replace_files(const OwnFolder& folder,
                                        const std::vector<ExportedFile>& files,
                                        const std::set<std::string>& outdated) {
    const Staging staging(folder.path);
    if (staging.path().empty()) return cannot_write(folder.path, std::strerror(errno));
    for (const ExportedFile& file : files) {
        const std::string path = inside(staging.path(), file.name);
        std::optional<Diagnostic> failure = write_file(path, file.text);
        if (!failure) continue;
        // The user knows the file by the place that it was on its way to.
        std::string& message = failure->message;
        if (const std::size_t at = message.find(path); at != std::string::npos)
            message.replace(at, path.size(), inside(folder.path, file.name));
        return failure;
    }
    std::error_code ignored;
    for (const std::string& name : outdated)
        if (folder.wrote(name)) fs::remove(inside(folder.path, name), ignored);
    for (const ExportedFile& file : files) {
        const std::string path = inside(folder.path, file.name);
        if (::rename(inside(staging.path(), file.name).c_str(), path.c_str()) != 0)
            return cannot_write(path, std::strerror(errno));
    }
    return std::nullopt;
}

}  // namespace

std::optional<Diagnostic> check_folder(const OwnFolder& folder,
                                       const std::vector<ExportedFile>& files) {
    for (const ExportedFile& file : files)
        if (file.name.size() > NAME_MAX)
            return cannot_write(folder.path, std::strerror(ENAMETOOLONG));
    std::error_code ignored;
    if (!fs::exists(folder.path, ignored)) return std::nullopt;
    if (!fs::is_directory(folder.path, ignored)) return messages::not_a_folder(folder.path);
    for (const ExportedFile& file : files) {
        const std::string path = inside(folder.path, file.name);
        if (fs::symlink_status(path, ignored).type() != fs::file_type::not_found &&
            (!fs::is_regular_file(path, ignored) || !folder.wrote(file.name)))
            return messages::foreign_file(path, folder.command);
    }
    return std::nullopt;
}

std::optional<Diagnostic> write_folder(const OwnFolder& folder,
                                       const std::vector<ExportedFile>& files,
                                       const std::set<std::string>& outdated) {
    if (auto wrong = check_folder(folder, files)) return wrong;
    std::error_code ignored;
    const bool is_new = !fs::exists(folder.path, ignored);
    if (auto failure = make_folder(folder.path)) return failure;
    std::optional<Diagnostic> failure = replace_files(folder, files, outdated);
    // Only what is empty is removed by this.
    if (failure && is_new) ::rmdir(folder.path.c_str());
    return failure;
}

}  // namespace napkin::cli
