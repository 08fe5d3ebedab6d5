// Stale gauges (schedule/stale_gauges.h): a chunk is folded in relative to the maximum as it was;
// a warp of which a sum leaves its range then takes the chunk's maximum in, and folds it again.
//
// What follows the maximum by a factor does so only where it moved, which a variable beside the
// loop remembers for the operations of another turn.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::only_if;
using kernel::variable;
using schedule::LeafId;
using schedule::StaleGauge;

bool contains(const std::vector<LeafId>& list, LeafId leaf) {
    return std::find(list.begin(), list.end(), leaf) != list.end();
}

/// Of the warp.
kernel::Expression any_lane(const char* condition) {
    return binary(kernel::Operator::NotEqual, call("lanes_where", {variable(condition)}), 0);
}

Expression without(const Expression& expression, ArrayId from, ArrayId to) {
    return rewrite(expression, [&](Expression node) {
        if (Read* read = std::get_if<Read>(&node.node); read != nullptr && read->array == from)
            read->array = to;
        return node;
    });
}

}  // namespace

const StaleGauge* TensorLowering::stale_with(LeafId leaf) const {
    for (const StaleGauge& gauge : plan_.stale)
        if (gauge.take == leaf || gauge.keep == leaf || contains(gauge.members, leaf) ||
            contains(gauge.products, leaf))
            return &gauge;
    return nullptr;
}

/// What is done only where the maximum moved.
Body TensorLowering::where_moved(LeafId leaf, Body body) const {
    const StaleGauge* gauge = stale_with(leaf);
    return gauge == nullptr ? body : only_if(variable(moved_.at(gauge->take)), std::move(body));
}

/// Before a loop: what it remembers of its gauges.
void TensorLowering::declare_moved(const schedule::ChunkLoop& loop, Body& body) {
    for (const schedule::Item& item : loop.body) {
        const schedule::OpId* id = std::get_if<schedule::OpId>(&item.node);
        if (id == nullptr) continue;
        for (const StaleGauge& gauge : plan_.stale) {
            if (gauge.take != schedule_[*id].leaf) continue;
            const auto [known, added] = moved_.try_emplace(gauge.take);
            if (added) known->second = names_.fresh(names_of_.at(gauge.state) + "_moved");
            body.push_back(kernel::declare("bool", known->second, true));
        }
    }
}

/// The products that take what a leaf makes from registers, where it is rounded for them.
std::vector<LeafId> TensorLowering::products_of(LeafId weight) const {
    const VariableId made = std::get<Compute>(leaves_[weight.index()]->node).targets.front();
    std::vector<LeafId> products;
    for (const auto& [leaf, product] : plan_.products)
        if (product.left.direct == made && schedule_.left_of.contains(leaf) && !paired_value(leaf))
            products.push_back(leaf);
    return products;
}

/// Beside the weights that a leaf makes.
void TensorLowering::declare_rounded(LeafId weight, Body& body) {
    const StaleGauge* gauge = stale_with(weight);
    if (gauge == nullptr || !contains(gauge->weights, weight)) return;
    for (const LeafId leaf : products_of(weight)) {
        const auto [known, added] = rounded_.try_emplace(leaf);
        if (!added) continue;
        const schedule::Product& product = plan_.products.at(leaf);
        const std::string type = kernel::element_name(product.type);
        known->second = names_.fresh(names_of_.at(*product.left.direct) + "_rounded");
        body.push_back(kernel::declare(
            {"LeftOperand",
             {kernel::Type(type), 1, schedule::padded_depth(plan_, product) / schedule::kTile}},
            known->second));
    }
}

void TensorLowering::round_weights(const StaleGauge& gauge, Body& body) {
    for (const LeafId weight : gauge.weights)
        for (const LeafId leaf : products_of(weight)) {
            const schedule::Product& product = plan_.products.at(leaf);
            const kernel::Type type = kernel::element_name(product.type);
            body.push_back(assign(variable(rounded_.at(leaf)),
                                  call({"as_left", {type}}, {place(*product.left.direct)})));
        }
}

/// The same computation relative to the maximum as it was, without what it adds to.
Compute TensorLowering::relative_to_state(const StaleGauge& gauge, Compute compute) const {
    const ArrayId next = region_.variables[gauge.next.index()].array;
    const ArrayId state = region_.variables[gauge.state.index()].array;
    if (Map* map = std::get_if<Map>(&compute.statement.body)) {
        map->value = without(map->value, next, state);
    } else {
        Fold& fold = std::get<Fold>(compute.statement.body);
        fold.seed.clear();
        for (Expression& value : fold.values) value = without(value, next, state);
    }
    std::replace(compute.reads.begin(), compute.reads.end(), gauge.next, gauge.state);
    return compute;
}

/// A sum of this chunk alone, under a name of its own.
void TensorLowering::lower_tried_sum(LeafId leaf, const Compute& compute, Span span,
                                     const std::string& name, Body& body) {
    std::string& known = names_of_.at(compute.targets.front());
    const std::string own = std::exchange(known, name);
    body.push_back(kernel::declare_array("float", name, {kernel::scoped("Rows", "rows")}));
    lower_elements(leaf, compute, span, body);
    known = own;
}

Body TensorLowering::tried(const StaleGauge& gauge) {
    Body body;
    const kernel::Expression moved = variable(moved_.at(gauge.take));
    const kernel::Expression i = variable("i");
    kernel::Expression keeps =
        kernel::real(-std::numeric_limits<double>::infinity()) < subscript(place(gauge.state), i);
    Body add;
    for (const LeafId leaf : gauge.members) {
        if (contains(gauge.repairs, leaf) || contains(gauge.beside, leaf)) continue;
        const TileStatement& statement = *leaves_[leaf.index()];
        const Compute& own = std::get<Compute>(statement.node);
        const Compute compute = relative_to_state(gauge, own);
        temporaries_ = 0;
        if (contains(gauge.weights, leaf)) {
            lower_elements(leaf, compute, statement.span, body);
            continue;
        }
        const VariableId target = own.targets.front();
        const std::string name = names_.fresh(names_of_.at(target) + "_more");
        lower_tried_sum(leaf, compute, statement.span, name, body);
        const kernel::Expression more = subscript(variable(name), i);
        const kernel::Expression sum = subscript(place(target), i);
        // Of a sum that is NaN too, this does not hold.
        keeps = std::move(keeps) &&
                binary(kernel::Operator::LessEqual, sum + more, kernel::real(gauge.most));
        add.push_back(add_to(sum, more));
    }
    round_weights(gauge, body);
    body.push_back(kernel::declare("bool", "leaves", false));
    append(body, row_loop({assign(variable("leaves"), variable("leaves") || !std::move(keeps))}));
    body.push_back(assign(moved, any_lane("leaves")));
    append(body, only_if(!moved, row_loop(std::move(add))));
    return body;
}

void TensorLowering::lower_again(LeafId leaf, Body& body) {
    const TileStatement& statement = *leaves_[leaf.index()];
    temporaries_ = 0;
    lower_elements(leaf, std::get<Compute>(statement.node), statement.span, body);
}

/// A maximum that grew grows further, so that the next chunks may be above it.
Body TensorLowering::raised(const StaleGauge& gauge) const {
    const kernel::Expression i = variable("i");
    const kernel::Expression next = subscript(place(gauge.next), i);
    Body body;
    body.push_back(assign(next, choose(subscript(place(gauge.state), i) < next,
                                       next + kernel::real(gauge.headroom), next)));
    return body;
}

void TensorLowering::lower_stale(const StaleGauge& gauge, Body& body) {
    for (const LeafId leaf : gauge.beside) lower_again(leaf, body);
    std::vector<LeafId> leaves = {gauge.take};
    for (const LeafId leaf : gauge.members)
        if (!contains(gauge.beside, leaf)) leaves.push_back(leaf);
    for (const LeafId leaf : leaves)
        declare(std::get<Compute>(leaves_[leaf.index()]->node).targets.front(), body);
    for (const LeafId weight : gauge.weights) declare_rounded(weight, body);
    body.push_back({kernel::Comment{
        fmt::format("Relative to {} as it was, while what a lane sums is {:g} at most.",
                    names_of_.at(gauge.state), gauge.most),
        true}});
    body.push_back(assign(variable(moved_.at(gauge.take)), true));
    // Where it leads, the chunk of the turn before the first is the first one.
    append(body, only_if(leading_ ? member(variable("now"), "value") : true, tried(gauge)));
    Body taken;
    for (const LeafId leaf : leaves) {
        lower_again(leaf, taken);
        if (leaf == gauge.take && gauge.headroom > 0) append(taken, row_loop(raised(gauge)));
    }
    round_weights(gauge, taken);
    append(body, only_if(variable(moved_.at(gauge.take)), std::move(taken)));
}

}  // namespace napkin::lowering
