// Walks the regions in order, keeps the list of live arrays and writes a stage for each event.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diagrams/drawing/labels.h"
#include "diagrams/drawing/stages.h"

namespace napkin::drawing {

/// A live array: one place in the stack.
struct Slot {
    struct Wire {
        std::optional<AxisId> axis;  ///< none for the one wire of a scalar
        std::size_t dimension = 0;   ///< of the array
        std::string shown;           ///< the label last drawn on it
    };
    int id = 0;
    ArrayId array;
    bool common = false;  ///< the wires of axes that every array carries
    bool inside = false;  ///< at the lower level of the current region
    bool fresh = false;   ///< enters the picture at the next stage
    Place place = kDevice;
    std::vector<Wire> wires;
};

/// A stack of tracks between two dashed lines, with the slots that its neighbours know it by.
struct Entry {
    int left_top = -1;
    int left_bottom = -1;
    int right_top = -1;
    int right_bottom = -1;
    std::size_t first_track = 0;
    std::size_t last_track = 0;
    bool common = false;
};

/// The wires that a box reads: ports enter it, the others pass above it, or below it where they
/// cross fewer ports there.
struct BoxWires {
    struct Wire {
        std::size_t item = 0;
        std::size_t wire = 0;
    };
    using Passing = std::pair<AxisId, std::vector<Wire>>;
    std::vector<Wire> ports;
    std::vector<Passing> above;
    std::vector<Passing> below;
};

/// What stages are built of, whatever their order.
struct Scene {
    const Contents& contents;
    const DrawOptions& options;
    std::optional<std::size_t> kernel;  ///< the only one drawn
    Labels labels;
    std::vector<Unit> units{};  ///< of the kernels that are drawn
    std::vector<AxisId> common{};
    std::size_t first_column = 0;  ///< of the table, where the first of the kernels begins
};
[[nodiscard]] Scene scene_of(const Contents& contents, const DrawOptions& options,
                             std::optional<std::size_t> kernel);

/// `Wires` has the order of the tracks and what they come from, and no labels.
enum class Detail { Wires, All };

class StageBuilder {
public:
    StageBuilder(const Scene& scene, const StageOrder& order, Detail detail);
    /// All stages, or those up to the first unit after which they are not worth going on with.
    [[nodiscard]] StageList build(const std::function<bool(const StageList&)>& is_worth = {});

private:
    enum class Labelling { None, Changed };

    // Regions (stages.cpp)
    void bring_in_common();
    void enter_at(std::size_t place, std::vector<ArrayId> arrays);
    void choose_early_inputs();
    /// Whether it was worth building to the end.
    bool build_region(std::size_t region, const std::function<bool(const StageList&)>& is_worth);
    void bring_in_loads(std::size_t region);
    void load(std::size_t region, Level level, Level outer);
    void save(std::size_t region, Level level, Level outer);
    [[nodiscard]] bool is_labelled_at_end(const Key& wire) const;
    void name_outputs();
    Stage& data_stage(StageKind kind, Labelling labelling);
    void label_tracks(Stage& stage, Slot& slot, Labelling labelling);
    /// The axis along which a region reads a wire that it loads: the wire's own, unless all that
    /// read it there do so along one other of its size.
    [[nodiscard]] AxisId read_along(const Slot& slot, const Slot::Wire& wire) const;
    [[nodiscard]] MathText label_of(const Slot& slot, const Slot::Wire& wire) const;

    // Functions (stage_units.cpp)
    void run_unit(std::size_t unit);
    std::vector<std::size_t> gather(std::size_t unit);
    [[nodiscard]] std::size_t choose_gap(std::size_t unit,
                                         const std::vector<std::size_t>& items) const;
    void enter_contraction(Stage& stage, std::vector<Entry>& entries, std::size_t unit,
                           const std::vector<std::size_t>& items);
    void enter_box(Stage& stage, std::vector<Entry>& entries, std::size_t unit,
                   const std::vector<std::size_t>& items, const std::vector<Slot>& outputs);
    void pass_around(Stage& stage, const std::vector<const Slot*>& items, int id,
                     const BoxWires& wires, bool above, double& gap);
    void enter_ports(Stage& stage, const std::vector<const Slot*>& items, int id,
                     const BoxWires& wires, double gap, const std::vector<Slot>& outputs);
    std::vector<Track> outgoing_ports(std::size_t unit, const std::vector<Slot>& outputs, int id);
    void enter_triangle(Stage& stage, std::vector<Entry>& entries, std::size_t unit,
                        const std::vector<std::size_t>& items);
    void leave(std::size_t unit, const std::vector<Slot>& outputs);
    void add_bypass(Stage& stage, std::vector<Entry>& entries, const Slot& slot) const;
    [[nodiscard]] std::vector<Slot> make_outputs(std::size_t unit);
    [[nodiscard]] Place place_in_unit(std::size_t unit) const;

    // Both
    [[nodiscard]] Slot make_slot(ArrayId array);
    [[nodiscard]] std::size_t find_live(ArrayId array, bool inside);
    [[nodiscard]] bool needed_inside(ArrayId array, std::size_t after_unit) const;
    [[nodiscard]] bool needed_outside(ArrayId array, std::size_t after_region) const;
    [[nodiscard]] double gap_above(const std::vector<Entry>& entries) const;
    static void add_separators(Stage& stage, const std::vector<Entry>& entries);

    const Scene& scene_;
    const Diagram& diagram_;
    const DrawOptions& options_;
    const StageOrder& order_;
    const bool labelled_;
    StageList list_;
    std::vector<Slot> live_;
    std::set<ArrayId> entered_;
    int next_slot_ = 0;
    std::size_t region_ = 0;
    Level level_ = Level::Device;
    bool titled_labels_ = false;  ///< this region labels both sides of its loads
    /// Where the wires of a unit's outputs come from, by output slot and axis; emptied when the
    /// data stage after it is written.
    std::map<Key, std::vector<Key>> output_sources_;
    std::size_t columns_ = 0;
};

}  // namespace napkin::drawing
