#include "cli/sweep.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/cost_text.h"
#include "cli/machines.h"
#include "cli/numbers.h"
#include "cli/study_messages.h"
#include "cli/tile_reasons.h"

namespace napkin::cli {
namespace {

constexpr int kFigureSteps = 12;
constexpr double kNear = 1.01;  // of two values: no nearer

std::vector<std::string> split(std::string_view text, char at) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t end = text.find(at);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<double> size_of(const std::string& text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end || value < 1 ||
        static_cast<double>(value) >= kMostWhole)
        return std::nullopt;
    return static_cast<double>(value);
}

/// The figure with one of the two values, read as `--machine` reads it.
Result<Figure> figure_at(const Context& context, const std::string& key, const std::string& value) {
    const std::string& named = context.arguments.machine;
    const Result<Machine> machine = load_machine(
        context.sources, with_figures(named.empty() ? kDefaultMachine : named, key + "=" + value));
    if (!machine) {
        Diagnostic why = machine.error().list.front();
        why.has_place = false;  // in a text that nobody typed
        why.message = "`--sweep " + context.arguments.sweep + "`: " + why.message;
        return why;
    }
    return machine->figures.at(key);
}

Result<SweepRange> figure_range(const Context& context, SweepRange range, const std::string& from,
                                const std::string& to) {
    const std::string& text = context.arguments.sweep;
    const Result<Figure> low = figure_at(context, range.of, from);
    if (!low) return low.error();
    const Result<Figure> high = figure_at(context, range.of, to);
    if (!high) return high.error();
    if (low->per_clock != high->per_clock)
        return malformed_sweep(text, "one end is a clock's, the other a second's");
    range.is_figure = true;
    range.from = low->value;
    range.to = high->value;
    const double typed = std::strtod(high->text.c_str(), nullptr);
    const std::size_t digits = high->text.find_first_not_of("0123456789.+-eE ");
    range.unit = digits == std::string::npos ? "" : high->text.substr(digits);
    range.scale = high->value / typed;
    range.is_whole = range.unit.empty();
    return range;
}

/// A derivation of a sweep: its commands, and its state where only the machine changes.
struct Rival {
    std::string name;
    std::vector<Command> commands;
    std::optional<State> state;
};

class Sweeper {
public:
    Sweeper(Context& context, const Loaded& loaded, const Setup& setup, SweepRange range)
        : context_(context), loaded_(loaded), setup_(setup), range_(std::move(range)) {}

    void add(Rival rival) { rivals_.push_back(std::move(rival)); }

    Result<Sweep> run() {
        Sweep result;
        result.range = range_;
        result.machine = setup_.machine.name;
        for (const Rival& rival : rivals_) result.names.push_back(rival.name);
        std::optional<Diagnostics> first;
        for (const double value : values()) {
            result.points.push_back(point_at(value));
            if (!result.points.back().times.front() && !first) first = problems_;
        }
        const bool served = std::any_of(result.points.begin(), result.points.end(),
                                        [](const SweepPoint& point) { return point.times[0]; });
        if (!served) return *first;
        for (std::size_t i = 1; i < result.points.size(); ++i) {
            cross(result.points[i - 1], result.points[i], false, result.crossovers);
            cross(result.points[i - 1], result.points[i], true, result.crossovers);
        }
        return result;
    }

private:
    [[nodiscard]] std::vector<double> values() const {
        std::vector<double> all;
        if (range_.is_figure) {
            for (int i = 0; i <= kFigureSteps; ++i)
                all.push_back(range_.from * std::pow(range_.to / range_.from,
                                                     static_cast<double>(i) / kFigureSteps));
        } else {
            for (double value = range_.from; value < range_.to; value *= 2) {
                all.push_back(value);
                if (1.5 * value < range_.to) all.push_back(1.5 * value);
            }
            all.push_back(range_.to);
        }
        if (range_.is_whole)
            for (double& value : all) value = std::round(value);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    SweepPoint point_at(double value) {
        SweepPoint point{value, {}, {}, {}};
        for (std::size_t i = 0; i < rivals_.size(); ++i) {
            point.times.push_back(time_at(rivals_[i], value));
            const auto& time = point.times.back();
            if (i == 0 && !time) point.why_not = problems_.list.front().message;
            if (time &&
                (!point.best || is_faster(time->middle(), point.times[*point.best]->middle())))
                point.best = i;
        }
        return point;
    }

    std::optional<TimeEstimate> time_at(const Rival& rival, double value) {
        Setup setup = setup_;
        if (range_.is_figure) {
            setup.machine.figures.at(range_.of).value = value;
            return time_of_state(*rival.state, setup);
        }
        Settings settings = loaded_.settings;
        for (const std::string& name : range_.names) settings[name] = value;
        Diagnostics warnings;
        const Result<Loaded> there =
            load_given(context_, loaded_.text, rival.commands, std::move(settings), warnings);
        if (there) return time_of_state(there->state, setup);
        problems_ = there.error();
        return std::nullopt;
    }

    std::optional<TimeEstimate> time_of_state(const State& state, const Setup& setup) {
        const Result<Prediction> prediction = predict_or_say(state, setup);
        if (!prediction)
            problems_ = prediction.error();
        else if (!prediction->fits())
            problems_ = Diagnostics{
                {no_prediction({prediction->why_not(), "make its groups or chunks smaller"})}};
        else
            return prediction->time;
        return std::nullopt;
    }

    /// What is compared at a point: what binds the first derivation, or which is the best.
    [[nodiscard]] std::string state_of(const SweepPoint& point, bool of_best) const {
        if (of_best) return point.best ? rivals_[*point.best].name : "";
        return point.times.front() ? point.times.front()->bound_by() : "";
    }

    /// Every change between two points, up to a few, each narrowed down.
    void cross(const SweepPoint& from, const SweepPoint& to, bool of_best,
               std::vector<Crossover>& found) {
        constexpr int kMost = 4;
        SweepPoint below = from;
        for (int i = 0; i < kMost; ++i) {
            const std::string before = state_of(below, of_best);
            if (before.empty() || state_of(to, of_best).empty() || before == state_of(to, of_best))
                return;
            SweepPoint above = to;
            narrow(below, above, of_best);
            found.push_back({below.value, above.value, before, state_of(above, of_best), of_best});
            below = std::move(above);
        }
    }

    /// Moves two points that differ towards each other until they are next to each other.
    void narrow(SweepPoint& below, SweepPoint& above, bool of_best) {
        const std::string before = state_of(below, of_best);
        while (above.value / below.value > kNear) {
            double middle = std::sqrt(below.value * above.value);
            if (range_.is_whole) middle = std::round(middle);
            if (middle <= below.value || middle >= above.value) return;
            SweepPoint between = point_at(middle);
            const std::string there = state_of(between, of_best);
            if (there.empty()) return;
            (there == before ? below : above) = std::move(between);
        }
    }

    Context& context_;
    const Loaded& loaded_;
    const Setup& setup_;
    SweepRange range_;
    std::vector<Rival> rivals_;
    Diagnostics problems_;
};

std::string between(const Sweep& sweep, const Crossover& crossover) {
    return "between " + sweep.range.text(crossover.below) + " and " +
           sweep.range.text(crossover.above);
}

std::string told(const Crossover& crossover) {
    return crossover.of_best ? "`" + crossover.after + "` is faster than `" + crossover.before + "`"
                             : crossover.after + " binds, not " + crossover.before;
}

}  // namespace

std::string SweepRange::text(double value) const {
    const double shown = value / scale;
    return (is_whole ? value_text(shown) : three_digits(shown)) +
           (unit.empty() || unit.front() == '%' ? "" : " ") + unit;
}

Result<SweepRange> read_sweep(const Context& context, const Machine& machine) {
    const std::string& text = context.arguments.sweep;
    const std::size_t equals = text.find('=');
    const std::size_t dots = text.find("..", equals == std::string::npos ? 0 : equals);
    if (equals == std::string::npos || equals == 0 || dots == std::string::npos)
        return malformed_sweep(text, "it is no name and two ends");
    SweepRange range;
    range.of = text.substr(0, equals);
    range.names = split(range.of, ',');
    const std::string from = text.substr(equals + 1, dots - equals - 1);
    const std::string to = text.substr(dots + 2);
    if (range.of.find('.') != std::string::npos) {
        if (!machine.figures.contains(range.of) && range.names.size() > 1)
            return malformed_sweep(text, "figures are swept one at a time");
        Result<SweepRange> read = figure_range(context, std::move(range), from, to);
        if (!read) return read;
        range = std::move(read).value();
    } else {
        const auto low = size_of(from);
        const auto high = size_of(to);
        if (!low || !high)
            return malformed_sweep(
                text, "an end is no whole number of at least 1 and less than 2^53, as sizes are");
        range.from = *low;
        range.to = *high;
    }
    if (range.from >= range.to)
        return malformed_sweep(text, "its second end is not above the first");
    return range;
}

namespace {

/// A parameter among what changes: kernels move and compute as much for every value of it.
std::optional<Diagnostic> refuse_parameters(const Diagram& plain, const SweepRange& range,
                                            const std::string& text) {
    std::vector<std::string> axes;
    for (const Axis& axis : plain.axes) axes.push_back(axis.name);
    for (const std::string& name : range.names)
        if (const std::optional<ArrayId> array = find_array(plain, name);
            array && plain[*array].role == ArrayRole::Parameter)
            return sweep_of_parameter(text, name, axes);
    return std::nullopt;
}

}  // namespace

Result<Sweep> sweep(Context& context, const Loaded& loaded, const std::vector<Command>& commands,
                    const Setup& setup) {
    Result<SweepRange> range = read_sweep(context, setup.machine);
    if (!range) return range.error();
    if (const auto refused = refuse_parameters(loaded.plain, *range, context.arguments.sweep))
        return *refused;
    const Result<Settings> set = settings_of_sets(context.arguments.sets);
    if (!set) return set.error();
    for (const std::string& name : range->names)
        if (set->contains(name))
            return malformed_sweep(context.arguments.sweep, "`--set` sets `" + name + "` too");
    Setup there = setup;
    // A figure that the machine lacks is there at every value of the sweep.
    if (range->is_figure && !there.machine.figures.contains(range->of)) {
        Figure figure;
        figure.value = range->from;
        there.machine.figures[range->of] = figure;
    }
    Sweeper sweeper(context, loaded, there, std::move(range).value());
    sweeper.add({"this derivation", commands, loaded.state});
    for (const std::string& path : context.arguments.against) {
        const Result<std::uint32_t> file = load_text(context.sources, path);
        if (!file) return file.error();
        Result<std::vector<Command>> other = parse_derivation(context.sources, *file);
        if (!other) return other.error();
        Diagnostics warnings;
        Result<Loaded> state = load_given(context, loaded.text, *other, loaded.settings, warnings);
        if (!state) return state.error();
        sweeper.add({path, std::move(other).value(), std::move(state).value().state});
    }
    for (Alternative& neighbour : neighbours_of(loaded.plain, commands, setup))
        if (neighbour.state)
            sweeper.add(
                {neighbour.change, std::move(neighbour.commands), std::move(neighbour.state)});
    Result<Sweep> result = sweeper.run();
    if (result) result->against = context.arguments.against.size();
    return result;
}

std::string text_of(const Sweep& sweep) {
    std::size_t width = sweep.range.of.size();
    for (const SweepPoint& point : sweep.points)
        width = std::max(width, sweep.range.text(point.value).size());
    std::string text = "over " + sweep.range.of + ", on " + sweep.machine + "\n";
    for (std::size_t i = 1; i <= sweep.against; ++i)
        text +=
            (i == 1 ? "  beside it: " : ", ") + sweep.names[i] + (i == sweep.against ? "\n" : "");
    for (const SweepPoint& point : sweep.points) {
        const auto& time = point.times.front();
        std::string line = "  " + padded_left(sweep.range.text(point.value), width) + "  ";
        for (std::size_t i = 0; i <= sweep.against; ++i)
            line +=
                padded_left(point.times[i] ? time_text(point.times[i]->middle().value) : "-", 8) +
                "  ";
        line += padded(time ? time->bound_by() + " binds" : "does not serve", 24);
        if (point.best && *point.best != 0)
            line += "faster: " + sweep.names[*point.best] +
                    (time ? ", " + change_text(time->middle().value,
                                               point.times[*point.best]->middle().value)
                          : "");
        while (line.back() == ' ') line.pop_back();
        text += line + "\n";
    }
    bool is_served = true;
    for (const SweepPoint& point : sweep.points) {
        if (is_served && !point.why_not.empty())
            text += "  from " + sweep.range.text(point.value) + ": " + point.why_not + "\n";
        is_served = point.why_not.empty();
    }
    for (const Crossover& crossover : sweep.crossovers)
        text += "  " + between(sweep, crossover) + ": " + told(crossover) + "\n";
    if (sweep.crossovers.empty())
        text += "  no crossover: the same binds, and the same is fastest\n";
    return text;
}

Json to_json(const Sweep& sweep) {
    Json json{{"over", sweep.range.of}, {"machine", sweep.machine}, {"derivations", sweep.names}};
    json["points"] = Json::array();
    for (const SweepPoint& point : sweep.points) {
        Json each{{"value", point.value}};
        if (const auto& time = point.times.front()) {
            each["time_us"] = time_json(*time);
            each["binds"] = time->bound_by();
            each["second"] = time->bound_next();
        }
        if (!point.why_not.empty()) each["why_not"] = point.why_not;
        if (point.best) each["best"] = sweep.names[*point.best];
        json["points"].push_back(std::move(each));
    }
    json["crossovers"] = Json::array();
    for (const Crossover& crossover : sweep.crossovers)
        json["crossovers"].push_back(Json{{"of", crossover.of_best ? "best" : "binds"},
                                          {"below", crossover.below},
                                          {"above", crossover.above},
                                          {"before", crossover.before},
                                          {"after", crossover.after}});
    return json;
}

}  // namespace napkin::cli
