#include "tests/separation/cases.h"

#include <algorithm>
#include <cmath>

namespace napkin::test {

Loaded load(const std::string& body, const std::string& axis, const Sizes& sizes) {
    SourceMap sources;
    const Result<Checked> checked = load_diagram(sources, "case.ncd", body, sizes);
    std::string errors;
    if (!checked)
        for (const Diagnostic& each : checked.error().list) errors += render(each, sources);
    INFO(body, "\n", errors);
    REQUIRE(checked.has_value());
    Loaded loaded{.diagram = checked->diagram, .region = {}, .axis = {}};
    for (std::uint32_t i = 0; i < loaded.diagram.statements.size(); ++i)
        loaded.region.statements.push_back(StatementId{i});
    loaded.axis = find_axis(loaded.diagram, axis).value();
    return loaded;
}

std::variant<Accumulator, NotApplicable> derive(const Loaded& loaded) {
    return derive_accumulator(loaded.diagram, loaded.region, {loaded.axis});
}

std::string reason(const Loaded& loaded) {
    const auto result = derive(loaded);
    if (const NotApplicable* refused = std::get_if<NotApplicable>(&result)) return refused->reason;
    return "accepted";
}

Agreement compare(const Loaded& loaded, const Accumulator& accumulator, std::uint64_t seed,
                  double scale, int runs) {
    std::mt19937_64 random(seed);
    Agreement result;
    const std::int64_t extent = loaded.diagram[loaded.axis].extent;
    for (int run = 0; run < runs; ++run) {
        const Tensors inputs = random_inputs(loaded.diagram, random(), scale);
        const std::int64_t size = 1 + static_cast<std::int64_t>(random() % 11);
        Chunks chunks;
        for (std::int64_t done = 0; done < extent; done += size)
            chunks.push_back(std::min(size, extent - done));
        const Executed executed =
            execute(loaded.diagram, loaded.region, accumulator, inputs, chunks);
        result.largest_exponent = std::max(result.largest_exponent, executed.largest_exponent);
        Evaluator reference(loaded.diagram, inputs);
        for (const auto& [array, got] : executed.saved) {
            const Tensor want = reference.array(array);
            double largest = 1e-30;
            for (const double value : want.values)
                if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
            for (std::size_t i = 0; i < want.values.size(); ++i) {
                const double a = got.values[i];
                const double b = want.values[i];
                // Where the user's own form leaves the range of doubles there is nothing to
                // compare.
                const bool beyond = !std::isfinite(b) && std::isfinite(a);
                const bool same = a == b || (std::isnan(a) && std::isnan(b)) || beyond;
                const double error = same ? 0 : std::abs(a - b) / largest;
                if (error <= result.worst && !std::isnan(error)) continue;
                result.worst = std::isnan(error) ? 1e300 : error;
                result.where = loaded.diagram[array].name + " element " + std::to_string(i) + ": " +
                               std::to_string(a) + " for " + std::to_string(b) + " in chunks of " +
                               std::to_string(size);
            }
        }
    }
    return result;
}

}  // namespace napkin::test
