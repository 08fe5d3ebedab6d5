// Loads example diagrams at small sizes and evaluates them, for tests.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "diagrams/check.h"
#include "diagrams/evaluate.h"
#include "tests/golden.h"
#include "tests/support/rendered.h"

namespace napkin::test {

/// Elements of a tensor by index: `q(row, column)`.
class View {
public:
    explicit View(const Tensor& tensor) : tensor_(&tensor) {}
    template <class... Indices>
    double operator()(Indices... indices) const {
        const std::array<std::int64_t, sizeof...(Indices)> index = {
            static_cast<std::int64_t>(indices)...};
        return tensor_->values[static_cast<std::size_t>(tensor_->offset(index))];
    }
    [[nodiscard]] std::int64_t extent(std::size_t dimension) const {
        return tensor_->extents[dimension];
    }

private:
    const Tensor* tensor_;
};

/// A diagram from text with random inputs, and its outputs.
class Run {
public:
    enum Options { kStrict, kWarnings, kNoInputs };

    Run(const std::string& name, const std::string& text, const Sizes& sizes, double scale = 1.0,
        Options options = kStrict) {
        Result<Checked> checked = load_diagram(sources_, name, text, sizes);
        INFO((checked ? "" : rendered(checked.error(), sources_)));
        REQUIRE(checked.has_value());
        INFO(rendered(checked->warnings, sources_));
        if (options != kWarnings) CHECK(checked->warnings.list.empty());
        diagram = std::move(checked->diagram);
        if (options != kNoInputs) inputs = random_inputs(diagram, 20240611, scale);
    }

    void evaluate() {
        Result<Tensors> found = evaluate_outputs(diagram, inputs);
        INFO((found ? "" : rendered(found.error(), sources_)));
        REQUIRE(found.has_value());
        outputs = std::move(*found);
    }
    [[nodiscard]] ArrayId id(const std::string& name) const {
        const std::optional<ArrayId> array = find_array(diagram, name);
        INFO(name);
        REQUIRE(array.has_value());
        return *array;
    }
    [[nodiscard]] View in(const std::string& name) const { return View(inputs.at(id(name))); }
    [[nodiscard]] Tensor& input(const std::string& name) { return inputs.at(id(name)); }
    [[nodiscard]] View out(const std::string& name) const { return View(outputs.at(id(name))); }
    /// Whether an output element is what rounding `expected` gives, itself known to 1e-11.
    template <class... Indices>
    void check(const std::string& name, double expected, Indices... indices) const {
        const Array& array = diagram[id(name)];
        const double got = out(name)(indices...);
        const double slack = 1e-11 * std::abs(expected) + 1e-13;
        const auto stored = [&](double value) {
            return array.rounds ? round_to(array.type, value) : value;
        };
        INFO(name, " = ", got, ", expected ", expected);
        if (std::isinf(expected)) {
            CHECK_EQ(got, expected);
        } else {
            CHECK(got >= stored(expected - slack));
            CHECK(got <= stored(expected + slack));
        }
    }

    Diagram diagram;
    Tensors inputs;
    Tensors outputs;

private:
    SourceMap sources_;
};

/// An example of the repository at the given sizes, evaluated.
inline Run run_example(const std::string& name, const Sizes& sizes, double scale = 1.0) {
    const std::string file = name + ".ncd";
    Run run(file, read_text(std::string(NAPKIN_EXAMPLES_DIR) + "/" + file), sizes, scale);
    run.evaluate();
    return run;
}

}  // namespace napkin::test
