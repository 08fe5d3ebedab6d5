// Diagrams whose names are others: what nothing may depend on.
#pragma once

#include <string>
#include <vector>

#include "derive/state.h"
#include "derive/tile_program.h"

namespace napkin::test {

/// New names for the axes and arrays of a diagram, and for the commands of a derivation.
class Renaming {
public:
    /// The names in turn, from the `first` on; those that the commands make for themselves are left
    /// out.
    Renaming(const Diagram& diagram, const std::vector<Command>& commands,
             const std::vector<std::string>& axes, const std::vector<std::string>& arrays,
             std::size_t first);
    [[nodiscard]] Diagram operator()(Diagram diagram) const;
    [[nodiscard]] std::vector<Command> operator()(std::vector<Command> commands) const;

private:
    [[nodiscard]] std::string of(const std::string& name) const;

    std::map<std::string, std::string> names_;
};

/// Names that formulas, rules and kernels make for themselves, and words of C++ and CUDA.
[[nodiscard]] const std::vector<std::string>& hard_axis_names();
[[nodiscard]] const std::vector<std::string>& hard_array_names();

/// The program with numbers for names: equal to that of a diagram that differs in names alone.
[[nodiscard]] TileProgram nameless(TileProgram program);

}  // namespace napkin::test
