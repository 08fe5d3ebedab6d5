// Lowering of one region's tile program to a kernel program for the `simt` target: all threads of a
// block work together on every statement, tiles stand in shared memory, contractions are
// micro-tiled in registers.
//
// Parallel loops at block level and further out, as far as they enclose the whole program, become
// blocks. Others are executed by the same block at once: their groups are independent, so every
// statement is carried out for all groups before the next. Tiles of levels further out than the
// block do not exist; what reads them reads device memory.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/lowering/region_frame.h"

namespace napkin::lowering {

class SimtLowering : private RegionFrame {
public:
    SimtLowering(const State& state, const RegionProgram& region, const EmitOptions& options);
    [[nodiscard]] LoweredRegion run();

private:
    // lower_region.cpp: structure
    void lower(const std::vector<TileStatement>& statements, Body& body);
    [[nodiscard]] bool limit_to_visible(const Loop& loop, kernel::For& code, Body& body);
    void lower_loop(const Loop& loop, Body& body);
    void collect_aliases(const std::vector<TileStatement>& statements);
    void find_collected(const std::vector<TileStatement>& statements);
    [[nodiscard]] VariableId storage(VariableId variable) const;
    [[nodiscard]] bool materialised(VariableId variable) const;

    // lower_tiles.cpp: tiles, loads and saves
    TileView& define_tile(VariableId variable, const std::vector<AxisRange>& dims,
                          const std::vector<std::string>& labels);
    TileView& define_target(VariableId variable);
    [[nodiscard]] std::vector<AxisRange> footprint(const Load& load, Body& body);
    void lower_load(const Load& load, Span span, Body& body);
    void lower_gather(const Load& load, const std::vector<Expression>& gather, Span span,
                      Body& body);
    void lower_save(const Save& save, Span span, Body& body);
    void copy_tile(VariableId from, VariableId to, ArrayId array, Span span, Body& body);
    [[nodiscard]] int vector_width(ArrayId array, const TileView& tile) const;

    // lower_compute.cpp: maps and what all computations share
    void lower_compute(const Compute& compute, Span span, Body& body);
    [[nodiscard]] kernel::Phase lower_map(const Map& map, const Compute& compute);
    [[nodiscard]] ExpressionScope scope_for(const Compute& compute);
    /// Flags for conditions that hold everywhere in the block's part.
    void declare_known(const std::vector<const Expression*>& expressions, ExpressionScope& scope,
                       Body& body);
    /// Declares the local indices of a flat element number and returns them.
    [[nodiscard]] std::vector<LocalIndex> decompose(const std::string& flat,
                                                    const std::vector<AxisId>& axes, Body& body,
                                                    const std::set<AxisId>& clamped = {}) const;
    [[nodiscard]] std::int64_t elements_of(const std::vector<AxisId>& axes) const;
    /// The index in the block's part of an axis.
    [[nodiscard]] IndexForm local_index(AxisId axis) const;
    [[nodiscard]] ElementScope element_at(const std::vector<LocalIndex>& locals) const;
    [[nodiscard]] kernel::Expression tests_of(const std::vector<LocalIndex>& locals) const;
    [[nodiscard]] std::vector<IndexForm> indices_of(ArrayId array,
                                                    const ElementScope& element) const;
    /// Stores a value in a target's element.
    void store(Body& body, const Compute& compute, std::size_t target, const Code& value,
               const ElementScope& element) const;
    [[nodiscard]] std::vector<AxisId> target_axes(const Compute& compute) const;
    [[nodiscard]] Body thread_loop(std::int64_t count, Body inner) const;
    /// Nested loops over axes that have more than one element here.
    [[nodiscard]] Body axis_loops(const std::vector<AxisId>& axes, Body inner) const;

    // lower_fold.cpp: folds and selections
    [[nodiscard]] kernel::Phase lower_fold(const Fold& fold, const Compute& compute);
    [[nodiscard]] kernel::Phase lower_select(const Select& select, const Compute& compute);

    // lower_contraction.cpp
    [[nodiscard]] std::optional<kernel::Phase> lower_contraction(const Fold& fold,
                                                                 const Compute& compute);

    friend class FoldLowering;
    friend class ContractionLowering;

    std::map<VariableId, VariableId> aliases_;
    std::set<VariableId> collected_;  // tiles that are filled chunk by chunk from further in
    std::map<std::uint32_t, std::vector<VariableId>> collected_before_;  // by loop
    std::map<VariableId, TileView> views_;
    std::map<VariableId, const Load*> skipped_loads_;
    std::map<ArrayId, VariableId> latest_;  // the variable that last got a value of an array
};

}  // namespace napkin::lowering
