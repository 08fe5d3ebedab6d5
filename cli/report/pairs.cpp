#include "cli/report/pairs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace napkin::cli {
namespace {

constexpr std::size_t kMostKernels = 1300;
constexpr std::size_t kMostBytes = 110'000;

bool is_size(const Slider& slider) {
    return slider.kind() == "axis" || slider.kind() == "tile";
}

bool is_rate(const Slider& slider) {
    return slider.kind() == "figure" && slider.id() != kCapacity;
}

/// What is likely to be moved together comes first.
int rank_of(const Slider& first, const Slider& second) {
    const bool tile = first.kind() == "tile" || second.kind() == "tile";
    if (is_rate(second)) return tile ? 4 : is_size(first) ? 5 : 7;
    if (!is_size(second)) return tile ? 2 : 6;
    return first.kind() == second.kind() ? (tile ? 0 : 3) : 1;
}

/// Two sliders, sizes before figures, the capacity before rates.
struct Pair {
    Slider* first = nullptr;
    Slider* second = nullptr;
    std::vector<bool> regions;  ///< whose kernels depend on both

    [[nodiscard]] std::size_t points() const {
        return (first->variants.size() - 1) * (second->variants.size() - 1);
    }
    /// Kernels that are made for it: what the second leaves alone is made once.
    [[nodiscard]] std::size_t kernels() const {
        if (is_rate(*second)) return 0;
        return count(second->touches) * points() + count(first->touches) * first->variants.size();
    }
    [[nodiscard]] std::size_t bytes() const {
        constexpr std::size_t kInterval = 28;
        constexpr std::size_t kAll = 70;
        return points() * count(regions) * (is_rate(*second) ? kInterval : kAll);
    }
    static std::size_t count(const std::vector<bool>& those) {
        return static_cast<std::size_t>(std::count(those.begin(), those.end(), true));
    }
};

std::vector<Pair> pairs_among(std::vector<Slider>& sliders) {
    std::vector<Pair> pairs;
    for (std::size_t a = 0; a < sliders.size(); ++a)
        for (std::size_t b = a + 1; b < sliders.size(); ++b) {
            Pair pair{&sliders[a], &sliders[b], {}};
            if (pair.first->kind() == "bits" || pair.second->kind() == "bits" ||
                pair.first->off() || pair.second->off())
                continue;
            for (std::size_t r = 0; r < pair.first->touches.size(); ++r)
                pair.regions.push_back(pair.first->touches[r] && pair.second->touches[r]);
            if (pair.bytes() > 0) pairs.push_back(std::move(pair));
        }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& one, const Pair& other) {
        return rank_of(*one.first, *one.second) < rank_of(*other.first, *other.second);
    });
    return pairs;
}

/// The points of one pair.
class PairTable {
public:
    PairTable(WhatIf& what, const Pair& pair) : what_(what), pair_(pair) {}

    /// Nothing where formulas of both sliders do not hold together.
    std::optional<Json> run() {
        Json json{{"of", Json::array({pair_.first->id(), pair_.second->id()})}};
        for (std::size_t r = 0; r < pair_.regions.size(); ++r)
            if (pair_.regions[r]) json["regions"].push_back(r);
        const bool bounds = pair_.first->kind() != "tile" && pair_.second->kind() != "tile";
        for (std::size_t i = 0; i < pair_.first->variants.size(); ++i)
            for (std::size_t j = 0; j < pair_.second->variants.size(); ++j) {
                bound_ = std::nullopt;
                const std::optional<Json> point =
                    stands(*pair_.first, i) || stands(*pair_.second, j) ? Json(nullptr) : at(i, j);
                if (!point) return std::nullopt;
                json["points"].push_back(*point);
                if (bounds) json["bounds"].push_back(bytes_of(bound_));
            }
        return json;
    }

private:
    static bool stands(const Slider& slider, std::size_t value) {
        return slider.json.at("values")[value] == slider.json.at("now");
    }
    /// The machine on which a slider of a figure has a value.
    static Machine moved(const Machine& machine, const Slider& slider, std::size_t value) {
        return with_figure(machine, slider.id(), slider.json.at("values")[value].get<double>());
    }

    std::optional<Json> at(std::size_t i, std::size_t j) {
        if (is_size(*pair_.second)) return at_sizes(i, j);
        Machine machine = moved(what_.machine, *pair_.second, j);
        if (!is_size(*pair_.first)) machine = moved(machine, *pair_.first, i);
        const Variant& variant = pair_.first->variants[i];
        bound_ = bound_of(variant.plain, variant.state, &machine);
        if (is_rate(*pair_.second)) return intervals(variant.cost, machine);
        const Result<Cost> cost = cost_of_state(variant.state, &machine);
        if (!cost) return Json(cost.error().list.front().message);
        return what_.timings_of(*cost, pair_.regions, machine);
    }
    std::optional<Json> at_sizes(std::size_t i, std::size_t j) {
        const Result<Variant> variant =
            what_.variants.at(together(pair_.first->places[i], pair_.second->places[j]));
        if (!variant) return Json(variant.error().list.front().message);
        if (!what_.variants.agrees(*variant)) return std::nullopt;
        bound_ = bound_of(variant->plain, variant->state, &what_.machine);
        return what_.timings_of(variant->cost, pair_.regions, what_.machine);
    }
    [[nodiscard]] Json intervals(const Cost& cost, const Machine& machine) const {
        Json all = Json::array();
        for (std::size_t r = 0; r < pair_.regions.size(); ++r)
            if (pair_.regions[r]) all.push_back(Timings::interval(cost.regions[r], machine));
        return all;
    }

    WhatIf& what_;
    const Pair& pair_;
    std::optional<TransferBound> bound_;
};

}  // namespace

Json pairs_of(WhatIf& what, std::vector<Slider>& sliders) {
    Json tables = Json::array();
    std::size_t kernels = 0;
    std::size_t bytes = 0;
    for (const Pair& pair : pairs_among(sliders)) {
        if (pair.first->off() || pair.second->off()) continue;
        if (kernels + pair.kernels() > kMostKernels || bytes + pair.bytes() > kMostBytes) continue;
        kernels += pair.kernels();
        bytes += pair.bytes();
        if (std::optional<Json> table = PairTable(what, pair).run())
            tables.push_back(std::move(*table));
        else
            pair.first->json["off"] = pair.second->json["off"] = kCounted;
    }
    return tables;
}

}  // namespace napkin::cli
