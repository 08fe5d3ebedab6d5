// Folds along axes that no tile in registers runs along: loops in every thread.
#include <fmt/format.h>

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
using schedule::LeafId;

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

/// Nothing but other turns hides the latency of vectors that a turn reads, nor, where blocks are
/// few, of anything: the innermost loops go on with several at once. Of what goes along `shared`,
/// threads that hold the same columns have their parts.
Body TensorLowering::loops_along(const std::vector<AxisId>& axes, Body inner, bool in_vectors,
                                 std::optional<AxisId> shared) const {
    constexpr std::int64_t kAtOnce = 8;
    std::int64_t at_once = in_vectors || program_.few_blocks ? kAtOnce : 1;
    const auto around = [&](AxisId axis) {
        For loop;
        loop.name = axis_names_[axis.index()].local;
        loop.end = expression_of(ranges_.at(axis).count);
        std::int64_t turns = plan_.extents.at(axis);
        if (axis == shared) {
            loop.begin = kernel::thread_index() / plan_.lanes_per_row;
            loop.step = plan_.sharers();
            turns = ceil_quotient(turns, plan_.sharers());
        }
        if (at_once > 1 && turns > 1) loop.unroll_by = std::min(turns, at_once);
        at_once /= std::max<std::int64_t>(1, std::min(turns, at_once));
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
kernel::Statement TensorLowering::combine_columns(MonoidId monoid, AxisId column,
                                                  const kernel::Expression& acc) const {
    const char* combine = monoid == kSum       ? "Sum"
                          : monoid == kProduct ? "Product"
                          : monoid == kMax     ? "Maximum"
                                               : "Minimum";
    const kernel::Type columns = columns_of(column).type;
    if (plan_.warps_down == 1)
        return {kernel::Run{call({"combine_columns", {kernel::Type(combine), columns}}, {acc})}};
    return {kernel::Run{
        call({"combine_columns", {kernel::Type(combine), columns, variable("kThreads")}},
             {acc, variable(scratch_)})}};
}

/// Whether a fold can be made by the loop that makes another: what both fold is read along the same
/// axes into the same columns, and what one makes the other does not read.
bool TensorLowering::joins(LeafId leaf, LeafId first) const {
    const auto serial = plan_.serial.find(leaf);
    const auto before = plan_.serial.find(first);
    if (plan_.has_products() || serial == plan_.serial.end() || before == plan_.serial.end() ||
        serial->second.axes != before->second.axes)
        return false;
    const Compute& compute = std::get<Compute>(leaves_[leaf.index()]->node);
    const Compute& other = std::get<Compute>(leaves_[first.index()]->node);
    const schedule::Tile& tile = plan_.tiles.at(compute.targets.front());
    const schedule::Tile& of_first = plan_.tiles.at(other.targets.front());
    return tile.home == Home::Fragment && of_first.home == Home::Fragment &&
           tile.column == of_first.column;
}

/// The folds among `items` from `at` on that one loop makes.
std::vector<LeafId> TensorLowering::made_at_once(const schedule::Body& items,
                                                 std::size_t at) const {
    std::vector<LeafId> leaves;
    std::set<VariableId> made;
    for (; at < items.size(); ++at) {
        const schedule::OpId* op = std::get_if<schedule::OpId>(&items[at].node);
        if (op == nullptr || schedule_[*op].kind != schedule::Op::Kind::Elements) break;
        const LeafId leaf = schedule_[*op].leaf;
        if (!joins(leaf, leaves.empty() ? leaf : leaves.front())) break;
        const Compute& compute = std::get<Compute>(leaves_[leaf.index()]->node);
        const std::vector<VariableId>& serial = plan_.serial.at(leaf).reads;
        const auto is_made = [&](VariableId read) { return made.contains(read); };
        if (std::any_of(compute.reads.begin(), compute.reads.end(), is_made) ||
            std::any_of(serial.begin(), serial.end(), is_made))
            break;
        leaves.push_back(leaf);
        made.insert(compute.targets.front());
    }
    return leaves;
}

void TensorLowering::lower_at_once(const std::vector<LeafId>& leaves, Body& body) {
    temporaries_ = 0;
    for (const LeafId leaf : leaves) {
        const Compute& compute = std::get<Compute>(leaves_[leaf.index()]->node);
        make_deferred_loads(compute, body);
        add_comments(text_of(compute.statement), leaves_[leaf.index()]->span, compute.via, body);
    }
    lower_serial(leaves, body);
}

void TensorLowering::lower_serial(const std::vector<LeafId>& leaves, Body& body) {
    const auto compute_of = [&](LeafId leaf) -> const Compute& {
        return std::get<Compute>(leaves_[leaf.index()]->node);
    };
    const auto fold_of = [&](LeafId leaf) -> const Fold& {
        return std::get<Fold>(compute_of(leaf).statement.body);
    };
    const schedule::Serial& serial = plan_.serial.at(leaves.front());
    const schedule::Tile& tile = plan_.tiles.at(compute_of(leaves.front()).targets.front());
    const bool fragment = tile.home == Home::Fragment;
    Domain domain{tile.home != Home::Thread, std::nullopt};
    if (fragment) domain.column = tile.column;
    ExpressionScope scope = scope_for(compute_of(leaves.front()));
    Expression all = serial.value;
    std::set<VariableId> reads;
    std::vector<kernel::Expression> accs;
    for (const LeafId leaf : leaves) {
        const schedule::Serial& own = plan_.serial.at(leaf);
        const Compute& compute = compute_of(leaf);
        scales_.erase(compute.statement.targets.front());
        for (const VariableId variable : compute.reads) add_element(scope, variable);
        for (const VariableId variable : own.reads) add_element(scope, variable);
        for (const Expression* expression : expressions_of(compute.statement))
            note_parameters(*expression, scope);
        note_parameters(own.value, scope);
        reads.insert(own.reads.begin(), own.reads.end());
        if (leaf != leaves.front()) all = apply(Function::Add, {std::move(all), own.value});
        const kernel::Expression acc =
            variable(accs.empty() ? "acc" : fmt::format("acc{}", accs.size() + 1));
        accs.push_back(acc);
    }

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
        for (const VariableId read : reads) read_in_vectors(vectors, read, all, scope);
    }
    const auto element_of_acc = [&](std::size_t k) {
        return fragment ? subscript(accs[k], variable("j")) : accs[k];
    };
    Body step;
    Body inside;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        const MonoidId monoid = fold_of(leaves[k]).monoid;
        Code value = print_hoisted(plan_.serial.at(leaves[k]).value, {domain.row, column}, scope,
                                   step, inside);
        if (serial.over)
            value.value = choose(test_in_chunk(*serial.over), value.value, identity_of(monoid));
        const kernel::Expression acc = element_of_acc(k);
        inside.push_back(assign(acc, combined(monoid, acc, value.value, value.finite)));
    }
    const bool in_vectors = !vectors.known.empty();
    if (in_vectors)
        inside = loop_in_vectors(std::move(vectors), first, std::move(inside));
    else if (column)
        inside = column_loop(*column, std::move(inside));
    append(step, std::move(inside));
    looped_.clear();
    scope.named.clear();  // declared within the loops

    Body before;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        const kernel::Expression identity = identity_of(fold_of(leaves[k]).monoid);
        const std::string name = k == 0 ? "acc" : fmt::format("acc{}", k + 1);
        if (!fragment) {
            before.push_back(kernel::declare("float", name, identity));
            continue;
        }
        const Columns columns = columns_of(*column);
        before.push_back(kernel::declare_array("float", name, {columns.count}));
        before.push_back(
            kernel::unrolled_loop("j", columns.count, {assign(element_of_acc(k), identity)}));
    }
    const std::optional<AxisId> shared = fragment ? shared_axis(serial.axes) : std::nullopt;
    append(before, loops_along(serial.axes, std::move(step), in_vectors, shared));
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        const MonoidId monoid = fold_of(leaves[k]).monoid;
        if (shared) before.push_back(combine_columns(monoid, *column, accs[k]));
        if (serial.over) before.push_back(assign(accs[k], folded_across(monoid, accs[k])));
    }

    // What is added to it.
    Body results;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        const Compute& compute = compute_of(leaves[k]);
        const Fold& fold = fold_of(leaves[k]);
        Body last;
        Code total = real_code(element_of_acc(k),
                               !plan_.infinite.contains(compute.statement.targets.front()));
        if (!fold.seed.empty()) {
            const Code seed =
                print_hoisted(fold.seed.front(), domain, scope, before, fragment ? last : before);
            total.value =
                combined(fold.monoid, seed.value, element_of_acc(k), total.finite && seed.finite);
        }
        if (fragment) {
            declare(compute.targets.front(), body);
            append(results, elements_of_map(compute, domain, total, std::move(last)));
            continue;
        }
        // What is not along the rows is the same in each of them.
        if (!domain.row) before.insert(before.begin(), define("int", "i", 0));
        return finish_map(compute, domain, total, {}, std::move(before), body);
    }
    append(before, std::move(results));
    append(body, row_loop(std::move(before)));
}

}  // namespace napkin::lowering
