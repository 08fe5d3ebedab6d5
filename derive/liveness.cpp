#include "derive/liveness.h"

#include <algorithm>
#include <map>
#include <set>

#include "diagrams/overloaded.h"

namespace napkin {

namespace {

/// A loop or parallel block, as the leaves that it covers.
struct Block {
    std::size_t first = 0;
    std::size_t last = 0;
};

/// A leaf that touches a variable, with the blocks around it from the outermost in.
struct Touch {
    std::size_t leaf = 0;
    std::vector<std::size_t> blocks;
};

class Numbering {
public:
    explicit Numbering(const RegionProgram& region) : region_(region) { visit(region.body); }

    std::vector<const TileStatement*> leaves;
    std::vector<Block> blocks;
    std::map<VariableId, std::vector<Touch>> touches;

private:
    void visit(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body) {
            if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
                enter(parallel->body);
            } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
                enter(loop->body);
            } else {
                for (VariableId variable : variables_touched(region_, statement))
                    touches[variable].push_back({leaves.size(), path_});
                leaves.push_back(&statement);
            }
        }
    }
    void enter(const std::vector<TileStatement>& body) {
        const std::size_t block = blocks.size();
        blocks.push_back({leaves.size(), leaves.size()});
        path_.push_back(block);
        visit(body);
        path_.pop_back();
        blocks[block].last = leaves.empty() ? 0 : leaves.size() - 1;
    }

    const RegionProgram& region_;
    std::vector<std::size_t> path_;
};

/// How many blocks all touches share.
std::size_t shared_depth(const std::vector<Touch>& touches) {
    std::size_t depth = touches.front().blocks.size();
    for (const Touch& touch : touches) {
        const auto [mine, theirs] =
            std::mismatch(touch.blocks.begin(), touch.blocks.end(), touches.front().blocks.begin(),
                          touches.front().blocks.end());
        depth = std::min(depth, static_cast<std::size_t>(mine - touch.blocks.begin()));
    }
    return depth;
}

/// The first and last leaf at which a variable is held.
Block span_of(const std::vector<Touch>& touches, const std::vector<Block>& blocks) {
    const std::size_t depth = shared_depth(touches);
    Block span{touches.front().leaf, touches.front().leaf};
    for (const Touch& touch : touches) {
        const bool inner = touch.blocks.size() > depth;
        const Block here = inner ? blocks[touch.blocks[depth]] : Block{touch.leaf, touch.leaf};
        span = {std::min(span.first, here.first), std::max(span.last, here.last)};
    }
    return span;
}

/// The variables that hold the indices of a gather, at the level that gathers.
std::vector<VariableId> index_variables(const RegionProgram& region, const Load& load) {
    std::vector<VariableId> found;
    std::set<ArrayId> arrays;
    for (const Expression& index : load.gather) arrays.merge(arrays_read(index));
    const Level level = region.variables[load.target.index()].level;
    for (std::uint32_t i = 0; i < region.variables.size(); ++i)
        if (region.variables[i].level == level && arrays.contains(region.variables[i].array))
            found.push_back(VariableId{i});
    return found;
}

}  // namespace

std::vector<VariableId> variables_touched(const RegionProgram& region,
                                          const TileStatement& statement) {
    std::vector<VariableId> touched;
    std::visit(overloaded{
                   [](const Parallel&) {},
                   [](const Loop&) {},
                   [&](const Load& load) {
                       touched = index_variables(region, load);
                       touched.push_back(load.target);
                       if (load.source) touched.push_back(*load.source);
                   },
                   [&](const Compute& compute) {
                       touched = compute.targets;
                       touched.insert(touched.end(), compute.reads.begin(), compute.reads.end());
                   },
                   [&](const Save& save) {
                       touched.push_back(save.source);
                       if (save.target) touched.push_back(*save.target);
                   },
               },
               statement.node);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    return touched;
}

std::vector<Moment> liveness(const RegionProgram& region) {
    const Numbering numbering(region);
    std::vector<Moment> moments(numbering.leaves.size());
    for (std::size_t leaf = 0; leaf < moments.size(); ++leaf)
        moments[leaf].statement = numbering.leaves[leaf];
    for (const auto& [variable, touches] : numbering.touches) {
        const Block span = span_of(touches, numbering.blocks);
        for (std::size_t leaf = span.first; leaf <= span.last; ++leaf) {
            moments[leaf].during.push_back(variable);
            if (leaf < span.last) moments[leaf].after.push_back(variable);
        }
    }
    return moments;
}

}  // namespace napkin
