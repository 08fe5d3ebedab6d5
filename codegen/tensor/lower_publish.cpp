// Operands of products, which all threads of a block compute together in shared memory, a vector of
// 16 bytes at a time.
//
// A thread computes neighbours along the columns. What they are computed from is read in vectors
// too, where it lies so: the elements of a tile's or an array's row. What is the same for all of
// them is computed once, also what depends on their place only through a division that does not
// tell them apart, such as the scale of a group of weights.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/expression_text.h"
#include "codegen/tensor/tensor_lowering.h"
#include "codegen/tensor/vectors.h"
#include "diagrams/integer_range.h"
#include "diagrams/memory_order.h"
#include "schedule/neighbours.h"
#include "schedule/straight_reads.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::Run;
using kernel::variable;
using schedule::Home;

bool is_axis(const Expression& expression, AxisId axis) {
    const AxisIndex* index = std::get_if<AxisIndex>(&expression.node);
    return index != nullptr && index->axis == axis;
}

std::size_t last_dimension(const Array& array) {
    return innermost_dimension(array);
}

}  // namespace

/// Where a vector begins along a dimension of that size: what a condition keeps from being read is
/// a vector of the array too, and not used.
IndexForm TensorLowering::vector_inside(Vectors& vectors, IndexForm at, const IndexForm& size) {
    const IndexForm end = size - vectors.count;
    const Interval range = range_of(at);
    if (range.low >= 0 && end.is_constant() && range.high <= end.constant) return at;
    if (range.low < 0) at = maximum(at, 0);
    const IndexForm from = minimum(at, end);
    const std::string turned = names_.fresh(axis_names_[vectors.columns.index()].local + "_turned");
    vectors.before.push_back(define("int", turned, expression_of(from)));
    multiples_[turned] = vectors.count;
    return index_atom(turned, range_of(from));
}

/// A vector of a variable's elements; `at` is the place of the one that is computed.
kernel::Expression TensorLowering::vector_of(Vectors& vectors, VariableId id,
                                             const std::vector<IndexForm>& at) {
    for (const Vectors::Known& known : vectors.known)
        if (known.variable == id && known.at == at) return known.name;
    const schedule::Tile& tile = plan_.tiles.at(id);
    kernel::Expression value = 0;
    if (tile.home == Home::Matrix) {
        const char* read = tile.type == ElementType::I4 ? "nibbles_of" : "values_of";
        value = call({read, {vectors.count}}, places_of(vectors, id, at));
    } else {
        const Load& load = *loads_.at(id);
        const std::size_t last = last_dimension(region_.arrays[load.array.index()]);
        std::vector<IndexForm> from = device_indices(id, at, last);
        from[last] = from[last] - vectors.local + vectors.first;
        // Up to the end of the block's part, and of the array, which may be shorter than the axis.
        const AxisRange& range = ranges_.at(vectors.columns);
        const Array& source = region_.arrays[load.array.index()];
        const IndexForm& size = sizes_[source.axes[last].index()];
        const bool whole = range.count.is_constant(vectors.padded);
        bool as_long = size == sizes_[vectors.columns.index()];
        if (!as_long && size.is_constant() && size.constant % vectors.count == 0 &&
            divisor_of(from[last]) % vectors.count == 0) {
            from[last] = vector_inside(vectors, from[last], size);
            as_long = true;
        }
        IndexForm valid = vectors.count;
        if (!whole) valid = minimum(valid, range.count - vectors.first);
        if (!as_long) valid = minimum(valid, size - from[last]);
        if (!whole || !as_long) valid = maximum(valid, 0);
        const std::int64_t divisor = divisor_of(from[last] - vectors.first);
        const std::int64_t multiple = std::gcd(divisor, vectors.count);
        const bool nibbles = device_type(load.array) == ElementType::I4;
        const int width =
            nibbles ? word_nibbles(load.array, multiple) : vector_elements(load.array, multiple);
        const char* read = nibbles ? "nibbles_at" : "values_at";
        const bool skewed = plan_.skewed == vectors.columns;
        const IndexForm offset = device_offset(load.array, from);
        kernel::Expression place = expression_of(offset);
        constexpr std::size_t kLong = 70;
        if (width_of(place) > kLong) {
            const std::string begin = names_.fresh("at");
            vectors.before.push_back(define(type_of(offset), begin, std::move(place)));
            place = variable(begin);
        }
        const kernel::Expression buffer = variable(buffer_name(load.array, false));
        if (skewed)
            value = call(
                {"values_in_row", {columns_of(vectors.columns).type}},
                {buffer, std::move(place), variable(vectors.vector) * vectors.count,
                 variable(skew_),
                 expression_of(as_long ? range.count
                                       : minimum(range.count, size - from[last] + vectors.first))});
        else
            value = call({read, {vectors.count, width}},
                         {buffer, std::move(place), expression_of(valid)});
    }
    const std::string name = names_.fresh("v");
    vectors.before.push_back(define("auto", name, std::move(value)));
    vectors.known.push_back({id, at, variable(name)});
    return vectors.known.back().name;
}

/// Of a vector in shared memory: the tile, and the row and column of its first element.
std::vector<kernel::Expression> TensorLowering::places_of(const Vectors& vectors, VariableId id,
                                                          const std::vector<IndexForm>& at) {
    const schedule::Tile& tile = plan_.tiles.at(id);
    const Shared& shared = shared_.at(id);
    const std::size_t row = tile.row_dimension;
    const std::size_t column = tile.column_dimension;
    return {matrix(id),
            expression_of(place_in_tile(at[row], shared.origin[row], shared.axes[row], tile.rows)),
            expression_of(at[column] - shared.origin[column] - vectors.local + vectors.first)};
}

/// The word that has them, where integers of 4 bits are all that a value is.
std::optional<kernel::Expression> TensorLowering::nibbles_alone(const Vectors& vectors,
                                                                const kernel::Expression& value) {
    if (vectors.known.size() != 1) return std::nullopt;
    const Vectors::Known& known = vectors.known.front();
    const schedule::Tile& tile = plan_.tiles.at(known.variable);
    if (tile.home != Home::Matrix || tile.type != ElementType::I4 ||
        value != subscript(known.name, variable("j")))
        return std::nullopt;
    return call("nibble_word", places_of(vectors, known.variable, known.at));
}

/// Reads in vectors what is read elsewhere than along the columns. `first` is the place of a
/// vector's first element.
void TensorLowering::read_turned(Vectors& vectors, VariableId id, const Expression& value,
                                 const ElementScope& first, ExpressionScope& scope) {
    const schedule::Tile& tile = plan_.tiles.at(id);
    const auto load = loads_.find(id);
    if (tile.home != Home::Device || load == loads_.end() || !load->second->gather.empty() ||
        !is_floating(device_type(load->second->array)) ||
        divisor_of(ranges_.at(vectors.columns).start) % vectors.count != 0)
        return;
    const ArrayId array = region_.variables[id.index()].array;
    const std::vector<AxisId>& dimensions = region_.arrays[load->second->array.index()].axes;
    if (dimensions.empty()) return;
    const std::size_t last = last_dimension(region_.arrays[load->second->array.index()]);
    walk(value, [&](const Expression& node) {
        const Read* read = std::get_if<Read>(&node.node);
        if (read == nullptr || read->array != array || is_axis(read->index[last], vectors.columns))
            return;
        std::vector<IndexForm> at;
        for (std::size_t d = 0; d < read->index.size(); ++d) {
            if (d == last ? !schedule::keeps_vectors(region_, read->index[d], vectors.columns,
                                                     dimensions[d], vectors.count, run_time_)
                          : along(read->index[d]).contains(vectors.columns))
                return;
            at.push_back(ExpressionPrinter(scope).index(read->index[d], first));
        }
        at[last] = vector_inside(vectors, at[last], sizes_[dimensions[last].index()]);
        if (divisor_of(at[last]) % vectors.count != 0) {
            const std::string chosen =
                names_.fresh(axis_names_[vectors.columns.index()].local + "_chosen");
            vectors.before.push_back(define("int", chosen, expression_of(at[last])));
            multiples_[chosen] = vectors.count;
            at[last] = index_atom(chosen, range_of(at[last]));
        }
        at[last] = at[last] + vectors.local - vectors.first;
        Code code =
            real_code(subscript(vector_of(vectors, id, at), variable(vectors.element)), true);
        scope.named.emplace_back(node, code);
    });
}

/// Makes the scope read a variable in vectors, where its elements along the columns are neighbours.
void TensorLowering::read_in_vectors(Vectors& vectors, VariableId id, const Expression& value,
                                     ExpressionScope& scope) {
    const schedule::Tile& tile = plan_.tiles.at(id);
    const ArrayId array = region_.variables[id.index()].array;
    std::size_t along = 0;  // of the dimensions that are read
    ElementType type = tile.type;
    bool gathers = false;
    if (tile.home == Home::Matrix) {
        along = tile.column_dimension;
    } else if (tile.home == Home::Device) {
        const Load& load = *loads_.at(id);
        const Array& source = region_.arrays[load.array.index()];
        if (source.axes.empty()) return;
        const std::size_t last = last_dimension(source);
        along = last;
        type = device_type(load.array);
        if (!load.gather.empty()) {
            const std::vector<AxisId>& own = region_.arrays[array.index()].axes;
            const AxisIndex* plain = std::get_if<AxisIndex>(&load.gather[last].node);
            if (plain == nullptr) return;
            const auto place = std::find(own.begin(), own.end(), plain->axis);
            if (place == own.end()) return;
            for (std::size_t d = 0; d < load.gather.size(); ++d)
                if (d != last && axes_used(load.gather[d]).contains(plain->axis)) return;
            along = static_cast<std::size_t>(place - own.begin());
            gathers = !schedule::is_view(load);
        }
    } else {
        return;
    }
    const bool small = type == ElementType::I4 || type == ElementType::I8;
    if (!is_floating(type) && (!small || needs_integers(value))) return;
    bool straight = true;
    bool conditional = false;
    walk(value, [&](const Expression& node) {
        const Apply* choice = std::get_if<Apply>(&node.node);
        if (choice != nullptr && choice->function == Function::Select)
            conditional = conditional || arrays_read(node).contains(array);
        const Read* read = std::get_if<Read>(&node.node);
        if (read == nullptr || read->array != array) return;
        for (const auto& [known, name] : scope.named)
            if (known == node) return;
        for (std::size_t d = 0; d < read->index.size(); ++d)
            straight =
                straight && (d == along ? is_axis(read->index[d], vectors.columns)
                                        : !this->along(read->index[d]).contains(vectors.columns));
    });
    // What a condition keeps from being read must not be.
    if (!straight || (gathers && conditional)) return;
    const bool finite = !plan_.infinite.contains(array);
    scope.elements[array] = [this, &vectors, id, finite](const std::vector<IndexForm>& at) {
        return real_code(subscript(vector_of(vectors, id, at), variable(vectors.element)), finite);
    };
}

void TensorLowering::publish_matrix(const Expression& value, const Compute& compute,
                                    const kernel::Expression& tile, const Published& shape,
                                    ElementType type, Body& body) {
    const schedule::Panel& panel = shape.panel;
    const std::string& row = axis_names_[panel.rows.index()].local;
    const std::string& column = axis_names_[panel.columns.index()].local;
    const std::string first = names_.fresh(column + "_first");
    const std::string result = names_.fresh("values");
    Vectors vectors;
    vectors.columns = panel.columns;
    vectors.padded = shape.columns;
    constexpr std::int64_t kBytes = 16;
    vectors.count = kBytes / kernel::element_bytes(type);
    vectors.local = local_index(panel.columns);
    vectors.first = index_atom(first, range_of(vectors.local));
    multiples_[first] = vectors.count;
    const Expression whole = schedule::join_branches(
        region_, prepared(value, {true, panel.columns}), panel.columns, vectors.count, run_time_);
    ExpressionScope scope = scope_for(compute, panel.columns);
    ElementScope element = element_of({});
    element.index[panel.rows] = ranges_.at(panel.rows).start + local_index(panel.rows);
    element.index[panel.columns] = ranges_.at(panel.columns).start + vectors.local;
    for (const AxisId axis : {panel.rows, panel.columns})
        for (const schedule::TilePart& part : tile_parts(axis))
            element.index[part.axis] = ranges_.at(part.axis).start + local_index(part.axis);

    // What all elements of the vector have in common.
    ElementScope common = element;
    common.index[panel.columns] = ranges_.at(panel.columns).start + vectors.first;
    for (const VariableId read : compute.reads) {
        read_turned(vectors, read, whole, common, scope);
        read_in_vectors(vectors, read, whole, scope);
    }
    Body shared_values;
    common.temporaries = &shared_values;
    common.next_temporary = &temporaries_;
    const bool aligned = divisor_of(ranges_.at(panel.columns).start) % vectors.count == 0;
    const auto same = [&](const auto& self, const Expression& e) -> bool {
        const Apply* apply = std::get_if<Apply>(&e.node);
        if (apply != nullptr && apply->function == Function::FloorDivide &&
            is_axis(apply->arguments[0], panel.columns)) {
            const Number* by = std::get_if<Number>(&apply->arguments[1].node);
            if (aligned && by != nullptr && by->value > 0 &&
                static_cast<std::int64_t>(by->value) % vectors.count == 0)
                return true;
        }
        if (is_axis(e, panel.columns) ||
            (std::holds_alternative<AxisIndex>(e.node) && along(e).contains(panel.columns)))
            return false;
        if (apply != nullptr)
            return std::all_of(apply->arguments.begin(), apply->arguments.end(),
                               [&](const Expression& part) { return self(self, part); });
        if (const Read* read = std::get_if<Read>(&e.node))
            return std::all_of(read->index.begin(), read->index.end(),
                               [&](const Expression& part) { return self(self, part); });
        if (const Convert* convert = std::get_if<Convert>(&e.node))
            return self(self, convert->argument.front());
        return true;
    };
    const auto hoist = [&](const auto& self, const Expression& e) -> void {
        const Apply* apply = std::get_if<Apply>(&e.node);
        // What a condition keeps from being read must not be.
        if (apply != nullptr && apply->function == Function::Select) return;
        if (!arrays_read(e).empty() && same(same, e)) {
            for (const auto& [known, name] : scope.named)
                if (known == e) return;
            const Code code = ExpressionPrinter(scope).print(e, common);
            Code name = code;
            name.value = variable(fmt::format("r{}", scope.named.size()));
            name.index.reset();
            shared_values.push_back(
                define(type_of(code), fmt::format("r{}", scope.named.size()), code.value));
            scope.named.emplace_back(e, name);
            return;
        }
        if (apply != nullptr)
            for (const Expression& argument : apply->arguments) self(self, argument);
        if (const Convert* convert = std::get_if<Convert>(&e.node))
            self(self, convert->argument.front());
    };
    hoist(hoist, whole);

    Body each = {define("int", column, variable(first) + variable("j"))};
    append(each, define_parts(panel.columns));
    element.temporaries = &each;
    element.next_temporary = &temporaries_;
    const Code code = as_sort(ExpressionPrinter(scope).print(whole, element), Sort::Real);
    kernel::Expression tests = true;
    for (const auto& [axis, held] :
         {std::pair(panel.rows, shape.rows), std::pair(panel.columns, shape.columns)})
        tests = std::move(tests) && is_inside(axis, held);
    each.push_back(assign(subscript(variable(result), variable("j")),
                          choose(tests, code.value, kernel::real(0))));
    Body at_once = define_parts(panel.rows);
    const std::optional<kernel::Expression> nibbles =
        is(tests, true) && vectors.count == 8 ? nibbles_alone(vectors, code.value) : std::nullopt;
    if (nibbles) {
        at_once.push_back(assign(variable(result), *nibbles));
    } else {
        append(at_once, std::move(vectors.before));
        append(at_once, std::move(shared_values));
        at_once.push_back(kernel::unrolled_loop("j", vectors.count, std::move(each)));
    }
    const std::string function = names_.fresh("values_at_once");
    body.push_back(kernel::define_function(
        function, {{{"int", row}, {"int", first}, {"auto", result, true}}, std::move(at_once)}));
    body.push_back(
        {Run{call(nibbles ? "publish_nibbles" : "publish",
                  {tile, kernel::thread_index(), variable("kThreads"), variable(function)})}});
}

/// Which part of an array the block computes, now.
void TensorLowering::note_published(const Compute& compute) {
    const VariableId target = compute.targets.front();
    Shared& shared = shared_[target];
    shared = {};
    shared.axes = region_.arrays[region_.variables[target.index()].array.index()].axes;
    for (const AxisId axis : shared.axes) {
        shared.origin.push_back(ranges_.at(axis).start);
        shared.count.push_back(ranges_.at(axis).count);
    }
}

void TensorLowering::lower_publish(const schedule::Op& op, const Compute& compute, Span span,
                                   Body& body) {
    make_deferred_loads(compute, body);
    if (op.side != schedule::Op::Side::None) {
        const bool left = op.side == schedule::Op::Side::Left;
        const schedule::Product& product = plan_.products.at(op.leaf);
        const schedule::Operand& side = left ? product.left : product.right;
        const Array& target = region_.arrays[compute.statement.targets.front().index()];
        add_comments(fmt::format("{} operand of {}: {}", left ? "left" : "right", target.name,
                                 napkin::print(scope_, side.value)),
                     span, compute.via, body);
        if (side.from_registers)
            return body.push_back(
                {Run{call("store", {place(*side.direct), shared_buffer(op.writes.front()),
                                    warp_part(*plan_.row), first_column(product.depth)})}});
        return publish_matrix(side.value, compute, shared_buffer(op.writes.front()),
                              {*side.panel, schedule::panel_extent(plan_, side.panel->rows),
                               schedule::panel_extent(plan_, side.panel->columns)},
                              product.type, body);
    }
    add_comments(text_of(compute.statement), span, compute.via, body);
    note_published(compute);
    const VariableId target = compute.targets.front();
    const schedule::Tile& tile = plan_.tiles.at(target);
    const Array& info = region_.arrays[region_.variables[target.index()].array.index()];
    if (tile.home == Home::Shared) return lower_shared_vector(compute, body);
    Expression value = map_of(compute).value();
    if (info.rounds && info.type != ElementType::F32)
        value = {Convert{info.type, {std::move(value)}}, {}};
    publish_matrix(value, compute, matrix(target),
                   {{info.axes[tile.row_dimension], info.axes[tile.column_dimension]},
                    tile.rows,
                    tile.columns},
                   tile.type, body);
}

}  // namespace napkin::lowering
