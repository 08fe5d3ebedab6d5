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
using schedule::Home;
using schedule::Operand;
using schedule::Product;

/// Elements of operands, by their name in kernels.
std::string operand_name(ElementType type) {
    return is_in_parts(type) ? "f32_parts" : kernel::element_name(type);
}
/// What an operand in registers is.
std::string operand_comment(ElementType type) {
    return is_in_parts(type) ? "multiplied in parts of tf32"
                             : fmt::format("rounded to {}", kernel::element_name(type));
}

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

/// The name of a left operand in registers.
std::string TensorLowering::left_name(const Product& product) {
    return names_.fresh(product.left.direct ? names_of_.at(*product.left.direct) + "_left"
                                            : std::string("left_operand"));
}

/// A left operand in registers; nothing where it is in shared memory.
std::optional<kernel::Expression> TensorLowering::left_operand(const schedule::Op& op,
                                                               const Compute& compute,
                                                               const Product& product, Body& body) {
    if (matrix_of(op.leaf, product, true)) return std::nullopt;
    if (const auto packed = lefts_.find(op.leaf); packed != lefts_.end())
        return variable(packed->second);
    const std::string name = left_name(product);
    body.push_back(
        define("auto", name, rounded_left(compute, product, body), operand_comment(product.type)));
    return variable(name);
}

/// Elements of a left operand, as if they were the results of a product.
void TensorLowering::left_values(const Compute& compute, const Product& product,
                                 const std::string& fragment, Body& body) {
    ExpressionScope scope = scope_for(compute);
    const Domain domain{true, product.depth};
    Body before;
    Body inside;
    Code value = print_hoisted(product.left.value, domain, scope, before, inside);
    inside.push_back(assign(element(variable(fragment), {variable("i"), variable("j")}),
                            choose(test_in_chunk(product.depth), value.value, kernel::real(0))));
    append(before, column_loop(product.depth, std::move(inside)));
    append(body, row_loop(std::move(before)));
}

/// Registers of such elements, declared where they are first asked for.
const std::string& TensorLowering::declare_left_values(const schedule::Op& op, Body& body) {
    const auto [known, added] = left_values_.try_emplace(op.leaf);
    if (added) {
        known->second = names_.fresh("left");
        const AxisId depth = plan_.products.at(op.leaf).depth;
        body.push_back(
            kernel::declare(columns_of(depth).type, known->second, std::nullopt,
                            fmt::format("{} of this warp", region_.axes[depth.index()].name)));
    }
    return known->second;
}

void TensorLowering::lower_left_values(const schedule::Op& op, const Compute& compute, Span span,
                                       Body& body) {
    make_deferred_loads(compute, body);
    const Product& product = plan_.products.at(op.leaf);
    add_comments(fmt::format("left operand of {}: {}",
                             region_.arrays[compute.statement.targets.front().index()].name,
                             napkin::print(scope_, product.left.value)),
                 span, compute.via, body);
    left_values(compute, product, declare_left_values(op, body), body);
}

/// A left operand, rounded for the tensor core.
kernel::Expression TensorLowering::rounded_left(const Compute& compute, const Product& product,
                                                Body& body) {
    const std::string type = operand_name(product.type);
    const auto rounded_from = [&](const kernel::Expression& fragment) {
        return call({"as_left", {kernel::Type(type)}}, {fragment});
    };
    if (product.left.direct) return rounded_from(place(*product.left.direct));
    const std::string fragment = names_.fresh("left");
    body.push_back(kernel::declare(columns_of(product.depth).type, fragment));
    left_values(compute, product, fragment, body);
    return rounded_from(variable(fragment));
}

/// Registers of left operands that are packed, declared where they are first asked for.
void TensorLowering::declare_left(const schedule::Op& op, Body& body) {
    const Product& product = plan_.products.at(op.leaf);
    const auto [known, added] = lefts_.try_emplace(op.leaf);
    if (!added) return;
    known->second = left_name(product);
    const std::string type = operand_name(product.type);
    const std::int64_t steps = schedule::padded_depth(plan_, product) / schedule::kTile;
    body.push_back(kernel::declare({"LeftOperand", {kernel::Type(type), 1, steps}}, known->second,
                                   std::nullopt, operand_comment(product.type)));
}

void TensorLowering::lower_pack(const schedule::Op& op, const Compute& compute, Body& body) {
    declare_left(op, body);
    if (paired_value(op.leaf)) return lower_paired_left(op.leaf, body);
    if (const auto rounded = rounded_.find(op.leaf); rounded != rounded_.end()) {
        body.push_back(
            assign(variable(lefts_.at(op.leaf)), call("moved", {variable(rounded->second)})));
        return;
    }
    const Product& product = plan_.products.at(op.leaf);
    const auto values = left_values_.find(op.leaf);
    body.push_back(assign(variable(lefts_.at(op.leaf)),
                          values == left_values_.end()
                              ? rounded_left(compute, product, body)
                              : call({"as_left", {kernel::Type(operand_name(product.type))}},
                                     {variable(values->second)})));
}

/// The state is brought to what the products are added to.
void TensorLowering::bring_state(LeafId leaf, const Compute& compute, const kernel::Expression& sum,
                                 Body& body) {
    const Product& product = plan_.products.at(leaf);
    const Fold& fold = std::get<Fold>(compute.statement.body);
    ExpressionScope scope = scope_for(compute);
    const Domain domain{true, product.column};
    Body before;
    Body inside;
    const Code seed = print_hoisted(fold.seed.front(), domain, scope, before, inside);
    inside.push_back(assign(element(sum, {variable("i"), variable("j")}), seed.value));
    append(before, column_loop(product.column, std::move(inside)));
    append(body, row_loop(std::move(before)));
}

bool TensorLowering::prepared(LeafId product) const {
    return std::any_of(schedule_.ops.begin(), schedule_.ops.end(), [&](const schedule::Op& other) {
        return other.leaf == product && other.kind == schedule::Op::Kind::Prepare;
    });
}

std::optional<kernel::Expression> TensorLowering::matrix_of(LeafId leaf, const Product& product,
                                                            bool left) const {
    const Operand& side = left ? product.left : product.right;
    const auto of_product = [&](kernel::Expression tile) {
        return is_in_parts(product.type) ? call("in_parts", {std::move(tile)}) : tile;
    };
    if (side.direct && plan_.tiles.at(*side.direct).home == Home::Matrix)
        return of_product(matrix(*side.direct));
    if (!side.panel) return std::nullopt;
    const schedule::Op::Side wanted = left ? schedule::Op::Side::Left : schedule::Op::Side::Right;
    for (const schedule::Op& op : schedule_.ops)
        if (op.side == wanted && op.leaf == leaf && op.kind == schedule::Op::Kind::Publish)
            return of_product(shared_buffer(op.writes.front()));
    return std::nullopt;
}

kernel::Expression TensorLowering::order_of(const Product& product, bool left) const {
    const Operand& side = left ? product.left : product.right;
    const AxisId wanted = left ? *plan_.row : product.depth;
    if (side.panel) return order(side.panel->rows == wanted);
    // What the operand reads there: an array may be both, or be loaded along other axes.
    const std::size_t rows = plan_.tiles.at(*side.direct).row_dimension;
    return order(along(std::get<Read>(side.value.node).index[rows]).contains(wanted));
}

std::vector<kernel::Expression> TensorLowering::orders_of(const Product& product) const {
    return {order_of(product, true), order_of(product, false),
            schedule::padded_depth(plan_, product)};
}

/// The first row of this warp's group.
kernel::Expression TensorLowering::group_row() const {
    if (plan_.warps_across == 1) return call("group_row");
    return call({"group_row", {plan_.warps_across}}, {});
}

kernel::Expression TensorLowering::first_column(AxisId axis) const {
    return columns_of(axis).split ? warp_part(axis) : 0;
}

/// What a product that fetches its operands keeps them in, declared where it is first asked for.
const std::string& TensorLowering::operands_of(LeafId leaf, Body& body) {
    const Compute& compute = std::get<Compute>(leaves_[leaf.index()]->node);
    const auto [known, added] = operands_.try_emplace(compute.statement.targets.front());
    if (!added) return known->second;
    known->second = names_.fresh("operands");
    const Product& product = plan_.products.at(leaf);
    std::vector<kernel::Expression> shape = columns_of(product.column).type.arguments;
    shape.insert(shape.begin(), kernel::Type(operand_name(product.type)));
    body.push_back(kernel::declare({"Operands", std::move(shape)}, known->second));
    return known->second;
}

void TensorLowering::fetch_first(LeafId leaf, Body& body) {
    const Product& product = plan_.products.at(leaf);
    const std::string& operands = operands_of(leaf, body);
    body.push_back(
        {Run{call({"fetch_first", orders_of(product)},
                  {variable(operands), *matrix_of(leaf, product, true), warp_part(*plan_.row),
                   *matrix_of(leaf, product, false), first_column(product.column)})}});
}

/// Adds a product, or a part of it, to `sum`.
kernel::Statement TensorLowering::multiplication(
    const schedule::Op& op, const Compute& compute, const kernel::Expression& sum,
    const std::optional<kernel::Expression>& left) const {
    using Portion = schedule::Op::Portion;
    const LeafId leaf = op.leaf;
    const Portion portion = op.portion;
    const Product& product = plan_.products.at(leaf);
    const kernel::Expression column = first_column(product.column);
    if (portion == Portion::Tail) {
        const std::string& operands = operands_.at(compute.statement.targets.front());
        return {Run{call("multiply_tail", {sum, variable(operands)})}};
    }
    const kernel::Expression right = *matrix_of(leaf, product, false);
    if (left)
        return {
            Run{call({"multiply", {order_of(product, false)}}, {sum, *left, right, 0, column})}};
    const kernel::Expression in_matrix = *matrix_of(leaf, product, true);
    if (portion == Portion::Whole)
        return {Run{call({"multiply", orders_of(product)},
                         {sum, in_matrix, warp_part(*plan_.row), right, column})}};
    return {Run{call({"multiply_head", orders_of(product)},
                     {sum, variable(operands_.at(compute.statement.targets.front())), in_matrix,
                      warp_part(*plan_.row), right, column})}};
}

/// Starts a product by a warp group, on top of what is in `sum` where it adds; in 8 bits, carries
/// it out.
kernel::Statement TensorLowering::group_multiplication(
    LeafId leaf, const kernel::Expression& sum, const std::optional<kernel::Expression>& left,
    bool adds) const {
    const Product& product = plan_.products.at(leaf);
    const kernel::Expression right = *matrix_of(leaf, product, false);
    const kernel::Expression column = first_column(product.column);
    if (left)
        return {Run{call({"start_multiply", {order_of(product, false)}},
                         {sum, *left, right, column, adds})}};
    const bool narrow = is_narrow(product);
    return {Run{call(narrow ? kernel::Entity{"multiply_narrow", {padded_depth(plan_, product)}}
                            : kernel::Entity{"start_multiply", orders_of(product)},
                     {sum, *matrix_of(leaf, product, true), group_row(), right, column, adds})}};
}

/// The registers of a product's results.
kernel::Expression TensorLowering::target_of(const schedule::Op& op) const {
    if (const auto apart = aparts_.find(op.leaf); apart != aparts_.end())
        return variable(apart->second.sum);
    return place(std::get<Compute>(leaves_[op.leaf.index()]->node).targets.front());
}

void TensorLowering::lower(const schedule::Finish& finish, Body& body) const {
    const schedule::Op& op = schedule_[finish.op];
    const kernel::Expression others = member(variable(finish.lead > 0 ? "now" : "ahead"), "value");
    const std::int64_t most = finish.pending + finish.pending_apart;
    const auto through = [&](const kernel::Expression& pending) -> Body {
        return {{Run{call({"finish_multiply", {pending}}, {target_of(op)})}}};
    };
    // The product of the next chunk is at its results already.
    if (op.lag > 0)
        body.push_back({kernel::If{
            others, {{Run{call({"wait_products", {most}})}}}, through(finish.pending)}});
    else
        append(body, through(finish.pending_apart > 0 ? choose(others, most, finish.pending)
                                                      : kernel::Expression(finish.pending)));
}

bool TensorLowering::accumulates(LeafId product) const {
    return std::any_of(schedule_.ops.begin(), schedule_.ops.end(), [&](const schedule::Op& op) {
        return op.leaf == product && op.kind == schedule::Op::Kind::Accumulate;
    });
}

TensorLowering::Apart TensorLowering::declared_apart(LeafId leaf, bool groups, Body& body) {
    Apart apart;
    const Compute& compute = std::get<Compute>(leaves_[leaf.index()]->node);
    const Product& product = plan_.products.at(leaf);
    apart.sum = names_.fresh(names_of_.at(compute.targets.front()) + "_sum");
    body.push_back(kernel::declare(columns_of(product.column).type, apart.sum));
    if (!groups) return apart;
    const auto is_far = [&](ArrayId array) {
        return std::any_of(compute.reads.begin(), compute.reads.end(), [&](VariableId read) {
            return region_.variables[read.index()].array == array &&
                   plan_.tiles.at(read).home == Home::Device;
        });
    };
    for (std::size_t i = 0; i < product.outside.size(); ++i) {
        const std::set<ArrayId> arrays = arrays_read(product.outside[i]);
        if (along(product.outside[i]).contains(product.column) ||
            std::none_of(arrays.begin(), arrays.end(), is_far))
            continue;
        const std::string& name = (apart.factors[i] = {names_.fresh("factors")}).name;
        body.push_back(kernel::declare_array("float", name, {kernel::scoped("Rows", "rows")}));
    }
    return apart;
}

/// Declared where it is first asked for.
TensorLowering::Apart& TensorLowering::declare_apart(LeafId leaf, Body& body) {
    const auto [known, added] = aparts_.try_emplace(leaf);
    if (added) known->second = declared_apart(leaf, true, body);
    return known->second;
}

/// So that they come while a group multiplies.
void TensorLowering::read_factors(const Compute& compute, const Product& product, Apart& apart,
                                  Body& body) {
    for (auto& [at, factor] : apart.factors) {
        ExpressionScope scope = scope_for(compute);
        Body before;
        Body inside;
        const Code code =
            print_hoisted(product.outside[at], {true, std::nullopt}, scope, before, inside);
        factor.finite = code.finite;
        inside.push_back(assign(subscript(variable(factor.name), variable("i")),
                                as_sort(code, Sort::Real).value));
        append(before, std::move(inside));
        append(body, row_loop(std::move(before)));
    }
}

double TensorLowering::factor_of(LeafId leaf) const {
    const Product& product = plan_.products.at(leaf);
    if (!product.left.direct) return product.scale;
    const auto scaled = scales_.find(region_.variables[product.left.direct->index()].array);
    const bool held = !matrix_of(leaf, product, true) || product.left.from_registers;
    return held && scaled != scales_.end() ? product.scale * scaled->second : product.scale;
}

/// Multiplies a product by what is outside of it, and adds the old state.
void TensorLowering::accumulate(LeafId leaf, const Compute& compute, const Apart& apart,
                                Body& body) {
    const Product& product = plan_.products.at(leaf);
    const Fold& fold = std::get<Fold>(compute.statement.body);
    const VariableId target = compute.targets.front();
    const Array& info = region_.arrays[compute.statement.targets.front().index()];
    const double factor = factor_of(leaf);
    ExpressionScope scope = scope_for(compute);
    const Domain domain{true, product.column};
    declare(target, body);
    Body before;
    Body inside;
    Code value = real_code(element(variable(apart.sum), {variable("i"), variable("j")}), true);
    if (factor != 1) value.value = value.value * kernel::real(factor);
    for (std::size_t i = 0; i < product.outside.size(); ++i) {
        const Expression& outside = product.outside[i];
        const auto read = apart.factors.find(i);
        const Code code = read == apart.factors.end()
                              ? print_hoisted(outside, domain, scope, before, inside)
                              : real_code(subscript(variable(read->second.name), variable("i")),
                                          read->second.finite);
        value = infix(kernel::Operator::Multiply, value, code, Sort::Real);
    }
    if (!fold.seed.empty() && prepared(leaf)) {
        value =
            infix(kernel::Operator::Add, real_code(element_at(target), false), value, Sort::Real);
    } else if (!fold.seed.empty()) {
        const Code seed = print_hoisted(fold.seed.front(), domain, scope, before, inside);
        value = infix(kernel::Operator::Add, seed, value, Sort::Real);
    }
    if (info.rounds && info.type != ElementType::F32 &&
        !rounded_when_saved(compute.targets.front()))
        value = rounded(value, info.type);
    inside.push_back(assign(element_at(target), value.value));
    append(before, column_loop(product.column, std::move(inside)));
    append(body, row_loop(std::move(before)));
}

void TensorLowering::lower_accumulate(const schedule::Op& op, const Compute& compute, Body& body) {
    make_deferred_loads(compute, body);
    accumulate(op.leaf, compute, aparts_.at(op.leaf), body);
}

void TensorLowering::lower_product(const schedule::Op& op, const Compute& compute, Span span,
                                   Body& body) {
    const Product& product = plan_.products.at(op.leaf);
    const Fold& fold = std::get<Fold>(compute.statement.body);
    const VariableId target = compute.targets.front();
    const ArrayId array = compute.statement.targets.front();
    const Array& info = region_.arrays[array.index()];
    const bool seeded = !fold.seed.empty();
    if (op.portion == schedule::Op::Portion::Tail) {
        body.push_back(multiplication(op, compute, place(target), std::nullopt));
        return;
    }
    make_deferred_loads(compute, body);
    add_comments(text_of(compute.statement), span, compute.via, body);
    scales_.erase(array);
    const std::optional<kernel::Expression> left = left_operand(op, compute, product, body);
    if (accumulates(op.leaf)) {
        Apart& apart = declare_apart(op.leaf, body);
        read_factors(compute, product, apart, body);
        body.push_back(group_multiplication(op.leaf, variable(apart.sum), left, false));
        return;
    }

    const double factor = factor_of(op.leaf);
    const bool saved = region_.stored.contains(array);
    const bool keeps_factor =
        !seeded && product.outside.empty() && factor > 0 && !info.rounds && !saved;
    const bool is_apart = (seeded && (factor != 1 || !product.outside.empty())) ||
                          (!seeded && !keeps_factor && (factor != 1 || !product.outside.empty())) ||
                          (info.rounds && info.type != ElementType::F32 &&
                           !rounded_when_saved(compute.targets.front()));

    const bool groups = !schedule_.rings.empty();
    const bool plain_seed = seeded && std::holds_alternative<Read>(fold.seed.front().node) &&
                            std::get<Read>(fold.seed.front().node).array == array;
    declare(target, body);
    Apart apart;
    kernel::Expression sum = place(target);
    if (is_apart) {
        apart = declared_apart(op.leaf, groups, body);
        read_factors(compute, product, apart, body);
        sum = variable(apart.sum);
    }
    const bool adds = seeded && !is_apart;
    if (!adds && !groups)
        body.push_back({Run{invoke(member(sum, "fill"), {kernel::real(0)})}});
    else if (adds && !plain_seed && !prepared(op.leaf))
        bring_state(op.leaf, compute, sum, body);

    body.push_back(groups ? group_multiplication(op.leaf, sum, left, adds)
                          : multiplication(op, compute, sum, left));
    if (groups && !is_narrow(product) &&
        (is_apart || op.completion != schedule::Completion::Finish))
        body.push_back({Run{call({"finish_multiply", {0}}, {sum})}});
    if (keeps_factor && factor != 1) scales_[array] = factor;
    if (is_apart) accumulate(op.leaf, compute, apart, body);
}

}  // namespace napkin::lowering
