// What a program computes with. A domain is a kind of value with its arithmetic: real numbers here,
// elements of finite fields and sets of inputs in derive/proof. The interpreter is written once,
// over a domain, which has a type Value and what RealDomain declares below.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "derive/accumulator.h"
#include "diagrams/diagram.h"
#include "diagrams/evaluate.h"
#include "diagrams/evaluate/arithmetic.h"

namespace napkin {

/// What a selection picks from: values with their indices along its axis.
template <class Value>
using Candidates = std::vector<std::pair<Value, std::int64_t>>;

/// The real numbers, in double.
class RealDomain {
public:
    using Value = double;
    /// Whether an element that is read depends on the values of its indices.
    static constexpr bool kTracksIndices = false;

    /// `storage`: tiles are rounded to their types and folds accumulate in f32; otherwise only what
    /// the user rounds is rounded.
    explicit RealDomain(bool storage = false) : storage_(storage) {}

    /// A literal or a size; an index too, in a domain that has no `position`.
    [[nodiscard]] static double number(double value) { return value; }
    /// What storage holds before it is written.
    [[nodiscard]] static double poison() { return std::numeric_limits<double>::quiet_NaN(); }
    /// `branch(true)` where a condition holds, else `branch(false)`.
    template <class Branch>
    [[nodiscard]] static double choose(double condition, const Branch& branch) {
        return branch(condition != 0);
    }
    /// An index as a number.
    [[nodiscard]] static std::int64_t index(double value) {
        return static_cast<std::int64_t>(value);
    }
    /// Every function but `if`, `and` and `or`, of which only what is needed is evaluated.
    [[nodiscard]] static double apply(Function function, std::span<const double> arguments) {
        return apply_function(function, arguments);
    }
    /// An element that was read at the given indices; called where kTracksIndices.
    [[nodiscard]] static double read(double element, std::span<const double>) { return element; }
    [[nodiscard]] static double round(ElementType type, double value) {
        return round_to(type, value);
    }

    /// A value as it is written into a tile of type `tile` of an array.
    [[nodiscard]] double written(const Array& array, ElementType tile, double value) const {
        if (storage_) return round_to(tile, value);
        return array.rounds ? round_to(array.type, value) : value;
    }
    /// A value as it is kept in device memory in the given type.
    [[nodiscard]] double saved(ElementType type, double value) const {
        return storage_ ? round_to(type, value) : value;
    }

    /// Folds one element, of one value a component, into a state; `identity` is the monoid's, and
    /// `rule(i)` its i-th component of `state` combined with `element`.
    template <class Rule>
    void absorb(MonoidId monoid, std::span<const double> /*identity*/, std::vector<double>& state,
                std::span<const double> element, const Rule& rule) const {
        if (monoid == kSum || monoid == kMax) {
            const double both[] = {state[0], element[0]};
            state[0] = apply_function(monoid == kSum ? Function::Add : Function::Max, both);
        } else {
            std::vector<double> next;
            for (std::size_t i = 0; i < state.size(); ++i) next.push_back(rule(i));
            state = std::move(next);
        }
    }
    /// What an accumulator of reals holds.
    [[nodiscard]] double accumulated(double value) const {
        return storage_ ? round_to(ElementType::F32, value) : value;
    }
    /// A state after its last element.
    static void finish(MonoidId /*monoid*/, std::vector<double>& /*state*/) {}

    /// The `ranks` largest in falling order, ties to the lower index; what is missing is -inf.
    [[nodiscard]] static std::vector<std::pair<double, double>> select(Candidates<double> elements,
                                                                       std::int64_t ranks) {
        std::stable_sort(elements.begin(), elements.end(), [](const auto& a, const auto& b) {
            return arithmetic::ranks_above(a.first, b.first);
        });
        elements.resize(static_cast<std::size_t>(ranks),
                        {-std::numeric_limits<double>::infinity(), kNoIndex});
        return {elements.begin(), elements.end()};
    }

private:
    bool storage_ = false;
};

/// An index as a value.
template <class Domain>
[[nodiscard]] typename Domain::Value index_value(Domain& domain, std::int64_t index) {
    if constexpr (requires { domain.position(index); })
        return domain.position(index);
    else
        return domain.number(static_cast<double>(index));
}

}  // namespace napkin
