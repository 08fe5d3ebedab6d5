// A long picture in rows, as music is set in staves.
#pragma once

#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

/// One row; its first stage repeats the last of the row before.
struct System {
    StageList list;
    bool is_first = true;
    bool is_last = true;
};

/// The ways to break placed stages into rows at data stages, one a count of rows: the widest row as
/// narrow as can be, and then all as even as can be. The last has room for `totals` too.
class RowBreaks {
public:
    RowBreaks(const StageList& list, double totals);
    [[nodiscard]] std::size_t most_rows() const { return ends_.size() - 1; }
    [[nodiscard]] double widest_row(std::size_t rows) const { return widest_[rows].back(); }
    /// The stages of the rows are not placed yet; where `names`, a row that goes on says which
    /// arrays are live.
    [[nodiscard]] std::vector<System> systems(std::size_t rows, bool names) const;

private:
    [[nodiscard]] double width(std::size_t from, std::size_t to) const;
    [[nodiscard]] std::vector<std::size_t> evenest(std::size_t rows) const;

    const StageList& list_;
    double totals_ = 0;
    std::vector<std::size_t> ends_;            ///< stages that rows may begin and end at
    std::vector<std::vector<double>> widest_;  ///< of so many rows up to each of these
};

}  // namespace napkin::drawing
