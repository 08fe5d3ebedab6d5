#include "derive/proof/safety.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "derive/proof/expression_range.h"
#include "derive/proof/running_sums.h"
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

/// The ranges of everything in one region.
class RegionBounds {
public:
    RegionBounds(const RegionProgram& region, Ranges& device, Safety& out)
        : region_(region), device_(device), out_(out), sums_(region), values_(region, device) {
        for (const Variable& variable : region.variables)
            types_[variable.array].insert(variable.type);
        collect_saved(region.body);
    }

    void run() {
        for (int pass = 0;; ++pass) {
            const Ranges before = values_.arrays;
            values_.forget_exponents();
            visit(region_.body);
            if (values_.arrays == before) return report();
            if (pass >= kMostPasses) give_up_what_differs(before);
        }
    }

private:
    void give_up_what_differs(const Ranges& before) {
        for (const auto& [array, range] : values_.arrays)
            if (const auto known = before.find(array);
                known == before.end() || known->second != range)
                given_up_.insert(array);
    }

    /// Types in which device memory keeps what is saved there.
    void collect_saved(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body)
            std::visit(overloaded{
                           [&](const Parallel& node) { collect_saved(node.body); },
                           [&](const Loop& node) { collect_saved(node.body); },
                           [&](const Save& node) {
                               if (node.target) return;
                               const Variable& source = region_.variables[node.source.index()];
                               types_[source.array].insert(region_.arrays[node.array.index()].type);
                           },
                           [](const auto&) {},
                       },
                       statement.node);
    }

    void visit(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body)
            std::visit(overloaded{
                           [&](const Parallel& node) { visit(node.body); },
                           [&](const Loop& node) { visit(node.body); },
                           [&](const Load& node) {
                               const Variable& target = region_.variables[node.target.index()];
                               const ValueRange loaded = device_.at(node.array);
                               // A gather beyond the edge finds 0.
                               values_.arrays[target.array] =
                                   stored(target.array,
                                          node.gather.empty() ? loaded : hull(loaded, range_of(0)));
                           },
                           [&](const Compute& node) { compute(node.statement); },
                           [](const Save&) {},
                       },
                       statement.node);
    }

    void compute(const Statement& statement) {
        (void)values_.take_overflow();
        std::visit(overloaded{
                       [&](const Map& map) {
                           const std::optional<ValueRange> mean = mean_range(statement);
                           define(statement.targets[0], mean ? *mean : values_.range(map.value),
                                  is_start(map.value));
                           values_.facts.forget(statement.targets);
                           if (!rounds_a_bound(statement.targets[0], map.value))
                               values_.facts.note_map(statement.targets[0], map.value);
                       },
                       [&](const Fold& fold) { compute_fold(statement, fold); },
                       [&](const Select& select) { compute_select(statement, select); },
                       [&](const Opaque&) {
                           for (const ArrayId target : statement.targets)
                               define(target, unbounded_range(), false);
                           values_.facts.forget(statement.targets);
                       },
                   },
                   statement.body);
    }

    /// A rank that nothing is left for is -inf, nowhere.
    void compute_select(const Statement& statement, const Select& select) {
        ValueRange value = values_.range(select.value);
        if (select.rank && region_.axes[select.rank->index()].extent > 1)
            value.minus_infinity = true;
        const std::int64_t last =
            value.minus_infinity ? kNoIndex : region_.axes[select.over.index()].extent - 1;
        define(statement.targets[0], value, false);
        define(statement.targets[1], range_of(0, static_cast<double>(last)), false);
        values_.facts.forget(statement.targets);
    }

    /// A state's first definition reads nothing.
    static bool is_start(const Expression& value) { return arrays_read(value).empty(); }

    /// Keeps what an earlier pass found of a state that is set again; rounding to a type that
    /// saturates bounds. Of what overflows on the way nothing is known.
    void define(ArrayId array, ValueRange range, bool start) {
        const Array& target = region_.arrays[array.index()];
        if (values_.take_overflow() || given_up_.contains(array) || !fits_f32(range))
            range = unbounded_range();
        if (target.rounds) range = rounded_range(target.type, range);
        range = stored(array, range);
        const auto known = values_.arrays.find(array);
        if (start && known != values_.arrays.end()) range = hull(range, known->second);
        if (start) starts_.try_emplace(array, range);
        const auto first = starts_.find(array);
        values_.arrays[array] = first == starts_.end() ? range : hull(first->second, range);
    }
    /// A value of an array after rounding to the types in which it is kept.
    [[nodiscard]] ValueRange stored(ArrayId array, ValueRange range) const {
        const auto types = types_.find(array);
        if (types == types_.end()) return range;
        for (const ElementType type : types->second) {
            if (!holds(type, range)) return unbounded_range();
            if (type != ElementType::F32) range = hull(range, rounded_range(type, range));
        }
        return range;
    }
    /// The types in which a region computes with an array.
    [[nodiscard]] std::set<ElementType> tile_types(ArrayId array) const {
        std::set<ElementType> types;
        for (const Variable& variable : region_.variables)
            if (variable.array == array) types.insert(variable.type);
        const Array& known = region_.arrays[array.index()];
        if (known.rounds) types.insert(known.type);
        return types;
    }
    /// Whether an array that is to bound a value, as a maximum of it, is rounded to a type that the
    /// value is not of: it may be below it then.
    [[nodiscard]] bool rounds_a_bound(ArrayId target, const Expression& value) const {
        if (const Apply* larger = call_of(value, Function::Max))
            return rounds_a_bound(target, larger->arguments[0]) ||
                   rounds_a_bound(target, larger->arguments[1]);
        if (call_of(value, Function::Exp) != nullptr) return false;  // exp(0) is of every type
        const std::set<ElementType> types = tile_types(target);
        const bool coarse = std::any_of(types.begin(), types.end(), [](ElementType type) {
            return type != ElementType::F32 && type != ElementType::F64;
        });
        const std::optional<ArrayId> source = array_read(value);
        return coarse && !(source && types.size() == 1 && tile_types(*source) == types);
    }
    void define_components(const Statement& statement, const Fold& fold) {
        const std::vector<ValueRange> ranges = monoid_range(statement, fold);
        for (std::size_t i = 0; i < ranges.size(); ++i)
            define(statement.targets[i], ranges[i], false);
    }

    void compute_fold(const Statement& statement, const Fold& fold) {
        const ArrayId target = statement.targets[0];
        const Expression* attained =
            fold.monoid == kSum ? values_.facts.attained(target, fold) : nullptr;
        const bool masked = attained != nullptr && values_.range(*attained).minus_infinity;
        if (fold.monoid == kSum)
            define(target, sum_range(target, fold), false);
        else if (fold.monoid == kMax || fold.monoid == kMin)
            define(target, extreme_range(fold), false);
        else
            define_components(statement, fold);
        if (fold.monoid == kSum) note_operands(target, fold.values[0]);
        // After a chunk in which anything is visible, its start is past.
        if (attained != nullptr && fits_f32(values_.arrays[target])) {
            values_.arrays[target].low = 1;
            values_.arrays[target].vanishes = masked;
        }
        values_.facts.forget(statement.targets);
        if (fold.monoid == kMax && !rounds_a_bound(target, fold.values[0]))
            values_.facts.note_maximum(target, fold);
    }

    /// What a factor of f16 is multiplied by may be rounded to f16 first.
    void note_operands(ArrayId target, const Expression& value) {
        std::vector<const Expression*> factors;
        collect_factors(value, factors);
        const auto is_short = [&](const Expression* factor) {
            const std::optional<ArrayId> read = array_read(*factor);
            return read && tile_types(*read).contains(ElementType::F16);
        };
        if (std::none_of(factors.begin(), factors.end(), is_short)) return;
        ValueRange others = range_of(1);
        for (const Expression* factor : factors) {
            if (is_short(factor)) continue;
            const std::array<ValueRange, 2> both{others, known(values_.range(*factor))};
            others = range_of_call(Function::Multiply, both);
        }
        operands_.insert_or_assign(target, others);
    }
    static void collect_factors(const Expression& value, std::vector<const Expression*>& factors) {
        const Apply* product = call_of(value, Function::Multiply);
        if (product == nullptr) return factors.push_back(&value);
        for (const Expression& factor : product->arguments) collect_factors(factor, factors);
    }

    /// A mean lies among what it is the mean of, where no weight may vanish.
    std::optional<ValueRange> mean_range(const Statement& statement) {
        if (const auto of = region_.arrays[statement.targets[0].index()].mean_of)
            if (const auto saved = device_.find(*of); saved != device_.end())
                return hull(saved->second, range_of(0));
        const Gauge* mean = sums_.mean(statement);
        if (mean == nullptr || (mean->weight && !(values_.range(*mean->weight).low >= 1)))
            return std::nullopt;
        const ValueRange chunk = hull(values_.range(mean->value), range_of(0));
        const ValueRange among = hull(chunk, values_.arrays.at(mean->state));
        const bool finite = !among.minus_infinity && !among.plus_infinity && fits_f32(among);
        return finite && !values_.take_overflow() ? std::optional(among) : std::nullopt;
    }

    [[nodiscard]] double count_of(const std::vector<AxisId>& axes) const {
        double count = 1;
        for (const AxisId axis : axes)
            count *= static_cast<double>(region_.axes[axis.index()].extent);
        return count;
    }

    ValueRange sum_range(ArrayId target, const Fold& fold) {
        const ValueRange each = values_.range(fold.values[0]);
        const double count = count_of(fold.over);
        ValueRange total = range_of(std::min(0.0, count * std::min(each.low, 0.0)),
                                    std::max(0.0, count * std::max(each.high, 0.0)));
        if (each.empty()) total = range_of(0);
        total.minus_infinity = each.minus_infinity;
        total.plus_infinity = each.plus_infinity;
        total.fades = each.fades;
        if (each.low > 0) total.low = each.low;  // a chunk has an element at least
        if (fold.seed.empty() || sums_.is_sum(target)) return total;
        if (!array_in(fold.seed[0], target))
            return hull(total, added(values_.range(fold.seed[0]), total));
        // A state that its own update scales: it stays within the sum where the scale is at most 1.
        const ValueRange scale = scale_of(fold.seed[0], target);
        const ValueRange start = starts_.count(target) != 0 ? starts_.at(target) : range_of(0);
        if (!(scale.size() <= 1)) return unbounded_range();
        const bool flips = scale.low < 0;
        const double size = total.size() + start.size();
        ValueRange result = flips ? range_of(-size, size)
                                  : range_of(total.low + std::min(start.low, 0.0),
                                             total.high + std::max(start.high, 0.0));
        result.fades = each.fades && start.fades;
        return result;
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
                                             values_.range(product->arguments[first ? 1 : 0])};
        return range_of_call(Function::Multiply, both);
    }

    ValueRange extreme_range(const Fold& fold) {
        const ValueRange each = values_.range(fold.values[0]);  // of one element at least
        return fold.seed.empty() ? each : hull(each, values_.range(fold.seed[0]));
    }

    /// Nothing is known of what overflows on the way.
    ValueRange known(const ValueRange& range) {
        return values_.take_overflow() ? unbounded_range() : range;
    }

    /// A user's monoid, followed element by element for as long as its ranges change.
    std::vector<ValueRange> monoid_range(const Statement& statement, const Fold& fold) {
        const Monoid& monoid = region_.monoids[fold.monoid.index()];
        std::vector<ValueRange> state;
        std::vector<ValueRange> each;
        for (std::size_t i = 0; i < monoid.combine.size(); ++i) {
            const auto start = starts_.find(statement.targets[i]);
            state.push_back(start != starts_.end() ? start->second
                                                   : values_.range(monoid.identity[i]));
            each.push_back(known(values_.range(fold.values[i])));
        }
        const auto count = static_cast<std::int64_t>(count_of(fold.over));
        for (std::int64_t step = 0; step < count; ++step) {
            std::vector<ValueRange> operands = state;
            operands.insert(operands.end(), each.begin(), each.end());
            std::vector<ValueRange> next;
            for (std::size_t i = 0; i < state.size(); ++i)
                next.push_back(hull(state[i], known(values_.range(monoid.combine[i], operands))));
            if (next == state) return state;
            if (step >= kMostSteps) return std::vector<ValueRange>(state.size(), unbounded_range());
            state = std::move(next);
        }
        return state;
    }

    void report() {
        for (const auto& [text, bound] : values_.exponents()) out_.exponents.push_back(bound);
        for (const auto& [target, range] : operands_)
            if (!fits(ElementType::F16, range))
                out_.arrays.push_back(
                    {region_.name, region_.arrays[target.index()].name + " (an operand, in f16)",
                     ElementType::F16, range.low, range.high});
        std::set<ArrayId> done;
        for (const Variable& variable : region_.variables) {
            const auto range = values_.arrays.find(variable.array);
            if (range == values_.arrays.end() || !done.insert(variable.array).second) continue;
            ValueRange told = with_zero(range->second);
            const auto start = starts_.find(variable.array);
            if (start != starts_.end()) told = hull(told, start->second);
            out_.arrays.push_back({region_.name, region_.arrays[variable.array.index()].name,
                                   type_told(variable, told), told.empty() ? 0 : told.low,
                                   told.empty() ? 0 : told.high});
            device_[variable.array] = range->second;
        }
    }
    /// Of the types in which an array is kept, one in which it does not fit, if there is one.
    [[nodiscard]] ElementType type_told(const Variable& variable, const ValueRange& range) const {
        for (const ElementType type : types_.at(variable.array))
            if (!holds(type, range)) return type;
        return variable.type;
    }

    const RegionProgram& region_;
    Ranges& device_;
    Safety& out_;
    RunningSums sums_;
    ExpressionRanges values_;
    Ranges starts_;  // of states, before the first chunk
    std::map<ArrayId, std::set<ElementType>> types_;
    std::set<ArrayId> given_up_;              // what grows
    std::map<ArrayId, ValueRange> operands_;  // beside those of f16, by the sum of their products
};

/// Whether an input may be any integer of its type.
bool is_any_integer(const Array& array) {
    return array.role == ArrayRole::Input && !is_floating(array.type) &&
           array.type != ElementType::Bool && !array.indexes;
}

ValueRange input_range(const Diagram& diagram, const Array& array, double range) {
    if (array.role == ArrayRole::Parameter) return range_of(array.value.value_or(0));
    if (array.type == ElementType::Bool) return range_of(0, 1);
    if (array.indexes) return range_of(0, static_cast<double>(diagram[*array.indexes].extent - 1));
    if (is_any_integer(array)) {
        constexpr double kMostExact = 0x1p53;  // no input holds more
        return range_of(round_to(array.type, -kMostExact), round_to(array.type, kMostExact));
    }
    const ValueRange wanted = range_of(-range, range);
    const ValueRange held =
        range_of(round_to(array.type, wanted.low), round_to(array.type, wanted.high));
    return fits(array.type, held) ? held : wanted;
}

}  // namespace

bool ExponentBound::safe() const {
    return saturates || most <= kLargestExponent;
}

bool ArrayRange::safe() const {
    return holds(type, range_of(low, high));
}

bool Safety::exponents_safe() const {
    return std::all_of(exponents.begin(), exponents.end(),
                       [](const ExponentBound& each) { return each.safe(); });
}

bool Safety::arrays_safe() const {
    return std::all_of(arrays.begin(), arrays.end(),
                       [](const ArrayRange& each) { return each.safe(); });
}

std::string describe(const Safety& safety) {
    std::vector<std::string> open;
    for (const ExponentBound& each : safety.exponents)
        if (!each.safe()) open.push_back("exp(" + each.exponent + ")");
    for (const ArrayRange& each : safety.arrays)
        if (!each.safe()) open.push_back(each.region + "." + each.array);
    const std::string inputs =
        fmt::format("real inputs within {} of zero{}", static_cast<long long>(safety.range),
                    safety.any_integers ? " and integers of any value" : "");
    if (open.empty()) return "nothing overflows for " + inputs;
    return fmt::format("not shown for {}: {}", inputs, fmt::join(open, ", "));
}

Safety check_safety(const Diagram& diagram, const TileProgram& program, double range) {
    Safety safety;
    safety.range = range;
    Ranges device;
    for (std::uint32_t i = 0; i < diagram.arrays.size(); ++i) {
        const Array& array = diagram.arrays[i];
        safety.any_integers |= is_any_integer(array);
        if (array.role == ArrayRole::Input || array.role == ArrayRole::Parameter)
            device[ArrayId{i}] = input_range(diagram, array, range);
    }
    for (const RegionProgram& region : program.regions) RegionBounds(region, device, safety).run();
    return safety;
}

}  // namespace napkin::proof
