// Which chunks of a loop are visited: those of a progression that is known in closed form, those
// that a function finds, or those that the block's warps mark, where data decides.
#include <algorithm>
#include <set>
#include <tuple>

#include "codegen/fold_constants.h"
#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/checked.h"
#include "diagrams/rounding.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::only_if;
using kernel::Run;
using kernel::variable;

/// Of a variable that holds the ends of some integers.
IntervalCode ends_in(const std::string& name) {
    const auto end = [&](const char* which) {
        return index_atom(member(variable(name), which), range_of(ElementType::I32));
    };
    return {end("least"), end("greatest")};
}

/// Of a parameter, which is one number.
IntervalCode only_value(const std::string& parameter) {
    const IndexForm value = index_atom(parameter, kAny64, true);
    return {value, value};
}

}  // namespace

/// Which chunks are visited, where masks may skip some: those of a progression, or those that a
/// function finds.
void TensorLowering::find_visible(ChunkLoop& code, Body& body) {
    code.first = expression_of(code.outer.start);
    if (!apart_ && lists_.contains(code.loop.source)) return take_listed(code, body);
    if (const auto made = marked_.find(code.loop.source);
        program_.other_threads > 0 && made != marked_.end()) {
        code.first = made->second.first;
        code.end = made->second.end;
        code.next = made->second.next;
        return;
    }
    find_by_index(code, body);
    if (!code.statement.data_masks.empty()) find_by_data(code, body);
}

void TensorLowering::find_by_index(ChunkLoop& code, Body& body) {
    if (code.statement.visible.empty()) return;
    if (!varies_along(code.statement)) {
        // All chunks or none.
        const kernel::Expression test =
            IntervalPrinter(axes_, ranges_, sizes_).may_hold(code.statement.visible, names_, body);
        if (is(test, true)) return;
        const std::string end = names_.fresh("end_" + code.axis);
        body.push_back(define("int", end, choose(test, code.end, code.first)));
        code.end = variable(end);
        return;
    }
    const std::optional<std::vector<ChunkProgression>> chunks =
        IntervalPrinter(axes_, ranges_, sizes_)
            .chunks(code.statement.visible, code.loop.axis, code.loop.size, names_, body);
    if (!chunks) return search_visible(code, body);
    if (chunks->size() == 1 && !chunks->front().origin)
        std::tie(code.first, code.end) = declare_ends(code, chunks->front(), body);
    else
        find_nearest(code, *chunks, body);
}

/// Declares where a progression begins and ends.
std::pair<kernel::Expression, kernel::Expression> TensorLowering::declare_ends(
    const ChunkLoop& code, const ChunkProgression& chunks, Body& body) {
    const auto declared = [&](const char* name, kernel::Expression value) {
        if (parts_of(value) == nullptr) return value;
        const std::string fresh = names_.fresh(name + code.axis);
        body.push_back(define("int", fresh, std::move(value)));
        return variable(fresh);
    };
    kernel::Expression first = declared("first_", expression_of(chunks.first));
    kernel::Expression end =
        declared("end_", folded(choose(chunks.when, expression_of(chunks.end), first)));
    return {std::move(first), std::move(end)};
}

/// Declares what gives the next chunk of all progressions.
void TensorLowering::find_nearest(ChunkLoop& code, const std::vector<ChunkProgression>& all,
                                  Body& body) {
    const std::string after = names_.fresh("after_" + code.axis);
    const std::string nearest_name = names_.fresh("nearest_" + code.axis);
    const kernel::Expression nearest = variable(nearest_name);
    Body search = {define("int", after, variable(code.start) + code.loop.size),
                   kernel::declare("int", nearest_name, code.end)};
    for (const ChunkProgression& each : all) {
        const auto [first, end] = declare_ends(code, each, body);
        IndexForm place = index_along(code.loop.axis, after);
        if (first != kernel::Expression(0))
            place = index_atom(call("maximum", {variable(after), first}), range_of(place));
        if (each.origin) place = place + modulo(*each.origin - place, each.step);
        const std::string at = names_.fresh("at");
        search.push_back(define("int", at, expression_of(place)));
        append(search, only_if(variable(at) < end,
                               {assign(nearest, call("minimum", {nearest, variable(at)}))}));
    }
    search.push_back({kernel::Return{nearest}});
    code.next = names_.fresh("next_" + code.axis);
    body.push_back(kernel::define_function(
        code.next, kernel::Lambda{{{"int", code.start}}, std::move(search)}));
    code.first = invoke(variable(code.next), {expression_of(code.outer.start - code.loop.size)});
}

/// Where no closed form says which chunks are visited, the lanes of every warp try them.
void TensorLowering::search_visible(ChunkLoop& code, Body& body) {
    Body visible;
    enter_chunk(code, visible);
    kernel::Expression test =
        IntervalPrinter(axes_, ranges_, sizes_).may_hold(code.statement.visible, names_, visible);
    ranges_[code.loop.axis] = code.outer;
    if (is(test, true)) return;
    code.next = names_.fresh("next_" + code.axis);
    const std::string seen = names_.fresh("visible_" + code.axis);
    visible.push_back({kernel::Return{std::move(test)}});
    body.push_back(
        kernel::define_function(seen, kernel::Lambda{{{"int", code.start}}, std::move(visible)}));
    Body search = {{kernel::Return{call({"next_visible", {code.loop.size}},
                                        {variable(code.start), code.end, variable(seen)})}}};
    body.push_back(kernel::define_function(
        code.next, kernel::Lambda{{{"int", code.start}}, std::move(search)}));
    searches_ = true;
    code.first = invoke(variable(code.next), {expression_of(code.outer.start - code.loop.size)});
}

/// The agent that copies has looked for the next chunk, and found out whether there is anything to
/// test in it.
void TensorLowering::take_listed(ChunkLoop& code, Body& body) {
    const auto& [list, count] = lists_.at(code.loop.source);
    code.next = names_.fresh("next_" + code.axis);
    code.listed_whole = names_.fresh(code.axis + "_whole");
    body.push_back(kernel::declare("bool", code.listed_whole, false));
    const std::string taken = names_.fresh("taken");
    Body take = {define("int", taken,
                        invoke(member(variable(list), "take"),
                               {variable(count), variable(code.listed_whole)})),
                 kernel::add_to(variable(count), 1),
                 {kernel::Return{variable(taken)}}};
    body.push_back(kernel::define_function(code.next, kernel::Lambda{{}, std::move(take)}));
    code.first = invoke(variable(code.next), {});
}

/// Lists a chunk for the warps that compute.
kernel::Statement TensorLowering::put_listed(const schedule::ChunkLoop& loop,
                                             kernel::Expression chunk, kernel::Expression whole) {
    const auto& [list, count] = lists_.at(loop.source);
    return {Run{invoke(member(variable(list), "put"),
                       {variable(count), std::move(chunk), std::move(whole)})}};
}

/// How far apart the values of an index may be in the part that the block works on; nullopt where
/// that is not known.
std::optional<std::int64_t> TensorLowering::spread_of(const Expression& index) const {
    if (const AxisIndex* axis = std::get_if<AxisIndex>(&index.node))
        return ranges_.at(axis->axis).capacity - 1;
    const Apply* call = std::get_if<Apply>(&index.node);
    if (call == nullptr)
        return axes_used(index).empty() ? std::optional<std::int64_t>(0) : std::nullopt;
    const std::optional<std::int64_t> first = spread_of(call->arguments[0]);
    if (!first || call->arguments.size() == 1)
        return call->function == Function::Negate ? first : std::nullopt;
    if (call->function == Function::Add || call->function == Function::Subtract) {
        const std::optional<std::int64_t> second = spread_of(call->arguments[1]);
        return second ? std::optional(*first + *second) : std::nullopt;
    }
    const Number* number = std::get_if<Number>(&call->arguments[1].node);
    if (number == nullptr || !number->is_integer || number->value < 1) return std::nullopt;
    const auto by = static_cast<std::int64_t>(number->value);
    switch (call->function) {
    case Function::Multiply: return *first * by;
    case Function::FloorDivide: return ceil_quotient(*first, by);
    case Function::Modulo: return *first == 0 ? 0 : by - 1;
    default: return std::nullopt;
    }
}

/// Declares the least and the greatest of the elements that a read means in the part that the block
/// works on, where these are along one axis or few; the warp finds them together.
std::optional<std::string> TensorLowering::declare_ends_of(const Read& read, Body& body) {
    constexpr std::int64_t kMostElements = 64;  // two for a lane
    const IntervalPrinter intervals(axes_, ranges_, sizes_);
    std::vector<IntervalCode> ends;
    std::vector<std::int64_t> counts;  // the most that they can be
    std::int64_t most = 1;
    bool is_axis = true;  // one, and all else is fixed
    for (const Expression& index : read.index) {
        // At other sizes than these it may be out of the array where another condition hides it.
        const std::set<AxisId> used = axes_used(index);
        if (!std::holds_alternative<AxisIndex>(index.node) &&
            std::any_of(used.begin(), used.end(),
                        [&](AxisId axis) { return run_time_[axis.index()]; }))
            return std::nullopt;
        const std::optional<IntervalCode> own = intervals.bounds(index);
        const std::optional<std::int64_t> spread = spread_of(index);
        if (!own || !spread) return std::nullopt;
        ends.push_back(*own);
        counts.push_back(*spread + 1);
        is_axis = is_axis &&
                  (*spread == 0 || (most == 1 && std::holds_alternative<AxisIndex>(index.node)));
        most = saturating_multiply(most, counts.back());
    }
    if (!is_axis && most > kMostElements) return std::nullopt;
    const std::string at = names_.fresh("i");
    IndexForm rest = counted(at, most - 1);
    IndexForm count = 1;
    std::vector<IndexForm> place(ends.size());
    std::int64_t before = most;  // elements of the dimensions that are slower
    for (std::size_t d = ends.size(); d-- > 0;) {
        place[d] = ends[d].low;
        if (counts[d] == 1) continue;
        const IndexForm own = ends[d].high - ends[d].low + 1;
        before /= counts[d];
        place[d] = place[d] + (before == 1 ? rest : modulo(rest, own));
        if (before > 1) rest = floor_divide(rest, own);
        count = count * own;
    }
    const Array& array = region_.arrays[read.array.index()];
    const std::string name = names_.fresh(Names::identifier(array.name) + "_ends");
    const std::string element = names_.fresh(Names::identifier(array.name) + "_at");
    body.push_back(kernel::define_function(
        element, {{{"int", at}}, {{kernel::Return{device_element(read.array, place).value}}}}));
    body.push_back(
        define("Ends", name, call("ends_of", {expression_of(count), variable(element)})));
    return name;
}

/// Warps mark the chunks in which data may let something through, which a function then finds;
/// those past the marks are visited.
void TensorLowering::find_by_data(ChunkLoop& code, Body& body) {
    std::vector<Expression> conditions = code.statement.data_masks;
    const bool by_function = !code.next.empty();
    if (by_function) {
        conditions.insert(conditions.end(), code.statement.visible.begin(),
                          code.statement.visible.end());
        code.first = expression_of(code.outer.start);
        code.next.clear();
    }
    std::vector<std::pair<Read, IntervalCode>> known;
    const auto declare = [&](bool along_chunks, Body& where) {
        for (const Expression& condition : conditions)
            walk(condition, [&](const Expression& part) {
                const Read* element = std::get_if<Read>(&part.node);
                if (element == nullptr || axes_used(part).contains(code.loop.axis) != along_chunks)
                    return;
                for (const auto& [read, ends] : known)
                    if (read == *element) return;
                if (region_.arrays[element->array.index()].role == ArrayRole::Parameter)
                    known.emplace_back(*element, only_value(parameter(element->array)));
                else if (const auto ends = declare_ends_of(*element, where))
                    known.emplace_back(*element, ends_in(*ends));
            });
    };
    declare(false, body);
    Body test;
    enter_chunk(code, test);
    const std::size_t before = known.size();
    const char* how = "mark_by_lanes";
    if (apart_ && schedule_.kept_ends.contains(code.loop.source)) {
        const auto kept = take_kept_ends(code, test);
        known.insert(known.end(), kept.begin(), kept.end());
    } else {
        declare(true, test);
        if (known.size() > before) how = "mark_chunks";
    }
    const auto ends_of = [&](const Read& element) -> std::optional<IntervalCode> {
        for (const auto& [read, ends] : known)
            if (read == element) return ends;
        return std::nullopt;
    };
    const IntervalPrinter intervals(axes_, ranges_, sizes_, ends_of);
    kernel::Expression seen = intervals.may_hold(conditions, names_, test);
    Marked& marked = marked_[code.loop.source];
    kernel::Expression full = true;
    for (const Expression& condition : code.statement.data_masks) {
        const kernel::Expression holds = intervals.must_hold(condition, names_, test);
        if (is(holds, false)) continue;
        full = std::move(full) && holds;
        marked.conditions.push_back(condition);
    }
    ranges_[code.loop.axis] = code.outer;
    if (marked.conditions.empty()) full = false;
    const auto named = [&](const char* name, kernel::Expression condition) {
        if (is(condition, true) || is(condition, false)) return condition;
        const std::string fresh = names_.fresh(name);
        test.push_back(define("bool", fresh, std::move(condition)));
        return variable(fresh);
    };
    const kernel::Expression visible = named("seen", seen);
    const kernel::Expression kind = folded(choose(
        named("full", full), kernel::scoped("Mark", "Full"), kernel::scoped("Mark", "Partial")));
    test.push_back(
        {kernel::Return{folded(choose(visible, kind, kernel::scoped("Mark", "Empty")))}});
    declare_marks(code, marked, how, std::move(test), body);
}

/// Finds the ends of what data masks read of every chunk that a tile of the block may meet, while
/// all of the block is together.
void TensorLowering::find_kept_ends(Body& body) {
    for (const schedule::Item& item : schedule_.body) {
        const schedule::ChunkLoop* loop = std::get_if<schedule::ChunkLoop>(&item.node);
        const auto kept =
            loop == nullptr ? schedule_.kept_ends.end() : schedule_.kept_ends.find(loop->source);
        if (kept == schedule_.kept_ends.end() || !kept->second.buffer) continue;
        const ChunkLoop code = loop_code(*loop);
        for (const schedule::KeptEnds::OfRead& of : kept->second.ends.reads) {
            const AxisRanges outer = ranges_;
            const auto used = used_;
            const std::string at = names_.fresh("i");
            const kernel::Expression number = variable(at);
            Body find = {define("int", code.start, number % of.chunks * code.loop.size)};
            std::int64_t faster = of.chunks;
            for (auto group = of.groups.rbegin(); group != of.groups.rend(); ++group) {
                const std::string start = next_name(axis_names_[group->axis.index()].start);
                find.push_back(define("int", start, number / faster % group->count * group->size));
                narrow(group->axis, group->size, index_along(group->axis, start), find);
                faster *= group->count;
            }
            enter_chunk(code, find);
            const std::optional<std::string> name = declare_ends_of(of.read, find);
            ranges_ = outer;
            used_ = used;
            if (!name) continue;
            kept_[loop->source].push_back(of);
            find.push_back({kernel::Return{variable(*name)}});
            body.push_back(
                {Run{call({"find_ends", {(program_.threads + program_.other_threads) / 32}},
                          {variable(buffer_names_.at(*kept->second.buffer)), of.first, of.entries(),
                           kernel::Expression(kernel::Lambda{{{"int", at}}, std::move(find)})})}});
        }
    }
}

/// What was found so of the chunk that `test` is about.
std::vector<std::pair<Read, IntervalCode>> TensorLowering::take_kept_ends(const ChunkLoop& code,
                                                                          Body& test) {
    std::vector<std::pair<Read, IntervalCode>> known;
    for (const schedule::KeptEnds::OfRead& of : kept_[code.loop.source]) {
        IndexForm place = 0;
        for (const schedule::BlockGroups& group : of.groups)
            place = place * group.count + floor_divide(ranges_.at(group.axis).start, group.size);
        place = place * of.chunks + of.first +
                floor_divide(index_along(code.loop.axis, code.start), code.loop.size);
        const std::string name =
            names_.fresh(Names::identifier(region_.arrays[of.read.array.index()].name) + "_ends");
        const schedule::BufferId buffer = *schedule_.kept_ends.at(code.loop.source).buffer;
        test.push_back(
            define("Ends", name,
                   call("found_ends", {variable(buffer_names_.at(buffer)), expression_of(place)})));
        known.emplace_back(of.read, ends_in(name));
    }
    return known;
}

/// Declares what finds marked chunks; whoever makes the marks waits for them.
void TensorLowering::declare_marks(ChunkLoop& code, Marked& marked, const char* how, Body mark_of,
                                   Body& body) {
    const schedule::BufferId buffer = schedule_.marks.at(code.loop.source);
    const kernel::Expression marks = variable(buffer_names_.at(buffer));
    const std::int64_t most = schedule_[buffer].bytes;
    // Of one tile after another the agent that copies makes them alone.
    invariant(apart_ || !schedule_.persistent, "marks of several tiles that no copies ask for");
    const kernel::Expression first_warp = apart_ ? program_.threads / 32 : 0;
    const std::int64_t warps =
        apart_ ? program_.other_threads / 32 : (program_.threads + program_.other_threads) / 32;
    const auto wait = [&] {
        body.push_back(apart_ ? kernel::Statement{Run{
                                    call("parted_barrier", {kCopyBarrier, program_.other_threads})}}
                              : kernel::Statement{kernel::Barrier{}});
    };
    if (chunked_ || apart_) wait();
    if (apart_ && !drawn_.empty()) {
        // Nobody reads the one before any more, and all read this one when they have met again.
        const kernel::Expression next = variable(buffer_names_.at(*schedule_.next_tile));
        append(body, only_if(equal(kernel::thread_index(), variable("kThreads")),
                             {assign(kernel::subscript(next, 0), variable(drawn_))}));
        drawn_.clear();
    }
    body.push_back({Run{
        call({how, {most, warps}},
             {marks, code.first, code.end, code.loop.size, first_warp,
              kernel::Expression(kernel::Lambda{{{"int", code.start}}, std::move(mark_of)})})}});
    // Agents part at a barrier of their own.
    if (apart_ || program_.other_threads == 0) wait();
    const kernel::Expression start = variable(code.start);
    const kernel::Expression first = code.first;
    const std::int64_t size = code.loop.size;
    const auto next_from = [&](kernel::Expression from) {
        return call({"next_marked", {most}}, {marks, first, code.end, size, std::move(from)});
    };
    marked.is_full = [=](kernel::Expression from) {
        return call({"is_marked_full", {most}}, {marks, first, size, std::move(from)});
    };
    code.next = names_.fresh("next_" + code.axis);
    body.push_back(kernel::define_function(
        code.next,
        kernel::Lambda{{{"int", code.start}}, {{kernel::Return{next_from(start + size)}}}}));
    code.first = next_from(first);
    marked.first = code.first;
    marked.end = code.end;
    marked.next = code.next;
}

/// Marks the chunks of the block's loops, while all of its threads are together.
void TensorLowering::mark_before_agents(Body& body) {
    for (const schedule::Item& item : schedule_.body) {
        const schedule::ChunkLoop* loop = std::get_if<schedule::ChunkLoop>(&item.node);
        if (loop == nullptr || !schedule_.marks.contains(loop->source)) continue;
        ChunkLoop code = loop_code(*loop);
        find_visible(code, body);
    }
}

}  // namespace napkin::lowering
