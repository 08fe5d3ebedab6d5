// Deliberate faults: what a mistake in a rule, in the derivation of an accumulator, in the
// expansion or in the interpreter would make of a state or of a tile program. The proof must see
// every one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "derive/state.h"
#include "derive/tile_program.h"

namespace napkin::test {

/// Finds the parts of a tile program by the names that its printed form shows, for editing.
/// Everything throws where nothing is found: a mutation that does not apply shows nothing.
class ProgramEditor {
public:
    explicit ProgramEditor(TileProgram& program) : program_(program) {}

    /// The `nth` computation of an array, in program order.
    Compute& compute(const std::string& target, std::size_t nth = 0);
    /// What it evaluates: the value of a map or selection, the first value of a fold.
    Expression& value(const std::string& target, std::size_t nth = 0);
    /// What a fold starts from.
    Expression& seed(const std::string& target, std::size_t nth = 0);
    Load& load(const std::string& array);
    Loop& loop(std::size_t nth = 0);
    Variable& variable(const std::string& array);
    /// Removes computations of an array (the `nth`), or its save.
    void drop_compute(const std::string& target, std::size_t nth);
    void drop_save(const std::string& array);
    /// Exchanges two neighbouring computations.
    void swap_computes(const std::string& first, std::size_t nth, const std::string& second,
                       std::size_t other);
    /// Moves the save of an array to the end of the loop.
    void save_in_loop(const std::string& array);
    /// An expression that reads an array, as some computation does.
    [[nodiscard]] Expression read_of(const std::string& array);
    [[nodiscard]] AxisId axis(const std::string& name) const;
    [[nodiscard]] ArrayId array(const std::string& name) const;
    [[nodiscard]] RegionProgram& region(std::size_t nth = 0) { return program_.regions[nth]; }
    [[nodiscard]] TileProgram& program() { return program_; }

private:
    using Visitor = std::function<bool(std::vector<TileStatement>&, std::size_t)>;
    /// Calls `visit(body, position)` on every statement until it returns true; throws if none does.
    void find(const Visitor& visit, const std::string& what);

    TileProgram& program_;
};

struct Mutation {
    std::string stage;    ///< `rule`, `accumulator`, `expansion`, `interpreter`
    std::string fault;    ///< in words
    std::string subject;  ///< an example's name, or one of `extra_subject`
    std::function<void(State&)> on_state;
    std::function<void(ProgramEditor&)> on_program;
};

[[nodiscard]] std::vector<Mutation> all_mutations();
/// Subjects that examples/ has none of: diagram and derivation.
[[nodiscard]] std::pair<std::string, std::string> extra_subject(const std::string& name);

}  // namespace napkin::test
