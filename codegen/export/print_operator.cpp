// The operator for PyTorch, in Python.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/export/printing.h"
#include "codegen/export/templates.h"

namespace napkin::exporting {
namespace {

/// What is passed by value: name, identifier, type and default.
struct Value {
    std::string name;
    std::string identifier;
    bool real = false;
    std::string fallback;  ///< empty: there is none
};

/// Sizes first, then scalars, of which those with a default are last.
std::vector<Value> values_of(const Contract& contract) {
    std::vector<Value> values;
    for (const ContractAxis& axis : contract.axes)
        if (axis.is_operator_argument()) values.push_back({axis.name, axis.identifier, false, ""});
    for (const ContractScalar& scalar : contract.scalars)
        values.push_back({scalar.name, scalar.identifier, is_floating(scalar.type),
                          scalar.value ? number_text(scalar, Language::Python) : ""});
    return values;
}

std::string_view torch_type(ElementType type) {
    switch (type) {
    case ElementType::F32:
    case ElementType::TF32: return "torch.float32";
    case ElementType::BF16: return "torch.bfloat16";
    case ElementType::F16: return "torch.float16";
    case ElementType::E4M3: return "torch.float8_e4m3fn";
    case ElementType::E5M2: return "torch.float8_e5m2";
    case ElementType::I8: return "torch.int8";
    case ElementType::I32: return "torch.int32";
    case ElementType::I64: return "torch.int64";
    case ElementType::Bool: return "torch.bool";
    case ElementType::I4: return "torch.uint8";
    case ElementType::F64: break;
    }
    throw InternalError("a type that PyTorch does not have");
}

/// A tuple of one element has a comma too.
std::string tuple(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
    return "(" + text + (items.size() == 1 ? ",)" : ")");
}

std::string quoted(const std::string& text) {
    return "\"" + text + "\"";
}

std::string array_row(const Contract& contract, const ContractArray& array) {
    std::vector<std::string> axes;
    for (const AxisId axis : array.axes) axes.push_back(quoted(contract[axis].name));
    std::vector<std::string> order;
    for (const std::uint32_t dimension : array.order) order.push_back(std::to_string(dimension));
    return fmt::format("    _Array({}, {}, {}, {}, {}, {}{}),\n", quoted(array.name),
                       torch_type(array.type), tuple(axes), tuple(order), array.alignment,
                       array.multiple,
                       array.packed() > 1 ? fmt::format(", {}", array.packed()) : "");
}

std::string rows(const Contract& contract, const std::vector<ContractArray>& arrays) {
    std::string text;
    for (const ContractArray& array : arrays) text += array_row(contract, array);
    return text;
}

/// Of kernel `at`.
std::string parameter_text(const Contract& contract, const KernelParameter& parameter,
                           std::size_t at) {
    switch (parameter.kind) {
    case KernelParameter::Kind::Buffer:
        return fmt::format("(\"address\", {}, 0)", quoted(contract[parameter.array].name));
    case KernelParameter::Kind::Stride:
        return fmt::format("(\"stride\", {}, {})", quoted(contract[parameter.array].name),
                           parameter.dimension);
    case KernelParameter::Kind::Counter: return fmt::format("(\"counter\", {}, 0)", at);
    case KernelParameter::Kind::Size:
        return fmt::format("(\"size\", {}, 0)", quoted(contract[parameter.axis].name));
    case KernelParameter::Kind::TensorMap: {
        std::vector<std::string> dimensions;
        std::vector<std::string> box;
        for (const std::uint32_t d : parameter.map.dimensions)
            dimensions.push_back(std::to_string(d));
        for (const std::int64_t extent : parameter.map.box) box.push_back(std::to_string(extent));
        return fmt::format(
            "(\"map\", {}, _Map({}, {}, {}, {}))", quoted(contract[parameter.array].name),
            tensor_map_type(parameter.type).number,
            tensor_map_swizzle(parameter.map.swizzle).number, tuple(dimensions), tuple(box));
    }
    case KernelParameter::Kind::Scalar: {
        const ContractScalar& scalar = contract.scalar(parameter.array);
        if (is_floating(scalar.type)) return fmt::format("(\"real\", {}, 0)", quoted(scalar.name));
        const Interval range = scalar.range().value_or(kAny64);
        return fmt::format("(\"integer\", {}, ({}, {}))", quoted(scalar.name), range.low,
                           range.high);
    }
    }
    throw InternalError("unknown kernel parameter");
}

bool takes_maps(const EmittedKernel& kernel) {
    return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                       [](const KernelParameter& parameter) {
                           return parameter.kind == KernelParameter::Kind::TensorMap;
                       });
}

std::string kernel_row(const Contract& contract, const EmittedKernel& kernel, std::size_t at) {
    std::string text =
        fmt::format("    _Kernel(\n        {},\n        {},\n        {},\n        {},\n        (\n",
                    quoted(kernel.name), kernel.threads, kernel.shared_bytes,
                    kernel.persistent ? "True" : "False");
    for (const KernelParameter& parameter : kernel.parameters)
        text += "            " + parameter_text(contract, parameter, at) + ",\n";
    return text + "        ),\n    ),\n";
}

/// `(_KERNELS[0], _Kernel(...))`.
std::string contiguous_rows(const Contract& contract, const ExportKernels& kernels) {
    std::string text = "(\n";
    for (std::size_t at = 0; at < kernels.contiguous.size(); ++at)
        text += kernels.contiguous[at] ? kernel_row(contract, *kernels.contiguous[at], at)
                                       : fmt::format("    _KERNELS[{}],\n", at);
    return text + ")";
}

std::string operator_sizes(const Contract& contract) {
    const auto size = [&](AxisId axis) { return "size[" + quoted(contract[axis].name) + "]"; };
    std::string code;
    for (const ContractAxis& axis : contract.axes) {
        if (axis.is_operator_argument())
            code += fmt::format("    _set_size(size, {0}, given[{0}], \"the arguments\")\n",
                                quoted(axis.name));
        if (axis.fixed && !axis.on_input)
            code += fmt::format("    size[{}] = {}\n", quoted(axis.name), *axis.fixed);
    }
    for (const ContractAxis& axis : contract.axes)
        if (axis.derived)
            code += fmt::format("    _set_size(size, {}, {}, {})\n", quoted(axis.name),
                                size_code(*axis.derived, Language::Python, size),
                                quoted(print(*axis.derived, contract.names)));
    return code.empty() ? "    # None: all are on inputs." : code;
}

std::string tiles(const EmittedProgram& program, const Contract& contract) {
    std::string code;
    for (const EmittedKernel& kernel : program.kernels) {
        std::string product;
        for (const GridAxis& axis : kernel.grid) {
            std::string divided = "size[" + quoted(contract[axis.axis].name) + "]";
            if (axis.within) divided = fmt::format("min({}, {})", *axis.within, divided);
            const std::string count =
                axis.size == 1 ? divided : fmt::format("-(-{} // {})", divided, axis.size);
            product += (product.empty() ? "" : " * ") + count;
        }
        code += "        " + (product.empty() ? std::string("1") : product) + ",\n";
    }
    return code;
}

std::string schema(const Contract& contract, const std::vector<Value>& values) {
    std::string text;
    for (const ContractArray& array : contract.inputs)
        text += (text.empty() ? "Tensor " : ", Tensor ") + array.identifier;
    for (const Value& value : values) {
        text += (text.empty() ? "" : ", ") + std::string(value.real ? "float " : "SymInt ") +
                value.identifier;
        if (!value.fallback.empty() && value.fallback.find("inf") == std::string::npos)
            text += "=" + value.fallback;
    }
    std::string results;
    for (std::size_t i = 0; i < contract.outputs.size(); ++i)
        results += results.empty() ? "Tensor" : ", Tensor";
    return "(" + text + ") -> " + (contract.outputs.size() == 1 ? results : "(" + results + ")");
}

std::string gradient_part(const GradientCall& gradient, Places places) {
    using Kind = GradientOperand::Kind;
    std::vector<std::string> operands;
    for (const GradientOperand& operand : gradient.operands)
        operands.push_back(fmt::format("(\"{}\", {})",
                                       operand.kind == Kind::Input    ? "input"
                                       : operand.kind == Kind::Output ? "output"
                                                                      : "gradient",
                                       operand.number));
    std::vector<std::string> results;
    for (const std::optional<std::size_t>& result : gradient.results)
        results.push_back(result ? std::to_string(*result) : "None");
    places["gradient"] = gradient.name;
    places["operands"] = tuple(operands).substr(1);
    places["operands"].pop_back();
    places["results"] = tuple(results).substr(1);
    places["results"].pop_back();
    return fill(export_operator_gradient_template(), places);
}

}  // namespace

std::string call_text(const Contract& contract) {
    std::string results;
    for (const ContractArray& array : contract.outputs)
        results += (results.empty() ? "" : ", ") + array.identifier;
    std::string arguments;
    for (const ContractArray& array : contract.inputs)
        arguments += (arguments.empty() ? "" : ", ") + array.identifier;
    for (const Value& value : values_of(contract))
        arguments += (arguments.empty() ? "" : ", ") + value.identifier +
                     (value.fallback.empty() ? "" : "=" + value.fallback);
    return fmt::format("{0} = {1}.{1}({2})", results, contract.name, arguments);
}

std::string print_operator(const Contract& contract, const ExportKernels& kernels,
                           const GradientCall* gradient, Places places,
                           const std::vector<std::string>& description) {
    const EmittedProgram& program = kernels.program;
    const std::vector<Value> values = values_of(contract);
    std::vector<std::string> names;
    std::vector<std::string> parameters;
    std::vector<std::string> arguments;
    for (const ContractArray& array : contract.inputs) {
        parameters.push_back(array.identifier);
        arguments.push_back(array.identifier);
    }
    for (const Value& value : values) {
        names.push_back(quoted(value.name));
        arguments.push_back(value.identifier);
        parameters.push_back(value.identifier +
                             (value.fallback.empty() ? "" : "=" + value.fallback));
    }
    for (const char* place : {"axes", "kernels"}) places[place];
    const auto joined = [](const std::vector<std::string>& items, bool comma) {
        std::string text;
        for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
        return text + (comma && items.size() == 1 ? "," : "");
    };
    for (const ContractAxis& axis : contract.axes)
        places["axes"] +=
            fmt::format("    {}: _Axis({}, {}, {}),\n", quoted(axis.name),
                        axis.fixed ? std::to_string(*axis.fixed) : "None", axis.least, axis.most);
    for (std::size_t at = 0; at < program.kernels.size(); ++at)
        places["kernels"] += kernel_row(contract, program.kernels[at], at);
    const std::int64_t alignment = kernels.contiguous_alignment();
    places["contiguous_alignment"] =
        alignment == 1
            ? "True"
            : fmt::format("all(tensor.data_ptr() % {} == 0 for tensor in tensors)", alignment);
    places["contiguous"] = kernels.differ() ? contiguous_rows(contract, kernels) : "_KERNELS";
    places["contract"] = lines_text(description, "    ");
    places["call"] = call_text(contract);
    places["inputs"] = rows(contract, contract.inputs);
    places["outputs"] = rows(contract, contract.outputs);
    places["intermediates"] = rows(contract, contract.intermediates);
    places["values"] = joined(names, true);
    places["capability"] =
        fmt::format("{}, {}", contract.capability / 10, contract.capability % 10);
    places["alone"] = contract.alone ? "True" : "False";
    places["variant"] = contract.alone ? "a" : "";
    for (const char* place : {"counter_argument", "counters", "map_type", "map_argument"})
        places[place];
    places["addresses"] = "len(_ARRAYS)";
    if (kernels.count_tiles()) {
        const std::size_t count = program.kernels.size();
        places["addresses"] = fmt::format("(len(_ARRAYS) + {})", count);
        places["counter_argument"] =
            "                if kind == \"counter\":\n"
            "                    places[at] = ctypes.addressof(self.addresses) + 8 * (len(_ARRAYS) "
            "+ what)\n"
            "                    continue\n";
        places["counters"] = fmt::format(
            "    counters = torch.zeros({0}, dtype=torch.int32, device=device)  # of tiles\n"
            "    addresses += [counters.data_ptr() + 4 * at for at in range({0})]\n",
            count);
    }
    if (std::any_of(program.kernels.begin(), program.kernels.end(), takes_maps)) {
        places["map_type"] = export_operator_maps_template();
        places["map_argument"] =
            "                if kind == \"map\":\n"
            "                    made = _TensorMaps(detail, what, plan.arrays[what])\n"
            "                    maps = plan.maps.setdefault((what, detail), made)\n"
            "                    self.maps.append((places, at, maps, _NUMBER[what]))\n"
            "                    continue\n";
    }
    places["backward_text"] = gradient == nullptr
                                  ? "There is no backward."
                                  : "Its gradient is " + gradient->name + ", which lies beside it.";
    places["gradient_part"] = gradient == nullptr ? "" : gradient_part(*gradient, places);
    places["autograd"] = gradient == nullptr ? "" : ", _gradients, _keep";
    places["schema"] = schema(contract, values);
    places["derived_sizes"] = operator_sizes(contract);
    places["tiles"] = tiles(program, contract);
    places["parameters"] = joined(parameters, false);
    places["arguments"] = joined(arguments, false);
    return fill(export_operator_template(), places);
}

}  // namespace napkin::exporting
