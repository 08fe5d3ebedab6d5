// The launcher's header and source in C.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "codegen/export/printing.h"
#include "codegen/export/templates.h"
#include "diagrams/rounding.h"

namespace napkin::exporting {
namespace {

std::vector<ContractArray> callers_of(const Contract& contract) {
    std::vector<ContractArray> arrays = contract.inputs;
    arrays.insert(arrays.end(), contract.outputs.begin(), contract.outputs.end());
    return arrays;
}

std::vector<ContractArray> arrays_of(const Contract& contract) {
    std::vector<ContractArray> arrays = callers_of(contract);
    arrays.insert(arrays.end(), contract.intermediates.begin(), contract.intermediates.end());
    return arrays;
}

bool is_input(const Contract& contract, const ContractArray& array) {
    return std::any_of(contract.inputs.begin(), contract.inputs.end(),
                       [&](const ContractArray& input) { return input.array == array.array; });
}

std::string axes_text(const Contract& contract, const ContractArray& array) {
    std::string text;
    for (const AxisId axis : array.axes) text += (text.empty() ? "" : ", ") + contract[axis].name;
    return "[" + text + "]";
}

/// `void *data, int64_t b, int64_t h`.
std::string maker_parameters(const Contract& contract, const ContractArray& array) {
    std::string text = "void *data";
    for (const AxisId axis : array.axes) text += ", int64_t " + contract[axis].identifier;
    return text;
}

std::string maker(const Contract& contract, const ContractArray& array) {
    return fmt::format("{0}_view {0}_make_{1}({2})", contract.name, array.identifier,
                       maker_parameters(contract, array));
}

std::string members(const Contract& contract) {
    std::string text;
    for (const ContractArray& array : callers_of(contract))
        text += fmt::format("    {}_view {}; /**< {} {}, {} */\n", contract.name, array.identifier,
                            name_of(array.type), axes_text(contract, array),
                            is_input(contract, array) ? "read" : "written");
    for (const ContractScalar& scalar : contract.scalars)
        text += fmt::format("    {} {};\n", is_floating(scalar.type) ? "float" : "int64_t",
                            scalar.identifier);
    for (const ContractAxis& axis : contract.axes)
        if (axis.is_argument())
            text +=
                fmt::format("    int64_t {}; /**< a size that no array has */\n", axis.identifier);
    return text;
}

std::string use(const Contract& contract) {
    std::string text;
    for (const ContractArray& array : callers_of(contract)) {
        std::string sizes;
        for (const AxisId axis : array.axes) sizes += ", " + contract[axis].name;
        text += fmt::format(" *     arguments.{1} = {0}_make_{1}({2}_on_device{3});{4}\n",
                            contract.name, array.identifier, array.identifier, sizes,
                            text.empty() ? "  // or any strides" : "");
    }
    return text;
}

std::string list_text(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
    return "{" + (text.empty() ? "0" : text) + "}";
}

std::string array_row(const Contract& contract, const ContractArray& array, bool written) {
    std::vector<std::string> axes;
    for (const AxisId axis : array.axes) axes.push_back("AXIS_" + contract[axis].identifier);
    std::vector<std::string> order;
    for (const std::uint32_t dimension : array.order) order.push_back(std::to_string(dimension));
    return fmt::format("    {{\"{}\", {}, {}, {}, {}, {}, {}, {}, {}}},\n", array.name,
                       type_constant(contract, array.type), bits_of(array.type), written ? 1 : 0,
                       array.axes.size(), list_text(axes), list_text(order), array.alignment,
                       array.multiple);
}

std::string launcher_sizes(const Contract& contract) {
    const auto size = [&](AxisId axis) { return "size[AXIS_" + contract[axis].identifier + "]"; };
    std::string code;
    for (const ContractAxis& axis : contract.axes) {
        const std::string number = "AXIS_" + axis.identifier;
        if (axis.is_argument())
            code += fmt::format(
                "    if ((status = set_size(plan, {}, arguments->{}, \"the arguments\", -1, "
                "problem)) "
                "!= {}_OK)\n        return status;\n",
                number, axis.identifier, upper(contract.name));
        // A fixed size may be on no array of the caller's.
        if (axis.fixed && !axis.on_caller)
            code += fmt::format("    size[{}] = {};\n", number, *axis.fixed);
    }
    for (const ContractAxis& axis : contract.axes) {
        if (!axis.derived) continue;
        code += fmt::format(
            "    if ((status = follow(plan, AXIS_{}, {}, &whole, \"{}\", problem)) != "
            "{}_OK)\n        return status;\n",
            axis.identifier, size_code(*axis.derived, Language::C, size),
            print(*axis.derived, contract.names), upper(contract.name));
    }
    return code;
}

std::string tiles(const Contract& contract, const EmittedProgram& program) {
    std::string code;
    for (std::size_t number = 0; number < program.kernels.size(); ++number) {
        std::string product;
        for (const GridAxis& axis : program.kernels[number].grid) {
            std::string divided = "size[AXIS_" + contract[axis.axis].identifier + "]";
            if (axis.within) divided = fmt::format("smaller({}, {})", *axis.within, divided);
            const std::string count =
                axis.size == 1 ? divided : fmt::format("ceil_divide({}, {})", divided, axis.size);
            product = product.empty() ? count : fmt::format("times({}, {})", product, count);
        }
        code += fmt::format("    plan->tiles[{}] = {};\n", number, product.empty() ? "1" : product);
    }
    return code;
}

/// `{ARRAY_Q, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_SWIZZLE_128B, 2, {1, 0}, {64, 128}},`
std::string map_row(const Contract& contract, const KernelParameter& parameter) {
    std::vector<std::string> dimensions;
    std::vector<std::string> box;
    for (const std::uint32_t d : parameter.map.dimensions) dimensions.push_back(std::to_string(d));
    for (const std::int64_t extent : parameter.map.box) box.push_back(std::to_string(extent));
    return fmt::format("    {{ARRAY_{}, {},\n     {}, {}, {}, {}}},\n",
                       contract[parameter.array].identifier, tensor_map_type(parameter.type).name,
                       tensor_map_swizzle(parameter.map.swizzle).name, dimensions.size(),
                       list_text(dimensions), list_text(box));
}

/// The tensor maps of all kernels, each once.
struct MapRows {
    std::vector<std::string> list;
    std::size_t number(const std::string& row) {
        const auto known = std::find(list.begin(), list.end(), row);
        const auto number = static_cast<std::size_t>(known - list.begin());
        if (known == list.end()) list.push_back(row);
        return number;
    }
};

std::string value_text(const Contract& contract, const KernelParameter& parameter, MapRows& maps) {
    switch (parameter.kind) {
    case KernelParameter::Kind::Buffer:
        return "&plan.data[ARRAY_" + contract[parameter.array].identifier + "]";
    case KernelParameter::Kind::Stride:
        return fmt::format("&plan.stride[ARRAY_{}][{}]", contract[parameter.array].identifier,
                           parameter.dimension);
    case KernelParameter::Kind::Size: return "&" + parameter.name;
    case KernelParameter::Kind::TensorMap:
        return fmt::format("map_in(&maps, {})", maps.number(map_row(contract, parameter)));
    case KernelParameter::Kind::Counter: return "&" + parameter.name;
    case KernelParameter::Kind::Scalar:
        return "(void *)&arguments->" + contract.scalar(parameter.array).identifier;
    }
    throw InternalError("unknown kernel parameter");
}

constexpr std::size_t kCounterBytes = 4;

/// What a launcher of kernels that count their tiles has more, by places.
void add_counters(const ExportKernels& kernels, Places& places) {
    for (const char* place : {"counter_member", "counter_room", "counter_reset"}) places[place];
    if (!kernels.count_tiles()) return;
    const std::size_t bytes = kCounterBytes * kernels.program.kernels.size();
    places["counter_member"] = "    int64_t counters;        /* of tiles, there */";
    places["counter_room"] =
        fmt::format("    plan->counters = plan->workspace;\n    plan->workspace += {};",
                    ceil_quotient(static_cast<std::int64_t>(bytes), 256) * 256);
    places["counter_reset"] = fmt::format(
        "    {{\n        const cudaError_t error =\n"
        "            cudaMemsetAsync((char *)workspace + plan.counters, 0, {}, stream);\n"
        "        if (error != cudaSuccess) return cuda_failed(error, \"cudaMemsetAsync\", "
        "problem);\n"
        "    }}",
        bytes);
}

/// One kernel's launch in the place of kernel `at`, its arguments in the order of its parameters.
std::string launch(const Contract& contract, const EmittedKernel& kernel, std::size_t number,
                   std::size_t at, MapRows& maps) {
    std::string code = "{\n";
    std::string values;
    for (const KernelParameter& parameter : kernel.parameters) {
        if (parameter.kind == KernelParameter::Kind::Size)
            code += fmt::format("        int {} = (int)plan.size[AXIS_{}];\n", parameter.name,
                                contract[parameter.axis].identifier);
        if (parameter.kind == KernelParameter::Kind::Counter)
            code += fmt::format("        void *{} = (char *)workspace + plan.counters + {};\n",
                                parameter.name, kCounterBytes * at);
        values += fmt::format("            {},\n", value_text(contract, parameter, maps));
    }
    return code + fmt::format(
                      "        void *values[] = {{\n{0}        }};\n"
                      "        status = start({1}, plan.tiles[{2}], values, stream, problem);\n"
                      "        if (status != {3}_OK) return status;\n    }}",
                      values, number, at, upper(contract.name));
}

/// What a launcher that makes tensor maps has more, by places.
void add_maps(const MapRows& maps, Places& places) {
    for (const char* place : {"map_header", "map_maker", "map_room", "map_call"}) places[place];
    if (maps.list.empty()) return;
    places["map_number"] = std::to_string(maps.list.size());
    for (const std::string& row : maps.list) places["maps"] += row;
    places["map_header"] = "#include <cuda.h>";
    places["map_maker"] = fill(export_maps_template(), places);
    places["map_room"] = "    Maps maps;";
    places["map_call"] =
        fill("    if (status == @NAME@_OK) status = make_maps(&plan, &maps, problem);", places);
}

/// Of integers that have bounds of their own within the launcher's 64 bits.
std::string number_checks(const Contract& contract) {
    std::string code;
    for (const ContractScalar& scalar : contract.scalars)
        if (const std::optional<Interval> range = scalar.range())
            code += fmt::format(
                "    if (status == @NAME@_OK)\n"
                "        status = check_number(\"{}\", arguments->{}, \"{}\", {}, {}, problem);\n",
                scalar.name, scalar.identifier, name_of(scalar.type), range->low, range->high);
    return code.empty() ? "    /* None: there are no narrow integers. */" : code;
}

std::string makers(const Contract& contract) {
    std::string code;
    for (const ContractArray& array : callers_of(contract)) {
        std::vector<std::string> sizes;
        for (const AxisId axis : array.axes) sizes.push_back(contract[axis].identifier);
        code += fmt::format(
            "\n{} {{\n    const int64_t sizes[] = {};\n    return "
            "contiguous(ARRAY_{}, data, sizes);\n}}\n",
            maker(contract, array), list_text(sizes), array.identifier);
    }
    return code;
}

std::string defaults(const Contract& contract) {
    std::string code;
    for (const ContractScalar& scalar : contract.scalars)
        if (scalar.value)
            code += fmt::format("    arguments->{} = {};\n", scalar.identifier,
                                number_text(scalar, Language::C));
    return code;
}

}  // namespace

std::string number_text(const ContractScalar& scalar, Language language) {
    const double value = scalar.value.value_or(0);
    const bool c = language == Language::C;
    if (!is_floating(scalar.type)) return fmt::format("{}", static_cast<std::int64_t>(value));
    if (std::isinf(value))
        return (value < 0 ? "-" : "") + std::string(c ? "INFINITY" : "float(\"inf\")");
    // The fewest digits that are read as the same number: callers pass what is narrower as f32.
    std::string text = scalar.type == ElementType::F64
                           ? fmt::format("{}", value)
                           : fmt::format("{}", static_cast<float>(value));
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + (c ? "f" : "");
}

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string lines_text(const std::vector<std::string>& lines, const std::string& before) {
    std::string text;
    for (const std::string& line : lines) {
        std::string whole = before + line;
        while (!whole.empty() && whole.back() == ' ') whole.pop_back();
        text += whole + "\n";
    }
    return text;
}

std::string type_constant(const Contract& contract, ElementType type) {
    const ElementType stored = type == ElementType::TF32 ? ElementType::F32 : type;
    return upper(contract.name) + "_" + upper(std::string(name_of(stored)));
}

std::string print_header(const Contract& contract, const EmittedProgram& program, Places places,
                         const std::vector<std::string>& description) {
    std::size_t rank = 1;
    std::string prototypes;
    for (const ContractArray& array : arrays_of(contract)) rank = std::max(rank, array.axes.size());
    for (const ContractArray& array : callers_of(contract))
        prototypes += maker(contract, array) + ";\n";
    places["contract"] = lines_text(description, " *     ");
    places["use"] = use(contract);
    places["max_rank"] = std::to_string(rank);
    places["members"] = members(contract);
    places["makers"] = prototypes;
    places["kernel_count"] = program.kernels.size() == 1 ? "the kernel" : "the kernels";
    return fill(export_header_template(), places);
}

std::string print_launcher(const Contract& contract, const ExportKernels& kernels, Places places) {
    const EmittedProgram& program = kernels.program;
    const std::vector<const EmittedKernel*> numbered = kernels.numbered();
    const std::vector<ContractArray> all = arrays_of(contract);
    places["axis_numbers"];  // a program may have no axes
    places["axes"];
    for (const ContractAxis& axis : contract.axes) {
        places["axis_numbers"] += fmt::format("    AXIS_{},\n", axis.identifier);
        places["axes"] +=
            fmt::format("    {{\"{}\", {}, {}, {}}},\n", axis.name, axis.fixed.value_or(0),
                        axis.least, std::max(axis.most, axis.fixed.value_or(0)));
    }
    for (std::size_t number = 0; number < all.size(); ++number) {
        places["array_numbers"] += fmt::format("    ARRAY_{},\n", all[number].identifier);
        places["arrays"] += array_row(contract, all[number], !is_input(contract, all[number]));
    }
    for (const EmittedKernel* kernel : numbered)
        places["kernels"] +=
            fmt::format("    {{\"{}\", {}, {}, {}}},\n", kernel->name, kernel->threads,
                        kernel->shared_bytes, kernel->persistent ? 1 : 0);
    MapRows maps;
    for (std::size_t at = 0; at < program.kernels.size(); ++at) {
        const std::string strided = launch(contract, program.kernels[at], at, at, maps);
        if (kernels.contiguous[at]) {
            const std::size_t number = kernels.contiguous_number(at);
            places["launches"] +=
                fmt::format("    if (plan.contiguous) {} else {}\n",
                            launch(contract, *numbered[number], number, at, maps), strided);
        } else {
            places["launches"] += "    " + strided + "\n";
        }
    }
    for (const ContractArray& array : callers_of(contract)) {
        const std::string number = "ARRAY_" + array.identifier;
        places["views"] +=
            fmt::format("    views[{}] = &arguments->{};\n", number, array.identifier);
    }
    places["callers"] = std::to_string(callers_of(contract).size());
    places["launch_number"] = std::to_string(program.kernels.size());
    places["kernel_number"] = std::to_string(numbered.size());
    places["contiguous_alignment"] = std::to_string(kernels.contiguous_alignment());
    places["capability"] = std::to_string(contract.capability);
    places["derived_sizes"] = launcher_sizes(contract);
    places["number_checks"] = fill(number_checks(contract), places);
    places["tiles"] = tiles(contract, program);
    places["defaults"] = defaults(contract);
    places["makers"] = makers(contract);
    places["alone"] = contract.alone ? "1" : "0";
    add_maps(maps, places);
    add_counters(kernels, places);
    return fill(export_launcher_template(), places);
}

}  // namespace napkin::exporting
