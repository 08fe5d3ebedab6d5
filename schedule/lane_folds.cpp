#include "schedule/lane_folds.h"

#include <algorithm>
#include <limits>

#include "diagrams/check/constants.h"

namespace napkin::schedule {
namespace {

/// A statement with its leaf, where it is one, and its loop, where it is one.
struct Numbered {
    const TileStatement* statement = nullptr;
    LeafId leaf;
    std::uint32_t loop = 0;
    std::vector<Numbered> body;
};

std::vector<Numbered> numbered(const std::vector<TileStatement>& body, LeafId& leaf,
                               std::uint32_t& loop) {
    std::vector<Numbered> result;
    for (const TileStatement& statement : body) {
        Numbered made{&statement, leaf, loop, {}};
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            made.body = numbered(parallel->body, leaf, loop);
        } else if (const Loop* inner = std::get_if<Loop>(&statement.node)) {
            ++loop;
            made.body = numbered(inner->body, leaf, loop);
        } else {
            ++leaf.value;
        }
        result.push_back(std::move(made));
    }
    return result;
}

bool reads(const Compute& compute, VariableId variable) {
    return std::find(compute.reads.begin(), compute.reads.end(), variable) != compute.reads.end();
}

std::optional<double> identity_of(MonoidId monoid) {
    if (monoid == kSum) return 0;
    if (monoid == kProduct) return 1;
    if (monoid == kMax) return -std::numeric_limits<double>::infinity();
    if (monoid == kMin) return std::numeric_limits<double>::infinity();
    return std::nullopt;
}

class LaneFolds {
public:
    LaneFolds(const RegionProgram& region, const Plan& plan) : region_(region), plan_(plan) {}

    std::map<LeafId, std::uint32_t> run() {
        LeafId leaf;
        std::uint32_t loop = 0;
        visit(numbered(region_.body, leaf, loop));
        return std::move(found_);
    }

private:
    void visit(const std::vector<Numbered>& body) {
        for (std::size_t i = 0; i < body.size(); ++i) {
            visit(body[i].body);
            if (!std::holds_alternative<Loop>(body[i].statement->node)) continue;
            collect(body, i, body[i]);
        }
    }

    /// Of a loop and those inside it.
    void collect(const std::vector<Numbered>& around, std::size_t loop, const Numbered& inside) {
        for (const Numbered& inner : inside.body) {
            const Compute* compute = std::get_if<Compute>(&inner.statement->node);
            if (std::holds_alternative<Loop>(inner.statement->node))
                collect(around, loop, inner);
            else if (compute != nullptr && folded_apart(inner.leaf, *compute) &&
                     begins_before(around, loop, *compute) && alone_in(around[loop], *compute))
                found_[inner.leaf] = around[loop].loop;
        }
    }

    /// A fold into a state that threads may each have a part of.
    bool folded_apart(LeafId leaf, const Compute& compute) const {
        const Fold* fold = std::get_if<Fold>(&compute.statement.body);
        const VariableId target = compute.targets.front();
        const ArrayId array = region_.variables[target.index()].array;
        return fold != nullptr && identity_of(fold->monoid) && !plan_.products.contains(leaf) &&
               !region_.arrays[array.index()].rounds && !fold->seed.empty() &&
               kept(*fold, fold->seed.front(), target) &&
               !arrays_read(fold->values.front()).contains(array) &&
               (folds_along_a_row(leaf, *fold, target) || folds_columns(leaf, target));
    }

    /// Of what threads fold serially, each its part, into states of columns.
    bool folds_columns(LeafId leaf, VariableId target) const {
        const auto serial = plan_.serial.find(leaf);
        return serial != plan_.serial.end() && !serial->second.over && plan_.sharers() > 1 &&
               plan_.tiles.at(target).home == Home::Fragment;
    }

    /// Of what lies along fragments, into a state of the rows.
    bool folds_along_a_row(LeafId leaf, const Fold& fold, VariableId target) const {
        if (plan_.serial.contains(leaf) || plan_.tiles.at(target).home != Home::Row) return false;
        const std::set<AxisId> along = axes_along(plan_.tile_axes, fold.values.front());
        bool shared = false;
        for (const AxisId axis : fold.over) {
            const auto extent = plan_.extents.find(axis);
            if (extent == plan_.extents.end() || extent->second <= 1) continue;
            if (axis == plan_.row || !along.contains(axis)) return false;
            shared = true;
        }
        // Of a single element every lane has the same.
        return shared && !plan_.across_warps;
    }

    /// The state as it was, or, of a sum, times what does not depend on it.
    bool kept(const Fold& fold, const Expression& seed, VariableId target) const {
        const ArrayId array = region_.variables[target.index()].array;
        if (const Read* read = std::get_if<Read>(&seed.node)) return read->array == array;
        const Apply* product = std::get_if<Apply>(&seed.node);
        if (fold.monoid != kSum || product == nullptr || product->function != Function::Multiply)
            return false;
        const bool first = arrays_read(product->arguments[0]).contains(array);
        const bool second = arrays_read(product->arguments[1]).contains(array);
        return first != second && kept(fold, product->arguments[first ? 0 : 1], target);
    }

    /// Whether the state is made the identity in the same body, and nowhere but there and in the
    /// fold.
    bool begins_before(const std::vector<Numbered>& body, std::size_t loop,
                       const Compute& fold) const {
        const VariableId target = fold.targets.front();
        std::size_t writers = 0;
        for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
            const Compute* compute = std::get_if<Compute>(&statement.node);
            if (compute != nullptr && compute->targets.front() == target) ++writers;
        });
        if (writers != 2) return false;
        for (std::size_t i = 0; i < loop; ++i) {
            const Compute* compute = std::get_if<Compute>(&body[i].statement->node);
            if (compute == nullptr || compute->targets.front() != target) continue;
            const Map* map = std::get_if<Map>(&compute->statement.body);
            const std::optional<Number> value =
                map == nullptr ? std::nullopt : checking::constant_value(map->value);
            return value && value->value == identity_of(std::get<Fold>(fold.statement.body).monoid);
        }
        return false;
    }

    /// Whether nothing else in the loop reads the state.
    static bool alone_in(const Numbered& loop, const Compute& fold) {
        return std::all_of(loop.body.begin(), loop.body.end(), [&](const Numbered& inner) {
            const Compute* compute = std::get_if<Compute>(&inner.statement->node);
            if (compute != nullptr)
                return compute == &fold || !reads(*compute, fold.targets.front());
            const Save* save = std::get_if<Save>(&inner.statement->node);
            if (save != nullptr) return save->source != fold.targets.front();
            return alone_in(inner, fold);
        });
    }

    const RegionProgram& region_;
    const Plan& plan_;
    std::map<LeafId, std::uint32_t> found_;
};

}  // namespace

std::map<LeafId, std::uint32_t> lane_folds(const RegionProgram& region, const Plan& plan) {
    return LaneFolds(region, plan).run();
}

}  // namespace napkin::schedule
