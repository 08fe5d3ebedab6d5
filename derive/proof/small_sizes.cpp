#include "derive/proof/small_sizes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "diagrams/rounding.h"

namespace napkin::proof {
namespace {

// Axes up to this size stay as they are: a window, the taps of a filter.
constexpr std::int64_t kSmallEnough = 4;
// Places that the statements of a shape may visit together: a proof takes milliseconds, or, where
// groups of the diagram's own have to fit, a second.
constexpr double kMostPlaces = 6000;
constexpr double kMostPlacesOfGroups = 1e5;
// Sizes for the others, in rising order; later lists are smaller, the last for what has so many
// axes that no other serves.
using Ladder = std::array<std::int64_t, 6>;
constexpr std::array<Ladder, 5> kLadders = {{{7, 11, 13, 17, 19, 23},
                                             {5, 7, 8, 9, 11, 13},
                                             {5, 6, 7, 7, 8, 9},
                                             {3, 5, 5, 6, 7, 7},
                                             {2, 3, 3, 4, 4, 5}}};
constexpr std::size_t kSmallest = kLadders.size() - 2;

std::optional<Formula> divisor_of(const Diagram& diagram, const Expression& expression) {
    if (const Number* number = std::get_if<Number>(&expression.node))
        return Formula(static_cast<std::int64_t>(number->value));
    if (const SizeOf* size = std::get_if<SizeOf>(&expression.node)) return diagram[size->axis].size;
    return std::nullopt;
}

/// Finds what is divided by what: `k // 128`, `(x + r) % size(slot)`, `axis s = k // 128`.
class GroupCollector {
public:
    explicit GroupCollector(const Diagram& diagram) : diagram_(diagram) {}

    std::vector<std::pair<std::string, Formula>> run() {
        for (const Axis& axis : diagram_.axes) look(axis.size);
        for (const Statement& statement : diagram_.statements)
            for (const Expression* expression : expressions_of(statement))
                walk(*expression, [&](const Expression& part) { look(part); });
        return std::move(found_);
    }

private:
    void look(const Formula& size) {
        if (size.op == FormulaOp::FloorDivide || size.op == FormulaOp::Modulo ||
            size.op == FormulaOp::CeilDivide)
            note(size.args[0], size.args[1]);
        for (const Formula& part : size.args) look(part);
    }
    void look(const Expression& expression) {
        const Apply* call = std::get_if<Apply>(&expression.node);
        if (call == nullptr ||
            (call->function != Function::FloorDivide && call->function != Function::Modulo))
            return;
        if (const auto divisor = divisor_of(diagram_, call->arguments[1]))
            note(call->arguments[0], *divisor);
    }
    /// Where the axis is a summand of its own: of a multiple of it groups are smaller.
    void note(const Expression& divided, const Formula& divisor) {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&divided.node))
            return note(diagram_[index->axis].size, divisor);
        const Apply* call = std::get_if<Apply>(&divided.node);
        if (call == nullptr ||
            (call->function != Function::Add && call->function != Function::Subtract))
            return;
        for (const Expression& part : call->arguments) note(part, divisor);
    }
    void note(const Formula& divided, const Formula& divisor) {
        if (divided.op == FormulaOp::Add)
            for (const Formula& part : divided.args) note(part, divisor);
        if (divided.op == FormulaOp::Symbol)
            found_.emplace_back(diagram_[divided.symbol.axis].name, divisor);
    }

    const Diagram& diagram_;
    std::vector<std::pair<std::string, Formula>> found_;
};

/// Axes with sizes of their own whose indices conditions hold.
std::set<std::string> compared_axes(const Diagram& diagram) {
    std::set<std::string> axes;
    const auto note = [&](const Expression& part) {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
            for (const Symbol symbol : symbols_of(diagram[index->axis].size))
                axes.insert(diagram[symbol.axis].name);
    };
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement))
            walk(*expression, [&](const Expression& part) {
                const Apply* call = std::get_if<Apply>(&part.node);
                if (call != nullptr && call->function == Function::Select)
                    walk(call->arguments[0], note);
            });
    return axes;
}

/// The value at these sizes of base axes; none where it is no positive integer or depends on more.
std::optional<std::int64_t> value_at(const Diagram& diagram, const Formula& formula,
                                     const Sizes& sizes) {
    SymbolValues values;
    for (const Symbol symbol : symbols_of(formula)) {
        const auto size = sizes.find(diagram[symbol.axis].name);
        if (size == sizes.end()) return std::nullopt;
        values[symbol] = size->second;
    }
    const std::optional<Rational> value = evaluate(formula, values);
    if (!value || value->denominator != 1 || value->numerator < 1) return std::nullopt;
    return value->numerator;
}

}  // namespace

SmallSizes::SmallSizes(const Diagram& original, const Sizes& fixed, std::int64_t scale)
    : original_(original),
      fixed_(fixed),
      scale_(scale),
      compared_(compared_axes(original)),
      groups_(GroupCollector(original).run()) {}

bool SmallSizes::is_grouped(const std::string& axis) const {
    return std::any_of(groups_.begin(), groups_.end(),
                       [&](const auto& group) { return group.first == axis; });
}

/// In the order of the original ones, axes of one size apart where there is room.
Sizes SmallSizes::from_ladder(std::size_t ladder) const {
    std::vector<const Axis*> axes;
    Sizes sizes;
    for (std::uint32_t i = 0; i < original_.axes.size(); ++i) {
        const Axis& axis = original_.axes[i];
        if (!has_own_size(original_, AxisId{i})) continue;
        const bool fixes = fixed_.count(axis.name) != 0;
        const bool stays = fixes || (axis.extent <= kSmallEnough && !axis.woven);
        sizes[axis.name] = stays        ? axis.extent
                           : axis.woven ? std::min<std::int64_t>(axis.extent, 2)
                                        : 0;
        if (sizes[axis.name] == 0) axes.push_back(&axis);
    }
    std::stable_sort(axes.begin(), axes.end(),
                     [](const Axis* a, const Axis* b) { return a->extent < b->extent; });
    const Ladder& steps = kLadders[ladder];
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t scale = compared_.contains(axes[i]->name) ? scale_ : 1;
        sizes[axes[i]->name] =
            std::min(axes[i]->extent, scale * steps[std::min(i, steps.size() - 1)]);
    }
    return sizes;
}

Sizes SmallSizes::in_groups(Sizes sizes, Groups groups) const {
    if (groups == Groups::None) return sizes;
    const Sizes before = sizes;
    // A group may be the size of an axis that has groups itself.
    for (std::size_t pass = 0; pass < 2; ++pass) {
        std::map<std::string, std::int64_t>
            together;  // the least that all groups of an axis divide
        for (const auto& [axis, divisor] : groups_) {
            const std::optional<std::int64_t> each = value_at(original_, divisor, sizes);
            if (!each || before.count(axis) == 0 || fixed_.count(axis) != 0) continue;
            std::int64_t& all = together.try_emplace(axis, 1).first->second;
            const std::int64_t most = original_[*find_axis(original_, axis)].extent;
            const std::int64_t rest = *each / std::gcd(all, *each);
            all = rest > most / all ? most : all * rest;
        }
        for (const auto& [axis, group] : together) {
            const std::int64_t most = original_[*find_axis(original_, axis)].extent;
            const std::int64_t small = before.at(axis);
            const std::int64_t least = groups == Groups::One ? group : 2 * group;
            const std::int64_t whole = ceil_quotient(std::max(small, least), group) * group;
            const std::int64_t ragged = small >= least ? small : least + std::min(small, group - 1);
            sizes[axis] = std::min(most, groups == Groups::TwoAndRagged ? ragged : whole);
        }
    }
    return sizes;
}

std::vector<SmallSizes::Candidate> SmallSizes::candidates() const {
    std::vector<Candidate> candidates;
    const auto add = [&](std::size_t ladder, Groups groups, double most_places) {
        const auto scale = static_cast<double>(scale_);
        candidates.push_back({in_groups(from_ladder(ladder), groups), most_places * scale * scale});
    };
    const std::size_t last = kSmallest;
    if (!groups_.empty()) {
        for (std::size_t ladder = 0; ladder <= last; ++ladder)
            for (const Groups groups : {Groups::TwoAndRagged, Groups::Two})
                add(ladder, groups, kMostPlaces);
        for (const Groups groups : {Groups::TwoAndRagged, Groups::Two, Groups::One})
            add(last, groups, kMostPlacesOfGroups);
    }
    for (std::size_t ladder = 0; ladder < last; ++ladder) add(ladder, Groups::None, kMostPlaces);
    add(last, Groups::None, std::numeric_limits<double>::infinity());
    if (!groups_.empty()) add(last, Groups::One, std::numeric_limits<double>::infinity());
    add(kLadders.size() - 1, Groups::None, std::numeric_limits<double>::infinity());
    return candidates;
}

std::vector<SmallSizes::Candidate> SmallSizes::shrunk(
    const std::function<bool(const Sizes&)>& holds) const {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    const Sizes small = from_ladder(kSmallest);
    std::vector<Candidate> found;
    for (const auto& [groups, most_places] :
         {std::pair(Groups::Two, kMostPlacesOfGroups), std::pair(Groups::One, kMostPlacesOfGroups),
          std::pair(Groups::None, kAny)}) {
        Sizes sizes;
        for (const auto& [name, size] : small)
            sizes[name] = original_[*find_axis(original_, name)].extent;
        for (bool shrinks = true; shrinks;) {
            shrinks = false;
            for (const auto& [name, size] : in_groups(small, groups)) {
                if (size >= sizes.at(name)) continue;
                Sizes smaller = sizes;
                smaller[name] = size;
                if (!holds(smaller)) continue;
                sizes = std::move(smaller);
                shrinks = true;
            }
        }
        found.push_back({std::move(sizes), most_places});
        if (groups_.empty()) found.back().most_places = kAny;
        if (groups_.empty()) break;
    }
    return found;
}

}  // namespace napkin::proof
