#include "diagrams/gradient.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagrams/evaluate.h"
#include "diagrams/random.h"
#include "diagrams/rewrite_statement.h"

namespace napkin {
namespace {

using Agreement = GradientCheck::Verdict;

constexpr int kTrials = 4;
/// Of numbers about 1: the error of differences is of its fourth power, and that of rounding a
/// double's unit divided by it.
constexpr double kStep = 1e-3;
/// How far a slope may be off, of what its terms add up to where their signs are random.
constexpr double kTolerance = 1e-4;
/// Differences with two steps that are apart by more of the disagreement tell nothing.
constexpr double kSmooth = 1e-2;

/// The diagram without roundings, which have no slope.
Diagram smooth(Diagram diagram) {
    for (Array& array : diagram.arrays)
        if (is_floating(array.type)) array.rounds = false;
    for (Statement& statement : diagram.statements)
        statement = rewrite_statement(std::move(statement), [](Expression part) {
            Convert* convert = std::get_if<Convert>(&part.node);
            if (convert == nullptr || !is_floating(convert->type)) return part;
            Expression argument = std::move(convert->argument[0]);
            return argument;
        });
    return diagram;
}

double product(const Tensor& a, const Tensor& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
    return sum;
}

/// The root of the sum of the squares of the terms.
double spread(const Tensor& a, const Tensor& b) {
    double root = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i)
        root = std::hypot(root, a.values[i] * b.values[i]);
    return root;
}

Tensor normal(const Diagram& diagram, ArrayId array, Random& random) {
    Tensor tensor = make_tensor(diagram, array);
    for (double& value : tensor.values) value = random.normal();
    return tensor;
}

class Differences {
public:
    Differences(const Diagram& forward, const Diagram& backward, std::uint64_t seed)
        : forward_(forward),
          backward_(backward),
          random_(seed),
          values_(random_inputs(forward, seed)) {}

    /// Finds the slopes along every input that has a gradient; false where the diagrams' arrays do
    /// not go together.
    Result<bool> run() {
        Result<Tensors> outputs = evaluate_outputs(forward_, values_);
        if (!outputs) return outputs.error();
        const std::optional<Tensors> operands = operands_with(*outputs);
        if (!operands) return false;
        Result<Tensors> gradients = evaluate_outputs(backward_, *operands);
        if (!gradients) return gradients.error();
        for (const auto& [array, gradient] : *gradients) {
            const std::string& name = backward_[array].name;
            const auto moved = name.size() > 1 && name.front() == 'd'
                                   ? find_array(forward_, name.substr(1))
                                   : std::nullopt;
            if (!moved || values_.count(*moved) == 0 || !is_floating(forward_[*moved].type))
                continue;
            if (gradient.extents != values_.at(*moved).extents) return false;
            if (auto wrong = compare(*moved, gradient)) return *wrong;
        }
        return true;
    }
    [[nodiscard]] const std::vector<std::pair<Agreement, GradientSlope>>& slopes() const {
        return slopes_;
    }

private:
    /// What the gradient reads; draws the cotangents.
    std::optional<Tensors> operands_with(const Tensors& outputs) {
        Tensors operands;
        for (std::uint32_t i = 0; i < backward_.arrays.size(); ++i) {
            const ArrayId array{i};
            const Array& read = backward_[array];
            if (read.role != ArrayRole::Input) continue;
            if (const auto same = find_array(forward_, read.name)) {
                const bool is_input = values_.count(*same) != 0;
                const auto output = outputs.find(*same);
                if (!is_input && output == outputs.end()) return std::nullopt;
                operands[array] = is_input ? values_.at(*same) : output->second;
            } else {
                const auto of = find_array(forward_, read.name.substr(1));
                if (read.name.front() != 'd' || !of || outputs.count(*of) == 0) return std::nullopt;
                operands[array] = cotangents_[*of] = normal(forward_, *of, random_);
            }
            if (operands[array].extents != make_tensor(backward_, array).extents)
                return std::nullopt;
        }
        return operands;
    }

    std::optional<Diagnostics> compare(ArrayId moved, const Tensor& gradient) {
        const Tensor direction = normal(forward_, moved, random_);
        const Result<double> coarse = slope(moved, direction, kStep);
        if (!coarse) return coarse.error();
        const Result<double> fine = slope(moved, direction, kStep / 2);
        if (!fine) return fine.error();
        const double measured = (4 * *fine - *coarse) / 3;
        const double claimed = product(gradient, direction);
        slopes_.emplace_back(
            judged(claimed, measured, std::abs(*fine - *coarse), spread(gradient, direction)),
            GradientSlope{forward_[moved].name, claimed, measured});
        return std::nullopt;
    }

    /// `error`: how far two differences are apart, of which of smooth functions a sixteenth and
    /// less is left. `size`: what the terms of the claim add up to where their signs are random.
    static Agreement judged(double claimed, double measured, double error, double size) {
        if (!std::isfinite(measured) || !std::isfinite(error)) return Agreement::Undecided;
        if (!std::isfinite(claimed) || !std::isfinite(size)) return Agreement::Differs;
        const double apart = std::abs(claimed - measured);
        if (apart <= kTolerance * size + 1e-9) return Agreement::Agrees;
        return error <= kSmooth * apart ? Agreement::Differs : Agreement::Undecided;
    }

    /// Of the sum of cotangents times outputs.
    Result<double> slope(ArrayId moved, const Tensor& direction, double step) {
        double difference = 0;
        for (const double sign : {1.0, -1.0}) {
            Tensors values = values_;
            Tensor& at = values.at(moved);
            for (std::size_t i = 0; i < at.values.size(); ++i)
                at.values[i] += sign * step * direction.values[i];
            const Result<Tensors> outputs = evaluate_outputs(forward_, values);
            if (!outputs) return outputs.error();
            for (const auto& [output, cotangent] : cotangents_)
                difference += sign * product(cotangent, outputs->at(output));
        }
        return difference / (2 * step);
    }

    const Diagram& forward_;
    const Diagram& backward_;
    Random random_;
    Tensors values_;
    Tensors cotangents_;  ///< by the forward diagram's outputs
    std::vector<std::pair<Agreement, GradientSlope>> slopes_;
};

}  // namespace

Result<GradientCheck> check_gradient(const Diagram& forward, const Diagram& backward,
                                     std::uint64_t seed) {
    const Diagram smooth_forward = smooth(forward);
    const Diagram smooth_backward = smooth(backward);
    struct Votes {
        int agree = 0;
        int differ = 0;
        GradientSlope slope;  ///< of the last that does not agree
    };
    std::map<std::string, Votes> inputs;
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
        Differences differences(smooth_forward, smooth_backward, seed + trial);
        const Result<bool> fit = differences.run();
        if (!fit) return fit.error();
        if (!*fit) return GradientCheck{Agreement::Undecided, std::nullopt};
        for (const auto& [verdict, slope] : differences.slopes()) {
            Votes& votes = inputs[slope.input];
            votes.agree += verdict == Agreement::Agrees ? 1 : 0;
            votes.differ += verdict == Agreement::Differs ? 1 : 0;
            if (verdict != Agreement::Agrees) votes.slope = slope;
        }
    }
    GradientCheck check;
    if (inputs.empty()) check.verdict = Agreement::Undecided;
    for (const auto& [input, votes] : inputs) {
        // One alone may have met an edge.
        if (votes.differ > 1 || (votes.differ == 1 && votes.agree == 0))
            return GradientCheck{Agreement::Differs, votes.slope};
        if (votes.agree == 0) check = {Agreement::Undecided, votes.slope};
    }
    return check;
}

}  // namespace napkin
