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
/// How an amount's number stands to its ideal form, in signs around the form: `… + …` where that
/// lacks lesser terms, `≤ ` where the number is less than the form gives (masks leave chunks out,
/// the terms it lacks are negative), `≥ ` where it is more (sizes do not divide).
struct Signs {
    const char* before = "";
    const char* after = "";
};
[[nodiscard]] Signs signs_of(const Amount& amount, const RegionCost& cost);
[[nodiscard]] Signs signs_of(const Amount& amount, const Cost& cost);
/// The ideal form within these signs.
[[nodiscard]] std::string text_beside_number(const Amount& amount, const RegionCost& cost);
[[nodiscard]] std::string text_beside_number(const Amount& amount, const Cost& cost);
/// What each array adds to what is transferred, of any level: the parts of its sums.
[[nodiscard]] std::vector<Polynomial> transfers_of(const RegionCost& cost);
[[nodiscard]] std::vector<Polynomial> transfers_of(const Cost& cost);

/// The whole table: for each region its columns with M and H, then symbolic and numeric totals, A,
/// arithmetic and, for a machine, time and what binds; then the sum of all regions. Columns of a
/// region are rows where they take more than so many columns of text.
[[nodiscard]] std::string print_table(const Cost& cost, const Machine* machine = nullptr,
                                      std::size_t columns = 80);

}  // namespace napkin
