#include "derive/proof/safety.h"

#include <map>
#include <set>

#include "derive/proof/known_facts.h"
#include "derive/proof/value_range.h"
#include "diagrams/infinity.h"
#include "diagrams/overloaded.h"

namespace napkin::proof {
namespace {

// A state that does not settle within this many passes grows.
constexpr int kMostPasses = 6;
// Elements that a fold of a user's monoid is followed for.
constexpr std::int64_t kMostSteps = 4096;
// An exponential of more overflows f32.
constexpr double kLargestExponent = 88;

using Ranges = std::map<ArrayId, ValueRange>;

/// The ranges of everything in one region.
class RegionBounds {
public:
    RegionBounds(const RegionProgram& region, Ranges& device, Safety& out)
        : region_(region), scope_(scope_of(region)), device_(device), out_(out) {
        collect(region.body);
    }

    void run() {
        for (int pass = 0; pass < kMostPasses; ++pass) {
            const Ranges before = ranges_;
            exponents_.clear();
            visit(region_.body);
            if (ranges_ == before) return report();
        }
        for (auto& [array, range] : ranges_) range = unbounded_range();
        report();
    }

private:
    void collect(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body)
            std::visit(overloaded{
                           [&](const Parallel& node) { collect(node.body); },
                           [&](const Loop& node) { collect(node.body); },
                           [&](const Compute& node) { note_saturations(node.statement); },
                           [](const auto&) {},
                       },
                       statement.node);
    }
    /// `1 / (1 + exp(u))`: where the exponential overflows, the quotient is 0.
    void note_saturations(const Statement& statement) {
        for (const Expression* expression : expressions_of(statement))
            walk(*expression, [&](const Expression& part) {
                const Apply* divide = call_of(part, Function::Divide);
                const Apply* add =
                    divide == nullptr ? nullptr : call_of(divide->arguments[1], Function::Add);
                if (add == nullptr) return;
                for (const Expression& argument : add->arguments)
                    if (call_of(argument, Function::Exp) != nullptr)
                        saturating_.insert(print(scope_, argument));
            });
    }

    void visit(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body)
            std::visit(overloaded{
                           [&](const Parallel& node) { visit(node.body); },
                           [&](const Loop& node) { visit(node.body); },
                           [&](const Load& node) {
                               const Variable& target = region_.variables[node.target.index()];
                               ranges_[target.array] = device_.at(node.array);
                           },
                           [&](const Compute& node) { compute(node.statement); },
                           [](const Save&) {},
                       },
                       statement.node);
    }

    void compute(const Statement& statement) {
        std::visit(overloaded{
                       [&](const Map& map) {
                           const ValueRange found = range(map.value);
                           define(statement.targets[0], found, is_start(map.value));
                           facts_.forget(statement.targets);
                           facts_.note_map(statement.targets[0], map.value);
                       },
                       [&](const Fold& fold) { compute_fold(statement, fold); },
                       [&](const Select& select) {
                           define(statement.targets[0], range(select.value), false);
                           const Axis& axis = region_.axes[select.over.index()];
                           define(statement.targets[1],
                                  range_of(0, static_cast<double>(axis.extent - 1)), false);
                           facts_.forget(statement.targets);
                       },
                       [](const Opaque&) {},
                   },
                   statement.body);
    }

    /// A state's first definition reads nothing.
    static bool is_start(const Expression& value) { return arrays_read(value).empty(); }

    /// Keeps what an earlier pass found of a state that is set again; rounding to a type that
    /// saturates bounds.
    void define(ArrayId array, ValueRange range, bool start) {
        const Array& target = region_.arrays[array.index()];
        if (target.rounds && !range.empty()) {
            range.low = round_to(target.type, range.low);
            range.high = round_to(target.type, range.high);
        }
        const auto known = ranges_.find(array);
        if (start && known != ranges_.end()) range = hull(range, known->second);
        if (start) starts_.try_emplace(array, range);
        const auto first = starts_.find(array);
        ranges_[array] = first == starts_.end() ? range : hull(first->second, range);
    }

    void compute_fold(const Statement& statement, const Fold& fold) {
        std::vector<ValueRange> results;
        const Expression* attained =
            fold.monoid == kSum ? facts_.attained(statement.targets[0], fold) : nullptr;
        const bool masked = attained != nullptr && range(*attained).minus_infinity;
        if (fold.monoid == kSum)
            results = {sum_range(statement.targets[0], fold)};
        else if (fold.monoid == kMax || fold.monoid == kMin)
            results = {extreme_range(fold)};
        else
            results = monoid_range(statement, fold);
        for (std::size_t i = 0; i < results.size(); ++i)
            define(statement.targets[i], results[i], false);
        // After a chunk in which anything is visible, its start is past.
        if (attained != nullptr) {
            ranges_[statement.targets[0]].low = 1;
            ranges_[statement.targets[0]].vanishes = masked;
        }
        facts_.forget(statement.targets);
        if (fold.monoid == kMax) facts_.note_maximum(statement.targets[0], fold);
    }

    [[nodiscard]] double count_of(const std::vector<AxisId>& axes) const {
        double count = 1;
        for (const AxisId axis : axes)
            count *= static_cast<double>(region_.axes[axis.index()].extent);
        return count;
    }

    ValueRange sum_range(ArrayId target, const Fold& fold) {
        const ValueRange each = range(fold.values[0]);
        const double count = count_of(fold.over);
        ValueRange total = range_of(std::min(0.0, count * std::min(each.low, 0.0)),
                                    std::max(0.0, count * std::max(each.high, 0.0)));
        if (each.empty()) total = range_of(0);
        if (each.low > 0) total.low = each.low;  // a chunk has an element at least
        if (fold.seed.empty()) return total;
        if (!array_in(fold.seed[0], target)) return hull(total, added(range(fold.seed[0]), total));
        // A state that its own update scales: it stays within the sum where the scale is at most 1.
        const ValueRange scale = scale_of(fold.seed[0], target);
        const ValueRange start = starts_.count(target) != 0 ? starts_.at(target) : range_of(0);
        if (!(scale.size() <= 1)) return unbounded_range();
        const bool flips = scale.low < 0;
        const double size = total.size() + start.size();
        return flips ? range_of(-size, size)
                     : range_of(total.low + std::min(start.low, 0.0),
                                total.high + std::max(start.high, 0.0));
    }
    static ValueRange added(const ValueRange& a, const ValueRange& b) {
        const std::array<ValueRange, 2> both{a, b};
        return range_of_call(Function::Add, both);
    }
    /// What a seed multiplies the state by; unbounded where it is no product with the state.
    ValueRange scale_of(const Expression& seed, ArrayId state) {
        if (array_read(seed) == state) return range_of(1);
        const Apply* product = call_of(seed, Function::Multiply);
        if (product == nullptr) return unbounded_range();
        const bool first = array_in(product->arguments[0], state);
        if (first == array_in(product->arguments[1], state)) return unbounded_range();
        const std::array<ValueRange, 2> both{scale_of(product->arguments[first ? 0 : 1], state),
                                             range(product->arguments[first ? 1 : 0])};
        return range_of_call(Function::Multiply, both);
    }

    ValueRange extreme_range(const Fold& fold) {
        ValueRange result = range(fold.values[0]);
        const double nothing = fold.monoid == kMax ? -kInfinity : kInfinity;
        result = hull(result, fold.seed.empty() ? range_of(nothing) : range(fold.seed[0]));
        return result;
    }

    /// A user's monoid, followed element by element for as long as its ranges change.
    std::vector<ValueRange> monoid_range(const Statement& statement, const Fold& fold) {
        const Monoid& monoid = region_.monoids[fold.monoid.index()];
        std::vector<ValueRange> state;
        std::vector<ValueRange> each;
        for (std::size_t i = 0; i < monoid.combine.size(); ++i) {
            const auto start = starts_.find(statement.targets[i]);
            state.push_back(start != starts_.end() ? start->second : range(monoid.identity[i]));
            each.push_back(range(fold.values[i]));
        }
        const auto count = static_cast<std::int64_t>(count_of(fold.over));
        for (std::int64_t step = 0; step < count; ++step) {
            std::vector<ValueRange> operands = state;
            operands.insert(operands.end(), each.begin(), each.end());
            std::vector<ValueRange> next;
            for (std::size_t i = 0; i < state.size(); ++i)
                next.push_back(hull(state[i], range(monoid.combine[i], operands)));
            if (next == state) return state;
            if (step >= kMostSteps) return std::vector<ValueRange>(state.size(), unbounded_range());
            state = std::move(next);
        }
        return state;
    }

    ValueRange exponential(const Expression& whole, const Expression& exponent,
                           std::span<const ValueRange> operands) {
        ValueRange argument = range(exponent, operands);
        const std::string text = print(scope_, exponent);
        exponents_[text] = {region_.name, text, argument.empty() ? -kInfinity : argument.high,
                            saturating_.count(print(scope_, whole)) != 0};
        if (saturating_.count(print(scope_, whole)) != 0)
            argument.high = std::min(argument.high, kLargestExponent);
        const std::array<ValueRange, 1> one{argument};
        return range_of_call(Function::Exp, one);
    }

    ValueRange range(const Expression& expression, std::span<const ValueRange> operands = {}) {
        return std::visit(
            overloaded{
                [](const Number& literal) { return range_of(literal.value); },
                [&](const AxisIndex& index) {
                    return range_of(
                        0, static_cast<double>(region_.axes[index.axis.index()].extent - 1));
                },
                [&](const SizeOf& size) {
                    return range_of(static_cast<double>(region_.axes[size.axis.index()].extent));
                },
                [&](const Read& read) {
                    const auto known = ranges_.find(read.array);
                    return known != ranges_.end() ? known->second : device_range(read.array);
                },
                [&](const Apply& call) { return call_range(expression, call, operands); },
                [&](const Convert& convert) { return range(convert.argument[0], operands); },
                [&](const Operand& operand) { return operands[operand.slot]; },
            },
            expression.node);
    }
    [[nodiscard]] ValueRange device_range(ArrayId array) const {
        const auto known = device_.find(array);
        return known != device_.end() ? known->second : ValueRange{};
    }
    ValueRange call_range(const Expression& whole, const Apply& call,
                          std::span<const ValueRange> operands) {
        if (call.function == Function::Exp) return exponential(whole, call.arguments[0], operands);
        if (call.function == Function::Select) {
            ValueRange then = range(call.arguments[1], operands);
            // `if a < inf then a`: the branch is not taken by infinities.
            const Apply* less = call_of(call.arguments[0], Function::Less);
            if (less != nullptr && less->arguments[0] == call.arguments[1])
                then.plus_infinity = false;
            return hull(then, range(call.arguments[2], operands));
        }
        if (call.function == Function::Multiply && call.arguments[0] == call.arguments[1]) {
            const std::array<ValueRange, 2> square{range(call.arguments[0], operands), range_of(2)};
            return range_of_call(Function::Power, square);
        }
        std::vector<ValueRange> arguments;
        for (const Expression& argument : call.arguments)
            arguments.push_back(range(argument, operands));
        ValueRange result = range_of_call(call.function, arguments);
        if (call.function == Function::Subtract && !result.empty() &&
            facts_.at_most(call.arguments[0], unguarded(call.arguments[1]))) {
            result.high = std::min(result.high, 0.0);
            result.low = std::min(result.low, result.high);
        }
        return result;
    }

    void report() {
        for (const auto& [text, bound] : exponents_) out_.exponents.push_back(bound);
        std::set<ArrayId> done;
        for (const Variable& variable : region_.variables) {
            const auto range = ranges_.find(variable.array);
            if (range == ranges_.end() || !done.insert(variable.array).second) continue;
            const ValueRange found = range->second;
            ValueRange told = with_zero(found);
            const auto start = starts_.find(variable.array);
            if (start != starts_.end()) told = hull(told, start->second);
            out_.arrays.push_back({region_.name, region_.arrays[variable.array.index()].name,
                                   variable.type, told.empty() ? 0 : told.low,
                                   told.empty() ? 0 : told.high});
            device_[variable.array] = found;
        }
    }

    const RegionProgram& region_;
    Diagram scope_;
    Ranges& device_;
    Safety& out_;
    Ranges ranges_;
    Ranges starts_;  // of states, before the first chunk
    KnownFacts facts_;
    std::set<std::string> saturating_;
    std::map<std::string, ExponentBound> exponents_;
};

ValueRange input_range(const Diagram& diagram, const Array& array, double range) {
    if (array.role == ArrayRole::Parameter) return range_of(array.value.value_or(0));
    if (array.type == ElementType::Bool) return range_of(0, 1);
    if (array.indexes) return range_of(0, static_cast<double>(diagram[*array.indexes].extent - 1));
    return range_of(-range, range);
}

}  // namespace

bool ExponentBound::safe() const {
    return saturates || most <= kLargestExponent;
}

bool ArrayRange::safe() const {
    const double largest = std::max(std::abs(low), std::abs(high));
    return !is_floating(type) || std::isfinite(round_to(type, largest));
}

bool Safety::exponents_safe() const {
    return std::all_of(exponents.begin(), exponents.end(),
                       [](const ExponentBound& each) { return each.safe(); });
}

bool Safety::arrays_safe() const {
    return std::all_of(arrays.begin(), arrays.end(),
                       [](const ArrayRange& each) { return each.safe(); });
}

Safety check_safety(const Diagram& diagram, const TileProgram& program, double range) {
    Safety safety;
    safety.range = range;
    Ranges device;
    for (std::uint32_t i = 0; i < diagram.arrays.size(); ++i) {
        const Array& array = diagram.arrays[i];
        if (array.role == ArrayRole::Input || array.role == ArrayRole::Parameter)
            device[ArrayId{i}] = input_range(diagram, array, range);
    }
    for (const RegionProgram& region : program.regions) RegionBounds(region, device, safety).run();
    return safety;
}

}  // namespace napkin::proof
