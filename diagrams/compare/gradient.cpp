#include "diagrams/gradient.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagrams/compare/gradient_draws.h"
#include "diagrams/evaluate.h"
#include "diagrams/random.h"
#include "diagrams/rewrite_statement.h"

namespace napkin {
namespace {

using Agreement = GradientCheck::Verdict;

/// Of numbers about 1: the error of differences is of its fourth power, and that of rounding a
/// double's unit divided by it. Smaller where diagrams have more elements than `kFewElements`: each
/// is as likely to have an edge within a step.
constexpr double kStep = 1e-3;
constexpr double kFewElements = 256;
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
    Differences(const Diagram& forward, const Diagram& backward, const Draw& draw,
                std::uint64_t seed)
        : forward_(forward),
          backward_(backward),
          draw_(draw),
          step_(kStep * std::min(1.0, kFewElements / elements_of(forward))),
          random_(seed),
          values_(drawn(forward, draw, seed)) {}

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

    /// A step in proportion to the inputs suits powers, a shorter one exponentials of large inputs:
    /// what either shows to be right is.
    std::optional<Diagnostics> compare(ArrayId moved, const Tensor& gradient) {
        const Tensor direction = normal(forward_, moved, random_);
        const double claimed = product(gradient, direction);
        std::optional<std::pair<Agreement, GradientSlope>> found;
        std::vector<double> steps = {step_ * draw_.width()};
        if (draw_.scale > 1) steps.push_back(step_ / draw_.scale);
        for (const double step : steps) {
            const Result<Slope> coarse = slope(moved, direction, step);
            if (!coarse) return coarse.error();
            const Result<Slope> fine = slope(moved, direction, step / 2);
            if (!fine) return fine.error();
            const double measured = (4 * fine->value - coarse->value) / 3;
            const double error = std::abs(fine->value - coarse->value) + fine->rounding;
            const Agreement verdict = judged(claimed, measured, error, spread(gradient, direction));
            if (!found || verdict == Agreement::Agrees || found->first == Agreement::Undecided)
                found = {verdict, GradientSlope{forward_[moved].name, claimed, measured,
                                                draw_.near.value_or(draw_.scale), draw_.chosen()}};
            if (verdict == Agreement::Agrees) break;
        }
        slopes_.push_back(*std::move(found));
        return std::nullopt;
    }

    /// `error`: how far two differences are apart, of which of smooth functions a sixteenth and
    /// less is left. `size`: what the terms of the claim add up to where their signs are random.
    /// What overflows on the way to a gradient of large inputs may be right of others.
    [[nodiscard]] Agreement judged(double claimed, double measured, double error,
                                   double size) const {
        constexpr double kNothing = 1e-9;
        if (!std::isfinite(measured) || !std::isfinite(error)) return Agreement::Undecided;
        if (!std::isfinite(claimed) || !std::isfinite(size))
            return draw_.is_ordinary() ? Agreement::Differs : Agreement::Undecided;
        const double apart = std::abs(claimed - measured);
        const double largest = std::max({1.0, draw_.scale, draw_.near.value_or(1)});
        if (apart <= kTolerance * size + kNothing * largest) return Agreement::Agrees;
        return error <= kSmooth * apart ? Agreement::Differs : Agreement::Undecided;
    }

    struct Slope {
        double value = 0;
        double rounding = 0;  ///< of a double's unit in every output
    };
    /// Of the sum of cotangents times outputs.
    Result<Slope> slope(ArrayId moved, const Tensor& direction, double step) {
        std::array<Tensors, 2> outputs;
        for (const std::size_t side : {0, 1}) {
            Tensors values = values_;
            Tensor& at = values.at(moved);
            for (std::size_t i = 0; i < at.values.size(); ++i)
                at.values[i] += (side == 0 ? step : -step) * direction.values[i];
            Result<Tensors> moved_outputs = evaluate_outputs(forward_, values);
            if (!moved_outputs) return moved_outputs.error();
            outputs[side] = std::move(moved_outputs).value();
        }
        Slope slope;
        for (const auto& [output, cotangent] : cotangents_) {
            const std::vector<double>& above = outputs[0].at(output).values;
            const std::vector<double>& below = outputs[1].at(output).values;
            for (std::size_t i = 0; i < above.size(); ++i) {
                slope.value += cotangent.values[i] * (above[i] - below[i]) / (2 * step);
                slope.rounding =
                    std::hypot(slope.rounding, 0x1p-53 * cotangent.values[i] * above[i] / step);
            }
        }
        return slope;
    }

    const Diagram& forward_;
    const Diagram& backward_;
    const Draw& draw_;
    double step_ = kStep;
    Random random_;
    Tensors values_;
    Tensors cotangents_;  ///< by the forward diagram's outputs
    std::vector<std::pair<Agreement, GradientSlope>> slopes_;
};

struct Votes {
    int agree = 0;
    int differ = 0;
    GradientSlope slope;  ///< of the last that does not agree
};

/// By input; none where arrays do not go together, or no input has a gradient.
Result<std::map<std::string, Votes>> votes_of(const Diagram& forward, const Diagram& backward,
                                              const Draw& draw, std::uint64_t seed) {
    std::map<std::string, Votes> inputs;
    for (std::uint64_t trial = 0; trial < draw.trials; ++trial) {
        Differences differences(forward, backward, draw, seed + trial);
        const Result<bool> fit = differences.run();
        if (!fit) return fit.error();
        if (!*fit) return std::map<std::string, Votes>{};
        for (const auto& [verdict, slope] : differences.slopes()) {
            Votes& votes = inputs[slope.input];
            votes.agree += verdict == Agreement::Agrees ? 1 : 0;
            votes.differ += verdict == Agreement::Differs ? 1 : 0;
            if (verdict != Agreement::Agrees) votes.slope = slope;
        }
    }
    return inputs;
}

}  // namespace

Result<GradientCheck> check_gradient(const Diagram& forward, const Diagram& backward,
                                     std::uint64_t seed) {
    const Diagram smooth_forward = smooth(forward);
    const Diagram smooth_backward = smooth(backward);
    GradientCheck check;
    for (const Draw& draw : draws_for(forward, backward)) {
        const Result<std::map<std::string, Votes>> inputs =
            votes_of(with_parameters(smooth_forward, draw), with_parameters(smooth_backward, draw),
                     draw, seed);
        if (!inputs && !draw.is_plain()) continue;  // a diagram has no values there
        if (!inputs) return inputs.error();
        if (inputs->empty()) return GradientCheck{Agreement::Undecided, std::nullopt};
        for (const auto& [input, votes] : *inputs) {
            // One alone may have met an edge.
            if (votes.differ > 1 || (draw.is_ordinary() && votes.differ == 1 && votes.agree == 0))
                return GradientCheck{Agreement::Differs, votes.slope};
            if (draw.is_plain() && votes.agree == 0) check = {Agreement::Undecided, votes.slope};
        }
    }
    return check;
}

}  // namespace napkin
