// Arrays in device memory: parameters, strides and places of elements.
#include <algorithm>
#include <numeric>

#include "codegen/fold_constants.h"
#include "codegen/lowering/region_frame.h"
#include "diagrams/memory_order.h"

namespace napkin::lowering {

std::string RegionFrame::buffer_name(ArrayId array, bool written) {
    const auto known = buffers_.find(array);
    if (known != buffers_.end()) return known->second;
    KernelParameter parameter;
    parameter.name = names_.fresh(region_.arrays[array.index()].name);
    parameter.array = array;
    parameter.type = device_type(array);
    parameter.written = written;
    buffers_[array] = parameter.name;
    arrays_.push_back({array, parameter.type});
    const auto place = std::find_if(
        program_.parameters.begin(), program_.parameters.end(),
        [](const KernelParameter& other) { return other.kind != KernelParameter::Kind::Buffer; });
    program_.parameters.insert(place, parameter);
    return parameter.name;
}

ElementType RegionFrame::device_type(ArrayId array) const {
    const auto stored = region_.stored.find(array);
    if (stored != region_.stored.end()) return stored->second;
    return storage_type(state_.diagram, state_.relabelling, array);
}

IndexForm RegionFrame::device_offset(ArrayId array, const std::vector<IndexForm>& index) {
    const Array& info = region_.arrays[array.index()];
    std::vector<std::uint32_t> order(info.layout.begin(), info.layout.end());
    if (order.empty())
        for (std::uint32_t d = 0; d < info.axes.size(); ++d) order.push_back(d);
    // Constant strides from the inside out, until a size is only known at run time.
    std::vector<std::optional<std::int64_t>> constant(order.size());
    std::optional<std::int64_t> next = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        const AxisId axis = info.axes[order[i]];
        const bool free = region_.axes[axis.index()].woven || options_.free_strides;
        constant[order[i]] = free && i + 1 < order.size() ? std::nullopt : next;
        if (run_time_[axis.index()])
            next = std::nullopt;
        else if (next)
            *next *= region_.axes[axis.index()].extent;
    }
    const bool wide = !next || *next > kAny32.high;
    IndexForm offset;
    for (const std::uint32_t d : order) {
        if (index[d].is_constant(0)) continue;
        if (constant[d]) {
            offset = offset + (wide && !index[d].is_constant()
                                   ? index_atom(kernel::call("i64", {expression_of(index[d])}),
                                                range_of(index[d]), true) *
                                         *constant[d]
                                   : index[d] * *constant[d]);
            continue;
        }
        const auto known = strides_.find({array, d});
        if (known == strides_.end()) {
            KernelParameter parameter;
            parameter.kind = KernelParameter::Kind::Stride;
            parameter.name =
                names_.fresh(info.name + "_stride_" + region_.axes[info.axes[d].index()].name);
            parameter.array = array;
            parameter.dimension = d;
            strides_[{array, d}] = parameter.name;
            program_.parameters.push_back(parameter);
        }
        const kernel::Expression stride = kernel::variable(strides_[{array, d}]);
        offset = offset + index_atom(kernel::folded(expression_of(index[d]) * stride), kAny64);
    }
    return offset;
}

kernel::Expression RegionFrame::device_place(ArrayId array, const std::vector<IndexForm>& index,
                                             Body& body) {
    const IndexForm place = device_offset(array, index);
    if (place.is_constant()) return expression_of(place);
    body.push_back(kernel::define(type_of(place), "at", expression_of(place)));
    return kernel::variable("at");
}

kernel::Expression RegionFrame::device_stride(ArrayId array, std::size_t dimension) {
    std::vector<IndexForm> index(region_.arrays[array.index()].axes.size(), IndexForm(0));
    index[dimension] = 1;
    return expression_of(device_offset(array, index));
}

kernel::Expression RegionFrame::device_size(ArrayId array) {
    std::vector<IndexForm> last;
    for (const AxisId axis : region_.arrays[array.index()].axes)
        last.push_back(sizes_[axis.index()] - 1);
    return expression_of(device_offset(array, last) + 1);
}

int RegionFrame::vector_elements(ArrayId array, std::int64_t origin) {
    constexpr std::int64_t kBytes = 16;
    if (device_type(array) == ElementType::I4) return 1;
    constexpr std::int64_t kLeast = 4;  // of a copy at once
    const std::int64_t bytes = kernel::element_bytes(device_type(array));
    return vector_of(array, origin, kBytes / bytes, kLeast / bytes);
}

int RegionFrame::word_nibbles(ArrayId array, std::int64_t origin) {
    constexpr std::int64_t kOfWord = 8;
    return vector_of(array, origin, kOfWord, kOfWord);
}

int RegionFrame::vector_of(ArrayId array, std::int64_t origin, std::int64_t most,
                           std::int64_t least) {
    const Array& info = region_.arrays[array.index()];
    if (info.axes.empty()) return 1;
    const std::size_t last = innermost_dimension(info);
    for (std::int64_t width = most; width > 1 && width >= least; width /= 2) {
        if (origin % width != 0) continue;
        // Every other stride is a product of sizes from the contiguous dimension on.
        const AxisId inner = info.axes[last];
        const bool divides =
            !run_time_[inner.index()] && region_.axes[inner.index()].extent % width == 0;
        if (!divides && info.axes.size() > 1) continue;
        std::int64_t& vector = vectors_.try_emplace(array, 1).first->second;
        vector = std::lcm(vector, width);
        return static_cast<int>(width);
    }
    return 1;
}

void RegionFrame::finish_strides() {
    std::vector<KernelParameter>& parameters = program_.parameters;
    const auto rank = [&](const KernelParameter& parameter) {
        const auto buffer =
            std::find_if(parameters.begin(), parameters.end(), [&](const KernelParameter& other) {
                return other.kind == KernelParameter::Kind::Buffer &&
                       other.array == parameter.array;
            });
        return std::pair(buffer - parameters.begin(), parameter.dimension);
    };
    std::vector<KernelParameter> strides;
    for (const KernelParameter& parameter : parameters)
        if (parameter.kind == KernelParameter::Kind::Stride) strides.push_back(parameter);
    std::sort(
        strides.begin(), strides.end(),
        [&](const KernelParameter& a, const KernelParameter& b) { return rank(a) < rank(b); });
    auto next = strides.begin();
    for (KernelParameter& parameter : parameters)
        if (parameter.kind == KernelParameter::Kind::Stride) parameter = *next++;
    constexpr std::int64_t kBytes = 16;
    for (KernelParameter& parameter : program_.parameters) {
        const auto known = vectors_.find(parameter.array);
        const std::int64_t vector = known == vectors_.end() ? 1 : known->second;
        if (parameter.kind == KernelParameter::Kind::Stride && vector > 1)
            parameter.multiple = vector;
        if (parameter.kind != KernelParameter::Kind::Buffer) continue;
        if (vector > 1) parameter.multiple = vector * kernel::element_bytes(parameter.type);
        if (aligned_.contains(parameter.array))
            parameter.multiple = std::lcm(parameter.multiple, kBytes);
    }
}

/// An element of a device array as a tile of another type holds it.
kernel::Expression RegionFrame::device_value(ArrayId array, const kernel::Expression& place,
                                             ElementType type) const {
    const kernel::Expression buffer = kernel::variable(buffers_.at(array));
    const ElementType own = device_type(array);
    if (own == ElementType::I4)
        return kernel::call({"convert", {kernel::Type("i8")}},
                            {kernel::call("signed_nibble", {subscript(buffer, place / 2), place})});
    const kernel::Expression element = subscript(buffer, place);
    return own == type ? element : stored(loaded(element, own), type);
}

std::int64_t RegionFrame::divisor_of(const IndexForm& index) const {
    std::int64_t divisor = index.constant < 0 ? -index.constant : index.constant;
    for (const auto& [atom, coefficient] : index.terms) {
        const auto* name = std::get_if<kernel::Variable>(&atom.value.node);
        const auto known = name == nullptr ? multiples_.end() : multiples_.find(name->name);
        divisor = std::gcd(divisor, coefficient * (known == multiples_.end() ? 1 : known->second));
    }
    return divisor;
}

}  // namespace napkin::lowering
