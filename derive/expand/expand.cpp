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
// where a chunk that streams further axes has the same phases, before the inner levels' body:
//
//     inner levels' initial state of it; loop over its chunks { loads; body }; tail
//
// So a level below a stream appears once a phase, and what it keeps between phases (states,
// resident operands) persists. Every operation runs at the innermost level; loads and saves pass
// through each level on the way.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "derive/contraction.h"
#include "derive/expand/chunk_masks.h"
#include "derive/expand/phases.h"
#include "derive/expand/tile_variable.h"
#include "derive/tile_program.h"
#include "diagrams/contains.h"
#include "diagrams/facts.h"
#include "diagrams/memory_order.h"
#include "diagrams/overloaded.h"

namespace napkin {

namespace {

using Body = std::vector<TileStatement>;

void append(Body& body, Body part) {
    body.insert(body.end(), std::make_move_iterator(part.begin()),
                std::make_move_iterator(part.end()));
}

/// Groups as they nest: outermost those along which every large array is read, whose tiles share
/// nothing that is loaded, as these lie in the largest of them; else in the order of the
/// derivation.
std::vector<Group> nested(const Diagram& diagram, const Region& region) {
    constexpr double kLarge = 1.0 / 16;                      // of the largest
    std::map<ArrayId, std::map<AxisId, std::size_t>> along;  // at which place in memory, slowest 0
    const std::vector<ArrayId> loads = loads_of(diagram, region);
    for (StatementId id : region.statements)
        for (const Expression* expression : expressions_of(diagram[id]))
            walk(*expression, [&](const Expression& node) {
                const Read* read = std::get_if<Read>(&node.node);
                if (read == nullptr || !contains(loads, read->array)) return;
                const Array& array = diagram[read->array];
                auto& places = along[read->array];
                for (std::size_t place = 0; place < array.axes.size(); ++place)
                    for (AxisId axis : axes_used(read->index[dimension_at(array, place)]))
                        places.emplace(axis, place);
            });
    const auto elements = [&](ArrayId array) {
        double count = 1;
        for (AxisId axis : diagram[array].axes) count *= static_cast<double>(diagram[axis].extent);
        return count;
    };
    double largest = 0;
    std::map<AxisId, std::size_t> of_largest;
    for (const auto& [array, places] : along)
        if (elements(array) > largest) {
            largest = elements(array);
            of_largest = places;
        }
    const auto shares_nothing = [&](const Group& group) {
        return std::all_of(along.begin(), along.end(), [&](const auto& read) {
            return read.second.contains(group.axis) || elements(read.first) < kLarge * largest;
        });
    };
    std::vector<Group> groups = region.groups;
    if (along.empty()) return groups;
    const auto shared = std::stable_partition(groups.begin(), groups.end(), shares_nothing);
    std::stable_sort(groups.begin(), shared, [&](const Group& a, const Group& b) {
        return of_largest.at(a.axis) < of_largest.at(b.axis);
    });
    return groups;
}

class Expander {
public:
    Expander(const State& state, const Region& region, OpaqueBoxes opaque)
        : opaque_(opaque),
          diagram_(state.diagram),
          relabelling_(state.relabelling),
          region_(region),
          groups_(nested(state.diagram, region)),
          phases_(state, region, out_) {}

    Result<RegionProgram> run();

private:
    void collect_levels();

    Body level_part(std::size_t k, Phase phase);
    Body inside_groups(std::size_t k, Phase phase);
    Body chunks(std::size_t k, std::size_t depth);
    Body in_loops(std::size_t k, Phase phase, const std::vector<Stream>& loops,
                  const std::function<Body()>& make);
    [[nodiscard]] static std::vector<Expression> masks_of_loop(const std::vector<Expression>& all,
                                                               const std::vector<Stream>& loops,
                                                               std::size_t i);
    Body operations(Phase phase);
    void add_loads(Body& body, std::size_t k, Phase phase, const std::vector<Stream>& loops = {},
                   std::size_t loop = 0);
    void add_load(Body& body, const View& view, std::size_t k);
    void add_saves(Body& body, std::size_t k, Phase phase);
    void add_compute(Body& body, const Statement& statement, Phase phase);

    [[nodiscard]] std::vector<Stream> streams_at(std::size_t k) const;
    [[nodiscard]] bool streams_from(std::size_t k) const;
    VariableId variable(ArrayId array, std::size_t k, bool persists);
    [[nodiscard]] std::vector<VariableId> variables_read(const Statement& statement) const;

    OpaqueBoxes opaque_;
    const Diagram& diagram_;
    const Relabelling& relabelling_;
    const Region& region_;
    std::vector<Group> groups_;  ///< outermost first
    RegionProgram out_;
    Phases phases_;
    std::vector<Level> levels_;
    ChunkMasks visible_;
    DiagramFacts facts_{diagram_};
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
    if (out_.accumulator) visible_ = chunk_masks(diagram_, region_, *out_.accumulator, saves_);
    out_.body = level_part(0, kAll);
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
    for (std::size_t i = groups_.size(); i-- > 0;) {
        const Group& group = groups_[i];
        if (group.level != levels_[k]) continue;
        Body wrapped;
        wrapped.push_back({Parallel{group.axis, group.size, group.level, std::move(body)}, {}});
        body = std::move(wrapped);
    }
    return body;
}

Body Expander::inside_groups(std::size_t k, Phase phase) {
    Body body;
    if (phase == kAll && !streams_at(k).empty()) {
        add_loads(body, k, initial_at(0));
        append(body, level_part(k + 1, initial_at(0)));
        append(body, chunks(k, 0));
        add_loads(body, k, tail_at(0));
        append(body, level_part(k + 1, tail_at(0)));
        add_saves(body, k, tail_at(0));
        return body;
    }
    if (phase.kind == Phase::Kind::Body && phase.depth == 0) return chunks(k, 0);
    add_loads(body, k, phase);
    append(body, level_part(k + 1, phase));
    add_saves(body, k, phase);
    return body;
}

/// The loops of level k around a body, and in a chunk those that it streams inside.
Body Expander::chunks(std::size_t k, std::size_t depth) {
    std::vector<Stream> loops = streams_at(k);
    std::erase_if(
        loops, [&](const Stream& each) { return !contains(phases_.streamed()[depth], each.axis); });
    return in_loops(k, body_at(depth), loops, [&] {
        Body body;
        const std::size_t inside = depth + 1;
        if (!loops.empty() && inside < phases_.streamed().size()) {
            append(body, level_part(k + 1, initial_at(inside)));
            append(body, chunks(k, inside));
            append(body, level_part(k + 1, tail_at(inside)));
        }
        append(body, level_part(k + 1, body_at(depth)));
        add_saves(body, k, body_at(depth));
        return body;
    });
}

/// A body in these loops; a load stands in the outermost loop that it varies in.
Body Expander::in_loops(std::size_t k, Phase phase, const std::vector<Stream>& loops,
                        const std::function<Body()>& make) {
    // From the outside in, so that variables come in the order in which they are filled.
    std::vector<Body> loads(std::max<std::size_t>(loops.size(), 1));
    for (std::size_t i = 0; i < loads.size(); ++i) add_loads(loads[i], k, phase, loops, i);
    const ChunkMasks masks = phase == body_at(0) ? visible_ : ChunkMasks{};
    Body body = make();
    for (std::size_t i = loads.size(); i-- > 0;) {
        append(loads[i], std::move(body));
        body = std::move(loads[i]);
        if (loops.empty()) break;
        Body loop;
        loop.push_back({Loop{loops[i].axis, loops[i].size, loops[i].level,
                             masks_of_loop(masks.index, loops, i), std::move(body),
                             masks_of_loop(masks.data, loops, i)},
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
    for (const Statement& statement : phases_.statements(phase))
        add_compute(body, statement, phase);
    return body;
}

/// Loads of one phase; those that stand in that one of its loops.
void Expander::add_loads(Body& body, std::size_t k, Phase phase, const std::vector<Stream>& loops,
                         std::size_t loop) {
    for (const View& view : phases_.views().views())
        if (Phases::loop_of(view, loops) == loop &&
            phases_.loaded_in(view, phase, !streams_from(k)))
            add_load(body, view, k);
}

void Expander::add_load(Body& body, const View& view, std::size_t k) {
    const bool resident = !phases_.is_chunked(view) && phases_.is_read_early(view);
    const bool persists = k > 0 && streams_from(0) &&
                          (resident || (!streams_from(k) && phases_.is_read_inside(view)));
    Load load;
    load.array = view.source;
    load.infinite = facts_.of(view.source).may_be_infinite();
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

void Expander::add_compute(Body& body, const Statement& statement, Phase phase) {
    const std::size_t k = levels_.size() - 1;
    for (const View& view : phases_.late_views(statement)) {
        const bool loaded = std::any_of(body.begin(), body.end(), [&](const TileStatement& each) {
            const Load* load = std::get_if<Load>(&each.node);
            return load != nullptr && out_.variables[load->target.index()].array == view.view;
        });
        if (!loaded) add_load(body, view, k);
    }
    Compute compute;
    compute.statement = statement;
    compute.level = levels_[k];
    for (ArrayId target : statement.targets) {
        const bool saved_later = contains(saves_, target) && !phases_.saved_in(target, phase);
        compute.targets.push_back(
            variable(target, k, saved_later || phases_.outlives_phase(target)));
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
