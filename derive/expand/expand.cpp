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

#include "derive/contraction.h"
#include "derive/expand/chunk_masks.h"
#include "derive/expand/phases.h"
#include "derive/expand/tile_variable.h"
#include "derive/tile_program.h"
#include "diagrams/overloaded.h"

namespace napkin {

namespace {

using Body = std::vector<TileStatement>;

class Expander {
public:
    Expander(const State& state, const Region& region, OpaqueBoxes opaque)
        : opaque_(opaque),
          diagram_(state.diagram),
          relabelling_(state.relabelling),
          region_(region),
          phases_(state, region, out_) {}

    Result<RegionProgram> run();

private:
    void collect_levels();

    Body level_part(std::size_t k, Phase phase);
    Body inside_groups(std::size_t k, Phase phase);
    Body chunks(std::size_t k);
    [[nodiscard]] static std::vector<Expression> masks_of_loop(const std::vector<Expression>& all,
                                                               const std::vector<Stream>& loops,
                                                               std::size_t i);
    Body operations(Phase phase);
    void add_loads(Body& body, std::size_t k, Phase phase,
                   std::optional<std::size_t> loop = std::nullopt);
    void add_load(Body& body, const View& view, std::size_t k);
    void add_saves(Body& body, std::size_t k, Phase phase);
    void add_compute(Body& body, const Statement& statement);

    [[nodiscard]] std::vector<Stream> streams_at(std::size_t k) const;
    [[nodiscard]] bool streams_from(std::size_t k) const;
    VariableId variable(ArrayId array, std::size_t k, bool persists);
    [[nodiscard]] std::vector<VariableId> variables_read(const Statement& statement) const;

    OpaqueBoxes opaque_;
    const Diagram& diagram_;
    const Relabelling& relabelling_;
    const Region& region_;
    RegionProgram out_;
    Phases phases_;
    std::vector<Level> levels_;
    ChunkMasks visible_;
    std::vector<ArrayId> saves_;
};

Result<RegionProgram> Expander::run() {
    out_.name = region_name(diagram_, region_);
    out_.arrays = diagram_.arrays;
    out_.axes = diagram_.axes;
    out_.monoids = diagram_.monoids;
    collect_levels();
    if (const Result<bool> collected = phases_.collect(opaque_); !collected)
        return collected.error();
    saves_ = saves_of(diagram_, region_);
    for (ArrayId array : saves_) out_.stored[array] = storage_type(diagram_, relabelling_, array);
    visible_ = chunk_masks(diagram_, region_, saves_);
    out_.body = level_part(0, Phase::All);
    return std::move(out_);
}

void Expander::collect_levels() {
    std::set<Level> levels{Level::Block};
    for (const Group& group : region_.groups) levels.insert(group.level);
    for (const Stream& stream : region_.streams) levels.insert(stream.level);
    levels_.assign(levels.begin(), levels.end());
}

/// The streams of one level, the outer loop first.
std::vector<Stream> Expander::streams_at(std::size_t k) const {
    std::vector<Stream> streams;
    for (const Stream& stream : region_.streams)
        if (stream.level == levels_[k]) streams.push_back(stream);
    return streams;
}

bool Expander::streams_from(std::size_t k) const {
    for (; k < levels_.size(); ++k)
        if (!streams_at(k).empty()) return true;
    return false;
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
    if (phase == Phase::All && !streams_at(k).empty()) {
        add_loads(body, k, Phase::Initial);
        append(level_part(k + 1, Phase::Initial));
        append(chunks(k));
        add_loads(body, k, Phase::Tail);
        append(level_part(k + 1, Phase::Tail));
        add_saves(body, k, Phase::Tail);
        return body;
    }
    if (phase == Phase::Body) return chunks(k);
    add_loads(body, k, phase);
    append(level_part(k + 1, phase));
    add_saves(body, k, phase);
    return body;
}

/// The body inside the loops of level k; a load stands in the outermost loop that it varies in.
Body Expander::chunks(std::size_t k) {
    const std::vector<Stream> loops = streams_at(k);
    // From the outside in, so that variables come in the order in which they are filled.
    std::vector<Body> loads(std::max<std::size_t>(loops.size(), 1));
    for (std::size_t i = 0; i < loads.size(); ++i) add_loads(loads[i], k, Phase::Body, i);
    Body body;
    for (TileStatement& statement : level_part(k + 1, Phase::Body))
        body.push_back(std::move(statement));
    add_saves(body, k, Phase::Body);
    for (std::size_t i = loads.size(); i-- > 0;) {
        body.insert(body.begin(), std::make_move_iterator(loads[i].begin()),
                    std::make_move_iterator(loads[i].end()));
        if (loops.empty()) break;
        Body loop;
        loop.push_back({Loop{loops[i].axis, loops[i].size, loops[i].level,
                             masks_of_loop(visible_.index, loops, i), std::move(body),
                             masks_of_loop(visible_.data, loops, i)},
                        {}});
        body = std::move(loop);
    }
    return body;
}

/// Masks that vary along the loop's axis; those that vary along none of the axes stand outermost.
std::vector<Expression> Expander::masks_of_loop(const std::vector<Expression>& all,
                                                const std::vector<Stream>& loops, std::size_t i) {
    std::vector<Expression> masks;
    for (const Expression& mask : all) {
        const std::set<AxisId> used = axes_used(mask);
        const bool none = std::none_of(loops.begin(), loops.end(), [&](const Stream& stream) {
            return used.count(stream.axis) != 0;
        });
        if (used.count(loops[i].axis) != 0 || (none && i == 0)) masks.push_back(mask);
    }
    return masks;
}

Body Expander::operations(Phase phase) {
    Body body;
    for (const Statement& statement : phases_.statements(phase)) add_compute(body, statement);
    return body;
}

/// Loads of one phase; where `loop` is given, only those that stand in that loop of the level.
void Expander::add_loads(Body& body, std::size_t k, Phase phase, std::optional<std::size_t> loop) {
    for (const View& view : phases_.views().views()) {
        const bool here = !loop || Phases::loop_of(view, streams_at(k)) == *loop;
        if (here && phases_.loaded_in(view, phase)) add_load(body, view, k);
    }
}

void Expander::add_load(Body& body, const View& view, std::size_t k) {
    const bool persists =
        k > 0 && !phases_.is_chunked(view) && phases_.is_read_early(view) && streams_from(0);
    Load load;
    load.array = view.source;
    load.target = variable(view.view, k, persists);
    const bool nested = k > 0 && !phases_.is_late(view);
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
        if (!phases_.saved_in(array, phase)) continue;
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
        if (const View* view = phases_.views().find(input);
            view != nullptr && phases_.is_late(*view)) {
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
        compute.targets.push_back(variable(target, k, phases_.outlives_phase(target)));
    }
    compute.reads = variables_read(statement);
    if (!region_.streams.empty()) compute.via = "stream";
    for (StatementId id : region_.statements) {
        const auto place = relabelling_.places.find(id);
        if (place == relabelling_.places.end() || !place->second.tensor_core) continue;
        // A state that streaming made for a contraction is one, at the same place.
        const Statement& source = diagram_[id];
        const bool made_for = statement.box == source.box &&
                              std::holds_alternative<Fold>(source.body) &&
                              statement.targets.front().index() >= diagram_.arrays.size();
        compute.tensor_core |=
            (source.targets == statement.targets || made_for) &&
            contraction_of(statement, out_.arrays[statement.targets.front().index()].axes,
                           tiled_axes(diagram_.axes, region_));
    }
    body.push_back({std::move(compute), statement.span});
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
    const View* view = phases_.views().find(array);
    Variable fresh =
        tile_variable({diagram_, relabelling_, region_}, array, wire, view, levels_[k]);
    if (levels_.size() > 1) fresh.name += "." + std::string(name_of(levels_[k]));
    fresh.persists = persists;
    out_.variables.push_back(std::move(fresh));
    return VariableId{static_cast<std::uint32_t>(out_.variables.size() - 1)};
}

}  // namespace

Result<RegionProgram> expand(const State& state, const Region& region, OpaqueBoxes opaque) {
    return Expander(state, region, opaque).run();
}

Result<TileProgram> expand(const State& state, OpaqueBoxes opaque) {
    TileProgram program;
    program.name = state.diagram.name;
    for (const Region& region : state.relabelling.regions) {
        Result<RegionProgram> expanded = expand(state, region, opaque);
        if (!expanded) return expanded.error();
        program.regions.push_back(std::move(*expanded));
    }
    return program;
}

}  // namespace napkin
