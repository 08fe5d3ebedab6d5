#include "codegen/export/gradient.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/export/messages.h"

namespace napkin::exporting {
namespace {

std::optional<std::size_t> place_of(const std::vector<ContractArray>& arrays,
                                    const std::string& name) {
    const auto found = std::find_if(arrays.begin(), arrays.end(),
                                    [&](const ContractArray& array) { return array.name == name; });
    if (found == arrays.end()) return std::nullopt;
    return static_cast<std::size_t>(found - arrays.begin());
}

/// `O` of `dO`.
std::string differentiated(const std::string& name) {
    return name.size() > 1 && name.front() == 'd' ? name.substr(1) : "";
}

std::string typed(const Contract& contract, const ContractArray& array) {
    return signature(contract, array) + " " + std::string(name_of(array.type));
}

std::vector<std::string> axes_of(const Contract& contract, const ContractArray& array) {
    std::vector<std::string> names;
    for (const AxisId axis : array.axes) names.push_back(contract[axis].name);
    return names;
}

class Matcher {
public:
    Matcher(const Contract& forward, const Contract& gradient)
        : forward_(forward), gradient_(gradient) {}

    Result<GradientCall> match() const {
        if (forward_.name == gradient_.name)
            return messages::gradient_differs(
                fmt::format("the gradient of `{0}` is called `{0}` too", forward_.name),
                "call one of the diagrams otherwise, or give `--name`");
        GradientCall call{gradient_.name, {}, {}};
        for (const ContractArray& input : gradient_.inputs) {
            const std::optional<GradientOperand> operand = operand_of(input.name);
            if (!operand) return unknown_operand(input);
            if (auto wrong = compare(input, counterpart(*operand))) return *wrong;
            call.operands.push_back(*operand);
        }
        for (const ContractArray& input : forward_.inputs) {
            call.results.push_back(place_of(gradient_.outputs, "d" + input.name));
            if (!call.results.back() && is_floating(input.type))
                return messages::gradient_differs(
                    fmt::format("`{}` computes no `d{}`", gradient_.name, input.name),
                    fmt::format("make the gradient of `{}` an output of it", input.name));
            if (call.results.back())
                if (auto wrong = compare(gradient_.outputs[*call.results.back()], input))
                    return *wrong;
        }
        if (auto wrong = compare_numbers()) return *wrong;
        return call;
    }

private:
    using Kind = GradientOperand::Kind;

    std::optional<GradientOperand> operand_of(const std::string& name) const {
        if (const auto at = place_of(forward_.inputs, name))
            return GradientOperand{Kind::Input, *at};
        if (const auto at = place_of(forward_.outputs, name))
            return GradientOperand{Kind::Output, *at};
        if (const auto at = place_of(forward_.outputs, differentiated(name)))
            return GradientOperand{Kind::Gradient, *at};
        return std::nullopt;
    }

    const ContractArray& counterpart(const GradientOperand& operand) const {
        return (operand.kind == Kind::Input ? forward_.inputs : forward_.outputs)[operand.number];
    }

    Diagnostic unknown_operand(const ContractArray& input) const {
        return messages::gradient_differs(
            fmt::format("`{0}` reads `{1}`, which `{2}` neither reads nor writes, and which is the "
                        "gradient of no output",
                        gradient_.name, input.name, forward_.name),
            fmt::format("make `{}` an output of `{}`, or compute it in `{}`", input.name,
                        forward_.name, gradient_.name));
    }

    /// An array of the gradient's program and the one of the other that it is, or is the gradient
    /// of.
    std::optional<Diagnostic> compare(const ContractArray& own, const ContractArray& other) const {
        if (own.type != other.type || axes_of(gradient_, own) != axes_of(forward_, other))
            return messages::gradient_differs(
                fmt::format("`{}` is {} in `{}`, and {} in `{}`", own.name, typed(gradient_, own),
                            gradient_.name, typed(forward_, other), forward_.name),
                "give both the same type and the same axes in the same order");
        for (std::size_t i = 0; i < own.axes.size(); ++i) {
            const std::optional<std::int64_t> served = gradient_[own.axes[i]].fixed;
            const std::optional<std::int64_t> known = forward_[other.axes[i]].fixed;
            if (served && served != known)
                return messages::gradient_differs(
                    fmt::format("axis `{}` is {} in `{}`, and {} in `{}`",
                                gradient_[own.axes[i]].name, *served, gradient_.name,
                                known ? std::to_string(*known) : "given at run time",
                                forward_.name),
                    "give both the same size with `--set`, or leave it to the run with "
                    "`--dynamic`");
        }
        return std::nullopt;
    }

    std::optional<Diagnostic> compare_numbers() const {
        const auto is_known = [&](const std::string& name) {
            return std::any_of(forward_.scalars.begin(), forward_.scalars.end(),
                               [&](const ContractScalar& known) { return known.name == name; }) ||
                   std::any_of(forward_.axes.begin(), forward_.axes.end(),
                               [&](const ContractAxis& known) {
                                   return known.is_operator_argument() && known.name == name;
                               });
        };
        std::vector<std::string> numbers;
        for (const ContractScalar& scalar : gradient_.scalars) numbers.push_back(scalar.name);
        for (const ContractAxis& axis : gradient_.axes)
            if (axis.is_operator_argument()) numbers.push_back(axis.name);
        for (const std::string& name : numbers)
            if (!is_known(name))
                return messages::gradient_differs(
                    fmt::format("`{}` takes a number `{}`, which `{}` does not", gradient_.name,
                                name, forward_.name),
                    fmt::format("call the number of `{}` the same", forward_.name));
        return compare_parameters();
    }

    /// Those of one name are one number to the operator.
    std::optional<Diagnostic> compare_parameters() const {
        for (const ContractScalar& own : gradient_.scalars)
            for (const ContractScalar& other : forward_.scalars) {
                if (own.name != other.name) continue;
                if (own.type != other.type)
                    return messages::gradient_differs(
                        fmt::format("parameter `{}` is {} in `{}`, and {} in `{}`", own.name,
                                    name_of(own.type), gradient_.name, name_of(other.type),
                                    forward_.name),
                        "give both the same type");
                if (own.value != other.value)
                    return messages::gradient_differs(
                        fmt::format("parameter `{}` has another default in `{}` than in `{}`",
                                    own.name, gradient_.name, forward_.name),
                        "give both the same, in the diagrams or with `--set`");
            }
        return std::nullopt;
    }

    const Contract& forward_;
    const Contract& gradient_;
};

}  // namespace

Result<GradientCall> match_gradient(const Contract& forward, const Contract& gradient) {
    return Matcher(forward, gradient).match();
}

}  // namespace napkin::exporting
