#include "python/arrays.h"

#include <algorithm>

#include "cli/messages.h"

namespace napkin::python {

namespace nb = nanobind;

Tensors tensors_of(const Derivation& derivation, const std::vector<GivenArray>& given) {
    const Diagram& diagram = derivation.plain();
    std::vector<std::string> known;
    for (const Array& array : diagram.arrays)
        if (array.role == ArrayRole::Input || array.role == ArrayRole::Parameter)
            known.push_back(array.name);
    Tensors tensors;
    for (const GivenArray& each : given) {
        const std::optional<ArrayId> array = find_array(diagram, each.name);
        if (!array || std::find(known.begin(), known.end(), each.name) == known.end())
            derivation.refuse({{cli::unknown_tensor("input", each.name, known)}});
        NpyContent content{{}, each.descr, each.kind};
        for (std::size_t i = 0; i < each.values.ndim(); ++i)
            content.tensor.extents.push_back(static_cast<std::int64_t>(each.values.shape(i)));
        content.tensor.values.assign(each.values.data(), each.values.data() + each.values.size());
        Result<Tensor> tensor = input_of(diagram, *array, std::move(content), each.name);
        if (!tensor) derivation.refuse(tensor.error());
        tensors[*array] = std::move(tensor).value();
    }
    if (const auto wrong = check_inputs(diagram, tensors)) derivation.refuse({{*wrong}});
    return tensors;
}

nb::object array_of(const Tensor& tensor) {
    auto* values = new std::vector<double>(tensor.values);
    const nb::capsule owner(
        values, [](void* data) noexcept { delete static_cast<std::vector<double>*>(data); });
    std::vector<std::size_t> shape(tensor.extents.begin(), tensor.extents.end());
    return nb::cast(
        nb::ndarray<nb::numpy, double>(values->data(), shape.size(), shape.data(), owner));
}

}  // namespace napkin::python
