// The rule catalogue, and derivations: commands applied in order from the plain diagram.
#include <algorithm>

#include "derive/messages.h"
#include "derive/rules/rule_support.h"
#include "derive/state.h"
#include "diagrams/nearest.h"
#include "diagrams/syntax/lexer.h"

namespace napkin {

namespace {

// clang-format off
constexpr std::array kRules = {
    Rule{"fuse", "fuse ARRAY, ARRAY... | fuse all",
         "save ; load == nothing, between boxes that run at the same level",
         "the fused region is convex; groups of the parts are legal for the whole; streams are undone first",
         "fuse S, P, O",
         "arXiv 2412.03317, 2.2", rules::fuse},
    Rule{"unfuse", "unfuse ARRAY",
         "nothing == save ; load, between boxes; of one box, between what it reduces and its result",
         "the region is not streamed",
         "unfuse O",
         "inverse of fuse", rules::unfuse},
    Rule{"group", "group AXIS by SIZE [at LEVEL] [in REGION]",
         "a map over an axis == the map over each part of the axis",
         "every statement of the region keeps the axis or lacks it; what is saved has it; what is computed along it is read where it is computed",
         "group q by 128 at l1 in O",
         "arXiv 2412.03317, 2.3", rules::group},
    Rule{"ungroup", "ungroup AXIS [at LEVEL] [in REGION]",
         "maps over the parts of an axis == the map over the axis",
         "the axis is grouped there",
         "ungroup q in O",
         "inverse of group", rules::ungroup},
    Rule{"stream", "stream AXIS by SIZE [as written] [at LEVEL] [in REGION]",
         "a fold over an axis == a fold over its chunks through an accumulator",
         "the axis comes from a load; every statement maps or folds it; the folds have an accumulator; what is computed along it and read elsewhere is made again from what is loaded, or picked at an index known beforehand; axes streamed together are folded together, or the later ones inside a chunk of the others, by nothing that is kept beyond it; a noncommutative monoid meets its elements in the order of the fold",
         "stream x by 64 at l1 in O",
         "arXiv 2412.03317, 2.4", rules::stream},
    Rule{"unstream", "unstream AXIS [at LEVEL] [in REGION]",
         "a fold over the chunks of an axis == the fold over the axis",
         "the axis is streamed there",
         "unstream x in O",
         "inverse of stream", rules::unstream},
    Rule{"recolour", "recolour ARRAY at PLACE",
         "a box computes the same wherever it runs",
         "the tensor core takes products of matrices, whose operands may be computed",
         "recolour S at tensor-core",
         "arXiv 2412.03317, 2.2", rules::recolour},
    Rule{"retype", "retype ARRAY to TYPE",
         "a wire may be stored in another type, up to rounding",
         "the wire is a floating one whose type the diagram does not fix; between folds of a stream, its streamed part is a factor of what is folded; its rounding enters the tolerance",
         "retype P to f16",
         "arXiv 2412.03317, 4", rules::retype},
    Rule{"split-axis", "split-axis AXIS as NAME by SIZE",
         "an axis == a pair of axes",
         "the size divides; no scan or selection runs and no input holds indices along the axis; it is neither grouped nor streamed; other groups and streams stay legal",
         "split-axis q as q1 by 16",
         "arXiv 2412.03317, 2.3", rules::split_axis},
    Rule{"join-axes", "join-axes AXIS, AXIS as NAME",
         "a pair of adjacent axes == one axis",
         "every array has both side by side or neither; reductions take both or neither, noncommutative ones in that order; groups and streams of other axes stay legal",
         "join-axes a, b as c",
         "inverse of split-axis", rules::join_axes},
    Rule{"layout", "layout ARRAY[AXIS, AXIS...] [as NAME] [in REGION]",
         "what lies in memory in one order of its axes may lie in another",
         "the axes, slowest first, are all of the array's; of the caller's arrays it is a copy that lies so, with a region of its own",
         "layout A[c, i, k] as A_c",
         "arXiv 2412.03317, 2.2", rules::layout},
    Rule{"split-stream", "split-stream AXIS by SIZE [as PART, PLACE] [in REGION]",
         "a fold over an axis == the combination of the folds over its parts",
         "the folds over the axis have an accumulator; nothing that has the axis is saved, no prefix along it is kept; parts are whole where indices from data vary along it; a noncommutative monoid folds it outermost",
         "split-stream x by 512 as part, place",
         "arXiv 2412.03317, 2.4", rules::split_stream},
    Rule{"recompute", "recompute ARRAY, ARRAY... [in REGION]",
         "a box computed twice == its output copied",
         "the region reads what another region computes; groups and streams stay legal with the box in it",
         "recompute S in O",
         "arXiv 2205.14135, 3.2", rules::recompute},
    Rule{"extract", "extract ARRAY, ARRAY... as NAME in ARRAY",
         "f(g(x)) == g, then f of what it computes",
         "the largest part of the array's expression that reads those named and no others is a number, and less than all of it; what a condition keeps inside an array does not leave it",
         "extract X, shift as A in Y",
         "arXiv 2412.03317, 2.1", rules::extract},
    Rule{"absorb-normaliser", "absorb-normaliser ARRAY as NAME",
         "exp(s - m) / l == exp(s - (m + log l))",
         "the divisor is a sum of exponentials",
         "absorb-normaliser P as L",
         "arXiv 2205.14135, B", rules::absorb_normaliser},
    Rule{"stabilise", "stabilise ARRAY [as NAME]",
         "sum(x) exp(u) == exp(g) * sum(x) exp(u - g), g = max(x) u",
         "the array is a sum of exponentials that no maximum is subtracted from; some use of it cancels exp(g)",
         "stabilise Z as Z_max",
         "arXiv 1805.02867, 3", rules::stabilise},
    Rule{"distribute", "distribute ARRAY [as NAME, NAME...]",
         "c * (a + b) == c * a + c * b, and a fold of a combination == the combination of the folds",
         "the array's expression multiplies or squares a sum or an element of a map that is one, combines by the monoid that it is folded by, or has a factor that does not vary and, in a maximum or minimum, is not negative; sums and what they are multiplied by are finite; of a folded product of sums some term lacks an axis; integers stay exact",
         "distribute Y as Y1, Y2",
         "ring and monoid laws", rules::distribute},
    Rule{"commute", "commute AXIS, AXIS in ARRAY [as NAME] | commute ARRAY, ARRAY in ARRAY",
         "folds over two axes in one order == in the other; a * b == b * a",
         "one commutative monoid folds both axes, with finite factors between them; the two arrays are factors of one product",
         "commute i, j in Y",
         "monoid laws", rules::commute},
    Rule{"reassociate", "reassociate ARRAY, ARRAY... as NAME in ARRAY",
         "(A B) C == A (B C)",
         "the array is a sum over products of finite factors that those named stand in, and some summed axis is theirs alone",
         "reassociate A, B as AB in Y",
         "arXiv 2412.03317, 2.1", rules::reassociate},
    Rule{"set", "set AXIS = SIZE",
         "sizes are defaults",
         "the axis is declared with a size of its own",
         "set q = 8192",
         "docs/language.md, sizes", rules::set_size},
    Rule{"schedule", "schedule CHOICE [of NAME] = VALUE [in REGION]",
         "a region computes the same however it is carried out",
         "the choice is one of docs/codegen.md; when a kernel is made, its target keeps to it or says why not",
         "schedule stages = 3 in O",
         "docs/codegen.md, choices", rules::schedule},
};
// clang-format on

/// A clause of commands: how usage texts spell it, and whether a command has one.
struct Clause {
    std::string_view keyword;
    std::string_view spelled;
    std::string_view other;  ///< another spelling
    bool (*stands_in)(const Command&) = nullptr;
};

// clang-format off
constexpr std::array kClauses = {
    Clause{"[...]", "ARRAY[AXIS", "", [](const Command& c) { return !c.axes.empty(); }},
    Clause{"of",    "of",         "", [](const Command& c) { return !c.of.empty(); }},
    Clause{"=",     "= VALUE",    "", [](const Command& c) { return !c.value.empty(); }},
    Clause{"as",    "as",         "", [](const Command& c) { return !c.as.empty(); }},
    Clause{"by",    "by SIZE",    "= SIZE", [](const Command& c) { return c.size.has_value(); }},
    Clause{"at",    "at",         "", [](const Command& c) { return !c.at.empty(); }},
    Clause{"to",    "to",         "", [](const Command& c) { return !c.to.empty(); }},
    Clause{"in",    "in",         "", [](const Command& c) { return !c.in.empty(); }},
};
// clang-format on

/// Whether the words stand in a usage text, as `by SIZE` does in `group AXIS by SIZE [at LEVEL]`.
bool has_words(std::string_view usage, std::string_view words) {
    if (words.empty()) return false;
    const auto ends = [&](std::size_t at) {
        return at >= usage.size() || std::string_view(" [],").find(usage[at]) != usage.npos;
    };
    for (std::size_t at = usage.find(words); at != usage.npos; at = usage.find(words, at + 1))
        if (at > 0 && ends(at - 1) && ends(at + words.size())) return true;
    return false;
}

/// The refusal of a clause that the rule's usage does not name.
std::optional<NotApplicable> why_not_taken(const Rule& rule, const Command& command) {
    for (const Clause& clause : kClauses)
        if (clause.stands_in(command) && !has_words(rule.usage, clause.spelled) &&
            !has_words(rule.usage, clause.other))
            return out_of_place(
                "`" + command.rule + "` takes no `" + std::string(clause.keyword) + "`",
                "write `" + std::string(rule.usage) + "`");
    return std::nullopt;
}

}  // namespace

std::span<const Rule> all_rules() {
    return kRules;
}

const Rule* find_rule(std::string_view name) {
    for (const Rule& rule : kRules)
        if (rule.name == name) return &rule;
    return nullptr;
}

std::string rules_page() {
    std::string page =
        "# Rules\n\n"
        "Printed from the rule catalogue (`derive/derivation.cpp`); a test keeps it current. Each "
        "rule takes a state and "
        "a command and returns the next state, or the reason why not. A command has no clause that "
        "the usage does not name.\n";
    for (const Rule& rule : kRules) {
        page += "\n## " + std::string(rule.name) + "\n\n";
        page += "* usage: `" + std::string(rule.usage) + "`\n";
        page += "* law: " + std::string(rule.law) + "\n";
        page += "* side condition: " + std::string(rule.condition) + "\n";
        page += "* as in: `" + std::string(rule.example) + "`\n";
        page += "* source: " + std::string(rule.citation) + "\n";
    }
    return page;
}

State initial_state(const Diagram& diagram) {
    return {diagram, plain_relabelling(diagram), {}};
}

Outcome apply(const State& state, const Command& command) {
    const Rule* const rule = find_rule(command.rule);
    if (rule != nullptr)
        if (std::optional<NotApplicable> refusal = why_not_taken(*rule, command))
            return *std::move(refusal);
    for (const std::string& wanted : command.as)
        if (!syntax::is_name(wanted))
            return out_of_place("`" + wanted + "` cannot be a name",
                                "a name is letters, digits and `_`, not beginning with a digit, "
                                "and no reserved word");
    if (rule != nullptr) return rule->apply(state, command);
    std::vector<std::string> names;
    std::string list;
    for (const Rule& known : kRules) {
        names.emplace_back(known.name);
        list += (list.empty() ? "" : ", ") + std::string(known.name);
    }
    const std::optional<std::string> near = nearest(command.rule, names);
    return out_of_place("there is no rule `" + command.rule + "`",
                        near ? "did you mean `" + *near + "`?" : "rules are " + list);
}

Result<State> replay(const Diagram& diagram, std::span<const Command> commands) {
    State state = initial_state(diagram);
    for (const Command& command : commands) {
        Outcome outcome = apply(state, command);
        if (const NotApplicable* refusal = std::get_if<NotApplicable>(&outcome)) {
            Command bare = command;
            bare.comment.clear();
            return messages::step_refused(command.span, print(bare), refusal->reason,
                                          refusal->help);
        }
        state = std::get<State>(std::move(outcome));
    }
    return state;
}

namespace {

std::string list_regions(const State& state) {
    std::vector<std::string> names;
    for (const Region& region : state.relabelling.regions)
        names.push_back(region_name(state.diagram, region));
    return rules::list_names(names);
}

}  // namespace

std::string undo_first(const State& state, std::string_view rule, AxisId axis,
                       const Region& region) {
    std::string command = std::string(rule) + " " + state.diagram[axis].name;
    if (state.relabelling.regions.size() > 1)
        command += " in " + region_name(state.diagram, region);
    return "`" + command + "` first";
}

std::optional<NotApplicable> why_cut(const State& state, const Region& region, AxisId axis,
                                     bool groups) {
    const auto is_of = [&](const auto& part) { return part.axis == axis; };
    const std::string name = "`" + state.diagram[axis].name + "`";
    if (std::any_of(region.streams.begin(), region.streams.end(), is_of))
        return NotApplicable{name + " is streamed", undo_first(state, "unstream", axis, region)};
    if (groups && std::any_of(region.groups.begin(), region.groups.end(), is_of))
        return NotApplicable{name + " is grouped", undo_first(state, "ungroup", axis, region)};
    return std::nullopt;
}

std::variant<std::size_t, NotApplicable> find_region(const State& state, const std::string& name) {
    const std::vector<Region>& regions = state.relabelling.regions;
    if (name.empty()) {
        if (regions.size() == 1) return std::size_t{0};
        return out_of_place("there are several regions: " + list_regions(state),
                            "say which with `in REGION`");
    }
    const auto which = [&] {
        return (regions.size() == 1 ? "the region is " : "the regions are ") + list_regions(state);
    };
    const std::optional<ArrayId> array = find_array(state.diagram, name);
    if (!array) {
        std::vector<std::string> names;
        for (const Array& known : state.diagram.arrays)
            if (known.named) names.push_back(known.name);
        const std::optional<std::string> near = nearest(name, names);
        return out_of_place("there is no array `" + name + "`",
                            (near ? "did you mean `" + *near + "`? " : "") + which());
    }
    for (std::size_t r = 0; r < regions.size(); ++r)
        for (StatementId id : regions[r].statements)
            for (ArrayId target : state.diagram[id].targets)
                if (target == *array) return r;
    return out_of_place("`" + name + "` is an input: no region computes it", which());
}

namespace rules {

Outcome set_size(const State& state, const Command& command) {
    if (command.names.size() != 1 || !command.size)
        return out_of_place("it takes an axis and a size", "write `set AXIS = SIZE`");
    const std::optional<AxisId> axis = find_axis(state.diagram, command.names.front());
    if (!axis) {
        const std::optional<ArrayId> array = find_array(state.diagram, command.names.front());
        if (array && state.diagram[*array].role == ArrayRole::Parameter)
            return out_of_place("`" + command.names.front() + "` is a parameter, not a size",
                                "no derivation depends on it: give it with `--set`");
        return out_of_place("there is no axis `" + command.names.front() + "`", "");
    }
    return with_step(state, command);
}

Outcome schedule(const State& state, const Command& command) {
    if (command.names.size() != 1 || command.value.empty())
        return out_of_place("it takes a choice and its value",
                            "write `schedule stages = 3 in O` or `schedule stages of K = 3 in O`");
    const auto region = find_region(state, command.in);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&region)) return *refusal;
    return with_step(state, command, {"what the region computes stays as it is"});
}

}  // namespace rules

}  // namespace napkin
