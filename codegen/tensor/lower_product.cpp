// Contractions on the tensor core.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::Run;
using kernel::variable;
using tensor::Home;
using tensor::Operand;
using tensor::Product;

/// How a matrix lies for a product.
kernel::Expression order(bool as_stored) {
    return kernel::scoped("Order", as_stored ? "AsStored" : "Transposed");
}

}  // namespace

/// The axis along a dimension of a matrix.
AxisId TensorLowering::axis_along(VariableId matrix, std::size_t dimension) const {
    const auto load = loads_.find(matrix);
    if (load != loads_.end())
        return std::get<AxisIndex>(load->second->index[dimension].front().node).axis;
    return region_.arrays[region_.variables[matrix.index()].array.index()].axes[dimension];
}

/// A matrix of which every element is an expression; 0 beyond the edges.
void TensorLowering::compute_matrix(const Expression& value, const Compute& compute,
                                    const kernel::Expression& tile, AxisId rows, AxisId columns,
                                    ElementType type, Body& body) {
    ExpressionScope scope = scope_for(compute);
    const std::string& row = axis_names_[rows.index()].local;
    const std::string& column = axis_names_[columns.index()].local;
    const std::int64_t down = padded(plan_.extents.at(rows), tensor::kTile);
    const std::int64_t across = padded(plan_.extents.at(columns), tensor::kTile);
    ElementScope element = element_of({});
    element.index[rows] = ranges_.at(rows).start + local_index(rows);
    element.index[columns] = ranges_.at(columns).start + local_index(columns);
    Body each = {define("int", row, variable("e") / across),
                 define("int", column, variable("e") % across)};
    Body inside;
    element.temporaries = &inside;
    element.next_temporary = &temporaries_;
    const tensor::Scaler scaler(region_, scales_);
    const Code code =
        as_sort(ExpressionPrinter(scope).print(scaler.expand(value), element), Sort::Real);
    const kernel::Expression result = variable("value");
    inside.push_back(assign(result, code.value));
    kernel::Expression tests = true;
    for (const auto& [axis, local, extent] :
         {std::tuple(rows, row, down), std::tuple(columns, column, across)})
        if (!ranges_.at(axis).count.is_constant(extent))
            tests = std::move(tests) && (variable(local) < expression_of(ranges_.at(axis).count));
    each.push_back(kernel::declare("float", "value", kernel::real(0)));
    append(each, kernel::only_if(std::move(tests), std::move(inside)));
    each.push_back(assign(kernel::element(tile, {variable(row), variable(column)}),
                          stored(real_code(result), type)));
    body.push_back(kernel::shared_loop("e", down * across, std::move(each)));
}

void TensorLowering::right_operand(const Compute& compute, const Product& product, Body& body) {
    if (product.right.direct) return;
    const kernel::Expression tile = variable(computed_right_.at(right_of(compute, product)));
    wait_for_copies(body);
    body.push_back({kernel::Barrier{}});
    compute_matrix(product.right.value, compute, tile, product.depth, product.column, product.type,
                   body);
    body.push_back({kernel::Barrier{}});
}

/// A left operand in registers; nothing where it is a matrix in shared memory.
std::optional<kernel::Expression> TensorLowering::left_operand(const Compute& compute,
                                                               const Product& product, Body& body) {
    const std::string type = kernel::element_name(product.type);
    const auto rounded_from = [&](const kernel::Expression& fragment, const std::string& wanted) {
        const std::string name = names_.fresh(wanted);
        body.push_back(define("auto", name, call({"as_left", {kernel::Type(type)}}, {fragment}),
                              fmt::format("rounded to {}", type)));
        return variable(name);
    };
    if (product.left.direct) {
        if (plan_.tiles.at(*product.left.direct).home == Home::Matrix) return std::nullopt;
        return rounded_from(place(*product.left.direct),
                            names_of_.at(*product.left.direct) + "_left");
    }
    // Its elements, as if they were the results of a product.
    const Columns columns = columns_of(product.depth);
    const std::string fragment = names_.fresh("left");
    ExpressionScope scope = scope_for(compute);
    const Domain domain{true, product.depth};
    wait_for_copies(body);
    Body before;
    Body inside;
    Code value = print_hoisted(product.left.value, domain, scope, before, inside);
    inside.push_back(assign(element(variable(fragment), {variable("i"), variable("j")}),
                            choose(test_in_chunk(product.depth), value.value, kernel::real(0))));
    append(before, column_loop(product.depth, std::move(inside)));
    body.push_back(kernel::declare(columns.type, fragment));
    append(body, row_loop(std::move(before)));
    return rounded_from(variable(fragment), "left_operand");
}

kernel::Expression TensorLowering::right_order(const Product& product) const {
    if (!product.right.direct) return order(true);
    const tensor::Tile& tile = plan_.tiles.at(*product.right.direct);
    return order(axis_along(*product.right.direct, tile.row_dimension) == product.depth);
}

std::vector<kernel::Expression> TensorLowering::orders_of(const Product& product) const {
    const tensor::Tile& tile = plan_.tiles.at(*product.left.direct);
    return {order(axis_along(*product.left.direct, tile.row_dimension) == *plan_.row),
            right_order(product), padded(plan_.extents.at(product.depth), tensor::kTile)};
}

kernel::Expression TensorLowering::first_column(AxisId axis) const {
    return columns_of(axis).split ? warp_part(axis) : 0;
}

const Compute* TensorLowering::lone_product(const Loop& loop) const {
    if (stages_ < 2 || !loop.visible.empty() || !loop.data_masks.empty()) return nullptr;
    const Compute* found = nullptr;
    for (const TileStatement& statement : loop.body) {
        if (const Load* load = std::get_if<Load>(&statement.node)) {
            if (plan_.tiles.at(load->target).home != Home::Matrix) return nullptr;
            continue;
        }
        const Compute* compute = std::get_if<Compute>(&statement.node);
        if (compute == nullptr || found != nullptr) return nullptr;
        found = compute;
    }
    const auto product = found == nullptr ? plan_.products.end() : plan_.products.find(found);
    if (product == plan_.products.end()) return nullptr;
    const auto streamed = [&](const Operand& side) {
        return side.direct && plan_.tiles.at(*side.direct).home == Home::Matrix &&
               std::any_of(loop.body.begin(), loop.body.end(), [&](const TileStatement& statement) {
                   const Load* load = std::get_if<Load>(&statement.node);
                   return load != nullptr && load->target == *side.direct;
               });
    };
    const Fold& fold = std::get<Fold>(found->statement.body);
    const ArrayId target = found->statement.targets.front();
    const Read* seed = fold.seed.empty() ? nullptr : std::get_if<Read>(&fold.seed.front().node);
    const bool plain = seed != nullptr && seed->array == target && product->second.scale == 1 &&
                       product->second.outside.empty() && !region_.arrays[target.index()].rounds;
    return plain && streamed(product->second.left) && streamed(product->second.right) ? found
                                                                                      : nullptr;
}

/// Adds a product to `sum`; `left` is the fragment of its left operand, nothing where that is read
/// from shared memory.
kernel::Expression TensorLowering::multiplication(
    const Compute& compute, const Product& product, const kernel::Expression& sum,
    const std::optional<kernel::Expression>& left) const {
    const kernel::Expression right = product.right.direct
                                         ? matrix(*product.right.direct)
                                         : variable(computed_right_.at(right_of(compute, product)));
    const kernel::Expression column = first_column(product.column);
    if (left) return call({"multiply", {right_order(product)}}, {sum, *left, right, 0, column});
    return call({"multiply", orders_of(product)},
                {sum, matrix(*product.left.direct), warp_part(*plan_.row), right, column});
}

void TensorLowering::lower_product(const Compute& compute, const Fold& fold, const Product& product,
                                   Body& body) {
    const VariableId target = compute.targets.front();
    const ArrayId array = compute.statement.targets.front();
    const Array& info = region_.arrays[array.index()];
    const Columns columns = columns_of(product.column);
    const bool seeded = !fold.seed.empty();
    scales_.erase(array);

    right_operand(compute, product, body);
    const std::optional<kernel::Expression> left = left_operand(compute, product, body);
    double factor = product.scale;
    if (product.left.direct) {
        const auto scaled = scales_.find(region_.variables[product.left.direct->index()].array);
        if (left && scaled != scales_.end()) factor *= scaled->second;
    }
    const bool saved = region_.stored.contains(array);
    const bool keeps_factor =
        !seeded && product.outside.empty() && factor > 0 && !info.rounds && !saved;
    const bool apart =
        (seeded && (factor != 1 || !product.outside.empty())) ||
        (!seeded && !keeps_factor && (factor != 1 || !product.outside.empty())) ||
        (info.rounds && info.type != ElementType::F32 && !rounded_when_saved(compute));
    wait_for_copies(body);

    // The state is brought to what the products are added to.
    const bool plain_seed = seeded && std::holds_alternative<Read>(fold.seed.front().node) &&
                            std::get<Read>(fold.seed.front().node).array == array;
    ExpressionScope scope = scope_for(compute);
    const Domain domain{true, product.column};
    declare(target, body);
    kernel::Expression sum = place(target);
    if (apart) {
        const std::string name = names_.fresh(names_of_.at(target) + "_sum");
        body.push_back(kernel::declare(columns.type, name));
        sum = variable(name);
    }
    const kernel::Expression sum_element = element(sum, {variable("i"), variable("j")});
    if (apart || !seeded) {
        body.push_back({Run{invoke(member(sum, "fill"), {kernel::real(0)})}});
    } else if (!plain_seed) {
        Body before;
        Body inside;
        const Code seed = print_hoisted(fold.seed.front(), domain, scope, before, inside);
        inside.push_back(assign(sum_element, seed.value));
        append(before, column_loop(product.column, std::move(inside)));
        append(body, row_loop(std::move(before)));
    }

    body.push_back({Run{multiplication(compute, product, sum, left)}});
    if (keeps_factor && factor != 1) scales_[array] = factor;
    if (!apart) return;

    // Factors outside the sum, and the old state.
    Body before;
    Body inside;
    Code value = real_code(sum_element, true);
    if (factor != 1) value.value = value.value * kernel::real(factor);
    for (const Expression& outside : product.outside) {
        const Code code = print_hoisted(outside, domain, scope, before, inside);
        value = infix(kernel::Operator::Multiply, value, code, Sort::Real);
    }
    if (seeded) {
        const Code seed = print_hoisted(fold.seed.front(), domain, scope, before, inside);
        value = infix(kernel::Operator::Add, seed, value, Sort::Real);
    }
    if (info.rounds && info.type != ElementType::F32 && !rounded_when_saved(compute))
        value = rounded(value, info.type);
    inside.push_back(assign(element_at(target), value.value));
    append(before, column_loop(product.column, std::move(inside)));
    append(body, row_loop(std::move(before)));
}

}  // namespace napkin::lowering
