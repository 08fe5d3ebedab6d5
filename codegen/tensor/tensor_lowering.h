// Lowering of one region's tile program to a kernel for the tensor core's targets, by a plan
// (schedule/plan.h).
//
// The kernel's body follows the tile program statement by statement. Loads that a product reads are
// asynchronous copies into swizzled matrices, and those inside a loop go through a ring of stages,
// filled ahead. Computations are loops over the elements that a thread holds, unrolled. A chunk of
// a loop whose masks hold everywhere runs a version of the body without tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "codegen/lowering/region_frame.h"
#include "schedule/plan.h"
#include "schedule/scales.h"

namespace napkin::lowering {

class TensorLowering : private RegionFrame {
public:
    TensorLowering(const State& state, const RegionProgram& region, const EmitOptions& options,
                   tensor::Plan plan);
    [[nodiscard]] LoweredRegion run();

private:
    using Home = tensor::Home;

    /// A fragment's type and how its elements are indexed.
    struct Columns {
        kernel::Type type = "float";  ///< `Fragment<2, 8>`
        std::int64_t count = 0;       ///< columns of a thread
        std::int64_t padded = 0;      ///< columns of the block's tile
        bool split = false;           ///< whether several warps share them
    };
    /// The domain of a computation: what its element loops run over.
    struct Domain {
        bool row = false;
        std::optional<AxisId> column;
    };

    /// The names and bounds of a loop over chunks.
    struct ChunkLoop {
        const Loop& loop;
        AxisRange outer;               ///< of its axis, around the loop
        std::string axis{};            ///< as an identifier
        std::string start{};           ///< the variable: where a chunk starts
        kernel::Expression end = 0;    ///< of the axis' range
        kernel::Expression first = 0;  ///< where the first visited chunk starts
        std::string next{};     ///< a function to the next visible chunk; empty without masks
        std::string filling{};  ///< a function that loads a chunk's matrices, where it has some
        std::string stage{};    ///< of the ring, where it has several
        /// A function of a chunk's start, and of its stage where it has one.
        [[nodiscard]] kernel::Lambda function(Body body) const;
        /// Where the chunk after the one at `from` starts.
        [[nodiscard]] kernel::Expression after(const std::string& from) const;
    };

    // lower_structure.cpp
    void limit_whole_axes();
    void name_tiles();
    [[nodiscard]] bool rounds_operand(const tensor::Product& product) const;
    void place_marks();
    void place_matrices();
    void declare_warps(Body& body);
    void lower(const std::vector<TileStatement>& statements, Body& body);
    void lower(const TileStatement& statement, Body& body);
    void wait_for_copies(Body& body);
    [[nodiscard]] std::size_t count_before_end(const std::vector<TileStatement>& statements) const;

    // lower_loop.cpp
    void lower_loop(const Loop& loop, Body& body);
    void enter_chunk(const ChunkLoop& code, Body& body);
    void find_visible(ChunkLoop& code, Body& body);
    [[nodiscard]] std::pair<kernel::Expression, kernel::Expression> declare_ends(
        const ChunkLoop& code, const ChunkProgression& chunks, Body& body);
    void find_nearest(ChunkLoop& code, const std::vector<ChunkProgression>& all, Body& body);
    void search_visible(ChunkLoop& code, Body& body);
    void find_by_index(ChunkLoop& code, Body& body);
    void find_by_data(ChunkLoop& code, Body& body);
    [[nodiscard]] std::optional<IntervalCode> element_ends(const Read& read, Body& body);
    [[nodiscard]] std::vector<VariableId> fill_matrices(ChunkLoop& code, Body& body);
    [[nodiscard]] Body declare_chunk(const ChunkLoop& code, const std::vector<VariableId>& own,
                                     Body& body);
    static Body fill_ahead(const ChunkLoop& code, const std::string& ahead,
                           const kernel::Expression& stage);
    static void loop_over(const ChunkLoop& code, kernel::Expression from, Body steps, Body& body);
    static void loop_in_turns(const ChunkLoop& code, Body run, Body& body);
    void loop_ahead(const ChunkLoop& code, Body run, Body& body);
    void lower_product_loop(const ChunkLoop& code, const Compute& compute, Body& body);
    /// Whether chunks bring matrices.
    [[nodiscard]] bool fills_matrices(const Loop& loop) const;
    /// The product that a loop is made of, if it holds nothing else that would have to wait for it.
    [[nodiscard]] const Compute* lone_product(const Loop& loop) const;
    /// What tells chunks with nothing to test from others; `false` where all have.
    [[nodiscard]] kernel::Expression untested(const Loop& loop, Body& body);

    // lower_memory.cpp
    [[nodiscard]] bool has_loops() const;
    void lower_load(const Load& load, Span span, Body& body);
    /// Where the part of an array that a load brings is in it.
    struct Source {
        std::vector<IndexForm> origin;
        std::vector<IndexForm> count;                ///< of what the tile holds
        std::vector<std::optional<IndexForm>> left;  ///< up to the end, after which the last stands
        [[nodiscard]] bool repeats() const;
    };
    [[nodiscard]] Source source_of(const Load& load);
    [[nodiscard]] std::vector<IndexForm> indices_in_view(const Load& load, ElementScope element);
    /// The same, kept inside the array.
    [[nodiscard]] std::vector<IndexForm> inside_view(const Load& load, ElementScope element);
    [[nodiscard]] Body copy_matrix(const Load& load, const kernel::Expression& tile);
    void lower_fragment_load(const Load& load, Span span, Body& body);
    void load_elements(const Load& load, Body& body);
    [[nodiscard]] Code device_element(ArrayId array, const std::vector<IndexForm>& at);
    void lower_save(const Save& save, Span span, Body& body);
    /// Where results wait for their save: where other tiles were, if nothing uses them any more.
    [[nodiscard]] std::optional<std::int64_t> place_staging(std::int64_t bytes);
    [[nodiscard]] Body staged_save(const Save& save, int width, std::int64_t offset);
    [[nodiscard]] std::int64_t staging_bytes(const Save& save) const;
    [[nodiscard]] kernel::Statement row_save(const Save& save);
    [[nodiscard]] Body direct_save(const Save& save);

    // lower_compute.cpp
    void lower_compute(const Compute& compute, Span span, Body& body);
    [[nodiscard]] std::optional<Expression> map_of(const Compute& compute) const;
    void lower_map(const Compute& compute, const Expression& value, Body& body);
    void finish_map(const Compute& compute, const Domain& domain, Code value, Body before,
                    Body inside, Body& body);
    void lower_fold(const Compute& compute, const Fold& fold, Body& body);
    /// The fold of what a thread holds and its neighbours along the row; of everything where
    /// `rows`.
    [[nodiscard]] Code folded_elements(const Fold& fold, std::optional<AxisId> over, bool rows,
                                       const Domain& outer, ExpressionScope& scope, Body& before);
    void lower_shared(const Compute& compute, Body& body);

    // lower_serial.cpp
    void lower_serial(const Compute& compute, const Fold& fold, const tensor::Serial& serial,
                      Body& body);
    /// Loops over all indices that the block has along the axes, outermost first.
    [[nodiscard]] Body loops_along(const std::vector<AxisId>& axes, Body inner) const;
    /// `acc`, folded over the threads that share a row.
    [[nodiscard]] kernel::Expression folded_across(MonoidId monoid) const;
    /// Whether storing the value rounds it anyway, and nothing else reads it.
    [[nodiscard]] bool rounded_when_saved(const Compute& compute) const;

    // lower_elements.cpp
    [[nodiscard]] ExpressionScope scope_for(const Compute& compute);
    [[nodiscard]] std::vector<IndexForm> gathered(const Load& load, ArrayId target,
                                                  const std::vector<IndexForm>& at);
    [[nodiscard]] IndexForm kept_inside(const IndexForm& at, AxisId dimension) const;
    void add_element(ExpressionScope& scope, VariableId variable);
    void declare(VariableId variable, Body& body);
    [[nodiscard]] IndexForm local_index(AxisId axis) const;
    [[nodiscard]] kernel::Expression warp_part(AxisId axis) const;
    [[nodiscard]] IndexForm warp_index(AxisId axis) const;
    /// A matrix in shared memory, in the stage that is used now.
    [[nodiscard]] kernel::Expression matrix(VariableId variable) const;
    /// The registers of a variable.
    [[nodiscard]] kernel::Expression place(VariableId variable) const;
    /// The one that a thread holds, or its element of row `i` and column `j`.
    [[nodiscard]] kernel::Expression element_at(VariableId variable) const;
    [[nodiscard]] Columns columns_of(AxisId axis) const;
    [[nodiscard]] kernel::Type rows_type() const;
    [[nodiscard]] Body row_loop(Body inner) const;
    [[nodiscard]] Body column_loop(AxisId axis, Body inner) const;
    [[nodiscard]] ElementScope element_of(const Domain& domain) const;
    /// Where the column is one of the array; `true` where it always is.
    [[nodiscard]] kernel::Expression column_test(AxisId axis) const;
    [[nodiscard]] kernel::Expression row_test() const;
    /// `column_test` as a chunk tests it: not at all where it is known to hold.
    [[nodiscard]] kernel::Expression test_in_chunk(AxisId axis) const;
    /// Prints a value and puts what does not vary along the columns into `before`.
    [[nodiscard]] Code print_hoisted(const Expression& value, const Domain& domain,
                                     ExpressionScope& scope, Body& before, Body& inside);
    [[nodiscard]] Expression prepared(const Expression& value, const Domain& domain) const;
    /// One thread of those that hold the same row; `true` where there is no other.
    [[nodiscard]] kernel::Expression row_leader() const;

    // lower_product.cpp
    [[nodiscard]] kernel::Expression multiplication(
        const Compute& compute, const tensor::Product& product, const kernel::Expression& sum,
        const std::optional<kernel::Expression>& left) const;
    void lower_product(const Compute& compute, const Fold& fold, const tensor::Product& product,
                       Body& body);
    [[nodiscard]] std::optional<kernel::Expression> left_operand(const Compute& compute,
                                                                 const tensor::Product& product,
                                                                 Body& body);
    void right_operand(const Compute& compute, const tensor::Product& product, Body& body);
    void compute_matrix(const Expression& value, const Compute& compute,
                        const kernel::Expression& tile, AxisId rows, AxisId columns,
                        ElementType type, Body& body);
    /// `Order::AsStored, Order::Transposed, 64`: how the matrices of a product lie, and its depth.
    [[nodiscard]] kernel::Expression right_order(const tensor::Product& product) const;
    [[nodiscard]] std::vector<kernel::Expression> orders_of(const tensor::Product& product) const;
    /// The first column of a result that the warp owns.
    [[nodiscard]] kernel::Expression first_column(AxisId axis) const;
    [[nodiscard]] AxisId axis_along(VariableId matrix, std::size_t dimension) const;

    /// A right operand that is computed: of which result, its rows and columns, its elements.
    using RightOperand = std::tuple<VariableId, AxisId, AxisId, ElementType>;
    [[nodiscard]] static RightOperand right_of(const Compute& compute,
                                               const tensor::Product& product) {
        return {compute.targets.front(), product.depth, product.column, product.type};
    }

    /// A matrix or vector in shared memory.
    struct Shared {
        std::string name;
        kernel::TileId tile;
        std::vector<IndexForm> origin;  ///< by dimension of the array, where it was last filled
        std::vector<IndexForm> count;
        std::vector<AxisId> axes;  ///< that its dimensions run along
    };

    tensor::Plan plan_;
    tensor::Scales scales_;
    std::map<VariableId, std::string> names_of_;  // registers
    std::map<AxisId, std::string> warp_parts_;    // `warp_q`
    std::map<VariableId, Shared> shared_;
    /// Marks of a loop's chunks: their tile, and how many it holds.
    std::map<std::pair<AxisId, Level>, std::pair<std::string, std::int64_t>> marks_;
    std::map<RightOperand, std::string> computed_right_;  // names of tiles
    std::map<VariableId, const Load*> loads_;
    std::map<VariableId, Span> deferred_;  // loads that are made where they are first used
    std::set<VariableId> declared_;
    std::vector<ExpressionScope::Known> known_;
    std::map<VariableId, std::string> stage_of_;  // of matrices that a loop fills now
    kernel::Expression tested_ = true;            // whether the chunk's tests are needed
    std::set<AxisId> looped_;                     // axes along which a serial fold goes
    std::optional<AxisId> chunked_;               // the axis of the innermost loop
    int temporaries_ = 0;
    bool copies_pending_ = false;
    std::int64_t stages_ = 1;
    bool ending_ = false;  // whether nothing in shared memory is used any more
    std::string scratch_;  // the tile through which warps combine values
};

}  // namespace napkin::lowering
