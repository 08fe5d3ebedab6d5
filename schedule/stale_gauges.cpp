#include "schedule/stale_gauges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagrams/contains.h"
#include "schedule/gauge_degree.h"

namespace napkin::schedule {
namespace {

/// So that what is summed stays in range of f32, and what is rounded to f16 in that of f16.
constexpr double kMostWeight = 1152921504606846976.0;  // 2^60
constexpr double kMostHalf = 32768;                    // 2^15

struct Leaf {
    LeafId id;
    const Compute* compute = nullptr;
    const Loop* loop = nullptr;
    const Save* save = nullptr;
};

std::set<ArrayId> arrays_of(const Compute& compute) {
    std::set<ArrayId> arrays;
    for (const Expression* expression : expressions_of(compute.statement))
        arrays.merge(arrays_read(*expression));
    return arrays;
}

ArrayId target_of(const Compute& compute) {
    return compute.statement.targets.front();
}

const Read* read_of(const Expression& expression) {
    return std::get_if<Read>(&expression.node);
}

bool is_read(const Expression& expression, ArrayId array) {
    const Read* read = read_of(expression);
    return read != nullptr && read->array == array;
}

/// The state as it was, times its repair.
bool is_repaired(const Expression& seed, ArrayId state, ArrayId repair) {
    const Apply* product = std::get_if<Apply>(&seed.node);
    if (product == nullptr || product->function != Function::Multiply) return false;
    const Expression& a = product->arguments[0];
    const Expression& b = product->arguments[1];
    return (is_read(a, state) && is_read(b, repair)) || (is_read(a, repair) && is_read(b, state));
}

bool is_exponential(const Expression& value) {
    const Apply* call = std::get_if<Apply>(&value.node);
    return call != nullptr && call->function == Function::Exp;
}

class Finder {
public:
    Finder(const RegionProgram& region, const Plan& plan, const Gauge& gauge)
        : region_(region), plan_(plan), gauge_(gauge) {
        LeafId leaf;
        for_statements(region.body, [&](const TileStatement& statement, const Loop* loop) {
            leaves_.push_back({leaf, std::get_if<Compute>(&statement.node), loop,
                               std::get_if<Save>(&statement.node)});
            ++leaf.value;
        });
    }

    std::variant<StaleGauge, std::string> run() {
        if (gauge_.of != Gauge::Of::Maximum || gauge_.policy != GaugePolicy::Running)
            return "only a maximum that every chunk replaces can be";
        const auto take = std::find_if(leaves_.begin(), leaves_.end(), [&](const Leaf& leaf) {
            return leaf.compute != nullptr && target_of(*leaf.compute) == gauge_.next;
        });
        if (take == leaves_.end() || take->loop == nullptr || !takes_maximum(*take))
            return "it is not made along the rows of fragments";
        found_.take = take->id;
        found_.state = *variable_in(*take->compute, gauge_.state);
        found_.next = take->compute->targets.front();
        loop_ = take->loop;
        for (auto leaf = take + 1; leaf != leaves_.end() && why_.empty(); ++leaf) visit(*leaf);
        if (why_.empty()) check();
        if (why_.empty()) check_uses();
        if (!why_.empty()) return why_;
        return found_;
    }

private:
    [[nodiscard]] const std::string& name(ArrayId array) const {
        return region_.arrays[array.index()].name;
    }

    [[nodiscard]] std::optional<VariableId> variable_in(const Compute& compute,
                                                        ArrayId array) const {
        for (const VariableId variable : compute.reads)
            if (region_.variables[variable.index()].array == array) return variable;
        return std::nullopt;
    }

    [[nodiscard]] Home home_of(const Leaf& leaf) const {
        return plan_.tiles.at(leaf.compute->targets.front()).home;
    }

    [[nodiscard]] bool of_lanes(const Leaf& leaf) const {
        return !plan_.serial.contains(leaf.id) && !plan_.shared_folds.contains(leaf.id) &&
               !plan_.products.contains(leaf.id);
    }

    [[nodiscard]] bool takes_maximum(const Leaf& leaf) const {
        const Fold* fold = std::get_if<Fold>(&leaf.compute->statement.body);
        return fold != nullptr && fold->monoid == kMax && !fold->seed.empty() &&
               is_read(fold->seed.front(), gauge_.state) && home_of(leaf) == Home::Row &&
               of_lanes(leaf);
    }

    [[nodiscard]] bool is_scale(ArrayId array) const {
        const auto& states = region_.accumulator->states;
        return std::any_of(states.begin(), states.end(), [&](const AccumulatorState& state) {
            return state.action.scale == array && state.action.lower.empty();
        });
    }

    void visit(const Leaf& leaf) {
        if (leaf.compute == nullptr) return;
        const std::set<ArrayId> reads = arrays_of(*leaf.compute);
        const bool relative = reads.contains(gauge_.next);
        const bool repaired = repair_ && reads.contains(*repair_);
        const bool elsewhere = leaf.loop != loop_;
        if (elsewhere && (relative || repaired))
            why_ = fmt::format("`{}` reads it elsewhere", name(target_of(*leaf.compute)));
        else if (elsewhere)
            return;
        else if (relative && keeps(*leaf.compute))
            found_.keep = leaf.id;
        else if (relative && repairs(leaf, reads))
            add(leaf, found_.repairs);
        else if (relative && weighs(leaf))
            add(leaf, found_.weights);
        else if (repaired && sums(leaf, relative))
            add(leaf, found_.sums);
        else if (repaired && !relative && is_product(leaf))
            found_.products.push_back(leaf.id);
        else if (relative || repaired)
            why_ = fmt::format("`{}` follows it in another way than by a factor",
                               name(target_of(*leaf.compute)));
        else
            pass(leaf, reads);
    }

    [[nodiscard]] bool keeps(const Compute& compute) const {
        const Map* map = std::get_if<Map>(&compute.statement.body);
        return map != nullptr && target_of(compute) == gauge_.state &&
               is_read(map->value, gauge_.next);
    }

    /// exp(g - g'), of nothing else.
    [[nodiscard]] bool repairs(const Leaf& leaf, const std::set<ArrayId>& reads) {
        const ArrayId target = target_of(*leaf.compute);
        const bool found = std::holds_alternative<Map>(leaf.compute->statement.body) &&
                           is_scale(target) && home_of(leaf) == Home::Row &&
                           std::all_of(reads.begin(), reads.end(), [&](ArrayId array) {
                               return array == gauge_.next || array == gauge_.state;
                           });
        if (found) repair_ = target;
        return found;
    }

    [[nodiscard]] bool weighs(const Leaf& leaf) const {
        const Map* map = std::get_if<Map>(&leaf.compute->statement.body);
        return map != nullptr && home_of(leaf) == Home::Fragment && is_exponential(map->value);
    }

    [[nodiscard]] const Fold* repaired_sum(const Leaf& leaf) const {
        const Fold* fold = std::get_if<Fold>(&leaf.compute->statement.body);
        const bool found = fold != nullptr && fold->monoid == kSum && !fold->seed.empty() &&
                           is_repaired(fold->seed.front(), target_of(*leaf.compute), *repair_);
        return found ? fold : nullptr;
    }

    [[nodiscard]] bool sums(const Leaf& leaf, bool relative) {
        const Fold* fold = repaired_sum(leaf);
        if (fold == nullptr || home_of(leaf) != Home::Row || !of_lanes(leaf)) return false;
        const Expression& value = fold->values.front();
        const Read* weight = read_of(value);
        if (weight != nullptr) summed_.insert(weight->array);
        found_.bounded = found_.bounded || weight != nullptr || is_exponential(value);
        return weight != nullptr || !relative || is_exponential(value);
    }

    [[nodiscard]] bool is_product(const Leaf& leaf) const {
        return plan_.products.contains(leaf.id) && repaired_sum(leaf) != nullptr;
    }

    /// What has nothing to do with the gauge may stand among what has, and is done before it.
    void pass(const Leaf& leaf, const std::set<ArrayId>& reads) {
        const bool apart = follows(leaf) && of_lanes(leaf) && home_of(leaf) != Home::Shared &&
                           home_of(leaf) != Home::Matrix &&
                           std::none_of(reads.begin(), reads.end(),
                                        [&](ArrayId array) { return made_.contains(array); });
        if (apart) passed_.push_back(leaf.id);
    }

    [[nodiscard]] bool follows(const Leaf& leaf) const {
        return leaf.id.value == found_.take.value + 1 + found_.members.size() + passed_.size();
    }

    void add(const Leaf& leaf, std::vector<LeafId>& list) {
        if (!follows(leaf)) {
            why_ = fmt::format("`{}` is made elsewhere than what else is relative to it",
                               name(target_of(*leaf.compute)));
            return;
        }
        for (const LeafId passed : passed_) {
            found_.beside.push_back(passed);
            found_.members.push_back(passed);
        }
        passed_.clear();
        list.push_back(leaf.id);
        found_.members.push_back(leaf.id);
        made_.insert(target_of(*leaf.compute));
    }

    void check() {
        if (!found_.keep || found_.weights.empty() || !repair_) why_ = "nothing is relative to it";
        for (const LeafId weight : found_.weights) {
            const ArrayId array = target_of(*leaves_[weight.index()].compute);
            if (!summed_.contains(array))
                why_ = fmt::format("no sum along the rows tells whether `{}` keeps in range",
                                   name(array));
            if (region_.arrays[array.index()].rounds) why_ = "what is relative to it is rounded";
        }
        found_.most = kMostWeight;
        found_.headroom = std::log(kMostWeight);
        for (const auto& [leaf, product] : plan_.products) {
            if (product.type == ElementType::F16) {
                found_.most = kMostHalf;
                found_.headroom = 0;
            }
            if (is_narrow(product)) why_ = "numbers of 8 bits leave no room for larger weights";
        }
    }

    /// What is saved must be the same whichever number the gauge is; while chunks arrive, nothing
    /// but its own operations reads it or what is relative to it.
    void check_uses() {
        GaugeDegrees degrees{{gauge_.state, GaugeDegree{0, 1}}};
        for (const std::vector<LeafId>* states : {&found_.sums, &found_.products})
            for (const LeafId leaf : *states)
                degrees[target_of(*leaves_[leaf.index()].compute)] = GaugeDegree{1, 0};
        const GaugeDegrees states = degrees;
        for (const Leaf& leaf : leaves_) {
            const bool later = leaf.loop != loop_ && leaf.id > found_.take;
            if (leaf.save != nullptr && (later || leaf.loop == loop_))
                check_saved(region_.variables[leaf.save->source.index()].array, degrees);
            if (leaf.compute == nullptr) continue;
            if (later)
                degrees[target_of(*leaf.compute)] = degree_of(leaf.compute->statement, degrees);
            else if (leaf.loop == loop_ && !is_own(leaf))
                for (const ArrayId array : arrays_of(*leaf.compute))
                    if (states.contains(array))
                        why_ = fmt::format("`{}` reads `{}` while chunks arrive",
                                           name(target_of(*leaf.compute)), name(array));
        }
    }

    void check_saved(ArrayId array, const GaugeDegrees& degrees) {
        const auto found = degrees.find(array);
        if (found != degrees.end() && found->second != std::optional(GaugeDegree{}))
            why_ = fmt::format("`{}` would be another number with another maximum", name(array));
    }

    [[nodiscard]] bool is_own(const Leaf& leaf) const {
        const auto in = [&](const std::vector<LeafId>& list) {
            return std::find(list.begin(), list.end(), leaf.id) != list.end();
        };
        return leaf.id == found_.take || leaf.id == found_.keep || in(found_.repairs) ||
               in(found_.sums) || in(found_.products);
    }

    const RegionProgram& region_;
    const Plan& plan_;
    const Gauge& gauge_;
    std::vector<Leaf> leaves_;
    const Loop* loop_ = nullptr;
    StaleGauge found_;
    std::optional<ArrayId> repair_;
    std::set<ArrayId> summed_;
    std::set<ArrayId> made_;      // by what is relative to it
    std::vector<LeafId> passed_;  // since the last of them
    std::string why_;
};

Refusal refusal(const std::string& gauge, std::string reason) {
    return {std::move(reason), "leave it out, and every chunk is taken in",
            SettingName{"stale", gauge}};
}

bool is_own(const StaleGauge& gauge, LeafId leaf) {
    return gauge.take == leaf || contains(gauge.repairs, leaf) || contains(gauge.weights, leaf) ||
           contains(gauge.sums, leaf);
}

bool is_member(const StaleGauge& gauge, LeafId leaf) {
    return gauge.take == leaf || contains(gauge.members, leaf);
}

/// Of gauges that stand among each other each with what is its own; none where something else
/// stands there too.
std::optional<std::vector<StaleGauge>> parted(const std::vector<StaleGauge>& all) {
    std::vector<StaleGauge> result = all;
    for (StaleGauge& gauge : result)
        for (const StaleGauge& other : all) {
            if (other.take == gauge.take ||
                (!is_member(gauge, other.take) && !is_member(other, gauge.take)))
                continue;
            const auto not_here = [&](LeafId leaf) { return is_own(other, leaf); };
            std::erase_if(gauge.members, not_here);
            std::erase_if(gauge.beside, not_here);
            if (!gauge.beside.empty()) return std::nullopt;
        }
    return result;
}

/// Whether the operations of a gauge's leaves follow each other wherever the first one stands, but
/// for those of other gauges.
bool follow(const Program& program, const Body& body, const Plan& plan, const StaleGauge& gauge) {
    const auto is_of_another = [&](LeafId leaf) {
        return std::any_of(plan.stale.begin(), plan.stale.end(), [&](const StaleGauge& other) {
            return other.take != gauge.take && is_own(other, leaf);
        });
    };
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (const ChunkLoop* loop = std::get_if<ChunkLoop>(&body[i].node))
            if (!follow(program, loop->body, plan, gauge)) return false;
        const OpId* take = std::get_if<OpId>(&body[i].node);
        if (take == nullptr || program[*take].leaf != gauge.take) continue;
        for (std::size_t at = i, member = 0; member < gauge.members.size();) {
            const OpId* op = ++at < body.size() ? std::get_if<OpId>(&body[at].node) : nullptr;
            if (op == nullptr) return false;
            if (is_of_another(program[*op].leaf)) continue;
            if (program[*op].leaf != gauge.members[member++]) return false;
        }
    }
    return true;
}

}  // namespace

std::vector<Gauge> gauges_of(const Accumulator& accumulator) {
    std::vector<Gauge> gauges = accumulator.gauges;
    for (const Accumulator& inside : accumulator.inside)
        for (Gauge& gauge : gauges_of(inside)) gauges.push_back(std::move(gauge));
    return gauges;
}

std::variant<std::vector<StaleGauge>, Refusal> stale_gauges(const RegionProgram& region,
                                                            const Plan& plan,
                                                            const RegionSchedule& wanted) {
    std::vector<StaleGauge> stale;
    if (!region.accumulator) return stale;
    std::optional<Refusal> why;
    for (const Gauge& gauge : gauges_of(*region.accumulator)) {
        const std::string& name = region.arrays[gauge.state.index()].name;
        if (!choice_of(wanted.stale, name).value_or(false)) continue;
        std::variant<StaleGauge, std::string> found = Finder(region, plan, gauge).run();
        if (StaleGauge* made = std::get_if<StaleGauge>(&found)) {
            made->name = name;
            stale.push_back(std::move(*made));
            if (parted(stale)) continue;
            stale.pop_back();
            found = "what is relative to it stands among what is relative to another maximum";
        }
        const bool by_name = wanted.stale.contains(name);
        why = refusal(by_name ? name : "", std::get<std::string>(std::move(found)));
        if (by_name) return *why;
    }
    // Asked of all: those that can be are.
    if (stale.empty() && why) return *why;
    return *parted(stale);
}

std::optional<Refusal> why_not_stale(const Program& program, const Plan& plan,
                                     const RegionSchedule& wanted) {
    for (const StaleGauge& gauge : plan.stale) {
        const std::string name = wanted.stale.contains(gauge.name) ? gauge.name : "";
        if (!follow(program, program.body, plan, gauge))
            return refusal(name, "its chunk waits for something between what is relative to it");
        for (const LeafId product : gauge.products)
            if (std::none_of(program.ops.begin(), program.ops.end(), [&](const Op& op) {
                    return op.leaf == product && op.kind == Op::Kind::Prepare;
                }))
                return refusal(name, "a product repairs its state itself");
    }
    return std::nullopt;
}

bool is_rare(const Plan& plan, const Op& op) {
    return std::any_of(plan.stale.begin(), plan.stale.end(), [&](const StaleGauge& gauge) {
        return op.leaf == gauge.take || op.leaf == gauge.keep || contains(gauge.repairs, op.leaf) ||
               (op.kind == Op::Kind::Prepare && contains(gauge.products, op.leaf));
    });
}

}  // namespace napkin::schedule
