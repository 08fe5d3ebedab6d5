// Masks in residue classes, and term by term.
#include <algorithm>

#include "diagrams/index/mask_parts.h"
#include "diagrams/index/residue_classes.h"

namespace napkin::index {

namespace {

/// The sides of a union, or the whole.
std::vector<Expression> alternatives_of(const Expression& condition) {
    const Apply* call = std::get_if<Apply>(&condition.node);
    if (call == nullptr || call->function != Function::Or) return {condition};
    std::vector<Expression> all = alternatives_of(call->arguments[0]);
    for (Expression& each : alternatives_of(call->arguments[1])) all.push_back(std::move(each));
    return all;
}

/// One clause and another, whose quotients come after its own and are variables from `first` on.
Clause both(Clause a, const Clause& b, std::size_t first) {
    const std::size_t more = a.quotients.size();
    const auto moved = [&](Linear form) {
        for (auto& [variable, coefficient] : form.terms)
            if (variable >= first) variable += more;
        return form;
    };
    for (const Quotient& quotient : b.quotients)
        a.quotients.push_back({moved(quotient.dividend), quotient.divisor});
    for (const Linear& form : b.zero) a.zero.push_back(moved(form));
    for (const Linear& form : b.not_negative) a.not_negative.push_back(moved(form));
    return a;
}

/// What holds where a clause and every choice does, as clauses; nullopt where they are too many.
std::optional<std::vector<Clause>> conjoined(std::vector<Clause> clauses,
                                             const BoxCondition& choices, std::size_t first) {
    for (const Choice& choice : choices) {
        if (choice.inverted || clauses.size() * choice.clauses.size() > kMostClauses)
            return std::nullopt;
        std::vector<Clause> more;
        for (const Clause& clause : clauses)
            for (const Clause& each : choice.clauses) more.push_back(both(clause, each, first));
        clauses = std::move(more);
    }
    return clauses;
}

}  // namespace

std::vector<Expression> Mask::Parts::terms_of_classes(const std::vector<std::size_t>& group) const {
    if (group.size() != 1) return {};
    const std::vector<Expression> terms = alternatives_of(conjuncts[group.front()]);
    const bool classes = terms.size() > 1 && !elements &&
                         std::any_of(terms.begin(), terms.end(), [&](const Expression& term) {
                             const auto split = split_classes(axes, conjuncts_of(term));
                             return split && split->period > 1;
                         });
    return classes ? terms : std::vector<Expression>{};
}

Linear Mask::Parts::renumbered(const Parts& term, const Linear& form) const {
    Linear result{form.constant, {}};
    const std::vector<Expression>& inner = term.coordinates();
    const std::vector<Expression>& outer = coordinates();
    for (const auto& [variable, coefficient] : form.terms) {
        std::size_t mine = variable - 2 * inner.size() + 2 * outer.size();
        if (variable < 2 * inner.size())
            mine = 2 * static_cast<std::size_t>(
                           std::find(outer.begin(), outer.end(), inner[variable / 2]) -
                           outer.begin()) +
                   variable % 2;
        result.terms.emplace_back(mine, coefficient);
    }
    std::sort(result.terms.begin(), result.terms.end());
    return result;
}

Clause Mask::Parts::renumbered(const Parts& term, Clause clause) const {
    for (Quotient& quotient : clause.quotients)
        quotient.dividend = renumbered(term, quotient.dividend);
    for (std::vector<Linear>* forms : {&clause.zero, &clause.not_negative})
        for (Linear& form : *forms) form = renumbered(term, form);
    return clause;
}

/// In residue classes, or term by term.
std::optional<std::vector<Clause>> Mask::Parts::clauses_in_parts(
    const std::vector<std::size_t>& group) const {
    if (elements) return std::nullopt;
    if (const std::optional<ClassSplit> split = split_classes(axes, conditions_of(group))) {
        Parts inside(split->axes, split->conditions, {});
        const ClassBoxes boxes(*split, coordinates(), inside.coordinates());
        const auto clauses = inside.clauses_of(inside.together(inside.all()), inside.ends);
        if (!clauses || !boxes.is_known()) return std::nullopt;
        return boxes.met(*clauses);
    }
    std::vector<Clause> result;
    for (const Expression& condition : terms_of_classes(group)) {
        Parts term(axes, conjuncts_of(condition), {});
        const BoxCondition met = term.met();
        const auto clauses = conjoined({Clause{}}, met, 2 * term.coordinates().size() + 2);
        if (!term.exact || !clauses) return std::nullopt;
        for (const Clause& clause : *clauses) result.push_back(renumbered(term, clause));
    }
    return result.empty() ? std::nullopt : std::optional(std::move(result));
}

namespace {

/// All chunks of a box along a coordinate.
ChunkRun every_chunk(std::size_t coordinate, std::int64_t size, bool from_zero) {
    const std::size_t low = 2 * coordinate;
    const std::size_t high = low + 1;
    ChunkRun run;
    run.least.push_back({from_zero ? Linear{1 - size, {{low, 1}}} : Linear{1 - size, {}}, size});
    run.most.push_back(
        {from_zero ? Linear{0, {{high, 1}}} : Linear{0, {{low, -1}, {high, 1}}}, size});
    return run;
}

}  // namespace

/// Chunks as runs alone, each with what all of them ask for.
std::optional<std::vector<ChunkRun>> Mask::Parts::runs_alone(std::size_t streamed,
                                                             std::int64_t size, bool from_zero) {
    const std::optional<Chunks> all_runs = chunks(streamed, size, from_zero);
    if (!all_runs) return std::nullopt;
    std::vector<ChunkRun> result;
    for (ChunkRun run : all_runs->runs) {
        const auto when = conjoined({run.when}, all_runs->when, 2 * coordinates().size() + 2);
        if (!when) return std::nullopt;
        for (const Clause& clause : *when) {
            run.when = clause;
            result.push_back(run);
        }
    }
    return result;
}

std::optional<std::vector<ChunkRun>> Mask::Parts::runs_in_parts(
    const std::vector<std::size_t>& group, std::size_t streamed, std::int64_t size,
    bool from_zero) const {
    if (elements) return std::nullopt;
    if (const std::optional<ClassSplit> split = split_classes(axes, conditions_of(group))) {
        const AxisId axis = std::get<AxisIndex>(coordinates()[streamed].node).axis;
        const auto member = std::find(split->members.begin(), split->members.end(), axis);
        if (member == split->members.end()) return std::nullopt;
        Parts inside(split->axes, split->conditions, {});
        const ClassBoxes boxes(*split, coordinates(), inside.coordinates());
        const AxisId quotient =
            split->quotients[static_cast<std::size_t>(member - split->members.begin())];
        const std::vector<Expression>& inner = inside.coordinates();
        const auto found = std::find(inner.begin(), inner.end(), axis_index(quotient));
        if (found == inner.end() || !boxes.is_known()) return std::nullopt;
        const auto runs =
            inside.runs_alone(static_cast<std::size_t>(found - inner.begin()), 1, true);
        return runs ? boxes.chunks(*runs, streamed, size, from_zero) : std::nullopt;
    }
    std::vector<ChunkRun> result;
    for (const Expression& condition : terms_of_classes(group)) {
        Parts term(axes, conjuncts_of(condition), {});
        const std::vector<Expression>& inner = term.coordinates();
        const auto found = std::find(inner.begin(), inner.end(), coordinates()[streamed]);
        if (found == inner.end()) {
            const auto clauses = conjoined({Clause{}}, term.met(), 2 * inner.size() + 2);
            if (!term.exact || !clauses) return std::nullopt;
            for (const Clause& clause : *clauses) {
                result.push_back(every_chunk(streamed, size, from_zero));
                result.back().when = renumbered(term, clause);
            }
            continue;
        }
        const auto runs =
            term.runs_alone(static_cast<std::size_t>(found - inner.begin()), size, from_zero);
        if (!runs) return std::nullopt;
        for (ChunkRun run : *runs) {
            run.when = renumbered(term, std::move(run.when));
            run.residue = renumbered(term, run.residue);
            for (std::vector<Quotient>* ends_of_run : {&run.least, &run.most})
                for (Quotient& end : *ends_of_run) end.dividend = renumbered(term, end.dividend);
            result.push_back(std::move(run));
        }
    }
    return result.empty() ? std::nullopt : std::optional(std::move(result));
}

}  // namespace napkin::index
