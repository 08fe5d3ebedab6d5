#include "derive/expand/phases.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "derive/derive_accumulator.h"
#include "derive/messages.h"
#include "derive/streams.h"

namespace napkin {

bool Phases::depends_on_stream(const Statement& statement,
                               const std::set<ArrayId>& dependent) const {
    const std::vector<AxisId> axes = axes_of(diagram_, statement);
    for (const Stream& stream : region_.streams)
        if (std::find(axes.begin(), axes.end(), stream.axis) != axes.end()) return true;
    const std::vector<ArrayId> inputs = inputs_of(statement);
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](ArrayId input) { return dependent.count(input) != 0; });
}

Result<bool> Phases::collect(OpaqueBoxes opaque) {
    std::set<ArrayId> defined;
    std::set<ArrayId> dependent;
    const bool streams = !region_.streams.empty();
    for (StatementId id : region_.statements) {
        const Statement& statement = diagram_[id];
        const Opaque* box = std::get_if<Opaque>(&statement.body);
        if (box != nullptr && opaque == OpaqueBoxes::Refuse)
            return messages::opaque_box(statement.span, box->name);
        for (ArrayId target : statement.targets) defined.insert(target);
        if (streams && depends_on_stream(statement, dependent)) {
            for (ArrayId target : statement.targets) dependent.insert(target);
        } else {
            statements_[streams ? initial_at(0) : kAll].push_back(statement);
        }
    }
    if (streams)
        if (const Result<bool> streamed = collect_accumulator(defined); !streamed) return streamed;
    views_.set_defined(std::move(defined));
    rewrite_reads();
    return true;
}

Result<bool> Phases::collect_accumulator(std::set<ArrayId>& defined) {
    auto derived =
        derive_streams(diagram_, region_, streamed_axes(region_), relabelling_.wire_types);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&derived))
        return messages::step_refused(diagram_[region_.statements.front()].span, "stream",
                                      refusal->reason, refusal->help);
    Accumulator& accumulator = std::get<Accumulator>(derived);
    for (std::size_t i = 0; i < accumulator.arrays.size(); ++i)
        defined.insert(ArrayId{static_cast<std::uint32_t>(diagram_.arrays.size() + i)});
    out_.arrays.insert(out_.arrays.end(), accumulator.arrays.begin(), accumulator.arrays.end());
    collect_phases(accumulator);
    out_.accumulator = std::move(accumulator);
    return true;
}

void Phases::collect_phases(const Accumulator& accumulator) {
    const std::size_t depth = streamed_.size();
    streamed_.push_back(accumulator.axes);
    std::vector<Statement>& before = statements_[initial_at(depth)];
    before.insert(before.end(), accumulator.initial.begin(), accumulator.initial.end());
    statements_[body_at(depth)] = accumulator.body;
    statements_[tail_at(depth)] = accumulator.tail;
    for (const Accumulator& inside : accumulator.inside) collect_phases(inside);
}

/// As they are run: what is streamed inside a chunk comes before the rest of its body.
std::vector<Phase> Phases::in_order() const {
    if (streamed_.empty()) return {kAll};
    std::vector<Phase> phases;
    for (std::size_t depth = 0; depth < streamed_.size(); ++depth)
        phases.push_back(initial_at(depth));
    for (std::size_t depth = streamed_.size(); depth-- > 0;) {
        phases.push_back(body_at(depth));
        phases.push_back(tail_at(depth));
    }
    return phases;
}

void Phases::rewrite_reads() {
    for (const Phase phase : in_order())
        for (Statement& statement : statements_[phase]) {
            statement = views_.rewrite_reads(std::move(statement));
            for (ArrayId array : read_for(statement)) {
                if (phase != tail_at(0)) read_early_.insert(array);
                read_at_[array] = std::max(read_at_[array], phase.depth);
            }
            if (phase == body_at(0) || phase.depth > 0)
                chunked_.insert(statement.targets.begin(), statement.targets.end());
        }
    const std::size_t read = views_.views().size();
    if (out_.accumulator) rewrite_gauges(*out_.accumulator);
    invariant(views_.views().size() == read, "a gauge reads what no statement does");
    for (const Statement& statement : statements_[initial_at(0)])
        for (ArrayId target : statement.targets) chunked_.erase(target);  // a state is no chunk
}

/// What a gather is indexed by is read when the gather is; outer gathers come after inner ones.
std::set<ArrayId> Phases::read_for(const Statement& statement) const {
    const std::vector<ArrayId> inputs = inputs_of(statement);
    std::set<ArrayId> read(inputs.begin(), inputs.end());
    for (std::size_t i = views_.views().size(); i-- > 0;)
        if (const View& view = views_.views()[i]; read.contains(view.view))
            for (const Expression& index : view.gather) read.merge(arrays_read(index));
    return read;
}

std::vector<View> Phases::late_views(const Statement& statement) const {
    const std::set<ArrayId> read = read_for(statement);
    std::vector<View> late;
    for (const View& view : views_.views())
        if (read.contains(view.view) && is_late(view)) late.push_back(view);
    return late;
}

void Phases::rewrite_gauges(Accumulator& accumulator) {
    for (Gauge& gauge : accumulator.gauges) {
        gauge.value = views_.rewrite_expression(std::move(gauge.value));
        if (gauge.weight) gauge.weight = views_.rewrite_expression(std::move(*gauge.weight));
    }
    for (Accumulator& inside : accumulator.inside) rewrite_gauges(inside);
}

const std::vector<Statement>& Phases::statements(Phase phase) const {
    invariant(phase != kAll || streamed_.empty(), "a streamed region has a level that streams");
    return statements_.at(phase);
}

bool Phases::is_read_early(const View& view) const {
    return read_early_.count(view.view) != 0;
}

bool Phases::is_chunked(const View& view) const {
    return std::any_of(region_.streams.begin(), region_.streams.end(),
                       [&](const Stream& stream) { return view.axes.count(stream.axis) != 0; });
}

/// How deep the loops lie that the view varies in.
std::size_t Phases::depth_of(const View& view) const {
    std::size_t deepest = 0;
    for (std::size_t depth = 0; depth < streamed_.size(); ++depth)
        for (const AxisId axis : streamed_[depth])
            if (view.axes.count(axis) != 0) deepest = depth;
    return deepest;
}

std::size_t Phases::loop_of(const View& view, const std::vector<Stream>& loops) {
    std::size_t deepest = 0;
    for (std::size_t i = 0; i < loops.size(); ++i)
        if (view.axes.count(loops[i].axis) != 0) deepest = i;
    return deepest;
}

bool Phases::is_late(const View& view) const {
    for (const Expression& index : view.gather)
        for (ArrayId array : arrays_read(index)) {
            if (out_.arrays[array.index()].role == ArrayRole::Parameter) continue;
            if (const View* inner = views_.find(array); inner == nullptr || is_late(*inner))
                return true;
        }
    return false;
}

bool Phases::is_read_inside(const View& view) const {
    const auto read = read_at_.find(view.view);
    return is_chunked(view) && read != read_at_.end() && read->second > depth_of(view);
}

bool Phases::loaded_in(const View& view, Phase phase, bool below) const {
    if (is_late(view)) return false;
    const bool before_loops = below && is_read_inside(view);
    switch (phase.kind) {
    case Phase::Kind::All: return true;
    case Phase::Kind::Initial:
        if (phase.depth > 0) return before_loops && depth_of(view) + 1 == phase.depth;
        return !is_chunked(view) && is_read_early(view);
    case Phase::Kind::Body:
        return is_chunked(view) && depth_of(view) == phase.depth && !before_loops;
    case Phase::Kind::Tail: return phase.depth == 0 && !is_chunked(view) && !is_read_early(view);
    }
    return false;
}

bool Phases::saved_in(ArrayId array, Phase phase) const {
    if (phase == kAll) return true;
    return phase == (chunked_.count(array) != 0 ? body_at(0) : tail_at(0));
}

bool Phases::outlives_phase(ArrayId array) const {
    const auto defines = [&](const Statement& s) {
        return std::find(s.targets.begin(), s.targets.end(), array) != s.targets.end();
    };
    const auto reads = [&](const Statement& s) { return read_for(s).contains(array); };
    if (streamed_.empty()) return false;
    std::optional<Phase> written;
    for (const Phase phase : in_order()) {
        const std::vector<Statement>& all = statements(phase);
        if (written && std::any_of(all.begin(), all.end(), reads)) return true;
        if (!std::any_of(all.begin(), all.end(), defines)) continue;
        if (phase.kind == Phase::Kind::Initial) return true;
        written = phase;
    }
    return false;
}

}  // namespace napkin
