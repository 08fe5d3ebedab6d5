#include "codegen/export/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "codegen/architecture.h"
#include "codegen/kernel_program.h"
#include "codegen/names.h"

namespace napkin::exporting {
namespace {

/// What strides in tensor maps are multiples of.
std::int64_t elements_in_unit(ElementType type) {
    constexpr std::int64_t kUnitBits = 128;
    return kUnitBits / bits_of(type);
}

ContractArray contract_array(const Diagram& diagram, const EmittedProgram& program,
                             const DeviceArray& device, Names& identifiers) {
    const Array& array = diagram[device.array];
    ContractArray result;
    result.array = device.array;
    result.name = array.name;
    result.identifier = identifiers.fresh(array.name);
    result.type = device.type;
    result.axes = array.axes;
    result.order = array.layout;
    if (result.order.empty()) {
        result.order.resize(array.axes.size());
        std::iota(result.order.begin(), result.order.end(), 0U);
    }
    result.alignment = kernel::element_bytes(device.type);
    result.multiple = result.packed();
    for (const EmittedKernel& kernel : program.kernels)
        for (const KernelParameter& parameter : kernel.parameters) {
            if (parameter.array != device.array) continue;
            if (parameter.kind == KernelParameter::Kind::Buffer)
                result.alignment = std::lcm(result.alignment, parameter.multiple);
            else if (parameter.kind == KernelParameter::Kind::Stride)
                result.multiple = std::lcm(result.multiple, parameter.multiple);
            else if (parameter.kind == KernelParameter::Kind::TensorMap)
                result.multiple = std::lcm(result.multiple, elements_in_unit(device.type));
        }
    return result;
}

void add_arrays(const Diagram& diagram, const EmittedProgram& program, Names& identifiers,
                Contract& contract) {
    for (std::size_t at = 0; at < diagram.arrays.size(); ++at) {
        const ArrayId id{static_cast<std::uint32_t>(at)};
        const auto device =
            std::find_if(program.arrays.begin(), program.arrays.end(),
                         [&](const DeviceArray& known) { return known.array == id; });
        if (device == program.arrays.end()) continue;
        const ContractArray array = contract_array(diagram, program, *device, identifiers);
        switch (diagram[id].role) {
        case ArrayRole::Output: contract.outputs.push_back(array); break;
        case ArrayRole::Intermediate: contract.intermediates.push_back(array); break;
        default: contract.inputs.push_back(array); break;
        }
    }
}

void add_scalars(const Diagram& diagram, const EmittedProgram& program, Names& identifiers,
                 Contract& contract) {
    for (std::size_t at = 0; at < diagram.arrays.size(); ++at) {
        const ArrayId id{static_cast<std::uint32_t>(at)};
        const auto passes = [&](const EmittedKernel& kernel) {
            return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                               [&](const KernelParameter& parameter) {
                                   return parameter.kind == KernelParameter::Kind::Scalar &&
                                          parameter.array == id;
                               });
        };
        if (std::none_of(program.kernels.begin(), program.kernels.end(), passes)) continue;
        const Array& array = diagram[id];
        contract.scalars.push_back(
            {id, array.name, identifiers.fresh(array.name), array.type, array.value});
    }
    // Those without a default first, as arguments of functions stand.
    std::stable_partition(contract.scalars.begin(), contract.scalars.end(),
                          [](const ContractScalar& scalar) { return !scalar.value; });
}

/// Axes of arrays, grids and parameters, and those that their sizes follow from.
std::set<AxisId> axes_in(const Diagram& diagram, const EmittedProgram& program,
                         const Contract& contract) {
    std::set<AxisId> axes;
    for (const auto* arrays : {&contract.inputs, &contract.outputs, &contract.intermediates})
        for (const ContractArray& array : *arrays)
            axes.insert(array.axes.begin(), array.axes.end());
    for (const EmittedKernel& kernel : program.kernels) {
        for (const GridAxis& axis : kernel.grid) axes.insert(axis.axis);
        for (const KernelParameter& parameter : kernel.parameters)
            if (parameter.kind == KernelParameter::Kind::Size) axes.insert(parameter.axis);
    }
    std::set<AxisId> all = axes;
    for (const AxisId axis : axes) {
        if (!diagram[axis].dynamic) continue;
        for (const Symbol symbol : symbols_of(diagram[axis].size)) all.insert(symbol.axis);
    }
    return all;
}

bool any_has(const std::vector<ContractArray>& arrays, AxisId axis) {
    return std::any_of(arrays.begin(), arrays.end(), [&](const ContractArray& array) {
        return std::find(array.axes.begin(), array.axes.end(), axis) != array.axes.end();
    });
}

void add_axes(const Diagram& diagram, const EmittedProgram& program, Names& identifiers,
              Contract& contract) {
    for (const AxisId id : axes_in(diagram, program, contract)) {
        const Axis& info = diagram[id];
        ContractAxis axis;
        axis.axis = id;
        axis.name = info.name;
        axis.identifier = identifiers.fresh(info.name);
        axis.on_input = any_has(contract.inputs, id);
        axis.on_caller = axis.on_input || any_has(contract.outputs, id);
        if (info.dynamic) axis.least = least_size(diagram, id);
        if (!info.dynamic) {
            axis.fixed = info.extent;
        } else if (!has_own_size(diagram, id)) {
            axis.derived = info.size;
        }
        for (const EmittedKernel& kernel : program.kernels) {
            const auto most = kernel.at_most.find(info.name);
            if (most != kernel.at_most.end()) axis.most = std::min(axis.most, most->second);
        }
        contract.axes.push_back(std::move(axis));
    }
}

/// Axes at run time are no longer than what follows from one of them alone allows.
void limit_by_derived(Contract& contract) {
    for (const ContractAxis& derived : contract.axes) {
        if (!derived.derived || derived.most >= kMostRunTimeSize) continue;
        SymbolValues values;
        ContractAxis* base = nullptr;
        int at_run_time = 0;
        for (const Symbol symbol : symbols_of(*derived.derived)) {
            const auto axis =
                std::find_if(contract.axes.begin(), contract.axes.end(),
                             [&](const ContractAxis& each) { return each.axis == symbol.axis; });
            if (axis == contract.axes.end()) break;
            values[symbol] = axis->fixed.value_or(0);
            at_run_time += axis->fixed ? 0 : 1;
            if (!axis->fixed) base = &*axis;
        }
        if (at_run_time != 1 || base->derived) continue;
        const auto fits = [&](std::int64_t size) {
            values[axis_size(base->axis)] = size;
            const std::optional<Rational> value = evaluate(*derived.derived, values);
            return value && to_double(*value) <= static_cast<double>(derived.most);
        };
        std::int64_t least = 0;
        for (std::int64_t step = std::bit_floor(static_cast<std::uint64_t>(base->most)); step > 0;
             step /= 2)
            if (least + step <= base->most && fits(least + step)) least += step;
        base->most = least;
    }
}

bool is_permuted(const ContractArray& array) {
    return !std::is_sorted(array.order.begin(), array.order.end());
}

std::string order_text(const Contract& contract, const ContractArray& array) {
    std::string text;
    for (const std::uint32_t d : array.order)
        text += (text.empty() ? "[" : ", ") + contract[array.axes[d]].name;
    return text + "] where it is contiguous";
}

/// In the fewest digits that round to it.
std::string default_text(const ContractScalar& scalar) {
    if (!scalar.value) return "";
    return is_floating(scalar.type)
               ? fmt::format(", {} unless given", static_cast<float>(*scalar.value))
               : fmt::format(", {} unless given", *scalar.value);
}

std::string size_text(const Contract& contract, const ContractAxis& axis) {
    std::string text = fmt::format("{:<8}{} ", "size", axis.name);
    if (axis.fixed) return text + fmt::format("= {}", *axis.fixed);
    text += axis.derived ? "= " + print(*axis.derived, contract.names) : std::string("at run time");
    if (axis.least > 1) text += fmt::format(", at least {}", axis.least);
    if (axis.most < kMostRunTimeSize) text += fmt::format(", at most {}", axis.most);
    if (axis.is_argument()) return text + ", an argument";
    return text + (axis.is_operator_argument() ? ", an argument of the operator" : "");
}

template <class Items, class Matches>
const auto& only(const Items& items, const Matches& matches) {
    const auto found = std::find_if(items.begin(), items.end(), matches);
    invariant(found != items.end(), "a part that the contract does not have");
    return *found;
}

}  // namespace

std::optional<Interval> ContractScalar::range() const {
    if (is_floating(type) || range_of(type) == kAny64) return std::nullopt;
    return range_of(type);
}

std::int64_t ContractArray::packed() const {
    return type == ElementType::I4 ? 2 : 1;
}

const ContractAxis& Contract::operator[](AxisId axis) const {
    return only(axes, [&](const ContractAxis& known) { return known.axis == axis; });
}

const ContractArray& Contract::operator[](ArrayId array) const {
    for (const auto* arrays : {&inputs, &outputs})
        for (const ContractArray& known : *arrays)
            if (known.array == array) return known;
    return only(intermediates, [&](const ContractArray& known) { return known.array == array; });
}

const ContractScalar& Contract::scalar(ArrayId array) const {
    return only(scalars, [&](const ContractScalar& known) { return known.array == array; });
}

Contract contract_of(const Diagram& diagram, const EmittedProgram& program) {
    Contract contract;
    contract.name = diagram.name;
    contract.names = SymbolNames(diagram.axes);
    Names identifiers = Names::of_export();
    add_arrays(diagram, program, identifiers, contract);
    add_scalars(diagram, program, identifiers, contract);
    add_axes(diagram, program, identifiers, contract);
    limit_by_derived(contract);
    for (const EmittedKernel& kernel : program.kernels) {
        contract.shared_bytes = std::max(contract.shared_bytes, kernel.shared_bytes);
        contract.capability = std::max(contract.capability, least_capability(kernel.target));
        contract.alone = contract.alone || runs_there_alone(kernel.target);
    }
    return contract;
}

std::string signature(const Contract& contract, const ContractArray& array) {
    std::string text = array.name + "[";
    for (std::size_t d = 0; d < array.axes.size(); ++d)
        text += (d > 0 ? ", " : "") + contract[array.axes[d]].name;
    return text + "]";
}

std::string summary(const Contract& contract) {
    const auto joined = [](const std::vector<std::string>& words) {
        std::string text;
        for (std::size_t i = 0; i < words.size(); ++i)
            text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + words[i];
        return text;
    };
    std::vector<std::string> outputs;
    for (const ContractArray& array : contract.outputs)
        outputs.push_back(signature(contract, array));
    std::vector<std::string> inputs;
    for (const ContractArray& array : contract.inputs) inputs.push_back(array.name);
    return joined(outputs) + (inputs.empty() ? "." : " of " + joined(inputs) + ".");
}

std::vector<std::string> describe(const Diagram& diagram, const Contract& contract) {
    std::vector<std::string> lines;
    const auto add = [&](const ContractArray& array, std::string_view what) {
        std::string line =
            fmt::format("{:<8}{} {}", what, signature(contract, array), name_of(array.type));
        if (!array.order.empty())
            line += fmt::format(": {} contiguous", contract[array.axes[array.order.back()]].name);
        if (array.multiple > 1)
            line += fmt::format(", other strides multiples of {}", array.multiple);
        if (array.alignment > kernel::element_bytes(array.type))
            line += fmt::format(", address a multiple of {} bytes", array.alignment);
        if (array.packed() > 1) line += ", two of a byte, the even one in its low bits";
        if (is_permuted(array)) line += ", in memory " + order_text(contract, array);
        lines.push_back(line);
        if (const std::optional<AxisId> indexed = diagram[array.array].indexes)
            lines.push_back(
                fmt::format("        its values index {}: from 0 and below its size, which "
                            "is not checked",
                            diagram[*indexed].name));
    };
    for (const ContractArray& array : contract.inputs) add(array, "input");
    for (const ContractArray& array : contract.outputs) add(array, "output");
    for (const ContractScalar& scalar : contract.scalars)
        lines.push_back(fmt::format("{:<8}{} {}{}", "number", scalar.name, name_of(scalar.type),
                                    default_text(scalar)));
    for (const ContractAxis& axis : contract.axes) lines.push_back(size_text(contract, axis));
    lines.emplace_back("Outputs share no memory with each other or with inputs.");
    return lines;
}

}  // namespace napkin::exporting
