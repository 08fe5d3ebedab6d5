// Random expressions over the axes and arrays that a random diagram has so far.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random_diagram.h"

namespace napkin::test {

using Names = std::vector<std::string>;

/// `q, x`.
[[nodiscard]] std::string listed(const Names& names);

class RandomExpressions {
public:
    RandomExpressions(std::uint32_t seed, const RandomDiagramOptions& options)
        : options_(options), random_(seed) {}

protected:
    struct Known {
        std::string name;
        Names axes;
        bool read = false;
    };
    struct Definition {
        std::string name;
        Names axes;
        std::string value;
    };
    /// Each definition reads those before it.
    struct Chain {
        std::string inputs;
        std::vector<Definition> definitions;
    };

    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    std::string pick(const Names& names) { return names[below(names.size())]; }
    /// That many distinct names, in a random order.
    Names some(Names names, std::size_t count);
    static Names with(Names axes, const std::string& axis);

    std::string expression(const Names& scope, int depth);
    std::string leaf(const Names& scope);
    /// What a reduction takes as its operand without parentheses around all of it.
    std::string factor(const Names& scope, int depth);
    std::string reduction(const Names& target, int depth);
    std::string call(const Names& target);
    std::string moved(const std::string& array, Names index, const Names& scope);
    [[nodiscard]] std::string along(const std::string& axis, const std::string& meant) const;
    std::string condition(const Names& scope);
    std::string masked(const Names& scope, const std::string& value);
    Chain chain();
    /// Of any size within 1, so that its exponential is of no size to speak of.
    static std::string tame(const std::string& value) { return "0.5 * tanh(" + value + ")"; }

    RandomDiagramOptions options_;
    Names axes_;
    std::vector<Known> arrays_;
    std::size_t inputs_ = 0;
    std::optional<std::pair<std::string, std::string>> alias_;  ///< two axes of one size
    Names label_axes_;
    bool convolves_ = false;
    bool woven_ = false;
    bool has_label_ = false;
    bool table_ = false;
    bool has_slope_ = false;

private:
    std::string element(const Names& scope);
    Definition found(const Names& scope, const Names& both, const std::string& guard,
                     const std::string& row);

    std::mt19937 random_;
};

}  // namespace napkin::test
