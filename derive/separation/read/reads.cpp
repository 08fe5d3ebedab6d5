// Expressions as terms, and elements that they read along the streamed axis at other indices than
// the chunk's own: known beforehand, found by a selection, or of another chunk; and running
// products that are divided by.
#include <algorithm>
#include <functional>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/read/cascade.h"
#include "diagrams/overloaded.h"

namespace napkin::separation {

TermId Cascade::lower(const Expression& expression) {
    return std::visit(
        overloaded{
            [&](const Number& number) { return algebra_.number(number.value, number.is_integer); },
            [&](const AxisIndex& index) { return algebra_.axis(index.axis); },
            [&](const SizeOf& size) {
                return algebra_.make(Term{.kind = Kind::Size, .ref = size.axis.value});
            },
            [&](const Read& element) { return lower_read(element); },
            [&](const Apply& call) {
                std::vector<TermId> parts;
                for (const Expression& argument : call.arguments) parts.push_back(lower(argument));
                return algebra_.apply(call.function, std::move(parts));
            },
            [&](const Convert& convert) {
                return algebra_.make(Term{.kind = Kind::Convert,
                                          .ref = static_cast<std::uint32_t>(convert.type),
                                          .parts = {lower(convert.argument.front())}});
            },
            [&](const Operand&) -> TermId {
                throw InternalError("an operand of a monoid outside its combine");
            },
        },
        expression.node);
}

TermId Cascade::lower_read(const Read& element) {
    std::vector<TermId> index;
    for (const Expression& one : element.index) index.push_back(lower(one));
    const std::optional<TermId> known = definition(element.array);
    if (!known) {
        for (const TermId at : index) {
            const Term& term = algebra_[at];
            const bool selected = term.kind == Kind::Fold && folds_[term.ref].picks;
            if (!selected || !is_read_along(element.array, axes_.front())) continue;
            if (const std::optional<TermId> carried = carry(element, index)) return *carried;
        }
        return algebra_.make(
            Term{.kind = Kind::Read, .ref = element.array.value, .parts = std::move(index)});
    }
    Algebra::Replacements replacements;
    const std::vector<AxisId>& axes = diagram_[element.array].axes;
    std::optional<TermId> elsewhere;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const TermId own = algebra_.axis(axes[i]);
        if (index[i] == own) continue;
        replacements[axes[i]] = index[i];
        if (is_streamed(axes[i])) elsewhere = index[i];
    }
    if (replacements.empty()) return *known;
    if (elsewhere) verbatim_ = false;
    const std::optional<TermId> result = algebra_.replaced(*known, replacements);
    if (!result) {
        refuse(Why::Capture, *known);
        return *known;
    }
    if (!elsewhere || !reads_other_chunk(*result)) return *result;
    if (const std::optional<TermId> carried = carry(element, index)) return *carried;
    if (const std::optional<TermId> carried = carry_elements(*result)) return *carried;
    // The element at a known index is picked from all chunks, for which no other index may vary.
    const bool varies =
        std::any_of(replacements.begin(), replacements.end(),
                    [&](const auto& each) { return algebra_.class_of(each.second).streamed; });
    if (varies || algebra_.class_of(*elsewhere).folded || axes_.size() > 1) {
        refuse(Why::Gather,
               algebra_.make(Term{
                   .kind = Kind::Read, .ref = element.array.value, .parts = std::move(index)}));
        return *result;
    }
    // Fewer are captured than above.
    replacements.erase(axes_.front());
    return gather(element.array, index, *algebra_.replaced(*known, replacements));
}

/// The value where there is an element at these indices of an array or of a fold with these axes: a
/// fold is computed without the conditions under which it is read.
TermId Cascade::within(const std::vector<AxisId>& axes, const std::vector<TermId>& index,
                       TermId value, TermId otherwise) {
    const auto where = [&](Function comparison, TermId at, TermId bound) {
        const TermId inside = algebra_.apply(comparison, {at, bound});
        return algebra_.apply(Function::Select, {inside, value, otherwise});
    };
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const Term at = algebra_[index[i]];
        const bool other =
            at.kind == Kind::Axis && diagram_[AxisId{at.ref}].size != diagram_[axes[i]].size;
        if (is_streamed(axes[i]) || (at.kind != Kind::Apply && !other)) continue;
        value = where(Function::GreaterEqual, index[i], algebra_.number(0));
        const TermId size = algebra_.make(Term{.kind = Kind::Size, .ref = axes[i].value});
        value = where(Function::Less, index[i], size);
    }
    for (const TermId at : index) value = where_read(at, value, otherwise);
    return value;
}

/// The same of every element that is read for the term, an index.
TermId Cascade::where_read(TermId id, TermId value, TermId otherwise) {
    const Term term = algebra_[id];
    if (term.kind == Kind::Read) return within(axes_of_element(term), term.parts, value, otherwise);
    for (const TermId part : term.parts) value = where_read(part, value, otherwise);
    return value;
}

/// The axes along which an element of an array, or of a fold, is taken.
const std::vector<AxisId>& Cascade::axes_of_element(const Term& element) const {
    return element.kind == Kind::Fold ? folds_[element.ref].axes
                                      : diagram_[ArrayId{element.ref}].axes;
}

TermId Cascade::apart_from_conditions(TermId element) {
    const Term term = algebra_[element];
    return within(axes_of_element(term), term.parts, element, algebra_.number(1));
}

/// Whether the region reads the array along the axis anyway, so that its elements are at hand.
bool Cascade::is_read_along(ArrayId array, AxisId axis) const {
    bool found = false;
    for (const StatementId id : region_.statements)
        for (const Expression* expression : expressions_of(diagram_[id]))
            walk(*expression, [&](const Expression& node) {
                const Read* element = std::get_if<Read>(&node.node);
                if (element == nullptr || element->array != array) return;
                for (const Expression& one : element->index) {
                    const AxisIndex* plain = std::get_if<AxisIndex>(&one.node);
                    found |= plain != nullptr && plain->axis == axis;
                }
            });
    return found;
}

/// The selection whose result the index is.
std::optional<std::uint32_t> Cascade::pick_at(TermId index) {
    const Term& term = algebra_[index];
    if (term.kind != Kind::Fold || !folds_[term.ref].picks || folds_[term.ref].component != 1)
        return std::nullopt;
    const std::vector<AxisId>& own = folds_[term.ref].axes;
    for (std::size_t i = 0; i < own.size(); ++i)
        if (term.parts[i] != algebra_.axis(own[i])) return std::nullopt;
    return term.ref;
}

/// F[I] at the index I that a selection found: F travels with the selected element. Nothing where
/// the index is no such value.
std::optional<TermId> Cascade::carry(const Read& element, const std::vector<TermId>& index) {
    std::optional<std::uint32_t> pick;
    std::vector<Expression> here = element.index;
    for (std::size_t i = 0; i < index.size(); ++i) {
        if (!algebra_.class_of(index[i]).folded) continue;
        const std::optional<std::uint32_t> found = pick_at(index[i]);
        if (!found || pick) return std::nullopt;
        pick = found;
        here[i] = axis_index(folds_[*pick].over.front());
    }
    if (!pick) return std::nullopt;
    const TermId body = lower_read(Read{element.array, std::move(here)});
    return carry(*pick, within(diagram_[element.array].axes, index, body, algebra_.number(0)));
}

std::optional<TermId> Cascade::carry(std::uint32_t pick, TermId body) {
    if (algebra_.class_of(body).folded || reads_other_chunk(body)) return std::nullopt;
    FoldOver carried = folds_[pick];
    carried.carried_by = pick;
    carried.component = 0;
    carried.target.reset();
    carried.body = body;
    for (const AxisId axis : algebra_.class_of(body).axes)
        if (axis != carried.over.front() &&
            std::find(carried.axes.begin(), carried.axes.end(), axis) == carried.axes.end())
            carried.axes.push_back(axis);
    std::uint32_t id = 0;
    while (id < folds_.size() && (folds_[id].carried_by != pick || folds_[id].body != body)) ++id;
    if (id == folds_.size()) folds_.push_back(std::move(carried));
    return algebra_.reference(Kind::Fold, id, folds_[id].axes);
}

/// The value with every element of the region's own arrays that it reads at an index that a
/// selection found carried. Nothing where it reads one at another index.
std::optional<TermId> Cascade::carry_elements(TermId id) {
    if (!reads_other_chunk(id)) return id;
    Term term = algebra_[id];
    if (term.kind == Kind::Read) {
        std::optional<std::uint32_t> pick;
        for (TermId& index : term.parts) {
            const std::optional<std::uint32_t> found = pick_at(index);
            if (!found) continue;
            pick = found;
            index = algebra_.axis(folds_[*found].over.front());
        }
        if (!pick) return std::nullopt;
        const TermId body = algebra_.make(term);
        return carry(*pick, within(axes_of_element(term), term.parts, body, algebra_.number(0)));
    }
    for (TermId& part : term.parts) {
        const std::optional<TermId> carried = carry_elements(part);
        if (!carried) return std::nullopt;
        part = *carried;
    }
    return algebra_.make(std::move(term));
}

/// What a sum adds at the only index at which it adds anything, one that a selection along the same
/// axis found: of `if x == I then F[x] else 0`, F[I].
std::optional<TermId> Cascade::at_selected(TermId summand, AxisId over) {
    std::optional<TermId> index;
    std::set<TermId> seen;
    const std::function<TermId(TermId)> unconditional = [&](TermId id) {
        Term term = algebra_[id];
        if (term.kind != Kind::Apply || index || !seen.insert(id).second) return id;
        if (term.function == Function::Select && algebra_.is_number(term.parts[2], 0)) {
            const Term& test = algebra_[term.parts[0]];
            if (test.kind != Kind::Apply || test.function != Function::Equal) return id;
            for (std::size_t i = 0; i < 2; ++i)
                if (test.parts[i] == algebra_.axis(over) && pick_at(test.parts[1 - i]))
                    index = test.parts[1 - i];
            return index ? term.parts[1] : id;
        }
        if (term.function != Function::Multiply) return id;
        for (TermId& part : term.parts) part = unconditional(part);
        return algebra_.make(std::move(term));
    };
    const TermId value = unconditional(summand);
    if (!index) return std::nullopt;
    const std::optional<TermId> there = algebra_.replaced(value, {{over, *index}});
    return there ? carry_elements(*there) : std::nullopt;
}

/// Whether the term reads an array of the region along the streamed axis at another index than the
/// chunk's own.
bool Cascade::reads_other_chunk(TermId id) const {
    return mentions(algebra_, id, [&](TermId part) {
        const Term& term = algebra_[part];
        if (term.kind != Kind::Read || !definitions_.contains(ArrayId{term.ref})) return false;
        const std::vector<AxisId>& axes = diagram_[ArrayId{term.ref}].axes;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const Term& index = algebra_[term.parts[i]];
            if (is_streamed(axes[i]) && (index.kind != Kind::Axis || AxisId{index.ref} != axes[i]))
                return true;
        }
        return false;
    });
}

/// F[a] for an index a that is known beforehand is a fold: sum(x) if x == a then F[x] else 0.
TermId Cascade::gather(ArrayId array, const std::vector<TermId>& index, TermId body) {
    const AxisId over = axes_.front();
    const std::vector<AxisId>& own = diagram_[array].axes;
    const auto at =
        index[static_cast<std::size_t>(std::find(own.begin(), own.end(), over) - own.begin())];
    const TermId here = algebra_.apply(Function::Equal, {algebra_.axis(over), at});
    const TermId value =
        within(own, index, algebra_.apply(Function::Select, {here, body, algebra_.number(0)}),
               algebra_.number(0));
    std::vector<AxisId> axes;
    for (const AxisId axis : algebra_.class_of(value).axes)
        if (axis != over) axes.push_back(axis);
    const std::uint32_t fold =
        fold_for({.monoid = kSum, .over = {over}, .axes = axes, .body = value});
    return algebra_.reference(Kind::Fold, fold, axes);
}

/// The fold of which the array keeps every prefix.
const Fold* Cascade::running_fold(ArrayId array) const {
    const std::optional<StatementId> source = producer(diagram_, array);
    const Fold* fold = source ? std::get_if<Fold>(&diagram_[*source].body) : nullptr;
    return fold != nullptr && fold->every_prefix ? fold : nullptr;
}

namespace {

/// Where a value stands in another.
struct Place {
    bool below = false;  ///< it is divided by, or subtracted in an exponent
    bool in_exponent = false;
    auto operator<=>(const Place&) const = default;
};

/// Where a part of a call stands.
Place place_of(const Algebra& algebra, const Term& call, std::size_t part, Place whole) {
    bool flips = false;
    switch (call.function) {
    case Function::Exp: return {whole.below, true};
    case Function::Negate: flips = whole.in_exponent; break;
    case Function::Subtract: flips = part == 1 && whole.in_exponent; break;
    case Function::Rsqrt: flips = true; break;
    case Function::Divide: flips = part == 1; break;
    case Function::Power: {
        const Term& power = algebra[call.parts[1]];
        flips = power.kind == Kind::Number && power.number < 0;
        break;
    }
    default: break;
    }
    return {whole.below != flips, whole.in_exponent};
}

}  // namespace

/// A streamed running product that the value divides by, or a running sum that it subtracts in an
/// exponent: what is 0 once stays 0, and everything after it is lost.
const Fold* Cascade::running_divisor(TermId value, MonoidId of) const {
    std::set<std::pair<TermId, Place>> seen;
    const std::function<const Fold*(TermId, Place)> look = [&](TermId id,
                                                               Place place) -> const Fold* {
        const Term& term = algebra_[id];
        if (!seen.emplace(id, place).second) return nullptr;
        if (term.kind == Kind::Read) {
            const Fold* fold = running_fold(ArrayId{term.ref});
            const bool divides = place.below && fold != nullptr && fold->monoid == of &&
                                 of == (place.in_exponent ? kSum : kProduct) &&
                                 algebra_.class_of(id).streamed;
            return divides ? fold : nullptr;
        }
        if (term.kind != Kind::Apply) return nullptr;
        for (std::size_t i = 0; i < term.parts.size(); ++i)
            if (const Fold* fold = look(term.parts[i], place_of(algebra_, term, i, place)))
                return fold;
        return nullptr;
    };
    return look(value, {});
}

}  // namespace napkin::separation
