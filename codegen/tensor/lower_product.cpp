// Contractions on the tensor core.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Call;
using kernel::Declare;
using kernel::For;
using tensor::Home;
using tensor::Operand;
using tensor::Product;

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
                                    const std::string& tile, AxisId rows, AxisId columns,
                                    ElementType type, Body& body) {
    ExpressionScope scope = scope_for(compute);
    const std::string& row = axis_names_[rows.index()].local;
    const std::string& column = axis_names_[columns.index()].local;
    const std::int64_t down = padded(plan_.extents.at(rows), tensor::kTile);
    const std::int64_t across = padded(plan_.extents.at(columns), tensor::kTile);
    ElementScope element = element_of({});
    element.index[rows] = ranges_.at(rows).start + local_index(rows);
    element.index[columns] = ranges_.at(columns).start + local_index(columns);
    For loop;
    loop.name = "e";
    loop.begin = "threadIdx.x";
    loop.end = std::to_string(down * across);
    loop.step = "kThreads";
    loop.body.push_back({Declare{"int", row, fmt::format("e / {}", across), true, {}}});
    loop.body.push_back({Declare{"int", column, fmt::format("e % {}", across), true, {}}});
    Body inside;
    element.temporaries = &inside;
    element.next_temporary = &temporaries_;
    const tensor::Scaler scaler(region_, scales_);
    const Code code =
        as_sort(ExpressionPrinter(scope).print(scaler.expand(value), element), Sort::Real);
    inside.push_back({Assign{"value", "=", code.text}});
    std::string tests;
    for (const auto& [axis, local, extent] :
         {std::tuple(rows, row, down), std::tuple(columns, column, across)})
        if (!ranges_.at(axis).count.is_constant(extent))
            tests += fmt::format("{}{} < {}", tests.empty() ? "" : " && ", local,
                                 print(ranges_.at(axis).count));
    loop.body.push_back({Declare{"float", "value", "0.0f", false, {}}});
    if (tests.empty())
        for (kernel::Statement& part : inside) loop.body.push_back(std::move(part));
    else
        loop.body.push_back({kernel::If{tests, std::move(inside), {}}});
    Code stored_value;
    stored_value.text = "value";
    loop.body.push_back(
        {Assign{fmt::format("{}({}, {})", tile, row, column), "=", stored(stored_value, type)}});
    body.push_back({std::move(loop)});
}

void TensorLowering::right_operand(const Compute& compute, const Product& product, Body& body) {
    if (product.right.direct) return;
    const kernel::Tile& tile = program_.tiles[computed_right_.at(&compute).index()];
    wait_for_copies(body);
    body.push_back({kernel::Barrier{}});
    compute_matrix(product.right.value, compute, tile.name, product.depth, product.column,
                   product.type, body);
    body.push_back({kernel::Barrier{}});
}

/// The name of a left operand in registers, or empty where it is a matrix in shared memory.
std::string TensorLowering::left_operand(const Compute& compute, const Product& product,
                                         Body& body) {
    const std::string element = kernel::element_name(product.type);
    if (product.left.direct) {
        if (plan_.tiles.at(*product.left.direct).home == Home::Matrix) return {};
        std::string name = names_.fresh(place(*product.left.direct) + "_left");
        body.push_back({Declare{
            "auto", name, fmt::format("as_left<{}>({})", element, place(*product.left.direct)),
            true, fmt::format("rounded to {}", element)}});
        return name;
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
    const std::string test = test_in_chunk(product.depth);
    if (!test.empty())
        value.text = fmt::format("{} ? {} : 0.0f", test, wrapped(value, precedence::kChoice + 1));
    inside.push_back({Assign{fragment + "(i, j)", "=", value.text}});
    for (kernel::Statement& part : column_loop(columns.type, product.depth, std::move(inside)))
        before.push_back(std::move(part));
    body.push_back({Declare{columns.type, fragment, "", false, {}}});
    for (kernel::Statement& part : row_loop(std::move(before))) body.push_back(std::move(part));
    std::string name = names_.fresh("left_operand");
    body.push_back({Declare{"auto", name, fmt::format("as_left<{}>({})", element, fragment), true,
                            fmt::format("rounded to {}", element)}});
    return name;
}

std::string TensorLowering::right_order(const Product& product) const {
    if (!product.right.direct) return "AsStored";
    const tensor::Tile& tile = plan_.tiles.at(*product.right.direct);
    return axis_along(*product.right.direct, tile.row_dimension) == product.depth ? "AsStored"
                                                                                  : "Transposed";
}

std::string TensorLowering::orders_of(const Product& product) const {
    const tensor::Tile& tile = plan_.tiles.at(*product.left.direct);
    const bool as_stored = axis_along(*product.left.direct, tile.row_dimension) == *plan_.row;
    return fmt::format("Order::{}, Order::{}, {}", as_stored ? "AsStored" : "Transposed",
                       right_order(product),
                       padded(plan_.extents.at(product.depth), tensor::kTile));
}

std::string TensorLowering::first_column(AxisId axis) const {
    return columns_of(axis).split ? warp_part(axis) : "0";
}

const Compute* TensorLowering::lone_product(const Loop& loop) const {
    if (stages_ < 2 || !loop.visible.empty()) return nullptr;
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

/// Adds a product to `sum`; `left` is the fragment of its left operand, empty where that is read
/// from shared memory.
std::string TensorLowering::multiplication(const Compute& compute, const Product& product,
                                           const std::string& sum, const std::string& left) const {
    const std::string right = product.right.direct
                                  ? matrix_name(*product.right.direct)
                                  : program_.tiles[computed_right_.at(&compute).index()].name;
    const std::string column = first_column(product.column);
    if (!left.empty())
        return fmt::format("multiply<Order::{}>({}, {}, {}, 0, {})", right_order(product), sum,
                           left, right, column);
    return fmt::format("multiply<{}>({}, {}, {}, {}, {})", orders_of(product), sum,
                       matrix_name(*product.left.direct), warp_part(*plan_.row), right, column);
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
    const std::string left = left_operand(compute, product, body);
    double factor = product.scale;
    if (product.left.direct) {
        const auto scaled = scales_.find(region_.variables[product.left.direct->index()].array);
        if (!left.empty() && scaled != scales_.end()) factor *= scaled->second;
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
    std::string sum = place(target);
    if (apart) {
        sum = names_.fresh(place(target) + "_sum");
        body.push_back({Declare{columns.type, sum, "", false, {}}});
        body.push_back({Call{sum + ".fill(0.0f)"}});
    } else if (!seeded) {
        body.push_back({Call{sum + ".fill(0.0f)"}});
    } else if (!plain_seed) {
        Body before;
        Body inside;
        const Code seed = print_hoisted(fold.seed.front(), domain, scope, before, inside);
        inside.push_back({Assign{sum + "(i, j)", "=", seed.text}});
        for (kernel::Statement& part : column_loop(columns.type, product.column, std::move(inside)))
            before.push_back(std::move(part));
        for (kernel::Statement& part : row_loop(std::move(before))) body.push_back(std::move(part));
    }

    body.push_back({Call{multiplication(compute, product, sum, left)}});
    if (keeps_factor && factor != 1) scales_[array] = factor;
    if (!apart) return;

    // Factors outside the sum, and the old state.
    Body before;
    Body inside;
    Code value;
    value.text = sum + "(i, j)";
    value.finite = true;
    if (factor != 1) {
        value.text += " * " + real_constant(factor).text;
        value.precedence = precedence::kProduct;
    }
    for (const Expression& outside : product.outside) {
        const Code code = print_hoisted(outside, domain, scope, before, inside);
        value = infix(value, "*", code, precedence::kProduct, Sort::Real);
    }
    if (seeded) {
        const Code seed = print_hoisted(fold.seed.front(), domain, scope, before, inside);
        value = infix(seed, "+", value, precedence::kSumLevel, Sort::Real);
    }
    if (info.rounds && info.type != ElementType::F32 && !rounded_when_saved(compute))
        value = rounded(value, info.type);
    inside.push_back({Assign{place(target) + "(i, j)", "=", value.text}});
    for (kernel::Statement& part : column_loop(columns.type, product.column, std::move(inside)))
        before.push_back(std::move(part));
    for (kernel::Statement& part : row_loop(std::move(before))) body.push_back(std::move(part));
}

}  // namespace napkin::lowering
