// Which elements of arrays the elements of others cannot do without, as sets of indices.
//
// What is not quasi-affine, or asks isl for too much, is left out: what is said to be needed is.
// isl is asked when elements are counted, of what leads to them alone, and not again where regions
// that differ elsewhere need the same.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "diagrams/diagram.h"

namespace napkin::index {

/// Every element of `reader`, at an index of its axes and of whatever axes occur, takes the
/// element of an array at `index`, where every condition has the value beside it.
struct Use {
    ArrayId reader;
    ArrayId array;
    std::vector<Expression> index;
    std::vector<std::pair<Expression, bool>> conditions;
};

class Needs {
public:
    /// `arrays` and `axes` have to live as long; axes whose size is given at run time have the size
    /// that they have by default.
    Needs(const std::vector<Axis>& axes, const std::vector<Array>& arrays);
    Needs(const Needs&) = delete;
    Needs& operator=(const Needs&) = delete;
    ~Needs();

    void add_whole(ArrayId array);
    /// What the reader needs, it needs through this use as well. Uses of the reader come before it.
    void add(const Use& use);
    /// How many elements of an array are needed at the least.
    [[nodiscard]] std::int64_t count(ArrayId array) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace napkin::index
