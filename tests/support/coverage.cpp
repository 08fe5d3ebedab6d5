#include "tests/support/coverage.h"

#include <algorithm>
#include <array>
#include <set>

#include "derive/roles.h"
#include "diagrams/contains.h"
#include "diagrams/overloaded.h"

namespace napkin::test {

namespace {

using Counts = std::map<std::string, int>;

int at(const Counts& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
}

/// Of a derivation's text, but no step of what is computed where: random derivations have none.
bool is_apart(std::string_view rule) {
    return rule == "set" || rule == "schedule";
}

std::string padded(const std::string& name) {
    return "  " + name + std::string(name.size() < 22 ? 22 - name.size() : 1, ' ');
}

void count_names(const std::set<std::string>& names, Counts& counts) {
    for (const std::string& name : names) ++counts[name];
}

/// The monoid of a statement and the axes it is folded over; empty for maps.
std::string monoid_of(const Diagram& diagram, const Statement& statement) {
    if (const Fold* fold = std::get_if<Fold>(&statement.body))
        return (fold->every_prefix ? "scan " : "") + diagram[fold->monoid].name;
    if (const Select* select = std::get_if<Select>(&statement.body))
        return select->rank ? "topk" : "argmax";
    return "";
}

bool mentions_axis(const Expression& expression) {
    bool found = false;
    walk(expression, [&](const Expression& node) {
        found = found || std::holds_alternative<AxisIndex>(node.node);
    });
    return found;
}

void note_expression(const Diagram& diagram, const Expression& expression,
                     std::set<std::string>& names) {
    walk(expression, [&](const Expression& node) {
        if (const Apply* call = std::get_if<Apply>(&node.node)) {
            if (call->function != Function::Select) return;
            names.insert(mentions_axis(call->arguments[0]) ? "mask over axes" : "if on values");
        } else if (const Read* read = std::get_if<Read>(&node.node)) {
            if (!is_floating(diagram[read->array].type) && !producer(diagram, read->array))
                names.insert("integer input");
            for (const Expression& index : read->index) {
                if (std::holds_alternative<Read>(index.node)) names.insert("gather");
                const bool affine =
                    std::holds_alternative<Apply>(index.node) && mentions_axis(index);
                if (affine) names.insert("affine index");
            }
        }
    });
}

constexpr const char* kChained = "gather at an index gathered at a computed one, in one region";

/// Whether a region gathers by what it gathers at an index of its own.
bool chains_gathers(const Diagram& diagram, const Region& region) {
    std::set<ArrayId> computed;
    for (const StatementId id : region.statements)
        computed.insert(diagram[id].targets.begin(), diagram[id].targets.end());
    const auto is_computed = [&](const Expression& index) {
        const std::set<ArrayId> read = arrays_read(index);
        return std::any_of(read.begin(), read.end(),
                           [&](ArrayId array) { return computed.contains(array); });
    };
    const auto any_index = [](const Expression& node, const auto& holds) {
        const Read* read = std::get_if<Read>(&node.node);
        return read != nullptr && std::any_of(read->index.begin(), read->index.end(), holds);
    };
    const auto gathers = [&](const Expression& index) {
        return any_part(index,
                        [&](const Expression& node) { return any_index(node, is_computed); });
    };
    for (const StatementId id : region.statements)
        for (const Expression* expression : expressions_of(diagram[id]))
            if (any_part(*expression,
                         [&](const Expression& node) { return any_index(node, gathers); }))
                return true;
    return false;
}

constexpr std::array kElsewhere = {"reversed", "shifted", "clamped", "of another axis"};
constexpr const char* kOnlyMapped = "axis only mapped";

bool calls(const Expression& expression, Function function) {
    return any_part(expression, [&](const Expression& node) {
        const Apply* call = std::get_if<Apply>(&node.node);
        return call != nullptr && call->function == function;
    });
}

std::string kind_of(const ReadElsewhere& read) {
    if (!mentions_axis(read.index)) return "fixed";
    if (calls(read.index, Function::Modulo)) return "rotated";
    if (calls(read.index, Function::Min) || calls(read.index, Function::Max))
        return axes_used(read.index).contains(read.axis) ? "clamped" : "of another axis";
    if (!axes_used(read.index).contains(read.axis)) return "of another axis";
    const Apply* call = std::get_if<Apply>(&read.index.node);
    const bool down = call != nullptr && call->function == Function::Subtract &&
                      mentions_axis(call->arguments[1]);
    return down ? "reversed" : "shifted";
}

/// Outputs that rung 2 leaves open, without their places.
std::string why_open(const proof::Identity& identity) {
    const std::size_t comma = identity.counterexample.find(", where ");
    return comma == std::string::npos ? identity.counterexample
                                      : identity.counterexample.substr(comma + 2);
}

}  // namespace

void Coverage::note(const Diagram& plain) {
    std::set<std::string> names;
    int folds = 0;
    for (const Axis& axis : plain.axes)
        if (axis.woven) names.insert("weave");
    for (const ArrayId output : outputs_of(plain))
        if (plain[output].rounds) names.insert("output that rounds");
    for (const Statement& statement : plain.statements) {
        folds += monoid_of(plain, statement).empty() ? 0 : 1;
        for (const Expression* expression : expressions_of(statement))
            note_expression(plain, *expression, names);
    }
    if (folds >= 3) names.insert("three reductions or more");
    count_names(names, features);
}

void Coverage::note(const State& derived) {
    const Diagram& diagram = derived.diagram;
    std::set<std::string> all;
    std::set<std::string> chunked;
    const std::vector<Region>& regions = derived.relabelling.regions;
    if (std::any_of(regions.begin(), regions.end(),
                    [&](const Region& region) { return chains_gathers(diagram, region); }))
        ++features[kChained];
    for (const Region& region : regions)
        for (const StatementId id : region.statements) {
            const std::string name = monoid_of(diagram, diagram[id]);
            if (name.empty()) continue;
            all.insert(name);
            const std::vector<AxisId> over = folded_axes(diagram[id]);
            for (const Stream& stream : region.streams)
                if (contains(over, stream.axis)) chunked.insert(name);
        }
    count_names(all, folded);
    count_names(chunked, streamed);
}

void Coverage::note(const State& before, const Command& command, bool applies) {
    ++(applies ? applied : refused)[command.rule];
    const bool cuts =
        command.rule == "stream" || command.rule == "split-stream" || command.rule == "group";
    const auto region = find_region(before, command.in);
    const auto axis = cuts ? find_axis(before.diagram, command.names.front()) : std::nullopt;
    if (!axis || !std::holds_alternative<std::size_t>(region)) return;
    const Region& where = before.relabelling.regions[std::get<std::size_t>(region)];
    std::set<std::string> names;
    for (const ReadElsewhere& read : reads_elsewhere(before.diagram, where, {*axis}))
        names.insert(kind_of(read));
    bool folds = false;
    for (const StatementId id : where.statements)
        folds = folds || contains(folded_axes(before.diagram[id]), *axis);
    if (!folds && command.rule == "stream") names.insert(kOnlyMapped);
    count_names(names, applies ? cut : not_cut);
}

void Coverage::note(const proof::Proof& proof) {
    for (const proof::ProvedShape& shape : proof.shapes)
        for (const proof::Identity& identity : shape.proof.identities)
            if (identity.proved)
                ++readings[proof::print(identity.settings) +
                           (identity.degree ? ", with a bound" : ", no bound")];
            else
                ++undecided[why_open(identity)];
    proved += proof.ok() ? 1 : 0;
}

void Coverage::operator+=(const Coverage& other) {
    const auto add = [](Counts& to, const Counts& from) {
        for (const auto& [name, count] : from) to[name] += count;
    };
    add(applied, other.applied);
    add(refused, other.refused);
    add(folded, other.folded);
    add(streamed, other.streamed);
    add(cut, other.cut);
    add(not_cut, other.not_cut);
    add(features, other.features);
    add(readings, other.readings);
    add(undecided, other.undecided);
    proved += other.proved;
    verified += other.verified;
    executed += other.executed;
}

std::vector<std::string> Coverage::missing() const {
    std::vector<std::string> names;
    for (const Rule& rule : all_rules())
        if (!is_apart(rule.name) && applied.count(std::string(rule.name)) == 0)
            names.emplace_back(rule.name);
    for (const Monoid& monoid : builtin_monoids())
        for (const Counts* counts : {&folded, &streamed})
            if (counts->count(monoid.name) == 0) names.push_back(monoid.name);
    for (const char* name : {"scan sum", "argmax", "topk", "affine", "scan affine", "pair"})
        for (const Counts* counts : {&folded, &streamed})
            if (counts->count(name) == 0) names.emplace_back(name);
    for (const char* name : kElsewhere)
        for (const Counts* counts : {&cut, &not_cut})
            if (counts->count(name) == 0) names.push_back("reads " + std::string(name));
    if (features.count(kChained) == 0) names.emplace_back(kChained);
    if (cut.count(kOnlyMapped) == 0) names.emplace_back(kOnlyMapped);
    return names;
}

std::string Coverage::text() const {
    std::string text = "rules, applied and refused:\n";
    for (const Rule& rule : all_rules()) {
        const std::string name(rule.name);
        if (is_apart(name)) continue;
        text += padded(name) + std::to_string(at(applied, name)) + " applied, " +
                std::to_string(at(refused, name)) + " refused\n";
    }
    text += "monoids, derivations that fold by them, and that do so chunk by chunk:\n";
    for (const auto& [name, count] : folded)
        text += padded(name) + std::to_string(count) + " fold, " +
                std::to_string(at(streamed, name)) + " stream\n";
    text += "streams and groups along which what is computed is read elsewhere:\n";
    std::set<std::string> ways;
    for (const Counts* counts : {&cut, &not_cut})
        for (const auto& [name, count] : *counts) ways.insert(name);
    for (const std::string& name : ways)
        text += padded(name) + std::to_string(at(cut, name)) + " applied, " +
                std::to_string(at(not_cut, name)) + " refused\n";
    const auto list = [&](const char* title, const Counts& counts) {
        if (!counts.empty()) text += std::string(title) + ":\n";
        for (const auto& [name, count] : counts)
            text += padded(name) + std::to_string(count) + "\n";
    };
    list("diagrams with", features);
    list("outputs proved, by reading", readings);
    list("outputs of which rung 2 says nothing", undecided);
    return text + "derivations executed " + std::to_string(executed) + ", proved whole " +
           std::to_string(proved) + ", certificates verified " + std::to_string(verified) + "\n";
}

}  // namespace napkin::test
