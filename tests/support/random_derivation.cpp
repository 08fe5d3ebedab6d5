#include "tests/support/random_derivation.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "derive/roles.h"

namespace napkin::test {

namespace {

class CommandDrawer {
public:
    CommandDrawer(const State& state, std::mt19937_64& random, Commands commands)
        : state_(state), diagram_(state.diagram), random_(random) {
        static constexpr std::array kWay = {"fuse", "group", "stream"};
        const std::size_t done = state.steps.size();
        if (commands == Commands::AlongTheWay && done < kWay.size() && pick(2) == 0)
            next_ = kWay[done];
    }

    Command draw() {
        using Draw = void (CommandDrawer::*)(Command&);
        struct Entry {
            const char* rule;
            int weight;
            Draw fill;
        };
        static constexpr std::array kEntries = {
            Entry{"fuse", 6, &CommandDrawer::fuse},
            Entry{"unfuse", 2, &CommandDrawer::unfuse},
            Entry{"group", 4, &CommandDrawer::group},
            Entry{"ungroup", 2, &CommandDrawer::ungroup},
            Entry{"stream", 4, &CommandDrawer::stream},
            Entry{"unstream", 2, &CommandDrawer::unstream},
            Entry{"recolour", 2, &CommandDrawer::recolour},
            Entry{"retype", 2, &CommandDrawer::retype},
            Entry{"split-axis", 2, &CommandDrawer::split_axis},
            Entry{"join-axes", 2, &CommandDrawer::join_axes},
            Entry{"layout", 2, &CommandDrawer::layout},
            Entry{"split-stream", 4, &CommandDrawer::split_stream},
            Entry{"recompute", 4, &CommandDrawer::recompute},
            Entry{"absorb-normaliser", 2, &CommandDrawer::absorb},
            Entry{"stabilise", 2, &CommandDrawer::stabilise},
            Entry{"distribute", 3, &CommandDrawer::distribute},
            Entry{"commute", 3, &CommandDrawer::commute},
            Entry{"reassociate", 3, &CommandDrawer::reassociate},
            Entry{"extract", 3, &CommandDrawer::extract},
        };
        int total = 0;
        for (const Entry& entry : kEntries) total += entry.weight;
        const bool begins = next_.empty() && state_.steps.empty() && pick(2) == 0;  // fused, often
        auto ticket = begins ? 0 : static_cast<int>(pick(static_cast<std::size_t>(total)));
        for (const Entry& entry : kEntries) {
            ticket -= entry.weight;
            if (next_.empty() ? ticket >= 0 : entry.rule != next_) continue;
            Command command;
            command.rule = entry.rule;
            (this->*entry.fill)(command);
            return command;
        }
        return {};
    }

private:
    void fuse(Command& command) {
        if (pick(2) == 0)
            command.names = {"all"};
        else
            command.names = {name(region()), name(region())};
    }
    void unfuse(Command& command) { command.names = {name(region())}; }
    void site(Command& command, const Region& region, std::vector<AxisId> axes) {
        if (const std::vector<AxisId> elsewhere = read_elsewhere(region);
            !elsewhere.empty() && pick(2) == 0)
            axes = elsewhere;
        command.names = {axes.empty() ? any_axis() : diagram_[one_of(axes)].name};
        command.in = name(region);
        command.at = pick(3) == 0 ? "l2" : "l1";
    }
    void group(Command& command) {
        const Region& where = region();
        site(command, where, axes_in(where, false));
        command.size = size();
    }
    void stream(Command& command) {
        const Region& where = region();
        site(command, where, axes_in(where, pick(2) == 0));  // or one that is only mapped
        command.size = size();
    }
    void ungroup(Command& command) {
        const Region& where = region();
        std::vector<AxisId> axes;
        for (const Group& group : where.groups) axes.push_back(group.axis);
        site(command, where, axes);
    }
    void unstream(Command& command) {
        const Region& where = region();
        std::vector<AxisId> axes;
        for (const Stream& stream : where.streams) axes.push_back(stream.axis);
        site(command, where, axes);
    }
    void recolour(Command& command) {
        command.names = {array()};
        command.at = "tensor-core";
    }
    void retype(Command& command) {
        command.names = {array()};
        command.to = pick(2) == 0 ? "bf16" : "f16";
    }
    void split_axis(Command& command) {
        command.names = {any_axis()};
        command.as = {command.names.front() + "_of"};
        command.size = 1 + static_cast<std::int64_t>(pick(4));
    }
    void join_axes(Command& command) {
        const std::vector<AxisId>& axes = diagram_.arrays[pick(diagram_.arrays.size())].axes;
        if (axes.size() < 2) {
            command.names = {any_axis(), any_axis()};
        } else {
            const std::size_t first = pick(axes.size() - 1);
            command.names = {diagram_[axes[first]].name, diagram_[axes[first + 1]].name};
        }
        command.as = {command.names.front()};
    }
    void layout(Command& command) {
        const Array& array = diagram_.arrays[pick(diagram_.arrays.size())];
        command.names = {array.name};
        std::vector<AxisId> order = array.axes;
        std::shuffle(order.begin(), order.end(), random_);
        for (const AxisId axis : order) command.axes.push_back(diagram_[axis].name);
        const bool callers = array.role == ArrayRole::Input || array.role == ArrayRole::Output;
        if (callers) command.as = {array.name + "_laid"};
        if (array.role == ArrayRole::Input && pick(3) == 0) command.in = name(region());
    }
    void split_stream(Command& command) {
        const Region& where = region();
        site(command, where, axes_in(where, true));
        command.at.clear();
        command.size = size();
    }
    void recompute(Command& command) {
        const Region& where = region();
        command.in = name(where);
        for (ArrayId load : loads_of(diagram_, where))
            if (producer(diagram_, load) && (command.names.empty() || pick(2) == 0))
                command.names.push_back(diagram_[load].name);
        if (command.names.empty()) command.names = {array()};
    }

    /// A statement, of those that `fits` where there are any.
    template <class Predicate>
    StatementId statement(const Predicate& fits) {
        std::vector<StatementId> fitting;
        for (std::uint32_t i = 0; i < diagram_.statements.size(); ++i)
            if (fits(diagram_.statements[i])) fitting.push_back(StatementId{i});
        if (!fitting.empty()) return fitting[pick(fitting.size())];
        return StatementId{static_cast<std::uint32_t>(pick(diagram_.statements.size()))};
    }
    std::string target(StatementId id) { return diagram_[diagram_[id].targets.front()].name; }
    static bool is_fold(const Statement& statement) {
        return std::holds_alternative<Fold>(statement.body);
    }
    static bool calls(const Statement& statement, Function function) {
        bool found = false;
        for (const Expression* expression : expressions_of(statement))
            walk(*expression, [&](const Expression& node) {
                const Apply* call = std::get_if<Apply>(&node.node);
                found = found || (call != nullptr && call->function == function);
            });
        return found;
    }
    void absorb(Command& command) {
        command.names = {target(statement([](const Statement& s) {
            return !is_fold(s) && calls(s, Function::Divide) && calls(s, Function::Exp);
        }))};
        command.as = {command.names.front() + "_log"};
    }
    void stabilise(Command& command) {
        const auto exponential = [&](const Statement& s) {
            return calls(s, Function::Exp) && !calls(s, Function::Subtract);
        };
        command.names = {target(statement([&](const Statement& s) {
            const std::vector<ArrayId> inputs = inputs_of(s);
            return is_fold(s) &&
                   (exponential(s) || std::any_of(inputs.begin(), inputs.end(), [&](ArrayId input) {
                        const auto source = producer(diagram_, input);
                        return source && !is_fold(diagram_[*source]) &&
                               exponential(diagram_[*source]);
                    }));
        }))};
    }
    void distribute(Command& command) {
        command.names = {target(statement([](const Statement& s) {
            return calls(s, Function::Multiply) || calls(s, Function::Add) ||
                   calls(s, Function::Power);
        }))};
    }
    void commute(Command& command) {
        const StatementId id = statement(is_fold);
        command.in = target(id);
        const std::vector<ArrayId> inputs = inputs_of(diagram_[id]);
        if (inputs.size() > 1 && pick(3) == 0) {
            const std::size_t first = pick(inputs.size());
            command.names = {diagram_[inputs[first]].name,
                             diagram_[inputs[(first + 1) % inputs.size()]].name};
            return;
        }
        // An axis of the fold, and another of it or of a fold that it reads.
        std::vector<AxisId> axes = folded_axes(diagram_[id]);
        const AxisId outer = axes.empty() ? AxisId{} : one_of(axes);
        for (ArrayId input : inputs)
            if (const auto source = producer(diagram_, input))
                for (AxisId axis : folded_axes(diagram_[*source])) axes.push_back(axis);
        std::erase(axes, outer);
        command.names = {diagram_[outer].name,
                         axes.empty() ? any_axis() : diagram_[one_of(axes)].name};
    }
    void reassociate(Command& command) {
        const StatementId id = statement([&](const Statement& s) {
            const std::vector<ArrayId> inputs = inputs_of(s);
            return is_fold(s) && std::any_of(inputs.begin(), inputs.end(), [&](ArrayId input) {
                       const auto source = producer(diagram_, input);
                       return source && is_fold(diagram_[*source]);
                   });
        });
        command.in = target(id);
        command.as = {command.in + "_sum"};
        // A factor of a sum that stands in the product, and one beside it.
        const std::vector<ArrayId> outer = inputs_of(diagram_[id]);
        std::vector<ArrayId> inner;
        for (ArrayId input : outer)
            if (const auto source = producer(diagram_, input))
                for (ArrayId further : inputs_of(diagram_[*source])) inner.push_back(further);
        for (const std::vector<ArrayId>* factors : std::array{&std::as_const(inner), &outer})
            if (!factors->empty())
                command.names.push_back(diagram_[(*factors)[pick(factors->size())]].name);
        if (command.names.empty()) command.names = {array()};
    }

    void extract(Command& command) {
        const StatementId id = statement([&](const Statement& s) { return !inputs_of(s).empty(); });
        command.in = target(id);
        command.as = {command.in + "_part"};
        // Most often what some part of an expression reads.
        std::vector<std::set<ArrayId>> parts;
        for (const Expression* value : expressions_of(diagram_[id]))
            walk(*value, [&](const Expression& part) {
                if (const std::set<ArrayId> read = arrays_read(part); !read.empty())
                    parts.push_back(read);
            });
        if (parts.empty() || pick(8) == 0)
            command.names = {array()};
        else
            for (const ArrayId each : parts[pick(parts.size())])
                command.names.push_back(diagram_[each].name);
    }

    std::int64_t size() { return 1 + static_cast<std::int64_t>(pick(next_.empty() ? 6 : 3)); }
    const Region& region() {
        return state_.relabelling.regions[pick(state_.relabelling.regions.size())];
    }
    std::string name(const Region& region) { return region_name(diagram_, region); }
    /// Axes that the region folds, or that it keeps.
    std::vector<AxisId> axes_in(const Region& region, bool folded) {
        std::set<AxisId> folds;
        std::set<AxisId> all;
        for (StatementId id : region.statements) {
            for (AxisId axis : folded_axes(diagram_[id])) folds.insert(axis);
            for (AxisId axis : axes_of(diagram_, diagram_[id])) all.insert(axis);
        }
        std::vector<AxisId> axes;
        for (AxisId axis : all)
            if ((folds.count(axis) != 0) == folded) axes.push_back(axis);
        return axes;
    }
    /// Axes along which the region reads what it computes at another index.
    std::vector<AxisId> read_elsewhere(const Region& region) {
        std::vector<AxisId> axes;
        for (std::uint32_t i = 0; i < diagram_.axes.size(); ++i)
            if (!reads_elsewhere(diagram_, region, {AxisId{i}}).empty()) axes.push_back(AxisId{i});
        return axes;
    }
    std::string any_axis() { return diagram_.axes[pick(diagram_.axes.size())].name; }
    std::string array() { return diagram_.arrays[pick(diagram_.arrays.size())].name; }
    AxisId one_of(const std::vector<AxisId>& axes) { return axes[pick(axes.size())]; }
    std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

    const State& state_;
    const Diagram& diagram_;
    std::mt19937_64& random_;
    std::string_view next_;  ///< the rule, where one is set
};

}  // namespace

Command random_command(const State& state, std::mt19937_64& random, Commands commands) {
    return CommandDrawer(state, random, commands).draw();
}

std::string steps_text(const State& state) {
    std::string text;
    for (const Step& step : state.steps) text += print(step.command) + "\n";
    return text;
}

State random_derivation(const Diagram& diagram, std::mt19937_64& random, int steps) {
    State state = initial_state(diagram);
    for (int i = 0; i < steps; ++i) {
        const Command command = random_command(state, random);
        Outcome outcome = [&]() -> Outcome {
            try {
                return apply(state, command);
            } catch (const InternalError& bug) {  // say what led here
                throw InternalError(std::string(bug.what()) + "\n" + steps_text(state) +
                                    print(command));
            }
        }();
        if (State* next = std::get_if<State>(&outcome)) state = std::move(*next);
    }
    return state;
}

void take_step(State& state, const char* rule, const std::string& name, std::int64_t size,
               const std::string& in) {
    Command command;
    command.rule = rule;
    command.names = {name};
    command.in = in;
    command.size = size;
    if (size > 0 && command.rule != "split-stream") command.at = "l1";
    Outcome next = apply(state, command);
    if (State* made = std::get_if<State>(&next)) state = std::move(*made);
}

}  // namespace napkin::test
