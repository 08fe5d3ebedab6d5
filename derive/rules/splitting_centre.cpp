// States that are kept relative to a centre, so that differences do not cancel.
//
// Centres that move by a weight are sums over sums, and combine like these. A part's constant
// centre is the mean of its elements, the centre of all parts the mean of those by their sizes.
// With d = X - c[p] and D = c[p] - C, a part adds to a sum of w (X - C)^n
//
//   sum(j = 0..n) binomial(n, j) D^(n-j) sum w d^j
//
// and likewise, in products, for several centres. The lower moments that the accumulator does not
// keep are kept for this.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "derive/rewriting/simplify.h"
#include "derive/rules/splitting.h"
#include "diagrams/infinity.h"

namespace napkin::rules {

namespace {

std::int64_t binomial(std::int64_t n, std::int64_t k) {
    std::int64_t result = 1;
    for (std::int64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
    return result;
}

/// X - c, as a power of it stands in a product.
struct Difference {
    Expression base;
    ArrayId centre;
    std::int64_t power = 0;
    bool may_lack = false;  ///< a part may have no element to take the mean of
};

/// `if c then value else 0`, if it is that.
const Apply* guarded_value(const Expression& expression) {
    const Apply* choice = std::get_if<Apply>(&expression.node);
    const bool zero = choice != nullptr && choice->function == Function::Select &&
                      is_literal(choice->arguments[2], 0);
    return zero ? choice : nullptr;
}

}  // namespace

/// The mean of a first chunk that the state keeps; null where it is none.
const Gauge* Splitting::held(ArrayId state) const {
    const Gauge* gauge = gauge_of(accumulator_, state);
    return gauge != nullptr && gauge->policy == GaugePolicy::Held ? gauge : nullptr;
}

/// The mean of all chunks whose next value the array is.
const Gauge* Splitting::running_mean(ArrayId next) const {
    for (const Gauge& each : accumulator_.gauges)
        if (each.of == Gauge::Of::Mean && each.policy == GaugePolicy::Running && each.next == next)
            return &each;
    return nullptr;
}

/// Maps of the body put in where they are read, as far as they mention a centre or, of those that
/// the accumulator made, all.
Expression Splitting::inlined(const Expression& expression, bool all) const {
    return rewrite(expression, [&](Expression node) {
        const Read* element = std::get_if<Read>(&node.node);
        if (element == nullptr || is_state(element->array)) return node;
        for (const Statement& statement : accumulator_.body) {
            const Map* map = std::get_if<Map>(&statement.body);
            if (map == nullptr || statement.targets.front() != element->array ||
                array(element->array).rounds ||
                !(mentions_centre(map->value) ||
                  (all && element->array.index() >= diagram_.arrays.size())) ||
                node != read_axes(element->array, array(element->array).axes))
                continue;
            return inlined(map->value, all);
        }
        return node;
    });
}

bool Splitting::mentions_centre(const Expression& expression) const {
    bool found = false;
    std::set<ArrayId> seen;
    const std::function<void(const Expression&)> look = [&](const Expression& value) {
        for (const ArrayId read : arrays_read(value)) {
            if (found || !seen.insert(read).second) continue;
            if (is_state(read)) {
                found = held(read) != nullptr;
                continue;
            }
            for (const Statement& statement : accumulator_.body)
                if (const Map* map = std::get_if<Map>(&statement.body);
                    map != nullptr && statement.targets.front() == read)
                    look(map->value);
        }
    };
    look(expression);
    return found;
}

void Splitting::combine_centre(ArrayId state, std::size_t line) {
    const Statement source = accumulator_.body[lines_[line].body];
    const std::vector<AxisId> axes = array(state).axes;
    std::vector<Expression> at{axis_index(part_)};
    for (AxisId axis : axes) at.push_back(axis_index(axis));
    const Expression centre = saved_read(state, std::move(at));
    const auto total = [&](const std::string& suffix, Expression value) {
        Fold fold;
        fold.monoid = kSum;
        fold.over = {part_};
        fold.values = {std::move(value)};
        return add_combining(array(state).name + suffix, axes, std::move(fold), source);
    };
    Expression weighted = napkin::apply(Function::Multiply, {centre, width()});
    Expression size = size_of(axis_);
    if (held(state)->may_lack) {  // parts without an element count for nothing
        const Expression has = napkin::apply(Function::Less, {centre, number(kInfinity)});
        weighted = napkin::apply(Function::Select, {has, std::move(weighted), number(0)});
        size = read_axes(total("_size", napkin::apply(Function::Select, {has, width(), number(0)})),
                         axes);
    }
    const ArrayId sum = total("_total", std::move(weighted));
    combined_[state] = add_combining(
        array(state).name, axes,
        Map{napkin::apply(Function::Divide, {read_axes(sum, axes), std::move(size)})}, source);
    note_mean(combined_[state], part(newest_.at(state)), !held(state)->may_lack);
}

/// The part's sum of these factors: a state's, or one more that is kept.
Expression Splitting::moment(const Line& line, const Product& product,
                             const std::vector<Expression>& guards) {
    const Fold own = std::get<Fold>(line.statement.body);
    const auto read_at_part = [&](ArrayId id) {
        std::vector<Expression> at{axis_index(part_)};
        for (AxisId axis : array(id).axes) at.push_back(axis_index(axis));
        return saved_read(id, std::move(at));
    };
    const bool constant =
        std::none_of(product.factors.begin(), product.factors.end(), [&](const Factor& factor) {
            if (varies(factor.base)) return true;
            const std::set<ArrayId> arrays = arrays_read(factor.base);
            return std::any_of(arrays.begin(), arrays.end(), [&](ArrayId id) {
                return is_state(id) || producer_.count(id) != 0;
            });
        });
    if (constant && guards.empty() && own.over == std::vector<AxisId>{axis_})
        return simplified(napkin::apply(Function::Multiply, {expression_of(product), width()}));
    Expression value = expression_of(product);
    for (const Expression& guard : guards)
        value = napkin::apply(Function::Select, {guard, std::move(value), number(0)});
    const Product opened = product_of(inlined(value, true));
    for (const Line& other : lines_) {
        const Fold* fold = std::get_if<Fold>(&other.statement.body);
        if (fold == nullptr || fold->monoid != kSum || fold->over != own.over) continue;
        const Fold& kept = std::get<Fold>(accumulator_.body[other.body].body);
        if (same_factors(product_of(inlined(kept.values.front(), true)), opened))
            return read_at_part(other.statement.targets.front());
    }
    const ArrayId target = line.statement.targets.front();
    Array kept = array(target);
    kept.name += "_moment";
    const std::set<AxisId> used = axes_used(value);
    std::erase_if(kept.axes, [&](AxisId axis) { return used.count(axis) == 0; });
    const ArrayId id{
        static_cast<std::uint32_t>(diagram_.arrays.size() + accumulator_.arrays.size())};
    accumulator_.arrays.push_back(std::move(kept));
    Statement statement = accumulator_.body[line.body];
    statement.targets = {id};
    Fold fold = own;
    fold.values = {std::move(value)};
    statement.body = std::move(fold);
    accumulator_.body.push_back(statement);
    producer_[id] = lines_.size();
    lines_.push_back({std::move(statement), line.updated, accumulator_.body.size() - 1, line.turn});
    return read_at_part(id);
}

Expression Splitting::moved(const Line& line, std::size_t component) {
    const Fold own = std::get<Fold>(accumulator_.body[line.body].body);
    Expression value = inlined(own.values[component]);
    std::vector<Expression> guards;  // innermost first
    for (const Apply* choice = guarded_value(value); choice != nullptr;
         choice = guarded_value(value)) {
        guards.insert(guards.begin(), choice->arguments[0]);
        value = Expression(choice->arguments[1]);
    }
    const Product product = product_of(value);
    Product rest{product.coefficient, {}};
    std::vector<Difference> differences;
    for (const Factor& factor : product.factors) {
        if (!mentions_centre(factor.base)) {
            rest.factors.push_back(factor);
            continue;
        }
        const Apply* difference = std::get_if<Apply>(&factor.base.node);
        const Expression* subtracted =
            difference != nullptr && difference->function == Function::Subtract
                ? &difference->arguments[1]
                : nullptr;
        const Apply* guard =
            subtracted != nullptr ? std::get_if<Apply>(&subtracted->node) : nullptr;
        if (guard != nullptr && guard->function == Function::Guard)
            subtracted = &guard->arguments.front();
        const Read* centre = subtracted != nullptr ? std::get_if<Read>(&subtracted->node) : nullptr;
        if (centre == nullptr || held(centre->array) == nullptr || factor.power < 1 ||
            mentions_centre(difference->arguments[0])) {
            refuse("`" + array(line.statement.targets[component]).name +
                   "` depends on the mean of its first chunk otherwise than by powers of a "
                   "difference, so a part of it does not move to the mean of all");
            return own.values[component];
        }
        differences.push_back({factor.base, centre->array, static_cast<std::int64_t>(factor.power),
                               guard != nullptr});
    }
    std::optional<Expression> sum;
    std::vector<std::int64_t> powers(differences.size(), 0);
    for (bool done = false; !done;) {
        Product kept = rest;
        Product moves;
        for (std::size_t i = 0; i < differences.size(); ++i) {
            const auto& [base, centre, power, may_lack] = differences[i];
            if (powers[i] > 0) multiply(kept, base, static_cast<double>(powers[i]));
            if (powers[i] == power) continue;
            multiply(moves, static_cast<double>(binomial(power, powers[i])), 1);
            const std::vector<AxisId> axes = array(centre).axes;
            std::vector<Expression> at{axis_index(part_)};
            for (AxisId axis : axes) at.push_back(axis_index(axis));
            Expression own_centre = saved_read(centre, std::move(at));
            if (may_lack)  // its sums are zero then, and are not moved
                own_centre = napkin::apply(Function::Guard, {std::move(own_centre)});
            multiply(moves,
                     napkin::apply(Function::Subtract,
                                   {std::move(own_centre), read_axes(combined(centre), axes)}),
                     static_cast<double>(power - powers[i]));
        }
        multiply(moves, moment(line, kept, guards), 1);
        Expression term = expression_of(moves);
        sum = sum ? napkin::apply(Function::Add, {std::move(*sum), std::move(term)})
                  : std::move(term);
        done = true;
        for (std::size_t i = 0; i < powers.size() && done; ++i) {
            done = ++powers[i] > differences[i].power;
            if (done) powers[i] = 0;
        }
    }
    return *sum;
}

}  // namespace napkin::rules
