// Vectors in shared memory, which all threads of a block compute together: an element each; a fold
// along the rows of what lies in vectors there or in device memory, some neighbouring lanes each.
#include <algorithm>

#include "codegen/tensor/fold_code.h"
#include "codegen/tensor/tensor_lowering.h"
#include "codegen/tensor/vectors.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::variable;

/// Elements that a lane reads at once.
constexpr std::int64_t kVector = 8;

/// The most lanes that share a row of so many elements, a vector each: a power of two.
std::int64_t lanes_for(std::int64_t elements) {
    std::int64_t lanes = 1;
    while (lanes < 32 && 2 * lanes * kVector <= elements) lanes *= 2;
    return lanes;
}

}  // namespace

void TensorLowering::lower_shared_vector(const Compute& compute, Body& body) {
    const AxisId axis = *plan_.tiles.at(compute.targets.front()).column;
    const std::string& index = axis_names_[axis.index()].local;
    const std::int64_t columns = schedule::vector_extent(plan_, axis);
    ExpressionScope scope = scope_for(compute);
    Body each = define_parts(axis);
    Code value;
    if (const Fold* fold = std::get_if<Fold>(&compute.statement.body)) {
        if (const std::optional<AxisId> over = folded_in_vectors(*fold)) {
            if (fold_in_vectors(compute, *fold, *over, body)) return;
        }
        value = folded_by_thread(compute, *fold, scope, each);
    } else {
        value = vector_element(compute, std::get<Map>(compute.statement.body).value, scope, each);
    }
    each.push_back(vector_result(compute, value));
    body.push_back(kernel::shared_loop(index, columns, std::move(each)));
}

/// An expression's value at the vector's own index.
Code TensorLowering::vector_element(const Compute& compute, const Expression& expression,
                                    ExpressionScope& scope, Body& inside) {
    ElementScope element = element_of({false, plan_.tiles.at(compute.targets.front()).column});
    for (const AxisId axis : looped_)
        for (const schedule::TilePart& part : tile_parts(axis))
            element.index[part.axis] = ranges_.at(part.axis).start + local_index(part.axis);
    element.temporaries = &inside;
    element.next_temporary = &temporaries_;
    const schedule::Scaler scaler(region_, scales_);
    return as_sort(ExpressionPrinter(scope).print(scaler.expand(expression), element), Sort::Real);
}

/// Assigns an element of the vector, 0 beyond its array.
kernel::Statement TensorLowering::vector_result(const Compute& compute, Code value) {
    const VariableId target = compute.targets.front();
    const AxisId axis = *plan_.tiles.at(target).column;
    const Array& info = region_.arrays[region_.variables[target.index()].array.index()];
    const kernel::Expression index = variable(axis_names_[axis.index()].local);
    if (info.rounds && info.type != ElementType::F32 &&
        !rounded_when_saved(compute.targets.front()))
        value = rounded(value, info.type);
    value.value = choose(column_test(axis), value.value, kernel::real(0));
    return assign(subscript(matrix(target), index), value.value);
}

/// What is folded is added to the seed, if there is one.
Code TensorLowering::with_seed(const Compute& compute, const Fold& fold, Code folded,
                               ExpressionScope& scope, Body& body) {
    if (fold.seed.empty()) return folded;
    const Code seed = vector_element(compute, fold.seed.front(), scope, body);
    folded.value = combined(fold.monoid, seed.value, folded.value, folded.finite && seed.finite);
    return folded;
}

Code TensorLowering::folded_by_thread(const Compute& compute, const Fold& fold,
                                      ExpressionScope& scope, Body& body) {
    const kernel::Expression acc = variable("acc");
    std::vector<AxisId> along;
    for (const AxisId over : fold.over)
        if (plan_.extents.contains(over) && plan_.extents.at(over) > 1) along.push_back(over);
    body.push_back(kernel::declare("float", "acc", identity_of(fold.monoid)));
    looped_ = std::set<AxisId>(along.begin(), along.end());
    Body inside;
    Code value = vector_element(compute, fold.values.front(), scope, inside);
    looped_.clear();
    inside.push_back(assign(acc, combined(fold.monoid, acc, value.value, value.finite)));
    append(body, loops_along(along, std::move(inside)));
    value.value = acc;
    return with_seed(compute, fold, value, scope, body);
}

/// The only axis that a fold runs along, where a row along it has several vectors.
std::optional<AxisId> TensorLowering::folded_in_vectors(const Fold& fold) const {
    std::optional<AxisId> only;
    for (const AxisId over : fold.over) {
        if (!plan_.extents.contains(over) || plan_.extents.at(over) <= 1) continue;
        if (only) return std::nullopt;
        only = over;
    }
    if (!only || !tile_parts(*only).empty()) return std::nullopt;
    if (lanes_for(schedule::panel_extent(plan_, *only)) == 1) return std::nullopt;
    return only;
}

/// False where nothing that is folded lies in vectors along the axis.
bool TensorLowering::fold_in_vectors(const Compute& compute, const Fold& fold, AxisId over,
                                     Body& body) {
    const std::int64_t extent = schedule::panel_extent(plan_, over);
    const std::int64_t lanes = lanes_for(extent);
    const std::string& column = axis_names_[over.index()].local;
    const AxisId axis = *plan_.tiles.at(compute.targets.front()).column;
    Vectors vectors;
    vectors.columns = over;
    vectors.padded = extent;
    vectors.count = kVector;
    vectors.local = local_index(over);
    const std::string first = names_.fresh(column + "_first");
    vectors.first = index_atom(first, range_of(vectors.local));
    multiples_[first] = kVector;
    const Expression whole = schedule::Scaler(region_, scales_).expand(fold.values.front());
    ExpressionScope scope = scope_for(compute);
    for (const VariableId read : compute.reads) read_in_vectors(vectors, read, whole, scope);
    ElementScope element = element_of({false, axis});
    element.index[over] = ranges_.at(over).start + vectors.local;
    Body each = {define("int", column, variable(first) + variable("j"))};
    element.temporaries = &each;
    element.next_temporary = &temporaries_;
    Code value = as_sort(ExpressionPrinter(scope).print(whole, element), Sort::Real);
    if (vectors.known.empty()) return false;
    const IndexForm& count = ranges_.at(over).count;
    if (!count.is_constant(extent))
        value.value =
            choose(variable(column) < expression_of(count), value.value, identity_of(fold.monoid));
    const kernel::Expression acc = variable("acc");
    each.push_back(assign(acc, combined(fold.monoid, acc, value.value, value.finite)));

    kernel::For steps;
    steps.name = first;
    steps.begin = call("lane_index") % lanes * kVector;
    steps.end = extent;
    steps.step = lanes * kVector;
    steps.body = std::move(vectors.before);
    steps.body.push_back(kernel::unrolled_loop("j", kVector, std::move(each)));

    Body row = define_parts(axis);
    row.push_back(kernel::declare("float", "acc", identity_of(fold.monoid)));
    row.push_back({std::move(steps)});
    row.push_back(
        assign(acc, call({"row_" + across(fold.monoid), {kernel::Type{"Lanes", {lanes}}}}, {acc})));
    Body result;
    value.value = acc;
    value = with_seed(compute, fold, value, scope, result);
    result.push_back(vector_result(compute, value));
    append(row, kernel::only_if(equal(call("lane_index") % lanes, 0), std::move(result)));
    kernel::For rows;
    rows.name = axis_names_[axis.index()].local;
    rows.begin = kernel::thread_index() / lanes;
    rows.end = schedule::vector_extent(plan_, axis);
    rows.step = variable("kThreads") / lanes;
    rows.body = std::move(row);
    body.push_back({std::move(rows)});
    return true;
}

}  // namespace napkin::lowering
