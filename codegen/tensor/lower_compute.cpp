// Maps and folds: loops over the elements that a thread holds.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "codegen/expression_text.h"
#include "codegen/tensor/fold_code.h"
#include "codegen/tensor/tensor_lowering.h"
#include "codegen/tensor/vectors.h"
#include "schedule/neighbours.h"
#include "schedule/statements.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::Run;
using kernel::variable;
using schedule::Home;

Function function_of(MonoidId monoid) {
    if (monoid == kSum) return Function::Add;
    if (monoid == kProduct) return Function::Multiply;
    return monoid == kMax ? Function::Max : Function::Min;
}

}  // namespace

std::string across(MonoidId monoid) {
    if (monoid == kSum) return "sum";
    if (monoid == kProduct) return "product";
    return monoid == kMax ? "maximum" : "minimum";
}

const char* combine_of(MonoidId monoid, bool finite) {
    if (monoid == kSum) return finite ? "PlainSum" : "Sum";
    if (monoid == kProduct) return finite ? "PlainProduct" : "Product";
    return monoid == kMax ? "Maximum" : "Minimum";
}

kernel::Expression identity_of(MonoidId monoid) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (monoid == kSum) return kernel::real(0);
    if (monoid == kProduct) return kernel::real(1);
    return kernel::real(monoid == kMax ? -kInfinity : kInfinity);
}

kernel::Expression combined(MonoidId monoid, kernel::Expression a, kernel::Expression b,
                            bool finite) {
    const bool sum = monoid == kSum;
    if (monoid == kMax || monoid == kMin || !finite) {
        const char* function = monoid == kMax   ? "maximum"
                               : monoid == kMin ? "minimum"
                               : sum            ? "add"
                                                : "multiply";
        return call(function, {std::move(a), std::move(b)});
    }
    return sum ? std::move(a) + std::move(b) : std::move(a) * std::move(b);
}

void TensorLowering::make_deferred_loads(const Compute& compute, Body& body) {
    for (const VariableId variable : compute.reads)
        if (const auto later = deferred_.find(variable);
            later != deferred_.end() && !declared_.contains(variable))
            lower_load(*loads_.at(variable), later->second, body);
}

void TensorLowering::lower_elements(LeafId leaf, const Compute& compute, Span span, Body& body) {
    make_deferred_loads(compute, body);
    add_comments(text_of(compute.statement), span, compute.via, body);
    for (const VariableId variable : compute.reads)
        if (is_as_loaded(variable)) body.push_back({Run{call("make_again", {place(variable)})}});
    if (const Select* select = std::get_if<Select>(&compute.statement.body))
        return lower_select(compute, *select, body);
    if (const std::optional<Expression> value = map_of(compute))
        return lower_map(compute, *value, body);
    if (schedule::is_scan(compute.statement))
        return lower_scan(compute, std::get<Fold>(compute.statement.body), body);
    if (plan_.serial.contains(leaf)) return lower_serial({leaf}, body);
    lower_fold(leaf, compute, std::get<Fold>(compute.statement.body), body);
}

/// What a computation without a fold gives every element. A fold over one index is none.
std::optional<Expression> TensorLowering::map_of(const Compute& compute) const {
    if (const Map* map = std::get_if<Map>(&compute.statement.body)) return map->value;
    const Fold& fold = std::get<Fold>(compute.statement.body);
    for (const AxisId axis : fold.over)
        if (plan_.extents.contains(axis) && plan_.extents.at(axis) > 1) return std::nullopt;
    if (fold.seed.empty()) return fold.values.front();
    return apply(function_of(fold.monoid), {fold.seed.front(), fold.values.front()});
}

void TensorLowering::lower_map(const Compute& compute, const Expression& value, Body& body) {
    const VariableId target = compute.targets.front();
    const schedule::Tile& tile = plan_.tiles.at(target);
    const Array& info = region_.arrays[region_.variables[target.index()].array.index()];
    ExpressionScope scope = scope_for(compute);
    Domain domain{tile.home != Home::Thread, std::nullopt};
    if (tile.home == Home::Fragment) domain.column = tile.column;

    // Constant factors wait until the value is used.
    Expression kept = value;
    scales_.erase(compute.statement.targets.front());
    if (tile.home == Home::Fragment && !info.rounds && info.role != ArrayRole::Output) {
        const schedule::Scaled scaled = schedule::Scaler(region_, scales_).split(value);
        const bool saved = region_.stored.contains(compute.statement.targets.front());
        if (scaled.factor != 1 && !saved) {
            kept = scaled.rest;
            // The factor of what is read is what was taken out.
            schedule::Scales own = scales_;
            scales_.clear();
            Body before;
            Body inside;
            const Code code = print_hoisted(kept, domain, scope, before, inside);
            scales_ = own;
            scales_[compute.statement.targets.front()] = scaled.factor;
            body.push_back(factor_comment(scaled.factor));
            finish_map(compute, domain, code, std::move(before), std::move(inside), body);
            return;
        }
    }
    Vectors vectors;
    if (domain.column && !plan_.has_products() && plan_.vector > 1) {
        vectors = vectors_of_row(*domain.column);
        kept = schedule::join_branches(region_, std::move(kept), *domain.column, vectors.count,
                                       run_time_);
        ElementScope first = element_of(domain);
        first.index[*domain.column] = ranges_.at(*domain.column).start + vectors.first;
        for (const VariableId read : compute.reads) {
            read_turned(vectors, read, kept, first, scope);
            read_in_vectors(vectors, read, kept, scope);
        }
    }
    Body before;
    Body inside;
    const Code code = is_floating(tile.type) ? print_hoisted(kept, domain, scope, before, inside)
                                             : hoisted(kept, domain, scope, before, inside);
    finish_map(compute, domain, code, std::move(before), std::move(inside), body, &vectors);
}

bool TensorLowering::rounded_when_saved(VariableId target) const {
    const ArrayId array = region_.variables[target.index()].array;
    const auto stored = region_.stored.find(array);
    if (stored == region_.stored.end() || stored->second != region_.arrays[array.index()].type)
        return false;
    // It is kept as f32 is.
    if (stored->second == ElementType::TF32) return false;
    bool read = false;
    schedule::for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Compute* reader = std::get_if<Compute>(&statement.node))
            for (const VariableId variable : reader->reads) read = read || variable == target;
    });
    return !read;
}

/// A value as registers keep it of a target.
kernel::Expression TensorLowering::kept_as(VariableId target, Code value) const {
    const Array& info = region_.arrays[region_.variables[target.index()].array.index()];
    const ElementType type = plan_.tiles.at(target).type;
    if (info.rounds && info.type != ElementType::F32 && !rounded_when_saved(target))
        value = rounded(value, info.type);
    if (type == ElementType::Bool) return as_sort(value, Sort::Boolean).value;
    return is_floating(type) ? value.value : stored(value, type);
}

void TensorLowering::finish_map(const Compute& compute, const Domain& domain, Code value,
                                Body before, Body inside, Body& body, Vectors* vectors) {
    const VariableId target = compute.targets.front();
    const schedule::Tile& tile = plan_.tiles.at(target);
    declare(target, body);
    if (tile.home == Home::Fragment) {
        append(before,
               elements_of_map(compute, domain, std::move(value), std::move(inside), vectors));
        return append(body, row_loop(std::move(before)));
    }
    value.value = kept_as(target, value);
    if (tile.home == Home::Thread) {
        inside.push_back(assign(place(target), value.value));
        if (inside.size() == 1)
            body.push_back(std::move(inside.front()));
        else
            body.push_back({kernel::Block{std::move(inside)}});
        return;
    }
    inside.push_back(assign(element_at(target), value.value));
    append(body, row_loop(std::move(inside)));
}

/// A row's elements of a fragment.
Body TensorLowering::elements_of_map(const Compute& compute, const Domain& domain, Code value,
                                     Body inside, Vectors* vectors) {
    const VariableId target = compute.targets.front();
    value.value = kept_as(target, value);
    // What a product multiplies must be 0 beyond the array.
    const bool operand =
        std::any_of(plan_.products.begin(), plan_.products.end(),
                    [&](const auto& entry) { return entry.second.left.direct == target; });
    if (operand) value.value = choose(test_in_chunk(*domain.column), value.value, kernel::real(0));
    inside.push_back(assign(element_at(target), value.value));
    if (vectors != nullptr && !vectors->known.empty())
        return loop_in_vectors(std::move(*vectors), std::move(inside));
    return column_loop(*domain.column, std::move(inside));
}

/// By lanes: each folds what it holds of a row, and nobody else's.
void TensorLowering::lower_fold(LeafId leaf, const Compute& compute, const Fold& fold, Body& body) {
    const VariableId target = compute.targets.front();
    const schedule::Tile& tile = plan_.tiles.at(target);
    const auto [over, rows] = folded_axes(fold);
    const bool by_lanes = plan_.lane_folds.contains(leaf);
    ExpressionScope scope = scope_for(compute);
    scales_.erase(compute.statement.targets.front());
    const Domain outer{tile.home == Home::Row, std::nullopt};
    Body before;
    Code total;
    if (plan_.shared_folds.contains(leaf) && !by_lanes)
        total.value = put_together(leaf, fold.monoid, before);
    else
        total = folded_elements(fold, over, rows, by_lanes, outer, scope, before);
    total.finite = !plan_.infinite.contains(compute.statement.targets.front());
    if (!fold.seed.empty()) {
        Code seed = print_hoisted(fold.seed.front(), outer, scope, before, before);
        if (std::holds_alternative<kernel::Choice>(seed.value.node)) {
            before.push_back(define("float", "seed", seed.value));
            seed.value = variable("seed");
        }
        total.value = combined(fold.monoid, seed.value, total.value, total.finite && seed.finite);
    }
    Code value = total;
    value.value = kept_as(target, value);
    declare(target, body);
    if (tile.home == Home::Thread) {
        before.push_back(assign(place(target), value.value));
        // What is not along the rows is the same in each of them.
        if (!rows) before.insert(before.begin(), define("int", "i", 0));
        body.push_back({kernel::Block{std::move(before)}});
        return;
    }
    before.push_back(assign(element_at(target), value.value));
    append(body, row_loop(std::move(before)));
}

void TensorLowering::keep_where(kernel::Expression test, kernel::Expression otherwise, Code& value,
                                Body& inside) {
    constexpr std::size_t kLong = 50;
    if (is(test, true)) return;
    if (std::holds_alternative<kernel::Choice>(value.value.node) ||
        width_of(test) + width_of(value.value) > kLong) {
        const std::string name = fmt::format("t{}", temporaries_++);
        inside.push_back(define("float", name, value.value));
        value.value = variable(name);
    }
    value.value = choose(std::move(test), value.value, std::move(otherwise));
}

Code TensorLowering::folded_elements(const Fold& fold, std::optional<AxisId> over, bool rows,
                                     bool by_lanes, const Domain& outer, ExpressionScope& scope,
                                     Body& before) {
    const Expression& folded = fold.values.front();
    Code total;
    if (!rows && !along(folded).contains(*over)) {
        // The same at every index.
        total = print_hoisted(folded, outer, scope, before, before);
        const kernel::Expression count = call("float", {expression_of(count_of(*over))});
        if (fold.monoid == kSum) total.value = total.value * count;
        if (fold.monoid == kProduct) total.value = call("powf", {total.value, count});
        return total;
    }
    const schedule::Scaled scaled = schedule::Scaler(region_, scales_).split(folded);
    const bool take_out = scaled.factor != 1 && fold.monoid != kProduct;
    const schedule::Scales own = scales_;
    if (take_out) scales_.clear();
    Body row;
    Body inside;
    Code value = print_hoisted(take_out ? scaled.rest : folded, {outer.row || rows, over}, scope,
                               row, inside);
    scales_ = own;
    kernel::Expression test = over ? test_in_chunk(*over) : rows ? row_leader() : true;
    if (rows) test = std::move(test) && row_test();
    // Of a block all warps are put together, also those across that hold the same.
    if (rows && over) test = std::move(test) && has_columns(*over);
    keep_where(std::move(test), identity_of(fold.monoid), value, inside);
    const kernel::Expression acc = variable("acc");
    inside.push_back(assign(acc, combined(fold.monoid, acc, value.value, value.finite)));
    if (over) inside = column_loop(*over, std::move(inside));
    kernel::Statement start = kernel::declare("float", "acc", identity_of(fold.monoid));
    if (rows) {
        append(row, std::move(inside));
        before.push_back(std::move(start));
        append(before, row_loop(std::move(row)));
        scope.named.clear();  // declared within the loop
    } else {
        append(before, std::move(row));
        before.push_back(std::move(start));
        append(before, std::move(inside));
    }
    if (rows)
        before.push_back(assign(acc, call({"block_" + across(fold.monoid), {variable("kThreads")}},
                                          {acc, variable(scratch_)})));
    else if (!by_lanes)
        before.push_back(assign(acc, folded_across(fold.monoid, acc)));
    total.value = take_out ? acc * kernel::real(scaled.factor) : acc;
    return total;
}

kernel::Expression TensorLowering::folded_across(MonoidId monoid,
                                                 const kernel::Expression& part) const {
    if (plan_.lanes_per_row <= 32)
        return call({"row_" + across(monoid), {kernel::Type("Rows")}}, {part});
    return call({"block_" + across(monoid), {kernel::scoped("Rows", "lanes_per_row")}},
                {part, variable(scratch_)});
}

/// Along columns, and whether along the rows.
std::pair<std::optional<AxisId>, bool> TensorLowering::folded_axes(const Fold& fold) const {
    std::optional<AxisId> over;
    bool rows = false;
    for (const AxisId axis : fold.over) {
        if (!plan_.extents.contains(axis) || plan_.extents.at(axis) <= 1) continue;
        if (axis == plan_.row)
            rows = true;
        else
            over = axis;
    }
    return {over, rows};
}

/// Where the part of a row is that one of those that share it has folded.
kernel::Expression TensorLowering::part_at(LeafId fold, const kernel::Expression& across) const {
    const auto op =
        std::find_if(schedule_.ops.begin(), schedule_.ops.end(), [&](const schedule::Op& each) {
            return each.leaf == fold && each.kind == schedule::Op::Kind::Part;
        });
    const kernel::Expression row = variable(axis_names_[plan_.row->index()].local);
    return subscript(shared_buffer(op->writes.front()),
                     across * (plan_.rows_of_warp * plan_.warps_down) + row);
}

kernel::Expression TensorLowering::put_together(LeafId fold, MonoidId monoid, Body& body) const {
    const kernel::Expression all = variable("all");
    body.push_back(kernel::declare("float", "all", part_at(fold, 0)));
    for (std::int64_t across = 1; across < plan_.warps_across; ++across)
        body.push_back(assign(all, combined(monoid, all, part_at(fold, across), false)));
    return all;
}

/// One lane of each row leaves what the warp has folded of it.
void TensorLowering::lower_part(const schedule::Op& op, const Compute& compute, Span span,
                                Body& body) {
    make_deferred_loads(compute, body);
    const Fold& fold = std::get<Fold>(compute.statement.body);
    add_comments(fmt::format("the parts of {}: {}",
                             region_.arrays[compute.statement.targets.front().index()].name,
                             text_of(compute.statement)),
                 span, compute.via, body);
    Body before;
    Code total;
    if (plan_.lane_folds.contains(op.leaf)) {
        total.value = folded_across(fold.monoid, element_at(compute.targets.front()));
    } else {
        ExpressionScope scope = scope_for(compute);
        const auto [over, rows] = folded_axes(fold);
        total = folded_elements(fold, over, rows, false, {true, std::nullopt}, scope, before);
    }
    before.push_back(define("float", "part", total.value));
    const kernel::Expression unit =
        in_groups() ? call("warp_index") / schedule::kWarpsOfGroup : call("warp_index");
    append(before,
           only_if(equal(call("lane_index") % kernel::scoped("Rows", "lanes_per_row"), 0),
                   {assign(part_at(op.leaf, unit % plan_.warps_across), variable("part"))}));
    append(body, row_loop(std::move(before)));
}

/// Behind a loop in which every lane has folded by itself.
void TensorLowering::lower_combine(LeafId leaf, const Compute& compute, Body& body) {
    const VariableId target = compute.targets.front();
    const schedule::Tile& tile = plan_.tiles.at(target);
    const Fold& fold = std::get<Fold>(compute.statement.body);
    const bool shared = plan_.shared_folds.contains(leaf);
    const bool columns = tile.home == Home::Fragment;
    body.push_back({kernel::Comment{
        fmt::format("{} of all {}", region_.arrays[compute.statement.targets.front().index()].name,
                    columns ? "threads of a column" : "lanes of a row"),
        true}});
    Body row;
    if (columns) {
        row.push_back(
            combine_columns(fold.monoid, *tile.column,
                            subscript(kernel::member(place(target), "at"), variable("i"))));
        return append(body, row_loop(std::move(row)));
    }
    const kernel::Expression all = shared ? put_together(leaf, fold.monoid, row)
                                          : folded_across(fold.monoid, element_at(target));
    row.push_back(assign(element_at(target), all));
    append(body, row_loop(std::move(row)));
}

}  // namespace napkin::lowering
