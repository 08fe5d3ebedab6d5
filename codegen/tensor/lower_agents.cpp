// Agents of their own: one warp group makes the copies of a block, the others compute. Each runs
// the scheduled program's items that are its own, one after the other, and what they wait for
// stands in the rings that the first fills for the others.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/tensor/tensor_lowering.h"
#include "schedule/arrange_groups.h"
#include "schedule/fit_copies.h"
#include "schedule/take_turns.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::only_if;
using kernel::Run;
using kernel::thread_index;
using kernel::variable;
using schedule::Item;
using schedule::OpId;
using schedule::RingId;

constexpr int kGroup = 128;  // threads of a warp group

/// The items of one agent; loops in which it has nothing to do are none.
schedule::Body items_of(const schedule::Program& program, const schedule::Body& body, bool apart) {
    schedule::Body own;
    for (const Item& item : body) {
        if (const schedule::ChunkLoop* loop = std::get_if<schedule::ChunkLoop>(&item.node)) {
            schedule::ChunkLoop made = *loop;
            made.body = items_of(program, loop->body, apart);
            if (!made.body.empty()) own.push_back({std::move(made)});
            continue;
        }
        const OpId* op = std::get_if<OpId>(&item.node);
        if (op != nullptr ? program.apart(*op) == apart : !apart) own.push_back(item);
    }
    return own;
}

bool contains(const std::vector<schedule::BufferId>& buffers, schedule::BufferId buffer) {
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

std::optional<RingId> ring_of(const schedule::Program& program, schedule::BufferId buffer) {
    for (std::uint32_t r = 0; r < program.rings.size(); ++r)
        if (contains(program.rings[r].buffers, buffer)) return RingId{r};
    return std::nullopt;
}

/// Calls visit(ring, loop) for the rings that each loop's copies fill.
template <class Visit>
void for_filled(const schedule::Program& program, const schedule::Body& body,
                const schedule::ChunkLoop* loop, const Visit& visit) {
    for (const Item& item : body) {
        if (const schedule::ChunkLoop* inner = std::get_if<schedule::ChunkLoop>(&item.node))
            for_filled(program, inner->body, inner, visit);
        const OpId* op = std::get_if<OpId>(&item.node);
        if (op != nullptr && program.apart(*op) && loop != nullptr)
            visit(*ring_of(program, program[*op].writes.front()), *loop);
    }
}

/// Where a box begins: inside its array, whose sizes 32 bits hold.
kernel::Expression coordinate(const IndexForm& index) {
    return is_wide(index) ? call("int", {expression_of(index)}) : expression_of(index);
}

/// Whether an operation stands in the body itself.
bool stands_in(const schedule::Body& body, OpId id) {
    return std::any_of(body.begin(), body.end(), [&](const Item& item) {
        const OpId* op = std::get_if<OpId>(&item.node);
        return op != nullptr && *op == id;
    });
}

/// Whether an operation stands in the body of that loop.
bool stands_in(const schedule::Body& body, std::uint32_t loop, OpId id) {
    return std::any_of(body.begin(), body.end(), [&](const Item& item) {
        const schedule::ChunkLoop* inner = std::get_if<schedule::ChunkLoop>(&item.node);
        return inner != nullptr && (inner->source == loop ? stands_in(inner->body, id)
                                                          : stands_in(inner->body, loop, id));
    });
}

}  // namespace

bool TensorLowering::is_ring(schedule::BufferId buffer) const {
    return std::any_of(schedule_.rings.begin(), schedule_.rings.end(),
                       [&](const schedule::Ring& ring) { return ring.barriers == buffer; });
}

bool TensorLowering::is_list(schedule::BufferId buffer) const {
    return std::any_of(schedule_.lists.begin(), schedule_.lists.end(),
                       [&](const auto& list) { return list.second == buffer; });
}

/// Whether the block computes what is there, chunk after chunk in places of their own.
bool TensorLowering::is_published(schedule::BufferId buffer) const {
    return schedule_[buffer].stages > 1 &&
           std::any_of(schedule_.ops.begin(), schedule_.ops.end(), [&](const schedule::Op& op) {
               return op.kind == schedule::Op::Kind::Publish && contains(op.writes, buffer);
           });
}

/// Whether bulk copies write what is there, or warp groups multiply it.
bool TensorLowering::in_panels(schedule::BufferId buffer) const {
    const std::optional<RingId> ring = ring_of(schedule_, buffer);
    if (ring && schedule_[*ring].bulk) return true;
    return !schedule_.rings.empty() &&
           std::any_of(schedule_.ops.begin(), schedule_.ops.end(), [&](const schedule::Op& op) {
               return op.kind == schedule::Op::Kind::Multiply && contains(op.reads, buffer);
           });
}

void TensorLowering::declare_rings(Body& body) {
    Body start;
    const auto warps = plan_.warps_down * plan_.warps_across;
    for (const schedule::Ring& ring : schedule_.rings) {
        const schedule::Buffer& barriers = schedule_[ring.barriers];
        const std::string name = names_.fresh(Names::identifier(barriers.name));
        ring_names_.push_back(name);
        body.push_back(define(
            "auto", name,
            call({"shared_ring", {schedule_[ring.buffers.front()].stages}},
                 {variable("memory"), barriers.offset, kernel::Expression(kernel::Quoted{name})})));
        start.push_back({Run{
            invoke(kernel::member(variable(name), "start"), {ring.bulk ? 1 : kGroup, warps})}});
    }
    for (const auto& [loop, buffer] : schedule_.lists) {
        const std::string name = names_.fresh(Names::identifier(schedule_[buffer].name));
        lists_[loop].first = name;
        body.push_back(define("auto", name,
                              call({"shared_list", {schedule::kListed}},
                                   {variable("memory"), schedule_[buffer].offset,
                                    kernel::Expression(kernel::Quoted{name})})));
        start.push_back({Run{invoke(kernel::member(variable(name), "start"), {warps})}});
    }
    start.push_back({Run{call("fence_barriers")}});
    append(body, only_if(equal(thread_index(), 0), std::move(start)));
    body.push_back({kernel::Barrier{}});
    for_filled(
        schedule_, schedule_.body, nullptr,
        [&](RingId ring, const schedule::ChunkLoop& loop) { ring_loops_[ring] = loop.source; });
}

/// Everything that one agent does.
Body TensorLowering::agent_of(bool apart) {
    apart_ = apart;
    Body body;
    counts_.clear();
    for (const auto& [ring, loop] : ring_loops_)
        if (!counts_.contains(loop)) {
            const std::string axis =
                Names::identifier(region_.axes[loops_.at(loop)->axis.index()].name);
            counts_[loop] = names_.fresh("chunk_of_" + axis);
            body.push_back(kernel::declare("int", counts_[loop], 0));
        }
    for (auto& [loop, list] : lists_) {
        list.second = names_.fresh(list.first + "ed");
        body.push_back(kernel::declare("int", list.second, 0));
    }
    const schedule::Body items = items_of(schedule_, schedule_.body, apart);
    const auto lower_items = [&](Body& inside) {
        apart ? lower_fills(items, inside) : lower(items, inside);
    };
    if (schedule_.persistent)
        for_tiles(lower_items, body);
    else
        lower_items(body);
    return body;
}

/// One tile of the block after another.
void TensorLowering::for_tiles(const std::function<void(Body&)>& lower_items, Body& body) {
    const bool counted = ring_loops_.size() < schedule_.rings.size();
    if (counted) {
        tile_count_ = names_.fresh("tiles_before");
        body.push_back(kernel::declare("int", tile_count_, 0));
    }
    if (!apart_) declare_held(body);
    kernel::For loop = loop_over_tiles();
    if (plan_.order.counted) apart_ ? draw_tiles(loop) : take_tiles(loop, body);
    static_cast<void>(lower_grid(loop.body));
    lower_items(loop.body);
    invariant(drawn_.empty(), "a tile is drawn that nobody goes on with");
    if (counted) loop.body.push_back(add_to(variable(tile_count_), 1));
    const kernel::Expression tiles = loop.end;
    body.push_back({std::move(loop)});
    if (plan_.order.counted && apart_) list_tile(tiles, body);
    if (!apart_) save_last_held(body);
}

/// Tells the others of a tile, or that there is none.
void TensorLowering::list_tile(kernel::Expression tile, Body& body) {
    const auto& [list, count] = lists_.begin()->second;
    append(body, only_if(equal(thread_index(), variable("kThreads")),
                         {{Run{invoke(member(variable(list), "put"),
                                      {variable(count), std::move(tile), true})}}}));
    body.push_back(add_to(variable(count), 1));
}

/// The agent that copies draws the tile after the one that it begins with, and tells the others of
/// each before it lists chunks of it. Its threads know of the drawn one when they have met.
void TensorLowering::draw_tiles(kernel::For& loop) {
    KernelParameter counter;
    counter.kind = KernelParameter::Kind::Counter;
    counter.name = names_.fresh("tiles_drawn");
    program_.parameters.push_back(counter);
    drawn_ = names_.fresh("drawn");
    loop.next = kernel::subscript(variable(buffer_names_.at(*schedule_.next_tile)), 0);
    list_tile(variable(loop.name), loop.body);
    loop.body.push_back(define("int", drawn_,
                               call("draw_tile", {variable(counter.name), loop.end,
                                                  equal(thread_index(), variable("kThreads"))})));
}

/// The agent that copies says which tile is next.
void TensorLowering::take_tiles(kernel::For& loop, Body& body) {
    const auto& [list, count] = lists_.begin()->second;
    const std::string next = names_.fresh("next_tile");
    const std::string whole = names_.fresh("known");
    const std::string taken = names_.fresh("taken");
    Body take = {kernel::declare("bool", whole, false),
                 define("int", taken,
                        invoke(member(variable(list), "take"), {variable(count), variable(whole)})),
                 add_to(variable(count), 1),
                 {kernel::Return{variable(taken)}}};
    body.push_back(kernel::define_function(next, kernel::Lambda{{}, std::move(take)}));
    loop.begin = invoke(variable(next), {});
    loop.next = loop.begin;
}

/// Whether the agent that copies looks for its chunks, which lanes of a warp do together.
bool TensorLowering::copies_search() const {
    TensorLowering trial = *this;
    static_cast<void>(trial.agent_of(true));
    return trial.searches_;
}

std::int64_t TensorLowering::warp_groups() const {
    return program_.threads / kGroup;
}

void TensorLowering::lower_agents(Body& body) {
    program_.other_threads = kGroup;
    const std::int64_t groups = warp_groups();
    if (schedule_.persistent)
        find_kept_ends(body);
    else
        mark_before_agents(body);
    declare_rings(body);
    const auto outer_ranges = ranges_;
    Body load = {{kernel::Comment{"This warp group copies for the others.", true}}};
    const std::int64_t resident = schedule_.resident;
    program_.resident = resident;
    if (groups * resident > 1)
        load.push_back(
            {Run{call({"give_up_registers", {schedule::registers_of_copies(schedule_)}})}});
    const bool bulk = std::all_of(schedule_.rings.begin(), schedule_.rings.end(),
                                  [](const schedule::Ring& ring) { return ring.bulk; });
    if (schedule_.persistent && !schedule_.marks.empty())
        copiers_ = Copiers::Group;
    else if (bulk && copies_search())
        copiers_ = Copiers::Warp;
    if (!bulk) {
        copied_ = names_.fresh("copied");
        load.push_back(kernel::declare("Copied", copied_));
    }
    Body copies = agent_of(true);
    if (!bulk) copies.push_back(copied("finish", {}));
    const kernel::Expression first = variable("kThreads");
    if (bulk && copiers_ != Copiers::Group)
        copies = only_if(
            copiers_ == Copiers::Warp ? thread_index() < first + 32 : equal(thread_index(), first),
            std::move(copies));
    append(load, std::move(copies));
    load.push_back({kernel::LeaveIf{true}});
    append(body, only_if(thread_index() >= variable("kThreads"), std::move(load)));
    ranges_ = outer_ranges;
    body.push_back({kernel::Comment{"The others compute.", true}});
    if (groups * resident > 1)
        body.push_back({Run{call({"take_registers", {schedule::registers_of_group(schedule_)}})}});
    const bool in_turn = schedule::takes_turns(schedule_.body);
    if (in_turn) body.push_back({Run{call({"begin_turns", {warp_groups()}})}});
    append(body, agent_of(false));
    if (in_turn) body.push_back({Run{call("end_turns")}});
}

/// What a thread does that fills rings itself (panels.cuh).
kernel::Statement TensorLowering::copied(const char* what,
                                         std::vector<kernel::Expression> arguments) {
    return {Run{invoke(member(variable(copied_), what), std::move(arguments))}};
}

/// Copies of one body, ring after ring, and its loops.
void TensorLowering::lower_fills(const schedule::Body& items, Body& body) {
    const bool all_bulk = std::all_of(schedule_.rings.begin(), schedule_.rings.end(),
                                      [](const schedule::Ring& ring) { return ring.bulk; });
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (const schedule::ChunkLoop* loop = std::get_if<schedule::ChunkLoop>(&items[i].node)) {
            lower_fill_loop(*loop, body);
            continue;
        }
        const schedule::Op& op = schedule_[std::get<OpId>(items[i].node)];
        const RingId id = *ring_of(schedule_, op.writes.front());
        const schedule::Ring& ring = schedule_[id];
        // The first copy of the ring stands for all of them.
        if (op.writes.front() != ring.buffers.front()) continue;
        const kernel::Expression name = variable(ring_names_[id.index()]);
        const kernel::Expression content = content_of(id, 0);
        Body fill;
        std::int64_t bytes = 0;
        for (std::size_t j = i; j < items.size(); ++j) {
            const OpId* other = std::get_if<OpId>(&items[j].node);
            if (other == nullptr || !contains(ring.buffers, schedule_[*other].writes.front()))
                continue;
            const schedule::Op& copy = schedule_[*other];
            const TileStatement& leaf = *leaves_[copy.leaf.index()];
            const Load& load = std::get<Load>(leaf.node);
            use_rings(copy);
            add_comments(fmt::format("load {}", region_.arrays[load.array.index()].name), leaf.span,
                         "", fill);
            if (copy.box) {
                bytes += bytes_of(load.target);
                fill.push_back(bulk_copy(copy, load, id));
            } else {
                append(fill, copy_matrix(load, matrix(load.target)));
            }
        }
        if (ring.bulk) {
            fill.insert(fill.begin(),
                        kernel::Statement{Run{invoke(member(name, "fill"), {content, bytes})}});
            // Where threads copy or search too, one of them makes the bulk copies.
            if (!all_bulk) fill.insert(fill.begin(), copied("wait_free", {name, content}));
            if (!all_bulk || copiers_ != Copiers::Thread)
                fill = only_if(equal(thread_index(), variable("kThreads")), std::move(fill));
        } else {
            fill.insert(fill.begin(), copied("wait_free", {name, content}));
            fill.push_back(copied("add", {name, content}));
        }
        append(body, std::move(fill));
    }
}

void TensorLowering::lower_fill_loop(const schedule::ChunkLoop& loop, Body& body) {
    ChunkLoop code = loop_code(loop);
    find_visible(code, body);
    kernel::For turns;
    turns.name = code.start;
    turns.begin = code.first;
    turns.end = code.end;
    turns.step = loop.size;
    if (!code.next.empty()) turns.next = code.after(code.start);
    enter_chunk(code, turns.body);
    const auto list = lists_.find(loop.source);
    const auto put = [&](kernel::Expression chunk, kernel::Expression whole, Body& where) {
        if (!copied_.empty()) where.push_back(copied("finish", {}));
        append(where, only_if(equal(thread_index(), variable("kThreads")),
                              {put_listed(loop, std::move(chunk), std::move(whole))}));
        where.push_back(kernel::add_to(variable(list->second.second), 1));
    };
    if (list != lists_.end()) {
        const std::vector<ExpressionScope::Known> outer_known = known_;
        kernel::Expression whole = untested(code.statement, turns.body);
        known_ = outer_known;
        put(variable(code.start), std::move(whole), turns.body);
    }
    lower_fills(loop.body, turns.body);
    if (const auto count = counts_.find(loop.source); count != counts_.end())
        turns.body.push_back(kernel::add_to(variable(count->second), 1));
    body.push_back({std::move(turns)});
    // The others go up to the end of the axis.
    if (list != lists_.end()) put(expression_of(code.outer.start + code.outer.count), true, body);
    ranges_[loop.axis] = code.outer;
}

kernel::Statement TensorLowering::bulk_copy(const schedule::Op& op, const Load& load, RingId ring) {
    const Array& array = region_.arrays[load.array.index()];
    const schedule::Tile& tile = plan_.tiles.at(load.target);
    static_cast<void>(buffer_name(load.array, false));
    static_cast<void>(vector_elements(load.array, 0));
    auto [known, added] = maps_.try_emplace(load.target);
    if (added) {
        known->second = names_.fresh(Names::identifier(array.name) + "_map");
        KernelParameter parameter;
        parameter.kind = KernelParameter::Kind::TensorMap;
        parameter.name = known->second;
        parameter.array = load.array;
        parameter.type = device_type(load.array);
        parameter.map.dimensions = op.box->dimensions;
        parameter.map.box = op.box->extents;
        parameter.map.swizzle = tile.home == schedule::Home::Matrix
                                    ? schedule::panel_bytes(tile.columns, tile.type)
                                    : 0;
        program_.parameters.push_back(parameter);
    }
    if (schedule::is_tiled(plan_.tile_axes, load))
        return {
            Run{call("load_gathered", {matrix(load.target), variable(known->second),
                                       variable(ring_names_[ring.index()]), content_of(ring, 0),
                                       kernel::Expression(place_of(load, op.box->dimensions))})}};
    std::vector<kernel::Expression> at;
    const std::vector<IndexForm> origin = source_of(load).origin;
    for (const std::uint32_t d : op.box->dimensions) at.push_back(coordinate(origin[d]));
    if (device_type(load.array) == ElementType::I4) at.front() = at.front() / 2;
    const char* copy = tile.home == schedule::Home::Matrix ? "load_panels" : "load_vector";
    return {Run{call(copy, {matrix(load.target), variable(known->second), braces(at),
                            variable(ring_names_[ring.index()]), content_of(ring, 0)})}};
}

/// Of a tile in shared memory.
std::int64_t TensorLowering::bytes_of(VariableId variable) const {
    const schedule::Tile& tile = plan_.tiles.at(variable);
    const std::int64_t elements = tile.home == schedule::Home::Matrix
                                      ? tile.rows * tile.columns
                                      : schedule::vector_extent(plan_, *tile.column);
    return map_elements(tile.type, elements) * kernel::element_bytes(tile.type);
}

/// A function of the column where a panel begins that says where its box does.
kernel::Lambda TensorLowering::place_of(const Load& load,
                                        const std::vector<std::uint32_t>& dimensions) {
    const AxisId columns = axis_along(load.target, plan_.tiles.at(load.target).column_dimension);
    const ExpressionScope scope = scope_of_places(load.gather);
    ElementScope element;
    for (const auto& [axis, range] : ranges_) {
        const bool varies = schedule::tile_axis_of(plan_.tile_axes, axis) == columns;
        element.index[axis] = varies ? range.start + local_index(axis) : range.start;
    }
    std::vector<kernel::Expression> at;
    for (const std::uint32_t d : dimensions)
        at.push_back(coordinate(ExpressionPrinter(scope).index(load.gather[d], element)));
    Body body = define_parts(columns);
    body.push_back({kernel::Return{call("place_at", std::move(at))}});
    return {{{"int", axis_names_[columns.index()].local}}, std::move(body)};
}

kernel::Expression TensorLowering::content_of(RingId ring, std::int64_t lead) const {
    const auto loop = ring_loops_.find(ring);
    if (loop == ring_loops_.end() && !schedule_.persistent) return 0;
    const kernel::Expression count =
        variable(loop == ring_loops_.end() ? tile_count_ : counts_.at(loop->second));
    return lead == 0 ? count : count + lead;
}

/// Rings are used in the slots of the chunk that an operation works on; it leads its own loop, and
/// no other around that. What the block publishes in several places is used in that of its turn.
void TensorLowering::use_rings(const schedule::Op& op) {
    for (const auto* list : {&op.reads, &op.writes})
        for (const schedule::BufferId buffer : *list) {
            const std::int64_t stages = schedule_[buffer].stages;
            if (const std::optional<RingId> ring = ring_of(schedule_, buffer)) {
                if (stages == 1) continue;
                const auto loop = ring_loops_.find(*ring);
                const bool leads =
                    loop != ring_loops_.end() && stands_in(schedule_.body, loop->second, op.id);
                slot_now_.insert_or_assign(buffer, content_of(*ring, leads ? op.lead : 0) % stages);
            } else if (!turn_count_.empty() && is_published(buffer)) {
                slot_now_.insert_or_assign(buffer, (variable(turn_count_) + op.lead) % stages);
            }
        }
}

/// What a ring brings is the part of its arrays that ranges are of now.
void TensorLowering::note_awaited(const schedule::Await& await) {
    for (const schedule::Op& op : schedule_.ops)
        if (schedule_.apart(op.id) && contains(schedule_[await.ring].buffers, op.writes.front()))
            note_shared(std::get<Load>(leaves_[op.leaf.index()]->node));
}

void TensorLowering::lower(const schedule::Await& await, Body& body) {
    note_awaited(await);
    body.push_back({Run{invoke(member(variable(ring_names_[await.ring.index()]), "wait_filled"),
                               {content_of(await.ring, await.lead)})}});
}

void TensorLowering::lower(const schedule::Release& release, Body& body) const {
    body.push_back({Run{invoke(member(variable(ring_names_[release.ring.index()]), "release"),
                               {content_of(release.ring, release.lead)})}});
}

}  // namespace napkin::lowering
