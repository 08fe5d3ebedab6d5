// Reads the tile programs of certificates: JSON into statements over variables.
//
// Every variable becomes an array of its own, so that a statement can be computed by the plain
// evaluator. Nothing here knows how programs are derived or expanded.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "derive/proof/program_json.h"

namespace napkin::proof::checker {

/// What a certificate says cannot be understood.
class MalformedCertificate : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Step;
using Steps = std::vector<Step>;

/// Groups of an axis, or chunks of one with the conditions under which they are visited.
struct Split {
    AxisId axis;
    std::int64_t size = 1;
    Level level = Level::Block;
    bool chunks = false;
    std::vector<Expression> visible;
    std::vector<Step> body;
};
/// Elements of an array into a variable: those at any of the indices of each dimension, or one
/// for every element where `gather` says from where.
struct Fetch {
    ArrayId from;
    ArrayId into;
    std::vector<std::vector<Expression>> index;
    std::vector<Expression> gather;
};
struct Calculate {
    Statement statement;
};
struct Put {
    ArrayId from;
    ArrayId into;
};
struct Step {
    std::variant<Split, Fetch, Calculate, Put> node;
};

/// One region; arrays of the scope are the program's arrays in device memory, then the variables.
struct ReadRegion {
    std::string name;
    Diagram scope;
    std::size_t device_arrays = 0;  ///< so many of the scope's arrays are in device memory
    std::vector<Level> levels;      ///< of the variables
    std::vector<Step> body;
};
struct ReadProgram {
    std::vector<ReadRegion> regions;
};

/// Throws MalformedCertificate. `plain` gives parameters and the built-in monoids.
[[nodiscard]] ReadProgram read_program(const Json& json, const Diagram& plain);

}  // namespace napkin::proof::checker
