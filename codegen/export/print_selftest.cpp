// The self-test: its program in C, and its file of stored results.
#include <fmt/format.h>

#include "codegen/export/printing.h"
#include "codegen/export/templates.h"
#include "codegen/kernel_program.h"

namespace napkin::exporting {
namespace {

std::string slot(const Contract& contract, const ContractArray& array, bool input) {
    std::string axes;
    for (const AxisId axis : array.axes)
        axes += (axes.empty() ? "\"" : ", \"") + contract[axis].name + "\"";
    std::string order;
    for (const std::uint32_t dimension : array.order)
        order += (order.empty() ? "" : ", ") + std::to_string(dimension);
    return fmt::format(
        "    {{\"{}\", {}, {}, {}, {}, {{{}}}, {{{}}}, offsetof({}_arguments, {})}},\n", array.name,
        input ? 1 : 0, type_constant(contract, array.type), bits_of(array.type), array.axes.size(),
        axes.empty() ? "NULL" : axes, order.empty() ? "0" : order, contract.name, array.identifier);
}

std::string recipe_text(const InputRecipe& recipe) {
    const std::string key = fmt::format("{:016x}", recipe.key);
    switch (recipe.kind) {
    case InputRecipe::Kind::Normal: return fmt::format("normal {} {}", key, recipe.bits);
    case InputRecipe::Kind::Positive: return fmt::format("positive {} {}", key, recipe.bits);
    case InputRecipe::Kind::Range:
        return fmt::format("range {} {} {}", key, recipe.low, recipe.count);
    case InputRecipe::Kind::Documents: return "documents " + key;
    }
    throw InternalError("unknown recipe");
}

/// Few digits, and no less than it is: an error may be all of it.
std::string tolerance_text(double tolerance) {
    constexpr double kUp = 1.01;
    return fmt::format("{:.3g}", kUp * tolerance);
}

std::string case_text(const Contract& contract, const SelfTestCase& test) {
    std::string text = "case\n";
    for (const ContractAxis& axis : contract.axes)
        text += fmt::format("size {} {}\n", axis.name, test.sizes.at(axis.name));
    for (const ContractScalar& scalar : contract.scalars) {
        const double value = test.scalars.at(scalar.array);
        text += is_floating(scalar.type)
                    ? fmt::format("scalar {} {:a}\n", scalar.name, value)
                    : fmt::format("scalar {} {}\n", scalar.name, static_cast<std::int64_t>(value));
    }
    for (const ContractArray& array : contract.inputs)
        text += fmt::format("input {} {}\n", array.name, recipe_text(test.recipes.at(array.array)));
    for (const ContractArray& array : contract.outputs) {
        const SelfTestCase::Output& output = test.outputs.at(array.array);
        text += fmt::format("output {} {}\n", array.name, output.offsets.size());
        for (std::size_t i = 0; i < output.offsets.size(); ++i)
            text += fmt::format("{} {:a} {}\n", output.offsets[i], output.values[i],
                                tolerance_text(output.tolerances[i]));
    }
    return text + "end\n";
}

}  // namespace

std::string print_selftest(const Contract& contract, Places places) {
    for (const ContractArray& array : contract.inputs)
        places["slots"] += slot(contract, array, true);
    for (const ContractArray& array : contract.outputs)
        places["slots"] += slot(contract, array, false);
    std::string values;
    const auto add = [&](const std::string& name, const std::string& identifier, const char* type) {
        values += fmt::format("    if (strcmp(name, \"{}\") == 0) arguments->{} = ({})value;\n",
                              name, identifier, type);
    };
    for (const ContractScalar& scalar : contract.scalars)
        add(scalar.name, scalar.identifier, is_floating(scalar.type) ? "float" : "int64_t");
    for (const ContractAxis& axis : contract.axes)
        if (axis.is_argument()) add(axis.name, axis.identifier, "int64_t");
    places["set_values"] = values;
    return fill(export_selftest_template(), places);
}

std::string print_cases(const Contract& contract, const std::vector<SelfTestCase>& cases,
                        const Places& places) {
    std::string text = fill(
        "# @name@: what the reference computes, in double precision, from inputs that are made "
        "from "
        "keys.\n# @mark@\n#\n"
        "# size AXIS SIZE, scalar NAME VALUE, input ARRAY KIND KEY ..., output ARRAY COUNT, then a "
        "line each:\n# place in the row-major array, value, largest difference of a correct "
        "kernel.\n",
        places);
    for (const SelfTestCase& test : cases) text += case_text(contract, test);
    return text;
}

}  // namespace napkin::exporting
