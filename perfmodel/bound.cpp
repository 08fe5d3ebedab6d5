#include "perfmodel/bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "derive/contraction.h"
#include "diagrams/checked.h"
#include "diagrams/contains.h"
#include "diagrams/index/needs.h"
#include "diagrams/masks.h"
#include "diagrams/recent.h"

namespace napkin {

namespace {

using Conditions = std::vector<std::pair<Expression, bool>>;

/// Elements that a value takes whatever its conditions are, and operands where it combines.
std::vector<Expression> always_taken(const Expression& value) {
    std::vector<Expression> taken;
    const auto add = [&](const Expression& part) {
        for (Expression& leaf : always_taken(part)) taken.push_back(std::move(leaf));
    };
    if (const Read* element = std::get_if<Read>(&value.node)) {
        taken.push_back(value);
        for (const Expression& index : element->index) add(index);
    } else if (std::holds_alternative<Operand>(value.node)) {
        taken.push_back(value);
    } else if (const Convert* convert = std::get_if<Convert>(&value.node)) {
        add(convert->argument.front());
    } else if (const Apply* call = std::get_if<Apply>(&value.node)) {
        const bool shortens = call->function == Function::And || call->function == Function::Or;
        const bool chooses = call->function == Function::Select;
        for (std::size_t i = 0; i < call->arguments.size(); ++i)
            if (i == 0 || !(shortens || chooses)) add(call->arguments[i]);
        if (!chooses) return taken;
        const std::vector<Expression> other = always_taken(call->arguments[2]);
        for (Expression& leaf : always_taken(call->arguments[1]))
            if (contains(other, leaf)) taken.push_back(std::move(leaf));
    }
    return taken;
}

/// What one component of a fold of several cannot do without: components of the first element that
/// is folded, and of each later one.
struct Components {
    std::set<std::size_t> first;
    std::set<std::size_t> later;
};

/// One element after another: the fold's components after the last follow from those before it and
/// from the last element, and so on back to the first, which is as it is. Of a scan: what an
/// element gives to the result at its own place.
Components components_needed(const Monoid& monoid, std::size_t component, std::int64_t elements,
                             bool every_prefix) {
    const std::size_t count = monoid.combine.size();
    const auto operands_of = [&](const std::set<std::size_t>& of, bool of_element) {
        std::set<std::size_t> found;
        for (const std::size_t each : of)
            for (const Expression& leaf : always_taken(monoid.combine[each]))
                if (const Operand* operand = std::get_if<Operand>(&leaf.node);
                    operand != nullptr && (operand->slot >= count) == of_element)
                    found.insert(operand->slot % count);
        return found;
    };
    std::set<std::size_t> state = {component};
    if (every_prefix) return {state, operands_of(state, true)};
    std::optional<std::set<std::size_t>> later;
    constexpr int kMostSteps = 64;  // components that take turns longer are not followed
    for (std::int64_t left = elements - 1; left > 0; --left) {
        if (elements - left > kMostSteps) return {};
        const std::set<std::size_t> taken = operands_of(state, true);
        if (!later) later = taken;
        std::erase_if(*later, [&](std::size_t each) { return !taken.contains(each); });
        std::set<std::size_t> before = operands_of(state, false);
        if (before == state) break;
        state = std::move(before);
    }
    return {std::move(state), later.value_or(std::set<std::size_t>{})};
}

/// The uses of arrays in the statements of a diagram, last statements first.
class Uses {
public:
    Uses(const Diagram& diagram, index::Needs& needs) : diagram_(diagram), needs_(needs) {}

    void follow() {
        for (std::size_t i = diagram_.statements.size(); i-- > 0;) {
            const Statement& statement = diagram_.statements[i];
            const Fold* fold = std::get_if<Fold>(&statement.body);
            for (std::size_t target = 0; target < statement.targets.size(); ++target) {
                reader_ = statement.targets[target];
                if (fold != nullptr && fold->values.size() > 1)
                    follow_component(*fold, target);
                else if (target == 0 || !is_of_one(statement))
                    for (const Expression* expression : expressions_of(statement))
                        follow(*expression, fold == nullptr ? Conditions{} : seen_by(*fold));
            }
        }
    }

private:
    /// A selection from one element, whose index is 0 whatever the element is.
    [[nodiscard]] bool is_of_one(const Statement& statement) const {
        const Select* select = std::get_if<Select>(&statement.body);
        return select != nullptr && diagram_[select->over].extent == 1;
    }
    /// What indices alone say of where a fold's elements count. A condition on data is left out:
    /// its arrays are read wherever it is asked, and the branch that it guards is followed under
    /// it.
    [[nodiscard]] Conditions seen_by(const Fold& fold) const {
        Conditions conditions;
        if (fold.values.size() == 1)
            for (const Expression& mask : masks_of(diagram_, fold.values.front(), fold.monoid))
                for (Expression& part : conjuncts_of(mask))
                    if (arrays_read(part).empty()) conditions.emplace_back(std::move(part), true);
        return conditions;
    }

    /// A value that may be the identity or may end what came before it, as a constant or under a
    /// mask.
    static bool is_special(const Expression& value) {
        bool chooses = false;
        walk(value, [&](const Expression& part) {
            const Apply* call = std::get_if<Apply>(&part.node);
            chooses = chooses || (call != nullptr && call->function == Function::Select);
        });
        return chooses || arrays_read(value).empty();
    }

    void follow_component(const Fold& fold, std::size_t target) {
        CheckedInt elements = 1;
        Expression place = integer(0);  // 0 for the first element alone
        for (const AxisId axis : fold.over) {
            elements = elements * diagram_[axis].extent;
            place = apply(Function::Add, {std::move(place), axis_index(axis)});
        }
        if (!elements || !fold.seed.empty()) return;
        const bool special = std::any_of(fold.values.begin(), fold.values.end(), is_special);
        const Expression is_later = apply(Function::Less, {integer(0), std::move(place)});
        const Components needed =
            components_needed(diagram_[fold.monoid], target, *elements.value, fold.every_prefix);
        // Beside special values only what is combined with nothing else is sure to matter.
        const std::set<std::size_t> alone = {target};
        if (special &&
            (is_special(fold.values[target]) || needed.first != alone || needed.later != alone))
            return;
        for (std::size_t k = 0; k < fold.values.size(); ++k) {
            const bool first = needed.first.contains(k);
            const bool later = needed.later.contains(k);
            if (first && later) follow(fold.values[k], {});
            if (first != later) follow(fold.values[k], {{is_later, later}});
        }
    }

    void follow(const Expression& expression, const Conditions& conditions) {
        if (const Read* element = std::get_if<Read>(&expression.node)) {
            needs_.add({reader_, element->array, element->index, conditions});
            for (const Expression& index : element->index) follow(index, conditions);
        } else if (const Convert* convert = std::get_if<Convert>(&expression.node)) {
            follow(convert->argument.front(), conditions);
        } else if (const Apply* call = std::get_if<Apply>(&expression.node)) {
            follow(*call, conditions);
        }
    }

    /// Branches and second operands of `and` and `or` count where they are asked for.
    void follow(const Apply& call, const Conditions& conditions) {
        const auto where = [&](bool holds) {
            Conditions inner = conditions;
            inner.emplace_back(call.arguments[0], holds);
            return inner;
        };
        const Function function = call.function;
        const bool chooses =
            function == Function::Select || function == Function::And || function == Function::Or;
        if (function == Function::Select)
            for (const Expression& leaf : always_taken({call, {}})) {
                const Read& read = std::get<Read>(leaf.node);
                needs_.add({reader_, read.array, read.index, conditions});
            }
        follow(call.arguments[0], conditions);
        for (std::size_t i = 1; i < call.arguments.size(); ++i)
            follow(call.arguments[i],
                   chooses ? where(function == Function::Or ? false : i == 1) : conditions);
    }

    const Diagram& diagram_;
    index::Needs& needs_;
    ArrayId reader_;
};

/// The type in which a state stores the output of this name.
ElementType stored_type(const Diagram& plain, ArrayId output, const State& state) {
    for (std::uint32_t i = 0; i < state.diagram.arrays.size(); ++i)
        if (state.diagram.arrays[i].role == ArrayRole::Output &&
            state.diagram.arrays[i].name == plain[output].name)
            return storage_type(state.diagram, state.relabelling, ArrayId{i});
    return storage_type(plain, plain_relabelling(plain), output);
}

/// How many elements of each input and output are needed. Every step of a derivation asks about
/// the same diagrams.
const std::vector<std::int64_t>& needed_of(const Diagram& diagram) {
    constexpr std::size_t kMostKept = 8;
    thread_local Recent<Diagram, std::vector<std::int64_t>> latest(kMostKept);
    if (const std::vector<std::int64_t>* counts = latest.find(diagram)) return *counts;
    index::Needs needs(diagram.axes, diagram.arrays);
    for (const ArrayId output : outputs_of(diagram)) needs.add_whole(output);
    Uses(diagram, needs).follow();
    std::vector<std::int64_t> counts;
    for (std::uint32_t i = 0; i < diagram.arrays.size(); ++i) {
        const ArrayRole role = diagram.arrays[i].role;
        const bool moves = role == ArrayRole::Input || role == ArrayRole::Output;
        counts.push_back(moves ? needs.count(ArrayId{i}) : 0);
    }
    return latest.keep(diagram, std::move(counts));
}

/// What is needed less what the rules cancelled, as all of `sum(x) (S[q, x] - mean[x](S[q, x]))`:
/// no more of an input than the diagram that they made needs.
std::vector<std::int64_t> still_needed(const Diagram& plain, const State& state) {
    std::vector<std::int64_t> needed = needed_of(plain);
    const std::vector<std::int64_t>& left = needed_of(state.diagram);
    for (std::uint32_t i = 0; i < needed.size(); ++i) {
        if (plain.arrays[i].role != ArrayRole::Input) continue;
        const std::optional<ArrayId> same = find_array(state.diagram, plain.arrays[i].name);
        needed[i] = same ? std::min(needed[i], left[same->index()]) : 0;
    }
    return needed;
}

std::optional<TransferBound> compulsory(const Diagram& plain, const State& state) {
    const std::vector<std::int64_t> needed = still_needed(plain, state);
    CheckedInt values = 0;
    CheckedInt bits = 0;
    for (std::uint32_t i = 0; i < plain.arrays.size(); ++i) {
        const ArrayId array{i};
        const bool is_output = plain[array].role == ArrayRole::Output;
        const ElementType type = is_output ? stored_type(plain, array, state) : plain[array].type;
        values = values + needed[i];
        bits = bits + CheckedInt(needed[i]) * bits_of(type);
    }
    if (!values || !bits) return std::nullopt;
    return TransferBound{*values, *bits,
                         "compulsory traffic: every needed element of an input is read and every "
                         "output written once"};
}

/// The axes of a read of an array by plain, distinct axes.
std::optional<std::set<AxisId>> plain_axes(const Read& element) {
    std::set<AxisId> axes;
    for (const Expression& index : element.index) {
        const AxisIndex* axis = std::get_if<AxisIndex>(&index.node);
        if (axis == nullptr || !axes.insert(axis->axis).second) return std::nullopt;
    }
    return axes;
}

/// The element that one factor is, however it is rounded; null of anything else.
const Read* element_of(const std::vector<Expression>& factors) {
    const Expression* factor = &factors.front();
    while (const Convert* convert = std::get_if<Convert>(&factor->node))
        factor = &convert->argument.front();
    return factors.size() == 1 ? std::get_if<Read>(&factor->node) : nullptr;
}

/// The operands of a diagram that is one product of two matrices as they lie in memory, but for
/// scalars: then every axis is one of at least two of the operands and the result.
std::optional<std::array<ArrayId, 2>> matrices_of(const Diagram& diagram) {
    if (diagram.statements.size() != 1) return std::nullopt;
    const Statement& statement = diagram.statements.front();
    const auto counts = [](AxisId) { return true; };
    const std::optional<Contraction> found =
        contraction_of(statement, diagram[statement.targets.front()].axes, counts);
    const auto varies = [](const Expression& factor) { return !axes_used(factor).empty(); };
    if (!found || !found->others.empty() || !found->either.empty() ||
        !std::get<Fold>(statement.body).seed.empty() ||
        std::any_of(found->outside.begin(), found->outside.end(), varies))
        return std::nullopt;
    const Read* left = element_of(found->left);
    const Read* right = element_of(found->right);
    if (left == nullptr || right == nullptr || left->array == right->array) return std::nullopt;
    for (const auto& [element, own] : {std::pair{left, &found->rows}, {right, &found->columns}}) {
        const std::optional<std::set<AxisId>> axes = plain_axes(*element);
        if (!axes || axes->size() != found->batch.size() + own->size() + found->depth.size())
            return std::nullopt;
    }
    return std::array{left->array, right->array};
}

/// What one block holds at most, in shared memory and within.
std::optional<Bytes> held_by_block(const Machine& machine) {
    std::optional<Bytes> held = machine.capacity(Level::Block);
    if (!held) return std::nullopt;
    if (const auto registers = machine.figure("processor.registers"))
        return *held + Bytes{*registers};
    for (const Level level : {Level::Warps, Level::Thread})
        if (machine.has(level)) return std::nullopt;  // nobody says how many there are
    return held;
}

/// Bits of the narrowest array that is neither an input nor an output.
std::int64_t narrowest_wire(const State& state) {
    auto least = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t i = 0; i < state.diagram.arrays.size(); ++i)
        if (state.diagram.arrays[i].role == ArrayRole::Intermediate)
            least = std::min<std::int64_t>(
                least, bits_of(storage_type(state.diagram, state.relabelling, ArrayId{i})));
    return least;
}

/// Bits that any blocks move for a contraction; 0 where the bound does not apply.
std::int64_t contraction_bits(const Diagram& plain, const State& state, const Machine& machine) {
    constexpr double kLeast = 1.66;  // of max(2 - 2/u, 3 u^(-1/3)) over u = w / (S / W^(1/3))^1.5
    const auto operands = matrices_of(plain);
    const std::optional<Bytes> held = held_by_block(machine);
    if (!operands || !held) return 0;
    double products = 1;
    for (const AxisId axis : axes_of(plain, plain.statements.front()))
        products *= static_cast<double>(plain[axis].extent);
    // Copies of operands, and sums that are not done, may travel in the type of any wire.
    const auto narrowest = narrowest_wire(state);
    const auto width = [&](ElementType type) {
        return static_cast<double>(std::min<std::int64_t>(bits_of(type), narrowest));
    };
    double widths = width(stored_type(plain, plain.statements.front().targets.front(), state));
    for (const ArrayId operand : *operands) widths *= width(plain[operand].type);
    const double bits = kLeast * products * std::sqrt(widths / (8 * held->value));
    constexpr double kTooMany = 9e18;
    return bits < kTooMany ? static_cast<std::int64_t>(bits) : 0;
}

}  // namespace

TransferBound bound_on(const Machine& machine, const TransferBound& anywhere, const Diagram& plain,
                       const State& state) {
    const std::int64_t bits = contraction_bits(plain, state, machine);
    if (bits <= anywhere.bits) return anywhere;
    return TransferBound{0, bits,
                         "1.66 products / sqrt(memory) of a contraction: Smith et al., arXiv "
                         "1702.02017, with Loomis and Whitney for small blocks"};
}

std::optional<TransferBound> bound_of(const Diagram& plain, const State& state,
                                      const Machine* machine) {
    std::optional<TransferBound> bound = compulsory(plain, state);
    return bound && machine != nullptr ? bound_on(*machine, *bound, plain, state) : bound;
}

}  // namespace napkin
