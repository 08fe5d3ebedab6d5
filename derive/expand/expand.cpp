// Expansion of one region into loops, loads, operations and saves.
//
// Levels that the region groups or streams at are nested, block outermost. A level's part is,
// without a stream,
//
//     parallel groups { loads; inner levels; saves }
//
// and with a stream at that level
//
//     parallel groups { resident loads; inner levels' initial state
//                       loop over chunks { chunk loads; inner levels' body }
//                       tail loads; inner levels' tail; saves }
//
// so a level below a stream appears once a phase, and what it keeps between phases (states,
// resident operands) persists. Every operation runs at the innermost level; loads and saves pass
// through each level on the way.
#include <algorithm>
#include <set>
#include <utility>

#include "derive/expand/views.h"
#include "derive/messages.h"
#include "derive/tile_program.h"
#include "derive/widths.h"
#include "diagrams/interval.h"
#include "diagrams/overloaded.h"

namespace napkin {

namespace {

enum class Phase { All, Initial, Body, Tail };
using Body = std::vector<TileStatement>;

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

bool contains_array(const std::vector<ArrayId>& arrays, ArrayId array) {
    return std::find(arrays.begin(), arrays.end(), array) != arrays.end();
}

class Expander {
public:
    Expander(const State& state, const Region& region, OpaqueBoxes opaque)
        : opaque_(opaque),
          diagram_(state.diagram),
          relabelling_(state.relabelling),
          region_(region),
          views_(out_.arrays) {}

    Result<RegionProgram> run();

private:
    Result<bool> collect_statements();
    void collect_levels();
    void collect_visible();
    [[nodiscard]] bool depends_on_stream(const Statement& statement,
                                         const std::set<ArrayId>& dependent) const;

    Body level_part(std::size_t k, Phase phase);
    Body inside_groups(std::size_t k, Phase phase);
    Body looped(std::size_t k, Body body) const;
    Body operations(Phase phase);
    void add_loads(Body& body, std::size_t k, Phase phase);
    void add_load(Body& body, const View& view, std::size_t k);
    void add_saves(Body& body, std::size_t k, Phase phase);
    void add_compute(Body& body, const Statement& statement);

    [[nodiscard]] const Stream* stream_at(std::size_t k) const;
    [[nodiscard]] bool streams_from(std::size_t k) const;
    [[nodiscard]] bool is_chunked(const View& view) const;
    [[nodiscard]] bool is_late(const View& view) const;
    [[nodiscard]] bool loaded_in(const View& view, Phase phase) const;
    [[nodiscard]] bool saved_in(ArrayId array, Phase phase) const;
    [[nodiscard]] bool outlives_phase(ArrayId array) const;
    VariableId variable(ArrayId array, std::size_t k, bool persists);
    void set_capacity(Variable& variable, const View* view) const;
    [[nodiscard]] std::vector<VariableId> variables_read(const Statement& statement) const;

    OpaqueBoxes opaque_;
    const Diagram& diagram_;
    const Relabelling& relabelling_;
    const Region& region_;
    RegionProgram out_;
    ViewTable views_;
    std::vector<Level> levels_;
    std::vector<Statement> before_;  // initial state included
    std::vector<Statement> body_;
    std::vector<Statement> tail_;
    std::set<ArrayId> chunked_;     // arrays defined in the body
    std::set<ArrayId> read_early_;  // views read before the tail
    std::vector<Expression> visible_;
    std::vector<ArrayId> saves_;
};

Result<RegionProgram> Expander::run() {
    out_.name = region_name(diagram_, region_);
    out_.arrays = diagram_.arrays;
    out_.axes = diagram_.axes;
    out_.monoids = diagram_.monoids;
    collect_levels();
    if (const Result<bool> collected = collect_statements(); !collected) return collected.error();
    saves_ = saves_of(diagram_, region_);
    for (ArrayId array : saves_) out_.stored[array] = storage_type(diagram_, relabelling_, array);
    collect_visible();
    out_.body = level_part(0, Phase::All);
    return std::move(out_);
}

void Expander::collect_levels() {
    std::set<Level> levels{Level::Block};
    for (const Group& group : region_.groups) levels.insert(group.level);
    for (const Stream& stream : region_.streams) levels.insert(stream.level);
    levels_.assign(levels.begin(), levels.end());
}

bool Expander::depends_on_stream(const Statement& statement,
                                 const std::set<ArrayId>& dependent) const {
    if (contains(axes_of(diagram_, statement), region_.streams.front().axis)) return true;
    const std::vector<ArrayId> inputs = inputs_of(statement);
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](ArrayId input) { return dependent.count(input) != 0; });
}

/// Fills the phases with statements whose reads of loaded arrays name views.
Result<bool> Expander::collect_statements() {
    std::set<ArrayId> defined;
    std::set<ArrayId> dependent;
    for (StatementId id : region_.statements) {
        const Statement& statement = diagram_[id];
        const Opaque* box = std::get_if<Opaque>(&statement.body);
        if (box != nullptr && opaque_ == OpaqueBoxes::Refuse)
            return messages::opaque_box(statement.span, box->name);
        for (ArrayId target : statement.targets) defined.insert(target);
        if (!region_.streams.empty() && depends_on_stream(statement, dependent)) {
            for (ArrayId target : statement.targets) dependent.insert(target);
        } else {
            before_.push_back(statement);
        }
    }
    if (!region_.streams.empty()) {
        auto derived = derive_accumulator(diagram_, region_, region_.streams.front().axis);
        if (const NotApplicable* refusal = std::get_if<NotApplicable>(&derived))
            return messages::step_refused(diagram_[region_.statements.front()].span, "stream",
                                          refusal->reason, refusal->help);
        Accumulator& accumulator = std::get<Accumulator>(derived);
        for (std::size_t i = 0; i < accumulator.arrays.size(); ++i)
            defined.insert(ArrayId{static_cast<std::uint32_t>(diagram_.arrays.size() + i)});
        out_.arrays.insert(out_.arrays.end(), accumulator.arrays.begin(), accumulator.arrays.end());
        before_.insert(before_.end(), accumulator.initial.begin(), accumulator.initial.end());
        body_ = accumulator.body;
        tail_ = accumulator.tail;
        out_.accumulator = std::move(accumulator);
    }
    views_.set_defined(std::move(defined));
    for (std::vector<Statement>* phase : {&before_, &body_, &tail_})
        for (Statement& statement : *phase) {
            statement = views_.rewrite_reads(std::move(statement));
            if (phase != &tail_)
                for (ArrayId input : inputs_of(statement)) read_early_.insert(input);
            if (phase == &body_)
                chunked_.insert(statement.targets.begin(), statement.targets.end());
        }
    // What a gather is indexed by is read when the gather is; outer gathers come after inner ones.
    for (std::size_t i = views_.views().size(); i-- > 0;)
        if (const View& view = views_.views()[i]; read_early_.count(view.view) != 0)
            for (const Expression& index : view.gather) read_early_.merge(arrays_read(index));
    for (const Statement& statement : before_)
        for (ArrayId target : statement.targets) chunked_.erase(target);  // a state is no chunk
    return true;
}

std::vector<Expression> conjuncts(const Expression& condition) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr || call->function != Function::And) return {condition};
    std::vector<Expression> parts;
    for (const Expression& argument : call->arguments)
        for (Expression& part : conjuncts(argument)) parts.push_back(std::move(part));
    return parts;
}

/// Conditions over indices alone that every fold over the streamed axis shares: where one holds
/// nowhere in a chunk, the chunk adds nothing. A region that saves something along the axis visits
/// every chunk.
void Expander::collect_visible() {
    if (region_.streams.empty()) return;
    const AxisId axis = region_.streams.front().axis;
    bool first = true;
    for (ArrayId array : saves_)
        if (contains(diagram_[array].axes, axis)) return;
    for (StatementId id : region_.statements) {
        if (!contains(folded_axes(diagram_[id]), axis)) continue;
        const Fold* fold = std::get_if<Fold>(&diagram_[id].body);
        std::vector<Expression> masks;
        if (fold != nullptr && fold->values.size() == 1)
            for (const Expression& mask : masks_of(diagram_, fold->values.front(), fold->monoid))
                for (Expression& part : conjuncts(mask))
                    if (arrays_read(part).empty()) masks.push_back(std::move(part));
        if (first) {
            for (Expression& mask : masks)
                if (std::find(visible_.begin(), visible_.end(), mask) == visible_.end())
                    visible_.push_back(std::move(mask));
        } else {
            std::erase_if(visible_, [&](const Expression& mask) {
                return std::find(masks.begin(), masks.end(), mask) == masks.end();
            });
        }
        first = false;
    }
}

const Stream* Expander::stream_at(std::size_t k) const {
    for (const Stream& stream : region_.streams)
        if (stream.level == levels_[k]) return &stream;
    return nullptr;
}

bool Expander::streams_from(std::size_t k) const {
    for (; k < levels_.size(); ++k)
        if (stream_at(k) != nullptr) return true;
    return false;
}

bool Expander::is_chunked(const View& view) const {
    return !region_.streams.empty() && view.axes.count(region_.streams.front().axis) != 0;
}

/// A gather by an index that the region itself computes is loaded where it is first read.
bool Expander::is_late(const View& view) const {
    for (const Expression& index : view.gather)
        for (ArrayId array : arrays_read(index))
            if (const View* inner = views_.find(array); inner == nullptr || is_late(*inner))
                return true;
    return false;
}

bool Expander::loaded_in(const View& view, Phase phase) const {
    if (is_late(view)) return false;
    switch (phase) {
    case Phase::All: return true;
    case Phase::Initial: return !is_chunked(view) && read_early_.count(view.view) != 0;
    case Phase::Body: return is_chunked(view);
    case Phase::Tail: return !is_chunked(view) && read_early_.count(view.view) == 0;
    }
    return false;
}

bool Expander::saved_in(ArrayId array, Phase phase) const {
    if (phase == Phase::All) return true;
    if (phase == Phase::Initial) return false;
    return (chunked_.count(array) != 0) == (phase == Phase::Body);
}

Body Expander::level_part(std::size_t k, Phase phase) {
    if (k == levels_.size()) return operations(phase);
    Body body = inside_groups(k, phase);
    for (std::size_t i = region_.groups.size(); i-- > 0;) {
        const Group& group = region_.groups[i];
        if (group.level != levels_[k]) continue;
        Body wrapped;
        wrapped.push_back({Parallel{group.axis, group.size, group.level, std::move(body)}, {}});
        body = std::move(wrapped);
    }
    return body;
}

Body Expander::inside_groups(std::size_t k, Phase phase) {
    Body body;
    const auto append = [&](Body part) {
        body.insert(body.end(), std::make_move_iterator(part.begin()),
                    std::make_move_iterator(part.end()));
    };
    if (phase == Phase::All && stream_at(k) != nullptr) {
        add_loads(body, k, Phase::Initial);
        append(level_part(k + 1, Phase::Initial));
        Body chunk;
        add_loads(chunk, k, Phase::Body);
        for (TileStatement& statement : level_part(k + 1, Phase::Body))
            chunk.push_back(std::move(statement));
        add_saves(chunk, k, Phase::Body);
        append(looped(k, std::move(chunk)));
        add_loads(body, k, Phase::Tail);
        append(level_part(k + 1, Phase::Tail));
        add_saves(body, k, Phase::Tail);
        return body;
    }
    add_loads(body, k, phase);
    append(level_part(k + 1, phase));
    add_saves(body, k, phase);
    return phase == Phase::Body ? looped(k, std::move(body)) : body;
}

Body Expander::looped(std::size_t k, Body body) const {
    const Stream* stream = stream_at(k);
    if (stream == nullptr) return body;
    Body loop;
    loop.push_back(
        {Loop{stream->axis, stream->size, stream->level, visible_, std::move(body)}, {}});
    return loop;
}

Body Expander::operations(Phase phase) {
    Body body;
    const auto add = [&](const std::vector<Statement>& statements) {
        for (const Statement& statement : statements) add_compute(body, statement);
    };
    if (phase == Phase::All || phase == Phase::Initial) add(before_);
    if (phase == Phase::Body) add(body_);
    if (phase == Phase::Tail) add(tail_);
    invariant(phase != Phase::All || body_.empty(), "a streamed region has a level that streams");
    return body;
}

void Expander::add_loads(Body& body, std::size_t k, Phase phase) {
    for (const View& view : views_.views())
        if (loaded_in(view, phase)) add_load(body, view, k);
}

void Expander::add_load(Body& body, const View& view, std::size_t k) {
    const bool persists =
        k > 0 && !is_chunked(view) && read_early_.count(view.view) != 0 && streams_from(0);
    Load load;
    load.array = view.source;
    load.target = variable(view.view, k, persists);
    const bool nested = k > 0 && !is_late(view);
    if (nested) load.source = variable_of(out_, view.view, levels_[k - 1]);
    if (view.gather.empty())
        load.index = view.index;
    else if (nested)
        for (AxisId axis : out_.arrays[view.view.index()].axes)
            load.index.push_back({axis_index(axis)});
    else
        load.gather = view.gather;
    body.push_back({std::move(load), diagram_[view.source].span});
}

void Expander::add_saves(Body& body, std::size_t k, Phase phase) {
    for (ArrayId array : saves_) {
        if (!saved_in(array, phase)) continue;
        Save save;
        save.array = array;
        save.source = variable_of(out_, array, levels_[k]);
        if (k > 0) save.target = variable(array, k - 1, true);
        body.push_back({save, diagram_[array].span});
    }
}

void Expander::add_compute(Body& body, const Statement& statement) {
    const std::size_t k = levels_.size() - 1;
    for (ArrayId input : inputs_of(statement))
        if (const View* view = views_.find(input); view != nullptr && is_late(*view)) {
            const bool loaded =
                std::any_of(body.begin(), body.end(), [&](const TileStatement& earlier) {
                    const Load* load = std::get_if<Load>(&earlier.node);
                    return load != nullptr && out_.variables[load->target.index()].array == input;
                });
            if (!loaded) add_load(body, *view, k);
        }
    Compute compute;
    compute.statement = statement;
    compute.level = levels_[k];
    for (ArrayId target : statement.targets) {
        compute.targets.push_back(variable(target, k, outlives_phase(target)));
    }
    compute.reads = variables_read(statement);
    if (!region_.streams.empty()) compute.via = "stream";
    for (StatementId id : region_.statements)
        if (diagram_[id].targets == statement.targets) {
            const auto place = relabelling_.places.find(id);
            compute.tensor_core = place != relabelling_.places.end() && place->second.tensor_core;
        }
    body.push_back({std::move(compute), statement.span});
}

/// Whether an array is computed in one phase of a streamed region and read in a later one.
bool Expander::outlives_phase(ArrayId array) const {
    const auto defines = [&](const Statement& s) {
        return std::find(s.targets.begin(), s.targets.end(), array) != s.targets.end();
    };
    const auto reads = [&](const Statement& s) { return contains_array(inputs_of(s), array); };
    if (body_.empty() && tail_.empty()) return false;
    if (std::any_of(before_.begin(), before_.end(), defines)) return true;
    return std::any_of(body_.begin(), body_.end(), defines) &&
           std::any_of(tail_.begin(), tail_.end(), reads);
}

std::vector<VariableId> Expander::variables_read(const Statement& statement) const {
    std::vector<VariableId> reads;
    for (ArrayId input : inputs_of(statement))
        if (out_.arrays[input.index()].role != ArrayRole::Parameter)
            reads.push_back(variable_of(out_, input, levels_.back()));
    return reads;
}

VariableId Expander::variable(ArrayId array, std::size_t k, bool persists) {
    for (std::uint32_t i = 0; i < out_.variables.size(); ++i)
        if (out_.variables[i].array == array && out_.variables[i].level == levels_[k])
            return VariableId{i};
    const Array& wire = out_.arrays[array.index()];
    const View* view = views_.find(array);
    Variable fresh;
    fresh.array = array;
    fresh.level = levels_[k];
    fresh.name =
        levels_.size() == 1 ? wire.name : wire.name + "." + std::string(name_of(levels_[k]));
    if (view != nullptr)
        fresh.type = storage_type(diagram_, relabelling_, view->source);
    else if (const auto retyped = relabelling_.wire_types.find(array);
             retyped != relabelling_.wire_types.end())
        fresh.type = retyped->second;
    else
        fresh.type = wire.type;
    fresh.persists = persists;
    fresh.span = wire.span;
    set_capacity(fresh, view);
    out_.variables.push_back(std::move(fresh));
    return VariableId{static_cast<std::uint32_t>(out_.variables.size() - 1)};
}

/// Bounds of a tile's width along one dimension: the hull of its readers' indices for axes at their
/// widest.
void Expander::set_capacity(Variable& variable, const View* view) const {
    const Array& wire = out_.arrays[variable.array.index()];
    for (std::size_t k = 0; k < wire.axes.size(); ++k) {
        const AxisId axis = wire.axes[k];
        const bool box = view != nullptr && view->gather.empty();
        if (!box || (view->index[k].size() == 1 &&
                     std::holds_alternative<AxisIndex>(view->index[k][0].node))) {
            const AxisId index = box ? std::get<AxisIndex>(view->index[k][0].node).axis : axis;
            variable.capacity.push_back(width_formula(diagram_, region_, index, variable.level));
            variable.capacity_extent.push_back(width_of(diagram_, region_, index, variable.level));
            continue;
        }
        // An affine or clamped index: widest over tiles that start at 0, which is exact for linear
        // indices.
        Ranges tile;
        for (AxisId used : view->axes)
            tile[used] = {0, width_of(diagram_, region_, used, variable.level) - 1};
        std::optional<Interval> hull;
        for (const Expression& index : view->index[k]) {
            const std::optional<Interval> range = bounds(diagram_.axes, index, tile);
            if (!range) continue;
            hull =
                hull ? Interval{std::min(hull->low, range->low), std::max(hull->high, range->high)}
                     : *range;
        }
        const std::int64_t extent = diagram_[axis].extent;
        const std::int64_t width = hull ? std::min(hull->high - hull->low + 1, extent) : extent;
        variable.capacity.emplace_back(width);
        variable.capacity_extent.push_back(width);
    }
}

}  // namespace

VariableId variable_of(const RegionProgram& region, ArrayId array, Level level) {
    for (std::uint32_t i = 0; i < region.variables.size(); ++i)
        if (region.variables[i].array == array && region.variables[i].level == level)
            return VariableId{i};
    throw InternalError("no variable of `" + region.arrays[array.index()].name + "` at level " +
                        std::string(name_of(level)));
}

Diagram scope_of(const RegionProgram& region) {
    Diagram scope;
    scope.name = region.name;
    scope.axes = region.axes;
    scope.arrays = region.arrays;
    scope.monoids = region.monoids;
    return scope;
}

Result<TileProgram> expand(const State& state, OpaqueBoxes opaque) {
    TileProgram program;
    program.name = state.diagram.name;
    for (const Region& region : state.relabelling.regions) {
        Result<RegionProgram> expanded = Expander(state, region, opaque).run();
        if (!expanded) return expanded.error();
        program.regions.push_back(std::move(*expanded));
    }
    return program;
}

}  // namespace napkin
