// Formulas hold at other sizes than those at which they were made, unless they say that they do
// not.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/perfmodel/counted.h"
#include "tests/support/examples.h"

namespace napkin {
namespace {

/// A derivation at other sizes; nullopt where it is refused there.
std::optional<Cost> cost_at(const test::Example& example, const Sizes& sizes) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "test.ncd", example.diagram, sizes);
    if (!checked) return std::nullopt;
    const auto commands = parse_derivation(sources, sources.add("test.drv", example.derivation));
    REQUIRE(commands.has_value());
    const Result<State> state = replay(checked->diagram, *commands);
    if (!state) return std::nullopt;
    return test::cost(*state);
}

/// Symbols of which two costs have other values.
std::set<Symbol> changed(const RegionCost& a, const RegionCost& b) {
    std::set<Symbol> symbols;
    for (const auto& [symbol, value] : a.sizes)
        if (b.sizes.at(symbol) != value) symbols.insert(symbol);
    return symbols;
}

bool is_open(const RegionCost& cost, const std::set<Symbol>& symbols) {
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](Symbol symbol) { return cost.formulas.open.contains(symbol); });
}

TEST_CASE("formulas of the examples hold at other sizes of every axis") {
    int held = 0;
    std::set<std::string> open;
    for (const test::Example& example : test::all_examples()) {
        const std::optional<Cost> base = cost_at(example, {});
        REQUIRE(base.has_value());
        const Diagram diagram = test::derived(example.diagram).diagram;
        for (std::uint32_t i = 0; i < diagram.axes.size(); ++i) {
            if (!has_own_size(diagram, AxisId{i})) continue;
            const Axis& axis = diagram.axes[i];
            for (const std::int64_t size :
                 {axis.extent / 3 + 1, axis.extent + 5, 2 * axis.extent}) {
                INFO(example.name, " at ", axis.name, " = ", size);
                const std::optional<Cost> other = cost_at(example, {{axis.name, size}});
                if (!other) continue;
                for (std::size_t r = 0; r < base->regions.size(); ++r) {
                    const RegionCost& region = base->regions[r];
                    if (is_open(region, changed(region, other->regions[r]))) {
                        open.insert(example.name);
                        continue;
                    }
                    test::check_formulas(region, other->regions[r]);
                    ++held;
                }
            }
        }
    }
    CHECK_GT(held, 300);
    std::string names;
    for (const std::string& name : open) names += name + " ";
    CHECK_EQ(names, "attention_decoding_parts attention_neighbourhood convolution matmul_split_k ");
}

/// A derivation at random sizes of axes and tiles.
Cost random_band(std::mt19937_64& random, const std::string& mask) {
    const auto size = [&](std::uint64_t most) { return std::to_string(1 + random() % most); };
    const std::string text =
        "diagram band {\n axis q = " + size(40) + ", x = " + size(40) + ", d = 3, w = " + size(9) +
        "\n input Q[q, d], K[x, d], V[x, d]\n S[q, x] = if " + mask +
        " then sum(d) Q[q, d] * K[x, d] else -inf\n"
        " P[q, x] = softmax[x](S[q, x])\n output O[q, d] = sum(x) P[q, x] * V[x, d]\n}\n";
    return test::cost(test::derived(
        text, "fuse all\ngroup q by " + size(12) + "\nstream x by " + size(12) + "\n"));
}

TEST_CASE("formulas of masks hold at other sizes where they say so") {
    const std::vector<std::pair<std::string, bool>> masks = {
        {"x <= q", true},
        {"x <= q + size(x) - size(q)", true},
        {"x <= q and q - x < size(w)", true},
        {"q - x < size(w) and x - q < 2 * size(w)", true},
        {"q - x < size(w) and x - q < 3 - size(w)", true},
        {"q - x < size(w) and x - q < 4 - 2 * size(w)", false},
        {"x < 2 * q and x < size(w)", false},
        {"2 * x <= q + 3", false},
    };
    for (const auto& [mask, holds] : masks) {
        std::mt19937_64 random(21);
        for (int trial = 0; trial < 30; ++trial) {
            INFO(mask, ", trial ", trial);
            const RegionCost base = random_band(random, mask).regions.front();
            CHECK_EQ(base.formulas.open.empty(), holds);
            const RegionCost other = random_band(random, mask).regions.front();
            if (holds) test::check_formulas(base, other);
        }
    }
}

}  // namespace
}  // namespace napkin
