#include "cli/tile_listing.h"

#include "cli/numbers.h"
#include "diagrams/drawing/layout.h"
#include "diagrams/overloaded.h"
#include "perfmodel/cost_table.h"

namespace napkin::cli {
namespace {

using drawing::ItemKind;
using drawing::Listing;
using drawing::ListingItem;

/// Turns the statements of one region into lines.
class Lister {
public:
    Lister(const RegionProgram& region, const SourceMap& sources)
        : region_(region), scope_(scope_of(region)), sources_(sources) {}

    std::vector<ListingItem> items(const std::vector<TileStatement>& body) const {
        std::vector<ListingItem> items;
        for (const TileStatement& statement : body) {
            items.push_back(
                std::visit([&](const auto& node) { return item(node); }, statement.node));
            const Span span = statement.span;
            if (span.end > span.begin && span.file < sources_.files.size())
                items.back().tooltip = sources_.describe(span);
        }
        return items;
    }

private:
    [[nodiscard]] ListingItem nest(ItemKind kind, Level level,
                                   const std::vector<TileStatement>& body) const {
        ListingItem line;
        line.kind = kind;
        line.level = name_of(level);
        line.color = drawing::color_of({level});
        line.body = items(body);
        return line;
    }
    [[nodiscard]] ListingItem item(const Parallel& node) const {
        ListingItem line = nest(ItemKind::Parallel, node.level, node.body);
        const std::string& axis = scope_[node.axis].name;
        line.text = node.size == 1 ? "for each " + axis + " in parallel"
                                   : "for each group of " + std::to_string(node.size) + " " + axis +
                                         " in parallel";
        return line;
    }
    [[nodiscard]] ListingItem item(const Loop& node) const {
        ListingItem line = nest(ItemKind::Loop, node.level, node.body);
        line.text = "for each chunk of " + std::to_string(node.size) + " " + scope_[node.axis].name;
        for (std::size_t i = 0; i < node.visible.size(); ++i)
            line.text += (i == 0 ? " where " : " and ") + print(scope_, node.visible[i]);
        return line;
    }
    [[nodiscard]] ListingItem item(const Load& node) const {
        ListingItem line = defining(ItemKind::Load, node.target);
        line.text =
            "load " + line.variable + " from " +
            (node.source ? variable(*node.source).name : "device " + scope_[node.array].name);
        return line;
    }
    [[nodiscard]] ListingItem item(const Save& node) const {
        ListingItem line{ItemKind::Save, "", "", "", "", "", drawing::kBlack, "", {}};
        if (node.target) line = defining(ItemKind::Save, *node.target);
        line.text = "save " + variable(node.source).name +
                    (node.target ? "" : " to device " + scope_[node.array].name);
        return line;
    }
    [[nodiscard]] ListingItem item(const Compute& node) const {
        ListingItem line = defining(ItemKind::Step, node.targets.front());
        for (const VariableId target : node.targets)
            line.text += (line.text.empty() ? "" : ", ") + variable(target).name;
        line.text += " = " + value(node.statement);
        return line;
    }
    [[nodiscard]] const Variable& variable(VariableId id) const {
        return region_.variables[id.index()];
    }
    /// A line that gives a variable its value, with its size, type and level.
    [[nodiscard]] ListingItem defining(ItemKind kind, VariableId id) const {
        const Variable& target = variable(id);
        const SymbolNames names(scope_.axes);
        std::string size;
        for (const Formula& extent : target.capacity) {
            const std::optional<Polynomial> ideal = idealise(extent);
            size +=
                (size.empty() ? "" : " ") + (ideal ? print(*ideal, names) : print(extent, names));
        }
        return {kind,
                "",
                target.name,
                size.empty() ? "1" : size,
                std::string(name_of(target.type)),
                std::string(name_of(target.level)),
                drawing::color_of({target.level, target.tensor_core}),
                "",
                {}};
    }
    [[nodiscard]] std::string list(const std::vector<Expression>& expressions) const {
        std::string text;
        for (const Expression& expression : expressions)
            text += (text.empty() ? "" : ", ") + print(scope_, expression);
        return expressions.size() == 1 ? text : "(" + text + ")";
    }
    [[nodiscard]] std::string fold(const Fold& fold) const {
        std::string over;
        for (const AxisId axis : fold.over) over += (over.empty() ? "" : ", ") + scope_[axis].name;
        const std::string& name = scope_[fold.monoid].name;
        const std::string text =
            (fold.every_prefix ? "scan " : "") + name + "(" + over + ") " + list(fold.values);
        if (fold.seed.empty()) return text;
        return fold.monoid == kSum ? list(fold.seed) + " + " + text
                                   : name + "(" + list(fold.seed) + ", " + text + ")";
    }
    [[nodiscard]] std::string value(const Statement& statement) const {
        return std::visit(
            overloaded{
                [&](const Map& map) { return print(scope_, map.value); },
                [&](const Fold& body) { return fold(body); },
                [&](const Select& select) {
                    return std::string(select.rank ? "topk[" : "argmax[") +
                           scope_[select.over].name + "](" + print(scope_, select.value) + ")";
                },
                [&](const Opaque& opaque) { return opaque.name + "(" + list(opaque.reads) + ")"; },
            },
            statement.body);
    }

    const RegionProgram& region_;
    Diagram scope_;
    const SourceMap& sources_;
};

}  // namespace

std::vector<Listing> listings_of(const TileProgram& program, const Cost& cost,
                                 const SourceMap& sources) {
    std::vector<Listing> listings;
    for (std::size_t i = 0; i < program.regions.size(); ++i) {
        const RegionProgram& region = program.regions[i];
        const RegionCost& costs = cost.regions[i];
        Listing listing{region.name, {}, Lister(region, sources).items(region.body)};
        const LevelCost& block = costs.levels.at(Level::Block);
        const auto add = [&](const std::string& title, const Amount& amount) {
            listing.facts.push_back({title, text_beside_number(amount, costs),
                                     bytes_text(static_cast<double>(amount.bytes()))});
        };
        add("H_l1", block.transferred);
        add("M_l1", block.memory);
        listings.push_back(std::move(listing));
    }
    return listings;
}

}  // namespace napkin::cli
