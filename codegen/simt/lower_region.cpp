#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/fold_constants.h"
#include "codegen/simt/simt_lowering.h"
#include "diagrams/contains.h"
#include "diagrams/overloaded.h"
#include "schedule/plain_block.h"

namespace napkin::lowering {
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

}  // namespace

SimtLowering::SimtLowering(const State& state, const RegionProgram& region,
                           const EmitOptions& options)
    : RegionFrame(state, region, options) {}

LoweredRegion SimtLowering::run() {
    find_collected(region_.body);
    collect_aliases(region_.body);
    program_.threads = options_.threads > 0 ? options_.threads
                                            : static_cast<int>(schedule::plain_threads(region_));
    Body body;
    const std::vector<TileStatement>& inner = lower_grid(body);
    lower(inner, body);
    program_.body = std::move(body);
    kernel::place_tiles(program_);
    kernel::insert_barriers(program_);
    return finish();
}

/// A save inward to outward of one type needs no copy where both hold the same: then the inner tile
/// is the outer one. A chunk of a stream further in is only a part of it.
void SimtLowering::collect_aliases(const std::vector<TileStatement>& statements) {
    for_leaves(statements, [&](const TileStatement& statement) {
        const Save* save = std::get_if<Save>(&statement.node);
        if (save == nullptr || !save->target || !materialised(*save->target)) return;
        const Variable& from = region_.variables[save->source.index()];
        const Variable& to = region_.variables[save->target->index()];
        if (from.type == to.type && !collected_.contains(*save->target))
            aliases_[save->source] = *save->target;
    });
}

/// Tiles that chunks are saved to, further out than where those are streamed, by the loop.
void SimtLowering::find_collected(const std::vector<TileStatement>& statements) {
    for (const TileStatement& statement : statements) {
        if (const Parallel* parallel = std::get_if<Parallel>(&statement.node))
            find_collected(parallel->body);
        const Loop* loop = std::get_if<Loop>(&statement.node);
        if (loop == nullptr) continue;
        for_leaves(loop->body, [&](const TileStatement& inner) {
            const Save* save = std::get_if<Save>(&inner.node);
            if (save == nullptr || !save->target || !materialised(*save->target)) return;
            const bool outside = region_.variables[save->target->index()].level < loop->level;
            const bool part = contains(region_.arrays[save->array.index()].axes, loop->axis);
            if (outside && part && collected_.insert(*save->target).second)
                collected_before_[number_of(*loop)].push_back(*save->target);
        });
        find_collected(loop->body);
    }
}

VariableId SimtLowering::storage(VariableId variable) const {
    const auto found = aliases_.find(variable);
    return found == aliases_.end() ? variable : storage(found->second);
}

bool SimtLowering::materialised(VariableId variable) const {
    return region_.variables[variable.index()].level >= Level::Block;
}

void SimtLowering::lower(const std::vector<TileStatement>& statements, Body& body) {
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

/// Leaves out chunks that no mask lets through, where those that one does are neighbours; whether
/// nothing is left to ask.
bool SimtLowering::limit_to_visible(const Loop& loop, kernel::For& code, Body& body) {
    if (loop.visible.empty()) return true;
    const std::optional<std::vector<ChunkProgression>> chunks =
        IntervalPrinter(axes_, ranges_, sizes_)
            .chunks(loop.visible, loop.axis, loop.size, names_, body);
    if (!chunks || chunks->size() != 1 || chunks->front().origin) return false;
    const ChunkProgression& only = chunks->front();
    std::string text = "where";
    for (std::size_t i = 0; i < loop.visible.size(); ++i)
        text += (i == 0 ? " " : " and ") + napkin::print(scope_, loop.visible[i]);
    code.begin = expression_of(only.first);
    const std::string end = names_.fresh("end");
    body.push_back(kernel::define("int", end,
                                  folded(choose(only.when, expression_of(only.end), code.begin)),
                                  std::move(text)));
    code.end = kernel::variable(end);
    return true;
}

void SimtLowering::lower_loop(const Loop& loop, Body& body) {
    if (const auto before = collected_before_.find(number_of(loop));
        before != collected_before_.end())
        for (const VariableId whole : before->second) define_target(whole);
    const AxisRange outer = ranges_[loop.axis];
    const std::string start = next_name(axis_names_[loop.axis.index()].start);
    kernel::For loop_code;
    loop_code.name = start;
    loop_code.begin = expression_of(outer.start);
    loop_code.end = expression_of(outer.start + outer.count);
    loop_code.step = loop.size;
    multiples_[start] = std::gcd(divisor_of(outer.start), loop.size);
    loop_code.remark = fmt::format("chunks of {}", region_.axes[loop.axis.index()].name);
    const bool all_visited = limit_to_visible(loop, loop_code, body);
    narrow(loop.axis, loop.size, index_along(loop.axis, start), loop_code.body);
    if (!all_visited) {
        kernel::Expression somewhere =
            IntervalPrinter(axes_, ranges_, sizes_).may_hold(loop.visible, names_, loop_code.body);
        const std::string name = names_.fresh("visible");
        loop_code.body.push_back(kernel::define("bool", name, std::move(somewhere)));
        loop_code.body.push_back({kernel::SkipUnless{kernel::variable(name)}});
    }
    lower(loop.body, loop_code.body);
    body.push_back({std::move(loop_code)});
    ranges_[loop.axis] = outer;
}

}  // namespace napkin::lowering
