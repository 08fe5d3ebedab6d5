#include "cli/report/sliders.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/workbench.h"
#include "perfmodel/affine.h"
#include "perfmodel/pipelines.h"

namespace napkin::cli {
namespace {

constexpr std::int64_t kAnySize = std::int64_t{1} << 53;

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
    explicit Sliders(WhatIf& what) : what_(what) {}

    std::vector<Slider> run() {
        const Diagram& plain = what_.loaded.plain;
        for (std::uint32_t i = 0; i < plain.axes.size(); ++i)
            if (has_own_size(plain, AxisId{i})) add_axis(plain.axes[i]);
        const std::vector<Command> commands = commands_of(what_.last.state);
        for (std::size_t k = 0; k < commands.size(); ++k)
            if (commands[k].size && commands[k].rule != "set") add_tile(commands, k);
        check_together();
        add_bits();
        add_figures();
        for (Slider& slider : sliders_)
            for (std::size_t r = 0; r < slider.touches.size(); ++r)
                if (slider.touches[r]) slider.json["touches"].push_back(r);
        return std::move(sliders_);
    }

private:
    [[nodiscard]] const std::vector<RegionCost>& regions() const { return what_.last.cost.regions; }

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

    /// Tries every value; `place` gives the position of one.
    template <class PlaceOf>
    void try_values(Slider slider, const std::vector<std::int64_t>& values, const PlaceOf& place) {
        const std::int64_t now = slider.json.at("now").get<std::int64_t>();
        std::string refusal;
        bool open = false;
        std::vector<Place> places;
        Json tried = Json::array();
        for (const std::int64_t value : values) {
            Result<Variant> variant = what_.variants.at(place(value));
            if (!variant) {
                refusal = variant.error().list.front().message;
                continue;
            }
            if (variant->cost.regions.size() != regions().size()) continue;
            const std::vector<Place> moved = changed(*variant);
            open = open || is_open(moved);
            if (value != now && !moved.empty()) places = moved;
            if (!what_.variants.agrees(*variant)) continue;
            tried.push_back(value);
            slider.places.push_back(place(value));
            slider.variants.push_back(std::move(*variant));
        }
        slider.json["sets"] = Json::array();
        for (const auto& [region, symbol] : places)
            if (is_tile_size(symbol))
                slider.json["sets"].push_back(
                    Json::array({region, regions()[region].names(symbol)}));
        if (slider.json["kind"] == "tile" && slider.json["sets"].empty()) return;
        slider.open = open;
        if (tried.size() < 2)
            slider.json["off"] = !refusal.empty() ? "no other size replays: " + refusal
                                 : open           ? kCounted
                                        : "no other size was found to follow the formulas";
        slider.json["values"] = tried;
        add_tables(slider);
        sliders_.push_back(std::move(slider));
    }
    /// What is no formula, at each value.
    void add_tables(Slider& slider) const {
        slider.touches.assign(regions().size(), false);
        for (const Variant& variant : slider.variants) {
            const std::vector<bool> touched = what_.variants.touched(variant);
            for (std::size_t r = 0; r < touched.size(); ++r)
                slider.touches[r] = slider.touches[r] || touched[r];
        }
        slider.json["times"] = Json::array();
        for (const Variant& variant : slider.variants)
            slider.json["times"].push_back(
                what_.timings_of(variant.cost, slider.touches, what_.machine));
        if (slider.json["kind"] != "axis") return;
        slider.json["bounds"] = Json::array();
        for (const Variant& variant : slider.variants)
            slider.json["bounds"].push_back(
                bytes_of(bound_of(variant.plain, variant.state, &what_.machine)));
    }

    void add_axis(const Axis& axis) {
        Slider slider;
        slider.json = Json{{"id", "size " + axis.name},
                           {"kind", "axis"},
                           {"symbol", axis.name},
                           {"axis", axis.name},
                           {"now", axis.extent}};
        try_values(std::move(slider), around(axis.extent, kAnySize), [&](std::int64_t value) {
            return Position{{{axis.name, static_cast<double>(value)}}, {}};
        });
    }
    /// Formulas that need not hold at other sizes were found to with one slider moved at a time;
    /// those that do not with two are off.
    void check_together() {
        for (std::size_t a = 0; a < sliders_.size(); ++a)
            for (std::size_t b = a + 1; b < sliders_.size(); ++b) {
                Slider& first = sliders_[a];
                Slider& second = sliders_[b];
                if (!first.open || !second.open || first.off() || second.off()) continue;
                if (!agree(first, second)) first.json["off"] = second.json["off"] = kCounted;
            }
    }
    /// At the least and the greatest values of both.
    [[nodiscard]] bool agree(const Slider& first, const Slider& second) {
        for (const Position& one : {first.places.front(), first.places.back()})
            for (const Position& other : {second.places.front(), second.places.back()}) {
                const Result<Variant> variant = what_.variants.at(together(one, other));
                if (variant && !what_.variants.agrees(*variant)) return false;
            }
        return true;
    }
    void add_tile(const std::vector<Command>& commands, std::size_t k) {
        const Command& command = commands[k];
        const std::optional<AxisId> axis =
            command.names.empty() ? std::nullopt
                                  : find_axis(what_.last.state.diagram, command.names.front());
        const std::int64_t most = axis ? what_.last.state.diagram[*axis].extent : kAnySize;
        const std::string sign = command.rule == "stream" ? "s_" : "g_";
        const std::string name = command.names.empty() ? command.rule : command.names.front();
        Slider slider;
        slider.json = Json{
            {"id", "command " + std::to_string(k)},
            {"kind", "tile"},
            {"symbol", command.rule == "group" || command.rule == "stream" ? sign + name
                                                                           : typed_text(command)},
            {"axis", name},
            {"title", typed_text(command)},
            {"command", k},
            {"now", *command.size}};
        try_values(std::move(slider), around(*command.size, most), [&](std::int64_t value) {
            return Position{{}, {{k, value}}};
        });
    }
    /// Of types that inputs and outputs are stored in.
    void add_bits() {
        std::set<ElementType> types;
        for (const Array& array : what_.last.state.diagram.arrays)
            if (is_floating(array.type) &&
                (array.role == ArrayRole::Input || array.role == ArrayRole::Output))
                types.insert(array.type);
        for (const ElementType type : types) {
            Json sets = Json::array();
            const SymbolNames names(what_.last.state.diagram.axes);
            for (std::size_t r = 0; r < regions().size(); ++r)
                sets.push_back(Json::array({r, names(bits_in(type))}));
            const std::string name(name_of(type));
            std::vector<std::int64_t> values{8, 16, 32};
            if (!std::count(values.begin(), values.end(), bits_of(type))) continue;
            Slider slider;
            slider.json =
                Json{{"id", "bits " + name}, {"kind", "bits"},   {"symbol", name}, {"title", name},
                     {"now", bits_of(type)}, {"values", values}, {"sets", sets}};
            sliders_.push_back(std::move(slider));
        }
    }
    /// What blocks hold, and the rates that any region's time is made of.
    void add_figures() {
        std::vector<std::pair<std::string, std::string>> keys{{kCapacity, "B"}};
        for (const RegionCost& region : regions())
            for (const Pipeline& pipeline : pipelines_of(region, what_.machine)) {
                const std::pair key(pipeline.figure, pipeline.unit + "/s");
                const bool known = std::find(keys.begin(), keys.end(), key) != keys.end();
                if (!known && what_.machine.rate(pipeline.figure) == pipeline.rate)
                    keys.push_back(key);
            }
        const std::optional<TransferBound> bound = bound_of(what_.loaded.plain, what_.last.state);
        for (const auto& [key, unit] : keys) add_figure(key, unit, bound);
    }
    void add_figure(const std::string& key, const std::string& unit,
                    const std::optional<TransferBound>& bound) {
        const std::optional<double> now = what_.machine.rate(key);
        if (!now) return;
        const auto figures = all_figures();
        const auto kind = std::find_if(figures.begin(), figures.end(),
                                       [&](const FigureKind& each) { return each.key == key; });
        Slider slider;
        slider.json = Json{{"id", key},     {"kind", "figure"},
                           {"symbol", key}, {"title", std::string(kind->meaning)},
                           {"unit", unit},  {"typed", unit},
                           {"now", *now},   {"sets", Json::array()}};
        slider.touches.assign(regions().size(), true);
        for (const double factor : {0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0}) {
            const double value = factor == 1 ? *now : std::round(factor * *now);
            const Machine other = with_figure(what_.machine, key, value);
            Variant variant{what_.loaded.plain, what_.last.state, what_.last.cost};
            // Less room may ask for another kernel.
            if (key == kCapacity) {
                Result<Cost> cost = cost_of_state(what_.last.state, &other);
                if (!cost) continue;
                variant.cost = std::move(*cost);
            }
            slider.json["values"].push_back(value);
            slider.json["bounds"].push_back(bytes_of(
                bound ? std::optional(bound_on(other, *bound, variant.plain, variant.state))
                      : bound));
            slider.json["times"].push_back(what_.timings_of(variant.cost, slider.touches, other));
            slider.variants.push_back(std::move(variant));
        }
        sliders_.push_back(std::move(slider));
    }

    WhatIf& what_;
    std::vector<Slider> sliders_;
};

}  // namespace

Machine with_figure(Machine machine, const std::string& key, double value) {
    machine.figures[key].value = value;
    machine.figures[key].per_clock = false;
    return machine;
}

Json bytes_of(const std::optional<TransferBound>& bound) {
    return bound ? Json(bound->bytes()) : Json(nullptr);
}

Json WhatIf::timings_of(const Cost& cost, const std::vector<bool>& regions, const Machine& on) {
    Json kernels = Json::array();
    for (std::size_t r = 0; r < regions.size(); ++r)
        if (regions[r]) kernels.push_back(timings(cost.regions[r], on));
    return kernels;
}

std::vector<Slider> sliders_of(WhatIf& what) {
    return Sliders(what).run();
}

}  // namespace napkin::cli
