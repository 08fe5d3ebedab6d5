// Makes a plan (plan.h): finds the products, chooses the row axis, places every tile.
#pragma once

#include "derive/contraction.h"
#include "schedule/plan.h"

namespace napkin::schedule {

class Planner {
public:
    Planner(const TiledRegion& tiled, const Limits& limits, RegionSchedule wanted = {})
        : tiled_(tiled),
          region_(tiled.region),
          scope_(scope_of(tiled.region)),
          limits_(limits),
          wanted_(std::move(wanted)) {
        plan_.tile_axes = tiled.axes;
    }
    [[nodiscard]] std::variant<Plan, Refusal> run();
    /// What could be done about it, once it has run.
    [[nodiscard]] std::vector<Command> moves() const;

private:
    struct Candidate {
        LeafId leaf;
        Contraction contraction;
    };
    struct LoadPlace {
        const Load* load = nullptr;
        const Loop* loop = nullptr;
    };

    // plan.cpp
    void refuse(std::string reason, std::string help = {}, std::vector<Command> moves = {});
    void refuse(Refusal refusal, std::vector<Command> moves = {});
    void refuse_levels();
    void refuse_type(const Array& target);
    /// What helps where others stand in the way; nothing where there are none.
    [[nodiscard]] std::string apart() const;
    /// Moves that make blocks or chunks of so many indices of one of the axes.
    [[nodiscard]] std::vector<Command> narrowing(const std::vector<AxisId>& axes,
                                                 std::int64_t size) const;
    [[nodiscard]] std::vector<Command> shrinking() const;
    void try_plan();
    void collect();
    void collect_load(const Load& load, const Loop* loop);
    void collect_compute(LeafId leaf, const Compute& compute);
    void widen_others(const std::vector<TileStatement>& body,
                      const std::map<AxisId, std::int64_t>& parts);
    void widen(AxisId axis, std::int64_t extent);
    [[nodiscard]] std::vector<std::optional<AxisId>> row_candidates() const;
    [[nodiscard]] bool lies_in_memory(AxisId axis) const;
    [[nodiscard]] bool publishes_right_operands() const;
    [[nodiscard]] bool makes_left_in_pairs() const;
    void spread(std::optional<AxisId> row, bool left_in_registers);
    void extend_rows();
    void choose_staged();
    /// Axes of one index in a block that nothing folds: rows where no other axis can be.
    [[nodiscard]] std::vector<AxisId> single_axes() const;
    [[nodiscard]] const Array& array_of(VariableId variable) const;
    [[nodiscard]] const std::string& name(AxisId axis) const;
    /// `a`, `b` and `c`.
    [[nodiscard]] std::string names(const std::vector<AxisId>& axes) const;
    [[nodiscard]] bool wide(AxisId axis) const;
    [[nodiscard]] std::vector<AxisId> wide_axes(ArrayId array) const;

    // place_variables.cpp
    void place_computed(VariableId variable);
    [[nodiscard]] bool repeats_rows(const Load& load) const;
    [[nodiscard]] std::optional<Tile> turned_tile(VariableId variable, Tile tile,
                                                  const std::vector<std::optional<AxisId>>& axes);
    void place_loaded(VariableId variable);
    [[nodiscard]] bool comes_in_bulk(VariableId variable, const Tile& tile) const;
    void place_vectors();
    void shape_matrix(VariableId variable, Tile& tile);
    [[nodiscard]] std::vector<std::optional<AxisId>> axes_of_load(const Load& load) const;
    [[nodiscard]] bool read_by_product(VariableId variable) const;
    [[nodiscard]] bool read_exactly(VariableId variable) const;
    [[nodiscard]] bool read_by_block(VariableId variable) const;
    void choose_vector();

    // hold_rows.cpp
    [[nodiscard]] std::int64_t readers_of(VariableId variable) const;
    [[nodiscard]] bool is_mapped(VariableId variable) const;
    [[nodiscard]] std::optional<ElementType> saved_in_pairs(VariableId variable) const;
    [[nodiscard]] bool pair_rows();
    [[nodiscard]] std::optional<ElementType> saved_at_once(VariableId variable) const;
    [[nodiscard]] bool row_to_shared(VariableId variable, Tile& tile);
    [[nodiscard]] bool rows_to_shared();
    [[nodiscard]] bool skew_rows();
    [[nodiscard]] bool is_read_by_elements() const;
    [[nodiscard]] std::optional<std::map<AxisId, std::int64_t>> begins_of_rows(
        const Array& array, AxisId columns, std::int64_t vector) const;
    [[nodiscard]] std::optional<Refusal> hold_rows(std::optional<Refusal> refusal);

    // place_folds.cpp
    void find_serial();
    void find_serial(LeafId leaf, const Compute& compute, const Fold& fold);
    [[nodiscard]] bool make_serial(LeafId leaf, Serial& serial);
    /// What computes a variable that can be computed again wherever it is read.
    [[nodiscard]] const Map* repeatable(VariableId variable, LeafId reader) const;
    [[nodiscard]] bool read_serially(VariableId variable) const;
    void check_folds();
    void refuse_ordered();
    void check_ordered(const Compute& compute);
    void check_reads();

    // publish_operands.cpp
    void publish_operands();
    [[nodiscard]] bool computed_by_rows(const Compute& compute, const Product& product,
                                        const Expression& value) const;
    [[nodiscard]] bool publishable(VariableId variable) const;
    [[nodiscard]] bool of_the_block(const std::vector<VariableId>& reads,
                                    const Expression& value) const;
    void place_panel(const Compute& compute, const Product& product, Operand& side) const;
    [[nodiscard]] std::optional<AxisId> memory_axis(const Compute& compute, const Read& read) const;

    // find_products.cpp
    void take_guarded(Operand& side);
    void take_unneeded(const Compute& compute, const Operand& side);
    [[nodiscard]] std::optional<Expression> guard_of(const Load& load,
                                                     const Expression& condition) const;
    [[nodiscard]] bool always_guarded(VariableId variable, const Expression& inside) const;
    void find_products();
    void orient(Candidate candidate);
    void settle(const Compute& compute, Product& product);
    [[nodiscard]] bool settle_narrow(const Compute& compute, Product& product);
    [[nodiscard]] std::string why_widened(const Compute& compute, const Product& product,
                                          const Operand& side) const;
    [[nodiscard]] bool feeds_products(VariableId variable) const;
    [[nodiscard]] std::optional<VariableId> operand_of(const Compute& compute,
                                                       const Operand& side) const;
    [[nodiscard]] std::optional<ElementType> type_beside(const Compute& compute,
                                                         const Product& product) const;
    void settle_shared();

    const TiledRegion& tiled_;
    const RegionProgram& region_;
    const Diagram scope_;  // of the region
    const Limits& limits_;
    const RegionSchedule wanted_;
    Plan plan_;
    std::optional<Refusal> refused_;
    std::vector<Command> moves_;  ///< what could be done about it
    std::map<VariableId, LoadPlace> loads_;
    std::map<LeafId, const Compute*> computes_;
    std::vector<Candidate> products_;
    std::map<LeafId, const Loop*> loop_of_;  // the innermost one around a computation
    std::set<AxisId> along_tiles_;           // axes along which tiles run
    std::optional<AxisId> single_row_;       // taken for the rows
    bool left_in_registers_ = false;         // of left operands that are computed
};

}  // namespace napkin::schedule
