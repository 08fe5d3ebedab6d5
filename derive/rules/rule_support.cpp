#include "derive/rules/rule_support.h"

#include <algorithm>
#include <utility>

#include "diagrams/contains.h"
#include "diagrams/facts.h"

namespace napkin::rules {

std::variant<Site, NotApplicable> find_site(const State& state, const Command& command) {
    if (command.names.size() != 1)
        return out_of_place("it takes one axis", "write `" + command.rule + " AXIS ...`");
    Site site;
    const std::optional<AxisId> axis = find_axis(state.diagram, command.names.front());
    if (!axis) {
        std::string known;
        for (const Axis& candidate : state.diagram.axes)
            known += (known.empty() ? "" : ", ") + candidate.name;
        return out_of_place("there is no axis `" + command.names.front() + "`",
                            "axes are " + known);
    }
    site.axis = *axis;
    if (!command.at.empty()) {
        const std::optional<Level> level = level_named(command.at);
        if (!level || (*level != Level::Block && *level != Level::Warps && *level != Level::Thread))
            return out_of_place("`" + command.at + "` is no level to run at",
                                "levels are l1 (block), l2 (warps) and thread");
        site.level = *level;
    }
    const auto region = find_region(state, command.in);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&region)) return *refusal;
    site.region = std::get<std::size_t>(region);
    return site;
}

SideConditions checked_of(const Accumulator& accumulator) {
    SideConditions checked;
    for (const Obligation& each : accumulator.obligations)
        (each.met ? checked.conditions : checked.hazards).push_back(print(each));
    checked.conditions.insert(checked.conditions.end(), accumulator.conditions.begin(),
                              accumulator.conditions.end());
    return checked;
}

State with_step(State state, const Command& command, SideConditions checked) {
    const Rule* rule = find_rule(command.rule);
    state.steps.push_back({command, rule != nullptr ? std::string(rule->law) : "",
                           std::move(checked.conditions), std::move(checked.hazards)});
    return state;
}

State with_step(State state, const Command& command, std::vector<std::string> conditions) {
    return with_step(std::move(state), command, SideConditions{std::move(conditions), {}});
}

std::string list_names(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    return text;
}

std::string statement_names(const Diagram& diagram, const std::vector<StatementId>& statements) {
    std::vector<std::string> names;
    for (StatementId id : statements) {
        const Box& box = diagram[diagram[id].box];
        const std::string& name = diagram[diagram[box.statements.back()].targets.front()].name;
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return list_names(names);
}

NotApplicable with_parts(const Diagram& diagram, StatementId whole, NotApplicable refused,
                         const std::function<bool(StatementId)>& fits) {
    std::vector<std::string> names;
    for (const StatementId part : diagram[diagram[whole].box].statements)
        if (part != whole && fits(part))
            names.push_back("`" + diagram[diagram[part].targets.front()].name + "`");
    if (names.size() == 1) refused.help = "its part " + names.front() + " is one";
    if (names.size() > 1) refused.help = "its parts " + list_names(names) + " are";
    return refused;
}

const Fold* plain_sum(const Diagram& diagram, StatementId id) {
    const Fold* fold = std::get_if<Fold>(&diagram[id].body);
    const bool fits =
        fold != nullptr && fold->monoid == kSum && !fold->every_prefix && fold->seed.empty();
    return fits ? fold : nullptr;
}

NotApplicable refused_elsewhere(const Array& array, const Axis& axis, const std::string& part) {
    return {"`" + array.name + "` is read at other indices than it is computed at along `" +
                axis.name + "`, so one " + part + " would need values of another",
            "keep `" + array.name + "` in a region of its own"};
}

NotApplicable with_unfusing(const State& state, const Region& region,
                            const std::vector<AxisId>& axes, NotApplicable refused,
                            const std::function<bool(const State&, const Region&)>& holds) {
    const std::vector<ReadElsewhere> reads = reads_elsewhere(state.diagram, region, axes);
    if (reads.empty()) return refused;
    State whole = state;
    for (Region& each : whole.relabelling.regions) each.streams.clear();
    Command command;
    command.rule = "unfuse";
    command.names = {region_name(state.diagram, region)};
    const Outcome outcome = unfuse(whole, command);
    const State* apart = std::get_if<State>(&outcome);
    if (apart == nullptr) return refused;
    const StatementId reader = region.statements[reads.front().reader];
    for (const Region& part : apart->relabelling.regions)
        if (contains(part.statements, reader) && holds(*apart, part))
            refused.help = "`" + print(command) + "` gives `" +
                           state.diagram[reads.front().array].name + "` a region of its own, and " +
                           region_name(state.diagram, part) + " loads it where it reads it";
    return refused;
}

std::optional<NotApplicable> mixed_roles(const Diagram& diagram, const std::vector<Role>& roles,
                                         const std::string& verb) {
    const auto kept = std::find_if(roles.begin(), roles.end(),
                                   [](const Role& role) { return role.folded.empty(); });
    const auto folded = std::find_if(roles.begin(), roles.end(),
                                     [](const Role& role) { return !role.folded.empty(); });
    if (kept == roles.end() || folded == roles.end()) return std::nullopt;
    const std::string& name = diagram[kept->axis].name;
    return NotApplicable{"`" + name + "` is used in unrelated ways here: folded in " +
                             statement_names(diagram, folded->folded) + ", kept in " +
                             statement_names(diagram, kept->mapped) + ", so it must stay whole",
                         "declare an alias (`axis " + name + "2 = " + name + "`), use it in " +
                             statement_names(diagram, kept->mapped) + ", and " + verb +
                             " that one"};
}

std::optional<NotApplicable> why_not_grouped(const Diagram& diagram, const Region& region,
                                             AxisId axis) {
    const std::string& name = diagram[axis].name;
    const std::vector<Role> roles = roles_of(diagram, region, axis);
    if (roles.empty())
        return out_of_place(
            "nothing in " + region_name(diagram, region) + " varies along `" + name + "`", "");
    if (std::optional<NotApplicable> mixed = mixed_roles(diagram, roles, "group")) return mixed;
    for (const Role& role : roles)
        if (!role.folded.empty())
            return NotApplicable{"`" + name + "` is reduced in " +
                                     statement_names(diagram, role.folded) +
                                     ", and only an axis that all its results keep can be grouped",
                                 "stream it, or keep that reduction in an earlier region"};
    if (const auto reads = reads_elsewhere(diagram, region, {axis}); !reads.empty())
        return refused_elsewhere(diagram[reads.front().array], diagram[axis], "group");
    for (ArrayId array : saves_of(diagram, region)) {
        const std::vector<AxisId>& axes = diagram[array].axes;
        if (std::find(axes.begin(), axes.end(), axis) == axes.end())
            return NotApplicable{"`" + diagram[array].name + "` lacks `" + name +
                                     "` and is saved here: every group would write it",
                                 "keep `" + diagram[array].name + "` in a region of its own"};
    }
    return std::nullopt;
}

std::optional<NotApplicable> why_infinite(const Diagram& diagram, const Expression& factor) {
    if (!DiagramFacts(diagram).of(factor).may_be_infinite()) return std::nullopt;
    return NotApplicable{"`" + print(diagram, factor) +
                             "` may be infinite, and a product of it with a sum is then not the "
                             "sum of its products",
                         "write the finite value that it should have where it is infinite"};
}

}  // namespace napkin::rules
