#include "schedule/statements.h"

namespace napkin::schedule {

bool is_scan(const Statement& statement) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    return fold != nullptr && fold->every_prefix;
}

bool is_ordered(const Statement& statement) {
    return is_scan(statement) || std::holds_alternative<Select>(statement.body);
}

std::vector<const Loop*> loops_of(const RegionProgram& region) {
    std::vector<const Loop*> loops;
    const auto visit = [&](const auto& self, const std::vector<TileStatement>& body) -> void {
        for (const TileStatement& statement : body) {
            if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
                self(self, parallel->body);
            const Loop* loop = std::get_if<Loop>(&statement.node);
            if (loop == nullptr) continue;
            loops.push_back(loop);
            self(self, loop->body);
        }
    };
    visit(visit, region.body);
    return loops;
}

std::vector<const TileStatement*> leaves_of(const RegionProgram& region) {
    std::vector<const TileStatement*> leaves;
    for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
        leaves.push_back(&statement);
    });
    return leaves;
}

}  // namespace napkin::schedule
