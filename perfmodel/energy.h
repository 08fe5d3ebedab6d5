// What a kernel's work draws beside an idle board, by a machine's figures of energy.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "perfmodel/machine.h"
#include "perfmodel/work.h"

namespace napkin {

class EnergyFigures {
public:
    explicit EnergyFigures(const Machine& machine);

    struct Drawn {
        double joules = 0;
        std::string unknown;  ///< the first figure that is lacking for it
    };
    /// Of all blocks' work, and of so many bytes that device memory delivers.
    [[nodiscard]] Drawn drawn(const KernelWork& work, const UnitWork& all,
                              double from_device) const;

private:
    struct Figure {
        const char* key = "";
        std::optional<double> value;
    };
    std::array<Figure, 6> figures_;
};

}  // namespace napkin
