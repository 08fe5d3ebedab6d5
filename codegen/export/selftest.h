// The self-test of an export: inputs that a few lines of C or Python make from a key, and what the
// reference computes from them at some elements, with the tolerance of each.
//
// Nothing large is stored: element i of an input is drawn from the i-th number of
// Random(key) (diagrams/random.h), which can be computed without the ones before it, and is exact
// in the input's type whatever rounds it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "derive/state.h"
#include "diagrams/compare.h"
#include "diagrams/diagram.h"

namespace napkin {

/// How an input is made.
struct InputRecipe {
    enum class Kind {
        Normal,     // about N(0, 1.3), cut to `bits` of significand
        Positive,   // its size, at least 2^-6
        Range,      // an integer from `low`, below `low + count`
        Documents,  // up to four numbers a row, not decreasing
    };
    Kind kind = Kind::Normal;
    std::uint64_t key = 0;
    int bits = 24;
    std::int64_t low = 0;
    std::int64_t count = 1;
    bool operator==(const InputRecipe&) const = default;
};

struct SelfTestCase {
    Sizes sizes;  ///< of every axis, by name
    std::map<ArrayId, InputRecipe> recipes;
    std::map<ArrayId, double> scalars;  ///< of rank-0 inputs and parameters
    struct Output {
        std::vector<std::int64_t> offsets;  ///< row-major
        std::vector<double> values;
        std::vector<double> tolerances;
        bool undecided = false;  ///< rounding may be as large as most values
        /// What the reference visits for one element, where that is too much and none is stored.
        double too_dear = 0;
    };
    std::map<ArrayId, Output> outputs;
};

/// The values that the recipe makes for an array.
[[nodiscard]] Tensor made_input(const Diagram& diagram, ArrayId array, const InputRecipe& recipe);

/// A case at the state's sizes; tolerances are those of the emitted program.
[[nodiscard]] SelfTestCase self_test_case(const State& state, const EmittedProgram& program,
                                          std::uint64_t seed);

/// Sizes at which a program with sizes at run time should be tested: ragged ones with several
/// tiles, and tiny ones. Not all of them need to suit the diagram. Without such sizes: none.
[[nodiscard]] std::vector<Sizes> self_test_sizes(const State& state, const EmittedProgram& program);

}  // namespace napkin
