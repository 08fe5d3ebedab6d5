// Runs tile programs on the CPU exactly as derived, chunk by chunk, and counts what they move and
// hold.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "derive/region_program.h"
#include "diagrams/evaluate.h"

namespace napkin {

/// Values counted for one region.
struct Counters {
    std::string region;
    std::map<Level, std::int64_t> transferred;  ///< H: values moved to and from the level, in total
    std::map<Level, std::int64_t> peak;  ///< A: the most held at once by one processor of the level
    std::map<Level, std::int64_t> transferred_bits;
    std::map<Level, std::int64_t> peak_bits;
    std::int64_t flops =
        0;  ///< additions and multiplications of contractions (2 an element) and maps
    std::int64_t exponentials = 0;  ///< exp and the like
    std::int64_t blocks = 0;        ///< processors of the block level used
    std::int64_t chunks_visited = 0;
    std::int64_t chunks_skipped = 0;
    bool skips_all = false;  ///< some loop is never entered: its mask holds for no chunk
    bool operator==(const Counters&) const = default;
};

/// What is done with chunks that masks of data may leave out. Counts are those of all chunks.
enum class MaskedChunks {
    Visit,     // like kernels that do not look
    LeaveOut,  // wherever the masks hold for no element, so more of them than any kernel
};
/// Whether there are such masks.
[[nodiscard]] bool has_data_masks(const TileProgram& program);

enum class Arithmetic {
    Exact,    // every value in double, no rounding but the user's own
    Storage,  // tiles rounded to their variables' types, folds accumulated in f32
};

struct Interpretation {
    Tensors outputs;
    std::vector<Counters> counters;
    /// Saves of an output element beyond the first, and elements never saved: both zero in a
    /// correct program.
    std::int64_t written_twice = 0;
    std::int64_t never_written = 0;
};

/// Executes on real values. A diagnostic where an input breaks its contract.
[[nodiscard]] Result<Interpretation> interpret(const Diagram& diagram, const TileProgram& program,
                                               const Tensors& inputs,
                                               Arithmetic arithmetic = Arithmetic::Exact,
                                               MaskedChunks masked = MaskedChunks::Visit);
/// The same counters without values, at full size in reasonable time.
[[nodiscard]] std::vector<Counters> count(const TileProgram& program);

}  // namespace napkin
