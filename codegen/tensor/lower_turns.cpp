// Loops in which warp groups run some operations a chunk ahead of the others, so that element work
// goes on under products.
//
// A turn stands in one function, in the scheduled order: what leads works on the next chunk, the
// rest on the chunk whose turn it is. The turn before the first chunk does only what leads, the
// last one only the rest, so that nothing inside asks whether there is a next chunk. What goes from
// one turn to the next is in registers that stand before the loop.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/kernel_walk.h"
#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::only_if;
using kernel::Run;
using kernel::variable;
using schedule::Item;
using schedule::OpId;
using schedule::Sync;

const char* const kTested = "kTested";

std::int64_t lead_of(const schedule::Program& program, const Item& item) {
    if (const OpId* op = std::get_if<OpId>(&item.node)) return program[*op].lead;
    if (const schedule::Await* await = std::get_if<schedule::Await>(&item.node)) return await->lead;
    if (const schedule::Release* release = std::get_if<schedule::Release>(&item.node))
        return release->lead;
    if (const schedule::Finish* finish = std::get_if<schedule::Finish>(&item.node))
        return finish->lead;
    return 0;
}

bool mentions(const Body& body, const std::string& name) {
    bool found = false;
    for (const kernel::Statement& statement : body)
        walk(statement, [&](const kernel::Expression& part) {
            const kernel::Variable* read = std::get_if<kernel::Variable>(&part.node);
            found = found || (read != nullptr && read->name == name);
        });
    return found;
}

}  // namespace

/// The names of a loop and of its turns.
struct TensorLowering::Turns {
    ChunkLoop code;
    std::string next{};   ///< the variable: where the next chunk starts
    std::string turn{};   ///< the function
    std::string whole{};  ///< tells chunks without tests, where there are both
    /// Where chunks are listed: whether the chunk whose turn it is has tests.
    std::string whole_now{};
    bool tests_now = false;
    bool tests_next = false;
};

bool TensorLowering::leads(const schedule::ChunkLoop& loop) const {
    return !schedule_.rings.empty() &&
           std::any_of(loop.body.begin(), loop.body.end(),
                       [&](const Item& item) { return lead_of(schedule_, item) > 0; });
}

/// Whether what an operation writes is read in its own turn alone: nothing of it goes from one turn
/// to the next.
bool TensorLowering::stays_in_turn(const schedule::ChunkLoop& loop,
                                   schedule::BufferId buffer) const {
    bool written = false;
    std::optional<std::int64_t> lead;
    for (const Item& item : loop.body) {
        const OpId* id = std::get_if<OpId>(&item.node);
        if (id == nullptr) continue;
        const schedule::Op& op = schedule_[*id];
        const auto in = [&](const std::vector<schedule::BufferId>& list) {
            return std::find(list.begin(), list.end(), buffer) != list.end();
        };
        if (!in(op.reads) && !in(op.writes)) continue;
        if (lead && *lead != op.lead) return false;
        lead = op.lead;
        written = written || !in(op.reads);
        if (!written) return false;
    }
    return true;
}

/// Which factors arrays are kept without depends on the order in which their elements are computed:
/// of one chunk, what leads comes first.
void TensorLowering::find_scales(const schedule::ChunkLoop& loop) {
    const Names names = names_;
    const std::set<VariableId> declared = declared_;
    const std::set<std::string> used = used_;
    Body unread;
    for (const bool leading : {true, false})
        for (const Item& item : loop.body)
            if ((lead_of(schedule_, item) > 0) == leading) lower(schedule::Body{item}, unread);
    names_ = names;
    declared_ = declared;
    used_ = used;
}

/// Registers that a loop's operations write: those of one turn, or what goes from one to the next.
void TensorLowering::declare_registers(const schedule::ChunkLoop& loop, bool of_turn, Body& body) {
    for (const Item& item : loop.body) {
        const OpId* id = std::get_if<OpId>(&item.node);
        if (id == nullptr) continue;
        const schedule::Op& op = schedule_[*id];
        if (op.kind == schedule::Op::Kind::Publish || op.kind == schedule::Op::Kind::Part) continue;
        if (op.writes.empty() || stays_in_turn(loop, op.writes.front()) != of_turn) continue;
        if (op.kind == schedule::Op::Kind::Pack)
            declare_left(op, body);
        else if (op.kind == schedule::Op::Kind::Multiply && accumulates(op.leaf))
            declare_apart(op.leaf, body);
        else if (const std::optional<LeafId> paired = paired_product(op))
            declare_pairs(*paired, body);
        else if (op.side == schedule::Op::Side::Left && op.kind == schedule::Op::Kind::Elements)
            static_cast<void>(declare_left_values(op, body));
        else if (const Compute* compute = std::get_if<Compute>(&leaves_[op.leaf.index()]->node))
            declare(compute->targets.front(), body);
        declare_rounded(op.leaf, body);
    }
}

/// What a loop's operations bring to shared memory is of the chunk whose range the axis has now.
void TensorLowering::note_chunk(const schedule::ChunkLoop& loop) {
    for (const Item& item : loop.body) {
        if (const schedule::Await* await = std::get_if<schedule::Await>(&item.node))
            note_awaited(*await);
        const OpId* id = std::get_if<OpId>(&item.node);
        if (id == nullptr) continue;
        const schedule::Op& op = schedule_[*id];
        const auto& leaf = leaves_[op.leaf.index()]->node;
        if (const Load* load = std::get_if<Load>(&leaf); load != nullptr && !op.writes.empty())
            note_shared(*load);
        if (op.kind == schedule::Op::Kind::Publish && op.side == schedule::Op::Side::None)
            if (const Compute* compute = std::get_if<Compute>(&leaf)) note_published(*compute);
    }
}

void TensorLowering::declare_turn(Turns& turns, Body& body) {
    ChunkLoop& code = turns.code;
    Body whole;
    enter_chunk(code, whole);
    const std::vector<ExpressionScope::Known> outer_known = known_;
    const kernel::Expression outer_tested = tested_;
    const kernel::Expression without_tests = untested(code.statement, whole);
    const bool two_versions = !is(without_tests, true) && !is(without_tests, false);
    if (two_versions && !code.listed_whole.empty()) {
        turns.whole = code.listed_whole;
    } else if (two_versions) {
        turns.whole = names_.fresh("whole_" + code.axis);
        whole.push_back({kernel::Return{without_tests}});
        body.push_back(
            kernel::define_function(turns.whole, {{{"int", code.start}}, std::move(whole)}));
    } else {
        known_.clear();
    }
    tested_ = two_versions ? variable(kTested) : !without_tests;
    const std::optional<AxisId> outer_chunked = chunked_;
    chunked_ = code.loop.axis;

    Body inside;
    declare_registers(code.loop, true, inside);
    if (two_versions)
        inside.push_back(define("bool", kTested, member(variable("tested"), "value")));
    enter_chunk(code, inside);
    const AxisRange now = ranges_.at(code.loop.axis);
    multiples_[turns.next] = multiples_[code.start];
    ranges_[code.loop.axis] = code.outer;
    narrow(code.loop.axis, code.loop.size, index_along(code.loop.axis, turns.next), inside);
    const AxisRange next = ranges_.at(code.loop.axis);
    find_scales(code.loop);
    const std::vector<Item>& items = code.loop.body;
    const auto is_sync = [](const Item& item) {
        return std::holds_alternative<Sync>(item.node) ||
               std::holds_alternative<schedule::TakeTurn>(item.node) ||
               std::holds_alternative<schedule::PassTurn>(item.node);
    };
    for (std::size_t i = 0; i < items.size();) {
        // All warps meet, or wait for each other, in every turn.
        if (is_sync(items[i])) {
            lower(schedule::Body{items[i++]}, inside);
            continue;
        }
        const bool leading = lead_of(schedule_, items[i]) > 0;
        ranges_[code.loop.axis] = leading ? next : now;
        leading_ = leading;
        note_chunk(code.loop);
        Body part;
        for (; i < items.size() && !is_sync(items[i]) &&
               (lead_of(schedule_, items[i]) > 0) == leading;
             ++i)
            lower(schedule::Body{items[i]}, part);
        bool& tests = leading ? turns.tests_next : turns.tests_now;
        tests = tests || mentions(part, kTested);
        append(inside,
               only_if(member(variable(leading ? "ahead" : "now"), "value"), std::move(part)));
    }
    leading_ = false;
    chunked_ = outer_chunked;
    known_ = outer_known;
    tested_ = outer_tested;
    turns.turn = names_.fresh("turn_" + code.axis);
    kernel::Lambda lambda{
        {{"int", code.start}, {"int", turns.next}, {"auto", "now"}, {"auto", "ahead"}},
        std::move(inside)};
    if (two_versions) lambda.parameters.push_back({"auto", "tested"});
    lambda.inlined = true;
    body.push_back(kernel::define_function(turns.turn, std::move(lambda)));
}

void TensorLowering::lower_turns(const schedule::ChunkLoop& loop, Body& body) {
    Turns turns{loop_code(loop)};
    ChunkLoop& code = turns.code;
    turns.next = names_.fresh(code.axis + "_next");
    body.push_back({kernel::Comment{fmt::format("chunks of {}", code.axis), true}});
    const bool publishes = std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
        const OpId* id = std::get_if<OpId>(&item.node);
        return id != nullptr && !schedule_[*id].writes.empty() &&
               is_published(schedule_[*id].writes.front());
    });
    if (publishes && !counts_.contains(loop.source)) {
        counts_[loop.source] = names_.fresh("chunk_of_" + code.axis);
        body.push_back(kernel::declare("int", counts_.at(loop.source), 0));
    }
    if (publishes) turn_count_ = counts_.at(loop.source);
    declare_registers(loop, false, body);
    declare_moved(loop, body);
    for (const Item& item : loop.body)
        if (const OpId* id = std::get_if<OpId>(&item.node); id != nullptr && schedule_[*id].lag > 0)
            body.push_back({Run{call("begin_multiply", {target_of(schedule_[*id])})}});
    find_visible(code, body);
    declare_turn(turns, body);

    const kernel::Expression start = variable(code.start);
    const kernel::Expression next = variable(turns.next);
    const auto run = [&](bool now, bool ahead) -> Body {
        const auto call_with = [&](std::optional<bool> tested) -> Body {
            std::vector<kernel::Expression> arguments = {start, next, call({"Flag", {now}}),
                                                         call({"Flag", {ahead}})};
            if (tested) arguments.push_back(call({"Flag", {*tested}}));
            return {{Run{invoke(variable(turns.turn), std::move(arguments))}}};
        };
        if (turns.whole.empty()) return call_with(std::nullopt);
        const bool listed = !code.listed_whole.empty();
        const auto is_whole = [&](const std::string& name, const kernel::Expression& chunk) {
            return listed ? variable(name) : invoke(variable(name), {chunk});
        };
        kernel::Expression whole = true;
        if (now && turns.tests_now)
            whole = whole && is_whole(listed ? turns.whole_now : turns.whole, start);
        if (ahead && turns.tests_next) whole = whole && is_whole(turns.whole, next);
        if (is(whole, true)) return call_with(false);
        return {{kernel::If{whole, call_with(false), call_with(true)}}};
    };
    const auto count = counts_.find(loop.source);
    const auto counted = [&](int by) -> Body {
        if (count == counts_.end()) return {};
        return {add_to(variable(count->second), by)};
    };
    body.push_back(kernel::declare("int", turns.next, code.first));
    body.push_back(kernel::declare("int", code.start, next));
    const bool keeps_whole = !code.listed_whole.empty() && turns.tests_now;
    if (keeps_whole) {
        turns.whole_now = names_.fresh(turns.whole + "_now");
        body.push_back(kernel::declare("bool", turns.whole_now, variable(turns.whole)));
    }
    Body first = counted(-1);
    append(first, run(false, true));
    append(first, counted(1));
    first.push_back(assign(next, code.after(turns.next)));
    Body turn = run(true, true);
    append(turn, counted(1));
    turn.push_back(assign(start, next));
    if (keeps_whole) turn.push_back(assign(variable(turns.whole_now), variable(turns.whole)));
    turn.push_back(assign(next, code.after(turns.next)));
    append(first, only_if(next < code.end, {{kernel::Repeat{std::move(turn), next < code.end}}}));
    append(first, run(true, false));
    append(first, counted(1));
    append(body, only_if(start < code.end, std::move(first)));
    ranges_[loop.axis] = code.outer;
    turn_count_.clear();
}

}  // namespace napkin::lowering
