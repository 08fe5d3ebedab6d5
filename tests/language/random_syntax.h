// Random syntax trees with every kind of node, in the form that the parser gives them.
#pragma once

#include <random>

#include "diagrams/syntax.h"

namespace napkin::test {

class RandomSyntax {
public:
    explicit RandomSyntax(std::uint32_t seed) : random_(seed) {}

    [[nodiscard]] syntax::File file();
    [[nodiscard]] syntax::Expression expression(int depth);

private:
    [[nodiscard]] int below(int bound);
    [[nodiscard]] bool chance(int percent) { return below(100) < percent; }
    [[nodiscard]] std::string word();
    [[nodiscard]] syntax::Name name() { return {word(), {}}; }
    [[nodiscard]] std::vector<syntax::Name> names(int least, int most);
    [[nodiscard]] std::vector<syntax::Expression> expressions(int least, int most, int depth);
    [[nodiscard]] syntax::Literal literal();
    [[nodiscard]] syntax::Reduction reduction(int depth);
    [[nodiscard]] syntax::Binary binary(int depth);
    [[nodiscard]] syntax::Target target(bool with_type);
    [[nodiscard]] std::vector<syntax::Target> targets(bool with_type);
    [[nodiscard]] std::vector<syntax::AxisItem> axis_items();
    [[nodiscard]] syntax::InputLine input_line();
    [[nodiscard]] syntax::LineBody body();
    [[nodiscard]] syntax::MonoidDefinition monoid();
    [[nodiscard]] syntax::Definition definition();
    [[nodiscard]] std::vector<std::string> comments(bool at_start, bool at_end);
    [[nodiscard]] std::string comment();

    std::mt19937 random_;
};

}  // namespace napkin::test
