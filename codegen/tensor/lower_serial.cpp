// Folds along axes that no tile in registers runs along: loops in every thread.
#include <algorithm>

#include "codegen/tensor/fold_code.h"
#include "codegen/tensor/tensor_lowering.h"
#include "codegen/tensor/vectors.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::For;
using kernel::variable;
using schedule::Home;

}  // namespace

/// Goes through a thread's columns by its vectors, and reads each before it is used.
Body TensorLowering::loop_in_vectors(Vectors vectors, const std::string& first, Body inside) {
    const Columns columns = columns_of(vectors.columns);
    const std::string vector = names_.fresh("vector");
    const kernel::Expression begin = variable(vector) * vectors.count;
    const kernel::Expression element = variable(vectors.element);
    Body each = {
        define("int", "j", begin + element),
        define("int", axis_names_[vectors.columns.index()].local, variable(first) + element)};
    append(each, std::move(inside));
    Body whole = {define("int", first, invoke(kernel::scoped(columns.type, "column"), {begin}))};
    append(whole, std::move(vectors.before));
    whole.push_back(kernel::unrolled_loop(vectors.element, vectors.count, std::move(each)));
    return {kernel::unrolled_loop(vector, columns.count / vectors.count, std::move(whole))};
}

/// Where blocks are few, nothing but other turns hides the latency of what a turn reads. Of what
/// goes along `shared`, threads that hold the same columns have their parts.
Body TensorLowering::loops_along(const std::vector<AxisId>& axes, Body inner,
                                 std::optional<AxisId> shared) const {
    constexpr std::int64_t kAtOnce = 8;
    bool innermost = true;
    const auto around = [&](AxisId axis) {
        For loop;
        if (innermost && program_.few_blocks) loop.unroll_by = kAtOnce;
        innermost = false;
        loop.name = axis_names_[axis.index()].local;
        loop.end = expression_of(ranges_.at(axis).count);
        if (axis == shared) {
            loop.begin = kernel::thread_index() / plan_.lanes_per_row;
            loop.step = plan_.sharers();
        }
        loop.body = std::move(inner);
        inner = {{std::move(loop)}};
    };
    for (std::size_t i = axes.size(); i-- > 0;) {
        const std::vector<schedule::TilePart> parts = tile_parts(axes[i]);
        if (parts.empty()) around(axes[i]);
        if (!parts.empty()) inner.insert(inner.begin(), define_whole(axes[i]));
        for (std::size_t p = parts.size(); p-- > 0;) around(parts[p].axis);
    }
    return inner;
}

/// The longest of the axes, of a tile axis the longest part, where threads share a serial fold.
std::optional<AxisId> TensorLowering::shared_axis(const std::vector<AxisId>& axes) const {
    std::optional<AxisId> longest;
    if (plan_.sharers() == 1) return longest;
    const auto consider = [&](AxisId axis) {
        if (!longest || plan_.extents.at(axis) > plan_.extents.at(*longest)) longest = axis;
    };
    for (const AxisId axis : axes) {
        const std::vector<schedule::TilePart> parts = tile_parts(axis);
        if (parts.empty()) consider(axis);
        for (const schedule::TilePart& part : parts) consider(part.axis);
    }
    return longest;
}

/// The index along a tile axis, of those of its parts.
kernel::Statement TensorLowering::define_whole(AxisId axis) const {
    kernel::Expression whole = 0;
    for (const schedule::TilePart& part : tile_parts(axis)) {
        const kernel::Expression index = variable(axis_names_[part.axis.index()].local);
        whole = whole == kernel::Expression(0) ? index : std::move(whole) * part.extent + index;
    }
    return define("int", axis_names_[axis.index()].local, std::move(whole));
}

/// Puts together what threads have folded of the same columns.
kernel::Statement TensorLowering::combine_columns(MonoidId monoid, AxisId column) const {
    const char* combine = monoid == kSum       ? "Sum"
                          : monoid == kProduct ? "Product"
                          : monoid == kMax     ? "Maximum"
                                               : "Minimum";
    const kernel::Type columns = columns_of(column).type;
    if (plan_.warps_down == 1)
        return {kernel::Run{
            call({"combine_columns", {kernel::Type(combine), columns}}, {variable("acc")})}};
    return {kernel::Run{
        call({"combine_columns", {kernel::Type(combine), columns, variable("kThreads")}},
             {variable("acc"), variable(scratch_)})}};
}

void TensorLowering::lower_serial(const Compute& compute, const Fold& fold,
                                  const schedule::Serial& serial, Body& body) {
    const schedule::Tile& tile = plan_.tiles.at(compute.targets.front());
    const bool fragment = tile.home == Home::Fragment;
    Domain domain{tile.home != Home::Thread, std::nullopt};
    if (fragment) domain.column = tile.column;
    scales_.erase(compute.statement.targets.front());
    ExpressionScope scope = scope_for(compute);
    for (const VariableId variable : serial.reads) add_element(scope, variable);
    note_parameters(serial.value, scope);

    // What every index of the axes adds.
    looped_ = std::set<AxisId>(serial.axes.begin(), serial.axes.end());
    const std::optional<AxisId> column = fragment ? tile.column : serial.over;
    Vectors vectors;
    std::string first;
    if (column && !plan_.has_products()) {
        first = names_.fresh(axis_names_[column->index()].local + "_first");
        multiples_[first] = plan_.vector;
        vectors.columns = *column;
        vectors.count = plan_.vector;
        vectors.padded = padded_extent(*column);
        vectors.element = names_.fresh("element");
        vectors.local = local_index(*column);
        vectors.first = index_atom(first, range_of(vectors.local));
        for (const VariableId read : serial.reads)
            read_in_vectors(vectors, read, serial.value, scope);
    }
    Body step;
    Body inside;
    Code value = print_hoisted(serial.value, {domain.row, column}, scope, step, inside);
    if (serial.over)
        value.value = choose(test_in_chunk(*serial.over), value.value, identity_of(fold.monoid));
    kernel::Expression acc = variable("acc");
    if (fragment) acc = subscript(std::move(acc), variable("j"));
    inside.push_back(assign(acc, combined(fold.monoid, acc, value.value, value.finite)));
    if (!vectors.known.empty())
        inside = loop_in_vectors(std::move(vectors), first, std::move(inside));
    else if (column)
        inside = column_loop(*column, std::move(inside));
    append(step, std::move(inside));
    looped_.clear();
    scope.named.clear();  // declared within the loops

    Body before;
    if (fragment) {
        const Columns columns = columns_of(*column);
        before.push_back(kernel::declare_array("float", "acc", {columns.count}));
        before.push_back(
            kernel::unrolled_loop("j", columns.count, {assign(acc, identity_of(fold.monoid))}));
    } else {
        before.push_back(kernel::declare("float", "acc", identity_of(fold.monoid)));
    }
    const std::optional<AxisId> shared = fragment ? shared_axis(serial.axes) : std::nullopt;
    append(before, loops_along(serial.axes, std::move(step), shared));
    if (shared) before.push_back(combine_columns(fold.monoid, *column));
    if (serial.over) before.push_back(assign(acc, folded_across(fold.monoid, acc)));

    // What is added to it.
    Body last;
    Code total = real_code(acc, !plan_.infinite.contains(compute.statement.targets.front()));
    if (!fold.seed.empty()) {
        const Code seed =
            print_hoisted(fold.seed.front(), domain, scope, before, fragment ? last : before);
        total.value = combined(fold.monoid, seed.value, acc, total.finite && seed.finite);
    }
    if (fragment) return finish_map(compute, domain, total, std::move(before), last, body);
    // What is not along the rows is the same in each of them.
    if (!domain.row) before.insert(before.begin(), define("int", "i", 0));
    finish_map(compute, domain, total, {}, std::move(before), body);
}

}  // namespace napkin::lowering
