#include "codegen/lowering/region_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "diagrams/overloaded.h"
#include "schedule/statements.h"

namespace napkin::lowering {
namespace {

void collect_ranged(const std::vector<TileStatement>& body, std::set<AxisId>& ranged) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node)) {
            ranged.insert(parallel->axis);
            collect_ranged(parallel->body, ranged);
        } else if (const Loop* loop = std::get_if<Loop>(&statement.node)) {
            ranged.insert(loop->axis);
            collect_ranged(loop->body, ranged);
        }
    }
}

}  // namespace

RegionFrame::RegionFrame(const State& state, const RegionProgram& region,
                         const EmitOptions& options)
    : state_(state),
      region_(region),
      options_(options),
      loops_(schedule::loops_of(region)),
      scope_(scope_of(region)),
      names_(Names::of_kernel(options.target)) {
    program_.name = names_.fresh(state.diagram.name + "_" + region.name + options.ending);
    name_axes();
    find_run_time_sizes();
}

LoweredRegion RegionFrame::finish() {
    for (const AxisId axis : used_sizes_) {
        KernelParameter parameter;
        parameter.kind = KernelParameter::Kind::Size;
        parameter.name = axis_names_[axis.index()].size;
        parameter.axis = axis;
        program_.parameters.push_back(std::move(parameter));
    }
    finish_strides();
    LoweredRegion result;
    result.grid = grid_;
    result.arrays = arrays_;
    // Those after the diagram's are made of them.
    for (std::size_t i = 0; i < state_.diagram.axes.size(); ++i) {
        const Axis& axis = region_.axes[i];
        if (!run_time_[i])
            result.fixed[axis.name] = axis.extent;
        else if (held_.contains(AxisId{static_cast<std::uint32_t>(i)}))
            result.at_most[axis.name] = axis.extent;
        else
            result.at_most[axis.name] = limits_[i];
    }
    result.program = std::move(program_);
    return result;
}

/// Names for every axis: `q0` where its part starts, `nq` how much there is, `iq` the element.
void RegionFrame::name_axes() {
    for (const Axis& axis : region_.axes) {
        std::string base = Names::identifier(axis.name);
        const auto wanted = [&] {
            return std::vector<std::string>{base + "0", "n" + base, "i" + base, "size_" + base};
        };
        while (!names_.are_free(wanted())) base += "_";
        axis_names_.push_back({names_.fresh(base + "0"), names_.fresh("n" + base),
                               names_.fresh("i" + base), names_.fresh("size_" + base)});
    }
}

std::string RegionFrame::next_name(const std::string& reserved) {
    return used_.insert(reserved).second ? reserved : names_.fresh(reserved);
}

void RegionFrame::find_run_time_sizes() {
    std::set<AxisId> ranged;
    collect_ranged(region_.body, ranged);
    run_time_.assign(region_.axes.size(), false);
    std::set<Symbol> symbols;
    for (std::size_t i = 0; i < region_.axes.size(); ++i) {
        const Axis& axis = region_.axes[i];
        const bool chosen =
            options_.dynamic_sizes && ranged.contains(AxisId{static_cast<std::uint32_t>(i)});
        if (!axis.dynamic && !chosen) continue;
        run_time_[i] = true;
        for (const Symbol symbol : symbols_of(axis.size)) symbols.insert(symbol);
        symbols.insert(axis_size(AxisId{static_cast<std::uint32_t>(i)}));
    }
    // A size made of run-time sizes is one.
    for (std::size_t i = 0; i < region_.axes.size(); ++i)
        for (const Symbol symbol : symbols_of(region_.axes[i].size))
            if (symbols.contains(symbol)) run_time_[i] = true;
    axes_ = region_.axes;
    for (std::size_t i = 0; i < axes_.size(); ++i) axes_[i].dynamic = run_time_[i];
    limits_ = size_limits(region_, run_time_);
    for (std::size_t i = 0; i < region_.axes.size(); ++i) {
        sizes_.push_back(run_time_[i] ? index_atom(axis_names_[i].size, {1, limits_[i]})
                                      : IndexForm(region_.axes[i].extent));
        if (run_time_[i]) used_sizes_.insert(AxisId{static_cast<std::uint32_t>(i)});
    }
    for (std::size_t i = 0; i < region_.axes.size(); ++i) {
        const AxisId axis{static_cast<std::uint32_t>(i)};
        ranges_[axis] = {0, sizes_[i], region_.axes[i].extent,
                         run_time_[i] ? std::optional(axis) : std::nullopt};
    }
}

IndexForm RegionFrame::index_along(AxisId axis, const std::string& name) const {
    return counted(name, limits_[axis.index()] - 1);
}

IndexForm RegionFrame::counted(const std::string& name, std::int64_t most) {
    return index_atom(name, {0, most});
}

void RegionFrame::narrow(AxisId axis, std::int64_t size, const IndexForm& start, Body& body) {
    AxisRange& range = ranges_[axis];
    const AxisRange outer = range;
    range.start = start;
    range.limits = std::nullopt;
    range.capacity = std::min(size, outer.capacity);
    if (run_time_[axis.index()]) range.capacity = size;
    // A group of one is never cut short.
    const bool divides = range.capacity == 1 ||
                         (outer.count.is_constant() && outer.count.constant % range.capacity == 0);
    if (divides) {
        range.count = range.capacity;
        return;
    }
    const IndexForm rest = outer.start + outer.count - start;
    const std::string name = next_name(axis_names_[axis.index()].count);
    body.push_back(
        kernel::define("int", name, expression_of(minimum(IndexForm(range.capacity), rest))));
    multiples_[name] = std::gcd(divisor_of(rest), range.capacity);
    range.count = counted(name, range.capacity);
}

kernel::Expression RegionFrame::define_int(const std::string& wanted, kernel::Expression value,
                                           Body& body) {
    const std::string name = names_.fresh(wanted);
    body.push_back(kernel::define("int", name, std::move(value)));
    return kernel::variable(name);
}

/// The numbers of two groups, the slow one of `down` in bands: in one of these the fast one, of
/// `across`, varies slowest. `plane` numbers both.
RegionFrame::Banded RegionFrame::in_bands(const kernel::Expression& plane,
                                          const kernel::Expression& down, const IndexForm& across,
                                          std::int64_t band, Body& body) {
    const kernel::Expression per_band = expression_of(across * band);
    const kernel::Expression top = define_int("band", plane / per_band * band, body);
    const kernel::Expression height =
        define_int("band_height", kernel::call("minimum", {band, down - top}), body);
    return {top + plane % per_band % height, plane % per_band / height};
}

/// The groups of two axes, `slow` and the one after it, in bands of the slower; returns what is
/// left of the tile's number for the axes further out.
IndexForm RegionFrame::banded(std::size_t slow, bool is_first, const Grid& grid,
                              const IndexForm& tile, std::vector<IndexForm>& groups, Body& body) {
    const std::vector<IndexForm>& counts = grid.counts;
    const kernel::Expression down = expression_of(counts[slow]);
    const IndexForm product = counts[slow] * counts[slow + 1];
    const kernel::Expression both =
        product.is_constant() ? expression_of(product) : down * expression_of(counts[slow + 1]);
    kernel::Expression plane = expression_of(tile);
    IndexForm rest;
    if (is_first) {
        plane = define_int("plane", plane, body);
    } else {
        plane = define_int("plane", expression_of(tile) % both, body);
        rest = index_atom(define_int("group", expression_of(tile) / both, body), {0, kAny32.high});
    }
    Banded numbers = in_bands(plane, down, counts[slow + 1], order_.band, body);
    groups[slow] = group_of(slow, grid, std::move(numbers.slow), body);
    groups[slow + 1] = group_of(slow + 1, grid, std::move(numbers.fast), body);
    return rest;
}

IndexForm RegionFrame::group_of(std::size_t i, const Grid& grid, kernel::Expression number,
                                Body& body) {
    const std::string& axis = region_.axes[grid.chain[i]->axis.index()].name;
    return index_atom(define_int("group_" + axis, std::move(number), body),
                      {0, range_of(grid.counts[i]).high - 1});
}

/// The graded group varies slowest, of so many of all others together, which then share their
/// loads in the cache; returns what is left of the tile's number for these, `several`.
IndexForm RegionFrame::graded_first(std::vector<std::size_t>& several, const Grid& grid,
                                    const IndexForm& tile, std::vector<IndexForm>& groups,
                                    Body& body) {
    const auto is_graded = [&](std::size_t i) { return grid.chain[i]->axis == order_.graded; };
    if (std::count_if(several.begin(), several.end(), is_graded) != 1) return tile;
    const auto graded = std::find_if(several.begin(), several.end(), is_graded);
    std::rotate(several.begin(), graded, graded + 1);
    IndexForm others = 1;
    kernel::Expression product = 1;
    for (auto i = several.begin() + 1; i != several.end(); ++i) {
        others = others * grid.counts[*i];
        product = std::move(product) * expression_of(grid.counts[*i]);
    }
    if (others.is_constant()) product = expression_of(others);
    if (others.is_constant() && others.constant <= order_.together) return tile;
    const std::size_t slowest = several.front();
    several.erase(several.begin());
    const Banded numbers =
        in_bands(expression_of(tile), product, grid.counts[slowest], order_.together, body);
    groups[slowest] = group_of(slowest, grid, numbers.fast, body);
    return index_atom(define_int("group", numbers.slow, body), {0, kAny32.high});
}

RegionFrame::Grid RegionFrame::find_grid() {
    Grid grid;
    grid.inside = &region_.body;
    while (grid.inside->size() == 1) {
        const Parallel* parallel = std::get_if<Parallel>(&grid.inside->front().node);
        if (parallel == nullptr || parallel->level > Level::Block) break;
        grid.chain.push_back(parallel);
        grid.inside = &parallel->body;
    }
    // The number of groups of each, for which a group of the same axis further out matters.
    std::map<AxisId, std::int64_t> enclosing;
    grid_.clear();
    for (const Parallel* parallel : grid.chain) {
        const auto outer = enclosing.find(parallel->axis);
        GridAxis axis{parallel->axis, parallel->size, std::nullopt};
        IndexForm divided = sizes_[parallel->axis.index()];
        if (outer != enclosing.end()) {
            axis.within = outer->second;
            divided = minimum(IndexForm(outer->second), divided);
        }
        grid.counts.push_back(ceil_divide(divided, parallel->size));
        enclosing[parallel->axis] = parallel->size;
        grid_.push_back(axis);
    }
    return grid;
}

bool RegionFrame::has_few_blocks() {
    constexpr std::int64_t kFew = 40;
    std::int64_t blocks = 1;
    for (const IndexForm& count : find_grid().counts) {
        if (!count.is_constant() || count.constant > kFew) return false;
        blocks *= count.constant;
    }
    return blocks <= kFew;
}

kernel::For RegionFrame::loop_over_tiles() {
    const auto place = [](const char* what) {
        return kernel::call("int", {member(kernel::variable(what), "x")});
    };
    kernel::For loop;
    loop.end = 1;
    for (const IndexForm& count : find_grid().counts)
        loop.end = std::move(loop.end) * expression_of(count);
    tile_ = names_.fresh("tile");
    loop.name = *tile_;
    loop.begin = place("blockIdx");
    loop.step = place("gridDim");
    // There and back: who has the longest tile of a turn has the shortest of the next.
    if (order_.graded) loop.next = kernel::call("next_there_and_back", {kernel::variable(*tile_)});
    return loop;
}

/// The outermost parallel loops become blocks; returns what is inside them.
const std::vector<TileStatement>& RegionFrame::lower_grid(Body& body) {
    const Grid grid = find_grid();
    const auto& [chain, counts, inside] = grid;
    if (chain.empty()) return *inside;
    std::vector<IndexForm> groups(chain.size());
    const kernel::Expression number =
        tile_ ? kernel::variable(*tile_)
              : kernel::call("int", {member(kernel::variable("blockIdx"), "x")});
    IndexForm rest = index_atom(number, {0, kAny32.high});
    // Groups that there are several of, from the slowest to the fastest.
    std::vector<std::size_t> several;
    for (std::size_t i = 0; i < chain.size(); ++i)
        if (!counts[i].is_constant(1)) several.push_back(i);
    if (tile_ && order_.graded) {
        rest = graded_first(several, grid, rest, groups, body);
    } else if (order_.band > 0 && several.size() >= 2 &&
               several.back() == several[several.size() - 2] + 1) {
        const std::size_t slow = several[several.size() - 2];
        rest = banded(slow, slow == several.front(), grid, rest, groups, body);
        several.resize(several.size() - 2);
    }
    while (!several.empty()) {
        const std::size_t i = several.back();
        several.pop_back();
        const kernel::Expression count = expression_of(counts[i]);
        const kernel::Expression block = expression_of(rest);
        const std::int64_t last = range_of(counts[i]).high - 1;
        if (several.empty()) {
            groups[i] = index_atom(block, {0, last});
        } else {
            const std::string quotient = names_.fresh("group");
            const std::string remainder =
                names_.fresh("group_" + region_.axes[chain[i]->axis.index()].name);
            body.push_back(kernel::define("int", remainder, block % count));
            body.push_back(kernel::define("int", quotient, block / count));
            groups[i] = counted(remainder, last);
            rest = counted(quotient, kAny32.high);
        }
    }
    for (std::size_t i = 0; i < chain.size(); ++i) {
        const AxisId axis = chain[i]->axis;
        const AxisRange outer = ranges_[axis];
        if (order_.reversed.contains(axis) && !counts[i].is_constant(1))
            groups[i] = counts[i] - 1 - groups[i];
        IndexForm start = outer.start + groups[i] * chain[i]->size;
        if (!start.is_constant()) {
            const std::string name = next_name(axis_names_[axis.index()].start);
            body.push_back(kernel::define("int", name, expression_of(start)));
            multiples_[name] = std::gcd(divisor_of(outer.start), chain[i]->size);
            start = index_along(axis, name);
        }
        if (grid_[i].within && !start.is_constant()) {
            const kernel::Expression end = expression_of(outer.start + outer.count);
            if (tile_)
                body.push_back({kernel::SkipUnless{expression_of(start) < end}});
            else
                body.push_back({kernel::LeaveIf{expression_of(start) >= end}});
        }
        narrow(axis, chain[i]->size, start, body);
    }
    return *inside;
}

std::vector<std::string> RegionFrame::comments(const std::string& what, Span span,
                                               const std::string& via) const {
    std::vector<std::string> lines = {what};
    if (options_.sources != nullptr && span.end > span.begin)
        lines.push_back(options_.sources->describe(span) + (via.empty() ? "" : ", via " + via));
    return lines;
}

std::uint32_t RegionFrame::number_of(const Loop& loop) const {
    const auto found = std::find(loops_.begin(), loops_.end(), &loop);
    invariant(found != loops_.end(), "a loop of another region");
    return static_cast<std::uint32_t>(found - loops_.begin());
}

std::string RegionFrame::text_of(const Statement& statement) const {
    const Diagram& scope = scope_;
    std::string text;
    for (std::size_t i = 0; i < statement.targets.size(); ++i) {
        const Array& array = scope[statement.targets[i]];
        text += (i > 0 ? ", " : "") + array.name;
        if (array.axes.empty()) continue;
        text += "[";
        for (std::size_t d = 0; d < array.axes.size(); ++d)
            text += (d > 0 ? ", " : "") + scope[array.axes[d]].name;
        text += "]";
    }
    const auto axes = [&](const std::vector<AxisId>& list) {
        std::string names;
        for (const AxisId axis : list) names += (names.empty() ? "" : ", ") + scope[axis].name;
        return names;
    };
    std::visit(overloaded{
                   [&](const Map& map) { text += " = " + napkin::print(scope, map.value); },
                   [&](const Fold& fold) {
                       const std::string& name = scope[fold.monoid].name;
                       const std::string head =
                           fold.every_prefix ? fmt::format("scan[{}] {}", axes(fold.over), name)
                                             : fmt::format("{}({})", name, axes(fold.over));
                       std::string values;
                       for (const Expression& value : fold.values)
                           values += (values.empty() ? " " : ", ") + napkin::print(scope, value);
                       const std::string seed =
                           fold.seed.empty() ? "" : napkin::print(scope, fold.seed.front());
                       if (fold.seed.empty())
                           text += " = " + head + values;
                       else if (fold.monoid == kSum)
                           text += fmt::format(" = {} + {}{}", seed, head, values);
                       else
                           text += fmt::format(" = {}({}, {}{})", name, seed, head, values);
                   },
                   [&](const Select& select) {
                       text +=
                           fmt::format(" = {}({}) {}", select.rank ? "topk" : "argmax",
                                       scope[select.over].name, napkin::print(scope, select.value));
                   },
                   [&](const Opaque& opaque) { text += " = " + opaque.name; },
               },
               statement.body);
    return text;
}

void RegionFrame::note_parameters(const Expression& expression, ExpressionScope& scope) {
    for (const ArrayId array : arrays_read(expression))
        if (region_.arrays[array.index()].role == ArrayRole::Parameter)
            scope.parameters[array] = parameter(array);
}

const std::string& RegionFrame::parameter(ArrayId array) {
    const auto [known, is_new] = scalars_.try_emplace(array);
    if (is_new) {
        const Array& info = region_.arrays[array.index()];
        KernelParameter parameter;
        parameter.kind = KernelParameter::Kind::Scalar;
        parameter.name = names_.fresh(info.name);
        parameter.array = array;
        parameter.type = info.type;
        known->second = parameter.name;
        program_.parameters.push_back(std::move(parameter));
    }
    return known->second;
}

void collect_conditions(const Expression& expression, bool data, std::vector<Expression>& found) {
    walk(expression, [&](const Expression& node) {
        const Apply* call = std::get_if<Apply>(&node.node);
        if (call == nullptr || call->function != Function::Select) return;
        const Expression& condition = call->arguments[0];
        if (axes_used(condition).empty() || (!data && !arrays_read(condition).empty())) return;
        if (std::find(found.begin(), found.end(), condition) == found.end())
            found.push_back(condition);
    });
}

}  // namespace napkin::lowering
