// What products cost, and their operands, which are computed in registers or published.
#pragma once

#include "perfmodel/element_work.h"
#include "perfmodel/scattered_reads.h"
#include "perfmodel/work.h"
#include "schedule/program.h"

namespace napkin {

/// Of a region's scheduled program; all work is that of a block.
class ProductWork {
public:
    ProductWork(const RegionProgram& region, const schedule::Plan& plan,
                const schedule::Program& program, ElementWork& elements,
                const ScatteredReads& scattered)
        : region_(region),
          plan_(plan),
          program_(program),
          elements_(elements),
          scattered_(scattered) {}

    /// Of a product, or of the part of it that an operation is.
    [[nodiscard]] UnitWork of(const schedule::Op& op, const Compute& compute,
                              const schedule::Product& product);
    /// What adds a product's results to what it is added to.
    [[nodiscard]] UnitWork accumulation_of(const Compute& compute,
                                           const schedule::Product& product);
    /// A left operand that every warp computes for its own rows, element by element.
    [[nodiscard]] UnitWork left_of(const Compute& compute, const schedule::Product& product);
    /// One that is computed in pairs, two elements an instruction. What they are made of in shared
    /// memory comes a word at a time, with nothing to convert, integers of 4 bits four words at a
    /// time, of each of which a lane takes a byte; of device memory each is loaded alone.
    [[nodiscard]] UnitWork paired_left_of(schedule::LeafId leaf) const;
    /// What it is made of.
    [[nodiscard]] std::vector<VariableId> read_in_pairs(schedule::LeafId leaf) const;
    /// An operand that the block computes and publishes in shared memory.
    [[nodiscard]] UnitWork panel_of(const Compute& compute, const schedule::Operand& side);

private:
    /// Instructions for an element of what a product is multiplied by and added to.
    [[nodiscard]] double accumulated_each(const Compute& compute, const schedule::Product& product);
    [[nodiscard]] bool is_accumulated(schedule::LeafId product) const;
    /// Elements of a left operand in registers, of all warps.
    [[nodiscard]] double elements_of_left(const schedule::Product& product) const;
    /// Whether elements of a matrix come straight from device memory, where no copy has gone ahead.
    [[nodiscard]] bool is_far(const Compute& compute, const Expression& value) const;
    [[nodiscard]] std::int64_t warps() const { return plan_.warps_down * plan_.warps_across; }
    [[nodiscard]] std::int64_t groups() const {
        return program_.rings.empty() ? 0 : warps() / schedule::kWarpsOfGroup;
    }

    const RegionProgram& region_;
    const schedule::Plan& plan_;
    const schedule::Program& program_;
    ElementWork& elements_;
    const ScatteredReads& scattered_;
};

}  // namespace napkin
