#include "derive/rules/draft.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "derive/rewriting/statements.h"
#include "derive/rules/region_graph.h"
#include "diagrams/contains.h"
#include "diagrams/value_kind.h"

namespace napkin::rules {

namespace {

constexpr std::size_t kOriginal = static_cast<std::size_t>(-1);

/// Statements that outputs and `others` depend on, among those that `is_there`.
template <class Predicate>
std::set<StatementId> live_statements(const Diagram& diagram, const std::set<StatementId>& others,
                                      const Predicate& is_there) {
    std::map<ArrayId, StatementId> producers;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i)
        if (is_there(StatementId{i}))
            for (ArrayId target : diagram.statements[i].targets) producers[target] = StatementId{i};
    std::set<StatementId> live;
    std::vector<ArrayId> wanted = outputs_of(diagram);
    for (StatementId id : others)
        if (is_there(id)) wanted.push_back(diagram[id].targets.front());
    while (!wanted.empty()) {
        const auto found = producers.find(wanted.back());
        wanted.pop_back();
        if (found == producers.end() || !live.insert(found->second).second) continue;
        for (ArrayId input : inputs_of(diagram[found->second])) wanted.push_back(input);
    }
    return live;
}

}  // namespace

Draft::Draft(const State& state)
    : diagram(state.diagram),
      regions(state.relabelling.regions),
      before_(state),
      relabelling_(state.relabelling),
      lines_(state.diagram.statements.size()) {
    for (std::size_t r = 0; r < regions.size(); ++r)
        for (StatementId id : regions[r].statements) lines_[id.index()].region = r;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        lines_[i].rank = i;
        lines_[i].serial = kOriginal;
    }
}

bool Draft::taken(const std::string& name) const {
    return find_array(diagram, name).has_value() || find_axis(diagram, name).has_value();
}

ArrayId Draft::add_array(Array array) {
    const ArrayId id{static_cast<std::uint32_t>(diagram.arrays.size())};
    const std::string wanted = array.name;
    while (taken(array.name)) array.name += "'";
    if (array.name != wanted) wanted_.emplace_back(id, wanted);
    diagram.arrays.push_back(std::move(array));
    return id;
}

ArrayId Draft::add_array(const std::string& name, std::vector<AxisId> axes, Span span,
                         std::optional<ElementType> type) {
    Array array;
    array.name = name;
    array.axes = std::move(axes);
    array.layout.resize(array.axes.size());
    std::iota(array.layout.begin(), array.layout.end(), 0U);
    array.type = type.value_or(array.type);
    array.span = span;
    const ArrayId made = add_array(std::move(array));
    if (!type) untyped_.insert(made);
    return made;
}

ArrayId Draft::add_part(const std::string& name, std::vector<AxisId> axes, const Statement& whole,
                        std::size_t component) {
    const Array& array = diagram[whole.targets[component]];
    const bool integers = !is_floating(array.type) && !computes_reals(diagram, whole, component);
    return add_array(name, std::move(axes), array.span,
                     integers ? std::optional(ElementType::I64) : std::nullopt);
}

AxisId Draft::add_axis(Axis axis) {
    diagram.axes.push_back(std::move(axis));
    return AxisId{static_cast<std::uint32_t>(diagram.axes.size() - 1)};
}

AxisId Draft::add_alias(AxisId axis) {
    Axis alias = diagram[axis];
    const std::string base = alias.name;
    for (int i = 2; taken(alias.name); ++i) alias.name = base + std::to_string(i);
    alias.woven = false;
    return add_axis(std::move(alias));
}

BoxId Draft::add_box(BoxId like) {
    Box box;
    box.span = diagram[like].span;
    diagram.boxes.push_back(std::move(box));
    return BoxId{static_cast<std::uint32_t>(diagram.boxes.size() - 1)};
}

std::size_t Draft::add_region(Region region) {
    regions.push_back(std::move(region));
    return regions.size() - 1;
}

StatementId Draft::add(Statement statement, std::size_t region, StatementId next,
                       std::optional<std::size_t> turn) {
    const std::size_t rank = lines_[next.index()].rank;
    diagram.statements.push_back(std::move(statement));
    lines_.push_back({region, rank, turn.value_or(lines_.size()), false});
    return StatementId{static_cast<std::uint32_t>(lines_.size() - 1)};
}

void Draft::place(StatementId like, StatementId id) {
    if (const auto found = relabelling_.places.find(like); found != relabelling_.places.end())
        relabelling_.places[id] = found->second;
}

std::optional<StatementId> Draft::producer(ArrayId array) const {
    for (std::uint32_t i = 0; i < lines_.size(); ++i)
        if (!lines_[i].erased && contains(diagram.statements[i].targets, array))
            return StatementId{i};
    return std::nullopt;
}

std::vector<StatementId> Draft::readers(ArrayId array) const {
    std::vector<StatementId> found;
    for (std::uint32_t i = 0; i < lines_.size(); ++i)
        if (!lines_[i].erased && reads(diagram.statements[i], array))
            found.push_back(StatementId{i});
    return found;
}

/// What lost its last reader goes; what never led to an output stays, and what it reads.
void Draft::drop_dead() {
    const std::set<StatementId> before =
        live_statements(before_.diagram, {}, [](StatementId) { return true; });
    std::set<StatementId> idle;
    for (std::uint32_t i = 0; i < before_.diagram.statements.size(); ++i)
        if (before.count(StatementId{i}) == 0) idle.insert(StatementId{i});
    const std::set<StatementId> now =
        live_statements(diagram, idle, [&](StatementId id) { return !lines_[id.index()].erased; });
    for (std::uint32_t i = 0; i < lines_.size(); ++i)
        if (now.count(StatementId{i}) == 0) lines_[i].erased = true;
}

void Draft::settle() {
    std::vector<const Statement*> all;
    for (std::uint32_t i = 0; i < lines_.size(); ++i)
        if (!lines_[i].erased) all.push_back(&diagram.statements[i]);
    settle_types(diagram, untyped_, all);
    for (const ArrayId each : untyped_)
        if (!is_floating(diagram[each].type)) relabelling_.wire_types.erase(each);
}

/// Ready statements in the order of the source; what a statement needs may come of it only where it
/// keeps a fold up from a seed.
std::variant<std::vector<StatementId>, NotApplicable> Draft::in_order() const {
    std::vector<StatementId> left;
    std::set<ArrayId> missing;
    for (std::uint32_t i = 0; i < lines_.size(); ++i) {
        if (lines_[i].erased) continue;
        left.push_back(StatementId{i});
        missing.insert(diagram.statements[i].targets.begin(), diagram.statements[i].targets.end());
    }
    std::stable_sort(left.begin(), left.end(), [&](StatementId a, StatementId b) {
        const Line& x = lines_[a.index()];
        const Line& y = lines_[b.index()];
        return std::tie(x.rank, x.serial) < std::tie(y.rank, y.serial);
    });
    std::vector<StatementId> order;
    while (!left.empty()) {
        const auto ready = std::find_if(left.begin(), left.end(), [&](StatementId id) {
            const std::vector<ArrayId> inputs = inputs_of(diagram[id]);
            const Fold* fold = std::get_if<Fold>(&diagram[id].body);
            const bool seeded = fold != nullptr && !fold->seed.empty();
            return std::none_of(inputs.begin(), inputs.end(), [&](ArrayId input) {
                return missing.count(input) != 0 &&
                       !(seeded && contains(diagram[id].targets, input));
            });
        });
        if (ready == left.end())
            return NotApplicable{"`" + diagram[diagram[left.front()].targets.front()].name +
                                     "` would be needed before it can be computed",
                                 "keep it in a region of its own"};
        for (ArrayId target : diagram[*ready].targets) missing.erase(target);
        order.push_back(*ready);
        left.erase(ready);
    }
    return order;
}

void Draft::number_statements(const std::vector<StatementId>& order, State& state) const {
    std::map<StatementId, StatementId> numbers;
    state.diagram.statements.clear();
    for (Region& region : state.relabelling.regions) region.statements.clear();
    for (StatementId id : order) {
        const StatementId fresh{static_cast<std::uint32_t>(numbers.size())};
        numbers[id] = fresh;
        state.diagram.statements.push_back(diagram[id]);
        state.relabelling.regions[lines_[id.index()].region].statements.push_back(fresh);
    }
    std::erase_if(state.relabelling.regions,
                  [](const Region& region) { return region.statements.empty(); });
    std::map<StatementId, Place> places;
    for (const auto& [id, place] : state.relabelling.places)
        if (const auto found = numbers.find(id); found != numbers.end())
            places[found->second] = place;
    state.relabelling.places = std::move(places);
}

/// Boxes in the order of their last statements; a box that others would have to interrupt becomes
/// one a statement.
void Draft::number_boxes(State& state) const {
    Diagram& result = state.diagram;
    std::map<BoxId, std::vector<StatementId>> members;
    for (std::uint32_t i = 0; i < result.statements.size(); ++i)
        members[result.statements[i].box].push_back(StatementId{i});
    std::vector<std::pair<Box, std::vector<StatementId>>> boxes;
    std::vector<Region> parts;
    for (const auto& [box, statements] : members) {
        boxes.emplace_back(diagram[box], statements);
        parts.push_back(Region{statements, {}, {}});
    }
    if (!in_running_order(result, parts)) {
        boxes.clear();
        for (std::uint32_t i = 0; i < result.statements.size(); ++i) {
            const BoxId from = result.statements[i].box;
            Box box;
            if (members[from].size() == 1) box = diagram[from];
            box.span = diagram[from].span;
            boxes.emplace_back(std::move(box), std::vector<StatementId>{StatementId{i}});
        }
    }
    std::sort(boxes.begin(), boxes.end(),
              [](const auto& a, const auto& b) { return a.second.back() < b.second.back(); });
    result.boxes.clear();
    for (auto& [box, statements] : boxes) {
        for (StatementId id : statements)
            result.statements[id.index()].box = {static_cast<std::uint32_t>(result.boxes.size())};
        box.statements = statements;
        result.boxes.push_back(std::move(box));
    }
}

void Draft::number_arrays(State& state) const {
    Diagram& result = state.diagram;
    std::set<ArrayId> defined;
    for (const Statement& statement : result.statements)
        defined.insert(statement.targets.begin(), statement.targets.end());
    std::map<ArrayId, ArrayId> numbers;
    result.arrays.clear();
    for (std::uint32_t i = 0; i < diagram.arrays.size(); ++i) {
        const Array& array = diagram.arrays[i];
        const bool given = array.role == ArrayRole::Input || array.role == ArrayRole::Parameter;
        if (!given && defined.count(ArrayId{i}) == 0) continue;
        numbers[ArrayId{i}] = ArrayId{static_cast<std::uint32_t>(result.arrays.size())};
        result.arrays.push_back(array);
    }
    for (Array& array : result.arrays) {
        const auto among = array.mean_of ? numbers.find(*array.mean_of) : numbers.end();
        array.mean_of = among == numbers.end() ? std::nullopt : std::optional(among->second);
    }
    const auto renumber = [&](Expression node) {
        if (Read* element = std::get_if<Read>(&node.node))
            element->array = numbers.at(element->array);
        return node;
    };
    for (Statement& statement : result.statements) {
        for (ArrayId& target : statement.targets) target = numbers.at(target);
        statement = rewrite_statement(std::move(statement), renumber);
    }
    const auto reads_gone = [&](const Expression& written) {
        const std::set<ArrayId> read = arrays_read(written);
        return std::any_of(read.begin(), read.end(),
                           [&](ArrayId array) { return numbers.count(array) == 0; });
    };
    std::erase_if(result.spellings.calls, [&](const NamedCall& call) {
        return reads_gone(call.value) ||
               std::any_of(call.arguments.begin(), call.arguments.end(), reads_gone);
    });
    for_each_expression(result.spellings, [&](Expression& written) {
        written = rewrite(std::move(written), renumber);
    });
    std::map<ArrayId, ElementType> types;
    for (const auto& [array, type] : state.relabelling.wire_types)
        if (const auto found = numbers.find(array); found != numbers.end())
            types[found->second] = type;
    state.relabelling.wire_types = std::move(types);
    give_names(state, numbers);
}

void Draft::give_names(State& state, const std::map<ArrayId, ArrayId>& numbers) const {
    for (const auto& [array, name] : wanted_) {
        const auto found = numbers.find(array);
        if (found == numbers.end() || find_array(state.diagram, name)) continue;
        state.diagram.arrays[found->second.index()].name = name;
    }
}

Outcome Draft::finish(const Command& command, SideConditions checked) {
    drop_dead();
    settle();
    State next{diagram, relabelling_, before_.steps};
    next.relabelling.regions = regions;
    const auto order = in_order();
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&order)) return *refusal;
    number_statements(std::get<std::vector<StatementId>>(order), next);
    number_arrays(next);
    number_boxes(next);
    verify(next.diagram);
    std::optional<std::vector<Region>> ordered =
        in_running_order(next.diagram, next.relabelling.regions);
    if (!ordered)
        return NotApplicable{"data would leave a region and come back",
                             "`unfuse` the region that computes it first"};
    next.relabelling.regions = std::move(*ordered);
    if (std::optional<NotApplicable> refusal = settle_regions(next, before_)) return *refusal;
    return with_step(std::move(next), command, std::move(checked));
}

namespace {

/// Whether a region is cut along an axis of that name by what the rule undoes, groups or streams.
bool is_cut(const Diagram& diagram, const Region& region, const std::string& axis,
            const std::string& rule) {
    const auto along = [&](const auto& cut) { return diagram[cut.axis].name == axis; };
    return rule == "ungroup" ? std::any_of(region.groups.begin(), region.groups.end(), along)
                             : std::any_of(region.streams.begin(), region.streams.end(), along);
}

/// The command that takes back what stands in the way, by the names that the user knows: where a
/// step makes regions of one, or axes, those that they are made of.
std::string undo_known(const State& state, const std::string& rule, const Region& region,
                       AxisId axis, const State& before) {
    std::string name = state.diagram[axis].name;
    std::string of = region_name(state.diagram, region);
    const std::vector<Region>& known = before.relabelling.regions;
    const auto is_named = [&](const Region& each) {
        return region_name(before.diagram, each) == of && is_cut(before.diagram, each, name, rule);
    };
    if (std::none_of(known.begin(), known.end(), is_named)) {
        const auto cut = std::find_if(known.begin(), known.end(), [&](const Region& each) {
            return is_cut(before.diagram, each, name, rule);
        });
        if (cut != known.end()) of = region_name(before.diagram, *cut);
        const std::vector<Region>& made = state.relabelling.regions;
        for (const Region& each : known)
            for (const Stream& stream : each.streams) {
                const std::string& own = before.diagram[stream.axis].name;
                const bool stays = std::any_of(made.begin(), made.end(), [&](const Region& part) {
                    return is_cut(state.diagram, part, own, rule);
                });
                if (cut != known.end() || rule != "unstream" || stays) continue;
                name = own;
                of = region_name(before.diagram, each);
            }
    }
    return "`" + rule + " " + name + " in " + of + "` first";
}

}  // namespace

std::optional<NotApplicable> settle_regions(State& state, const State& before) {
    for (Region& region : state.relabelling.regions) {
        std::optional<NotApplicable> refusal;
        std::erase_if(region.groups, [&](const Group& group) {
            std::optional<NotApplicable> reason =
                why_not_grouped(state.diagram, region, group.axis);
            if (!reason) return false;
            if (state.diagram[group.axis].woven && group.size == 1) return true;
            if (!refusal)
                refusal = NotApplicable{reason->reason,
                                        undo_known(state, "ungroup", region, group.axis, before)};
            return false;
        });
        if (refusal) return refusal;
        if (const std::optional<NotApplicable> reason = why_not_streamed(state, region))
            return NotApplicable{reason->reason, undo_known(state, "unstream", region,
                                                            region.streams.front().axis, before)};
    }
    return std::nullopt;
}

}  // namespace napkin::rules
