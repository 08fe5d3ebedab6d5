// What lowering a region to a kernel program needs on every target: names, sizes, the grid of
// blocks, the ranges of axes, arrays in device memory.
//
// Parallel loops at block level and further out, as far as they enclose the whole program, become
// blocks.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/kernel_program.h"
#include "codegen/lowering/expression_code.h"
#include "codegen/lowering/interval_code.h"
#include "codegen/lowering/scope.h"
#include "codegen/lowering/size_limits.h"
#include "schedule/tile_order.h"

namespace napkin::lowering {

/// What lowering gives: the kernel and how to launch it.
struct LoweredRegion {
    kernel::Program program;
    std::vector<GridAxis> grid;
    Sizes fixed;
    Sizes at_most;
    std::vector<DeviceArray> arrays;
    std::map<BoxId, ElementType> operands;  ///< as EmittedProgram has them
    std::set<BoxId> narrow;
    std::vector<std::string> summary;  ///< of the schedule, for the header
    schedule::RegionSchedule choices;  ///< as EmittedKernel has them
    std::vector<std::pair<std::string, std::string>> passes;
};

class RegionFrame {
protected:
    using Body = kernel::Body;

    RegionFrame(const State& state, const RegionProgram& region, const EmitOptions& options);
    /// The frame's part of the result; takes the program.
    [[nodiscard]] LoweredRegion finish();

    // region_frame.cpp: sizes, names, ranges, the grid
    /// The name reserved for an axis the first time, a numbered one after that.
    [[nodiscard]] std::string next_name(const std::string& reserved);
    /// Of a block's tile: its number is the block's, or `tile_`, where blocks take several.
    [[nodiscard]] const std::vector<TileStatement>& lower_grid(Body& body);
    /// Whether at every size there are fewer blocks than any device of today has processors.
    [[nodiscard]] bool has_few_blocks();
    /// How many tiles there are, and for each block one after another those that are its own.
    [[nodiscard]] kernel::For loop_over_tiles();
    /// A variable that is an index along the axis, or counts up to `most` from 0.
    [[nodiscard]] IndexForm index_along(AxisId axis, const std::string& name) const;
    [[nodiscard]] static IndexForm counted(const std::string& name, std::int64_t most);
    /// Makes a part that starts at `start` the range of the axis.
    void narrow(AxisId axis, std::int64_t size, const IndexForm& start, Body& body);
    [[nodiscard]] std::vector<std::string> comments(const std::string& what, Span span,
                                                    const std::string& via) const;
    /// `S[q, x] = sum(d) Q[q, d] * K[x, d]`.
    [[nodiscard]] std::string text_of(const Statement& statement) const;
    /// Which of the region's loops it is, counted in the order of the text.
    [[nodiscard]] std::uint32_t number_of(const Loop& loop) const;
    /// Makes parameters that are passed by value known to the scope.
    void note_parameters(const Expression& expression, ExpressionScope& scope);
    /// The kernel's argument that a parameter of the diagram is.
    const std::string& parameter(ArrayId array);

    // device_memory.cpp
    [[nodiscard]] std::string buffer_name(ArrayId array, bool written);
    [[nodiscard]] ElementType device_type(ArrayId array) const;
    [[nodiscard]] kernel::Expression device_value(ArrayId array, const kernel::Expression& place,
                                                  ElementType type) const;
    /// An element's place in device memory.
    [[nodiscard]] IndexForm device_offset(ArrayId array, const std::vector<IndexForm>& index);
    /// Declares the element's place in device memory and returns its name.
    [[nodiscard]] kernel::Expression device_place(ArrayId array,
                                                  const std::vector<IndexForm>& index, Body& body);
    /// Elements from one index of a dimension to the next: a number or a parameter.
    [[nodiscard]] kernel::Expression device_stride(ArrayId array, std::size_t dimension);
    /// Elements from an array's first to past its last.
    [[nodiscard]] kernel::Expression device_size(ArrayId array);
    /// Elements (1, or up to 16 bytes) that may be copied at once along the contiguous dimension,
    /// at places whose last index is a multiple of `origin`; makes the parameters' multiples so.
    [[nodiscard]] int vector_elements(ArrayId array, std::int64_t origin);
    /// Makes the array's address alone a multiple of 16 bytes.
    void align_address(ArrayId array) { aligned_.insert(array); }
    /// Likewise integers of 4 bits that are read at once: eight, a word, or one.
    [[nodiscard]] int word_nibbles(ArrayId array, std::int64_t origin);
    /// A number that certainly divides the index, 0 for 0.
    [[nodiscard]] std::int64_t divisor_of(const IndexForm& index) const;

    [[nodiscard]] int vector_of(ArrayId array, std::int64_t origin, std::int64_t most,
                                std::int64_t least);

    const State& state_;
    const RegionProgram& region_;
    const EmitOptions& options_;
    std::vector<const Loop*> loops_;  // in the order of the text
    Diagram scope_;                   // for printing statements
    kernel::Program program_;
    Names names_;
    struct AxisNames {
        std::string start, count, local, size;
    };
    std::vector<AxisNames> axis_names_;
    std::vector<IndexForm> sizes_;  // by axis: a constant or a parameter
    Limits limits_;                 // the largest that sizes may be
    std::vector<bool> run_time_;    // by axis
    std::vector<Axis> axes_;        // of the region; dynamic are those of run-time size
    AxisRanges ranges_;
    std::vector<GridAxis> grid_;
    schedule::TileOrder order_;
    std::optional<std::string> tile_;  // the variable that counts tiles
    std::map<ArrayId, std::string> buffers_;
    std::map<std::string, std::int64_t> multiples_;  // what divides the value of a name
    std::set<AxisId> held_;                          // axes of run-time size that are held whole
    std::vector<DeviceArray> arrays_;
    std::set<std::string> used_;  // of the names reserved for axes

private:
    /// Groups that become blocks, outermost first, and how many there are of each.
    struct Grid {
        std::vector<const Parallel*> chain;
        std::vector<IndexForm> counts;
        const std::vector<TileStatement>* inside = nullptr;
    };
    struct Banded {
        kernel::Expression slow, fast;
    };
    [[nodiscard]] kernel::Expression define_int(const std::string& wanted, kernel::Expression value,
                                                Body& body);
    [[nodiscard]] IndexForm group_of(std::size_t i, const Grid& grid, kernel::Expression number,
                                     Body& body);
    [[nodiscard]] Banded in_bands(const kernel::Expression& plane, const kernel::Expression& down,
                                  const IndexForm& across, std::int64_t band, Body& body);
    [[nodiscard]] IndexForm banded(std::size_t slow, bool is_first, const Grid& grid,
                                   const IndexForm& tile, std::vector<IndexForm>& groups,
                                   Body& body);
    [[nodiscard]] IndexForm graded_first(std::vector<std::size_t>& several, const Grid& grid,
                                         const IndexForm& tile, std::vector<IndexForm>& groups,
                                         Body& body);
    /// Orders the strides as the arrays are, and makes the multiples of strides and addresses those
    /// that vector copies rely on.
    void finish_strides();
    [[nodiscard]] Grid find_grid();
    void name_axes();
    void find_run_time_sizes();

    std::map<std::pair<ArrayId, std::uint32_t>, std::string> strides_;
    std::map<ArrayId, std::string> scalars_;
    std::map<ArrayId, std::int64_t> vectors_;  // elements of the vectors that arrays are copied in
    std::set<ArrayId> aligned_;                // whose addresses alone are multiples of 16 bytes
    std::set<AxisId> used_sizes_;
};

/// Conditions of choices in the expression that depend on indices, and on `data` or on them alone.
void collect_conditions(const Expression& expression, bool data, std::vector<Expression>& found);

}  // namespace napkin::lowering
