#include "derive/expand/phases.h"

#include <algorithm>
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
    for (StatementId id : region_.statements) {
        const Statement& statement = diagram_[id];
        const Opaque* box = std::get_if<Opaque>(&statement.body);
        if (box != nullptr && opaque == OpaqueBoxes::Refuse)
            return messages::opaque_box(statement.span, box->name);
        for (ArrayId target : statement.targets) defined.insert(target);
        if (!region_.streams.empty() && depends_on_stream(statement, dependent)) {
            for (ArrayId target : statement.targets) dependent.insert(target);
        } else {
            before_.push_back(statement);
        }
    }
    if (!region_.streams.empty())
        if (const Result<bool> streamed = collect_accumulator(defined); !streamed) return streamed;
    views_.set_defined(std::move(defined));
    rewrite_reads();
    return true;
}

Result<bool> Phases::collect_accumulator(std::set<ArrayId>& defined) {
    auto derived =
        derive_accumulator(diagram_, region_, streamed_axes(region_), relabelling_.wire_types);
    if (const NotApplicable* refusal = std::get_if<NotApplicable>(&derived))
        return messages::step_refused(diagram_[region_.statements.front()].span, "stream",
                                      refusal->reason, refusal->help);
    Accumulator& accumulator = std::get<Accumulator>(derived);
    for (std::size_t i = 0; i < accumulator.arrays.size(); ++i)
        defined.insert(ArrayId{static_cast<std::uint32_t>(diagram_.arrays.size() + i)});
    out_.arrays.insert(out_.arrays.end(), accumulator.arrays.begin(), accumulator.arrays.end());
    before_.insert(before_.end(), accumulator.initial.begin(), accumulator.initial.end());
    body_ = accumulator.body;
    tail_ = accumulator.tail;
    out_.accumulator = std::move(accumulator);
    return true;
}

void Phases::rewrite_reads() {
    for (std::vector<Statement>* phase : {&before_, &body_, &tail_})
        for (Statement& statement : *phase) {
            statement = views_.rewrite_reads(std::move(statement));
            if (phase != &tail_)
                for (ArrayId input : inputs_of(statement)) read_early_.insert(input);
            if (phase == &body_)
                chunked_.insert(statement.targets.begin(), statement.targets.end());
        }
    const std::size_t read = views_.views().size();
    if (out_.accumulator)
        for (Gauge& gauge : out_.accumulator->gauges) {
            gauge.value = views_.rewrite_expression(std::move(gauge.value));
            if (gauge.weight) gauge.weight = views_.rewrite_expression(std::move(*gauge.weight));
        }
    invariant(views_.views().size() == read, "a gauge reads what no statement does");
    // What a gather is indexed by is read when the gather is; outer gathers come after inner ones.
    for (std::size_t i = views_.views().size(); i-- > 0;)
        if (const View& view = views_.views()[i]; is_read_early(view))
            for (const Expression& index : view.gather) read_early_.merge(arrays_read(index));
    for (const Statement& statement : before_)
        for (ArrayId target : statement.targets) chunked_.erase(target);  // a state is no chunk
}

const std::vector<Statement>& Phases::statements(Phase phase) const {
    invariant(phase != Phase::All || body_.empty(), "a streamed region has a level that streams");
    if (phase == Phase::Body) return body_;
    return phase == Phase::Tail ? tail_ : before_;
}

bool Phases::is_read_early(const View& view) const {
    return read_early_.count(view.view) != 0;
}

bool Phases::is_chunked(const View& view) const {
    return std::any_of(region_.streams.begin(), region_.streams.end(),
                       [&](const Stream& stream) { return view.axes.count(stream.axis) != 0; });
}

std::size_t Phases::loop_of(const View& view, const std::vector<Stream>& loops) {
    std::size_t deepest = 0;
    for (std::size_t i = 0; i < loops.size(); ++i)
        if (view.axes.count(loops[i].axis) != 0) deepest = i;
    return deepest;
}

bool Phases::is_late(const View& view) const {
    for (const Expression& index : view.gather)
        for (ArrayId array : arrays_read(index))
            if (const View* inner = views_.find(array); inner == nullptr || is_late(*inner))
                return true;
    return false;
}

bool Phases::loaded_in(const View& view, Phase phase) const {
    if (is_late(view)) return false;
    switch (phase) {
    case Phase::All: return true;
    case Phase::Initial: return !is_chunked(view) && is_read_early(view);
    case Phase::Body: return is_chunked(view);
    case Phase::Tail: return !is_chunked(view) && !is_read_early(view);
    }
    return false;
}

bool Phases::saved_in(ArrayId array, Phase phase) const {
    if (phase == Phase::All) return true;
    if (phase == Phase::Initial) return false;
    return (chunked_.count(array) != 0) == (phase == Phase::Body);
}

bool Phases::outlives_phase(ArrayId array) const {
    const auto defines = [&](const Statement& s) {
        return std::find(s.targets.begin(), s.targets.end(), array) != s.targets.end();
    };
    const auto reads = [&](const Statement& s) {
        const std::vector<ArrayId> inputs = inputs_of(s);
        return std::find(inputs.begin(), inputs.end(), array) != inputs.end();
    };
    if (body_.empty() && tail_.empty()) return false;
    if (std::any_of(before_.begin(), before_.end(), defines)) return true;
    return std::any_of(body_.begin(), body_.end(), defines) &&
           std::any_of(tail_.begin(), tail_.end(), reads);
}

}  // namespace napkin
