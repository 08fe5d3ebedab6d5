#include "cli/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "cli/console.h"
#include "cli/lines.h"
#include "cli/messages.h"
#include "cli/resource_table.h"
#include "derive/tile_program.h"
#include "diagrams/contains.h"
#include "diagrams/drawing/short_names.h"
#include "diagrams/factor.h"
#include "diagrams/graphviz/overview.h"
#include "perfmodel/cost_table.h"
#include "perfmodel/explain.h"
#include "perfmodel/kernel_choice.h"
#include "perfmodel/time.h"

namespace napkin::cli {

using drawing::MathText;

std::string level_title(Level level) {
    switch (level) {
    case Level::Device: return "l0";
    case Level::Block: return "l1";
    case Level::Warps: return "l2";
    default: return std::string(name_of(level));
    }
}

Result<Cost> cost_of_state(const State& state, const Machine* machine) {
    const Result<TileProgram> program = expand(state, OpaqueBoxes::Keep);
    if (!program) return program.error();
    Result<Cost> cost = cost_of(*program);
    if (!cost || machine == nullptr) return cost;
    const Result<WantedKernels> wanted = WantedKernels::of(state, kernels_for(*machine));
    if (!wanted) return wanted.error();
    for (std::size_t i = 0; i < program->regions.size(); ++i)
        add_work(program->regions[i], (*wanted)(program->regions[i].name), cost->regions[i]);
    return cost;
}

Result<Cost> CostOfSteps::operator()(const State& state) {
    const Result<WantedKernels> wanted = WantedKernels::of(state, kernels_for(machine_));
    if (!wanted) return wanted.error();
    const bool same = last_ && last_->diagram == state.diagram &&
                      last_->relabelling.places == state.relabelling.places &&
                      last_->relabelling.wire_types == state.relabelling.wire_types;
    std::vector<Known> all;
    for (const Region& region : state.relabelling.regions) {
        const schedule::RegionSchedule schedule =
            (*wanted)(region_name(state.diagram, region)).schedule;
        const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
            return known.region == region && known.schedule == schedule;
        });
        if (same && found != known_.end()) {
            all.push_back(*found);
            continue;
        }
        const Result<RegionProgram> program = expand(state, region, OpaqueBoxes::Keep);
        if (!program) return program.error();
        Result<RegionCost> cost = cost_of(*program);
        if (!cost) return cost.error();
        add_work(*program, (*wanted)(program->name), *cost);
        all.push_back({region, schedule, std::move(*cost)});
    }
    last_ = state;
    known_ = std::move(all);
    std::vector<RegionCost> regions;
    for (const Known& known : known_) regions.push_back(known.cost);
    return cost_of(state.diagram.name, std::move(regions));
}

namespace {

/// How many groups there are, where that is one term.
std::optional<Polynomial> groups_of(const State& state, const RegionCost& region) {
    Polynomial groups = constant_polynomial(rational(1));
    for (const SizeInUse& group : region.groups) {
        if (group.level != Level::Block) continue;
        const Axis& axis = state.diagram[group.symbol.axis];
        const std::optional<Polynomial> size = idealise(axis.size);
        if (!size || size->terms.size() != 1) return std::nullopt;
        groups = groups * *size;
        if (group.size != 1 || !axis.woven)
            groups = groups * symbol_polynomial(group.symbol, rational(-1));
    }
    return groups;
}

/// What one group transfers, how many groups there are, and what follows for all, as the paper
/// writes it beside its figures of groups.
std::vector<MathText> per_group(const State& state, const RegionCost& region) {
    const auto block = region.levels.find(Level::Block);
    const std::optional<Polynomial> groups = groups_of(state, region);
    if (!groups || block == region.levels.end() || !block->second.transferred.ideal)
        return {drawing::plain_text(region.name + ": a group has no closed form")};
    const Polynomial& all = *block->second.transferred.ideal;
    const std::optional<Polynomial> inverse = power(*groups, rational(-1));
    invariant(inverse.has_value(), "a single term has an inverse");
    const std::vector<Polynomial> parts = transfers_of(region, Level::Block);
    std::vector<Polynomial> each;
    for (const Polynomial& part : parts) each.push_back(part * *inverse);
    const auto shorter = [&](const Polynomial& sum, const std::vector<Polynomial>& of) {
        const std::string terms = print_in_parts(sum, of, region.names, region.order);
        const std::string product = print_factored(sum, region.names, region.order);
        return product.size() < terms.size() ? product : terms;
    };
    return {
        drawing::plain_text(region.name + ": ") +
            drawing::parse_math("H_{l1,g} = " + shorter(all * *inverse, each)),
        drawing::parse_math("N_{l1,g} = " + print_factored(*groups, region.names, region.order)),
        drawing::parse_math("∴ H_l1 = N_{l1,g}·H_{l1,g} = " +
                            print_in_parts(all, parts, region.names, region.order))};
}

/// `each s_v takes every s_d`: which chunks pass inside each chunk of other axes, outermost first.
std::vector<MathText> nested_streams(const State& state, std::size_t r, const SymbolNames& names) {
    const Region& region = state.relabelling.regions[r];
    if (region.streams.size() < 2) return {};
    const Result<RegionProgram> program = expand(state, region, OpaqueBoxes::Keep);
    if (!program || !program->accumulator) return {};
    const auto chunks = [&](const Accumulator& accumulator) {
        MathText text;
        for (const Stream& stream : region.streams)
            if (contains(accumulator.axes, stream.axis))
                text = text + drawing::plain_text(text.runs.empty() ? "" : ", ") +
                       drawing::parse_math(names(stream_size(stream.axis, stream.level)));
        return text;
    };
    std::vector<MathText> lines;
    const Accumulator* outer = &*program->accumulator;
    for (; !outer->inside.empty(); outer = &outer->inside.front())
        lines.push_back(drawing::plain_text("each ") + chunks(*outer) +
                        drawing::plain_text(" takes every ") + chunks(outer->inside.front()));
    return lines;
}

/// Broken between words; names are set apart by no quotes here.
std::vector<MathText> remark_lines(std::string text, const drawing::DrawOptions& options) {
    std::erase(text, '`');
    std::istringstream lines(
        broken(text, static_cast<std::size_t>(options.max_width / drawing::kTerminalCell)));
    std::vector<MathText> texts;
    for (std::string line; std::getline(lines, line);) texts.push_back(drawing::plain_text(line));
    return texts;
}

drawing::DrawOptions options_of(const State& state, const Cost& cost,
                                const PictureOptions& wanted) {
    drawing::DrawOptions options;
    options.title = wanted.title;
    options.rows = resource_rows(state, cost, wanted.machine != nullptr);
    options.medium = wanted.medium;
    options.kernel = wanted.kernel;
    options.levels = wanted.levels;
    if (wanted.max_width) options.max_width = *wanted.max_width;
    for (std::size_t r = 0; r < cost.regions.size(); ++r)
        if (!wanted.kernel || r == *wanted.kernel)
            for (MathText& line : nested_streams(state, r, cost.regions[r].names))
                options.remarks.push_back(std::move(line));
    for (std::size_t r = 0; r < cost.regions.size(); ++r)
        if (const std::string mask = explain_mask(cost.regions[r]);
            !mask.empty() && (!wanted.kernel || r == *wanted.kernel))
            for (const MathText& line : remark_lines(cost.regions[r].name + ": " + mask, options))
                options.remarks.push_back(line);
    if (wanted.machine != nullptr)
        for (const RegionCost& region : cost.regions)
            for (const Excess& excess : excesses_of(region, *wanted.machine))
                for (const MathText& line : remark_lines("too large: " + describe(excess), options))
                    options.remarks.push_back(line);
    if (wanted.per_group)
        for (std::size_t r = 0; r < cost.regions.size(); ++r)
            if (!wanted.kernel || r == *wanted.kernel)
                for (const MathText& line : per_group(state, cost.regions[r]))
                    options.remarks.push_back(line);
    if (wanted.sources != nullptr)
        options.where = [&sources = *wanted.sources](Span span) { return sources.describe(span); };
    return options;
}

int column_count(double width) {
    return static_cast<int>(std::lround(width / drawing::kTerminalCell));
}

/// What is drawn under whole names or short ones.
struct Named {
    State state;
    Cost cost;
    std::map<std::string, std::string> key;  ///< whole names by short ones
};

Named with_short_names(const State& state, const Cost& cost, std::size_t longest) {
    const std::map<std::string, std::string> names = drawing::short_names(state.diagram, longest);
    Named named{state, cost, {}};
    named.state.diagram = drawing::renamed(state.diagram, names);
    for (RegionCost& region : named.cost.regions) region.names = region.names.renamed(names);
    for (const auto& [whole, name] : names) named.key[name] = whole;
    return named;
}

Result<drawing::Canvas> draw_named(const State& state, const Cost& cost,
                                   const PictureOptions& wanted,
                                   const std::map<std::string, std::string>& key) {
    drawing::DrawOptions options = options_of(state, cost, wanted);
    options.key = key;
    // A terminal has no room for a graph: there each kernel's arrays say what flows.
    if (wanted.medium == drawing::Medium::Page && !wanted.kernel &&
        state.relabelling.regions.size() > 1) {
        Result<drawing::Canvas> overview =
            drawing::draw_overview(state.diagram, state.relabelling, options.max_width);
        if (!overview) return overview;
        options.overview = std::move(*overview);
    }
    drawing::Canvas canvas = drawing::draw_diagram(state.diagram, state.relabelling, options);
    canvas.step = wanted.step;
    return canvas;
}

bool fits(const drawing::Canvas& canvas, const PictureOptions& wanted) {
    return drawing::width_on(wanted.medium, canvas) <= *wanted.max_width;
}

/// With whole names, or in a terminal with short ones where it does not fit otherwise.
Result<drawing::Canvas> draw_fitting(const State& state, const Cost& cost,
                                     const PictureOptions& wanted) {
    constexpr std::array<std::size_t, 2> kLongest = {10, 4};
    Result<drawing::Canvas> canvas = draw_named(state, cost, wanted, {});
    // Readers of a page's elements go by their names; in a terminal nothing scrolls sideways.
    if (!canvas || wanted.medium == drawing::Medium::Page || !wanted.max_width) return canvas;
    for (const std::size_t longest : kLongest) {
        if (fits(*canvas, wanted)) break;
        const Named named = with_short_names(state, cost, longest);
        canvas = draw_named(named.state, named.cost, wanted, named.key);
        if (!canvas) break;
    }
    return canvas;
}

/// The fewest columns in which there is a picture, more than are wanted.
int least_columns(const State& state, const Cost& cost, PictureOptions wanted) {
    const auto taken = [&](int most) {
        wanted.max_width = columns(most);
        const Result<drawing::Canvas> canvas = draw_fitting(state, cost, wanted);
        invariant(canvas.has_value(), "a terminal's picture has no graph that fails");
        return column_count(drawing::width_on(wanted.medium, *canvas));
    };
    int too_few = column_count(*wanted.max_width);
    int enough = taken(too_few);
    for (int next = taken(enough); next > enough; next = taken(enough)) enough = next;
    while (too_few + 1 < enough) {
        const int middle = (too_few + enough) / 2;
        (taken(middle) <= middle ? enough : too_few) = middle;
    }
    return enough;
}

}  // namespace

Result<drawing::Canvas> picture_of(const State& state, const Cost& cost,
                                   const PictureOptions& wanted) {
    Result<drawing::Canvas> canvas = draw_fitting(state, cost, wanted);
    if (!canvas || !wanted.must_fit || fits(*canvas, wanted)) return canvas;
    return Diagnostics{
        {too_few_columns(column_count(*wanted.max_width), least_columns(state, cost, wanted))}};
}

Result<PictureOptions> picture_options(const Arguments& arguments, const State& state,
                                       const Machine* machine, const SourceMap& sources,
                                       drawing::Format format) {
    PictureOptions options;
    options.machine = machine;
    options.sources = &sources;
    options.per_group = arguments.per_group;
    options.title = state.diagram.name;
    if (format == drawing::Format::Text) {
        options.medium = drawing::Medium::Terminal;
        options.title.clear();
        options.max_width = columns(kColumns);
        options.must_fit = arguments.width > 0;
    }
    if (arguments.width > 0) options.max_width = arguments.width / drawing::units_in_point(format);
    if (arguments.region.empty()) return options;
    const auto region = find_region(state, arguments.region);
    if (const NotApplicable* none = std::get_if<NotApplicable>(&region))
        return Diagnostics{{unknown_region(none->reason, none->help)}};
    options.kernel = std::get<std::size_t>(region);
    return options;
}

Result<std::string> picture_bytes(const Arguments& arguments, const State& state,
                                  const PictureOptions& options, drawing::Format format) {
    const auto theme = drawing::theme_named(arguments.theme);
    const auto font = drawing::font_named(arguments.font);
    invariant(theme && font, "the arguments know themes and fonts");
    const Result<Cost> cost = cost_of_state(state, options.machine);
    if (!cost) return cost.error();
    const Result<drawing::Canvas> canvas = picture_of(state, *cost, options);
    if (!canvas) return canvas.error();
    return drawing::render_canvas(*canvas, format, *theme, *font);
}

namespace {

/// `H_l1 = 4qx` and likewise, by these titles, sorted; what has no closed form is
/// left out.
std::map<std::string, std::string> closed_costs(const Cost& cost) {
    std::map<std::string, std::string> costs;
    for (const auto& [level, amount] : cost.transferred)
        if (amount.ideal) costs["H_" + level_title(level)] = ideal_text(amount, cost);
    std::map<Level, std::int64_t> most;
    for (const RegionCost& region : cost.regions)
        for (const auto& [level, own] : region.levels) {
            // The kernel that holds most speaks for all; among equals the first.
            const auto [held, is_first] = most.try_emplace(level, own.memory.bytes());
            if (!is_first && own.memory.bytes() <= held->second) continue;
            held->second = own.memory.bytes();
            costs["M_" + level_title(level)] =
                own.memory.ideal ? ideal_text(own.memory, region) : std::string();
        }
    return costs;
}

}  // namespace

std::vector<drawing::CostChange> changed_costs(const Cost& before, const Cost& after) {
    const std::map<std::string, std::string> now = closed_costs(after);
    std::vector<drawing::CostChange> changes;
    for (const auto& [title, formula] : closed_costs(before)) {
        const auto found = now.find(title);
        const std::string next = found == now.end() ? "" : found->second;
        if (formula.empty() || next == formula) continue;
        changes.push_back({title + " = " + formula, next.empty() ? "" : title + " = " + next});
    }
    return changes;
}

double columns(int count) {
    return drawing::kTerminalCell * count;
}

std::string terminal_picture(const State& state, const Cost& cost, bool color) {
    PictureOptions options;
    options.medium = drawing::Medium::Terminal;
    options.max_width = columns(terminal_width());
    const Result<drawing::Canvas> canvas = picture_of(state, cost, options);
    invariant(canvas.has_value(), "a terminal's picture has no graph that fails");
    return drawing::render_text(*canvas, color);
}

}  // namespace napkin::cli
