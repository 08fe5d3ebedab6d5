#include "derive/proof/running_sums.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "derive/proof/known_facts.h"
#include "diagrams/contains.h"
#include "diagrams/evaluate.h"
#include "diagrams/overloaded.h"

namespace napkin::proof {
namespace {

constexpr int kElements = 8;
constexpr std::uint64_t kTrialsOfAMove = 4;
constexpr int kDeepestSums = 2;  ///< in terms of sums
constexpr double kClose = 1e-9;  ///< relative to the terms of a sum

const Expression* fold_value(const Fold& fold) {
    return fold.values.size() == 1 ? &fold.values.front() : nullptr;
}

}  // namespace

/// One draw of elements, and of every state that is no sum, before and after a chunk.
class Draw {
public:
    Draw(const RunningSums& sums, const Fold& fold, std::uint64_t seed)
        : sums_(sums), over_(fold.over.begin(), fold.over.end()), random_(seed) {}

    /// The sum over the elements of a fold's term.
    double summed(std::size_t at, bool before) {
        if (sums_within_ == kDeepestSums) return std::nan("");
        ++sums_within_;
        const Fold& fold = std::get<Fold>(sums_.statements_[at]->body);
        double sum = 0;
        for (int element = 0; element < kElements; ++element)
            sum += value(fold.values.front(), {at, before, element});
        --sums_within_;
        return sum;
    }
    double seed(std::size_t at) {
        return value(std::get<Fold>(sums_.statements_[at]->body).seed.front(), {at, false, -1});
    }

private:
    /// Where an expression stands: of a chunk's statement, or of the same one before the chunk.
    struct Place {
        std::size_t at = 0;
        bool before = false;
        int element = -1;
    };
    struct Drawn {
        Expression expression;
        int element;
        double value;
    };

    double value(const Expression& expression, Place place) {
        return std::visit(
            overloaded{
                [&](const Number& number) { return number.value; },
                [&](const AxisIndex&) { return drawn(expression, place); },
                [&](const SizeOf&) {
                    return drawn(expression, {place.at, place.before, -1});
                },
                [&](const Read& read) { return element_of(expression, read.array, place); },
                [&](const Apply& call) { return called(call, place); },
                [&](const Convert& convert) { return value(convert.argument.front(), place); },
                [&](const Operand&) { return std::nan(""); },
            },
            expression.node);
    }

    double called(const Apply& call, Place place) {
        if (call.function == Function::Select && !sums_.varies_by_chunk(call.arguments[0])) {
            const bool visible = drawn(call.arguments[0], place) < 1;
            return value(call.arguments[visible ? 1 : 2], place);
        }
        std::vector<double> arguments;
        for (const Expression& argument : call.arguments)
            arguments.push_back(value(argument, place));
        return apply_function(call.function, arguments);
    }

    /// A state, by what it is at this place; an array of the chunk, by its definition.
    double element_of(const Expression& expression, ArrayId array, Place place) {
        const bool in_place = expression == read_axes(array, sums_.arrays_[array.index()].axes);
        if (!in_place && sums_.varies_by_chunk(expression)) return std::nan("");
        const auto state = sums_.states_.find(array);
        if (state != sums_.states_.end()) return state_value(state->second, place.before);
        const auto definition = sums_.definitions_.find(array);
        if (sums_.is_state(array))
            return state_value(array, place.before || place.at <= definition->second);
        const Map* map = definition != sums_.definitions_.end()
                             ? std::get_if<Map>(&sums_.statements_[definition->second]->body)
                             : nullptr;
        if (map != nullptr) {
            const std::tuple key{array, place.before, place.element, sums_within_};
            if (const auto known = maps_.find(key); known != maps_.end()) return known->second;
            return maps_[key] =
                       value(map->value, {definition->second, place.before, place.element});
        }
        return sums_.varies_by_chunk(expression) ? std::nan("") : drawn(expression, place);
    }

    double state_value(ArrayId state, bool before) {
        const auto copy = sums_.copied_.find(state);
        const ArrayId last = copy == sums_.copied_.end() ? state : copy->second;
        if (sums_.seeded_sum(last) != nullptr) return summed(sums_.definitions_.at(last), before);
        // A maximum may still be infinite, and then the sum is of no finite terms.
        if (!sums_.begins_with_nothing(state)) return std::nan("");
        const auto [known, fresh] = moving_.try_emplace({state, before}, 0);
        if (fresh) known->second = draw();
        return known->second;
    }

    /// One number for all elements where nothing varies along the axes that are folded.
    double drawn(const Expression& expression, Place place) {
        const std::set<AxisId> used = axes_used(expression);
        const bool varies = std::any_of(used.begin(), used.end(),
                                        [&](AxisId axis) { return over_.contains(axis); });
        const int element = varies ? place.element : -1;
        for (const Drawn& known : drawn_)
            if (known.element == element && known.expression == expression) return known.value;
        drawn_.push_back({expression, element, draw()});
        return drawn_.back().value;
    }
    double draw() { return std::uniform_real_distribution<double>(0.5, 1.5)(random_); }

    const RunningSums& sums_;
    std::set<AxisId> over_;
    std::mt19937_64 random_;
    std::vector<Drawn> drawn_;
    std::map<std::pair<ArrayId, bool>, double> moving_;
    int sums_within_ = 0;
    /// Elements, before or after a chunk, within so many sums.
    std::map<std::tuple<ArrayId, bool, int, int>, double> maps_;
};

RunningSums::RunningSums(const RegionProgram& region)
    : arrays_(region.arrays), accumulator_(region.accumulator) {
    collect(region.body);
    for (std::size_t at = 0; at < statements_.size(); ++at)
        for (const ArrayId target : statements_[at]->targets) definitions_[target] = at;
    for (const auto& [state, at] : definitions_) {
        const Map* map = std::get_if<Map>(&statements_[at]->body);
        const std::optional<ArrayId> from = map != nullptr ? array_read(map->value) : std::nullopt;
        const bool again =
            std::any_of(statements_.begin(), statements_.begin() + static_cast<std::ptrdiff_t>(at),
                        [&](const Statement* each) { return contains(each->targets, state); });
        if (again) redefined_.insert(state);
        if (!from || !again || !definitions_.contains(*from)) continue;
        copied_[state] = *from;
        states_[*from] = state;
    }
    for (const auto& [target, at] : definitions_)
        if (seeded_sum(target) != nullptr && begins_with_nothing(target) &&
            moves_as_its_terms(target, at))
            sums_.insert(target);
    // What is moved in must itself be a sum.
    for (bool all = false; !all;)
        all = std::erase_if(sums_, [&](ArrayId target) {
                  return any_part(seeded_sum(target)->seed.front(), [&](const Expression& part) {
                      const std::optional<ArrayId> array = array_read(part);
                      if (!array) return false;
                      const auto copy = copied_.find(*array);
                      const ArrayId last = copy == copied_.end() ? *array : copy->second;
                      return seeded_sum(last) != nullptr && !sums_.contains(last);
                  });
              }) == 0;
}

void RunningSums::collect(const std::vector<TileStatement>& body) {
    for (const TileStatement& statement : body)
        std::visit(overloaded{
                       [&](const Parallel& node) { collect(node.body); },
                       [&](const Loop& node) { collect(node.body); },
                       [&](const Compute& node) { statements_.push_back(&node.statement); },
                       [](const auto&) {},
                   },
                   statement.node);
}

/// Whether it carries something from chunk to chunk.
bool RunningSums::is_state(ArrayId array) const {
    return redefined_.contains(array) || seeded_sum(array) != nullptr;
}

/// The fold, where the array is last set by a sum that begins with something.
const Fold* RunningSums::seeded_sum(ArrayId array) const {
    const auto definition = definitions_.find(array);
    if (definition == definitions_.end()) return nullptr;
    const Fold* fold = std::get_if<Fold>(&statements_[definition->second]->body);
    const bool plain = fold != nullptr && fold->monoid == kSum && !fold->every_prefix &&
                       fold->seed.size() == 1 && fold_value(*fold) != nullptr;
    return plain ? fold : nullptr;
}

bool RunningSums::begins_with_nothing(ArrayId target) const {
    const auto state = states_.find(target);
    const ArrayId kept = state == states_.end() ? target : state->second;
    const auto first = std::find_if(
        statements_.begin(), statements_.end(),
        [&](const Statement* statement) { return contains(statement->targets, kept); });
    const Map* map = std::get_if<Map>(&(*first)->body);
    return map != nullptr && is_literal(map->value, 0);
}

/// Whether it depends on what changes from chunk to chunk by more than the elements.
bool RunningSums::varies_by_chunk(const Expression& expression) const {
    return any_part(expression, [&](const Expression& part) {
        const std::optional<ArrayId> array = array_read(part);
        return array && varies_by_chunk(*array);
    });
}

bool RunningSums::varies_by_chunk(ArrayId array) const {
    const auto definition = definitions_.find(array);
    if (definition == definitions_.end()) return false;
    const auto [known, fresh] =
        varies_.try_emplace(array, states_.contains(array) || is_state(array));
    if (!fresh || known->second) return known->second;
    const std::vector<const Expression*> parts = expressions_of(*statements_[definition->second]);
    return varies_[array] = std::any_of(parts.begin(), parts.end(), [&](const Expression* each) {
               return varies_by_chunk(*each);
           });
}

bool RunningSums::moves_as_its_terms(ArrayId target, std::uint64_t seed) const {
    const std::size_t at = definitions_.at(target);
    for (std::uint64_t trial = 0; trial < kTrialsOfAMove; ++trial) {
        Draw drawn(*this, std::get<Fold>(statements_[at]->body), seed * kTrialsOfAMove + trial);
        const double moved = drawn.seed(at);
        const double terms = drawn.summed(at, false);
        if (!(std::abs(moved - terms) <= kClose * (1 + std::abs(terms)))) return false;
    }
    return true;
}

const Gauge* RunningSums::mean(const Statement& statement) const {
    if (!accumulator_) return nullptr;
    for (const Gauge& each : accumulator_->gauges) {
        const bool moves = each.of == Gauge::Of::Mean && each.policy == GaugePolicy::Running;
        if (!moves || each.next != statement.targets.front()) continue;
        const auto total = copied_.find(*each.total);
        return total != copied_.end() && is_sum(total->second) ? &each : nullptr;
    }
    return nullptr;
}

}  // namespace napkin::proof
