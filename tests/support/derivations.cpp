#include "tests/support/derivations.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "tests/derive/programs.h"
#include "tests/golden.h"

namespace napkin::test {
namespace {

/// Small, mostly prime sizes for the axes that a file sizes itself; what is 8 or less stays.
Sizes small_sizes(const Diagram& diagram) {
    constexpr std::array<std::int64_t, 7> kSmall = {13, 11, 17, 10, 19, 12, 9};
    Sizes sizes;
    std::size_t next = 0;
    for (const Axis& axis : diagram.axes) {
        if (axis.size != symbol(axis.name)) continue;
        if (axis.woven)
            sizes[axis.name] = 2;
        else if (axis.extent > 8)
            sizes[axis.name] = kSmall[next++ % kSmall.size()];
    }
    return sizes;
}

/// `attention_unfused.drv` belongs to attention.ncd: the longest diagram name that the file's
/// begins with.
std::filesystem::path diagram_of(const std::filesystem::path& derivation) {
    std::string stem = derivation.stem().string();
    while (!std::filesystem::exists(derivation.parent_path() / (stem + ".ncd"))) {
        const std::size_t cut = stem.rfind('_');
        REQUIRE(cut != std::string::npos);
        stem.resize(cut);
    }
    return derivation.parent_path() / (stem + ".ncd");
}

}  // namespace

std::vector<ExampleDerivation> example_derivations() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".drv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<ExampleDerivation> derivations;
    for (const std::filesystem::path& file : files) {
        const std::string text = read_text(diagram_of(file));
        derivations.push_back(
            {file.stem().string(), load(text, small_sizes(load(text))), commands(read_text(file))});
    }
    return derivations;
}

}  // namespace napkin::test
