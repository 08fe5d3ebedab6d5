// What depends on where the elements of a row stand: selections and scans of rows in registers.
#include <limits>

#include "codegen/tensor/fold_code.h"
#include "codegen/tensor/tensor_lowering.h"
#include "codegen/tensor/vectors.h"
#include "diagrams/contains.h"
#include "schedule/statements.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::Run;
using kernel::variable;

}  // namespace

/// Whether something else of the region reads or saves a variable.
bool TensorLowering::is_used(VariableId variable) const {
    bool used = false;
    schedule::for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Compute* compute = std::get_if<Compute>(&statement.node))
            used = used || contains(compute->reads, variable);
        if (const Save* save = std::get_if<Save>(&statement.node))
            used = used || save->source == variable;
    });
    return used;
}

/// Goes through a thread's columns, by vectors where what is computed is read in them.
Body TensorLowering::loop_of_columns(AxisId column, Vectors vectors, Body inside) {
    return vectors.known.empty() ? column_loop(column, std::move(inside))
                                 : loop_in_vectors(std::move(vectors), std::move(inside));
}

/// Adds what a computation reads in vectors along the columns; the scope refers to the vectors.
void TensorLowering::read_along(AxisId column, const Compute& compute, const Expression& value,
                                Vectors& vectors, ExpressionScope& scope) {
    if (plan_.vector == 1) return;
    vectors = vectors_of_row(column);
    for (const VariableId read : compute.reads) read_in_vectors(vectors, read, value, scope);
}

/// Every thread finds the first of its own columns, of which later ones stand further on; then
/// those that share the row compare what they have found.
void TensorLowering::lower_select(const Compute& compute, const Select& select, Body& body) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const VariableId target = compute.targets.front();
    const bool by_rows = plan_.tiles.at(target).home == Home::Row;
    const bool is_wide = plan_.extents.at(select.over) > 1;
    const Domain domain{by_rows, is_wide ? std::optional(select.over) : std::nullopt};
    const kernel::Expression best = variable("best");
    const IndexForm& start = ranges_.at(select.over).start;
    ExpressionScope scope = scope_for(compute);
    Body before;
    Body inside;
    Vectors vectors;
    if (is_wide) read_along(select.over, compute, select.value, vectors, scope);
    Code value = print_hoisted(select.value, domain, scope, before, inside);
    if (is_wide) {
        const kernel::Expression first =
            invoke(kernel::scoped(columns_of(select.over).type, "column"), {0});
        const IndexForm at = start + local_index(select.over);
        keep_where(test_in_chunk(select.over), kernel::real(-kInfinity), value, inside);
        inside.push_back({Run{call("take_next", {best, value.value, expression_of(at)})}});
        before.push_back(kernel::declare(
            "Ranked", "best",
            kernel::braces({kernel::real(-kInfinity), expression_of(start) + first})));
        append(before, loop_of_columns(select.over, std::move(vectors), std::move(inside)));
        before.push_back(assign(best, first_across(best)));
    } else {
        append(before, std::move(inside));
        before.push_back(
            kernel::declare("Ranked", "best", kernel::braces({value.value, expression_of(start)})));
    }
    for (const auto& [made, code] :
         {std::pair(0, real_code(member(best, "value"))),
          {1, integer_code(member(best, "index"), range_of(ElementType::I32))}}) {
        const VariableId each = compute.targets[static_cast<std::size_t>(made)];
        if (!is_used(each)) continue;
        declare(each, body);
        before.push_back(assign(element_at(each), kept_as(each, code)));
    }
    if (by_rows) return append(body, row_loop(std::move(before)));
    // What is not along the rows is the same in each of them.
    before.insert(before.begin(), define("int", "i", 0));
    body.push_back({kernel::Block{std::move(before)}});
}

/// What comes first of what the threads that share a row have found.
kernel::Expression TensorLowering::first_across(const kernel::Expression& best) const {
    const kernel::Expression lanes = kernel::scoped("Rows", "lanes_per_row");
    if (plan_.lanes_per_row <= 32) return call({"row_first", {lanes}}, {best});
    return call({"block_first", {lanes}}, {best, variable(scratch_)});
}

/// Every element is first what it folds; then threads put before it what comes before it.
void TensorLowering::lower_scan(const Compute& compute, const Fold& fold, Body& body) {
    const VariableId target = compute.targets.front();
    const AxisId column = *plan_.tiles.at(target).column;
    ExpressionScope scope = scope_for(compute);
    scales_.erase(compute.statement.targets.front());
    declare(target, body);
    Body before;
    Body inside;
    Vectors vectors;
    read_along(column, compute, fold.values.front(), vectors, scope);
    Code value = print_hoisted(fold.values.front(), {true, column}, scope, before, inside);
    keep_where(test_in_chunk(column), identity_of(fold.monoid), value, inside);
    inside.push_back(assign(element_at(target), value.value));
    append(before, loop_of_columns(column, std::move(vectors), std::move(inside)));
    Code start = real_code(identity_of(fold.monoid), true);
    if (!fold.seed.empty())
        start = print_hoisted(fold.seed.front(), {true, std::nullopt}, scope, before, before);
    const bool finite =
        value.finite && start.finite && !plan_.infinite.contains(compute.statement.targets.front());
    std::vector<kernel::Expression> what = {place(target), variable("i"), start.value};
    if (plan_.lanes_per_row > 32) what.push_back(variable(scratch_));
    before.push_back({Run{
        call({"scan_row", {kernel::Type(combine_of(fold.monoid, finite))}}, std::move(what))}});
    const kernel::Expression kept = kept_as(target, real_code(element_at(target)));
    if (!(kept == element_at(target)))
        append(before, column_loop(column, {assign(element_at(target), kept)}));
    append(body, row_loop(std::move(before)));
}

}  // namespace napkin::lowering
