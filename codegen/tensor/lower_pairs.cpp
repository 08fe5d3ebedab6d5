// Left operands of 16-bit numbers that one rounding operation makes of others of that type: two
// numbers an instruction, in the words that the tensor core takes. What they are made of comes to
// registers while the product before is on its way, and is put together once that is through.
#include <fmt/format.h>

#include "codegen/tensor/tensor_lowering.h"
#include "schedule/pairs.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::variable;
using schedule::Home;

const char* pair_function(Function function) {
    switch (function) {
    case Function::Add: return "add_pair";
    case Function::Subtract: return "subtract_pair";
    case Function::Multiply: return "multiply_pair";
    case Function::Max: return "maximum_pair";
    case Function::Min: return "minimum_pair";
    default: throw InternalError("an operation without a form for pairs");
    }
}

}  // namespace

std::optional<Expression> TensorLowering::paired_value(LeafId product) const {
    return schedule::paired_value(region_, plan_, schedule_, product);
}

std::optional<schedule::LeafId> TensorLowering::paired_product(const schedule::Op& op) const {
    return schedule::paired_product(region_, plan_, schedule_, op);
}

kernel::Expression TensorLowering::pair_at(LeafId leaf, const Expression& read) const {
    for (const auto& [known, name] : pairs_.at(leaf))
        if (known == read) return element(variable(name), {variable("i"), variable("p")});
    throw InternalError("a pair that nobody reads");
}

void TensorLowering::declare_pairs(LeafId leaf, Body& body) {
    const auto [known, added] = pairs_.try_emplace(leaf);
    if (!added) return;
    const std::int64_t across = columns_of(plan_.products.at(leaf).depth).padded / 8;
    for (const Expression& read : schedule::elements_read(*paired_value(leaf))) {
        const std::string& array = region_.arrays[std::get<Read>(read.node).array.index()].name;
        known->second.emplace_back(read, names_.fresh(Names::identifier(array) + "_pairs"));
        body.push_back(kernel::declare({"Pairs", {across}}, known->second.back().second));
    }
}

/// For every pair of a thread.
Body TensorLowering::pair_loops(AxisId depth, Body inner) const {
    const Columns columns = columns_of(depth);
    Body body = {
        kernel::define("int", axis_names_[depth.index()].local,
                       invoke(kernel::scoped(columns.type, "column"), {2 * variable("p")}))};
    append(body, std::move(inner));
    return row_loop({kernel::unrolled_loop("p", columns.count / 2, std::move(body))});
}

/// Brings what the pairs are made of to registers.
void TensorLowering::lower_pair_reads(const schedule::Op& op, LeafId leaf, Span span, Body& body) {
    const schedule::Product& product = plan_.products.at(leaf);
    const Compute& maker = *schedule::maker_of(region_, plan_, leaf);
    make_deferred_loads(maker, body);
    const bool is_apart = op.side == schedule::Op::Side::Left;
    const ArrayId target = maker.statement.targets.front();
    const std::string what =
        is_apart ? fmt::format("left operand of {}: {}", region_.arrays[target.index()].name,
                               napkin::print(scope_, product.left.value))
                 : text_of(maker.statement);
    add_comments(what + ", in pairs", span, maker.via, body);
    declare_pairs(leaf, body);
    ExpressionScope scope = scope_for(maker);
    const ElementScope element = element_of({true, product.depth});
    Body inside;
    for (const auto& [read, name] : pairs_.at(leaf)) {
        const Read& wanted = std::get<Read>(read.node);
        const VariableId id = *schedule::variable_read(region_, maker, wanted.array);
        if (region_.arrays[wanted.array.index()].type == ElementType::I4) {
            const kernel::Expression row = variable(axis_names_[plan_.row->index()].local);
            append(body, row_loop({{kernel::Run{call(
                             "read_nibbles", {variable(name), variable("i"), matrix(id), row})}}}));
            continue;
        }
        kernel::Expression pair = 0;
        if (plan_.tiles.at(id).home == Home::Matrix) {
            pair = call("pair_of", {matrix(id), variable(axis_names_[plan_.row->index()].local),
                                    variable(axis_names_[product.depth.index()].local)});
        } else {
            std::vector<IndexForm> at;
            for (const AxisId axis : region_.arrays[wanted.array.index()].axes)
                at.push_back(element.index.at(axis));
            const Code code = scope.elements.at(wanted.array)(at);
            pair = call(
                word_dimension(id, {product.depth}) ? "word_of" : "pair_of",
                {variable(buffer_name(loads_.at(id)->array, false)), expression_of(*code.place)});
        }
        inside.push_back(assign(pair_at(leaf, read), std::move(pair)));
    }
    if (!inside.empty()) append(body, pair_loops(product.depth, std::move(inside)));
}

kernel::Expression TensorLowering::paired(LeafId leaf, const Expression& value) const {
    const kernel::Type type(kernel::element_name(plan_.products.at(leaf).type));
    if (const Read* read = std::get_if<Read>(&value.node)) {
        const kernel::Expression pair = pair_at(leaf, value);
        const bool is_widened = region_.arrays[read->array.index()].type == ElementType::I4;
        return is_widened ? call({"widened_pair", {type}}, {pair}) : pair;
    }
    const Apply* apply = std::get_if<Apply>(&value.node);
    if (apply == nullptr) return 0;
    std::vector<kernel::Expression> arguments;
    for (const Expression& argument : apply->arguments) arguments.push_back(paired(leaf, argument));
    return call({pair_function(apply->function), {type}}, std::move(arguments));
}

/// Puts the pairs together.
void TensorLowering::lower_paired_left(LeafId leaf, Body& body) {
    const kernel::Expression target =
        element(variable(lefts_.at(leaf)), {variable("i"), variable("p")});
    const std::int64_t count = columns_of(plan_.products.at(leaf).depth).count / 2;
    append(body, Body{kernel::unrolled_loop(
                     "i", kernel::scoped("Rows", "rows"),
                     {kernel::unrolled_loop(
                         "p", count, {assign(target, paired(leaf, *paired_value(leaf)))})})});
}

}  // namespace napkin::lowering
