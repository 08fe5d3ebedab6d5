// Exports made in tests, and the launchers in them, compiled for the host.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/export/export.h"
#include "diagrams/diagram.h"

namespace napkin::test {

/// A diagram, its derivation and target, and sizes to test at beside its own.
struct ExportExample {
    std::string name;
    std::string diagram;
    std::string derivation;
    std::string target = "simt";
    std::vector<Sizes> sizes;
};

struct Exported {
    State state;
    ExportKernels kernels;
    EmittedProgram program;  ///< with all kernels, by their numbers
    std::vector<ExportedFile> files;
    [[nodiscard]] const std::string& text(const std::string& file) const;
};
[[nodiscard]] ExportKernels export_kernels(const State& state, const std::string& target);
[[nodiscard]] Exported make_export(const ExportExample& example, const ExportedImages& images = {});

/// A folder of this process, removed at the end.
[[nodiscard]] const std::filesystem::path& scratch();

/// The files in a folder, with the C launcher and what `sources` names besides compiled against
/// tests/export/stub and loaded.
class Launcher {
public:
    Launcher(const Exported& exported, const std::string& folder,
             const std::vector<std::string>& sources);
    [[nodiscard]] void* symbol(const char* name) const;
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

private:
    std::filesystem::path folder_;
    void* library_ = nullptr;
};

/// A command's exit code; its output ends in `log`.
[[nodiscard]] int shell(const std::string& command, std::string& log);

}  // namespace napkin::test
