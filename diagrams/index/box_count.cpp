#include "diagrams/index/box_count.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "diagrams/checked.h"

namespace napkin::index {

namespace blocks {

/// Blocks looked at; ordinary masks need some thousands.
constexpr std::size_t kMostBlocks = 4'000'000;
/// A period of remainders beyond it is not what blocks are aligned to.
constexpr std::int64_t kLongestPeriod = 1 << 16;

/// A block of tile numbers: the first of each axis, and how many.
struct Block {
    std::vector<std::int64_t> first;
    std::vector<std::int64_t> count;
};

/// A linear form over tile numbers and quotients; what it has of other variables changes from one
/// question to the next.
struct Form {
    Linear whole;
    std::vector<std::pair<std::size_t, std::int64_t>> numbers;
    std::vector<std::pair<std::size_t, std::int64_t>> quotients;
};
struct Division {
    Form dividend;
    std::int64_t divisor = 1;
};
struct Terms {
    std::vector<Division> divisions;
    std::vector<Form> zero;
    std::vector<Form> not_negative;
};
struct Alternatives {
    std::vector<Terms> clauses;
    bool inverted = false;
};

/// A value in the corner of a block, and how far it goes from there.
struct Reach {
    std::int64_t corner = 0;
    std::int64_t low = 0;
    std::int64_t high = 0;
};

enum class Truth { False, True, Open };

/// What a block's count depends on.
using Signature = std::vector<std::int64_t>;

/// Choices that share axes, with those axes.
struct Component {
    std::vector<std::size_t> axes;  // into Parts::tilings
    std::vector<Alternatives> choices;
    std::map<std::pair<std::size_t, Signature>, std::int64_t> known;  // by which tiles are last
};

/// A condition over tiles.
struct Condition {
    Condition(const std::vector<Axis>& all_axes, const Mask& of, const BoxCondition& where,
              const std::vector<Tiling>& cut)
        : axes(all_axes), mask(of), tilings(cut) {
        for (const Expression& what : mask.coordinates()) {
            const AxisIndex* index = std::get_if<AxisIndex>(&what.node);
            const auto own =
                std::find_if(tilings.begin(), tilings.end(), [&](const Tiling& tiling) {
                    return index != nullptr && tiling.axis == index->axis;
                });
            tiling_of.push_back(own == tilings.end() ? std::nullopt
                                                     : std::optional(static_cast<std::size_t>(
                                                           own - tilings.begin())));
            const std::set<AxisId> used = axes_used(what);
            movable.push_back(own != tilings.end() ||
                              std::none_of(tilings.begin(), tilings.end(), [&](const Tiling& each) {
                                  return used.contains(each.axis);
                              }));
        }
        for (const Choice& choice : where) add(choice);
    }

    // Reading the condition.
    Form form_of(const Linear& linear) {
        Form form{linear, {}, {}};
        std::map<std::size_t, std::int64_t> numbers;
        for (const auto& [variable, coefficient] : linear.terms) {
            const std::size_t coordinate = variable / 2;
            if (coordinate > tiling_of.size()) {
                form.quotients.emplace_back(variable - 2 * (tiling_of.size() + 1), coefficient);
                continue;
            }
            valid = valid && movable[coordinate];
            if (const std::optional<std::size_t> own = tiling_of[coordinate])
                numbers[*own] += coefficient * tilings[*own].size;
        }
        form.numbers.assign(numbers.begin(), numbers.end());
        return form;
    }
    Terms terms_of(const Clause& clause) {
        Terms terms;
        for (const Quotient& quotient : clause.quotients)
            terms.divisions.push_back({form_of(quotient.dividend), quotient.divisor});
        for (const Linear& form : clause.zero) terms.zero.push_back(form_of(form));
        for (const Linear& form : clause.not_negative) terms.not_negative.push_back(form_of(form));
        return terms;
    }
    void add(const Choice& choice) {
        Component joined;
        Alternatives alternatives{{}, choice.inverted};
        std::set<std::size_t> used;
        const auto collect = [&](const Form& form) {
            for (const auto& [number, coefficient] : form.numbers) used.insert(number);
        };
        for (const Clause& clause : choice.clauses) {
            alternatives.clauses.push_back(terms_of(clause));
            const Terms& terms = alternatives.clauses.back();
            for (const Division& division : terms.divisions) collect(division.dividend);
            for (const Form& form : terms.zero) collect(form);
            for (const Form& form : terms.not_negative) collect(form);
        }
        joined.choices.push_back(std::move(alternatives));
        std::erase_if(components, [&](Component& other) {
            if (std::none_of(other.axes.begin(), other.axes.end(),
                             [&](std::size_t axis) { return used.contains(axis); }))
                return false;
            used.insert(other.axes.begin(), other.axes.end());
            std::move(other.choices.begin(), other.choices.end(),
                      std::back_inserter(joined.choices));
            return true;
        });
        joined.axes.assign(used.begin(), used.end());
        components.push_back(std::move(joined));
    }

    [[nodiscard]] std::int64_t extent(std::size_t tiling) const {
        return axes[tilings[tiling].axis.index()].extent;
    }
    [[nodiscard]] std::int64_t tiles(std::size_t tiling) const {
        return (extent(tiling) + tilings[tiling].size - 1) / tilings[tiling].size;
    }

    const std::vector<Axis>& axes;
    const Mask& mask;
    std::vector<Tiling> tilings;
    std::vector<std::optional<std::size_t>> tiling_of;  // of coordinates
    std::vector<bool> movable;  // whether a coordinate follows tile numbers, or does not at all
    std::vector<Component> components;
    bool valid = true;
};

/// How blocks of one axis are halved: to whole periods of its remainders, in powers of two.
std::int64_t first_half(std::int64_t count, std::int64_t period) {
    std::int64_t half = count > period ? period : 1;
    while (half * 2 < count) half *= 2;
    return half;
}

void lengthen(std::vector<std::int64_t>& periods, const Form& form, std::int64_t divisor) {
    for (const auto& [number, coefficient] : form.numbers) {
        const std::int64_t own = divisor / std::gcd(divisor, coefficient);
        const std::int64_t both = std::lcm(periods[number], own);
        if (own <= kLongestPeriod && both <= kLongestPeriod) periods[number] = both;
    }
}

/// Counts the blocks of one component, with the tiles in `last` of ragged axes alone.
class BlockCount {
public:
    BlockCount(const Condition& parts, Component& component, std::size_t last,
               std::vector<Interval> box, std::size_t& steps);
    [[nodiscard]] CheckedInt count() { return count(root_); }

private:
    [[nodiscard]] CheckedInt count(const Block& block);
    [[nodiscard]] Truth judge(const Block& block, Signature& signature);
    [[nodiscard]] Truth judge(const Alternatives& choice, const Block& block, Signature& signature);
    [[nodiscard]] Truth judge(const Terms& terms, const Block& block, Signature& signature);
    [[nodiscard]] Reach span_of(const Form& form, const Block& block) const;
    [[nodiscard]] std::size_t longest(const Block& block) const;

    const Condition& parts_;
    Component& component_;
    std::size_t last_;
    std::vector<Interval> box_;  // of coordinates where all tile numbers are 0
    std::size_t& steps_;
    Block root_;
    std::vector<std::int64_t> periods_;
    std::vector<Reach> quotients_;
};

BlockCount::BlockCount(const Condition& parts, Component& component, std::size_t last,
                       std::vector<Interval> box, std::size_t& steps)
    : parts_(parts),
      component_(component),
      last_(last),
      box_(std::move(box)),
      steps_(steps),
      periods_(parts.tilings.size(), 1) {
    root_.first.assign(parts.tilings.size(), 0);
    root_.count.assign(parts.tilings.size(), 1);
    for (std::size_t at = 0; at < component.axes.size(); ++at) {
        const std::size_t axis = component.axes[at];
        const std::int64_t size = parts.tilings[axis].size;
        const bool ragged_one = (last >> at & 1U) != 0;
        if (!ragged_one) root_.count[axis] = parts.extent(axis) / size;
        for (std::size_t c = 0; c < box_.size(); ++c)
            if (parts.tiling_of[c] == axis)
                box_[c] = ragged_one
                              ? Interval{parts.extent(axis) / size * size, parts.extent(axis) - 1}
                              : Interval{0, size - 1};
    }
    for (const Alternatives& choice : component.choices)
        for (const Terms& terms : choice.clauses)
            for (const Division& division : terms.divisions)
                lengthen(periods_, division.dividend, division.divisor);
}

Reach BlockCount::span_of(const Form& form, const Block& block) const {
    Reach span{form.whole.constant, 0, 0};
    const std::size_t coordinates = box_.size();
    for (const auto& [variable, coefficient] : form.whole.terms) {
        if (variable / 2 > coordinates) continue;
        const Interval& ends = box_[variable / 2];
        span.corner = saturating_add(
            span.corner,
            saturating_multiply(coefficient, variable % 2 == 0 ? ends.low : ends.high));
    }
    const auto widen = [&](std::int64_t a, std::int64_t b) {
        span.low = saturating_add(span.low, std::min(a, b));
        span.high = saturating_add(span.high, std::max(a, b));
    };
    for (const auto& [number, coefficient] : form.numbers) {
        span.corner =
            saturating_add(span.corner, saturating_multiply(coefficient, block.first[number]));
        widen(0, saturating_multiply(coefficient, block.count[number] - 1));
    }
    for (const auto& [quotient, coefficient] : form.quotients) {
        const Reach& value = quotients_[quotient];
        span.corner = saturating_add(span.corner, saturating_multiply(coefficient, value.corner));
        widen(saturating_multiply(coefficient, value.low),
              saturating_multiply(coefficient, value.high));
    }
    return span;
}

Truth BlockCount::judge(const Terms& terms, const Block& block, Signature& signature) {
    quotients_.clear();
    for (const Division& division : terms.divisions) {
        const Reach dividend = span_of(division.dividend, block);
        const std::int64_t corner = floor_quotient(dividend.corner, division.divisor);
        const std::int64_t rest = dividend.corner - corner * division.divisor;
        const Reach value{corner,
                          floor_quotient(saturating_add(rest, dividend.low), division.divisor),
                          floor_quotient(saturating_add(rest, dividend.high), division.divisor)};
        signature.push_back(value.low == value.high ? -1 : rest);
        // One value everywhere is that of the corner.
        quotients_.push_back(value);
    }
    Truth truth = Truth::True;
    const auto note = [&](Truth each, std::int64_t corner) {
        if (each == Truth::False) truth = Truth::False;
        if (each == Truth::Open && truth == Truth::True) truth = Truth::Open;
        signature.push_back(static_cast<std::int64_t>(each));
        if (each == Truth::Open) signature.push_back(corner);
    };
    for (const Form& form : terms.zero) {
        const Reach span = span_of(form, block);
        const std::int64_t low = saturating_add(span.corner, span.low);
        const std::int64_t high = saturating_add(span.corner, span.high);
        note(low > 0 || high < 0     ? Truth::False
             : low == 0 && high == 0 ? Truth::True
                                     : Truth::Open,
             span.corner);
    }
    for (const Form& form : terms.not_negative) {
        const Reach span = span_of(form, block);
        note(saturating_add(span.corner, span.low) >= 0   ? Truth::True
             : saturating_add(span.corner, span.high) < 0 ? Truth::False
                                                          : Truth::Open,
             span.corner);
    }
    return truth;
}

Truth BlockCount::judge(const Alternatives& choice, const Block& block, Signature& signature) {
    Truth any = Truth::False;
    for (const Terms& terms : choice.clauses) {
        const std::size_t before = signature.size();
        const Truth truth = judge(terms, block, signature);
        if (truth == Truth::True) any = Truth::True;
        if (truth == Truth::Open && any == Truth::False) any = Truth::Open;
        // What is false here stays so: its forms matter no more.
        if (truth != Truth::Open) signature.resize(before);
        signature.push_back(-2 - static_cast<std::int64_t>(truth));
        if (any == Truth::True) break;
    }
    if (any == Truth::Open || !choice.inverted) return any;
    return any == Truth::True ? Truth::False : Truth::True;
}

Truth BlockCount::judge(const Block& block, Signature& signature) {
    Truth all = Truth::True;
    for (const Alternatives& choice : component_.choices) {
        const std::size_t before = signature.size();
        const Truth truth = judge(choice, block, signature);
        if (truth == Truth::False) return truth;
        if (truth == Truth::Open) all = truth;
        if (truth != Truth::Open) signature.resize(before);
        signature.push_back(-8 - static_cast<std::int64_t>(truth));
    }
    return all;
}

/// In indices, of the axes that have more than one tile left.
std::size_t BlockCount::longest(const Block& block) const {
    const auto length = [&](std::size_t axis) {
        return block.count[axis] > 1 ? block.count[axis] * parts_.tilings[axis].size : 0;
    };
    return *std::max_element(component_.axes.begin(), component_.axes.end(),
                             [&](std::size_t a, std::size_t b) { return length(a) < length(b); });
}

CheckedInt BlockCount::count(const Block& block) {
    CheckedInt size = 1;
    for (const std::size_t axis : component_.axes) size = size * block.count[axis];
    if (!size || *size == 0) return size;
    if (++steps_ > kMostBlocks) return std::nullopt;
    Signature signature;
    for (const std::size_t axis : component_.axes) signature.push_back(block.count[axis]);
    const Truth truth = judge(block, signature);
    if (truth == Truth::False) return 0;
    if (truth == Truth::True) return size;
    const auto key = std::pair(last_, std::move(signature));
    if (const auto found = component_.known.find(key); found != component_.known.end())
        return found->second;
    const std::size_t axis = longest(block);
    Block first = block;
    Block second = block;
    first.count[axis] = first_half(block.count[axis], periods_[axis]);
    second.first[axis] += first.count[axis];
    second.count[axis] -= first.count[axis];
    const CheckedInt total = count(first) + count(second);
    if (total) component_.known.emplace(key, *total);
    return total;
}

}  // namespace blocks

struct BoxCounter::Parts {
    blocks::Condition condition;
};

BoxCounter::BoxCounter(const std::vector<Axis>& axes, const Mask& mask, const BoxCondition& where,
                       const std::vector<Tiling>& tilings)
    : parts_(std::make_unique<Parts>(Parts{{axes, mask, where, tilings}})) {}
BoxCounter::BoxCounter(BoxCounter&&) noexcept = default;
BoxCounter::~BoxCounter() = default;

std::optional<std::int64_t> BoxCounter::count(const Ranges& others) {
    blocks::Condition& condition = parts_->condition;
    if (!condition.valid) return std::nullopt;
    const std::vector<Interval> box = condition.mask.box(others);
    std::vector<bool> counted(condition.tilings.size(), false);
    std::size_t steps = 0;
    CheckedInt product = 1;
    for (blocks::Component& component : condition.components) {
        CheckedInt sum = 0;
        for (std::size_t last = 0; last < std::size_t{1} << component.axes.size(); ++last) {
            bool possible = true;
            for (std::size_t at = 0; at < component.axes.size(); ++at) {
                const std::size_t axis = component.axes[at];
                counted[axis] = true;
                const bool ragged = condition.extent(axis) % condition.tilings[axis].size != 0;
                possible = possible && (ragged || (last >> at & 1U) == 0);
            }
            if (possible)
                sum = sum + blocks::BlockCount(condition, component, last, box, steps).count();
        }
        product = product * sum;
    }
    for (std::size_t axis = 0; axis < counted.size(); ++axis)
        if (!counted[axis]) product = product * condition.tiles(axis);
    return product.value;
}

}  // namespace napkin::index
