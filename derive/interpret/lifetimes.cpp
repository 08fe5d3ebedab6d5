#include "derive/interpret/lifetimes.h"

#include <algorithm>

#include "derive/liveness.h"

namespace napkin {

namespace {

const std::vector<TileStatement>* body_of(const TileStatement& statement) {
    if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) return &parallel->body;
    if (const Loop* loop = std::get_if<Loop>(&statement.node)) return &loop->body;
    return nullptr;
}

/// The statements around a use, outermost first, the using statement last.
using Path = std::vector<const TileStatement*>;

class UseCollector {
public:
    explicit UseCollector(const RegionProgram& region) : region_(region) { collect(region.body); }

    Lifetimes lifetimes() const {
        Lifetimes lifetimes;
        for (const auto& [variable, path] : definitions_)
            lifetimes.births[path[beside_.at(variable)]].push_back(variable);
        for (const auto& [variable, last] : last_) lifetimes.deaths[last].push_back(variable);
        return lifetimes;
    }

private:
    void collect(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body) {
            path_.push_back(&statement);
            for (VariableId variable : variables_touched(region_, statement)) use(variable);
            if (const std::vector<TileStatement>* inner = body_of(statement)) collect(*inner);
            path_.pop_back();
        }
    }
    /// Program order visits uses in order, so the latest one decides: the statement of its path
    /// that stands beside, not around, the definition.
    void use(VariableId variable) {
        const Path& definition = definitions_.try_emplace(variable, path_).first->second;
        std::size_t common = 0;
        while (common + 1 < std::min(definition.size(), path_.size()) &&
               definition[common] == path_[common])
            ++common;
        last_[variable] = path_[common];
        std::size_t& beside = beside_.try_emplace(variable, definition.size() - 1).first->second;
        beside = std::min(beside, common);
    }

    const RegionProgram& region_;
    Path path_;
    std::map<VariableId, Path> definitions_;
    std::map<VariableId, std::size_t>
        beside_;  // the outermost position at which a use leaves the definition's path
    std::map<VariableId, const TileStatement*> last_;
};

}  // namespace

Lifetimes lifetimes_of(const RegionProgram& region) {
    return UseCollector(region).lifetimes();
}

}  // namespace napkin
