// Neighbouring elements that a thread reads at once.
#pragma once

#include <string>
#include <vector>

#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {

/// The vectors along `columns` that are read for one vector of results.
struct TensorLowering::Vectors {
    AxisId columns;
    std::string begin;          ///< the name of `first`
    std::string vector = {};    ///< the name of the vector's number; chosen with its loop if empty
    std::int64_t count = 8;     ///< elements
    std::int64_t padded = 0;    ///< all that are gone through along the columns
    std::string element = "j";  ///< the index in a vector of the one that is computed
    IndexForm first;            ///< of the block's part of the columns, where the vector begins
    IndexForm local;            ///< of one element there
    Body before;                ///< where they are read
    struct Known {
        VariableId variable;
        std::vector<IndexForm> at;
        kernel::Expression name;
    };
    std::vector<Known> known;
};

}  // namespace napkin::lowering
