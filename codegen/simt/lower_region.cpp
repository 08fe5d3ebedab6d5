#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/simt/region_lowering.h"
#include "diagrams/overloaded.h"

namespace napkin::simt {
namespace {

template <class Visit>
void for_leaves(const std::vector<TileStatement>& body, const Visit& visit) {
    for (const TileStatement& statement : body) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            for_leaves(parallel->body, visit);
        else if (const Loop* loop = std::get_if<Loop>(&statement.node))
            for_leaves(loop->body, visit);
        else
            visit(statement);
    }
}

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

RegionLowering::RegionLowering(const State& state, const RegionProgram& region,
                               const EmitOptions& options)
    : state_(state), region_(region), options_(options), scope_(scope_of(region)) {
    program_.name = names_.fresh(state.diagram.name + "_" + region.name);
}

LoweredRegion RegionLowering::run() {
    name_axes();
    find_run_time_sizes();
    collect_aliases(region_.body);
    choose_threads();
    Body body;
    const std::vector<TileStatement>& inner = lower_grid(body);
    lower(inner, body);
    program_.body = std::move(body);
    for (const AxisId axis : used_sizes_) {
        KernelParameter parameter;
        parameter.kind = KernelParameter::Kind::Size;
        parameter.name = axis_names_[axis.index()].size;
        parameter.axis = axis;
        program_.parameters.push_back(std::move(parameter));
    }
    kernel::place_tiles(program_);
    kernel::insert_barriers(program_);
    LoweredRegion result;
    result.grid = grid_;
    result.arrays = arrays_;
    for (std::size_t i = 0; i < region_.axes.size(); ++i) {
        const Axis& axis = region_.axes[i];
        if (!run_time_[i])
            result.fixed[axis.name] = axis.extent;
        else if (held_.contains(AxisId{static_cast<std::uint32_t>(i)}))
            result.at_most[axis.name] = axis.extent;
    }
    result.program = std::move(program_);
    return result;
}

/// Names for every axis: `q0` where its part starts, `nq` how much there is, `iq` the element.
void RegionLowering::name_axes() {
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

std::string RegionLowering::next_name(const std::string& reserved) {
    return used_.insert(reserved).second ? reserved : names_.fresh(reserved);
}

void RegionLowering::find_run_time_sizes() {
    std::set<AxisId> ranged;
    collect_ranged(region_.body, ranged);
    run_time_.assign(region_.axes.size(), false);
    std::set<std::string> symbols;
    for (std::size_t i = 0; i < region_.axes.size(); ++i) {
        const Axis& axis = region_.axes[i];
        const bool chosen =
            options_.dynamic_sizes && ranged.contains(AxisId{static_cast<std::uint32_t>(i)});
        if (!axis.dynamic && !chosen) continue;
        run_time_[i] = true;
        for (const std::string& symbol : symbols_of(axis.size)) symbols.insert(symbol);
        symbols.insert(axis.name);
    }
    // A size made of run-time sizes is one.
    for (std::size_t i = 0; i < region_.axes.size(); ++i)
        for (const std::string& symbol : symbols_of(region_.axes[i].size))
            if (symbols.contains(symbol)) run_time_[i] = true;
    for (std::size_t i = 0; i < region_.axes.size(); ++i) {
        sizes_.push_back(run_time_[i] ? index_atom(axis_names_[i].size)
                                      : IndexForm(region_.axes[i].extent));
        if (run_time_[i]) used_sizes_.insert(AxisId{static_cast<std::uint32_t>(i)});
    }
    for (std::size_t i = 0; i < region_.axes.size(); ++i) {
        const AxisId axis{static_cast<std::uint32_t>(i)};
        ranges_[axis] = {0, sizes_[i], region_.axes[i].extent,
                         run_time_[i] ? std::optional(axis) : std::nullopt};
    }
}

/// A save inward to outward of one type needs no copy: the inner tile is the outer one.
void RegionLowering::collect_aliases(const std::vector<TileStatement>& statements) {
    for_leaves(statements, [&](const TileStatement& statement) {
        const Save* save = std::get_if<Save>(&statement.node);
        if (save == nullptr || !save->target || !materialised(*save->target)) return;
        const Variable& from = region_.variables[save->source.index()];
        const Variable& to = region_.variables[save->target->index()];
        if (from.type == to.type) aliases_[save->source] = *save->target;
    });
}

VariableId RegionLowering::storage(VariableId variable) const {
    const auto found = aliases_.find(variable);
    return found == aliases_.end() ? variable : storage(found->second);
}

bool RegionLowering::materialised(VariableId variable) const {
    return region_.variables[variable.index()].level >= Level::Block;
}

/// As many threads as the largest operation of the region has use for.
void RegionLowering::choose_threads() {
    constexpr std::int64_t kElementsPerThread = 8;
    constexpr std::int64_t kMost = 256;
    program_.threads = options_.threads;
    if (program_.threads > 0) return;
    std::int64_t most = 1;
    for (const Variable& variable : region_.variables) {
        if (variable.level < Level::Block) continue;
        std::int64_t elements = 1;
        for (const std::int64_t extent : variable.capacity_extent) elements *= extent;
        most = std::max(most, elements);
    }
    std::int64_t threads = 32;
    while (threads < kMost && threads * kElementsPerThread < most) threads *= 2;
    program_.threads = static_cast<int>(threads);
}

void RegionLowering::narrow(AxisId axis, std::int64_t size, const IndexForm& start, Body& body) {
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
        {kernel::Declare{"int", name, print(minimum(IndexForm(range.capacity), rest)), true, {}}});
    range.count = index_atom(name);
}

/// The outermost parallel loops become blocks; returns what is inside them.
const std::vector<TileStatement>& RegionLowering::lower_grid(Body& body) {
    const std::vector<TileStatement>* inside = &region_.body;
    std::vector<const Parallel*> chain;
    while (inside->size() == 1) {
        const Parallel* parallel = std::get_if<Parallel>(&inside->front().node);
        if (parallel == nullptr || parallel->level > Level::Block) break;
        chain.push_back(parallel);
        inside = &parallel->body;
    }
    if (chain.empty()) return *inside;

    // The number of groups of each, for which a group of the same axis further out matters.
    std::vector<IndexForm> counts;
    std::map<AxisId, std::int64_t> enclosing;
    for (const Parallel* parallel : chain) {
        const auto outer = enclosing.find(parallel->axis);
        GridAxis axis{parallel->axis, parallel->size, std::nullopt};
        IndexForm divided = sizes_[parallel->axis.index()];
        if (outer != enclosing.end()) {
            axis.within = outer->second;
            divided = minimum(IndexForm(outer->second), divided);
        }
        counts.push_back(ceil_divide(divided, parallel->size));
        enclosing[parallel->axis] = parallel->size;
        grid_.push_back(axis);
    }
    // The last one varies fastest.
    std::vector<IndexForm> groups(chain.size());
    IndexForm rest = index_atom("int(blockIdx.x)");
    std::size_t significant = chain.size();
    while (significant > 0 && counts[significant - 1].is_constant(1)) --significant;
    std::size_t first = 0;
    while (first < chain.size() && counts[first].is_constant(1)) ++first;
    for (std::size_t i = chain.size(); i-- > 0;) {
        if (counts[i].is_constant(1)) continue;
        const std::string count = print_factor(counts[i]);
        const std::string block = print_factor(rest);
        groups[i] = i == first ? rest : index_atom(fmt::format("({} % {})", block, count));
        if (i != first) {
            const std::string name = names_.fresh("group");
            const std::string quotient = fmt::format("{} / {}", block, count);
            // Declared before it is used by the groups further out.
            groups[i] =
                index_atom(names_.fresh("group_" + region_.axes[chain[i]->axis.index()].name));
            body.push_back({kernel::Declare{
                "int", print(groups[i]), fmt::format("{} % {}", block, count), true, {}}});
            body.push_back({kernel::Declare{"int", name, quotient, true, {}}});
            rest = index_atom(name);
        }
    }
    for (std::size_t i = 0; i < chain.size(); ++i) {
        const AxisId axis = chain[i]->axis;
        const AxisRange outer = ranges_[axis];
        IndexForm start = outer.start + groups[i] * chain[i]->size;
        if (!start.is_constant()) {
            const std::string name = next_name(axis_names_[axis.index()].start);
            body.push_back({kernel::Declare{"int", name, print(start), true, {}}});
            multiples_[name] = std::gcd(divisor_of(outer.start), chain[i]->size);
            start = index_atom(name);
        }
        if (grid_[i].within && !start.is_constant())
            body.push_back({kernel::LeaveIf{
                fmt::format("{} >= {}", print(start), print(outer.start + outer.count))}});
        narrow(axis, chain[i]->size, start, body);
    }
    return *inside;
}

void RegionLowering::lower(const std::vector<TileStatement>& statements, Body& body) {
    for (const TileStatement& statement : statements)
        std::visit(
            overloaded{
                // Its groups are independent: every statement is carried out for all of them.
                [&](const Parallel& parallel) { lower(parallel.body, body); },
                [&](const Loop& loop) { lower_loop(loop, body); },
                [&](const Load& load) { lower_load(load, statement.span, body); },
                [&](const Compute& compute) { lower_compute(compute, statement.span, body); },
                [&](const Save& save) { lower_save(save, statement.span, body); }},
            statement.node);
}

void RegionLowering::lower_loop(const Loop& loop, Body& body) {
    const AxisRange outer = ranges_[loop.axis];
    const std::string start = next_name(axis_names_[loop.axis.index()].start);
    kernel::For loop_code;
    loop_code.name = start;
    loop_code.begin = print(outer.start);
    loop_code.end = print(outer.start + outer.count);
    loop_code.step = std::to_string(loop.size);
    multiples_[start] = std::gcd(divisor_of(outer.start), loop.size);
    loop_code.remark = fmt::format("chunks of {}", region_.axes[loop.axis.index()].name);
    narrow(loop.axis, loop.size, index_atom(start), loop_code.body);
    const IntervalPrinter intervals(ranges_, sizes_);
    for (const Expression& condition : loop.visible) {
        const std::string code = intervals.may_hold(condition);
        if (code == "true") continue;
        const std::string name = names_.fresh("visible");
        loop_code.body.push_back(
            {kernel::Declare{"bool", name, code, true, napkin::print(scope_, condition)}});
        loop_code.body.push_back({kernel::SkipUnless{name}});
    }
    lower(loop.body, loop_code.body);
    body.push_back({std::move(loop_code)});
    ranges_[loop.axis] = outer;
}

std::vector<std::string> RegionLowering::comments(const std::string& what, Span span,
                                                  const std::string& via) const {
    std::vector<std::string> lines = {what};
    if (options_.sources != nullptr && span.end > span.begin)
        lines.push_back(options_.sources->describe(span) + (via.empty() ? "" : ", via " + via));
    return lines;
}

}  // namespace napkin::simt
