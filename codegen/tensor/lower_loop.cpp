// Loops over chunks: functions of what is done to one chunk, and turns that call them, each for the
// chunk that its operations have come to.
//
// What works on the chunk whose turn it is stands in one function, with and without the tests of
// masks and edges; copies, and each operation that runs ahead, in functions of their own. A turn is
// the scheduled body in its order. Turns before the first chunk do what leads the loop.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/contains.h"
#include "schedule/trace.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::only_if;
using kernel::Run;
using kernel::variable;
using schedule::Commit;
using schedule::Item;
using schedule::OpId;
using schedule::Sync;

bool has_inner_loop(const Loop& loop) {
    return std::any_of(loop.body.begin(), loop.body.end(), [](const TileStatement& statement) {
        return std::holds_alternative<Loop>(statement.node);
    });
}

}  // namespace

kernel::Expression TensorLowering::ChunkLoop::after(const std::string& from) const {
    if (!listed_whole.empty()) return invoke(variable(next), {});
    return next.empty() ? variable(from) + loop.size : invoke(variable(next), {variable(from)});
}

/// An expression that reads the arrays in device memory of which loads made tiles.
Expression TensorLowering::of_device(const Expression& expression) const {
    return rewrite(expression, [&](Expression node) {
        const Read* element = std::get_if<Read>(&node.node);
        if (element == nullptr) return node;
        for (const auto& [variable, load] : loads_)
            if (region_.variables[variable.index()].array == element->array && load->gather.empty())
                return read(load->array, element->index);
        return node;
    });
}

/// Code that is true only if the condition holds everywhere in the axis' present part, a chunk.
kernel::Expression TensorLowering::holds_in_chunk(const Loop& loop, const Expression& condition,
                                                  Body& body) {
    const IntervalPrinter intervals(axes_, ranges_, sizes_);
    if (arrays_read(condition).empty()) return intervals.must_hold(condition, names_, body);
    const auto marked = marked_.find(number_of(loop));
    if (marked == marked_.end()) return false;
    kernel::Expression all = marked->second.is_full(expression_of(ranges_.at(loop.axis).start));
    for (const Expression& part : conjuncts_of(condition)) {
        if (contains(marked->second.conditions, of_device(part))) continue;
        if (!arrays_read(part).empty()) return false;
        all = std::move(all) && intervals.must_hold(part, names_, body);
    }
    return all;
}

/// Whether copies test the condition, and nobody else.
bool TensorLowering::is_guard(const Expression& condition) const {
    return std::any_of(plan_.tiles.begin(), plan_.tiles.end(),
                       [&](const auto& entry) { return entry.second.guard == condition; });
}

kernel::Expression TensorLowering::untested(const Loop& loop, Body& body) {
    const AxisRange& range = ranges_.at(loop.axis);
    std::vector<Expression> conditions;
    for (const TileStatement& statement : loop.body)
        if (const Compute* compute = std::get_if<Compute>(&statement.node))
            for (const Expression* expression : expressions_of(compute->statement))
                collect_conditions(*expression, true, conditions);
    const AxisId columns = schedule::tile_axis_of(plan_.tile_axes, loop.axis);
    // What goes along the columns stands in the innermost loop.
    if (columns != loop.axis && has_inner_loop(loop)) return false;
    const std::int64_t held = columns == loop.axis ? range.capacity : plan_.extents.at(columns);
    if (held != columns_of(columns).padded) return false;
    kernel::Expression whole = true;
    if (columns == loop.axis && !range.exact())
        whole = equal(expression_of(range.count), range.capacity);
    const IntervalPrinter intervals(axes_, ranges_, sizes_);
    known_.clear();
    for (const Expression& condition : conditions) {
        if (is_guard(condition)) continue;
        const kernel::Expression holds = holds_in_chunk(loop, condition, body);
        if (is(holds, true)) continue;
        const kernel::Expression tested = variable("kTested");
        if (!is(holds, false)) {
            whole = std::move(whole) && holds;
            known_.push_back({condition, !tested, false});
            continue;
        }
        // Chunks in which it holds nowhere are not visited.
        const std::vector<Expression> parts = conjuncts_of(condition);
        const bool is_visible =
            std::all_of(parts.begin(), parts.end(),
                        [&](const Expression& part) { return contains(loop.visible, part); });
        if (is_visible || !arrays_read(condition).empty()) continue;
        const kernel::Expression never =
            intervals.must_hold(apply(Function::Not, {condition}), names_, body);
        if (is(never, false) || is(never, true)) continue;
        whole = std::move(whole) && never;
        known_.push_back({condition, tested, true});
    }
    for (const schedule::TilePart& part : tile_parts(columns))
        if (const IndexForm& count = ranges_.at(part.axis).count; !count.is_constant(part.extent))
            whole = std::move(whole) && equal(expression_of(count), part.extent);
    return whole;
}

TensorLowering::ChunkLoop TensorLowering::loop_code(const schedule::ChunkLoop& loop) {
    ChunkLoop code{loop, *loops_.at(loop.source), ranges_[loop.axis]};
    code.axis = Names::identifier(region_.axes[loop.axis.index()].name);
    code.start = next_name(axis_names_[loop.axis.index()].start);
    code.end = expression_of(code.outer.start + code.outer.count);
    multiples_[code.start] = std::gcd(divisor_of(code.outer.start), loop.size);
    return code;
}

void TensorLowering::enter_chunk(const ChunkLoop& code, Body& body) {
    used_.erase(axis_names_[code.loop.axis.index()].count);
    ranges_[code.loop.axis] = code.outer;
    narrow(code.loop.axis, code.loop.size, index_along(code.loop.axis, code.start), body);
}

bool TensorLowering::is_copy(const Item& item) const {
    const OpId* op = std::get_if<OpId>(&item.node);
    return op != nullptr && schedule_[*op].completion == schedule::Completion::CopyGroup;
}

std::optional<TensorLowering::Own> TensorLowering::own_of(const schedule::ChunkLoop& loop) const {
    std::optional<Own> own;
    for (std::size_t i = 0; i < loop.body.size(); ++i) {
        const Item& item = loop.body[i];
        const OpId* op = std::get_if<OpId>(&item.node);
        const bool inner = std::holds_alternative<schedule::ChunkLoop>(item.node) ||
                           std::holds_alternative<schedule::Await>(item.node) ||
                           std::holds_alternative<schedule::Release>(item.node) ||
                           std::holds_alternative<schedule::TakeTurn>(item.node) ||
                           std::holds_alternative<schedule::PassTurn>(item.node) ||
                           std::holds_alternative<schedule::Finish>(item.node);
        if (!inner && (op == nullptr || is_copy(item) || schedule_[*op].lead > 0)) continue;
        if (!own) own = Own{i, i};
        own->last = i;
    }
    return own;
}

/// The variables that leads and rings take.
void TensorLowering::find_leads(ChunkLoop& code) {
    const schedule::Leads leads = schedule::leads_of(schedule_, code.loop.body);
    code.copy_lead = leads.copies;
    code.most_lead = leads.others;
    if (leads.copies > 0) code.starts[leads.copies] = names_.fresh(code.axis + "_ahead");
    for (const Item& item : code.loop.body) {
        const OpId* id = std::get_if<OpId>(&item.node);
        if (id == nullptr) continue;
        const schedule::Op& op = schedule_[*id];
        if (op.lead > 0 && !code.starts.contains(op.lead))
            code.starts[op.lead] = names_.fresh(code.axis + "_next");
        for (const schedule::BufferId written : op.writes) {
            const schedule::Buffer& buffer = schedule_[written];
            if (buffer.place != schedule::Buffer::Place::Shared || buffer.stages == 1) continue;
            if (!code.slots.contains(buffer.stages))
                code.slots[buffer.stages] = names_.fresh(code.slots.empty() ? "stage" : "slot");
        }
    }
}

/// A function of a chunk's start, and of its slots in rings.
kernel::Lambda TensorLowering::function(const ChunkLoop& code, Body body) const {
    kernel::Lambda lambda{{{"int", code.start}}, std::move(body)};
    for (const auto& [stages, slot] : code.slots) lambda.parameters.push_back({"int", slot});
    return lambda;
}

/// The slot of the chunk that is so many ahead of a turn's own.
kernel::Expression TensorLowering::slot_of(const ChunkLoop& code, std::int64_t stages,
                                           std::int64_t lead, const Turn& turn) const {
    if (turn.before) return (turn.number + lead) % stages;
    const kernel::Expression slot = variable(code.slots.at(stages));
    return lead % stages == 0 ? slot : (slot + lead % stages) % stages;
}

/// In a function of a chunk, rings are used in the slots that it is given.
void TensorLowering::use_slots(const ChunkLoop& code, std::int64_t lead) {
    for (const Item& item : code.loop.body) {
        const OpId* id = std::get_if<OpId>(&item.node);
        if (id == nullptr) continue;
        for (const schedule::BufferId written : schedule_[*id].writes)
            if (const auto slot = code.slots.find(schedule_[written].stages);
                slot != code.slots.end())
                slot_now_.insert_or_assign(written, slot_of(code, slot->first, lead, {}));
    }
}

kernel::Statement TensorLowering::call_of(const ChunkLoop& code, const std::string& function,
                                          std::int64_t lead, const Turn& turn,
                                          const std::vector<bool>& flags) const {
    std::vector<kernel::Expression> arguments = {
        variable(lead == 0 ? code.start : code.starts.at(lead))};
    for (const auto& [stages, slot] : code.slots)
        arguments.push_back(slot_of(code, stages, lead, turn));
    for (const bool flag : flags) arguments.push_back(call({"Flag", {flag}}));
    return {Run{invoke(variable(function), std::move(arguments))}};
}

/// What items do to a chunk, as the body of a function of it.
Body TensorLowering::inside_chunk(const ChunkLoop& code, const std::vector<Item>& items, bool led) {
    Body inside;
    enter_chunk(code, inside);
    use_slots(code, 0);
    const std::optional<AxisId> outer_chunked = chunked_;
    chunked_ = code.loop.axis;
    const std::set<VariableId> declared = declared_;
    schedule::Body together;
    for (const Item& item : items) {
        const OpId* op = std::get_if<OpId>(&item.node);
        if (op == nullptr || schedule_[*op].lead == 0 || led) {
            together.push_back(item);
            continue;
        }
        lower(std::exchange(together, {}), inside);
        append(inside, only_if(member(variable("more"), "value"), lead_call(code, *op, {})));
    }
    lower(together, inside);
    declared_ = declared;
    chunked_ = outer_chunked;
    return inside;
}

/// Copies, and what runs ahead, with all tests.
void TensorLowering::declare_functions(ChunkLoop& code, Body& body) {
    const std::vector<ExpressionScope::Known> outer_known = known_;
    const kernel::Expression outer_tested = tested_;
    known_.clear();
    tested_ = true;
    std::vector<Item> copies;
    for (const Item& item : code.loop.body)
        if (is_copy(item)) copies.push_back(item);
    if (!copies.empty()) {
        code.copies = names_.fresh("load_" + code.axis);
        body.push_back(
            kernel::define_function(code.copies, function(code, inside_chunk(code, copies, true))));
    }
    for (const Item& item : code.loop.body) {
        const OpId* op = std::get_if<OpId>(&item.node);
        if (op == nullptr || is_copy(item) || schedule_[*op].lead == 0) continue;
        const bool fetch = schedule_[*op].kind == schedule::Op::Kind::Fetch;
        code.ahead[*op] = names_.fresh((fetch ? "fetch_" : "publish_") + code.axis);
        Body inside;
        if (fetch) static_cast<void>(operands_of(schedule_[*op].leaf, body));
        inside = inside_chunk(code, {item}, true);
        kernel::Lambda made = function(code, std::move(inside));
        made.inlined = true;
        body.push_back(kernel::define_function(code.ahead[*op], std::move(made)));
    }
    known_ = outer_known;
    tested_ = outer_tested;
}

/// What a chunk does in its own turn, with and without the tests of masks and edges.
void TensorLowering::declare_chunk(ChunkLoop& code, Body& body) {
    const std::optional<Own> own = own_of(code.loop);
    if (!own) return;
    Body whole;
    enter_chunk(code, whole);
    const std::vector<ExpressionScope::Known> outer_known = known_;
    const kernel::Expression outer_tested = tested_;
    const kernel::Expression without_tests = untested(code.statement, whole);
    const bool two_versions = !is(without_tests, true) && !is(without_tests, false);
    if (two_versions && !code.listed_whole.empty()) {
        code.is_whole = code.listed_whole;
    } else if (two_versions) {
        code.is_whole = names_.fresh("whole_" + code.axis);
        whole.push_back({kernel::Return{without_tests}});
        body.push_back(
            kernel::define_function(code.is_whole, {{{"int", code.start}}, std::move(whole)}));
    } else {
        known_.clear();
    }
    tested_ = two_versions ? variable("kTested") : !without_tests;
    code.chunk = names_.fresh("chunk_" + code.axis);
    for (std::size_t i = own->first; i <= own->last; ++i) {
        const OpId* op = std::get_if<OpId>(&code.loop.body[i].node);
        code.leads_inside = code.leads_inside || (op != nullptr && schedule_[*op].lead > 0);
    }
    const auto begin = code.loop.body.begin();
    Body inside;
    if (two_versions)
        inside.push_back(define("bool", "kTested", member(variable("tested"), "value")));
    append(inside, inside_chunk(code,
                                {begin + static_cast<std::ptrdiff_t>(own->first),
                                 begin + static_cast<std::ptrdiff_t>(own->last) + 1},
                                false));
    known_ = outer_known;
    tested_ = outer_tested;
    kernel::Lambda lambda = function(code, std::move(inside));
    lambda.inlined = true;
    if (two_versions) lambda.parameters.push_back({"auto", "tested"});
    if (code.leads_inside) lambda.parameters.push_back({"auto", "more"});
    body.push_back(kernel::define_function(code.chunk, std::move(lambda)));
}

/// An operation that runs ahead, where there is a chunk for it: in every turn but the last.
Body TensorLowering::lead_call(const ChunkLoop& code, OpId op, const Turn& turn) const {
    const std::int64_t lead = schedule_[op].lead;
    if (turn.last) return {};
    Body made = {call_of(code, code.ahead.at(op), lead, turn)};
    if (!turn.before && lead == 1) return made;
    return only_if(variable(code.starts.at(lead)) < code.end, std::move(made));
}

/// What a chunk does in its own turn.
Body TensorLowering::chunk_call(const ChunkLoop& code, const Turn& turn) const {
    const auto run = [&](std::optional<bool> tested) -> Body {
        std::vector<bool> flags;
        if (tested) flags.push_back(*tested);
        if (code.leads_inside) flags.push_back(!turn.last);
        return {call_of(code, code.chunk, 0, turn, flags)};
    };
    if (code.is_whole.empty()) return run(std::nullopt);
    const kernel::Expression whole = variable(code.is_whole);
    return {{kernel::If{code.listed_whole.empty() ? invoke(whole, {variable(code.start)}) : whole,
                        run(false), run(true)}}};
}

Body TensorLowering::turn_of(const ChunkLoop& code, const Turn& turn) {
    Body steps;
    const std::optional<Own> own = own_of(code.loop);
    const std::vector<Item>& items = code.loop.body;
    bool copied = false;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const OpId* op = std::get_if<OpId>(&items[i].node);
        if (own && i >= own->first && i <= own->last && !turn.before) {
            if (i > own->first) continue;
            append(steps, chunk_call(code, turn));
        } else if (is_copy(items[i])) {
            // There is no chunk after the last to copy.
            if (copied || (turn.last && code.copy_lead > 0)) continue;
            copied = true;
            const kernel::Statement filled = call_of(code, code.copies, code.copy_lead, turn);
            if (code.copy_lead == 0)
                steps.push_back(filled);
            else
                append(steps,
                       only_if(variable(code.starts.at(code.copy_lead)) < code.end, {filled}));
        } else if (op != nullptr) {
            if (schedule_[*op].lead + (turn.before ? turn.number : 0) >= 0 &&
                schedule_[*op].lead > 0)
                append(steps, lead_call(code, *op, turn));
        } else if (std::holds_alternative<Commit>(items[i].node)) {
            steps.push_back({Run{call("commit_copies")}});
        } else if (const Sync* sync = std::get_if<Sync>(&items[i].node)) {
            lower(*sync, steps);
        }
    }
    if (turn.last) return steps;
    for (const auto& [lead, start] : code.starts)
        if (!turn.before || lead + turn.number >= 0)
            steps.push_back(code.next.empty() ? add_to(variable(start), code.loop.size)
                                              : assign(variable(start), code.after(start)));
    return steps;
}

/// What is done before the first chunk's turn.
void TensorLowering::declare_ahead(const ChunkLoop& code, Body& body) {
    const std::int64_t alone = code.copy_lead - code.most_lead;
    if (alone > 0) {
        // Turns of copies alone.
        const std::string count =
            code.slots.empty() ? names_.fresh("turn") : code.slots.rbegin()->second;
        kernel::For prime;
        prime.name = count;
        prime.end = alone;
        std::vector<kernel::Expression> arguments = {variable(code.starts.at(code.copy_lead))};
        for (const auto& [stages, slot] : code.slots)
            arguments.push_back(stages >= alone ? variable(count) : variable(count) % stages);
        prime.body = only_if(variable(code.starts.at(code.copy_lead)) < code.end,
                             {{Run{invoke(variable(code.copies), std::move(arguments))}}});
        prime.body.push_back({Run{call("commit_copies")}});
        const std::string& start = code.starts.at(code.copy_lead);
        prime.body.push_back(code.next.empty() ? add_to(variable(start), code.loop.size)
                                               : assign(variable(start), code.after(start)));
        body.push_back({std::move(prime)});
    }
    for (std::int64_t number = -code.most_lead; number < 0; ++number)
        append(body, turn_of(code, {number, true}));
}

/// The turns of all chunks. Where something runs ahead by one, the last chunk's stands apart, so
/// that in the others nothing has to ask whether there is a next one, and what runs ahead is mixed
/// with what it runs under.
Body TensorLowering::turns_of(const ChunkLoop& code) {
    const auto next_slots = [&](Body& turn) {
        if (const auto count = counts_.find(code.loop.source); count != counts_.end())
            turn.push_back(kernel::add_to(variable(count->second), 1));
        for (const auto& [stages, slot] : code.slots)
            turn.push_back(assign(variable(slot), (variable(slot) + 1) % stages));
    };
    const kernel::Expression start = variable(code.start);
    Body turn = turn_of(code, {});
    next_slots(turn);
    if (code.most_lead != 1) {
        kernel::For turns;
        turns.name = code.start;
        turns.begin = code.first;
        turns.end = code.end;
        turns.step = code.loop.size;
        if (!code.next.empty()) turns.next = code.after(code.start);
        turns.body = std::move(turn);
        return {{std::move(turns)}};
    }
    turn.push_back(code.next.empty() ? add_to(start, code.loop.size)
                                     : assign(start, code.after(code.start)));
    const kernel::Expression more = variable(code.starts.at(1)) < code.end;
    Body all = {kernel::declare("int", code.start, code.first)};
    append(all, only_if(more, {{kernel::Repeat{std::move(turn), more}}}));
    append(all, only_if(start < code.end, turn_of(code, {0, false, true})));
    return all;
}

void TensorLowering::lower_loop(const schedule::ChunkLoop& loop, Body& body) {
    const std::map<schedule::BufferId, kernel::Expression> outer_slots = slot_now_;
    ChunkLoop code = loop_code(loop);
    body.push_back({kernel::Comment{fmt::format("chunks of {}", code.axis), true}});
    find_visible(code, body);
    find_leads(code);
    if (!code.next.empty() && !code.starts.empty()) {
        const std::string from = names_.fresh("first_" + code.axis);
        body.push_back(define("int", from, code.first));
        code.first = variable(from);
    }
    for (const auto& [lead, start] : code.starts)
        body.push_back(kernel::declare("int", start, code.first,
                                       lead == code.copy_lead ? "the next chunk to load" : ""));
    declare_moved(loop, body);
    declare_functions(code, body);
    declare_chunk(code, body);
    declare_ahead(code, body);
    for (const auto& [stages, slot] : code.slots) body.push_back(kernel::declare("int", slot, 0));
    append(body, turns_of(code));
    ranges_[loop.axis] = code.outer;
    slot_now_ = outer_slots;
}

}  // namespace napkin::lowering
