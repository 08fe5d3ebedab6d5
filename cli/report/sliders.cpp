#include "cli/report/sliders.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/cost_text.h"
#include "cli/picture.h"
#include "cli/workbench.h"
#include "perfmodel/affine.h"
#include "perfmodel/bound.h"
#include "perfmodel/pipelines.h"
#include "perfmodel/time.h"

namespace napkin::cli {
namespace {

/// The largest whole number up to which a page counts exactly.
constexpr std::int64_t kExact = std::int64_t{1} << 53;

constexpr const char* kCounted =
    "what its tiles hold and leave out is counted one by one: no formula says it at another size";

/// The derivation at other sizes.
struct Variant {
    Diagram plain;
    State state;
    Cost cost;
};

Result<Variant> costed(Diagram plain, const std::vector<Command>& commands,
                       const Machine* machine) {
    Result<State> state = replay(plain, commands);
    if (!state) return state.error();
    Result<Cost> cost = cost_of_state(*state, machine);
    if (!cost) return cost.error();
    return Variant{std::move(plain), std::move(*state), std::move(*cost)};
}

bool gives(const Formula& formula, const SymbolValues& sizes, std::int64_t value) {
    return value < kExact && evaluate(formula, sizes) == Rational{value, 1};
}

bool gives(const Amount& formulas, const Amount& numbers, const SymbolValues& sizes) {
    return gives(formulas.formula, sizes, numbers.values) &&
           gives(formulas.bit_formula, sizes, numbers.bits);
}

/// A type that is inferred may be another at another size, and so is then what formulas count with.
bool has_symbols_of(const RegionCost& numbers, const RegionCost& formulas) {
    return std::all_of(formulas.sizes.begin(), formulas.sizes.end(),
                       [&](const auto& size) { return numbers.sizes.contains(size.first); });
}

/// Whether the formulas of a region give the numbers of another, at the other's sizes.
bool gives(const RegionCost& formulas, const RegionCost& numbers) {
    if (!has_symbols_of(numbers, formulas)) return false;
    const SymbolValues& sizes = numbers.sizes;
    const CountFormulas& counts = formulas.formulas;
    bool all = gives(counts.operations, sizes, numbers.arithmetic.operations) &&
               gives(counts.exponentials, sizes, numbers.arithmetic.exponentials) &&
               gives(counts.blocks, sizes, numbers.blocks) &&
               gives(counts.compulsory_bits, sizes, numbers.compulsory_bits) &&
               formulas.levels.size() == numbers.levels.size() &&
               counts.products.size() == numbers.arithmetic.products.size();
    for (const auto& [type, count] : numbers.arithmetic.products) {
        const auto formula = counts.products.find(type);
        all = all && formula != counts.products.end() && gives(formula->second, sizes, count);
    }
    for (const auto& [level, cost] : numbers.levels) {
        const auto own = formulas.levels.find(level);
        all = all && own != formulas.levels.end() &&
              gives(own->second.transferred, cost.transferred, sizes) &&
              gives(own->second.memory, cost.memory, sizes) &&
              gives(own->second.allocated, cost.allocated, sizes);
    }
    return all;
}

/// Sizes other than they are: of axes, and of commands by their number.
struct Position {
    Settings axes;
    std::map<std::size_t, std::int64_t> commands;
};

/// A region and a symbol of it.
using Place = std::pair<std::size_t, Symbol>;

/// Around a size: halves and doubles of it, and some that divide nothing.
std::vector<std::int64_t> around(std::int64_t size, std::int64_t most) {
    std::vector<std::int64_t> values{size / 8,     size / 4, size / 2, 3 * size / 4, size,
                                     3 * size / 2, 2 * size, 4 * size, 8 * size};
    std::erase_if(values, [&](std::int64_t value) { return value < 1 || value > most; });
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

class Sliders {
public:
    Sliders(Context& context, const Loaded& loaded, const DerivedStep& last, const Machine& machine)
        : context_(context), loaded_(loaded), last_(last), machine_(machine) {}

    Json run() {
        const Diagram& plain = loaded_.plain;
        for (std::uint32_t i = 0; i < plain.axes.size(); ++i)
            if (has_own_size(plain, AxisId{i})) add_axis(plain.axes[i]);
        const std::vector<Command> commands = commands_of(last_.state);
        for (std::size_t k = 0; k < commands.size(); ++k)
            if (commands[k].size && commands[k].rule != "set") add_tile(commands, k);
        check_together();
        add_bits();
        add_figures();
        return std::move(sliders_);
    }

private:
    [[nodiscard]] const std::vector<RegionCost>& regions() const { return last_.cost.regions; }

    /// The places of which a variant has other values, but axes that others follow from.
    [[nodiscard]] std::vector<Place> changed(const Variant& variant) const {
        std::vector<Place> places;
        for (std::size_t r = 0; r < regions().size(); ++r)
            for (const auto& [symbol, size] : regions()[r].sizes) {
                const auto other = variant.cost.regions[r].sizes.find(symbol);
                if (other == variant.cost.regions[r].sizes.end() || other->second != size)
                    places.emplace_back(r, symbol);
            }
        return places;
    }
    [[nodiscard]] bool is_open(const std::vector<Place>& places) const {
        return std::any_of(places.begin(), places.end(), [&](const Place& place) {
            return regions()[place.first].formulas.open.contains(place.second);
        });
    }
    /// Whether the page's formulas give what this variant costs.
    [[nodiscard]] bool agrees(const Variant& variant) const {
        if (variant.cost.regions.size() != regions().size()) return false;
        for (std::size_t r = 0; r < regions().size(); ++r)
            if (variant.cost.regions[r].name != regions()[r].name ||
                !gives(regions()[r], variant.cost.regions[r]))
                return false;
        return true;
    }
    static Json bytes_of(const std::optional<TransferBound>& bound) {
        return bound ? Json(bound->bytes()) : Json(nullptr);
    }

    /// The derivation there; its time is left out where no machine is given.
    [[nodiscard]] Result<Variant> at(const Position& position, const Machine* machine) {
        std::vector<Command> commands = commands_of(last_.state);
        for (const auto& [k, size] : position.commands) commands[k].size = size;
        if (position.axes.empty()) return costed(loaded_.plain, commands, machine);
        Settings settings = loaded_.settings;
        for (const auto& [name, value] : position.axes) settings[name] = value;
        Result<Checked> checked = check_text(context_, loaded_.text, settings);
        if (!checked) return checked.error();
        return costed(std::move(checked->diagram), commands, machine);
    }

    /// Tries every value; `place` gives the position of one.
    template <class PlaceOf>
    void try_values(Json slider, const std::vector<std::int64_t>& values, const PlaceOf& place,
                    bool with_bounds) {
        const std::int64_t now = slider.at("now").get<std::int64_t>();
        std::string refusal;
        bool open = false;
        std::vector<Place> places;
        Json tried = Json::array();
        Json bounds = Json::array();
        Json times = Json::array();
        for (const std::int64_t value : values) {
            const Result<Variant> variant = at(place(value), &machine_);
            if (!variant) {
                refusal = variant.error().list.front().message;
                continue;
            }
            if (variant->cost.regions.size() != regions().size()) continue;
            const std::vector<Place> moved = changed(*variant);
            open = open || is_open(moved);
            if (value != now && !moved.empty()) places = moved;
            if (!agrees(*variant)) continue;
            tried.push_back(value);
            if (with_bounds)
                bounds.push_back(bytes_of(bound_of(variant->plain, variant->state, &machine_)));
            times.push_back(timing_json(variant->cost, machine_));
        }
        slider["sets"] = Json::array();
        for (const auto& [region, symbol] : places)
            if (is_tile_size(symbol))
                slider["sets"].push_back(Json::array({region, regions()[region].names(symbol)}));
        if (slider["kind"] == "tile" && slider["sets"].empty()) return;
        if (tried.size() < 2)
            slider["off"] = !refusal.empty() ? "no other size replays: " + refusal
                            : open           ? kCounted
                                             : "no other size was found to follow the formulas";
        else if (open)
            open_.push_back({sliders_.size(),
                             {place(tried.front().get<std::int64_t>()),
                              place(tried.back().get<std::int64_t>())}});
        slider["values"] = tried;
        slider["times"] = times;
        if (with_bounds) slider["bounds"] = bounds;
        sliders_.push_back(std::move(slider));
    }

    void add_axis(const Axis& axis) {
        const Json slider{{"id", "size " + axis.name},
                          {"kind", "axis"},
                          {"symbol", axis.name},
                          {"axis", axis.name},
                          {"now", axis.extent}};
        try_values(
            slider, around(axis.extent, kExact),
            [&](std::int64_t value) {
                return Position{{{axis.name, static_cast<double>(value)}}, {}};
            },
            true);
    }
    /// Formulas that need not hold at other sizes were found to with one slider moved at a time;
    /// those that do not with two are off.
    void check_together() {
        for (std::size_t a = 0; a < open_.size(); ++a)
            for (std::size_t b = a + 1; b < open_.size(); ++b)
                for (const Position& first : open_[a].ends)
                    for (const Position& second : open_[b].ends) {
                        Position both = first;
                        both.axes.insert(second.axes.begin(), second.axes.end());
                        both.commands.insert(second.commands.begin(), second.commands.end());
                        const Result<Variant> variant = at(both, nullptr);
                        if (!variant || agrees(*variant)) continue;
                        for (const std::size_t each : {open_[a].slider, open_[b].slider})
                            sliders_[each]["off"] = kCounted;
                    }
    }
    void add_tile(const std::vector<Command>& commands, std::size_t k) {
        const Command& command = commands[k];
        const std::optional<AxisId> axis =
            command.names.empty() ? std::nullopt
                                  : find_axis(last_.state.diagram, command.names.front());
        const std::int64_t most = axis ? last_.state.diagram[*axis].extent : kExact;
        const std::string sign = command.rule == "stream" ? "s_" : "g_";
        const std::string name = command.names.empty() ? command.rule : command.names.front();
        const Json slider{
            {"id", "command " + std::to_string(k)},
            {"kind", "tile"},
            {"symbol", command.rule == "group" || command.rule == "stream" ? sign + name
                                                                           : typed_text(command)},
            {"axis", name},
            {"title", typed_text(command)},
            {"command", k},
            {"now", *command.size}};
        try_values(
            slider, around(*command.size, most),
            [&](std::int64_t value) {
                return Position{{}, {{k, value}}};
            },
            false);
    }
    /// Of types that inputs and outputs are stored in.
    void add_bits() {
        std::set<ElementType> types;
        for (const Array& array : last_.state.diagram.arrays)
            if (is_floating(array.type) &&
                (array.role == ArrayRole::Input || array.role == ArrayRole::Output))
                types.insert(array.type);
        for (const ElementType type : types) {
            Json sets = Json::array();
            const SymbolNames names(last_.state.diagram.axes);
            for (std::size_t r = 0; r < regions().size(); ++r)
                sets.push_back(Json::array({r, names(bits_in(type))}));
            const std::string name(name_of(type));
            std::vector<std::int64_t> values{8, 16, 32};
            if (!std::count(values.begin(), values.end(), bits_of(type))) continue;
            sliders_.push_back(Json{{"id", "bits " + name},
                                    {"kind", "bits"},
                                    {"symbol", name},
                                    {"title", name},
                                    {"now", bits_of(type)},
                                    {"values", values},
                                    {"sets", sets}});
        }
    }
    /// What blocks hold, and the rates that any region's time is made of.
    void add_figures() {
        std::vector<std::pair<std::string, std::string>> keys{{"block.capacity", "B"}};
        for (const RegionCost& region : regions())
            for (const Pipeline& pipeline : pipelines_of(region, machine_)) {
                const std::pair key(pipeline.figure, pipeline.unit + "/s");
                const bool known = std::find(keys.begin(), keys.end(), key) != keys.end();
                if (!known && machine_.rate(pipeline.figure) == pipeline.rate) keys.push_back(key);
            }
        const std::optional<TransferBound> bound = bound_of(loaded_.plain, last_.state);
        for (const auto& [key, unit] : keys) add_figure(key, unit, bound);
    }
    void add_figure(const std::string& key, const std::string& unit,
                    const std::optional<TransferBound>& bound) {
        const std::optional<double> now = machine_.rate(key);
        if (!now) return;
        const auto figures = all_figures();
        const auto kind = std::find_if(figures.begin(), figures.end(),
                                       [&](const FigureKind& each) { return each.key == key; });
        Json slider{{"id", key},     {"kind", "figure"},
                    {"symbol", key}, {"title", std::string(kind->meaning)},
                    {"unit", unit},  {"typed", unit},
                    {"now", *now},   {"sets", Json::array()}};
        for (const double factor : {0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0}) {
            const double value = factor == 1 ? *now : std::round(factor * *now);
            Machine other = machine_;
            other.figures[key].value = value;
            other.figures[key].per_clock = false;
            // Less room may ask for another kernel.
            const Result<Cost> cost = cost_of_state(last_.state, &other);
            if (!cost) continue;
            slider["values"].push_back(value);
            slider["bounds"].push_back(
                bytes_of(bound ? std::optional(bound_on(other, *bound, loaded_.plain, last_.state))
                               : bound));
            slider["times"].push_back(timing_json(*cost, other));
        }
        sliders_.push_back(std::move(slider));
    }

    Context& context_;
    const Loaded& loaded_;
    const DerivedStep& last_;
    const Machine& machine_;
    Json sliders_ = Json::array();
    /// Of sizes for which counts are no closed forms, at the least and the greatest value.
    struct Open {
        std::size_t slider;
        std::vector<Position> ends;
    };
    std::vector<Open> open_;
};

/// The one that the terms of all are of.
const RegionCost& slowest_region(const Cost& cost, const Machine& machine) {
    return *std::max_element(cost.regions.begin(), cost.regions.end(),
                             [&](const RegionCost& a, const RegionCost& b) {
                                 return time_of(a, machine).middle() < time_of(b, machine).middle();
                             });
}

}  // namespace

Json timing_json(const Cost& cost, const Machine& machine) {
    constexpr double kMicroseconds = 1e6;
    const TimeEstimate time = time_of(cost, machine);
    Json json = time_json(time);
    json["binds"] = time.binds;
    const RegionCost& slowest = slowest_region(cost, machine);
    json["kernel"] = slowest.name;
    json["kernel_us"] = time_json(time_of(slowest, machine));
    json["units"] = Json::array();
    for (const TimeTerm& term : time.terms)
        json["units"].push_back(Json{{"name", term.name}, {"us", term.high.value * kMicroseconds}});
    json["excesses"] = Json::array();
    for (const RegionCost& region : cost.regions)
        for (const Excess& excess : excesses_of(region, machine))
            json["excesses"].push_back(excess.region + " at " + std::string(name_of(excess.level)));
    return json;
}

Json sliders_of(Context& context, const Loaded& loaded, const DerivedStep& last,
                const Machine& machine) {
    return Sliders(context, loaded, last, machine).run();
}

}  // namespace napkin::cli
