// The elements that a thread holds: loops over them, what their names mean, their values as code.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/lowering/element_test.h"
#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/contains.h"
#include "diagrams/memory_order.h"
#include "schedule/straight_reads.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::variable;
using schedule::Home;

bool is_trivial(const Expression& expression) {
    return std::holds_alternative<Number>(expression.node) ||
           std::holds_alternative<SizeOf>(expression.node) ||
           std::holds_alternative<AxisIndex>(expression.node);
}

}  // namespace

TensorLowering::Columns TensorLowering::columns_of(AxisId axis) const {
    Columns columns;
    if (plan_.has_products()) {
        const std::int64_t extent = plan_.extents.at(axis);
        constexpr std::int64_t kColumnsOfTile = 8;
        columns.padded = padded(extent, schedule::kTile);
        columns.split = plan_.split.contains(axis);
        const std::int64_t across =
            columns.padded / (columns.split ? plan_.warps_across : 1) / kColumnsOfTile;
        columns.type = {"Fragment", {plan_.rows_of_warp / schedule::kTile, across}};
        columns.count = across * 2;
        return columns;
    }
    const schedule::ColumnShare share = schedule::columns_of(plan_, axis);
    columns.padded = share.padded;
    columns.count = share.of_thread;
    columns.type = {"RowFragment",
                    {plan_.rows_of_thread(), share.of_thread / plan_.vector, plan_.vector,
                     plan_.lanes_per_row}};
    return columns;
}

kernel::Type TensorLowering::rows_type() const {
    if (plan_.has_products()) return {"Fragment", {plan_.rows_of_warp / schedule::kTile, 1}};
    return {"RowFragment", {plan_.rows_of_thread(), 1, plan_.vector, plan_.lanes_per_row}};
}

/// An index in the block's part of an axis, what pads the part included.
IndexForm TensorLowering::local_index(AxisId axis) const {
    constexpr std::int64_t kMostPadding = 256;
    const std::int64_t capacity = ranges_.at(axis).capacity;
    const std::int64_t most =
        is_part(axis) ? capacity + kMostPadding : padded(capacity, kMostPadding);
    const std::string& name = axis_names_[axis.index()].local;
    if (plan_.skewed == axis)
        return index_atom(variable(name), {1 - plan_.vector, most + plan_.vector});
    return counted(name, most - 1);
}

kernel::Expression TensorLowering::column_of(AxisId axis, kernel::Expression j) const {
    const Columns columns = columns_of(axis);
    kernel::Expression column = invoke(kernel::scoped(columns.type, "column"), {std::move(j)});
    if (columns.split) return warp_part(axis) + std::move(column);
    return plan_.skewed == axis ? std::move(column) - variable(skew_) : column;
}

std::vector<schedule::TilePart> TensorLowering::tile_parts(AxisId axis) const {
    const schedule::TileAxis* tile = schedule::find_tile_axis(plan_.tile_axes, axis);
    return tile == nullptr ? std::vector<schedule::TilePart>{} : tile->parts;
}

bool TensorLowering::is_part(AxisId axis) const {
    return schedule::tile_axis_of(plan_.tile_axes, axis) != axis;
}

std::set<AxisId> TensorLowering::along(const Expression& expression) const {
    return schedule::axes_along(plan_.tile_axes, expression);
}

Body TensorLowering::define_parts(AxisId axis) const {
    Body body;
    std::int64_t stride = 1;
    const std::vector<schedule::TilePart> parts = tile_parts(axis);
    for (const schedule::TilePart& part : parts) stride *= part.extent;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        stride /= parts[p].extent;
        kernel::Expression index = variable(axis_names_[axis.index()].local);
        if (stride > 1) index = std::move(index) / stride;
        if (p > 0) index = std::move(index) % parts[p].extent;
        body.push_back(define("int", axis_names_[parts[p].axis.index()].local, std::move(index)));
    }
    return body;
}

/// What pads the axis is past the end of its first part.
kernel::Expression TensorLowering::is_inside(AxisId axis, std::int64_t padded_to) const {
    const auto below_count = [&](AxisId of) {
        return variable(axis_names_[of.index()].local) < expression_of(ranges_.at(of).count);
    };
    const std::vector<schedule::TilePart> parts = tile_parts(axis);
    if (plan_.skewed == axis)
        return call({"in_row", {columns_of(axis).type}},
                    {variable("j"), variable(skew_), expression_of(ranges_.at(axis).count)});
    if (parts.empty())
        return ranges_.at(axis).count.is_constant(padded_to) ? true : below_count(axis);
    const bool pads = padded_to != plan_.extents.at(axis);
    kernel::Expression all = true;
    for (const schedule::TilePart& part : parts) {
        const bool whole = ranges_.at(part.axis).count.is_constant(part.extent);
        if (!whole || (pads && part == parts.front()))
            all = std::move(all) && below_count(part.axis);
    }
    return all;
}

std::int64_t TensorLowering::padded_extent(AxisId axis) const {
    return axis == plan_.row ? plan_.rows_of_warp * plan_.warps_down : columns_of(axis).padded;
}

kernel::Expression TensorLowering::test_of(AxisId axis) const {
    const AxisId tile = schedule::tile_axis_of(plan_.tile_axes, axis);
    if (tile == axis) return is_inside(axis, padded_extent(axis));
    const schedule::TilePart first = tile_parts(tile).front();
    const AxisRange& range = ranges_.at(axis);
    const bool pads = axis == first.axis && padded_extent(tile) != plan_.extents.at(tile);
    if (!pads && range.exact()) return true;
    return variable(axis_names_[axis.index()].local) < expression_of(range.count);
}

IndexForm TensorLowering::count_of(AxisId axis) const {
    const std::vector<schedule::TilePart> parts = tile_parts(axis);
    if (parts.empty()) return ranges_.at(axis).count;
    IndexForm count = 1;
    for (const schedule::TilePart& part : parts) count = count * ranges_.at(part.axis).count;
    return count;
}

/// The first index along the row axis, or the one that warps share, of this warp.
kernel::Expression TensorLowering::warp_part(AxisId axis) const {
    return variable(warp_parts_.at(axis));
}
IndexForm TensorLowering::warp_index(AxisId axis) const {
    return index_atom(warp_part(axis), {0, range_of(local_index(axis)).high});
}

kernel::Expression TensorLowering::matrix(VariableId id) const {
    return shared_buffer(schedule_.buffer_of.at(id));
}

kernel::Expression TensorLowering::place(VariableId id) const {
    return variable(names_of_.at(id));
}

kernel::Expression TensorLowering::element_at(VariableId id) const {
    switch (plan_.tiles.at(id).home) {
    case Home::Row: return subscript(place(id), variable("i"));
    case Home::Fragment: return element(place(id), {variable("i"), variable("j")});
    default: return place(id);
    }
}

/// What the registers of a variable mean.
Code TensorLowering::held_at(VariableId id, bool finite) const {
    const ElementType type = plan_.tiles.at(id).type;
    Code code = real_code(element_at(id), finite);
    if (is_floating(type)) return code;
    if (type != ElementType::Bool)
        return integer_code(element_at(id), range_of(type), type == ElementType::I64);
    code.sort = Sort::Boolean;
    return code;
}

/// Whether rows are held two numbers in a register.
bool TensorLowering::is_in_pairs(VariableId id) const {
    const schedule::Tile& tile = plan_.tiles.at(id);
    return plan_.rows_in_pairs > 0 && tile.home == Home::Fragment && tile.type != ElementType::F32;
}

/// Whether what is computed with is made of loaded numbers wherever it is used.
bool TensorLowering::is_as_loaded(VariableId id) const {
    if (!loads_.contains(id) || plan_.tiles.at(id).home != Home::Fragment) return false;
    return plan_.bytes_in_shared > 0 || is_in_pairs(id);
}

void TensorLowering::declare(VariableId id, Body& body) {
    if (!declared_.insert(id).second) return;
    const schedule::Tile& tile = plan_.tiles.at(id);
    const kernel::Type type = tile.type == ElementType::Bool ? kernel::Type("bool")
                              : is_floating(tile.type)
                                  ? kernel::Type("float")
                                  : kernel::Type(kernel::element_name(tile.type));
    switch (tile.home) {
    case Home::Thread: body.push_back(kernel::declare(type, names_of_.at(id))); break;
    case Home::Row:
        body.push_back(
            kernel::declare_array(type, names_of_.at(id), {kernel::scoped("Rows", "rows")}));
        break;
    case Home::Fragment: {
        if (plan_.bytes_in_shared > 0 && declare_own_rows(id, body)) return;
        kernel::Type rows = columns_of(*tile.column).type;
        if (is_in_pairs(id)) {
            rows.name = loads_.contains(id) ? "LoadedRows" : "RoundedRows";
            rows.arguments.insert(rows.arguments.begin(),
                                  kernel::Type(kernel::element_name(tile.type)));
        }
        body.push_back(kernel::declare(
            rows, names_of_.at(id), std::nullopt,
            fmt::format("{} of this warp", region_.axes[tile.column->index()].name)));
        break;
    }
    default: break;
    }
}

/// `for i` over the rows of a thread, with the row's index declared.
Body TensorLowering::row_loop(Body inner) const {
    Body body;
    if (plan_.row)
        body.push_back(
            define("int", axis_names_[plan_.row->index()].local,
                   warp_part(*plan_.row) + invoke(kernel::scoped("Rows", "row"), {variable("i")})));
    if (plan_.row) append(body, define_parts(*plan_.row));
    append(body, std::move(inner));
    return {kernel::unrolled_loop("i", kernel::scoped("Rows", "rows"), std::move(body))};
}

Body TensorLowering::column_loop(AxisId axis, Body inner) const {
    Body body = {define("int", axis_names_[axis.index()].local, column_of(axis, variable("j")))};
    append(body, define_parts(axis));
    append(body, std::move(inner));
    return {kernel::unrolled_loop("j", columns_of(axis).count, std::move(body))};
}

ElementScope TensorLowering::element_of(const Domain& domain) const {
    ElementScope element;
    for (const auto& [axis, range] : ranges_) {
        const AxisId tile = schedule::tile_axis_of(plan_.tile_axes, axis);
        const bool inside =
            (domain.row && tile == plan_.row) || tile == domain.column || looped_.contains(tile);
        // A run-time size that the plan has as 1 may be no larger, whatever its groups are.
        const auto planned = plan_.extents.find(axis);
        const bool single =
            range.capacity == 1 || (planned != plan_.extents.end() && planned->second == 1);
        if (inside)
            element.index[axis] = range.start + local_index(axis);
        else if (single)
            element.index[axis] = range.start;
    }
    return element;
}

kernel::Expression TensorLowering::row_test() const {
    return plan_.row ? is_inside(*plan_.row, padded_extent(*plan_.row)) : kernel::Expression(true);
}

kernel::Expression TensorLowering::column_test(AxisId axis) const {
    return is_part(axis) ? test_of(axis) : is_inside(axis, schedule::vector_extent(plan_, axis));
}

kernel::Expression TensorLowering::test_in_chunk(AxisId axis) const {
    const bool of_chunk = chunked_ && schedule::tile_axis_of(plan_.tile_axes, *chunked_) == axis;
    return of_chunk ? !tested_ || column_test(axis) : column_test(axis);
}

kernel::Expression TensorLowering::first_across() const {
    if (plan_.warps_across == 1) return true;
    const kernel::Expression unit =
        in_groups() ? call("warp_index") / schedule::kWarpsOfGroup : call("warp_index");
    return equal(unit % plan_.warps_across, 0);
}

kernel::Expression TensorLowering::row_leader() const {
    const auto first = [](kernel::Expression thread, kernel::Expression of) {
        return equal(std::move(thread) % std::move(of), 0);
    };
    if (!plan_.row) return equal(kernel::thread_index(), 0);
    if (!plan_.has_products())
        return plan_.lanes_per_row == 1 ? true : first(kernel::thread_index(), plan_.lanes_per_row);
    const kernel::Expression lane =
        first(call("lane_index"), kernel::scoped("Rows", "lanes_per_row"));
    return lane && first_across();
}

/// The expression as it is printed: divisors that are the same along a row become factors, and take
/// the number with them that multiplies what they divide.
Expression TensorLowering::prepared(const Expression& value, const Domain& domain) const {
    const schedule::Scaler scaler(region_, scales_);
    Expression expanded = scaler.expand(value);
    if (!domain.column) return expanded;
    const auto varies = [&](const Expression& e) { return along(e).contains(*domain.column); };
    return rewrite(expanded, [&](const Expression& node) -> Expression {
        const Apply* call = std::get_if<Apply>(&node.node);
        if (call == nullptr || call->function != Function::Divide) return node;
        const Expression& divisor = call->arguments[1];
        if (schedule::constant_value(region_, divisor) || varies(divisor) ||
            !varies(call->arguments[0]))
            return node;
        const schedule::Scaled scaled = schedule::Scaler(region_, {}).split(call->arguments[0]);
        return apply(Function::Multiply,
                     {scaled.rest, apply(Function::Divide, {number(scaled.factor), divisor})});
    });
}

/// Conditions on which values depend, as elements test them.
void TensorLowering::name_tests(const Expression& whole, AxisId column, const ElementScope& element,
                                ExpressionScope& scope, Body& before) const {
    std::set<std::string> columns = {axis_names_[column.index()].local};
    for (const schedule::TilePart& part : tile_parts(column))
        columns.insert(axis_names_[part.axis.index()].local);
    walk(whole, [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr || call->function != Function::Select) return;
        const Expression& condition = call->arguments.front();
        const bool is_known =
            std::any_of(scope.named.begin(), scope.named.end(),
                        [&](const auto& each) { return each.first == condition; });
        if (is_known || !along(condition).contains(column)) return;
        Code test = element_test(condition, scope, element, columns, before);
        scope.named.emplace_back(condition, std::move(test));
    });
}

/// What either branch of a condition reads in shared memory is read before: threads of a warp that
/// go both ways would take turns.
void TensorLowering::name_branches(const Expression& whole, const ElementScope& element,
                                   ExpressionScope& scope, Body& inside) {
    const auto name_read = [&](const Expression& part) {
        const Read* read = std::get_if<Read>(&part.node);
        if (read == nullptr) return;
        const bool is_shared = std::any_of(shared_.begin(), shared_.end(), [&](const auto& each) {
            return region_.variables[each.first.index()].array == read->array &&
                   plan_.tiles.at(each.first).home == Home::Matrix;
        });
        const bool is_known = std::any_of(scope.named.begin(), scope.named.end(),
                                          [&](const auto& each) { return each.first == part; });
        if (!is_shared || is_known) return;
        Code code = ExpressionPrinter(scope).print(part, element);
        const std::string name = fmt::format("t{}", temporaries_++);
        inside.push_back(define(type_of(code), name, std::exchange(code.value, variable(name))));
        scope.named.emplace_back(part, std::move(code));
    };
    walk(whole, [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr || call->function != Function::Select) return;
        for (std::size_t i = 1; i < call->arguments.size(); ++i)
            walk(call->arguments[i], name_read);
    });
}

Code TensorLowering::print_hoisted(const Expression& value, const Domain& domain,
                                   ExpressionScope& scope, Body& before, Body& inside) {
    return as_sort(hoisted(value, domain, scope, before, inside), Sort::Real);
}

Code TensorLowering::hoisted(const Expression& value, const Domain& domain, ExpressionScope& scope,
                             Body& before, Body& inside) {
    const Expression whole = prepared(value, domain);
    ElementScope element = element_of(domain);
    if (domain.column) {
        element.temporaries = &before;
        element.next_temporary = &temporaries_;
        const auto fixed = [&](const Expression& e) {
            if (along(e).contains(*domain.column) || is_trivial(e)) return false;
            if (schedule::constant_value(region_, e)) return false;
            if (const Read* read = std::get_if<Read>(&e.node)) {
                // Registers need no second name.
                return std::any_of(loads_.begin(), loads_.end(), [&](const auto& entry) {
                    return region_.variables[entry.first.index()].array == read->array;
                });
            }
            return !arrays_read(e).empty();
        };
        const auto hoist = [&](const auto& self, const Expression& e) -> void {
            if (std::holds_alternative<Operand>(e.node)) return;
            if (fixed(e)) {
                for (const auto& [known, name] : scope.named)
                    if (known == e) return;
                Code code = ExpressionPrinter(scope).print(e, element);
                Code name = code;
                const std::string short_name = fmt::format("r{}", scope.named.size());
                name.value = variable(short_name);
                name.index.reset();
                before.push_back(define(type_of(code), short_name, code.value));
                scope.named.emplace_back(e, name);
                return;
            }
            if (const Apply* call = std::get_if<Apply>(&e.node))
                for (const Expression& argument : call->arguments) self(self, argument);
            if (const Convert* convert = std::get_if<Convert>(&e.node))
                self(self, convert->argument.front());
        };
        hoist(hoist, whole);
        name_tests(whole, *domain.column, element, scope, before);
    }
    element.temporaries = &inside;
    element.next_temporary = &temporaries_;
    const std::size_t known = scope.named.size();
    name_branches(whole, element, scope, inside);
    Code code = ExpressionPrinter(scope).print(whole, element);
    scope.named.resize(known);
    return code;
}

}  // namespace napkin::lowering
