#include "search/starts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "derive/contraction.h"
#include "diagrams/contains.h"
#include "search/kernels.h"
#include "search/moves.h"

namespace napkin {
namespace {

/// Rewritten diagrams that are searched, at most.
constexpr std::size_t kMostRewritten = 4;

Command about(const char* rule, const std::string& array) {
    Command command;
    command.rule = rule;
    command.names = {array};
    return command;
}

/// Terms that a fold takes in; those of a product of matrices count little.
double terms_of(const Diagram& diagram, const Statement& statement) {
    constexpr double kOfProduct = 1.0 / 16;
    if (!std::holds_alternative<Fold>(statement.body)) return 0;
    const std::vector<AxisId>& axes = diagram[statement.targets.front()].axes;
    double terms = contraction_of(statement, axes, [](AxisId) { return true; }) ? kOfProduct : 1;
    for (AxisId axis : axes) terms *= static_cast<double>(diagram[axis].extent);
    for (AxisId axis : folded_axes(statement)) terms *= static_cast<double>(diagram[axis].extent);
    return terms;
}

/// Those that all folds of a diagram take in.
double terms_of(const Diagram& diagram) {
    double terms = 0;
    for (const Statement& statement : diagram.statements) terms += terms_of(diagram, statement);
    return terms;
}

/// Whether a tensor core multiplies both sides as they are, and rounds neither.
bool is_exact(const Diagram& diagram, Contraction product) {
    place_either(product);
    std::array<std::optional<LoadedOperand>, 2> loaded;
    for (const std::size_t side : {0, 1}) {
        const std::vector<Expression>& factors = side == 0 ? product.left : product.right;
        const Read* element = std::get_if<Read>(&factors.front().node);
        if (factors.size() > 1 || element == nullptr) continue;
        const Array& array = diagram[element->array];
        const bool is_input = array.role == ArrayRole::Input;
        if (is_input || array.rounds) loaded[side] = LoadedOperand{array.type, is_input};
    }
    const ElementType type = multiplied_type(loaded, std::nullopt);
    return is_in_parts(type) || std::all_of(loaded.begin(), loaded.end(), [&](const auto& operand) {
               return operand && converts_exactly(operand->type, type);
           });
}

/// Whether terms that cancel are worth it: less than half is left to sum, and products of matrices
/// make no more of the cancellation than f32 does.
bool is_worth_cancelling(const Diagram& plain, const Statement& statement,
                         const Diagram& rewritten) {
    const double less = terms_of(plain) - terms_of(rewritten);
    if (less <= terms_of(plain, statement) / 2) return false;
    return std::all_of(
        rewritten.statements.begin(), rewritten.statements.end(), [&](const Statement& each) {
            const Array& target = rewritten[each.targets.front()];
            if (find_array(plain, target.name)) return true;
            const auto product = contraction_of(each, target.axes, [](AxisId) { return true; });
            return !product || is_exact(rewritten, *product);
        });
}

/// Whether a fold of a rewritten diagram has the axes of a statement but for some of its result.
bool is_smaller(const Diagram& rewritten, const Statement& fold, const std::vector<AxisId>& folded,
                const std::vector<AxisId>& kept) {
    if (folded_axes(fold) != folded) return false;
    const std::vector<AxisId>& own = rewritten[fold.targets.front()].axes;
    return own.size() < kept.size() &&
           std::all_of(own.begin(), own.end(), [&](AxisId axis) { return contains(kept, axis); });
}

/// With a product of the statement multiplied out into terms that cancel, or that do not.
std::optional<Start> multiplied_out(const State& plain, const Statement& statement, bool cancels) {
    if (!std::holds_alternative<Fold>(statement.body)) return std::nullopt;
    const Array& target = plain.diagram[statement.targets.front()];
    const std::vector<Command> commands{about("distribute", target.name),
                                        about("unfuse", target.name)};
    std::optional<State> state = after(plain, commands);
    if (!state || cancels == state->steps[plain.steps.size()].hazards.empty()) return std::nullopt;
    const auto& statements = state->diagram.statements;
    const bool helps =
        std::any_of(statements.begin(), statements.end(), [&](const Statement& each) {
            return std::holds_alternative<Fold>(each.body) &&
                   is_smaller(state->diagram, each, folded_axes(statement), target.axes);
        });
    if (!helps || (cancels && !is_worth_cancelling(plain.diagram, statement, state->diagram)))
        return std::nullopt;
    return Start{commands, std::move(*state), false};
}

/// With all products multiplied out whose terms cancel and are worth it: squares of distances.
std::optional<Start> distances_multiplied_out(const State& plain) {
    Start start{{}, plain, false};
    const auto next = [&]() -> std::optional<Start> {
        for (const Statement& statement : start.state.diagram.statements)
            if (auto found = multiplied_out(start.state, statement, true)) return found;
        return std::nullopt;
    };
    while (std::optional<Start> further = next()) {
        start.state = std::move(further->state);
        start.commands.insert(start.commands.end(), further->commands.begin(),
                              further->commands.end());
    }
    if (start.commands.empty()) return std::nullopt;
    return start;
}

/// Whether an index along the axis is asked for its part or remainder by a number, and by which.
std::optional<std::int64_t> parted_by(const Diagram& diagram, AxisId axis) {
    std::optional<std::int64_t> found;
    const auto look = [&](const Expression& node) {
        const Apply* call = std::get_if<Apply>(&node.node);
        if (found || call == nullptr ||
            (call->function != Function::FloorDivide && call->function != Function::Modulo))
            return;
        const AxisIndex* index = std::get_if<AxisIndex>(&call->arguments[0].node);
        const double* by = literal(call->arguments[1]);
        const auto extent = static_cast<double>(diagram[axis].extent);
        const bool divides =
            by != nullptr && *by > 1 && *by < extent && std::fmod(extent, *by) == 0;
        if (index != nullptr && index->axis == axis && divides)
            found = static_cast<std::int64_t>(*by);
    };
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement)) walk(*expression, look);
    return found;
}

/// With every axis split whose parts or remainders are told apart: group scales, and the classes of
/// dilated masks, are axes of their own then.
std::optional<Start> split_up(const State& plain) {
    std::vector<Command> commands;
    State state = plain;
    for (std::size_t i = 0; i < plain.diagram.axes.size(); ++i) {
        const Axis& axis = plain.diagram.axes[i];
        const auto by = parted_by(plain.diagram, AxisId{static_cast<std::uint32_t>(i)});
        if (!by) continue;
        Command split = about("split-axis", axis.name);
        split.as = {axis.name + "_in"};
        split.size = *by;
        std::optional<State> next = after(state, {split});
        if (!next) continue;
        state = *std::move(next);
        commands.push_back(std::move(split));
    }
    if (commands.empty()) return std::nullopt;
    return Start{commands, std::move(state), false};
}

/// `layout ARRAY[...]` with the axes outermost that all sides of a product have, where one of them
/// is innermost: as it lies, neither side has rows or columns side by side.
std::optional<Command> laid_out(const Diagram& diagram, ArrayId id,
                                const std::vector<AxisId>& batch) {
    const Array& array = diagram[id];
    if (array.axes.size() < 2 || !contains(batch, array.axes[array.layout.back()]))
        return std::nullopt;
    Command command = about("layout", array.name);
    for (const bool outer : {true, false})
        for (const std::uint32_t position : array.layout)
            if (contains(batch, array.axes[position]) == outer)
                command.axes.push_back(diagram[array.axes[position]].name);
    if (array.role == ArrayRole::Input || array.role == ArrayRole::Output) {
        std::string name = array.name + "_laid";
        while (find_array(diagram, name) || find_axis(diagram, name)) name += "_laid";
        command.as = {name};
    }
    return command;
}

/// With every array of a product laid out so, by copies where it is the caller's.
std::optional<Start> batch_outermost(const State& plain) {
    Start start{{}, plain, false};
    for (const Statement& statement : plain.diagram.statements) {
        const ArrayId target = statement.targets.front();
        const auto product =
            contraction_of(statement, plain.diagram[target].axes, [](AxisId) { return true; });
        if (!product || product->batch.empty()) continue;
        std::vector<ArrayId> arrays = inputs_of(statement);
        arrays.push_back(target);
        for (ArrayId array : arrays) {
            const auto command = laid_out(plain.diagram, array, product->batch);
            if (!command) continue;
            std::optional<State> next = after(start.state, {*command});
            if (!next) continue;
            start.state = *std::move(next);
            start.commands.push_back(*command);
        }
    }
    if (start.commands.empty()) return std::nullopt;
    return start;
}

/// The input with the most axes among what an operand is computed of; none where that is another.
const Array* widest_input(const Diagram& diagram, const std::vector<Expression>& factors) {
    const Array* widest = nullptr;
    for (const Expression& factor : factors)
        for (const ArrayId array : arrays_read(factor))
            if (widest == nullptr || diagram[array].axes.size() > widest->axes.size())
                widest = &diagram[array];
    return widest != nullptr && widest->role == ArrayRole::Input ? widest : nullptr;
}

/// An operand that is computed of an input as an array of its own, rounded as the product would
/// round it: every block that meets an element would compute it again.
std::vector<Command> operand_apart(const Diagram& diagram, const std::string& product,
                                   const std::string& side,
                                   const std::vector<Expression>& factors) {
    const bool is_element =
        factors.size() == 1 && std::holds_alternative<Read>(factors.front().node);
    const Array* widest = widest_input(diagram, factors);
    if (is_element || widest == nullptr) return {};
    Command extract;
    extract.rule = "extract";
    extract.in = product;
    extract.as = {product + "_" + side};
    while (find_array(diagram, extract.as[0]) || find_axis(diagram, extract.as[0]))
        extract.as[0] += "_";
    std::set<ArrayId> read;
    for (const Expression& factor : factors) read.merge(arrays_read(factor));
    for (const ArrayId array : read)
        if (diagram[array].role != ArrayRole::Parameter)
            extract.names.push_back(diagram[array].name);
    std::vector<Command> commands{extract, about("unfuse", product)};
    if (is_multiplied(widest->type) && bits_of(widest->type) == 16) {
        commands.push_back(about("retype", extract.as[0]));
        commands.back().to = name_of(widest->type);
    }
    return commands;
}

/// With every such operand apart.
std::optional<Start> operands_apart(const State& plain) {
    Start start{{}, plain, false};
    for (const Statement& statement : plain.diagram.statements) {
        const Array& target = plain.diagram[statement.targets.front()];
        auto product = contraction_of(statement, target.axes, [](AxisId) { return true; });
        if (!product || !target.named) continue;
        place_either(*product);
        for (const bool left : {true, false}) {
            const std::vector<Command> commands =
                operand_apart(start.state.diagram, target.name, left ? "left" : "right",
                              left ? product->left : product->right);
            std::optional<State> next =
                commands.empty() ? std::nullopt : after(start.state, commands);
            if (!next) continue;
            start.state = *std::move(next);
            start.commands.insert(start.commands.end(), commands.begin(), commands.end());
            start.apart.push_back(commands.front().as.front());
        }
    }
    if (start.commands.empty()) return std::nullopt;
    return start;
}

/// Whether all that a move names stands in the statement that it is about.
bool is_within(const Diagram& diagram, const Command& move) {
    const std::optional<ArrayId> target = find_array(diagram, move.in);
    const std::optional<StatementId> source = target ? producer(diagram, *target) : std::nullopt;
    if (!source) return false;
    const std::vector<ArrayId> read = inputs_of(diagram[*source]);
    return std::all_of(move.names.begin(), move.names.end(), [&](const std::string& name) {
        const std::optional<ArrayId> array = find_array(diagram, name);
        return array && contains(read, *array);
    });
}

/// Whether no one tile serves all of a box: it reduces to arrays of other axes, or over others, or
/// its result has axes at each of which a reduction would be made again.
bool reduces_otherwise(const Diagram& diagram, const Box& box) {
    const std::vector<AxisId>& result =
        diagram[diagram[box.statements.back()].targets.front()].axes;
    std::set<std::pair<std::set<AxisId>, std::set<AxisId>>> reductions;
    for (const StatementId id : box.statements) {
        const std::vector<AxisId> folded = folded_axes(diagram[id]);
        const std::vector<AxisId>& kept = diagram[diagram[id].targets.front()].axes;
        if (folded.empty()) continue;
        reductions.insert({{folded.begin(), folded.end()}, {kept.begin(), kept.end()}});
        if (std::any_of(result.begin(), result.end(), [&](AxisId axis) {
                return !contains(kept, axis) && !contains(folded, axis);
            }))
            return true;
    }
    return reductions.size() > 1;
}

/// With each such box taken apart, from its result on, as long as what is left reduces otherwise.
Start sums_apart(const State& plain) {
    Start start{{}, plain, false};
    const auto take_apart = [&] {
        const Diagram& diagram = start.state.diagram;
        for (const Box& box : diagram.boxes) {
            if (!reduces_otherwise(diagram, box)) continue;
            const StatementId last = box.statements.back();
            const Command unfuse = about("unfuse", diagram[diagram[last].targets.front()].name);
            std::optional<State> next = after(start.state, {unfuse});
            if (!next) continue;
            start.state = *std::move(next);
            start.commands.push_back(unfuse);
            return true;
        }
        return false;
    };
    while (take_apart()) {
    }
    return start;
}

/// With factors of sums of products summed first where that leaves less than half of the terms:
/// a chain of products that is one sum, a bilinear form.
std::optional<Start> summed_in_turn(Start start) {
    constexpr std::size_t kMostStatements = 24;
    constexpr int kMostTurns = 3;
    const std::size_t given = start.commands.size();
    if (start.state.diagram.statements.size() > kMostStatements) return std::nullopt;
    for (int turn = 0; turn < kMostTurns; ++turn) {
        std::vector<std::size_t> regions(start.state.relabelling.regions.size());
        std::iota(regions.begin(), regions.end(), std::size_t{0});
        double least = terms_of(start.state.diagram) / 2;
        std::optional<Start> best;
        for (const MoveFamily& family : moves_from(start.state, regions))
            for (const Move& move : family.variants) {
                if (move.size() != 1 || move.front().rule != "reassociate" ||
                    !is_within(start.state.diagram, move.front()))
                    continue;
                std::optional<State> next = after(start.state, move);
                if (!next || terms_of(next->diagram) >= least) continue;
                least = terms_of(next->diagram);
                best = Start{start.commands, *std::move(next), false};
                best->commands.push_back(move.front());
            }
        if (!best) break;
        start = *std::move(best);
        // What is summed first may be a region of its own.
        const Command apart = about("unfuse", start.commands.back().in);
        if (std::optional<State> next = after(start.state, {apart})) {
            start.state = *std::move(next);
            start.commands.push_back(apart);
        }
    }
    if (start.commands.size() == given) return std::nullopt;
    return start;
}

}  // namespace

std::optional<Start> start_of_parts(const Diagram& diagram) {
    Start start{{}, initial_state(diagram), false};
    for (const Box& box : diagram.boxes) {
        const Command unfuse =
            about("unfuse", diagram[diagram[box.statements.back()].targets.front()].name);
        std::optional<State> next =
            box.statements.size() > 1 ? after(start.state, {unfuse}) : std::nullopt;
        if (!next) continue;
        start.state = *std::move(next);
        start.commands.push_back(unfuse);
    }
    if (start.commands.empty()) return std::nullopt;
    return start;
}

std::vector<Start> starts_of(const Diagram& diagram) {
    const State plain = initial_state(diagram);
    std::vector<Start> starts{{{}, plain, false}};
    if (std::optional<Start> start = split_up(plain)) starts.push_back(*std::move(start));
    if (std::optional<Start> start = batch_outermost(plain)) starts.push_back(*std::move(start));
    if (std::optional<Start> start = operands_apart(plain)) starts.push_back(*std::move(start));
    Start apart = sums_apart(plain);
    if (std::optional<Start> start = summed_in_turn(apart))
        starts.push_back(*std::move(start));
    else if (!apart.commands.empty())
        starts.push_back(std::move(apart));
    if (std::optional<Start> start = distances_multiplied_out(plain))
        starts.push_back(*std::move(start));
    for (const Statement& statement : diagram.statements) {
        if (starts.size() > kMostRewritten) break;
        if (std::optional<Start> start = multiplied_out(plain, statement, false))
            starts.push_back(std::move(*start));
    }
    return starts;
}

}  // namespace napkin
