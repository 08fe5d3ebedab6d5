#include "derive/region_program.h"

#include <algorithm>

namespace napkin {

bool varies_along(const Loop& loop) {
    return std::any_of(loop.visible.begin(), loop.visible.end(),
                       [&](const Expression& mask) { return axes_used(mask).contains(loop.axis); });
}

VariableId variable_of(const RegionProgram& region, ArrayId array, Level level) {
    for (std::uint32_t i = 0; i < region.variables.size(); ++i)
        if (region.variables[i].array == array && region.variables[i].level == level)
            return VariableId{i};
    throw InternalError("no variable of `" + region.arrays[array.index()].name + "` at level " +
                        std::string(name_of(level)));
}

Diagram scope_of(const RegionProgram& region) {
    Diagram scope;
    scope.name = region.name;
    scope.axes = region.axes;
    scope.arrays = region.arrays;
    scope.monoids = region.monoids;
    return scope;
}

}  // namespace napkin
