// Numbers with units in machine files and overrides.
#include <array>
#include <charconv>
#include <cmath>

#include "perfmodel/machine.h"

namespace napkin {

namespace {

struct UnitName {
    std::string_view name;
    Dimension dimension = Dimension::Count;
    double scale = 1;
};

constexpr double kKibi = 1024;
constexpr double kMostCounted = 1e9;
constexpr std::array kUnits = {
    UnitName{"B", Dimension::Memory, 1},
    UnitName{"kB", Dimension::Memory, 1e3},
    UnitName{"KB", Dimension::Memory, 1e3},
    UnitName{"MB", Dimension::Memory, 1e6},
    UnitName{"GB", Dimension::Memory, 1e9},
    UnitName{"TB", Dimension::Memory, 1e12},
    UnitName{"KiB", Dimension::Memory, kKibi},
    UnitName{"MiB", Dimension::Memory, kKibi* kKibi},
    UnitName{"GiB", Dimension::Memory, kKibi* kKibi* kKibi},
    UnitName{"B/clk", Dimension::Bandwidth, 1},
    UnitName{"B/s", Dimension::Bandwidth, 1},
    UnitName{"MB/s", Dimension::Bandwidth, 1e6},
    UnitName{"GB/s", Dimension::Bandwidth, 1e9},
    UnitName{"TB/s", Dimension::Bandwidth, 1e12},
    UnitName{"op/clk", Dimension::Rate, 1},
    UnitName{"op/s", Dimension::Rate, 1},
    UnitName{"Gop/s", Dimension::Rate, 1e9},
    UnitName{"Top/s", Dimension::Rate, 1e12},
    UnitName{"FLOP/clk", Dimension::Rate, 1},
    UnitName{"FLOP/s", Dimension::Rate, 1},
    UnitName{"GFLOP/s", Dimension::Rate, 1e9},
    UnitName{"TFLOP/s", Dimension::Rate, 1e12},
    UnitName{"PFLOP/s", Dimension::Rate, 1e15},
    UnitName{"Hz", Dimension::Frequency, 1},
    UnitName{"MHz", Dimension::Frequency, 1e6},
    UnitName{"GHz", Dimension::Frequency, 1e9},
    UnitName{"s", Dimension::Time, 1},
    UnitName{"ms", Dimension::Time, 1e-3},
    UnitName{"us", Dimension::Time, 1e-6},
    UnitName{"ns", Dimension::Time, 1e-9},
    UnitName{"W", Dimension::Power, 1},
    UnitName{"kW", Dimension::Power, 1e3},
    UnitName{"pJ", Dimension::Energy, 1e-12},
    UnitName{"nJ", Dimension::Energy, 1e-9},
    UnitName{"%", Dimension::Share, 0.01},
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::string units_of(Dimension dimension) {
    std::string list;
    for (const UnitName& unit : kUnits)
        if (unit.dimension == dimension)
            list += (list.empty() ? "`" : ", `") + std::string(unit.name) + "`";
    return list;
}

const UnitName* find_unit(std::string_view name) {
    for (const UnitName& unit : kUnits)
        if (unit.name == name) return &unit;
    return nullptr;
}

}  // namespace

std::variant<Figure, std::string> parse_figure(std::string_view text, Dimension dimension) {
    const std::string_view whole = trimmed(text);
    Figure figure;
    const auto [end, problem] =
        std::from_chars(whole.data(), whole.data() + whole.size(), figure.value);
    if (problem == std::errc::result_out_of_range)
        return "`" + std::string(whole) + "` is more, or less, than a number can hold";
    if (problem != std::errc{} || !std::isfinite(figure.value))
        return "`" + std::string(whole) + "` does not start with a number";
    if (figure.value <= 0) return "`" + std::string(whole) + "` is not above zero";
    const std::string_view unit_text =
        trimmed(whole.substr(static_cast<std::size_t>(end - whole.data())));
    figure.text = std::string(whole);
    if (dimension == Dimension::Count) {
        if (!unit_text.empty())
            return "a count has no unit, but `" + std::string(unit_text) + "` follows the number";
        if (std::floor(figure.value) != figure.value)
            return "`" + std::string(whole) + "` is not a whole number";
        if (figure.value > kMostCounted)
            return "`" + std::string(whole) + "` is more than a thousand million";
        return figure;
    }
    const UnitName* unit = find_unit(unit_text);
    if (unit_text.empty())
        return "`" + std::string(whole) + "` lacks a unit, one of " + units_of(dimension);
    if (unit == nullptr)
        return "unknown unit `" + std::string(unit_text) + "`; it takes one of " +
               units_of(dimension);
    if (unit->dimension != dimension)
        return "`" + std::string(unit_text) + "` is the wrong unit; it takes one of " +
               units_of(dimension);
    figure.value *= unit->scale;
    if (!std::isfinite(figure.value))
        return "`" + std::string(whole) + "` is more than a number can hold";
    figure.per_clock = unit_text.ends_with("/clk");
    return figure;
}

}  // namespace napkin
