#include "derive/proof/checker/program_runner.h"

#include <algorithm>
#include <set>

#include "derive/proof/evaluate_plain.h"

namespace napkin::proof::checker {
namespace {

class RegionRunner {
public:
    RegionRunner(FieldDomain& domain, const ReadRegion& region, Memory& memory)
        : domain_(domain),
          region_(region),
          memory_(memory),
          evaluator_(domain, region.scope, {}),
          owners_(region.levels.size()),
          parked_(region.levels.size()) {
        for (std::uint32_t i = 0; i < region.scope.arrays.size(); ++i) {
            const ArrayId id{i};
            evaluator_.clear(id);
            const auto known = memory.arrays.find(region.scope[id].name);
            if (i < region.device_arrays && known != memory.arrays.end())
                evaluator_.grid(id).values = known->second.values;
        }
    }

    void run() {
        walk(region_.body);
        for (const ArrayId id : saved_) {
            Grid<FieldValue>& grid = evaluator_.grid(id);
            memory_.arrays[region_.scope[id].name] = grid;
        }
    }

private:
    using Processor = std::vector<std::int64_t>;

    void walk(const std::vector<Step>& steps) {
        for (const Step& step : steps)
            std::visit(overloaded{
                           [&](const Split& split) { walk_split(split); },
                           [&](const Fetch& fetch) { this->fetch(fetch); },
                           [&](const Calculate& calculate) { compute(calculate.statement); },
                           [&](const Put& put) { this->put(put); },
                       },
                       step.node);
    }

    void walk_split(const Split& split) {
        const Interval whole = evaluator_.range(split.axis);
        for (std::int64_t low = whole.low; low <= whole.high; low += split.size) {
            evaluator_.range(split.axis) = {low, std::min(low + split.size - 1, whole.high)};
            if (!split.chunks && split.level == Level::Block) forget_variables();
            const bool processor = !split.chunks && split.level != Level::Block;
            if (processor) open_.emplace_back(split.level, low);
            if (is_visible(split.visible)) walk(split.body);
            if (processor) open_.pop_back();
        }
        evaluator_.range(split.axis) = whole;
    }

    /// Whether all conditions hold at some index of the ranges.
    bool is_visible(const std::vector<Expression>& conditions) {
        if (conditions.empty()) return true;
        std::set<AxisId> used;
        for (const Expression& condition : conditions) used.merge(axes_used(condition));
        bool found = false;
        evaluator_.over({used.begin(), used.end()}, 0, [&] {
            found = found || std::all_of(conditions.begin(), conditions.end(),
                                         [&](const Expression& condition) {
                                             return evaluator_.value(condition).real != 0;
                                         });
        });
        return found;
    }

    /// A block begins with nothing.
    void forget_variables() {
        for (std::size_t i = 0; i < region_.levels.size(); ++i) {
            evaluator_.clear(variable(i));
            parked_[i].clear();
            owners_[i].clear();
        }
    }
    [[nodiscard]] ArrayId variable(std::size_t i) const {
        return ArrayId{static_cast<std::uint32_t>(region_.device_arrays + i)};
    }
    /// Every processor of a variable's level has its own: brings forward that of the one in turn.
    void focus(ArrayId id) {
        if (id.index() < region_.device_arrays) return;
        const std::size_t at = id.index() - region_.device_arrays;
        Processor processor;
        for (const auto& [level, start] : open_)
            if (level <= region_.levels[at]) processor.push_back(start);
        if (processor == owners_[at]) return;
        parked_[at][owners_[at]] = evaluator_.grid(id);
        if (const auto kept = parked_[at].find(processor); kept != parked_[at].end())
            evaluator_.grid(id) = kept->second;
        else
            evaluator_.clear(id);
        owners_[at] = std::move(processor);
    }

    void fetch(const Fetch& fetch) {
        focus(fetch.from);
        focus(fetch.into);
        if (!fetch.gather.empty()) return gather(fetch);
        const Grid<FieldValue>& from = evaluator_.grid(fetch.from);
        Grid<FieldValue>& into = evaluator_.grid(fetch.into);
        if (fetch.index.size() != from.extents.size() || into.extents != from.extents)
            throw MalformedCertificate("a load of another rank than its array");
        std::vector<std::vector<std::int64_t>> places;
        for (std::size_t k = 0; k < fetch.index.size(); ++k)
            places.push_back(places_of(fetch.index[k], from.extents[k]));
        std::vector<std::int64_t> index(places.size());
        copy(from, into, places, index, 0);
    }
    /// Every value inside the array that one of the expressions takes in the ranges.
    std::vector<std::int64_t> places_of(const std::vector<Expression>& expressions,
                                        std::int64_t extent) {
        std::set<std::int64_t> places;
        for (const Expression& expression : expressions) {
            const std::set<AxisId> used = axes_used(expression);
            evaluator_.over({used.begin(), used.end()}, 0, [&] {
                const std::int64_t place = FieldDomain::index(evaluator_.value(expression));
                if (place >= 0 && place < extent) places.insert(place);
            });
        }
        return {places.begin(), places.end()};
    }
    void copy(const Grid<FieldValue>& from, Grid<FieldValue>& into,
              const std::vector<std::vector<std::int64_t>>& places,
              std::vector<std::int64_t>& index, std::size_t at) {
        if (at == places.size()) {
            into.values[into.offset(index)] = from.values[from.offset(index)];
            return;
        }
        for (const std::int64_t place : places[at]) {
            index[at] = place;
            copy(from, into, places, index, at + 1);
        }
    }
    void gather(const Fetch& fetch) {
        const std::vector<AxisId>& axes = region_.scope[fetch.into].axes;
        for (const Expression& index : fetch.gather)
            for (const ArrayId array : arrays_read(index)) focus(array);
        evaluator_.over(axes, 0, [&] {
            const Grid<FieldValue>& from = evaluator_.grid(fetch.from);
            std::vector<std::int64_t> at;
            bool inside = fetch.gather.size() == from.extents.size();
            for (std::size_t k = 0; k < fetch.gather.size(); ++k) {
                at.push_back(FieldDomain::index(evaluator_.value(fetch.gather[k])));
                inside = inside && at.back() >= 0 && at.back() < from.extents[k];
            }
            Grid<FieldValue>& into = evaluator_.grid(fetch.into);
            into.values[into.offset(here(axes))] =
                inside ? from.values[from.offset(at)] : domain_.number(0);
        });
    }
    std::vector<std::int64_t> here(const std::vector<AxisId>& axes) {
        std::vector<std::int64_t> index;
        for (const AxisId axis : axes)
            index.push_back(FieldDomain::index(evaluator_.value(axis_index(axis))));
        return index;
    }

    void compute(const Statement& statement) {
        for (const ArrayId target : statement.targets) focus(target);
        for (const ArrayId input : inputs_of(statement)) focus(input);
        evaluator_.run(statement);
    }

    void put(const Put& put) {
        focus(put.from);
        focus(put.into);
        const std::vector<AxisId>& axes = region_.scope[put.into].axes;
        const bool saves = put.into.index() < region_.device_arrays;
        std::vector<int>* writes = nullptr;
        if (saves) {
            saved_.insert(put.into);
            writes = &memory_.writes[region_.scope[put.into].name];
            writes->resize(evaluator_.grid(put.into).values.size());
        }
        evaluator_.over(axes, 0, [&] {
            const std::vector<std::int64_t> index = here(axes);
            const Grid<FieldValue>& from = evaluator_.grid(put.from);
            Grid<FieldValue>& into = evaluator_.grid(put.into);
            const std::size_t at = into.offset(index);
            into.values[at] = from.values[from.offset(index)];
            if (writes != nullptr) ++(*writes)[at];
        });
    }

    FieldDomain& domain_;
    const ReadRegion& region_;
    Memory& memory_;
    PlainEvaluator<FieldDomain> evaluator_;
    std::vector<Processor> owners_;
    std::vector<std::map<Processor, Grid<FieldValue>>> parked_;
    std::vector<std::pair<Level, std::int64_t>> open_;
    std::set<ArrayId> saved_;
};

}  // namespace

void run_program(FieldDomain& domain, const ReadProgram& program, Memory& memory) {
    for (const ReadRegion& region : program.regions) RegionRunner(domain, region, memory).run();
}

}  // namespace napkin::proof::checker
