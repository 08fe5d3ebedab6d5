// Builds small diagrams from C++, without the language.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::test {

inline std::size_t flat(std::int64_t value) {
    return static_cast<std::size_t>(value);
}

class Builder {
public:
    Builder() { diagram.monoids = builtin_monoids(); }

    AxisId axis(const std::string& name, std::int64_t extent) {
        const AxisId id{static_cast<std::uint32_t>(diagram.axes.size())};
        diagram.axes.push_back({.name = name, .size = axis_size(id), .extent = extent, .span = {}});
        return id;
    }
    ArrayId array(const std::string& name, std::vector<AxisId> axes, ArrayRole role,
                  ElementType type = ElementType::F32, bool rounds = false) {
        Array array;
        array.name = name;
        array.role = role;
        array.type = type;
        array.rounds = rounds;
        for (std::size_t at = 0; at < axes.size(); ++at)
            array.layout.push_back(static_cast<std::uint32_t>(at));
        array.axes = std::move(axes);
        diagram.arrays.push_back(std::move(array));
        return ArrayId{static_cast<std::uint32_t>(diagram.arrays.size() - 1)};
    }
    ArrayId input(const std::string& name, std::vector<AxisId> axes,
                  ElementType type = ElementType::F32) {
        return array(name, std::move(axes), ArrayRole::Input, type, true);
    }
    void define(std::vector<ArrayId> targets, std::variant<Map, Fold, Select, Opaque> body) {
        const StatementId id{static_cast<std::uint32_t>(diagram.statements.size())};
        const BoxId box{static_cast<std::uint32_t>(diagram.boxes.size())};
        diagram.statements.push_back({std::move(targets), std::move(body), box, {}});
        diagram.boxes.push_back({"", "", {}, {}, true, {id}, {}});
    }
    /// Reads an array at its own axes.
    [[nodiscard]] Expression at(ArrayId array) const {
        return read_axes(array, diagram[array].axes);
    }

    Diagram diagram;
};

inline Expression operator+(Expression a, Expression b) {
    return apply(Function::Add, {std::move(a), std::move(b)});
}
inline Expression operator-(Expression a, Expression b) {
    return apply(Function::Subtract, {std::move(a), std::move(b)});
}
inline Expression operator*(Expression a, Expression b) {
    return apply(Function::Multiply, {std::move(a), std::move(b)});
}
inline Expression operator/(Expression a, Expression b) {
    return apply(Function::Divide, {std::move(a), std::move(b)});
}

}  // namespace napkin::test
