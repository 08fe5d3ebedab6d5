// What the masks of a derivation leave to compute: conditions outside of which elements add nothing
// to a fold, sorted, and the tiles that they meet and cover.
//
// A tile is visited where some pair of it may be visible, full where every pair is, else partial;
// only partial tiles need a test. All of it is asked of diagrams/index/mask.h, which decides the
// same for interpreter and kernels, and counted by diagrams/index/box_count.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "derive/state.h"
#include "diagrams/index/box_count.h"
#include "perfmodel/mask_pairs.h"

namespace napkin {

/// Whether a condition that holds at an index of an axis holds at every greater one (Rises) or
/// every smaller one (Falls).
enum class Trend { Neither, Rises, Falls };
enum class ConditionKind {
    Bound,     ///< monotone in every axis
    Equality,  ///< what is equal may become an axis of groups
    Data,      ///< reads arrays
    Other
};
[[nodiscard]] const char* name_of(Trend trend);
[[nodiscard]] const char* name_of(ConditionKind kind);

struct MaskCondition {
    Expression condition;
    ConditionKind kind = ConditionKind::Other;
    std::map<AxisId, Trend> trends;  ///< along the axes that it uses, but for data
};
/// Holds where all of its conditions do.
using MaskTerm = std::vector<MaskCondition>;

struct TileCounts {
    std::int64_t visited = 0;
    std::int64_t full = 0;
    std::int64_t pairs = 0;   ///< visible ones
    std::int64_t within = 0;  ///< pairs of the visited tiles, visible or not
    [[nodiscard]] std::int64_t partial() const { return visited - full; }
    TileCounts& operator+=(const TileCounts& other);  ///< up to what 64 bits hold
    bool operator==(const TileCounts&) const = default;
};

/// One mask of one kernel. It holds where one of its terms does.
struct MaskReport {
    std::string statement;  ///< the array in whose definition it stands
    std::size_t region = 0;
    std::vector<Expression> conditions;  ///< over indices; all hold where a pair is visible
    std::vector<Expression> data;        ///< which read arrays
    /// The visible pairs one by one, where the arrays are given or there is no closed form; null:
    /// counts are of the closed form of the conditions over indices.
    std::shared_ptr<const MaskPairs> pairs = nullptr;
    bool by_data = false;  ///< whether the pairs are of these arrays too
    std::vector<MaskTerm> terms;
    std::vector<AxisId> queries;         ///< kept, cut into tiles, as arrays have them
    std::vector<AxisId> keys;            ///< folded, as arrays have them
    std::vector<AxisId> heads;           ///< of woven axes those on which the conditions depend
    std::vector<index::Tiling> tilings;  ///< of queries, then of keys
    std::int64_t tiles = 1;              ///< of a head, visited or not
    bool decided = true;  ///< whether kernels see all of it in closed form; else they visit more
    /// Of every combination of indices of `heads`, the last axis fastest, or of one; empty where
    /// tiles cannot be counted, and then there is a reason.
    std::vector<TileCounts> counts;
    std::optional<Diagnostics> uncounted = std::nullopt;
    std::string formula;  ///< of the visited tiles, where there is one and heads are alike

    /// Over the heads that differ.
    [[nodiscard]] TileCounts total() const;
    [[nodiscard]] double bound() const;  ///< all tiles over the visited ones
    [[nodiscard]] double waste() const;  ///< pairs of the visited tiles over the visible ones
};

/// Every mask of every kernel of a state, each once a kernel; a diagnostic where heads are too many
/// to be told apart. With inputs, what reads arrays is counted by their values.
[[nodiscard]] Result<std::vector<MaskReport>> mask_reports(const State& given,
                                                           const Tensors& inputs = {});

/// Indices of the head axes of a report, of one of its combinations.
[[nodiscard]] std::map<AxisId, std::int64_t> head_of(const Diagram& diagram,
                                                     const MaskReport& report, std::size_t head);

}  // namespace napkin
