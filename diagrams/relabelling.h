// The relabelling: which statements run together (regions), which axes are grouped or streamed, at
// which level, with which sizes, and where boxes and wires live. It changes nothing about what a
// diagram computes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/level.h"

namespace napkin {

/// Where a box runs or a use of an array lives; the tensor core is a place within `warps`.
struct Place {
    Level level = Level::Block;
    bool tensor_core = false;
    bool operator==(const Place&) const = default;
};

/// A weaved axis partitioned into groups of `size`, each on its own processor of `level`.
struct Group {
    AxisId axis;
    std::int64_t size = 1;
    Level level = Level::Block;
    bool operator==(const Group&) const = default;
};
/// An axis fed to a processor of `level` in chunks of `size`.
struct Stream {
    AxisId axis;
    std::int64_t size = 1;
    Level level = Level::Block;
    bool operator==(const Stream&) const = default;
};

/// Statements executed together between one set of loads and one set of saves: one kernel.
struct Region {
    std::vector<StatementId> statements;  ///< in diagram order
    std::vector<Group> groups;            ///< outer levels first; one a pair of axis and level
    std::vector<Stream> streams;          ///< likewise
    bool operator==(const Region&) const = default;
};

struct Relabelling {
    std::vector<Region> regions;                ///< in an order in which they can run
    std::map<StatementId, Place> places;        ///< `recolour`
    std::map<ArrayId, ElementType> wire_types;  ///< `retype`
    bool operator==(const Relabelling&) const = default;
};

/// One region a box, woven axes grouped by 1 at `block`: where every derivation starts.
[[nodiscard]] Relabelling plain_relabelling(const Diagram& diagram);

/// Arrays a region reads that no statement of it defines, in order of first use.
[[nodiscard]] std::vector<ArrayId> loads_of(const Diagram& diagram, const Region& region);
/// Arrays a region defines that are outputs or that another region reads.
[[nodiscard]] bool is_saved(const Diagram& diagram, const Region& region, ArrayId array);
[[nodiscard]] std::vector<ArrayId> saves_of(const Diagram& diagram, const Region& region);
/// The region's name: its last named array, an output where there is one.
[[nodiscard]] std::string region_name(const Diagram& diagram, const Region& region);
/// The type in which an array is stored in device memory: its declared or retyped one; of an
/// untyped intermediate the widest floating input type of 16 bits or more, f32 of f16 and bf16,
/// bf16 where all are of 8 bits.
[[nodiscard]] ElementType storage_type(const Diagram& diagram, const Relabelling& relabelling,
                                       ArrayId array);

/// Regions with their boxes, groups, streams, places and types, one line each.
[[nodiscard]] std::string print(const Diagram& diagram, const Relabelling& relabelling);

}  // namespace napkin
