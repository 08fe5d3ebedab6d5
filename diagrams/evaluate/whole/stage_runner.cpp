#include "diagrams/evaluate/whole/stage_runner.h"

#include <algorithm>

#include "diagrams/evaluate/arithmetic.h"
#include "diagrams/evaluate/messages.h"
#include "diagrams/evaluate/whole/vectorised.h"
#include "diagrams/overloaded.h"
#include "diagrams/rounding.h"

namespace napkin::evaluation {
namespace {

/// The axis along which more reads lie one after another: of the last of two lists.
bool reads_lie_along(const Program& program, AxisId axis, AxisId other) {
    const auto count = [&](AxisId along) {
        int reads = 0;
        for (const Node& node : program.nodes) {
            if (node.kind != Node::Kind::Read || !node.offset) continue;
            for (const auto& [each, coefficient] : node.offset->terms)
                if (each == along && coefficient == 1) ++reads;
        }
        return reads;
    };
    return count(axis) > count(other);
}

StagePrograms::Term compile_term(const Diagram& diagram, const Fold& fold, const ProductTerm& term,
                                 const Strides& strides) {
    StagePrograms::Term result;
    result.term = &term;
    result.left = compile(diagram, term.left, strides);
    result.right = compile(diagram, term.right, strides);
    result.both = compile(diagram, apply(Function::Multiply, {term.left, term.right}), strides);
    const AxisId depth = fold.over.back();
    if (!term.rows.empty())
        result.left_transposed = reads_lie_along(result.left, term.rows.back(), depth);
    if (!term.columns.empty())
        result.right_transposed = !reads_lie_along(result.right, term.columns.back(), depth);
    return result;
}

}  // namespace

StagePrograms::StagePrograms(const Diagram& diagram, const Stage& stage)
    : strides(strides_of(diagram)) {
    for (const Part& part : stage.parts)
        for (const ArrayId target : diagram[part.statement].targets) {
            std::int64_t stride = 1;
            for (std::size_t at = diagram[target].axes.size(); at-- > 0;) {
                strides[target.index()][at] = stride;
                stride *= count_of(diagram, stage, part, diagram[target].axes[at]);
            }
        }
    for (const Part& part : stage.parts) {
        const Statement& statement = diagram[part.statement];
        OfPart& programs = parts.emplace_back();
        programs.code = compile(diagram, statement, strides);
        if (!part.sum) continue;
        for (const ProductTerm& term : part.sum->terms)
            programs.terms.push_back(
                compile_term(diagram, std::get<Fold>(statement.body), term, strides));
        if (part.sum->rest) programs.rest.push_back(compile(diagram, *part.sum->rest, strides));
    }
}

StageRunner::StageRunner(const Diagram& diagram, const Stage& stage, const StagePrograms& programs,
                         const KnownArrays& known, Tensors& outputs)
    : LaneEvaluator(diagram, exponentials),
      stage_(stage),
      programs_(programs),
      known_(known),
      outputs_(outputs),
      origin_(stage.extents.size()),
      first_(stage.extents.size()),
      keys_(stage.parts.size()),
      axes_(diagram.axes.size()) {}

Dense StageRunner::dense(ArrayId array) const {
    if (const auto found = held_.find(array); found != held_.end())
        return {found->second.values.data(), found->second.origin};
    if (known_[array.index()] == nullptr)
        throw ContractError(messages::missing_input(diagram_, array));
    return {known_[array.index()], 0};
}

void StageRunner::fetch(ArrayId array, std::span<const Offset> offsets, double* out) {
    const Dense there = dense(array);
    for (std::size_t lane = 0; lane < offsets.size(); ++lane)
        out[lane] = there.values[offsets[lane] - there.origin];
}

void StageRunner::run(std::int64_t block) {
    set_block(block);
    for (std::size_t at = 0; at < stage_.parts.size(); ++at) {
        std::vector<std::int64_t> key = key_of(stage_.parts[at]);
        if (keys_[at] == key) continue;
        compute(stage_.parts[at], programs_.parts[at]);
        keys_[at] = std::move(key);
    }
    keep_roots();
}

/// Blocks are all of one size: the last ones of a dimension begin earlier.
void StageRunner::set_block(std::int64_t block) {
    for (std::size_t at = stage_.extents.size(); at-- > 0;) {
        const std::int64_t size = stage_.block[at];
        const std::int64_t count = ceil_quotient(stage_.extents[at], size);
        first_[at] = block % count * size;
        origin_[at] = std::min(first_[at], stage_.extents[at] - size);
        block /= count;
    }
}

std::vector<std::int64_t> StageRunner::key_of(const Part& part) const {
    std::vector<std::int64_t> key;
    for (const auto& [axis, at] : part.tied) key.push_back(origin_[at]);
    return key;
}

StageRunner::Ranges StageRunner::ranges_of(const Part& part,
                                           const std::vector<AxisId>& axes) const {
    Ranges ranges;
    for (const AxisId axis : axes) {
        const auto tie = part.tied.find(axis);
        ranges.push_back({axis, tie == part.tied.end() ? 0 : origin_[tie->second],
                          count_of(diagram_, stage_, part, axis)});
    }
    return ranges;
}

void StageRunner::hold(const Part& part, ArrayId array) {
    Held& block = held_[array];
    std::int64_t size = 1;
    block.origin = 0;
    const Ranges ranges = ranges_of(part, diagram_[array].axes);
    for (std::size_t at = 0; at < ranges.size(); ++at) {
        block.origin += ranges[at].low * programs_.strides[array.index()][at];
        size *= ranges[at].count;
    }
    block.values.resize(static_cast<std::size_t>(size));
}

void StageRunner::keep_roots() {
    for (const ArrayId root : stage_.roots) {
        const Dense there = dense(root);
        Tensor& output = outputs_.at(root);
        Ranges ranges;
        for (std::size_t at = 0; at < first_.size(); ++at)
            ranges.push_back(
                {diagram_[root].axes[at], first_[at], origin_[at] + stage_.block[at] - first_[at]});
        const std::vector<Offset> from = offsets_along(root, ranges);
        std::size_t lane = 0;
        for_each_index(ranges, [&] {
            std::int64_t place = 0;
            for (std::size_t at = 0; at < ranges.size(); ++at)
                place = place * output.extents[at] + axes_[ranges[at].axis.index()].base;
            output.values[static_cast<std::size_t>(place)] =
                there.values[from[lane++] - there.origin];
        });
    }
}

/// The element of a held array at the lanes' indices.
double& StageRunner::element(ArrayId array) {
    Held& block = held_.at(array);
    Offset offset = -block.origin;
    const std::vector<AxisId>& axes = diagram_[array].axes;
    for (std::size_t at = 0; at < axes.size(); ++at)
        offset += axes_[axes[at].index()].base * programs_.strides[array.index()][at];
    return block.values[static_cast<std::size_t>(offset)];
}

void StageRunner::compute(const Part& part, const StagePrograms::OfPart& programs) {
    const Statement& statement = diagram_[part.statement];
    for (const ArrayId target : statement.targets) hold(part, target);
    const ArrayId target = statement.targets.front();
    std::visit(
        overloaded{
            [&](const Map&) {
                fill(programs.code.values.front(), ranges_of(part, diagram_[target].axes),
                     held_.at(target).values.data());
            },
            [&](const Fold& fold) {
                if (!programs.terms.empty())
                    compute_sum(part, fold, programs);
                else if (fold.every_prefix)
                    compute_scan(part, fold, programs.code);
                else
                    compute_fold(part, fold, programs.code);
            },
            [&](const Select& select) { compute_select(part, select, programs.code); },
            [&](const Opaque&) { throw ContractError(messages::opaque_box(diagram_, statement)); },
        },
        statement.body);
    for (const ArrayId each : statement.targets)
        if (diagram_[each].rounds)
            for (double& value : held_.at(each).values)
                value = round_to(diagram_[each].type, value);
}

void StageRunner::fill(const Program& program, const Ranges& ranges, double* out) {
    for_each_batch(ranges, axes_, offsets_, [&](std::size_t count) {
        const Value value = evaluate(program, {count, axes_, {}});
        if (value.uniform())
            std::fill_n(out, count, value.scalar);
        else
            std::copy_n(value.lanes, count, out);
        out += count;
    });
}

void StageRunner::compute_fold(const Part& part, const Fold& fold, const CompiledStatement& code) {
    const Statement& statement = diagram_[part.statement];
    const Ranges over = ranges_of(part, fold.over);
    for_each_index(ranges_of(part, diagram_[statement.targets.front()].axes), [&] {
        std::vector<double> state = initial_state(fold, code, axes_);
        for_each_batch(over, axes_, offsets_, [&](std::size_t count) {
            fold_lanes(fold, code, {count, axes_, {}}, state);
        });
        for (std::size_t at = 0; at < state.size(); ++at)
            element(statement.targets[at]) = state[at];
    });
}

void StageRunner::compute_scan(const Part& part, const Fold& fold, const CompiledStatement& code) {
    const Statement& statement = diagram_[part.statement];
    const AxisId along = fold.over.front();
    Ranges rows = ranges_of(part, diagram_[statement.targets.front()].axes);
    std::erase_if(rows, [&](const IndexRange& range) { return range.axis == along; });
    for_each_index(rows, [&] {
        std::vector<double> state = initial_state(fold, code, axes_);
        for_each_batch(ranges_of(part, fold.over), axes_, offsets_, [&](std::size_t count) {
            std::vector<Value> values;
            for (const Program& program : code.values)
                values.push_back(evaluate(program, {count, axes_, {}}));
            const IndexLanes lanes = axes_[along.index()];
            for (std::size_t lane = 0; lane < count; ++lane) {
                combine(fold.monoid, code, state, values, lane);
                axes_[along.index()] = {lanes.at(lane), 0, nullptr};
                for (std::size_t at = 0; at < state.size(); ++at)
                    element(statement.targets[at]) = state[at];
            }
        });
    });
}

void StageRunner::compute_select(const Part& part, const Select& select,
                                 const CompiledStatement& code) {
    const Statement& statement = diagram_[part.statement];
    Ranges rows = ranges_of(part, diagram_[statement.targets.front()].axes);
    std::erase_if(rows, [&](const IndexRange& range) { return range.axis == select.rank; });
    const std::int64_t ranks = select.rank ? count_of(diagram_, stage_, part, *select.rank) : 1;
    std::vector<double> values(static_cast<std::size_t>(diagram_[select.over].extent));
    for_each_index(rows, [&] {
        fill(code.values.front(), ranges_of(part, {select.over}), values.data());
        const std::vector<std::int64_t> order = ranking(values, ranks);
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            if (select.rank) axes_[select.rank->index()] = {rank, 0, nullptr};
            const std::int64_t winner = order[static_cast<std::size_t>(rank)];
            element(statement.targets[0]) = values[static_cast<std::size_t>(winner)];
            element(statement.targets[1]) = static_cast<double>(winner);
        }
    });
}

std::vector<Offset> StageRunner::offsets_along(ArrayId array, const Ranges& ranges) const {
    std::vector<Offset> offsets = {0};
    const std::vector<AxisId>& axes = diagram_[array].axes;
    for (const IndexRange& range : ranges) {
        const auto found = std::find(axes.begin(), axes.end(), range.axis);
        const Offset stride =
            found == axes.end()
                ? 0
                : programs_.strides[array.index()][static_cast<std::size_t>(found - axes.begin())];
        std::vector<Offset> longer;
        longer.reserve(offsets.size() * static_cast<std::size_t>(range.count));
        for (const Offset offset : offsets)
            for (std::int64_t index = 0; index < range.count; ++index)
                longer.push_back(offset + (range.low + index) * stride);
        offsets = std::move(longer);
    }
    return offsets;
}

}  // namespace napkin::evaluation
