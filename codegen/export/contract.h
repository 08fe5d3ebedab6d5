// What an exported program demands of its caller: the one table from which the C launcher, the
// operator for PyTorch and the documents are printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "diagrams/diagram.h"
#include "diagrams/formula.h"
#include "diagrams/integer_range.h"
#include "diagrams/symbol_names.h"

namespace napkin::exporting {

struct ContractAxis {
    AxisId axis;
    std::string name;                   ///< the diagram's
    std::string identifier;             ///< unique among all of the contract, in C and Python
    std::optional<std::int64_t> fixed;  ///< the only size that is served
    std::int64_t least = 1;
    std::int64_t most = kMostSize;
    std::optional<Formula> derived;  ///< a size at run time that follows from others
    bool on_caller = false;          ///< on an array of the caller's
    bool on_input = false;
    /// Has to be given as a number by who calls the launcher, or the operator.
    [[nodiscard]] bool is_argument() const { return !fixed && !derived && !on_caller; }
    [[nodiscard]] bool is_operator_argument() const { return !fixed && !derived && !on_input; }
};

struct ContractArray {
    ArrayId array;
    std::string name;
    std::string identifier;
    ElementType type = ElementType::F32;
    std::vector<AxisId> axes;
    std::vector<std::uint32_t> order;  ///< dimensions as they lie in memory, slowest first
    std::int64_t alignment = 1;        ///< bytes, of the address
    std::int64_t multiple = 1;         ///< elements, of every stride but that of order.back()
    /// Elements of a byte, along order.back(): two of i4, as which PyTorch has no type but uint8.
    [[nodiscard]] std::int64_t packed() const;
};

/// A number that is passed by value.
struct ContractScalar {
    ArrayId array;
    std::string name;
    std::string identifier;
    ElementType type = ElementType::F32;
    std::optional<double> value;  ///< the default of a parameter
    /// What integers of its type are, where fewer than those of 64 bits.
    [[nodiscard]] std::optional<Interval> range() const;
};

struct Contract {
    std::string name;   ///< of functions, files and the operator
    SymbolNames names;  ///< in formulas of sizes
    std::vector<ContractAxis> axes;
    std::vector<ContractArray> inputs;
    std::vector<ContractArray> outputs;
    std::vector<ContractArray> intermediates;  ///< in the workspace
    std::vector<ContractScalar> scalars;
    std::int64_t shared_bytes = 0;  ///< of the most demanding kernel
    int capability = 0;             ///< ten times the least compute capability
    bool alone = false;             ///< whether no later one will do

    [[nodiscard]] const ContractAxis& operator[](AxisId axis) const;
    [[nodiscard]] const ContractArray& operator[](ArrayId array) const;
    [[nodiscard]] const ContractScalar& scalar(ArrayId array) const;
};

[[nodiscard]] Contract contract_of(const Diagram& diagram, const EmittedProgram& program);

/// `O[b, h, q, d]`.
[[nodiscard]] std::string signature(const Contract& contract, const ContractArray& array);
/// `O[b, h, q, d] of Q, K and V`.
[[nodiscard]] std::string summary(const Contract& contract);
/// The contract for people, a line each.
[[nodiscard]] std::vector<std::string> describe(const Diagram& diagram, const Contract& contract);

}  // namespace napkin::exporting
