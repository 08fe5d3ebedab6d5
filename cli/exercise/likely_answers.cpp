// What a reader would try: of a rule's usage (`group AXIS by SIZE`) every axis or array, of a size
// every power of two. Where everything is open, `fuse`, `group` and `stream`.
#include <algorithm>
#include <set>

#include "cli/exercise/grade.h"
#include "cli/exercise/messages.h"

namespace napkin::cli {
namespace {

using Words = std::vector<std::string>;

/// Arrays that statements define, as the user named them.
Words defined_arrays(const Diagram& diagram) {
    Words names;
    for (const Array& array : diagram.arrays)
        if (array.named && array.role != ArrayRole::Input && array.role != ArrayRole::Parameter)
            names.push_back(array.name);
    return names;
}

Words saved_arrays(const State& state) {
    Words names;
    for (const Region& region : state.relabelling.regions)
        names.push_back(region_name(state.diagram, region));
    return names;
}

/// All subsets of a few words, of many those that stand in a row.
std::vector<Words> lists_of(const Words& words, std::size_t least) {
    constexpr std::size_t kFew = 5;
    std::vector<Words> lists;
    if (words.size() <= kFew) {
        for (std::size_t bits = 1; bits < std::size_t{1} << words.size(); ++bits) {
            Words list;
            for (std::size_t i = 0; i < words.size(); ++i)
                if ((bits >> i & 1U) != 0) list.push_back(words[i]);
            if (list.size() >= least) lists.push_back(std::move(list));
        }
        return lists;
    }
    for (std::size_t from = 0; from < words.size(); ++from)
        for (std::size_t to = from + least; to <= words.size(); ++to)
            lists.emplace_back(words.begin() + static_cast<std::ptrdiff_t>(from),
                               words.begin() + static_cast<std::ptrdiff_t>(to));
    return lists;
}

std::vector<Words> one_each(const Words& words) {
    std::vector<Words> lists;
    for (const std::string& word : words) lists.push_back({word});
    return lists;
}

std::vector<Words> pairs_of(const Words& words) {
    std::vector<Words> pairs;
    for (const std::string& first : words)
        for (const std::string& second : words)
            if (first != second) pairs.push_back({first, second});
    return pairs;
}

/// What may stand after a rule.
std::vector<Words> likely_names(const Command& command, const State& state) {
    const Rule* const rule = find_rule(command.rule);
    if (rule == nullptr) return {};
    const std::string usage(rule->usage.substr(command.rule.size()));
    Words axes;
    for (const Axis& axis : state.diagram.axes) axes.push_back(axis.name);
    if (usage.starts_with(" AXIS, AXIS")) return pairs_of(axes);
    if (usage.starts_with(" AXIS")) return one_each(axes);
    if (!usage.starts_with(" ARRAY, ARRAY...")) return one_each(defined_arrays(state.diagram));
    if (command.rule != "fuse") return lists_of(defined_arrays(state.diagram), 1);
    std::vector<Words> lists = lists_of(saved_arrays(state), 2);
    lists.push_back({"all"});
    return lists;
}

/// Powers of two up to the largest axis.
std::vector<std::int64_t> likely_sizes(const State& state) {
    std::int64_t largest = 1;
    for (const Axis& axis : state.diagram.axes) largest = std::max(largest, axis.extent);
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = 1; size <= largest && sizes.size() < 24; size *= 2)
        sizes.push_back(size);
    return sizes;
}

std::vector<Command> likely_commands(const OpenCommand& open, const State& state);

/// Where everything is open: the steps that kernels are made of.
std::vector<Command> likely_steps(const State& state) {
    std::vector<Command> commands;
    for (const char* rule : {"fuse", "group", "stream"}) {
        OpenCommand open;
        open.command.rule = rule;
        open.names = true;
        open.size = open.command.rule != "fuse";
        for (Command& command : likely_commands(open, state))
            commands.push_back(std::move(command));
    }
    return commands;
}

std::vector<Command> likely_commands(const OpenCommand& open, const State& state) {
    if (open.whole) return likely_steps(state);
    std::vector<Words> names{open.command.names};
    if (open.names) names = likely_names(open.command, state);
    std::vector<Command> commands;
    for (const Words& each : names) {
        Command command = open.command;
        command.comment.clear();
        command.names = each;
        if (!open.size) {
            commands.push_back(command);
            continue;
        }
        for (const std::int64_t size : likely_sizes(state)) {
            command.size = size;
            commands.push_back(command);
        }
    }
    return commands;
}

}  // namespace

Result<std::vector<std::vector<Command>>> likely_answers(const Question& question,
                                                         const State& before, std::size_t most) {
    std::vector<std::vector<Command>> answers{{}};
    for (const OpenCommand& each : question.commands) {
        if (!each.is_open()) continue;
        const std::vector<Command> commands = likely_commands(each, before);
        const std::size_t count = answers.size() * commands.size();
        if (count > most) return too_many_answers(question.span, count, most);
        std::vector<std::vector<Command>> longer;
        for (const std::vector<Command>& answer : answers)
            for (const Command& command : commands) {
                longer.push_back(answer);
                longer.back().push_back(command);
            }
        answers = std::move(longer);
    }
    std::set<std::string> known;
    for (const std::vector<Command>& answer : answers) known.insert(typed_text(answer));
    for (const std::vector<Command>& answer : question.answers)
        if (known.insert(typed_text(answer)).second) answers.push_back(answer);
    return answers;
}

}  // namespace napkin::cli
