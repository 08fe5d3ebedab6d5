// Lowering of one region's scheduled program (schedule/program.h) to a kernel for the tensor core's
// targets.
//
// The kernel's body follows the scheduled program item by item: what an operation computes comes
// from the statement of the region that it carries out, where its buffers lie, which chunk it works
// on and what it waits for from the program. Computations are loops over the elements that a thread
// holds, unrolled. A chunk of a loop whose masks hold everywhere runs a version of the body without
// tests.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/lowering/region_frame.h"
#include "schedule/defer_saves.h"
#include "schedule/plan.h"
#include "schedule/program.h"
#include "schedule/scales.h"

namespace napkin::lowering {

class TensorLowering : private RegionFrame {
public:
    TensorLowering(const State& state, const RegionProgram& region, const EmitOptions& options,
                   schedule::Plan plan, schedule::Program schedule);
    [[nodiscard]] LoweredRegion run();

private:
    using Home = schedule::Home;
    using LeafId = schedule::LeafId;

    /// The barriers of the threads that compute, and of those that copy.
    static constexpr int kComputeBarrier = 1;
    static constexpr int kCopyBarrier = 2;

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
        const schedule::ChunkLoop& loop;
        const Loop& statement;
        AxisRange outer;               ///< of its axis, around the loop
        std::string axis{};            ///< as an identifier
        std::string start{};           ///< the variable: where a chunk starts
        kernel::Expression end = 0;    ///< of the axis' range
        kernel::Expression first = 0;  ///< where the first visited chunk starts
        std::string next{};  ///< a function to the next visible chunk; empty without masks
        /// Where `next` takes it from a list: the variable that says whether that is without tests.
        std::string listed_whole{};
        /// A function that tells chunks without tests from others, where there are both.
        std::string is_whole{};
        std::string copies{};  ///< a function that starts a chunk's copies
        std::string chunk{};   ///< a function: what a chunk does in its own turn
        /// Functions of operations that run ahead, by operation.
        std::map<schedule::OpId, std::string> ahead{};
        /// By how many chunks operations lead, the variable where that chunk starts.
        std::map<std::int64_t, std::string> starts{};
        /// By the stages of a ring, the variable that counts them.
        std::map<std::int64_t, std::string> slots{};
        std::int64_t copy_lead = 0;
        std::int64_t most_lead = 0;  ///< of other operations
        /// Whether what a chunk does in its own turn has among it what runs ahead.
        bool leads_inside = false;
        /// Where the chunk after the one at `from` starts.
        [[nodiscard]] kernel::Expression after(const std::string& from) const;
    };
    /// A turn of a loop: one before the first chunk's, in which only what leads by more than
    /// -`number` runs; the last chunk's, in which nothing runs ahead; or any other.
    struct Turn {
        std::int64_t number = 0;
        bool before = false;
        bool last = false;
    };

    /// Whether warp groups compute, beside one that copies.
    [[nodiscard]] bool in_groups() const { return !schedule_.rings.empty(); }

    // lower_structure.cpp
    void limit_whole_axes();
    void name_tiles();
    void name_buffers();
    [[nodiscard]] bool rounds_operand(const schedule::Product& product) const;
    void declare_warps(Body& body);
    void lower(const schedule::Body& items, Body& body);
    void lower(schedule::OpId op, Body& body);
    void lower(const schedule::Sync& sync, Body& body) const;
    /// A buffer in shared memory, in the slot that is used now.
    [[nodiscard]] kernel::Expression shared_buffer(schedule::BufferId buffer) const;
    void add_comments(const std::string& what, Span span, const std::string& via, Body& body) const;
    [[nodiscard]] static kernel::Statement factor_comment(double factor);
    void note_factor(const Compute& compute, std::size_t from, Body& body) const;

    // lower_agents.cpp
    [[nodiscard]] bool is_ring(schedule::BufferId buffer) const;
    [[nodiscard]] bool is_list(schedule::BufferId buffer) const;
    [[nodiscard]] bool in_panels(schedule::BufferId buffer) const;
    [[nodiscard]] bool is_published(schedule::BufferId buffer) const;
    void lower_agents(Body& body);
    void declare_rings(Body& body);
    [[nodiscard]] Body agent_of(bool apart);
    [[nodiscard]] bool copies_search() const;
    [[nodiscard]] std::int64_t warp_groups() const;  ///< that compute
    void for_tiles(const std::function<void(Body&)>& lower_items, Body& body);
    void list_tile(kernel::Expression tile, Body& body);
    void draw_tiles(kernel::For& loop);
    void take_tiles(kernel::For& loop, Body& body);
    [[nodiscard]] kernel::Statement copied(const char* what,
                                           std::vector<kernel::Expression> arguments);
    void lower_fills(const schedule::Body& items, Body& body);
    void lower_fill_loop(const schedule::ChunkLoop& loop, Body& body);
    [[nodiscard]] std::int64_t bytes_of(VariableId variable) const;
    [[nodiscard]] kernel::Statement bulk_copy(const schedule::Op& op, const Load& load,
                                              schedule::RingId ring);
    [[nodiscard]] kernel::Lambda place_of(const Load& load,
                                          const std::vector<std::uint32_t>& dimensions);
    /// How manieth content of a ring a chunk's is.
    [[nodiscard]] kernel::Expression content_of(schedule::RingId ring, std::int64_t lead) const;
    void use_rings(const schedule::Op& op);
    void lower(const schedule::Await& await, Body& body);
    void lower(const schedule::Release& release, Body& body) const;

    // lower_turns.cpp
    /// Whether operations of warp groups run ahead in a loop.
    [[nodiscard]] bool leads(const schedule::ChunkLoop& loop) const;
    void lower_turns(const schedule::ChunkLoop& loop, Body& body);
    struct Turns;
    void declare_turn(Turns& turns, Body& body);
    void find_scales(const schedule::ChunkLoop& loop);
    [[nodiscard]] bool stays_in_turn(const schedule::ChunkLoop& loop,
                                     schedule::BufferId buffer) const;
    void note_chunk(const schedule::ChunkLoop& loop);
    void note_published(const Compute& compute);
    void declare_registers(const schedule::ChunkLoop& loop, bool of_turn, Body& body);

    // lower_loop.cpp
    void lower_loop(const schedule::ChunkLoop& loop, Body& body);
    [[nodiscard]] ChunkLoop loop_code(const schedule::ChunkLoop& loop);
    void enter_chunk(const ChunkLoop& code, Body& body);
    void find_leads(ChunkLoop& code);
    [[nodiscard]] kernel::Lambda function(const ChunkLoop& code, Body body) const;
    [[nodiscard]] kernel::Statement call_of(const ChunkLoop& code, const std::string& function,
                                            std::int64_t lead, const Turn& turn,
                                            const std::vector<bool>& flags = {}) const;
    [[nodiscard]] kernel::Expression slot_of(const ChunkLoop& code, std::int64_t stages,
                                             std::int64_t lead, const Turn& turn) const;
    void use_slots(const ChunkLoop& code, std::int64_t lead);
    void declare_functions(ChunkLoop& code, Body& body);
    [[nodiscard]] Body inside_chunk(const ChunkLoop& code, const std::vector<schedule::Item>& items,
                                    bool led);
    void declare_chunk(ChunkLoop& code, Body& body);
    [[nodiscard]] Body lead_call(const ChunkLoop& code, schedule::OpId op, const Turn& turn) const;
    [[nodiscard]] Body chunk_call(const ChunkLoop& code, const Turn& turn) const;
    [[nodiscard]] Body turn_of(const ChunkLoop& code, const Turn& turn);
    void declare_ahead(const ChunkLoop& code, Body& body);
    [[nodiscard]] Body turns_of(const ChunkLoop& code);
    /// Items of a body from the first to the last that work on the chunk whose turn it is.
    struct Own {
        std::size_t first = 0;
        std::size_t last = 0;
    };
    [[nodiscard]] std::optional<Own> own_of(const schedule::ChunkLoop& loop) const;
    [[nodiscard]] bool is_copy(const schedule::Item& item) const;
    /// What tells chunks with nothing to test from others; `false` where all have.
    [[nodiscard]] kernel::Expression untested(const Loop& loop, Body& body);
    [[nodiscard]] bool is_guard(const Expression& condition) const;
    [[nodiscard]] Expression of_device(const Expression& expression) const;
    [[nodiscard]] kernel::Expression holds_in_chunk(const Loop& loop, const Expression& condition,
                                                    Body& body);

    // visible_chunks.cpp
    void find_visible(ChunkLoop& code, Body& body);
    [[nodiscard]] std::pair<kernel::Expression, kernel::Expression> declare_ends(
        const ChunkLoop& code, const ChunkProgression& chunks, Body& body);
    void find_nearest(ChunkLoop& code, const std::vector<ChunkProgression>& all, Body& body);
    void search_visible(ChunkLoop& code, Body& body);
    void take_listed(ChunkLoop& code, Body& body);
    [[nodiscard]] kernel::Statement put_listed(const schedule::ChunkLoop& loop,
                                               kernel::Expression chunk, kernel::Expression whole);
    void find_by_index(ChunkLoop& code, Body& body);
    void find_by_data(ChunkLoop& code, Body& body);
    [[nodiscard]] std::optional<std::int64_t> spread_of(const Expression& index) const;
    [[nodiscard]] std::optional<std::string> declare_ends_of(const Read& read, Body& body);
    void find_kept_ends(Body& body);
    [[nodiscard]] std::vector<std::pair<Read, IntervalCode>> take_kept_ends(const ChunkLoop& code,
                                                                            Body& test);
    struct Marked;
    void declare_marks(ChunkLoop& code, Marked& marked, const char* how, Body mark_of, Body& body);
    void mark_before_agents(Body& body);

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
    /// What indices of an array may name: sizes, parameters, and data that no tile copies.
    [[nodiscard]] ExpressionScope scope_of_places(const std::vector<Expression>& places);
    [[nodiscard]] std::vector<IndexForm> indices_in_view(const Load& load, ElementScope element);
    /// The same, kept inside the array.
    [[nodiscard]] std::vector<IndexForm> inside_view(
        const Load& load, ElementScope element, std::optional<std::size_t> inside = std::nullopt);
    void note_shared(const Load& load);
    void note_awaited(const schedule::Await& await);
    [[nodiscard]] bool is_shifted(const Load& load, int width) const;
    [[nodiscard]] Body copy_matrix(const Load& load, const kernel::Expression& tile);
    /// Rows and columns of a tile, where its elements are in an array.
    struct Gathered {
        ArrayId array;
        std::optional<AxisId> rows;
        AxisId columns;
        std::int64_t padded_rows = 0;
        std::int64_t padded_columns = 0;
        std::optional<Expression> guard;  ///< elsewhere no element is there
    };
    /// A function of row and column that says where a vector is, and its elements' number.
    [[nodiscard]] std::pair<int, kernel::Expression> piece_of(const Gathered& gathered,
                                                              const std::vector<Expression>& index);
    [[nodiscard]] Body copy_gathered(const Load& load, const kernel::Expression& tile);
    [[nodiscard]] Code device_element(ArrayId array, const std::vector<IndexForm>& at);
    void lower_save(const schedule::Op& op, const Save& save, Span span, Body& body);
    [[nodiscard]] Body staged_result(const schedule::Op& op, const Save& save);
    [[nodiscard]] kernel::Expression has_columns(AxisId column) const;
    [[nodiscard]] Body staged_save(const Save& save, schedule::BufferId staging);
    [[nodiscard]] Body saved_in_slices(const schedule::Op& op, const Save& save, Span span);
    /// Where in device memory rows of a block's tile are saved.
    struct Destination {
        int width = 1;  ///< elements that may be written at once
        kernel::Expression first = 0;
        std::size_t row_dimension = 0;
        IndexForm rows = 0;
        IndexForm columns = 0;
    };
    [[nodiscard]] Destination destination_of(const Save& save, const IndexForm& row,
                                             const IndexForm& column, Body& body);
    /// Of a warp's own rows and columns.
    [[nodiscard]] Destination destination_of_warp(const Save& save, Body& body);
    [[nodiscard]] kernel::Expression slices_of_warp(schedule::BufferId slices) const;
    [[nodiscard]] Body direct_save(const Save& save);

    // lower_held.cpp
    void declare_held(Body& body);
    void hold(const schedule::Op& op, const Save& save, Span span, Body& body);
    void save_last_held(Body& body);
    [[nodiscard]] kernel::Statement saved_held(const schedule::Op& op, const Save& save);

    // lower_rows.cpp
    [[nodiscard]] kernel::Statement move_row_pieces(const char* function, ArrayId array,
                                                    bool writes, VariableId variable,
                                                    const std::vector<Expression>& index);
    [[nodiscard]] bool in_vectors(ArrayId id, const IndexForm& first_column);
    void lower_fragment_load(const Load& load, Span span, Body& body);
    void load_skewed(const Load& load, Body& body);
    void load_elements(const Load& load, Body& body);
    [[nodiscard]] std::optional<std::vector<kernel::Expression>> row_places(const Save& save);
    [[nodiscard]] const Save* saved_at_once(VariableId variable) const;
    [[nodiscard]] bool declare_own_rows(VariableId variable, Body& body);
    void save_rows(const Save& save, Body& body);

    // lower_compute.cpp
    void lower_elements(LeafId leaf, const Compute& compute, Span span, Body& body);
    /// Loads that waited until they are used.
    void make_deferred_loads(const Compute& compute, Body& body);
    [[nodiscard]] std::optional<Expression> map_of(const Compute& compute) const;
    void lower_map(const Compute& compute, const Expression& value, Body& body);
    struct Vectors;
    void finish_map(const Compute& compute, const Domain& domain, Code value, Body before,
                    Body inside, Body& body, Vectors* vectors = nullptr);
    [[nodiscard]] Body elements_of_map(const Compute& compute, const Domain& domain, Code value,
                                       Body inside, Vectors* vectors = nullptr);
    void lower_fold(LeafId leaf, const Compute& compute, const Fold& fold, Body& body);
    [[nodiscard]] std::pair<std::optional<AxisId>, bool> folded_axes(const Fold& fold) const;
    [[nodiscard]] kernel::Expression part_at(LeafId fold, const kernel::Expression& across) const;
    /// The fold of a row by all warps that share it.
    [[nodiscard]] kernel::Expression put_together(LeafId fold, MonoidId monoid, Body& body) const;
    void lower_part(const schedule::Op& op, const Compute& compute, Span span, Body& body);
    void lower_combine(LeafId leaf, const Compute& compute, Body& body);
    /// The fold of what a thread holds and, unless `by_lanes`, its neighbours along the row; of
    /// everything where `rows`.
    [[nodiscard]] Code folded_elements(const Fold& fold, std::optional<AxisId> over, bool rows,
                                       bool by_lanes, const Domain& outer, ExpressionScope& scope,
                                       Body& before);

    // lower_ordered.cpp
    [[nodiscard]] bool is_used(VariableId variable) const;
    [[nodiscard]] Body loop_of_columns(AxisId column, Vectors vectors, Body inside);
    void read_along(AxisId column, const Compute& compute, const Expression& value,
                    Vectors& vectors, ExpressionScope& scope);
    void lower_select(const Compute& compute, const Select& select, Body& body);
    [[nodiscard]] kernel::Expression first_across(const kernel::Expression& best) const;
    void lower_scan(const Compute& compute, const Fold& fold, Body& body);

    // lower_pairs.cpp
    /// As schedule/pairs.h has it.
    [[nodiscard]] std::optional<Expression> paired_value(LeafId product) const;
    [[nodiscard]] std::optional<LeafId> paired_product(const schedule::Op& op) const;
    /// The registers of one of the arrays that pairs are made of, of row `i` and pair `p`.
    [[nodiscard]] kernel::Expression pair_at(LeafId product, const Expression& read) const;
    void declare_pairs(LeafId product, Body& body);
    [[nodiscard]] Body pair_loops(AxisId depth, Body inner) const;
    void lower_pair_reads(const schedule::Op& op, LeafId product, Span span, Body& body);
    [[nodiscard]] kernel::Expression paired(LeafId product, const Expression& value) const;
    void lower_paired_left(LeafId product, Body& body);

    // lower_serial.cpp
    [[nodiscard]] bool joins(LeafId leaf, LeafId first) const;
    [[nodiscard]] std::vector<LeafId> made_at_once(const schedule::Body& items,
                                                   std::size_t at) const;
    void lower_at_once(const std::vector<LeafId>& leaves, Body& body);
    struct SerialFolds;
    [[nodiscard]] SerialFolds serial_folds(const std::vector<LeafId>& leaves);
    [[nodiscard]] std::pair<Body, bool> serial_step(SerialFolds& folds);
    void lower_serial(const std::vector<LeafId>& leaves, Body& body);
    /// Loops over all indices that the block has along the axes, outermost first.
    [[nodiscard]] Body loops_along(const std::vector<AxisId>& axes, Body inner,
                                   bool in_vectors = false,
                                   std::optional<AxisId> shared = std::nullopt) const;
    [[nodiscard]] std::optional<AxisId> shared_axis(const std::vector<AxisId>& axes) const;
    [[nodiscard]] kernel::Statement combine_columns(MonoidId monoid, AxisId column,
                                                    const kernel::Expression& acc) const;
    [[nodiscard]] kernel::Statement define_whole(AxisId axis) const;
    /// What the threads that share a row hold, folded.
    [[nodiscard]] kernel::Expression folded_across(MonoidId monoid,
                                                   const kernel::Expression& part) const;
    /// Whether storing the value rounds it anyway, and nothing else reads it.
    [[nodiscard]] bool rounded_when_saved(VariableId target) const;
    [[nodiscard]] kernel::Expression kept_as(VariableId target, Code value) const;
    /// Another value where a test does not hold.
    void keep_where(kernel::Expression test, kernel::Expression otherwise, Code& value,
                    Body& inside);

    // element_places.cpp
    /// Where loops go along one axis, no others have neighbours in a word.
    [[nodiscard]] ExpressionScope scope_for(const Compute& compute,
                                            std::optional<AxisId> along = std::nullopt);
    [[nodiscard]] std::vector<IndexForm> gathered(const Load& load, ArrayId target,
                                                  const std::vector<IndexForm>& at,
                                                  std::optional<std::size_t> inside);
    [[nodiscard]] std::vector<IndexForm> device_indices(VariableId id, std::vector<IndexForm> at,
                                                        std::optional<std::size_t> inside);
    [[nodiscard]] bool runs_past(AxisId part) const;
    [[nodiscard]] std::int64_t indices_along(AxisId part) const;
    [[nodiscard]] IndexForm kept_inside(const IndexForm& at, AxisId dimension) const;
    /// The place of an index along an axis in a tile that begins at `origin` and holds so many: of
    /// what is read elsewhere than it is computed, where nothing uses it, within the tile.
    [[nodiscard]] IndexForm place_in_tile(const IndexForm& at, const IndexForm& origin, AxisId own,
                                          std::int64_t held) const;
    /// Of what lies in device memory, neighbours along axes of `paired` are read in one word.
    void add_element(ExpressionScope& scope, VariableId variable,
                     const std::set<AxisId>& paired = {});
    static bool needs_integers(const Expression& value);
    [[nodiscard]] std::set<AxisId> paired_columns(const Compute& compute) const;
    [[nodiscard]] std::optional<std::size_t> word_dimension(VariableId variable,
                                                            const std::set<AxisId>& paired);

    // lower_elements.cpp
    [[nodiscard]] bool is_in_pairs(VariableId variable) const;
    [[nodiscard]] bool is_as_loaded(VariableId variable) const;
    void declare(VariableId variable, Body& body);
    [[nodiscard]] IndexForm local_index(AxisId axis) const;
    /// The index in the block's part of columns that a thread's column j has.
    [[nodiscard]] kernel::Expression column_of(AxisId axis, kernel::Expression j) const;
    /// Of a tile axis (schedule/tile_axes.h); of others none.
    [[nodiscard]] std::vector<schedule::TilePart> tile_parts(AxisId axis) const;
    [[nodiscard]] bool is_part(AxisId axis) const;
    /// The axes that an expression varies along, tile axes among them.
    [[nodiscard]] std::set<AxisId> along(const Expression& expression) const;
    /// Declares the indices of the parts, where the tile axis has one.
    [[nodiscard]] Body define_parts(AxisId axis) const;
    /// Whether an index along an axis is one of the array's, of as many as the axis is padded to.
    [[nodiscard]] kernel::Expression is_inside(AxisId axis, std::int64_t padded_to) const;
    [[nodiscard]] std::int64_t padded_extent(AxisId axis) const;
    /// The same of rows or columns; of a part, whether it is inside by itself.
    [[nodiscard]] kernel::Expression test_of(AxisId axis) const;
    /// Indices that the block holds now.
    [[nodiscard]] IndexForm count_of(AxisId axis) const;
    [[nodiscard]] kernel::Expression warp_part(AxisId axis) const;
    [[nodiscard]] IndexForm warp_index(AxisId axis) const;
    /// A matrix in shared memory, in the stage that is used now.
    [[nodiscard]] kernel::Expression matrix(VariableId variable) const;
    /// The registers of a variable.
    [[nodiscard]] kernel::Expression place(VariableId variable) const;
    /// The one that a thread holds, or its element of row `i` and column `j`.
    [[nodiscard]] kernel::Expression element_at(VariableId variable) const;
    [[nodiscard]] Code held_at(VariableId variable, bool finite) const;
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
    /// The same as the number that it is, not as a real one.
    [[nodiscard]] Code hoisted(const Expression& value, const Domain& domain,
                               ExpressionScope& scope, Body& before, Body& inside);
    void name_branches(const Expression& whole, const ElementScope& element, ExpressionScope& scope,
                       Body& inside);
    void name_tests(const Expression& whole, AxisId column, const ElementScope& element,
                    ExpressionScope& scope, Body& before) const;
    [[nodiscard]] Expression prepared(const Expression& value, const Domain& domain) const;
    /// One thread of those that hold the same row; `true` where there is no other.
    [[nodiscard]] kernel::Expression row_leader() const;
    /// Whether the thread is in the first of the warps, or groups, that share columns.
    [[nodiscard]] kernel::Expression first_across() const;

    // lower_stale.cpp
    /// The stale gauge of whose operations a leaf is one.
    [[nodiscard]] const schedule::StaleGauge* stale_with(LeafId leaf) const;
    [[nodiscard]] Body where_moved(LeafId leaf, Body body) const;
    void declare_moved(const schedule::ChunkLoop& loop, Body& body);
    [[nodiscard]] std::vector<LeafId> products_of(LeafId weight) const;
    void declare_rounded(LeafId weight, Body& body);
    void round_weights(const schedule::StaleGauge& gauge, Body& body);
    [[nodiscard]] Compute relative_to_state(const schedule::StaleGauge& gauge,
                                            Compute compute) const;
    void lower_tried_sum(LeafId leaf, const Compute& compute, Span span, const std::string& name,
                         Body& body);
    [[nodiscard]] Body raised(const schedule::StaleGauge& gauge) const;
    [[nodiscard]] Body tried(const schedule::StaleGauge& gauge);
    void lower_again(LeafId leaf, Body& body);
    void lower_stale(const schedule::StaleGauge& gauge, Body& body);

    // lower_product.cpp
    /// Registers of a product that is accumulated once it is through, and of those factors of its
    /// rows that device memory has, by their places outside the product.
    struct Apart {
        struct Factor {
            std::string name;
            bool finite = false;
        };
        std::string sum;
        std::map<std::size_t, Factor> factors;
    };
    /// Whether an operation of its own accumulates a product.
    [[nodiscard]] bool accumulates(LeafId product) const;
    [[nodiscard]] Apart declared_apart(LeafId product, bool groups, Body& body);
    Apart& declare_apart(LeafId product, Body& body);
    void read_factors(const Compute& compute, const schedule::Product& product, Apart& apart,
                      Body& body);
    /// The constant factor of a product.
    [[nodiscard]] double factor_of(LeafId product) const;
    void accumulate(LeafId product, const Compute& compute, const Apart& apart, Body& body);
    void lower_accumulate(const schedule::Op& op, const Compute& compute, Body& body);
    void lower_product(const schedule::Op& op, const Compute& compute, Span span, Body& body);
    void fetch_first(LeafId leaf, Body& body);
    [[nodiscard]] kernel::Statement multiplication(
        const schedule::Op& op, const Compute& compute, const kernel::Expression& sum,
        const std::optional<kernel::Expression>& left) const;
    [[nodiscard]] std::string left_name(const schedule::Product& product);
    [[nodiscard]] kernel::Expression rounded_left(const Compute& compute,
                                                  const schedule::Product& product, Body& body);
    void declare_left(const schedule::Op& op, Body& body);
    void left_values(const Compute& compute, const schedule::Product& product,
                     const std::string& fragment, Body& body);
    const std::string& declare_left_values(const schedule::Op& op, Body& body);
    void lower_left_values(const schedule::Op& op, const Compute& compute, Span span, Body& body);
    void lower_pack(const schedule::Op& op, const Compute& compute, Body& body);
    void bring_state(LeafId leaf, const Compute& compute, const kernel::Expression& sum,
                     Body& body);
    /// Whether the state that a product adds to is brought up to date before it.
    [[nodiscard]] bool prepared(LeafId product) const;
    [[nodiscard]] kernel::Statement group_multiplication(
        LeafId leaf, const kernel::Expression& sum, const std::optional<kernel::Expression>& left,
        bool adds) const;
    [[nodiscard]] kernel::Expression target_of(const schedule::Op& op) const;
    void lower(const schedule::Finish& finish, Body& body) const;
    [[nodiscard]] std::optional<kernel::Expression> left_operand(const schedule::Op& op,
                                                                 const Compute& compute,
                                                                 const schedule::Product& product,
                                                                 Body& body);
    /// A side of a product that is in shared memory.
    [[nodiscard]] std::optional<kernel::Expression> matrix_of(LeafId leaf,
                                                              const schedule::Product& product,
                                                              bool left) const;
    /// How a matrix lies for the product.
    [[nodiscard]] kernel::Expression order_of(const schedule::Product& product, bool left) const;
    /// `Order::AsStored, Order::Transposed, 64`: of both, and the depth.
    [[nodiscard]] std::vector<kernel::Expression> orders_of(const schedule::Product& product) const;
    /// The first column of a result that the warp owns.
    [[nodiscard]] kernel::Expression first_column(AxisId axis) const;
    [[nodiscard]] kernel::Expression group_row() const;
    [[nodiscard]] AxisId axis_along(VariableId matrix, std::size_t dimension) const;
    [[nodiscard]] const std::string& operands_of(LeafId leaf, Body& body);

    // lower_publish.cpp
    void lower_publish(const schedule::Op& op, const Compute& compute, Span span, Body& body);
    /// A matrix in shared memory: what runs along it, and how many elements it has, which may be
    /// more than the block needs.
    struct Published {
        schedule::Panel panel;
        std::int64_t rows = 0;
        std::int64_t columns = 0;
    };
    /// A matrix of which every element is an expression; 0 beyond the edges.
    void publish_matrix(const Expression& value, const Compute& compute,
                        const kernel::Expression& tile, const Published& shape, ElementType type,
                        Body& body);
    // lower_vector.cpp
    void lower_shared_vector(const Compute& compute, Body& body);
    [[nodiscard]] Code vector_element(const Compute& compute, const Expression& expression,
                                      ExpressionScope& scope, Body& inside);
    [[nodiscard]] kernel::Statement vector_result(const Compute& compute, Code value);
    [[nodiscard]] Code with_seed(const Compute& compute, const Fold& fold, Code folded,
                                 ExpressionScope& scope, Body& body);
    [[nodiscard]] Code folded_by_thread(const Compute& compute, const Fold& fold,
                                        ExpressionScope& scope, Body& body);
    [[nodiscard]] std::optional<AxisId> folded_in_vectors(const Fold& fold) const;
    bool fold_in_vectors(const Compute& compute, const Fold& fold, AxisId over, Body& body);

    [[nodiscard]] Body loop_in_vectors(Vectors vectors, Body inside);
    [[nodiscard]] Vectors vectors_of_row(AxisId column);
    IndexForm vector_inside(Vectors& vectors, IndexForm at, const IndexForm& size);
    void read_in_vectors(Vectors& vectors, VariableId variable, const Expression& value,
                         ExpressionScope& scope);
    void read_turned(Vectors& vectors, VariableId variable, const Expression& value,
                     const ElementScope& first, ExpressionScope& scope);
    [[nodiscard]] kernel::Expression vector_of(Vectors& vectors, VariableId variable,
                                               const std::vector<IndexForm>& at);
    [[nodiscard]] std::vector<kernel::Expression> places_of(const Vectors& vectors,
                                                            VariableId variable,
                                                            const std::vector<IndexForm>& at);
    [[nodiscard]] std::optional<kernel::Expression> nibbles_alone(const Vectors& vectors,
                                                                  const kernel::Expression& value);

    /// A matrix or vector in shared memory.
    struct Shared {
        std::vector<IndexForm> origin;  ///< by dimension of the array, where it was last filled
        std::vector<IndexForm> count;
        std::vector<AxisId> axes;  ///< that its dimensions run along
    };

    schedule::Plan plan_;
    schedule::Program schedule_;
    std::vector<const TileStatement*> leaves_;
    schedule::Scales scales_;
    std::map<VariableId, std::string> names_of_;  // registers
    std::map<AxisId, std::string> warp_parts_;    // `warp_q`
    std::map<VariableId, Shared> shared_;
    std::map<schedule::BufferId, std::string> buffer_names_;     // in shared memory
    std::map<schedule::BufferId, kernel::Expression> slot_now_;  // of rings
    std::map<ArrayId, std::string>
        operands_;  // of products that fetch theirs, by what they compute
    std::map<VariableId, const Load*> loads_;
    std::map<schedule::BufferId, std::string> held_results_;  // results that wait for the next tile
    std::map<VariableId, Span> deferred_;  // loads that are made where they are first used
    std::set<VariableId> declared_;
    std::set<VariableId> at_once_;  // saved as they are computed
    std::string skew_;              // how many elements stand before a skewed row's first
    std::vector<ExpressionScope::Known> known_;
    kernel::Expression tested_ = true;  // whether the chunk's tests are needed
    std::set<AxisId> looped_;           // axes along which a serial fold goes
    std::optional<AxisId> chunked_;     // the axis of the innermost loop
    int temporaries_ = 0;
    std::string scratch_;  // the tile through which warps combine values
    // What an agent of its own fills: names, and the loop around each ring, whose chunks count.
    std::vector<std::string> ring_names_;
    std::map<schedule::RingId, std::uint32_t> ring_loops_;
    std::map<LeafId, std::string> lefts_;        // packed left operands, by the product's leaf
    std::map<LeafId, std::string> left_values_;  // of which some are packed
    std::map<LeafId, Apart> aparts_;             // by the product's leaf
    /// Of stale gauges, by the leaf that takes a chunk in: whether it moved; and weights rounded
    /// for the product with this leaf.
    std::map<LeafId, std::string> moved_;
    std::map<LeafId, std::string> rounded_;
    /// Registers of pairs, by their product's leaf: of what is read.
    std::map<LeafId, std::vector<std::pair<Expression, std::string>>> pairs_;
    std::map<VariableId, std::string> maps_;       // parameters of bulk copies
    std::map<std::uint32_t, std::string> counts_;  // by loop
    /// By loop: the list of its chunks, and the variable that counts those before.
    std::map<std::uint32_t, std::pair<std::string, std::string>> lists_;
    std::string turn_count_;  // of the loop whose turns are made
    bool leading_ = false;    // whether what is lowered is of the chunk after the turn's
    std::string drawn_;       // the tile that the agent that copies goes on with
    std::string tile_count_;  // of the tiles that the block has begun before this one
    bool apart_ = false;      // whether that agent is lowered now
    bool searches_ = false;   // whether lanes try chunks together
    std::string copied_;      // the variable of what its threads copy themselves
    /// Who of that agent is together where it makes bulk copies: one that searches is a warp.
    enum class Copiers { Thread, Warp, Group };
    Copiers copiers_ = Copiers::Thread;
    /// What marks say of a loop's chunks, and where they were made before the agents part.
    struct Marked {
        std::vector<Expression> conditions;  ///< that hold everywhere in a full chunk
        std::function<kernel::Expression(kernel::Expression)> is_full;  ///< of where one starts
        kernel::Expression first = 0;
        kernel::Expression end = 0;
        std::string next;
    };
    std::map<std::uint32_t, Marked> marked_;                                 // by loop
    std::map<std::uint32_t, std::vector<schedule::KeptEnds::OfRead>> kept_;  // by loop
};

}  // namespace napkin::lowering
