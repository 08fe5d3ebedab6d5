#include "diagrams/drawing/brackets.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>

#include "diagrams/contains.h"
#include "diagrams/drawing/draw_rows.h"

namespace napkin::drawing {

namespace {

constexpr double kBracketGap = 10;   // between wires and brackets
constexpr double kBracketHook = 4;   // at the ends
constexpr double kBracketDrop = 13;  // of a bracket's text

struct Reach {
    double left = 0;
    double right = 0;
    bool from_above = false;  ///< begins in a row before
    bool goes_on = false;     ///< ends in a row after
    bool operator==(const Reach&) const = default;
};

struct Bracket {
    Reach reach;
    MathText text;
};

/// Whether what is meant has columns before those of a row, and after them.
std::pair<bool, bool> elsewhere(const System& system, const std::vector<Column>& columns,
                                const std::function<bool(const Column&)>& meant) {
    std::size_t first = columns.size();
    std::size_t last = 0;
    for (const Stage& stage : system.list.stages)
        if (stage.column) {
            first = std::min(first, *stage.column);
            last = std::max(last, *stage.column);
        }
    const auto at = [&](std::size_t c) {
        return columns.begin() + static_cast<std::ptrdiff_t>(std::min(c, columns.size()));
    };
    return {std::any_of(columns.begin(), at(first), meant),
            std::any_of(at(last + 1), columns.end(), meant)};
}

/// From the first to the last stage of a row whose columns are meant, or to the row's ends where
/// they go on in others; a box goes on to where it is left.
std::optional<Reach> reach_of(const System& system, const std::vector<Column>& columns,
                              const std::function<bool(const Column&)>& meant) {
    const std::vector<Stage>& stages = system.list.stages;
    std::optional<Reach> reach;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const Stage& stage = stages[s];
        if (!stage.column || !meant(columns[*stage.column])) continue;
        Reach own{stage.x - stage.left, stage.x + stage.right};
        if (s + 1 < stages.size() && stages[s + 1].kind == StageKind::Leave)
            own.right = std::max(own.right, stages[s + 1].x);
        if (!reach) reach = own;
        reach->left = std::min(reach->left, own.left);
        reach->right = std::max(reach->right, own.right);
    }
    if (!reach) return reach;
    std::tie(reach->from_above, reach->goes_on) = elsewhere(system, columns, meant);
    if (reach->from_above) reach->left = stages.front().x - stages.front().left;
    if (reach->goes_on) reach->right = stages.back().x + stages.back().right;
    return reach;
}

/// Whether a region reads an array at places that an axis tells.
bool reads_along(const Diagram& diagram, const Region& region, ArrayId array, AxisId axis) {
    const auto along = [&](const Expression& part) {
        const Read* const read = std::get_if<Read>(&part.node);
        return read != nullptr && read->array == array && axes_used(part).count(axis) != 0;
    };
    for (const StatementId id : region.statements)
        for (const Expression* const expression : expressions_of(diagram[id]))
            if (any_part(*expression, along)) return true;
    return false;
}

/// Whether a column is passed for every chunk of an axis: it loads or saves parts of it, or its
/// statements run over it.
bool in_loop(const Diagram& diagram, const Region& region, const Stream& stream,
             const Column& column) {
    if (column.kind == ColumnKind::Boxes)
        return std::any_of(column.statements.begin(), column.statements.end(), [&](StatementId id) {
            return contains(axes_of(diagram, diagram[id]), stream.axis);
        });
    if (column.level != stream.level) return false;
    const bool load = column.kind == ColumnKind::Load;
    const std::vector<ArrayId> arrays =
        load ? loads_of(diagram, region) : saves_of(diagram, region);
    return std::any_of(arrays.begin(), arrays.end(), [&](ArrayId array) {
        return load ? reads_along(diagram, region, array, stream.axis)
                    : contains(diagram[array].axes, stream.axis);
    });
}

/// One a loop, the innermost first; axes that are streamed over the same columns share one.
std::vector<Bracket> loops_of(const Contents& contents, const Labels& labels,
                              const System& system) {
    std::vector<Bracket> loops;
    for (std::size_t r = 0; r < contents.relabelling.regions.size(); ++r) {
        const Region& region = contents.relabelling.regions[r];
        for (const Stream& stream : region.streams) {
            const auto reach = reach_of(system, contents.columns, [&](const Column& column) {
                return column.region == r && in_loop(contents.diagram, region, stream, column);
            });
            if (!reach) continue;
            const MathText chunk = labels.inner(stream.axis, r, stream.level);
            const auto same = std::find_if(loops.begin(), loops.end(), [&](const Bracket& loop) {
                return loop.reach == *reach;
            });
            if (same == loops.end())
                loops.push_back({*reach, plain_text("each ") + chunk});
            else
                same->text = same->text + plain_text(", ") + chunk;
        }
    }
    std::stable_sort(loops.begin(), loops.end(), [](const Bracket& a, const Bracket& b) {
        return a.reach.right - a.reach.left < b.reach.right - b.reach.left;
    });
    return loops;
}

/// None where there is one kernel only.
std::vector<Bracket> kernels_of(const Contents& contents, const System& system) {
    const std::vector<Region>& regions = contents.relabelling.regions;
    std::vector<Bracket> kernels;
    for (std::size_t r = 0; r < regions.size(); ++r)
        if (const auto reach = reach_of(system, contents.columns,
                                        [&](const Column& column) { return column.region == r; }))
            kernels.push_back({*reach, plain_text(region_name(contents.diagram, regions[r]))});
    if (kernels.size() < 2) kernels.clear();
    return kernels;
}

bool are_apart(const Reach& a, const Reach& b) {
    return a.right < b.left || b.right < a.left;
}

/// Side by side where they are apart, else one under another.
void draw_brackets(Canvas& row, const std::vector<Bracket>& brackets) {
    const Stroke stroke{kGrey, 0.9, Dash::Solid};
    double y = bounds_of(row).bottom + kBracketGap;
    std::vector<Reach> beside;
    for (const auto& [reach, text] : brackets) {
        const bool fits =
            std::all_of(beside.begin(), beside.end(),
                        [&, own = reach](const Reach& other) { return are_apart(own, other); });
        if (!fits) {
            y = bounds_of(row).bottom + kBracketGap;
            beside.clear();
        }
        beside.push_back(reach);
        row.line({reach.left, y}, {reach.right, y}, stroke, Part::Rule);
        if (!reach.from_above)
            row.line({reach.left, y - kBracketHook}, {reach.left, y}, stroke, Part::Rule);
        if (!reach.goes_on)
            row.line({reach.right, y - kBracketHook}, {reach.right, y}, stroke, Part::Rule);
        row.text(text, {(reach.left + reach.right) / 2, y + kBracketDrop}, Anchor::Middle,
                 kMarkSize, kGrey);
    }
}

}  // namespace

void add_brackets(Canvas& row, const Contents& contents, const DrawOptions& options,
                  const System& system) {
    const Labels labels(contents.diagram, contents.relabelling, options);
    draw_brackets(row, loops_of(contents, labels, system));
    draw_brackets(row, kernels_of(contents, system));
}

}  // namespace napkin::drawing
