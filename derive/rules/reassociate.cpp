// reassociate: which factors of a sum of products are summed first.
//
//   Y = sum(k) (sum(j) A[i,j] * B[j,k]) * C[k,l]
//                                        ==>     U = sum(k) B[j,k] * C[k,l],  Y = sum(j) A[i,j] * U
//
// Intermediates that are products, or sums of products, are opened until the named factors stand in
// one product with the others; the axes that are summed and that only they have are summed first.
// Where the diagram has that sum already it is read: D = rowsum(dO * O) comes of D = rowsum(P *
// dP).
//
// Side conditions: Y is a sum over a product that has the factors; all of them are finite; some
// summed axis is theirs alone. An axis that would be bound twice gets another name. Citation: arXiv
// 2412.03317, section 2.1 (contractions compose in any order).
#include <algorithm>

#include "derive/rewriting/products.h"
#include "derive/rewriting/unify.h"
#include "derive/rules/draft.h"
#include "diagrams/contains.h"

namespace napkin::rules {

namespace {

bool among(const std::vector<std::size_t>& list, std::size_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

class Reassociation {
public:
    Reassociation(const State& state, const Command& command, StatementId source)
        : diagram_(state.diagram), command_(command), source_(source), draft_(state) {}

    Outcome run();

private:
    const Diagram& diagram_;
    const Command& command_;
    StatementId source_;
    Draft draft_;
    Product product_;
    std::vector<AxisId> over_;

    [[nodiscard]] std::optional<std::size_t> factor_reading(
        ArrayId array, const std::vector<std::size_t>& but) const;
    [[nodiscard]] bool leads_to(const Expression& base, ArrayId array) const;
    bool open_towards(ArrayId array);
    void open(std::size_t at);
    [[nodiscard]] std::optional<NotApplicable> bring_together(std::vector<std::size_t>& group);
    [[nodiscard]] NotApplicable not_a_factor(ArrayId array) const;
    [[nodiscard]] std::vector<AxisId> summed_first(const std::vector<std::size_t>& group) const;
    [[nodiscard]] std::set<StatementId> dependents() const;
    [[nodiscard]] std::optional<Expression> known_sum(const Product& inside,
                                                      const std::vector<AxisId>& over) const;
    [[nodiscard]] Expression add_sum(const Product& inside, const std::vector<AxisId>& over);
    [[nodiscard]] Outcome rewritten(const std::vector<std::size_t>& group,
                                    const std::vector<AxisId>& first);
};

std::optional<std::size_t> Reassociation::factor_reading(
    ArrayId array, const std::vector<std::size_t>& but) const {
    for (std::size_t i = 0; i < product_.factors.size(); ++i) {
        const Read* element = std::get_if<Read>(&product_.factors[i].base.node);
        if (element != nullptr && element->array == array && product_.factors[i].power == 1 &&
            !among(but, i))
            return i;
    }
    return std::nullopt;
}

/// Whether a factor opens, in some steps, to a product with an element of the array.
bool Reassociation::leads_to(const Expression& base, ArrayId array) const {
    const Read* element = std::get_if<Read>(&base.node);
    if (element == nullptr) return false;
    if (element->array == array) return true;
    const std::optional<StatementId> source = producer(diagram_, element->array);
    if (!source || diagram_[element->array].rounds) return false;
    const Expression* value = nullptr;
    if (const Map* map = std::get_if<Map>(&diagram_[*source].body)) value = &map->value;
    if (const Fold* fold = plain_sum(diagram_, *source)) value = &fold->values.front();
    if (value == nullptr) return false;
    const Product inside = product_of(*value);
    return std::any_of(inside.factors.begin(), inside.factors.end(), [&](const Factor& factor) {
        return factor.power == 1 && leads_to(factor.base, array);
    });
}

/// Puts what a factor is in its place; the axes that it sums are summed here from now on.
void Reassociation::open(std::size_t at) {
    const Read element = std::get<Read>(product_.factors[at].base.node);
    const Statement& statement = diagram_[producer(diagram_, element.array).value()];
    Binding binding;
    const std::vector<AxisId>& axes = diagram_[element.array].axes;
    for (std::size_t k = 0; k < axes.size(); ++k) binding[axes[k]] = element.index[k];
    Expression value;
    if (const Map* map = std::get_if<Map>(&statement.body)) value = map->value;
    if (const Fold* fold = std::get_if<Fold>(&statement.body)) {
        value = fold->values.front();
        std::vector<AxisId> taken = diagram_[diagram_[source_].targets.front()].axes;
        taken.insert(taken.end(), over_.begin(), over_.end());
        for (AxisId axis : fold->over) {
            const AxisId own = contains(taken, axis) ? draft_.add_alias(axis) : axis;
            binding[axis] = axis_index(own);
            over_.push_back(own);
        }
    }
    product_.factors.erase(product_.factors.begin() + static_cast<std::ptrdiff_t>(at));
    product_ = product_ * product_of(with_axes(value, binding));
}

bool Reassociation::open_towards(ArrayId array) {
    for (std::size_t i = 0; i < product_.factors.size(); ++i) {
        const Read* element = std::get_if<Read>(&product_.factors[i].base.node);
        if (product_.factors[i].power != 1 || element == nullptr || element->array == array ||
            !leads_to(product_.factors[i].base, array))
            continue;
        open(i);
        return true;
    }
    return false;
}

/// Why the product has no such factor: a condition that it stands under, or what is not opened.
NotApplicable Reassociation::not_a_factor(ArrayId array) const {
    const std::string no_factor =
        "`" + diagram_[array].name + "` is no factor of the product in `" + command_.in + "`";
    for (const Factor& factor : product_.factors) {
        const Apply* choice = std::get_if<Apply>(&factor.base.node);
        if (choice == nullptr || choice->function != Function::Select) continue;
        if (!arrays_read(factor.base).contains(array)) continue;
        return {no_factor + ": it stands under the condition `" +
                    print(diagram_, choice->arguments[0]) + "`",
                "a factor under a condition of its own is one: `(if c then A[i] else 0) * B[i]`"};
    }
    return {no_factor, "intermediates that are sums, rounded or no products are not opened"};
}

std::optional<NotApplicable> Reassociation::bring_together(std::vector<std::size_t>& group) {
    std::vector<ArrayId> wanted;
    for (const std::string& name : command_.names) {
        const std::optional<ArrayId> array = find_array(diagram_, name);
        if (!array) return out_of_place("there is no array `" + name + "`", "");
        wanted.push_back(*array);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto here = [&] {
            return static_cast<std::size_t>(std::count_if(
                product_.factors.begin(), product_.factors.end(), [&](const Factor& factor) {
                    const Read* element = std::get_if<Read>(&factor.base.node);
                    return element != nullptr && element->array == wanted[i] && factor.power == 1;
                }));
        };
        const auto needed = static_cast<std::size_t>(std::count(
            wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(i) + 1, wanted[i]));
        while (here() < needed)
            if (!open_towards(wanted[i])) return not_a_factor(wanted[i]);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::optional<std::size_t> factor = factor_reading(wanted[i], group);
        if (!factor)
            return NotApplicable{
                "another factor that was named stands inside of `" + command_.names[i] + "`",
                "name factors of one product"};
        group.push_back(*factor);
    }
    return std::nullopt;
}

/// Summed axes that only factors of the group have.
std::vector<AxisId> Reassociation::summed_first(const std::vector<std::size_t>& group) const {
    std::vector<AxisId> first;
    for (AxisId axis : over_) {
        bool inside = false;
        bool outside = false;
        for (std::size_t i = 0; i < product_.factors.size(); ++i)
            if (axes_used(product_.factors[i].base).count(axis) != 0)
                (among(group, i) ? inside : outside) = true;
        if (inside && !outside) first.push_back(axis);
    }
    return first;
}

/// The statement and all that depend on it.
std::set<StatementId> Reassociation::dependents() const {
    std::set<StatementId> found{source_};
    for (std::uint32_t i = source_.value + 1; i < diagram_.statements.size(); ++i)
        for (ArrayId input : inputs_of(diagram_.statements[i]))
            if (const auto from = producer(diagram_, input); from && found.count(*from) != 0)
                found.insert(StatementId{i});
    return found;
}

/// An element of an array that is this sum, whatever its axes are called.
std::optional<Expression> Reassociation::known_sum(const Product& inside,
                                                   const std::vector<AxisId>& over) const {
    const std::set<StatementId> later = dependents();
    for (std::uint32_t i = 0; i < diagram_.statements.size(); ++i) {
        const Fold* fold = plain_sum(diagram_, StatementId{i});
        if (fold == nullptr || fold->over.size() != over.size() || later.count(StatementId{i}) != 0)
            continue;
        const Array& known = diagram_[diagram_.statements[i].targets.front()];
        const Product theirs = product_of(fold->values.front());
        if (known.rounds || theirs.coefficient != inside.coefficient ||
            theirs.factors.size() != inside.factors.size())
            continue;
        std::vector<std::size_t> order(inside.factors.size());
        for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
        do {
            Binding binding;
            bool same = true;
            for (std::size_t k = 0; k < order.size() && same; ++k)
                same = theirs.factors[k].power == inside.factors[order[k]].power &&
                       matches(theirs.factors[k].base, inside.factors[order[k]].base, binding);
            same = same && renames_axes(binding);
            for (std::size_t k = 0; k < over.size() && same; ++k) {
                const auto bound = binding.find(fold->over[k]);
                same = bound != binding.end() &&
                       contains(over, std::get<AxisIndex>(bound->second.node).axis);
            }
            std::vector<Expression> index;
            for (AxisId axis : known.axes) {
                same = same && binding.count(axis) != 0;
                if (same) index.push_back(binding.at(axis));
            }
            if (same) return read(diagram_.statements[i].targets.front(), std::move(index));
        } while (order.size() <= 5 && std::next_permutation(order.begin(), order.end()));
    }
    return std::nullopt;
}

Expression Reassociation::add_sum(const Product& inside, const std::vector<AxisId>& over) {
    const Expression value = expression_of(inside);
    const std::set<AxisId> used = axes_used(value);
    std::vector<AxisId> axes;
    const auto take = [&](AxisId axis) {
        if (used.count(axis) != 0 && !contains(over, axis) && !contains(axes, axis))
            axes.push_back(axis);
    };
    // Woven axes are outermost; then the axes in the order of the factors.
    for (AxisId axis : diagram_[diagram_[source_].targets.front()].axes)
        if (draft_.diagram[axis].woven) take(axis);
    for (const Factor& factor : inside.factors)
        walk(factor.base, [&](const Expression& node) {
            if (const AxisIndex* index = std::get_if<AxisIndex>(&node.node)) take(index->axis);
        });
    const Span span = diagram_[source_].span;
    const ArrayId made = draft_.add_array(command_.as.front(), axes, span);
    Fold fold;
    fold.monoid = kSum;
    fold.over = over;
    fold.values = {value};
    draft_.add({{made}, std::move(fold), draft_.add_box(diagram_[source_].box), span},
               draft_.home(source_), source_);
    return read_axes(made, axes);
}

Outcome Reassociation::rewritten(const std::vector<std::size_t>& group,
                                 const std::vector<AxisId>& first) {
    Product inside;
    Product outside{product_.coefficient, {}};
    for (std::size_t i : group) multiply(inside, product_.factors[i].base, 1);
    for (std::size_t i = 0; i < product_.factors.size(); ++i)
        if (!among(group, i))
            multiply(outside, product_.factors[i].base, product_.factors[i].power);
    const std::string& name = command_.as.front();
    const std::optional<Expression> known = known_sum(inside, first);
    const std::optional<ArrayId> present = find_array(diagram_, name);
    const bool reuses = known && present && std::get<Read>(known->node).array == *present;
    if (present && !reuses)
        return NotApplicable{"`" + name + "` is not that sum" +
                                 (diagram_[*present].rounds
                                      ? ", since it is rounded to " +
                                            std::string(napkin::name_of(diagram_[*present].type))
                                      : ""),
                             "choose another name"};
    multiply(outside, reuses ? *known : add_sum(inside, first), 1);
    std::vector<AxisId> rest;
    for (AxisId axis : over_)
        if (!contains(first, axis)) rest.push_back(axis);
    Statement& statement = draft_.diagram.statements[source_.index()];
    if (rest.empty()) {
        statement.body = Map{expression_of(outside)};
    } else {
        Fold& fold = std::get<Fold>(statement.body);
        fold.values = {expression_of(outside)};
        fold.over = rest;
    }
    std::vector<std::string> axes;
    for (AxisId axis : first) axes.push_back(draft_.diagram[axis].name);
    return draft_.finish(command_,
                         {"only " + list_names(command_.names) + " have " + list_names(axes) +
                          (reuses ? "; `" + name + "` is that sum" : "")});
}

Outcome Reassociation::run() {
    const Fold* fold = plain_sum(diagram_, source_);
    if (fold == nullptr)
        return with_parts(diagram_, source_,
                          {"`" + command_.in + "` is no sum", "it takes a sum of products"},
                          [&](StatementId part) { return plain_sum(diagram_, part) != nullptr; });
    over_ = fold->over;
    product_ = product_of(fold->values.front());
    std::vector<std::size_t> group;
    if (std::optional<NotApplicable> refusal = bring_together(group)) return *refusal;
    for (const Factor& factor : product_.factors)
        if (std::optional<NotApplicable> refusal = why_infinite(draft_.diagram, factor.base))
            return *refusal;
    const std::vector<AxisId> first = summed_first(group);
    if (first.empty())
        return NotApplicable{"no axis is summed that only " + list_names(command_.names) + " have",
                             "choose factors that share a summed axis with no other"};
    if (group.size() == product_.factors.size() && first.size() == over_.size())
        return NotApplicable{"that is all of the product: nothing is left to be summed later", ""};
    return rewritten(group, first);
}

}  // namespace

Outcome reassociate(const State& state, const Command& command) {
    if (command.names.empty() || command.as.size() != 1 || command.in.empty())
        return out_of_place("it takes factors, a name for their sum and the array that they are in",
                            "write `reassociate A, B as U in ARRAY`");
    const std::optional<ArrayId> array = find_array(state.diagram, command.in);
    if (!array) return out_of_place("there is no array `" + command.in + "`", "");
    const std::optional<StatementId> source = producer(state.diagram, *array);
    if (!source) return out_of_place("`" + command.in + "` is an input: no box computes it", "");
    if (find_axis(state.diagram, command.as.front()))
        return out_of_place("`" + command.as.front() + "` is an axis", "choose another name");
    return Reassociation(state, command, *source).run();
}

}  // namespace napkin::rules
