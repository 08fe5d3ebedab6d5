#include "diagrams/evaluate/engine.h"

#include <algorithm>

#include "diagrams/evaluate/messages.h"
#include "diagrams/overloaded.h"

namespace napkin::evaluation {
namespace {

/// Nested calls after which a request is computed from the bottom of the stack instead.
constexpr int kMostDepth = 1000;
/// Bytes kept before everything known is dropped.
constexpr std::int64_t kMostKept = std::int64_t{512} << 20;

/// A request that would make the stack too deep.
struct TooDeep {
    ArrayId array;
    std::vector<Offset> offsets;
};

bool strictly_ascending(std::span<const Offset> offsets) {
    return std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) ==
           offsets.end();
}

}  // namespace

Engine::Engine(const Diagram& diagram, const Tensors& inputs)
    : LaneEvaluator(diagram),
      sources_(diagram.arrays.size()),
      strides_(strides_of(diagram)),
      compiled_(diagram.statements.size()) {
    for (std::size_t at = 0; at < diagram.arrays.size(); ++at) {
        const Array& array = diagram.arrays[at];
        Source& source = sources_[at];
        for (const AxisId axis : array.axes) source.size *= diagram[axis].extent;
        source.memo = Memo(source.size);
        const auto given = inputs.find(ArrayId{static_cast<std::uint32_t>(at)});
        if (given != inputs.end()) {
            invariant(static_cast<Offset>(given->second.values.size()) == source.size,
                      "values of another size than their array");
            source.input = given->second.values.data();
        } else if (array.role == ArrayRole::Parameter && array.value) {
            source.parameter = round_to(array.type, *array.value);
            source.input = &source.parameter;
        }
    }
    for (std::size_t at = 0; at < diagram.statements.size(); ++at)
        for (const ArrayId target : diagram.statements[at].targets)
            sources_[target.index()].statement = StatementId{static_cast<std::uint32_t>(at)};
}

void Engine::request(ArrayId array, std::span<const Offset> offsets, std::span<double> out) {
    drop_if_large();
    for (std::size_t start = 0; start < offsets.size(); start += kLanes) {
        const std::size_t count = std::min(kLanes, offsets.size() - start);
        demand(array, offsets.subspan(start, count), out.data() + start);
    }
}

void Engine::demand(ArrayId array, std::span<const Offset> offsets, double* out) {
    std::vector<TooDeep> pending;
    std::vector<double> ignored;
    while (true) {
        depth_ = 0;
        try {
            if (pending.empty()) return fetch(array, offsets, out);
            ignored.resize(pending.back().offsets.size());
            fetch(pending.back().array, pending.back().offsets, ignored.data());
            pending.pop_back();
        } catch (TooDeep& deeper) {
            pending.push_back(std::move(deeper));
        }
    }
}

std::vector<Offset> Engine::missing(ArrayId array, std::span<const Offset> offsets) const {
    const Memo& memo = sources_[array.index()].memo;
    std::vector<Offset> result;
    for (const Offset offset : offsets) {
        const bool repeated = !result.empty() && result.back() == offset;
        if (!repeated && is_absent(memo.get(offset))) result.push_back(offset);
    }
    if (!strictly_ascending(result)) {
        std::sort(result.begin(), result.end());
        result.erase(std::unique(result.begin(), result.end()), result.end());
    }
    return result;
}

void Engine::fetch(ArrayId array, std::span<const Offset> offsets, double* out) {
    const Source& source = sources_[array.index()];
    if (source.input != nullptr) {
        for (std::size_t lane = 0; lane < offsets.size(); ++lane)
            out[lane] = source.input[offsets[lane]];
        return;
    }
    bool complete = true;
    for (std::size_t lane = 0; lane < offsets.size(); ++lane) {
        out[lane] = source.memo.get(offsets[lane]);
        complete = complete && !is_absent(out[lane]);
    }
    if (!complete) fill_missing(array, offsets, out);
}

void Engine::fill_missing(ArrayId array, std::span<const Offset> offsets, double* out) {
    std::vector<Offset> wanted = missing(array, offsets);
    if (depth_ > kMostDepth) throw TooDeep{array, std::move(wanted)};
    ++depth_;
    std::vector<double> values(wanted.size());
    compute(array, wanted, values.data());
    --depth_;
    std::size_t at = 0;
    for (std::size_t lane = 0; lane < offsets.size(); ++lane) {
        if (!is_absent(out[lane])) continue;
        if (at + 1 < wanted.size() && wanted[at + 1] == offsets[lane]) ++at;
        if (wanted[at] != offsets[lane])
            at = static_cast<std::size_t>(
                std::lower_bound(wanted.begin(), wanted.end(), offsets[lane]) - wanted.begin());
        out[lane] = values[at];
    }
}

void Engine::compute(ArrayId array, std::span<const Offset> offsets, double* out) {
    const std::optional<StatementId> id = sources_[array.index()].statement;
    if (!id) throw ContractError(messages::missing_input(diagram_, array));
    const Statement& statement = diagram_[*id];
    const auto one_by_one = [&](const auto& element) {
        for (std::size_t at = 0; at < offsets.size(); ++at) {
            drop_if_large();
            out[at] = element(offsets[at]);
        }
    };
    std::visit(
        overloaded{
            [&](const Map&) { compute_map(array, compiled(*id), offsets, out); },
            [&](const Fold& fold) {
                const CompiledStatement& code = compiled(*id);
                one_by_one([&](Offset offset) {
                    return fold.every_prefix ? compute_scan(array, statement, code, offset)
                                             : compute_fold(array, statement, code, offset);
                });
            },
            [&](const Select&) {
                const CompiledStatement& code = compiled(*id);
                one_by_one(
                    [&](Offset offset) { return compute_select(array, statement, code, offset); });
            },
            [&](const Opaque&) { throw ContractError(messages::opaque_box(diagram_, statement)); },
        },
        statement.body);
}

double Engine::store(ArrayId array, Offset offset, double value) {
    const Array& target = diagram_[array];
    const double kept = target.rounds ? round_to(target.type, value) : value;
    kept_ += sources_[array.index()].memo.set(offset, kept);
    return kept;
}

const CompiledStatement& Engine::compiled(StatementId id) {
    std::optional<CompiledStatement>& slot = compiled_[id.index()];
    if (slot) return *slot;
    slot = compile(diagram_, diagram_[id], strides_);
    return *slot;
}

void Engine::drop_if_large() {
    if (kept_ <= kMostKept) return;
    for (Source& source : sources_) source.memo.clear();
    kept_ = 0;
}

}  // namespace napkin::evaluation
