// What else can be done where a region does not stream: a pass of its own for the reduction, or
// another function.
#include <algorithm>

#include <fmt/ranges.h>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/judge/refusal.h"
#include "diagrams/contains.h"

namespace napkin::separation {
namespace {

/// Folds that a term depends on, those inside of their bodies too.
std::set<std::uint32_t> folds_of(Cascade& cascade, TermId term) {
    std::set<std::uint32_t> folds;
    std::vector<TermId> values{term};
    for (std::size_t i = 0; i < values.size(); ++i)
        (void)mentions(cascade.algebra(), values[i], [&](TermId id) {
            const Term& each = cascade.algebra()[id];
            if (each.kind == Kind::Fold && folds.insert(each.ref).second)
                values.push_back(cascade.folds()[each.ref].body);
            const TermId behind = cascade.behind_rounding(id);
            if (behind != id && !contains(values, behind)) values.push_back(behind);
            return false;
        });
    return folds;
}

/// The box of the first statement that the term is a part of.
std::optional<BoxId> box_with(Cascade& cascade, TermId term) {
    const Diagram& diagram = cascade.diagram();
    for (const RegionStatement& each : cascade.statements())
        for (const ArrayId target : diagram[each.statement].targets) {
            const std::optional<TermId> value = cascade.unrounded(target);
            if (value && mentions(cascade.algebra(), *value, term))
                return diagram[each.statement].box;
        }
    return std::nullopt;
}

/// Reductions without a statement of their own, as the user would write them: no step can take them
/// out of the statement that they are a part of.
std::vector<std::string> reductions_inside(Cascade& cascade, TermId term) {
    const Diagram& diagram = cascade.diagram();
    const std::optional<BoxId> box = box_with(cascade, term);
    std::vector<std::string> inside;
    for (const std::uint32_t each : folds_of(cascade, term)) {
        const std::optional<StatementId> statement = cascade.folds()[each].statement;
        if (!statement || !box || diagram[*statement].box != *box) continue;
        const Array& target = diagram[diagram[*statement].targets.front()];
        if (target.named) return {};
        inside.push_back("`" + cascade.spelled()[diagram[*statement].targets.front()].name + "`");
    }
    return inside;
}

/// Whether the region is what the user wrote as one statement, so that it is in no other's way.
bool is_one_box(const Cascade& cascade) {
    const Diagram& diagram = cascade.diagram();
    const auto& all = cascade.statements();
    return std::all_of(all.begin(), all.end(), [&](const RegionStatement& each) {
        return diagram[each.statement].box == diagram[all.front().statement].box;
    });
}

}  // namespace

NotApplicable with_ways_out(Cascade& cascade, std::string reason,
                            const std::optional<TermId>& term) {
    const std::string axis = cascade.axis_names();
    const std::vector<std::string> inside =
        term ? reductions_inside(cascade, *term) : std::vector<std::string>{};
    const bool several = inside.size() > 1;
    std::string apart =
        "put the reduction over `" + axis + "` in a region of its own, which costs one more pass";
    if (!inside.empty())
        apart = fmt::format(
            "write {} as {} own, in a region before this one, which costs one more "
            "pass",
            fmt::join(inside, " and "), several ? "statements of their" : "a statement of its");
    else if (is_one_box(cascade))
        apart = "leave `" + axis + "` whole here";
    return {.reason = "no accumulator found: " + std::move(reason),
            .help = apart + "; or change the diagram: split `" + axis +
                    "` and reduce within a chunk, which is another function"};
}

}  // namespace napkin::separation
