// Left operands of 16-bit numbers that one rounding operation makes of others of that type: two
// numbers an instruction, in the words that the tensor core takes. What they are made of comes to
// registers while the product before is on its way, and is put together once that is through.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor/tensor_lowering.h"
#include "schedule/statements.h"
#include "schedule/straight_reads.h"

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
    default: return nullptr;
    }
}

bool rounds(Function function) {
    return function != Function::Max && function != Function::Min;
}

/// How many operations on the way to a value round; none where one has no form for pairs.
std::optional<int> roundings(const Expression& value) {
    if (std::holds_alternative<Read>(value.node)) return 0;
    const Number* constant = std::get_if<Number>(&value.node);
    if (constant != nullptr && constant->value == 0) return 0;
    const Apply* apply = std::get_if<Apply>(&value.node);
    if (apply == nullptr || pair_function(apply->function) == nullptr) return std::nullopt;
    int count = rounds(apply->function) ? 1 : 0;
    for (const Expression& argument : apply->arguments) {
        const std::optional<int> inner = roundings(argument);
        if (!inner) return std::nullopt;
        count += *inner;
    }
    return count;
}

void collect_reads(const Expression& value, std::vector<Expression>& reads) {
    if (std::holds_alternative<Read>(value.node)) {
        if (std::find(reads.begin(), reads.end(), value) == reads.end()) reads.push_back(value);
    } else if (const Apply* apply = std::get_if<Apply>(&value.node)) {
        for (const Expression& argument : apply->arguments) collect_reads(argument, reads);
    }
}

}  // namespace

/// The computation of a product's left operand, where nothing else needs what it makes.
const Compute* TensorLowering::maker_of(LeafId product) const {
    const Compute& multiplied = std::get<Compute>(leaves_[product.index()]->node);
    const std::optional<VariableId> direct = plan_.products.at(product).left.direct;
    if (!direct) return &multiplied;
    const Compute* maker = nullptr;
    int writers = 0;
    int others = 0;
    schedule::for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Save* save = std::get_if<Save>(&statement.node))
            others += save->source == *direct;
        const Compute* compute = std::get_if<Compute>(&statement.node);
        if (compute == nullptr) return;
        if (compute->targets.front() == *direct) maker = compute, ++writers;
        const auto& reads = compute->reads;
        if (compute != &multiplied)
            others += std::find(reads.begin(), reads.end(), *direct) != reads.end();
    });
    return writers == 1 && others == 0 ? maker : nullptr;
}

/// What is read of an array at the element's own place, all of it in whole chunks.
bool TensorLowering::reads_pairs(const Compute& maker, const schedule::Product& product,
                                 const Read& element) const {
    const auto variable = std::find_if(
        maker.reads.begin(), maker.reads.end(),
        [&](VariableId read) { return region_.variables[read.index()].array == element.array; });
    const auto load = variable == maker.reads.end() ? loads_.end() : loads_.find(*variable);
    if (load == loads_.end() || schedule::is_view(*load->second) || !load->second->gather.empty())
        return false;
    const Array& array = region_.arrays[element.array.index()];
    const schedule::Tile& tile = plan_.tiles.at(*variable);
    if (array.type != product.type || device_type(load->second->array) != product.type ||
        tile.guard || element.index.size() != array.axes.size())
        return false;
    bool along_rows = false;
    for (std::size_t d = 0; d < array.axes.size(); ++d) {
        const AxisIndex* index = std::get_if<AxisIndex>(&element.index[d].node);
        if (index == nullptr || index->axis != array.axes[d]) return false;
        const auto extent = plan_.extents.find(index->axis);
        const bool wide = extent != plan_.extents.end() && extent->second > 1;
        if (wide && index->axis != product.depth && index->axis != plan_.row) return false;
        along_rows = along_rows || index->axis == plan_.row;
    }
    if (array.axes.empty() || array.axes.back() != product.depth) return false;
    if (tile.home == Home::Device) return !along_rows;
    return tile.home == Home::Matrix && along_rows && tile.type == product.type &&
           tile.column_dimension + 1 == array.axes.size();
}

/// The value of a left operand that is computed in pairs.
std::optional<Expression> TensorLowering::paired_value(LeafId leaf) const {
    const auto found = plan_.products.find(leaf);
    if (found == plan_.products.end() || !schedule_.left_of.contains(leaf)) return std::nullopt;
    const schedule::Product& product = found->second;
    const Axis& depth = region_.axes[product.depth.index()];
    const Compute* maker = maker_of(leaf);
    const bool narrow = product.type == ElementType::BF16 || product.type == ElementType::F16;
    const std::int64_t held = plan_.extents.at(product.depth);
    if (maker == nullptr || !narrow || depth.dynamic || depth.extent % held != 0 ||
        held % schedule::kTile != 0 || !tile_parts(product.depth).empty() || is_part(product.depth))
        return std::nullopt;
    const Map* map = std::get_if<Map>(&maker->statement.body);
    if (product.left.direct && map == nullptr) return std::nullopt;
    const Expression& value = product.left.direct ? map->value : product.left.value;
    const Array& made = region_.arrays[maker->statement.targets.front().index()];
    if (product.left.direct && made.rounds && made.type != product.type) return std::nullopt;
    const std::optional<int> count = roundings(value);
    if (!count || *count != 1) return std::nullopt;
    std::vector<Expression> reads;
    collect_reads(value, reads);
    for (const Expression& read : reads)
        if (!reads_pairs(*maker, product, std::get<Read>(read.node))) return std::nullopt;
    return value;
}

/// The product whose left operand an operation on elements makes in pairs.
std::optional<schedule::LeafId> TensorLowering::paired_product(const schedule::Op& op) const {
    if (op.kind != schedule::Op::Kind::Elements) return std::nullopt;
    const Compute* compute = std::get_if<Compute>(&leaves_[op.leaf.index()]->node);
    for (const auto& [leaf, product] : plan_.products) {
        const bool makes =
            op.side == schedule::Op::Side::Left
                ? leaf == op.leaf
                : compute != nullptr && product.left.direct == compute->targets.front();
        if (makes && paired_value(leaf)) return leaf;
    }
    return std::nullopt;
}

kernel::Expression TensorLowering::pair_at(LeafId leaf, const Expression& read) const {
    for (const auto& [known, name] : pairs_.at(leaf))
        if (known == read) return element(variable(name), {variable("i"), variable("p")});
    throw InternalError("a pair that nobody reads");
}

void TensorLowering::declare_pairs(LeafId leaf, Body& body) {
    const auto [known, added] = pairs_.try_emplace(leaf);
    if (!added) return;
    std::vector<Expression> reads;
    collect_reads(*paired_value(leaf), reads);
    const std::int64_t across = columns_of(plan_.products.at(leaf).depth).padded / 8;
    for (const Expression& read : reads) {
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
    const Compute& maker = *maker_of(leaf);
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
        const VariableId id = *std::find_if(
            maker.reads.begin(), maker.reads.end(),
            [&](VariableId each) { return region_.variables[each.index()].array == wanted.array; });
        kernel::Expression pair = 0;
        if (plan_.tiles.at(id).home == Home::Matrix) {
            pair = call("pair_of", {matrix(id), variable(axis_names_[plan_.row->index()].local),
                                    variable(axis_names_[product.depth.index()].local)});
        } else {
            std::vector<IndexForm> at;
            for (const AxisId axis : region_.arrays[wanted.array.index()].axes)
                at.push_back(element.index.at(axis));
            const Code code = scope.elements.at(wanted.array)(at);
            pair = call("pair_of", {variable(buffer_name(loads_.at(id)->array, false)),
                                    expression_of(*code.place)});
        }
        inside.push_back(assign(pair_at(leaf, read), std::move(pair)));
    }
    append(body, pair_loops(product.depth, std::move(inside)));
}

kernel::Expression TensorLowering::paired(LeafId leaf, const Expression& value) const {
    if (std::holds_alternative<Read>(value.node)) return pair_at(leaf, value);
    const Apply* apply = std::get_if<Apply>(&value.node);
    if (apply == nullptr) return 0;
    std::vector<kernel::Expression> arguments;
    for (const Expression& argument : apply->arguments) arguments.push_back(paired(leaf, argument));
    const kernel::Type type(kernel::element_name(plan_.products.at(leaf).type));
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
