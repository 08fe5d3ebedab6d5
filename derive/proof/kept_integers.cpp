#include "derive/proof/kept_integers.h"

#include <set>

#include "diagrams/value_kind.h"

namespace napkin::proof {
namespace {

/// Names of what the diagram computes from integers, rounded or not.
std::set<std::string> integers_of(const Diagram& plain) {
    std::set<std::string> names;
    for (const Statement& statement : plain.statements)
        for (std::size_t i = 0; i < statement.targets.size(); ++i)
            if (kind_of(plain, statement, i) == ValueKind::Integer)
                names.insert(plain[statement.targets[i]].name);
    return names;
}

std::optional<std::string> real_among(const std::set<std::string>& integers, const Diagram& scope,
                                      const std::vector<TileStatement>& body) {
    std::optional<std::string> found;
    for (const TileStatement& each : body) {
        if (const Parallel* groups = std::get_if<Parallel>(&each.node))
            found = real_among(integers, scope, groups->body);
        if (const Loop* loop = std::get_if<Loop>(&each.node))
            found = real_among(integers, scope, loop->body);
        if (const Compute* compute = std::get_if<Compute>(&each.node)) {
            if (const auto target = inexact_target(scope, compute->statement))
                found = scope[*target].name;
            const std::vector<ArrayId>& targets = compute->statement.targets;
            for (std::size_t i = 0; i < targets.size(); ++i)
                if (integers.contains(scope[targets[i]].name) &&
                    computes_reals(scope, compute->statement, i))
                    found = scope[targets[i]].name;
        }
        if (found) return found;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> integers_in_reals(const Diagram& plain, const TileProgram& program) {
    const std::set<std::string> integers = integers_of(plain);
    for (const RegionProgram& region : program.regions)
        if (const auto found = real_among(integers, scope_of(region), region.body)) return found;
    return std::nullopt;
}

}  // namespace napkin::proof
