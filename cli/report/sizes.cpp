#include "cli/report/sizes.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/formula_json.h"

namespace napkin::cli {
namespace {

/// A region and a symbol of it.
using Place = std::pair<std::size_t, Symbol>;

bool opens_sizes_alone(const Question& question) {
    return std::all_of(question.commands.begin(), question.commands.end(),
                       [](const OpenCommand& each) { return !each.whole && !each.names; });
}

const char* name_of(Need::Kind kind) {
    return kind == Need::Kind::Transferred ? "H" : kind == Need::Kind::Held ? "M" : nullptr;
}

/// The cost of one answer as formulas, and what each open size of it is called there.
class SizeForms {
public:
    static std::optional<SizeForms> create(const Grader& grader) {
        const std::vector<Command>& answer = grader.question().answers.front();
        std::optional<Cost> cost = grader.cost(answer);
        if (!cost) return std::nullopt;
        SizeForms forms(std::move(*cost));
        for (std::size_t i = 0; i < answer.size(); ++i) {
            std::vector<Command> other = answer;
            other[i].size = *answer[i].size == 1 ? 2 : 1;
            const std::optional<Cost> changed = grader.cost(other);
            if (!changed || !forms.add(*changed)) return std::nullopt;
        }
        return forms;
    }

    /// Bytes that are transferred and held; nullopt where they are too many to count.
    [[nodiscard]] std::optional<std::pair<double, double>> at(
        const std::vector<Command>& answer) const {
        double moved = 0;
        double held = 0;
        for (std::size_t r = 0; r < cost_.regions.size(); ++r) {
            const RegionCost& region = cost_.regions[r];
            SymbolValues sizes = region.sizes;
            for (std::size_t i = 0; i < answer.size(); ++i)
                for (const auto& [of, symbol] : places_[i])
                    if (of == r) sizes[symbol] = *answer[i].size;
            const LevelCost& block = region.levels.at(Level::Block);
            const auto transferred = evaluate(block.transferred.bit_formula, sizes);
            const auto memory = evaluate(block.memory.bit_formula, sizes);
            if (!transferred || !memory) return std::nullopt;
            moved += to_double(*transferred);
            held = std::max(held, std::ceil(to_double(*memory) / 8));
        }
        return std::pair(std::ceil(moved / 8), held);
    }

    [[nodiscard]] Json json() const {
        Json json{{"regions", Json::array()}, {"sets", Json::array()}};
        for (const RegionCost& region : cost_.regions) {
            const LevelCost& block = region.levels.at(Level::Block);
            Json one{{"H", tree_of(block.transferred.bit_formula, region.names)},
                     {"M", tree_of(block.memory.bit_formula, region.names)}};
            for (const auto& [symbol, value] : region.sizes)
                one["symbols"][region.names(symbol)] = value;
            json["regions"].push_back(std::move(one));
        }
        for (const std::vector<Place>& places : places_) {
            Json set = Json::array();
            for (const auto& [region, symbol] : places)
                set.push_back(Json::array({region, cost_.regions[region].names(symbol)}));
            json["sets"].push_back(std::move(set));
        }
        return json;
    }

private:
    explicit SizeForms(Cost cost) : cost_(std::move(cost)) {}

    /// The places of a size, by the cost at another one; false where there is none, or no formula.
    bool add(const Cost& changed) {
        if (changed.regions.size() != cost_.regions.size()) return false;
        std::vector<Place> places;
        for (std::size_t r = 0; r < cost_.regions.size(); ++r)
            for (const auto& [symbol, size] : cost_.regions[r].sizes) {
                const auto other = changed.regions[r].sizes.find(symbol);
                if (other == changed.regions[r].sizes.end()) return false;
                if (other->second == size) continue;
                if (!is_tile_size(symbol) || cost_.regions[r].formulas.open.contains(symbol))
                    return false;
                places.emplace_back(r, symbol);
            }
        places_.push_back(std::move(places));
        return !places_.back().empty();
    }

    Cost cost_;
    std::vector<std::vector<Place>> places_;  ///< by open size
};

}  // namespace

Json sizes_json(const Grader& grader, const std::vector<Tried>& tried) {
    const Question& question = grader.question();
    if (!opens_sizes_alone(question) || question.is_refused()) return nullptr;
    const std::optional<SizeForms> forms = SizeForms::create(grader);
    if (!forms) return nullptr;
    for (const Tried& each : tried) {
        const auto reached = forms->at(each.answer);
        if (!reached) return nullptr;
        for (const Need& need : question.needs) {
            const char* const name = name_of(need.kind);
            if (name == nullptr) continue;
            const double amount = need.kind == Need::Kind::Held ? reached->second : reached->first;
            const bool said =
                each.grade.kind.find(std::string("too much ") + name) != std::string::npos;
            if (said != (amount > need.most)) return nullptr;
        }
        if (each.grade.kind.find("refused") != std::string::npos) return nullptr;
    }
    Json json = forms->json();
    json["needs"] = Json::array();
    json["whole"] = true;
    for (const Need& need : question.needs)
        if (const char* const name = name_of(need.kind))
            json["needs"].push_back(Json{{"of", name}, {"most", need.most}, {"text", need.text}});
        else
            json["whole"] = false;
    return json;
}

}  // namespace napkin::cli
