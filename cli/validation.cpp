#include "cli/validation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>

namespace napkin::cli {
namespace {

using Index = std::vector<std::int64_t>;

/// Positions along an axis where tiles begin and end, and its own ends.
std::vector<std::int64_t> edges_of(const Diagram& diagram, const Relabelling& relabelling,
                                   AxisId axis) {
    const std::int64_t extent = diagram[axis].extent;
    std::set<std::int64_t> edges{0, extent / 2, extent - 1};
    const auto add_tiles = [&](std::int64_t size) {
        const std::int64_t last = (extent - 1) / size * size;
        for (const std::int64_t at : {size - 1, size, last - 1, last})
            if (at >= 0 && at < extent) edges.insert(at);
    };
    for (const Region& region : relabelling.regions) {
        for (const Group& group : region.groups)
            if (group.axis == axis) add_tiles(group.size);
        for (const Stream& stream : region.streams)
            if (stream.axis == axis) add_tiles(stream.size);
    }
    return {edges.begin(), edges.end()};
}

Index index_at(const Diagram& diagram, const Array& array, std::int64_t offset) {
    Index index(array.axes.size());
    for (std::size_t i = index.size(); i-- > 0;) {
        index[i] = offset % diagram[array.axes[i]].extent;
        offset /= diagram[array.axes[i]].extent;
    }
    return index;
}

std::vector<Index> all_elements(const Diagram& diagram, const Array& array, std::int64_t count) {
    std::vector<Index> elements;
    for (std::int64_t offset = 0; offset < count; ++offset)
        elements.push_back(index_at(diagram, array, offset));
    return elements;
}

/// Half of them on edges along every axis, half anywhere.
std::vector<Index> some_elements(const Diagram& diagram, const Relabelling& relabelling,
                                 const Array& array, std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t limit) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
    };
    std::vector<std::vector<std::int64_t>> edges;
    for (const AxisId axis : array.axes) edges.push_back(edges_of(diagram, relabelling, axis));
    std::set<Index> elements;
    for (std::int64_t i = 0; i < count; ++i) {
        Index index;
        for (std::size_t d = 0; d < array.axes.size(); ++d) {
            const auto& edge = edges[d];
            index.push_back(
                i % 2 == 0
                    ? edge[static_cast<std::size_t>(below(static_cast<std::int64_t>(edge.size())))]
                    : below(diagram[array.axes[d]].extent));
        }
        elements.insert(std::move(index));
    }
    return {elements.begin(), elements.end()};
}

std::string number_text(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.6g", value);
    return buffer;
}

std::string describe(const Array& array, const Index& index, double got, Bounded want) {
    std::string text = array.name + "[";
    for (std::size_t i = 0; i < index.size(); ++i)
        text += (i > 0 ? ", " : "") + std::to_string(index[i]);
    return text + "] is " + number_text(got) + ", not " + number_text(want.value) + " within " +
           number_text(want.error);
}

/// Adds one element to a report; keeps the element that uses most of its bound.
class Comparison {
public:
    Comparison(OutputReport& report, const Array& array) : report_(report), array_(array) {}

    void add(const Index& index, double got, Bounded want) {
        ++report_.compared;
        if (std::isinf(want.error)) {
            ++report_.undecided;
            return;
        }
        const bool same = got == want.value || (std::isnan(got) && std::isnan(want.value));
        const double difference = same ? 0 : std::abs(got - want.value);
        const bool within = same || difference <= want.error;
        const double share = within ? (want.error > 0 ? difference / want.error : 0) : kOutside;
        report_.ok = report_.ok && within;
        report_.tolerance = std::max(report_.tolerance, want.error);
        if (!(difference <= report_.max_abs_error)) report_.max_abs_error = difference;
        if (std::isfinite(want.value)) {
            squares_ += want.value * want.value;
            errors_ += difference * difference;
        }
        if (share > worst_) {
            worst_ = share;
            report_.worst = describe(array_, index, got, want);
        }
    }
    void finish() {
        report_.rel_frobenius = squares_ > 0 ? std::sqrt(errors_ / squares_) : std::sqrt(errors_);
    }

private:
    static constexpr double kOutside = 1e300;
    OutputReport& report_;
    const Array& array_;
    double squares_ = 0;
    double errors_ = 0;
    double worst_ = -1;
};

double elements_of(const Diagram& diagram, const std::vector<AxisId>& axes) {
    double count = 1;
    for (const AxisId axis : axes) count *= static_cast<double>(diagram[axis].extent);
    return count;
}

/// An upper bound of what evaluating one element of an array visits.
double work_of_element(const Diagram& diagram, ArrayId array) {
    const Array& output = diagram[array];
    double work = 1;
    for (const Statement& statement : diagram.statements) {
        double visits = 1;
        for (const AxisId axis : axes_of(diagram, statement)) {
            const bool kept =
                std::find(output.axes.begin(), output.axes.end(), axis) != output.axes.end();
            const std::vector<AxisId> folded = folded_axes(statement);
            const bool folds = std::find(folded.begin(), folded.end(), axis) != folded.end();
            if (!kept || folds) visits *= static_cast<double>(diagram[axis].extent);
        }
        work += visits;
    }
    return work;
}

}  // namespace

bool Validation::ok() const {
    return std::all_of(outputs.begin(), outputs.end(),
                       [](const OutputReport& report) { return report.ok; });
}

double work_of(const Diagram& diagram) {
    double work = 0;
    for (const Statement& statement : diagram.statements)
        work += elements_of(diagram, axes_of(diagram, statement));
    return work;
}

bool has_values(const Diagram& diagram) {
    return std::none_of(
        diagram.statements.begin(), diagram.statements.end(),
        [](const Statement& statement) { return std::holds_alternative<Opaque>(statement.body); });
}

StoredTypes stored_types(const Diagram& diagram, const Relabelling& relabelling) {
    StoredTypes types(relabelling.wire_types.begin(), relabelling.wire_types.end());
    for (const Region& region : relabelling.regions)
        for (const ArrayId array : saves_of(diagram, region))
            types[array] = storage_type(diagram, relabelling, array);
    return types;
}

Validation validate(const Diagram& diagram, const Relabelling& relabelling, const Tensors& inputs,
                    const Tensors& outputs, const ValidationOptions& options) {
    Validation validation;
    validation.sampled = work_of(diagram) > options.work;
    ErrorBounds reference(diagram, inputs, options.stored, options.precision);
    const std::vector<ArrayId> arrays = outputs_of(diagram);
    for (const ArrayId id : arrays) {
        const Array& array = diagram[id];
        const Tensor& tensor = outputs.at(id);
        OutputReport report;
        report.name = array.name;
        report.elements = static_cast<std::int64_t>(tensor.values.size());
        const double share = options.work / static_cast<double>(arrays.size());
        const auto affordable = static_cast<std::int64_t>(
            std::clamp(share / work_of_element(diagram, id), 16.0, 4096.0));
        const bool all = !validation.sampled || report.elements <= affordable;
        Comparison comparison(report, array);
        for (const Index& index :
             all ? all_elements(diagram, array, report.elements)
                 : some_elements(diagram, relabelling, array, affordable, options.seed))
            comparison.add(index, tensor.values[static_cast<std::size_t>(tensor.offset(index))],
                           reference.element(id, index));
        comparison.finish();
        validation.outputs.push_back(std::move(report));
    }
    return validation;
}

}  // namespace napkin::cli
