#include "tests/support/examples.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tests/golden.h"

namespace napkin::test {
namespace {

namespace fs = std::filesystem;

/// Beside the derivation or in examples/.
fs::path diagram_of(const fs::path& derivation) {
    std::string stem = derivation.stem().string();
    for (;;) {
        for (const fs::path& folder : {derivation.parent_path(), fs::path(NAPKIN_EXAMPLES_DIR)})
            if (fs::exists(folder / (stem + ".ncd"))) return folder / (stem + ".ncd");
        const std::size_t cut = stem.rfind('_');
        REQUIRE(cut != std::string::npos);
        stem.resize(cut);
    }
}

Example read_example(const fs::path& diagram, const fs::path& derivation) {
    return {derivation.stem().string(), read_text(diagram), read_text(derivation)};
}

std::vector<fs::path> derivations_in(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".drv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<Example> examples_in(const fs::path& folder) {
    std::vector<Example> examples;
    for (const fs::path& file : derivations_in(folder))
        examples.push_back(read_example(diagram_of(file), file));
    return examples;
}

}  // namespace

std::vector<Example> all_examples() {
    return examples_in(NAPKIN_EXAMPLES_DIR);
}

std::vector<Example> published_examples() {
    return examples_in(fs::path(NAPKIN_EXAMPLES_DIR) / "published");
}

Example example(const std::string& name) {
    const fs::path file = fs::path(NAPKIN_EXAMPLES_DIR) / (name + ".drv");
    return read_example(diagram_of(file), file);
}

std::vector<Example> all_benchmarks() {
    return examples_in(NAPKIN_BENCHMARKS_DIR);
}

}  // namespace napkin::test
