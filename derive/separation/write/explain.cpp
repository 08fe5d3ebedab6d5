// The accumulator as formulas, for people.
#include <algorithm>
#include <map>

#include "derive/accumulator_text.h"
#include "derive/separation/write/formula_text.h"

namespace napkin {
namespace {

/// What a state keeps, as a person would say it.
class StateText {
public:
    StateText(const Diagram& scope, const Accumulator& accumulator)
        : scope_(scope), accumulator_(accumulator) {}

    /// How it is repaired; empty where it never needs to be.
    [[nodiscard]] std::string repair(const AccumulatorState& state) const {
        std::string text;
        for (const Statement& each : accumulator_.body)
            if (each.targets.front() == state.action.scale)
                text = separation::value_text(scope_, each, 0);
        if (state.action.lower.empty()) return text;
        return text + (text.empty() ? "the binomial theorem" : " and the binomial theorem");
    }
    /// What it is kept for, and relative to what.
    [[nodiscard]] std::string reason(const AccumulatorState& state) const {
        std::string text = kept(state);
        if (state.action.scale) text += ", relative to a gauge that may still grow";
        if (state.action.lower.empty()) return text;
        text += "; moves with ";
        for (std::size_t i = 0; i < state.action.shifts.size(); ++i)
            text += (i == 0 ? "" : " and ") + name(state.action.shifts[i].gauge);
        return text;
    }

private:
    const Diagram& scope_;
    const Accumulator& accumulator_;

    [[nodiscard]] std::string name(ArrayId id) const { return "`" + scope_[id].name + "`"; }
    [[nodiscard]] std::string kept(const AccumulatorState& state) const {
        using Keeps = AccumulatorState::Keeps;
        const Gauge* gauge = gauge_of(accumulator_, state.state);
        const std::string fold = state.serves ? "fold " + name(*state.serves) : "";
        switch (state.keeps) {
        case Keeps::Gauge: return mean(*gauge);
        case Keeps::List: return fold + ", a sorted list";
        case Keeps::Prefix:
            return "carries the last prefix of " + name(*state.serves) + " to the next chunk";
        case Keeps::Element: return fold.empty() ? "an element at a known index" : fold;
        case Keeps::Fold: break;
        }
        if (gauge != nullptr)
            return fold + (fold.empty() ? "" : ", ") +
                   "running gauge, relative to which exponents are taken";
        if (!fold.empty()) return fold;
        return state.monoid == kMax ? "a largest value" : "a smallest value";
    }
    [[nodiscard]] std::string mean(const Gauge& gauge) const {
        const std::string which =
            gauge.policy == GaugePolicy::Running
                ? "running mean by " + name(*gauge.total) + ", which moves"
                : std::string("mean of the first chunk") + (gauge.may_lack ? " that has any" : "");
        return which +
               "; differences are formed relative to it, since multiplied out they would cancel";
    }
};

/// Each state with how it is repaired, those repaired alike together.
std::vector<std::string> repairs_of(const Diagram& scope, const Accumulator& accumulator) {
    const StateText texts(scope, accumulator);
    std::map<std::string, std::string> repaired;
    std::vector<std::string> repairs;
    for (const AccumulatorState& state : accumulator.states) {
        const std::string repair = texts.repair(state);
        if (repair.empty()) continue;
        std::string& names = repaired[repair];
        if (names.empty()) repairs.push_back(repair);
        names += (names.empty() ? "" : ", ") + scope[state.state].name;
    }
    for (std::string& repair : repairs) repair.insert(0, repaired[repair] + " by ");
    return repairs;
}

}  // namespace

AccumulatorText text_of(const Diagram& diagram, const Accumulator& accumulator) {
    Diagram scope = diagram;
    scope.arrays.insert(scope.arrays.end(), accumulator.arrays.begin(), accumulator.arrays.end());
    const auto name_and_type = [&](ArrayId id) {
        const Array& array = scope[id];
        const bool narrow = id.index() >= diagram.arrays.size() && is_floating(array.type) &&
                            array.type != ElementType::F32;
        return array.name + (narrow ? " : " + std::string(name_of(array.type)) : "");
    };
    const auto lines_of = [&](const std::vector<Statement>& statements) {
        std::vector<std::string> lines;
        for (const Statement& statement : statements)
            for (std::size_t i = 0; i < statement.targets.size(); ++i)
                lines.push_back(name_and_type(statement.targets[i]) + " = " +
                                separation::value_text(scope, statement, i));
        return lines;
    };
    std::vector<std::string> inside;
    const auto add = [&](const Accumulator& within, const std::string& around,
                         const auto& self) -> void {
        for (const Accumulator& each : within.inside) {
            std::string over = around + (around.empty() ? "over " : ", ");
            for (const AxisId axis : each.axes)
                over += (axis == each.axes.front() ? "" : ", ") + diagram[axis].name;
            const auto add_lines = [&](const std::vector<Statement>& phase, const std::string& of) {
                for (const std::string& line : lines_of(phase))
                    inside.push_back(of.empty() ? line : of + ": " + line);
            };
            add_lines(each.initial, around);
            self(each, over, self);
            add_lines(each.body, over);
            add_lines(each.tail, around);
        }
    };
    add(accumulator, "", add);
    const StateText texts(scope, accumulator);
    std::vector<std::string> reasons;
    for (const AccumulatorState& state : accumulator.states)
        reasons.push_back(scope[state.state].name + ": " + texts.reason(state));
    std::vector<std::string> provided;
    std::vector<std::string> unsafe;
    for (const Obligation& each : accumulator.obligations)
        (each.met ? provided : unsafe).push_back(print(each));
    provided.insert(provided.end(), accumulator.conditions.begin(), accumulator.conditions.end());
    AccumulatorText text;
    for (const AxisId axis : accumulator.axes) text.axes.push_back(diagram[axis].name);
    text.sections = {
        {"initial", lines_of(accumulator.initial)}, {"inside", std::move(inside)},
        {"body", lines_of(accumulator.body)},       {"repair", repairs_of(scope, accumulator)},
        {"tail", lines_of(accumulator.tail)},       {"states", std::move(reasons)},
        {"provided", std::move(provided)},          {"unsafe", std::move(unsafe)}};
    std::erase_if(text.sections, [](const auto& section) { return section.lines.empty(); });
    return text;
}

std::string explain(const Diagram& diagram, const Accumulator& accumulator) {
    const AccumulatorText parts = text_of(diagram, accumulator);
    std::string axes;
    for (const std::string& axis : parts.axes) axes += (axes.empty() ? "" : ", ") + axis;
    std::string text = "accumulator over " + axes + "\n";
    if (accumulator.states.empty()) text += "  no state: every chunk stands for itself\n";
    for (const AccumulatorText::Section& section : parts.sections)
        for (std::size_t i = 0; i < section.lines.size(); ++i) {
            const std::string left = i == 0 ? section.heading : "";
            text.append("  ").append(left).append(10 - left.size(), ' ');
            text.append(section.lines[i]).append("\n");
        }
    return text;
}

}  // namespace napkin
