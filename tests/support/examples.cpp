#include "tests/support/examples.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tests/golden.h"

namespace napkin::test {
namespace {

std::filesystem::path diagram_of(const std::filesystem::path& derivation) {
    std::string stem = derivation.stem().string();
    while (!std::filesystem::exists(derivation.parent_path() / (stem + ".ncd"))) {
        const std::size_t cut = stem.rfind('_');
        REQUIRE(cut != std::string::npos);
        stem.resize(cut);
    }
    return derivation.parent_path() / (stem + ".ncd");
}

Example read_example(const std::filesystem::path& derivation) {
    return {derivation.stem().string(), read_text(diagram_of(derivation)), read_text(derivation)};
}

}  // namespace

std::vector<Example> all_examples() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".drv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<Example> examples;
    for (const std::filesystem::path& file : files) examples.push_back(read_example(file));
    return examples;
}

Example example(const std::string& name) {
    return read_example(std::filesystem::path(NAPKIN_EXAMPLES_DIR) / (name + ".drv"));
}

}  // namespace napkin::test
