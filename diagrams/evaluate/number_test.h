// A comparison of one array's elements with numbers, and where it changes.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "diagrams/diagram.h"

namespace napkin {

[[nodiscard]] bool is_ordering(Function function);
[[nodiscard]] bool is_comparison(Function function);
[[nodiscard]] bool has_default(const Array& array);
/// Arrays that an expression reads, but for parameters that have a default: those are numbers.
[[nodiscard]] std::set<ArrayId> data_read(const Diagram& diagram, const Expression& expression);

class NumberTest {
public:
    /// None where something else than the elements of one input, or of one parameter, decides. What
    /// chooses the larger or smaller compares them. The diagram has to live as long.
    [[nodiscard]] static std::optional<NumberTest> of(const Diagram& diagram, const Apply& call);
    /// Of several comparisons together too, as `and` joins them; it is asked for no edges.
    [[nodiscard]] static std::optional<NumberTest> of_condition(const Diagram& diagram,
                                                                const Apply& call);

    [[nodiscard]] ArrayId array() const { return array_; }
    /// Whole numbers at which it changes: those that stand in it and that two of them make, as
    /// `label - 1 == 99` does at 100, and what is next to them where it orders; where it asks for
    /// equality, no neighbours of those that it tells from both of theirs. Of elements that are
    /// positions below `positions`, no other than those and where it says something else than of
    /// the nearest.
    [[nodiscard]] std::set<std::int64_t> edges(std::int64_t positions) const;

    /// What it says of an element.
    [[nodiscard]] bool holds_at(std::int64_t element) const { return *holds(element) != 0; }

private:
    NumberTest(const Diagram& diagram, Apply call) : diagram_(diagram), call_(std::move(call)) {}

    [[nodiscard]] const Expression* made_of(ArrayId array) const;
    [[nodiscard]] std::optional<double> value(const Expression& expression, double element) const;
    [[nodiscard]] std::optional<double> value(const Apply& call, double element) const;
    [[nodiscard]] std::optional<double> holds(std::int64_t element) const;
    void note_numbers(const Expression& expression, std::set<std::int64_t>& numbers) const;
    [[nodiscard]] std::set<std::int64_t> candidates() const;
    [[nodiscard]] bool is_edge(std::int64_t at) const;
    [[nodiscard]] bool is_asked_for(std::int64_t at, std::int64_t positions) const;

    const Diagram& diagram_;
    Apply call_;
    ArrayId array_;
};

}  // namespace napkin
