#include "cli/judge_gradient.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "codegen/export/messages.h"
#include "derive/proof/proof.h"
#include "derive/proof/shapes.h"
#include "derive/work.h"
#include "diagrams/gradient.h"

namespace napkin::cli {
namespace {

/// Places of a diagram that is evaluated some hundred times.
constexpr double kMostPlaces = 1e6;
constexpr double kMostPlacesOfOthers = 5e5;

/// Small sizes of a diagram's axes; none where there are none that suit it.
Sizes small_sizes(Context& context, const Loaded& loaded) {
    const Result<SetFile> set = parse_with_settings(context.sources, loaded.text, loaded.settings);
    if (!set) return {};
    const Result<std::vector<proof::Shape>> shapes =
        proof::choose_shapes({context.sources, set->tree, {}, {}, set->sizes});
    return shapes ? shapes->front().sizes : Sizes{};
}

/// What a comparison says of indices, but for those of elements that it reads.
struct Compared {
    std::set<AxisId> axes;
    double sum = 2;
    double product = 1;
    bool divides = false;

    void look(const Expression& expression) {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&expression.node))
            axes.insert(index->axis);
        if (const double* number = literal(expression); number && std::abs(*number) > 1) {
            sum += std::abs(*number);
            product *= std::abs(*number);
        }
        const Apply* call = std::get_if<Apply>(&expression.node);
        if (call == nullptr) return;
        divides = divides || call->function == Function::FloorDivide;
        for (const Expression& argument : call->arguments) look(argument);
    }
    /// At which indices pass the numbers that they are compared with, as in `n // 16 == 3`.
    [[nodiscard]] std::int64_t least_size() const {
        constexpr double kMost = 0x1p40;
        return static_cast<std::int64_t>(std::min(kMost, divides ? product + sum : sum));
    }
};

/// The least size of every axis at which its indices pass all numbers.
void note_reach(const Diagram& diagram, Sizes& reach) {
    const auto note = [&](const Expression& part) {
        const Apply* call = std::get_if<Apply>(&part.node);
        if (call == nullptr) return;
        const Function function = call->function;
        const bool compares = function >= Function::Less && function <= Function::NotEqual;
        if (!compares && function != Function::Min && function != Function::Max) return;
        Compared compared;
        compared.look(part);
        for (const AxisId axis : compared.axes)
            for (const Symbol symbol : symbols_of(diagram[axis].size)) {
                std::int64_t& size = reach[diagram[symbol.axis].name];
                size = std::max(size, compared.least_size());
            }
    };
    for (const Statement& statement : diagram.statements)
        for (const Expression* expression : expressions_of(statement)) walk(*expression, note);
}

struct Trial {
    Diagram forward;
    Diagram backward;
    Sizes sizes;
};

class Trials {
public:
    Trials(Context& context, const Loaded& forward, const Loaded& backward)
        : context_(context), forward_(forward), backward_(backward) {
        for (const Loaded* loaded : {&forward, &backward}) {
            own_.merge(proof::own_sizes(loaded->plain));
            note_reach(loaded->plain, reach_);
            for (const Axis& axis : loaded->plain.axes)
                if (axis.dynamic) dynamic_.insert(axis.name);
        }
    }

    /// None where no small sizes suit both.
    std::vector<Trial> run() {
        const Sizes of_forward = small_sizes(context_, forward_);
        const Sizes of_backward = small_sizes(context_, backward_);
        for (const auto& [first, second] :
             {std::pair(of_forward, of_backward), std::pair(of_backward, of_forward)}) {
            Sizes sizes = first;
            sizes.insert(second.begin(), second.end());
            if (trials_.empty()) add(sizes, kMostPlaces);
        }
        if (trials_.empty()) return {};
        const Sizes small = trials_.front().sizes;
        add_changed(small, [](const std::string&, std::int64_t size) { return 2 * size + 1; });
        if (trials_.size() == 1)
            add_changed(small, [](const std::string&, std::int64_t size) { return 2 * size; });
        add_changed(small, [&](const std::string& axis, std::int64_t size) {
            const auto reach = reach_.find(axis);
            return reach == reach_.end() ? size : std::max(size, reach->second);
        });
        add(own_, kMostPlacesOfOthers);
        return std::move(trials_);
    }

    /// Axes whose indices pass no number that they are compared with at any of these sizes.
    [[nodiscard]] std::string not_reached(const std::vector<Trial>& trials) const {
        std::string names;
        for (const auto& [axis, least] : reach_) {
            const auto reaches = [&, &name = axis, most = std::min(least, own_.at(axis))](
                                     const Trial& trial) { return trial.sizes.at(name) >= most; };
            if (std::none_of(trials.begin(), trials.end(), reaches))
                names += (names.empty() ? "`" : ", `") + axis + "`";
        }
        return names;
    }

private:
    /// All sizes together where that goes, else each alone.
    template <class Change>
    void add_changed(const Sizes& small, const Change& change) {
        Sizes all = small;
        std::vector<Sizes> each;
        for (auto& [axis, size] : all) {
            const std::int64_t most = own_.at(axis);
            std::int64_t changed = change(axis, size);
            if (dynamic_.count(axis) == 0) changed = std::min(changed, most);
            if (changed == size) continue;
            size = changed;
            each.push_back(small);
            each.back()[axis] = changed;
        }
        if (each.empty() || add(all, kMostPlacesOfOthers)) return;
        for (const Sizes& sizes : each) add(sizes, kMostPlacesOfOthers);
    }

    bool add(const Sizes& sizes, double most_places) {
        const auto same = [&](const Trial& trial) { return trial.sizes == sizes; };
        if (std::any_of(trials_.begin(), trials_.end(), same)) return true;
        std::optional<Diagram> forward = diagram_at(forward_, sizes, most_places);
        std::optional<Diagram> backward = diagram_at(backward_, sizes, most_places);
        if (!forward || !backward) return false;
        trials_.push_back({*std::move(forward), *std::move(backward), sizes});
        return true;
    }

    /// At these sizes of the axes that it has; nothing where it does not go there, or that is too
    /// much to evaluate often.
    std::optional<Diagram> diagram_at(const Loaded& loaded, const Sizes& sizes,
                                      double most_places) {
        Settings settings = loaded.settings;
        for (const auto& [axis, size] : proof::own_sizes(loaded.plain))
            if (const auto same = sizes.find(axis); same != sizes.end())
                settings[axis] = static_cast<double>(same->second);
        Result<Checked> checked = check_text(context_, loaded.text, settings);
        if (!checked || work_of(checked->diagram).places > most_places) return std::nullopt;
        return std::move(checked->diagram);
    }

    Context& context_;
    const Loaded& forward_;
    const Loaded& backward_;
    Sizes own_;
    Sizes reach_;
    std::set<std::string> dynamic_;
    std::vector<Trial> trials_;
};

std::string sizes_text(const Sizes& sizes) {
    std::string text;
    for (const auto& [axis, size] : sizes)
        text += (text.empty() ? "" : ", ") + axis + " = " + std::to_string(size);
    return text;
}

}  // namespace

Result<std::string> judge_gradient(Context& context, const Loaded& forward,
                                   const Loaded& backward) {
    Trials chosen(context, forward, backward);
    const std::vector<Trial> trials = chosen.run();
    if (trials.empty())
        return std::string("is not compared with differences: no small sizes suit both");
    std::string agrees;
    for (const Trial& trial : trials) {
        const std::string at = sizes_text(trial.sizes);
        const Result<GradientCheck> check =
            check_gradient(trial.forward, trial.backward, context.arguments.seed);
        if (!check)
            return "is not compared with differences: " + check.error().list.front().message;
        if (check->verdict == GradientCheck::Verdict::Agrees) {
            agrees += (agrees.empty() ? " at " : "; at ") + at;
            continue;
        }
        if (check->verdict == GradientCheck::Verdict::Undecided) {
            if (!agrees.empty()) continue;
            return check->slope
                       ? "is undecided: differences by `" + check->slope->input +
                             "` tell nothing at " + at
                       : "is not compared with differences: arrays do not go together at " + at;
        }
        if (context.arguments.unproved)
            return "disagrees with differences by `" + check->slope->input + "` at " + at +
                   ", as `--unproved` lets it";
        return messages::no_gradient(backward.plain.name, forward.plain.name, *check->slope, at);
    }
    const std::string beyond = chosen.not_reached(trials);
    return "agrees with differences" + agrees +
           (beyond.empty() ? "" : "; not tried beyond the numbers that " + beyond + " meets");
}

}  // namespace napkin::cli
