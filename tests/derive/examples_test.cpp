// Every derivation under examples/ at small ragged sizes, with its tile sizes and with sixteenths
// of them: it computes what the reference says, and counting without values gives the same
// counters.
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

TEST_CASE("every example's derivation") {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".drv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    REQUIRE(files.size() > 20);
    for (const std::filesystem::path& file : files) {
        INFO(file.filename().string());
        const std::string text = read_text(diagram_of(file));
        const Diagram diagram = load(text, small_sizes(load(text)));
        std::vector<Command> steps = commands(read_text(file));
        for (std::int64_t shrink : {1, 16}) {
            for (Command& step : steps)
                if (step.size) step.size = std::max<std::int64_t>(1, *step.size / shrink);
            const Result<State> state = replay(diagram, steps);
            REQUIRE(state.has_value());
            check_against_reference(*state);
        }
    }
}

}  // namespace napkin::test
