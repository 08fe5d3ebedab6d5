// The elements that a thread holds: loops over them, what their names mean, their values as code.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor/tensor_lowering.h"
#include "schedule/straight_reads.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::Declare;
using kernel::For;
using tensor::Home;

bool is_trivial(const Expression& expression) {
    return std::holds_alternative<Number>(expression.node) ||
           std::holds_alternative<SizeOf>(expression.node) ||
           std::holds_alternative<AxisIndex>(expression.node);
}

}  // namespace

TensorLowering::Columns TensorLowering::columns_of(AxisId axis) const {
    const std::int64_t extent = plan_.extents.at(axis);
    Columns columns;
    if (plan_.has_products()) {
        constexpr std::int64_t kColumnsOfTile = 8;
        columns.padded = padded(extent, tensor::kTile);
        columns.split = plan_.split == axis;
        const std::int64_t across =
            columns.padded / (columns.split ? plan_.warps_across : 1) / kColumnsOfTile;
        columns.type = fmt::format("Fragment<{}, {}>", plan_.rows_of_warp / tensor::kTile, across);
        columns.count = across * 2;
        return columns;
    }
    const std::int64_t unit = plan_.lanes_per_row * plan_.vector;
    columns.padded = padded(extent, unit);
    columns.count = columns.padded / plan_.lanes_per_row;
    columns.type = fmt::format("RowFragment<{}, {}, {}, {}>", plan_.rows_of_thread(),
                               columns.padded / unit, plan_.vector, plan_.lanes_per_row);
    return columns;
}

std::string TensorLowering::rows_type() const {
    if (plan_.has_products())
        return fmt::format("Fragment<{}, 1>", plan_.rows_of_warp / tensor::kTile);
    return fmt::format("RowFragment<{}, 1, {}, {}>", plan_.rows_of_thread(), plan_.vector,
                       plan_.lanes_per_row);
}

/// An index in the block's part of an axis, what pads the part included.
IndexForm TensorLowering::local_index(AxisId axis) const {
    constexpr std::int64_t kMostPadding = 256;
    return counted(axis_names_[axis.index()].local,
                   padded(ranges_.at(axis).capacity, kMostPadding) - 1);
}

/// The first index along the row axis, or the one that warps share, of this warp.
std::string TensorLowering::warp_part(AxisId axis) const {
    return warp_parts_.at(axis);
}
IndexForm TensorLowering::warp_index(AxisId axis) const {
    return counted(warp_part(axis), range_of(local_index(axis)).high);
}

/// `K_tile(stage)`.
std::string TensorLowering::matrix_name(VariableId variable) const {
    const auto stage = stage_of_.find(variable);
    return shared_.at(variable).name + (stage == stage_of_.end() ? std::string() : stage->second);
}

std::string TensorLowering::place(VariableId variable) const {
    return names_of_.at(variable);
}

void TensorLowering::declare(VariableId variable, Body& body) {
    if (!declared_.insert(variable).second) return;
    const tensor::Tile& tile = plan_.tiles.at(variable);
    switch (tile.home) {
    case Home::Thread: body.push_back({Declare{"float", place(variable), "", false, {}}}); break;
    case Home::Row:
        body.push_back(
            {Declare{"float", fmt::format("{}[Rows::rows]", place(variable)), "", false, {}}});
        break;
    case Home::Fragment:
        body.push_back(
            {Declare{columns_of(*tile.column).type, place(variable), "", false,
                     fmt::format("{} of this warp", region_.axes[tile.column->index()].name)}});
        break;
    default: break;
    }
}

/// `for i` over the rows of a thread, with the row's index declared.
Body TensorLowering::row_loop(Body inner) const {
    For loop;
    loop.name = "i";
    loop.end = "Rows::rows";
    loop.unroll = true;
    if (plan_.row) {
        loop.body.push_back({Declare{"int",
                                     axis_names_[plan_.row->index()].local,
                                     warp_part(*plan_.row) + " + Rows::row(i)",
                                     true,
                                     {}}});
    }
    for (kernel::Statement& statement : inner) loop.body.push_back(std::move(statement));
    return {{std::move(loop)}};
}

Body TensorLowering::column_loop(const std::string& fragment_type, AxisId axis, Body inner) const {
    const Columns columns = columns_of(axis);
    For loop;
    loop.name = "j";
    loop.end = std::to_string(columns.count);
    loop.unroll = true;
    loop.body.push_back({Declare{
        "int",
        axis_names_[axis.index()].local,
        fmt::format("{}{}::column(j)", columns.split ? warp_part(axis) + " + " : "", fragment_type),
        true,
        {}}});
    for (kernel::Statement& statement : inner) loop.body.push_back(std::move(statement));
    return {{std::move(loop)}};
}

ElementScope TensorLowering::element_of(const Domain& domain) const {
    ElementScope element;
    for (const auto& [axis, range] : ranges_) {
        const bool inside =
            (domain.row && axis == plan_.row) || axis == domain.column || looped_.contains(axis);
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

std::string TensorLowering::row_test() const {
    if (!plan_.row) return {};
    const AxisRange& range = ranges_.at(*plan_.row);
    if (range.count.is_constant(plan_.rows_of_warp * plan_.warps_down)) return {};
    return fmt::format("{} < {}", axis_names_[plan_.row->index()].local, print(range.count));
}

std::string TensorLowering::column_test(AxisId axis) const {
    const AxisRange& range = ranges_.at(axis);
    if (range.count.is_constant(columns_of(axis).padded)) return {};
    return fmt::format("{} < {}", axis_names_[axis.index()].local, print(range.count));
}

std::string TensorLowering::test_in_chunk(AxisId axis) const {
    std::string test = column_test(axis);
    if (test.empty() || axis != chunked_ || tested_.empty()) return test;
    return tested_ == "false" ? "" : fmt::format("!{} || {}", tested_, test);
}

std::string TensorLowering::row_leader() const {
    if (!plan_.row) return "threadIdx.x == 0";
    if (!plan_.has_products())
        return plan_.lanes_per_row == 1 ? std::string()
                                        : fmt::format("threadIdx.x % {} == 0", plan_.lanes_per_row);
    return "lane_index() % Rows::lanes_per_row == 0" +
           (plan_.warps_across > 1 ? fmt::format(" && warp_index() % {} == 0", plan_.warps_across)
                                   : std::string());
}

void TensorLowering::add_element(ExpressionScope& scope, VariableId variable) {
    const ArrayId array = region_.variables[variable.index()].array;
    const tensor::Tile tile = plan_.tiles.at(variable);
    const bool finite = !plan_.infinite.contains(array);
    const auto real = [finite](std::string text) {
        Code code;
        code.text = std::move(text);
        code.finite = finite;
        return code;
    };
    switch (tile.home) {
    case Home::Thread:
        scope.elements[array] = [=, this](const auto&) { return real(place(variable)); };
        return;
    case Home::Row:
        scope.elements[array] = [=, this](const auto&) { return real(place(variable) + "[i]"); };
        return;
    case Home::Fragment:
        scope.elements[array] = [=, this](const auto&) { return real(place(variable) + "(i, j)"); };
        return;
    case Home::Shared:
        scope.elements[array] = [=, this](const std::vector<IndexForm>& at) {
            const Array& info = region_.arrays[array.index()];
            IndexForm local;
            for (std::size_t d = 0; d < info.axes.size(); ++d)
                if (info.axes[d] == *tile.column) local = at[d] - ranges_.at(*tile.column).start;
            Code code =
                real(fmt::format("{}[{}]", shared_.at(variable).name, napkin::print(local)));
            code.place = local;
            return code;
        };
        return;
    case Home::Matrix:
        scope.elements[array] = [=, this](const std::vector<IndexForm>& at) {
            const Shared& shared = shared_.at(variable);
            const auto local = [&](std::size_t d) {
                return napkin::print(at[d] - shared.origin[d]);
            };
            Code code = loaded(fmt::format("{}({}, {})", matrix_name(variable),
                                           local(tile.row_dimension), local(tile.column_dimension)),
                               tile.type);
            code.finite = finite;
            return code;
        };
        return;
    case Home::Device: break;
    }
    const Load* load = loads_.at(variable);
    scope.elements[array] = [=, this](std::vector<IndexForm> at) {
        const ArrayId source = load->array;
        const std::vector<AxisId>& axes = region_.arrays[source.index()].axes;
        // What gathers read is inside by contract.
        if (tensor::is_view(*load)) {
            ElementScope element;
            const std::vector<AxisId>& own = region_.arrays[array.index()].axes;
            for (std::size_t d = 0; d < own.size(); ++d) element.index[own[d]] = at[d];
            at = inside_view(*load, std::move(element));
        } else if (!load->gather.empty()) {
            at = gathered(*load, array, at);
        } else {
            for (std::size_t d = 0; d < at.size(); ++d) at[d] = kept_inside(at[d], axes[d]);
        }
        Code code = device_element(source, at);
        code.finite = true;
        return code;
    };
}

/// An index that is read although what stands past an edge, or where a condition does not hold, is
/// never used.
IndexForm TensorLowering::kept_inside(const IndexForm& at, AxisId dimension) const {
    const IndexForm& size = sizes_[dimension.index()];
    if (at.is_constant(0)) return at;
    if (at.is_constant() && at.constant > 0 && size.is_constant() && at.constant < size.constant)
        return at;
    for (std::size_t a = 0; a < axis_names_.size(); ++a) {
        const AxisId axis{static_cast<std::uint32_t>(a)};
        if (!ranges_.contains(axis) || sizes_[a] != size) continue;
        const AxisRange& range = ranges_.at(axis);
        if (at == range.start) return at;
        if (at != range.start + local_index(axis)) continue;
        if (looped_.contains(axis)) return at;
        const bool inside = axis == plan_.row ? row_test().empty() : column_test(axis).empty();
        return inside ? at : minimum(at, size - 1);
    }
    return minimum(range_of(at).low < 0 ? maximum(at, IndexForm(0)) : at, size - 1);
}

/// Where a gathered element stands in its array.
std::vector<IndexForm> TensorLowering::gathered(const Load& load, ArrayId target,
                                                const std::vector<IndexForm>& at) {
    ExpressionScope scope;
    scope.sizes = &sizes_;
    scope.arrays = &region_.arrays;
    for (const Expression& index : load.gather) {
        note_parameters(index, scope);
        for (const ArrayId array : arrays_read(index))
            for (const auto& [variable, other] : loads_)
                if (region_.variables[variable.index()].array == array)
                    add_element(scope, variable);
    }
    ElementScope element;
    const std::vector<AxisId>& axes = region_.arrays[target.index()].axes;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        const bool last = axes[d] == plan_.row
                              ? !row_test().empty()
                              : plan_.extents.at(axes[d]) > 1 && !column_test(axes[d]).empty();
        element.index[axes[d]] = last ? minimum(at[d], sizes_[axes[d].index()] - 1) : at[d];
    }
    std::vector<IndexForm> places;
    for (const Expression& index : load.gather)
        places.push_back(ExpressionPrinter(scope).index(index, element));
    return places;
}

ExpressionScope TensorLowering::scope_for(const Compute& compute) {
    ExpressionScope scope;
    scope.sizes = &sizes_;
    scope.arrays = &region_.arrays;
    scope.fast = true;
    // A chunk's exponentials are relative to what they are added to; after the loop they may be
    // all of a result.
    scope.gradual = !chunked_;
    scope.known = known_;
    for (const VariableId variable : compute.reads) add_element(scope, variable);
    for (const Expression* expression : expressions_of(compute.statement))
        note_parameters(*expression, scope);
    return scope;
}

/// The expression as it is printed: divisors that are the same along a row become factors.
Expression TensorLowering::prepared(const Expression& value, const Domain& domain) const {
    const tensor::Scaler scaler(region_, scales_);
    Expression expanded = scaler.expand(value);
    if (!domain.column) return expanded;
    const auto along = [&](const Expression& e) { return axes_used(e).contains(*domain.column); };
    return rewrite(expanded, [&](const Expression& node) -> Expression {
        const Apply* call = std::get_if<Apply>(&node.node);
        if (call == nullptr || call->function != Function::Divide) return node;
        const Expression& divisor = call->arguments[1];
        if (tensor::constant_value(region_, divisor) || along(divisor) ||
            !along(call->arguments[0]))
            return node;
        return apply(Function::Multiply,
                     {call->arguments[0], apply(Function::Divide, {number(1), divisor})});
    });
}

Code TensorLowering::print_hoisted(const Expression& value, const Domain& domain,
                                   ExpressionScope& scope, Body& before, Body& inside) {
    const Expression whole = prepared(value, domain);
    ElementScope element = element_of(domain);
    if (domain.column) {
        element.temporaries = &before;
        element.next_temporary = &temporaries_;
        const auto fixed = [&](const Expression& e) {
            if (axes_used(e).contains(*domain.column) || is_trivial(e)) return false;
            if (tensor::constant_value(region_, e)) return false;
            if (const Read* read = std::get_if<Read>(&e.node)) {
                // Registers need no second name.
                const auto variable =
                    std::find_if(loads_.begin(), loads_.end(), [&](const auto& entry) {
                        return region_.variables[entry.first.index()].array == read->array;
                    });
                return variable != loads_.end();
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
                name.text = fmt::format("r{}", scope.named.size());
                name.precedence = precedence::kPrimary;
                name.index.reset();
                before.push_back({Declare{type_of(code), name.text, code.text, true, {}}});
                scope.named.emplace_back(e, name);
                return;
            }
            if (const Apply* call = std::get_if<Apply>(&e.node))
                for (const Expression& argument : call->arguments) self(self, argument);
            if (const Convert* convert = std::get_if<Convert>(&e.node))
                self(self, convert->argument.front());
        };
        hoist(hoist, whole);
    }
    element.temporaries = &inside;
    element.next_temporary = &temporaries_;
    return as_sort(ExpressionPrinter(scope).print(whole, element), Sort::Real);
}

}  // namespace napkin::lowering
