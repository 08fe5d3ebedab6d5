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

/// The vectors of a thread's columns of a row, where no product is.
TensorLowering::Vectors TensorLowering::vectors_of_row(AxisId column) {
    Vectors vectors;
    vectors.columns = column;
    vectors.begin = names_.fresh(axis_names_[column.index()].local + "_first");
    vectors.count = plan_.vector;
    vectors.padded = padded_extent(column);
    vectors.element = names_.fresh("element");
    vectors.local = local_index(column);
    vectors.first = index_atom(vectors.begin, range_of(vectors.local));
    if (plan_.skewed == column)
        vectors.vector = names_.fresh("vector");
    else
        multiples_[vectors.begin] = plan_.vector;
    return vectors;
}

/// Goes through a thread's columns by its vectors, and reads each before it is used.
Body TensorLowering::loop_in_vectors(Vectors vectors, Body inside) {
    const Columns columns = columns_of(vectors.columns);
    const std::string vector = vectors.vector.empty() ? names_.fresh("vector") : vectors.vector;
    const kernel::Expression begin = variable(vector) * vectors.count;
    const kernel::Expression element = variable(vectors.element);
    Body each = {define("int", "j", begin + element),
                 define("int", axis_names_[vectors.columns.index()].local,
                        variable(vectors.begin) + element)};
    append(each, std::move(inside));
    Body whole = {define("int", vectors.begin, column_of(vectors.columns, begin))};
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
    const char* combine = combine_of(monoid, false);
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

/// Folds that one loop makes, each into what it has by itself.
struct TensorLowering::SerialFolds {
    struct One {
        const Compute* compute = nullptr;
        const Fold* fold = nullptr;
        const schedule::Serial* serial = nullptr;
        std::string acc;
        bool by_lanes = false;  ///< whether threads put it together behind the loop alone
    };
    std::vector<One> each;
    bool fragment = false;  ///< whether they have an element a column
    Domain domain;          ///< of the results
    std::optional<AxisId> column;
    ExpressionScope scope;
    [[nodiscard]] const schedule::Serial& serial() const { return *each.front().serial; }
    [[nodiscard]] kernel::Expression acc(const One& one) const {
        const kernel::Expression acc = variable(one.acc);
        return fragment ? subscript(acc, variable("j")) : acc;
    }
};

TensorLowering::SerialFolds TensorLowering::serial_folds(const std::vector<LeafId>& leaves) {
    SerialFolds folds;
    for (const LeafId leaf : leaves) {
        const Compute& compute = std::get<Compute>(leaves_[leaf.index()]->node);
        if (folds.each.empty()) folds.scope = scope_for(compute);
        const schedule::Serial& serial = plan_.serial.at(leaf);
        scales_.erase(compute.statement.targets.front());
        for (const VariableId variable : compute.reads) add_element(folds.scope, variable);
        for (const VariableId variable : serial.reads) add_element(folds.scope, variable);
        for (const Expression* expression : expressions_of(compute.statement))
            note_parameters(*expression, folds.scope);
        note_parameters(serial.value, folds.scope);
        folds.each.push_back({&compute, &std::get<Fold>(compute.statement.body), &serial,
                              folds.each.empty() ? "acc" : names_.fresh("acc"),
                              plan_.lane_folds.contains(leaf)});
    }
    const schedule::Tile& tile = plan_.tiles.at(folds.each.front().compute->targets.front());
    folds.fragment = tile.home == Home::Fragment;
    folds.domain.row = tile.home != Home::Thread;
    if (folds.fragment) folds.domain.column = tile.column;
    folds.column = folds.fragment ? tile.column : folds.serial().over;
    return folds;
}

/// What every index of the axes adds, and whether it is read in vectors.
std::pair<Body, bool> TensorLowering::serial_step(SerialFolds& folds) {
    const schedule::Serial& serial = folds.serial();
    looped_ = std::set<AxisId>(serial.axes.begin(), serial.axes.end());
    Vectors vectors;
    if (folds.column && !plan_.has_products()) {
        vectors = vectors_of_row(*folds.column);
        Expression all = serial.value;
        std::set<VariableId> reads;
        for (const SerialFolds::One& one : folds.each) {
            all = apply(Function::Add, {std::move(all), one.serial->value});
            reads.insert(one.serial->reads.begin(), one.serial->reads.end());
        }
        for (const VariableId read : reads) read_in_vectors(vectors, read, all, folds.scope);
    }
    Body step;
    Body inside;
    for (const SerialFolds::One& one : folds.each) {
        const MonoidId monoid = one.fold->monoid;
        Code value = print_hoisted(one.serial->value, {folds.domain.row, folds.column}, folds.scope,
                                   step, inside);
        if (serial.over)
            value.value = choose(test_in_chunk(*serial.over), value.value, identity_of(monoid));
        const kernel::Expression acc = folds.acc(one);
        inside.push_back(assign(acc, combined(monoid, acc, value.value, value.finite)));
    }
    const bool in_vectors = !vectors.known.empty();
    if (in_vectors)
        inside = loop_in_vectors(std::move(vectors), std::move(inside));
    else if (folds.column)
        inside = column_loop(*folds.column, std::move(inside));
    append(step, std::move(inside));
    looped_.clear();
    folds.scope.named.clear();  // declared within the loops
    return {std::move(step), in_vectors};
}

void TensorLowering::lower_serial(const std::vector<LeafId>& leaves, Body& body) {
    SerialFolds folds = serial_folds(leaves);
    const schedule::Serial& serial = folds.serial();
    auto [step, in_vectors] = serial_step(folds);
    Body before;
    for (const SerialFolds::One& one : folds.each) {
        const kernel::Expression identity = identity_of(one.fold->monoid);
        if (!folds.fragment) {
            before.push_back(kernel::declare("float", one.acc, identity));
            continue;
        }
        const std::int64_t columns = columns_of(*folds.column).count;
        before.push_back(kernel::declare_array("float", one.acc, {columns}));
        before.push_back(kernel::unrolled_loop("j", columns, {assign(folds.acc(one), identity)}));
    }
    const std::optional<AxisId> shared = folds.fragment ? shared_axis(serial.axes) : std::nullopt;
    append(before, loops_along(serial.axes, std::move(step), in_vectors, shared));
    for (const SerialFolds::One& one : folds.each) {
        const kernel::Expression acc = variable(one.acc);
        if (shared && !one.by_lanes)
            before.push_back(combine_columns(one.fold->monoid, *folds.column, acc));
        if (serial.over) before.push_back(assign(acc, folded_across(one.fold->monoid, acc)));
    }

    // What is added to it.
    Body results;
    for (const SerialFolds::One& one : folds.each) {
        const kernel::Expression acc = folds.acc(one);
        const ArrayId target = one.compute->statement.targets.front();
        Body last;
        Code total = real_code(acc, !plan_.infinite.contains(target));
        if (!one.fold->seed.empty()) {
            const Code seed = print_hoisted(one.fold->seed.front(), folds.domain, folds.scope,
                                            before, folds.fragment ? last : before);
            total.value = combined(one.fold->monoid, seed.value, acc, total.finite && seed.finite);
        }
        if (!folds.fragment) {
            // What is not along the rows is the same in each of them.
            if (!folds.domain.row) before.insert(before.begin(), define("int", "i", 0));
            return finish_map(*one.compute, folds.domain, total, {}, std::move(before), body);
        }
        declare(one.compute->targets.front(), body);
        append(results, elements_of_map(*one.compute, folds.domain, total, std::move(last)));
    }
    append(before, std::move(results));
    append(body, row_loop(std::move(before)));
}

}  // namespace napkin::lowering
