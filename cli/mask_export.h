// Masks in the forms of others: pictures, FlexAttention's function, block lists, compressed rows.
#pragma once

#include <optional>
#include <string>

#include "codegen/export/export.h"
#include "diagrams/drawing/canvas.h"
#include "perfmodel/tile_grid.h"

namespace napkin::cli {

/// A panel a head, up to so many that differ: every pair where there are at most 2048 queries and
/// keys, else tiles, doubled until there are at most as many.
[[nodiscard]] Result<drawing::Canvas> mask_picture(const State& state, const MaskReport& report);
/// The same in characters, so many wide: full, partial and empty.
[[nodiscard]] Result<std::string> mask_characters(const State& state, const MaskReport& report,
                                                  std::int64_t width);

/// How tokens are numbered: as arrays have them, or tile by tile.
enum class TokenOrder { Arrays, Tiles };
/// Where inputs or outputs have the axes of a side in different orders, whose is taken: "queries
/// are [j, i] as in `Q`, not as in `O`"; empty where they agree.
[[nodiscard]] std::string other_orders_text(const Diagram& diagram, const MaskReport& report);
/// `mask_mod(b, h, q_idx, kv_idx)` in Python: axes are parts of the indices, other arrays and
/// woven axes are names.
[[nodiscard]] std::string mask_mod_text(const State& state, const MaskReport& report,
                                        TokenOrder order = TokenOrder::Arrays);

/// An array of zeros.
[[nodiscard]] Tensor zeros(std::vector<std::int64_t> extents);
/// Arrays by the names of their files.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
/// Writes a text and arrays beside it over nothing but what an earlier such writing left, of which
/// nothing stays.
[[nodiscard]] std::optional<Diagnostic> write_mask_folder(const std::string& folder,
                                                          const ExportedFile& text,
                                                          const NamedTensors& arrays);

/// Of each head and tile of queries the numbers of partial and of full tiles of keys, and which:
/// the four tensors of FlashAttention-4, as files in a folder, with the mask over tokens in the
/// order of tiles, and that order where it is not the arrays'. Refuses tiles of different lengths.
[[nodiscard]] std::optional<Diagnostics> write_block_lists(const State& state,
                                                           const MaskReport& report,
                                                           const std::string& folder);

/// One line a row: `stride first count`, with ` x stride count` where that repeats and ` + ` before
/// another. Refuses a mask that has another row.
[[nodiscard]] Result<std::string> compressed_text(const State& state, const MaskReport& report);

/// A matrix of zeros and ones in a file, one row a query; of numbers, or of compressed rows, one
/// head after the other.
struct MaskMatrix {
    std::int64_t heads = 1;
    std::int64_t rows = 0;  ///< of a head
    std::int64_t columns = 0;
    std::vector<double> values;
    /// The columns of a row, which is numbered through all heads.
    [[nodiscard]] std::vector<ColumnRun> visible(std::int64_t row) const;
};
[[nodiscard]] bool holds_rows(const std::string& path);
[[nodiscard]] Result<MaskMatrix> read_matrix(const std::string& path);
/// Its rows in the same notation, or the first that has none.
[[nodiscard]] Result<std::string> compressed_text(const MaskMatrix& matrix,
                                                  const std::string& path);
/// A diagram whose mask reads the rows from arrays, written beside it in a folder; refuses what has
/// another row.
[[nodiscard]] Result<std::string> import_matrix(const MaskMatrix& matrix, const std::string& path,
                                                const std::string& folder);

}  // namespace napkin::cli
