// The cost table as text, and as the strings that a drawing puts above its columns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perfmodel/time.h"

namespace napkin {

/// One column of the resource table of a region, as in the paper: texts in ideal form.
struct TableColumn {
    CostColumn::Kind kind = CostColumn::Kind::Load;
    std::string title;
    std::vector<ArrayId> arrays;
    std::string memory;       ///< `2g_q·d + 2s_x·d`
    std::string transferred;  ///< empty for a column that moves nothing
};
/// The columns of a region and, last, its cumulative H.
[[nodiscard]] std::vector<TableColumn> table_columns(const RegionCost& cost);

/// An amount in the paper's form, or the exact formula where it has none.
[[nodiscard]] std::string ideal_text(const Amount& amount, const RegionCost& cost);
/// Of what all regions transfer.
[[nodiscard]] std::string ideal_text(const Amount& amount, const Cost& cost);
/// What each array adds to what is transferred, of any level: the parts of its sums.
[[nodiscard]] std::vector<Polynomial> transfers_of(const RegionCost& cost);
[[nodiscard]] std::vector<Polynomial> transfers_of(const Cost& cost);

/// The whole table: for each region its columns with M and H, then symbolic and numeric totals, A,
/// arithmetic and, for a machine, time and what binds; then the sum of all regions. Columns of a
/// region are rows where they take more than so many columns of text.
[[nodiscard]] std::string print_table(const Cost& cost, const Machine* machine = nullptr,
                                      std::size_t columns = 80);

}  // namespace napkin
