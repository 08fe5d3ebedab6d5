#include "schedule/form.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagrams/overloaded.h"
#include "schedule/operation_cost.h"
#include "schedule/same_lefts.h"
#include "schedule/stale_gauges.h"
#include "schedule/statements.h"

namespace napkin::schedule {
namespace {

/// Panels repeat after it.
constexpr std::int64_t kPanelAlignment = 1024;
constexpr std::int64_t kFloat = 4;
constexpr std::int64_t kInteger = 4;

std::int64_t bytes_of(ElementType type) {
    return type == ElementType::I4 ? 1 : static_cast<std::int64_t>(bits_of(type)) / 8;
}

class Former {
public:
    Former(const RegionProgram& region, const Plan& plan, const Limits& limits)
        : region_(region),
          plan_(plan),
          limits_(limits),
          rates_(rates_of(limits.warp_groups)),
          leaves_(leaves_of(region)) {}

    Program run() {
        program_.region = region_.name;
        program_.persistent = plan_.persistent;
        program_.resident = plan_.resident;
        program_.agents = {{Agent::Job::Everything, plan_.warps_down * plan_.warps_across}};
        for (const auto& [variable, tile] : plan_.tiles) add_buffer(variable, tile);
        if (plan_.across_warps) {
            scratch_ = add("scratch", Buffer::Place::Shared, scratch_values(plan_) * kFloat);
            program_[*scratch_].guarded = true;
            program_.scratch = scratch_;
        }
        program_.body = body_of(region_.body);
        form_stale();
        return std::move(program_);
    }

private:
    const std::string& name_of(ArrayId array) const { return region_.arrays[array.index()].name; }

    BufferId add(std::string name, Buffer::Place place, std::int64_t bytes) {
        const std::int64_t alignment = limits_.warp_groups ? kPanelAlignment : kSharedAlignment;
        return add(std::move(name), place, bytes, alignment);
    }

    BufferId add(std::string name, Buffer::Place place, std::int64_t bytes,
                 std::int64_t alignment) {
        if (place == Buffer::Place::Shared) bytes = padded(bytes, alignment);
        program_.buffers.push_back({std::move(name), place, bytes, 1, 0, false, alignment});
        return {static_cast<std::uint32_t>(program_.buffers.size() - 1)};
    }

    void add_buffer(VariableId variable, const Tile& tile) {
        const std::string& name = region_.variables[variable.index()].name;
        const std::int64_t rows = rows_of_thread(plan_);
        switch (tile.home) {
        case Home::Device: return;
        case Home::Thread:
            program_.buffer_of[variable] = add(name, Buffer::Place::Registers, kFloat);
            return;
        case Home::Row:
            program_.buffer_of[variable] = add(name, Buffer::Place::Registers, kFloat * rows);
            return;
        case Home::Fragment:
            if (plan_.bytes_in_shared > 0) return add_rows(variable, tile, rows);
            program_.buffer_of[variable] =
                add(name, Buffer::Place::Registers,
                    (plan_.rows_in_pairs > 0 ? bytes_of(tile.type) : kFloat) * rows *
                        columns_of(plan_, *tile.column).of_thread);
            return;
        case Home::Shared:
            program_.buffer_of[variable] =
                add(name, Buffer::Place::Shared,
                    vector_extent(plan_, *tile.column) * bytes_of(tile.type), kSharedAlignment);
            return;
        case Home::Matrix:
            program_.buffer_of[variable] =
                add(name, Buffer::Place::Shared, tile.rows * tile.columns * bits_of(tile.type) / 8);
            return;
        }
    }

    /// Rows in shared memory, in parts that nobody but their thread touches; of results, what is
    /// not saved yet.
    void add_rows(VariableId variable, const Tile& tile, std::int64_t rows) {
        const std::string& name = region_.variables[variable.index()].name;
        if (!is_loaded(variable)) {
            program_.buffer_of[variable] =
                add(name, Buffer::Place::Registers, bytes_of(tile.type) * plan_.vector);
            return;
        }
        const std::int64_t of_thread = rows * columns_of(plan_, *tile.column).of_thread;
        const BufferId buffer = add(name + "_rows", Buffer::Place::Shared,
                                    bytes_of(tile.type) * of_thread * plan_.threads());
        program_[buffer].guarded = true;
        program_.buffer_of[variable] = buffer;
    }
    [[nodiscard]] bool is_loaded(VariableId variable) const {
        return std::any_of(leaves_.begin(), leaves_.end(), [&](const TileStatement* leaf) {
            const Load* load = std::get_if<Load>(&leaf->node);
            return load != nullptr && load->target == variable;
        });
    }

    std::optional<BufferId> buffer_of(VariableId variable) const {
        const auto found = program_.buffer_of.find(variable);
        if (found == program_.buffer_of.end()) return std::nullopt;
        return found->second;
    }

    Body body_of(const std::vector<TileStatement>& statements) {
        Body body;
        for (const TileStatement& statement : statements)
            std::visit(overloaded{[&](const Parallel& parallel) {
                                      for (Item& item : body_of(parallel.body))
                                          body.push_back(std::move(item));
                                  },
                                  [&](const Loop& loop) {
                                      ChunkLoop made;
                                      made.axis = loop.axis;
                                      made.size = loop.size;
                                      made.source = loop_++;
                                      if (!loop.data_masks.empty()) add_marks(loop, made.source);
                                      made.body = body_of(loop.body);
                                      for (Item& item : take_same_lefts(region_, plan_, program_,
                                                                        loop, made.body))
                                          body.push_back(std::move(item));
                                      // Of what nothing reads, a loop may be left with nothing in
                                      // it.
                                      const std::uint32_t source = made.source;
                                      if (!made.body.empty()) body.push_back({std::move(made)});
                                      form_combined(source, body);
                                  },
                                  [&](const Load& load) { form_load(load, body); },
                                  [&](const Compute& compute) { form_compute(compute, body); },
                                  [&](const Save& save) { form_save(save, body); }},
                       statement.node);
        return body;
    }

    /// Behind a loop: what lanes have folded apart.
    void form_combined(std::uint32_t loop, Body& body) {
        const LeafId next = leaf_;
        for (const auto& [leaf, of_loop] : plan_.lane_folds) {
            if (of_loop != loop) continue;
            leaf_ = leaf;
            const Compute& compute = std::get<Compute>(leaves_[leaf.index()]->node);
            std::optional<BufferId> parts;
            if (plan_.shared_folds.contains(leaf))
                parts = form_part(compute, {*buffer_of(compute.targets.front())}, {}, body);
            const bool columns = plan_.serial.contains(leaf);
            Op& op =
                push(Op::Kind::Combine,
                     name_of(compute.statement.targets.front()) +
                         (columns ? " over the threads of a column" : " over the lanes of a row"),
                     body);
            op.reads = op.writes = {*buffer_of(compute.targets.front())};
            if (parts) op.reads.push_back(*parts);
            if (columns && scratch_) op.writes.push_back(*scratch_);
        }
        leaf_ = next;
    }

    /// What each warp has folded of its columns of a row.
    BufferId form_part(const Compute& compute, std::vector<BufferId> reads, Cost cost, Body& body) {
        const std::string& name = name_of(compute.statement.targets.front());
        const BufferId parts =
            add(name + "_parts", Buffer::Place::Shared,
                kFloat * plan_.rows_of_warp * plan_.warps_down * plan_.warps_across);
        Op& op = push(Op::Kind::Part, name, body);
        op.reads = std::move(reads);
        op.writes = {parts};
        op.cost = cost;
        return parts;
    }

    void add_marks(const Loop& loop, std::uint32_t source) {
        constexpr std::int64_t kMostMarks = 4096;
        const Axis& axis = region_.axes[loop.axis.index()];
        const bool run_time = axis.dynamic || limits_.dynamic_sizes;
        const std::int64_t chunks = ceil_quotient(axis.extent, loop.size);
        const BufferId marks = add(axis.name + "_marks", Buffer::Place::Shared,
                                   run_time ? kMostMarks : std::min(chunks, kMostMarks));
        program_[marks].guarded = true;
        program_.marks[source] = marks;
        if (plan_.order.counted && !program_.next_tile) {
            program_.next_tile = add("next_tile", Buffer::Place::Shared, kInteger);
            program_[*program_.next_tile].guarded = true;
        }
        std::optional<KeptEnds> kept;
        if (plan_.persistent) kept = ends_to_keep(region_, loop, limits_.dynamic_sizes);
        if (!kept) return;
        std::optional<BufferId> ends;
        if (const std::int64_t entries = kept->entries(); entries > 0) {
            ends = add(axis.name + "_ends", Buffer::Place::Shared, 2 * kInteger * entries);
            program_[*ends].guarded = true;
        }
        program_.kept_ends[source] = {*std::move(kept), ends};
    }

    Op& push(Op::Kind kind, std::string text, Body& body) {
        Op op;
        op.id = {static_cast<std::uint32_t>(program_.ops.size())};
        op.kind = kind;
        op.text = std::move(text);
        op.leaf = leaf_;
        program_.ops.push_back(std::move(op));
        body.push_back({program_.ops.back().id});
        return program_.ops.back();
    }

    void form_load(const Load& load, Body& body) {
        if (const std::optional<BufferId> target = buffer_of(load.target)) {
            Op& op = push(Op::Kind::Copy, "load " + name_of(load.array), body);
            op.writes = {*target};
            if (program_[*target].place == Buffer::Place::Shared && !program_[*target].guarded)
                op.completion = Completion::CopyGroup;
        }
        ++leaf_.value;
    }

    /// Buffers that expressions read, by what the statement's variables are. What stays in device
    /// memory is gathered where it is read, by indices that may be in a buffer.
    std::vector<BufferId> buffers_read(const Compute& compute,
                                       const std::vector<const Expression*>& expressions) const {
        std::vector<BufferId> buffers;
        for (const Expression* expression : expressions)
            for (const ArrayId array : arrays_read(*expression))
                for (const VariableId variable : compute.reads) {
                    if (region_.variables[variable.index()].array != array) continue;
                    if (const std::optional<BufferId> buffer = buffer_of(variable))
                        add_once(*buffer, buffers);
                    else
                        add_indices(variable, buffers);
                }
        return buffers;
    }

    static void add_once(BufferId buffer, std::vector<BufferId>& buffers) {
        if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end())
            buffers.push_back(buffer);
    }

    /// Those of the indices by which a variable is gathered, and of what these are gathered by.
    void add_indices(VariableId gathered, std::vector<BufferId>& buffers) const {
        for (const TileStatement* leaf : leaves_) {
            const Load* load = std::get_if<Load>(&leaf->node);
            if (load == nullptr || load->target != gathered) continue;
            for (const Expression& index : load->gather)
                for (const ArrayId array : arrays_read(index))
                    for (std::uint32_t v = 0; v < region_.variables.size(); ++v) {
                        if (region_.variables[v].array != array) continue;
                        if (const std::optional<BufferId> buffer = buffer_of(VariableId{v}))
                            add_once(*buffer, buffers);
                        else
                            add_indices(VariableId{v}, buffers);
                    }
        }
    }

    void form_compute(const Compute& compute, Body& body) {
        const auto product = plan_.products.find(leaf_);
        if (product != plan_.products.end()) {
            form_product(compute, product->second, body);
        } else {
            const BufferId target = *buffer_of(compute.targets.front());
            const bool shared = program_[target].place == Buffer::Place::Shared;
            if (plan_.shared_folds.contains(leaf_) && !plan_.lane_folds.contains(leaf_))
                return form_shared_fold(compute, target, body);
            Op& op = push(shared ? Op::Kind::Publish : Op::Kind::Elements,
                          name_of(compute.statement.targets.front()), body);
            op.reads = buffers_read(compute, expressions_of(compute.statement));
            if (const auto serial = plan_.serial.find(leaf_); serial != plan_.serial.end())
                for (const VariableId variable : serial->second.reads)
                    if (const auto buffer = buffer_of(variable)) op.reads.push_back(*buffer);
            for (const VariableId made : compute.targets) op.writes.push_back(*buffer_of(made));
            if (scratch_ && !folded_axes(compute.statement).empty() &&
                !plan_.lane_folds.contains(leaf_))
                op.writes.push_back(*scratch_);
            op.cost = elements_cost(region_, plan_, limits_, compute);
        }
        ++leaf_.value;
    }

    void form_shared_fold(const Compute& compute, BufferId target, Body& body) {
        const Fold& fold = std::get<Fold>(compute.statement.body);
        const BufferId parts = form_part(compute, buffers_read(compute, {&fold.values.front()}),
                                         elements_cost(region_, plan_, limits_, compute), body);
        Op& op = push(Op::Kind::Elements, name_of(compute.statement.targets.front()), body);
        for (const Expression& seed : fold.seed) op.reads = buffers_read(compute, {&seed});
        op.reads.push_back(parts);
        op.writes = {target};
        ++leaf_.value;
    }

    BufferId form_panel(const Compute& compute, const Product& product, const Operand& side,
                        const char* which, Body& body) {
        const std::string name =
            fmt::format("{}_{}", name_of(compute.statement.targets.front()), which);
        const std::int64_t elements =
            panel_extent(plan_, side.panel->rows) * panel_extent(plan_, side.panel->columns);
        const BufferId panel = add(name, Buffer::Place::Shared, elements * bytes_of(product.type));
        Op& publish = push(Op::Kind::Publish, name, body);
        publish.side = &side == &product.left ? Op::Side::Left : Op::Side::Right;
        publish.reads = buffers_read(compute, {&side.value});
        publish.writes = {panel};
        publish.held = side.from_registers;
        publish.cost.of(Unit::Issue) = static_cast<double>(elements) /
                                       static_cast<double>(warps()) / rates_.lanes *
                                       (side.from_registers ? 1 : kOperations);
        return panel;
    }

    void form_product(const Compute& compute, const Product& product, Body& body) {
        const std::string& name = name_of(compute.statement.targets.front());
        const Fold& fold = std::get<Fold>(compute.statement.body);
        const BufferId state = *buffer_of(compute.targets.front());
        const bool apart = is_apart(compute, product);
        BufferId target = state;
        if (apart) target = add(name + "_product", Buffer::Place::Registers, program_[state].bytes);
        std::vector<const Expression*> reads;
        for (const Expression& outside : product.outside) reads.push_back(&outside);
        for (const Expression& seed : fold.seed) reads.push_back(&seed);
        std::vector<BufferId> panels;
        for (const Operand* side : {&product.left, &product.right}) {
            if (!side->panel) {
                reads.push_back(&side->value);
                continue;
            }
            const bool left = side == &product.left;
            panels.push_back(form_panel(compute, product, *side, left ? "left" : "right", body));
        }
        if (limits_.warp_groups) reads = form_group_parts(compute, product, body);
        Op& op = push(Op::Kind::Multiply, name, body);
        op.reads = buffers_read(compute, reads);
        op.reads.insert(op.reads.end(), panels.begin(), panels.end());
        op.writes = {target};
        if (limits_.warp_groups) {
            if (!fold.seed.empty() && !apart) op.reads.push_back(target);
            if (const auto left = program_.left_of.find(leaf_); left != program_.left_of.end())
                op.reads.push_back(left->second);
            op.completion =
                apart || plain(compute, product) ? Completion::Finish : Completion::Immediate;
        } else {
            op.completion = Completion::Hardware;
            op.fetchable = fetchable(compute, product);
        }
        const double columns = static_cast<double>(columns_of(plan_, product.column).of_warp);
        op.cost.of(Unit::Tensor) = 2 * static_cast<double>(plan_.rows_of_warp) * columns *
                                   static_cast<double>(plan_.extents.at(product.depth)) /
                                   tensor_rate(limits_.warp_groups, product);
        if (is_narrow(product))
            op.cost.of(Unit::Issue) = elements_of(product.column) / rates_.lanes *
                                      static_cast<double>(narrow_parts(plan_, product));
        if (apart) form_accumulate(compute, product, target, body);
    }

    void form_accumulate(const Compute& compute, const Product& product, BufferId made,
                         Body& body) {
        const BufferId state = *buffer_of(compute.targets.front());
        std::vector<const Expression*> reads;
        for (const Expression& outside : product.outside) reads.push_back(&outside);
        for (const Expression& seed : std::get<Fold>(compute.statement.body).seed)
            reads.push_back(&seed);
        Op& op = push(Op::Kind::Accumulate, name_of(compute.statement.targets.front()), body);
        op.reads = buffers_read(compute, reads);
        op.reads.push_back(made);
        // Until the product is through it holds its operand.
        if (const auto left = program_.left_of.find(leaf_); left != program_.left_of.end())
            op.reads.push_back(left->second);
        op.writes = {state};
        op.cost.of(Unit::Issue) = elements_of(product.column) / rates_.lanes *
                                  static_cast<double>(1 + product.outside.size());
    }

    /// Every thread computes its elements of a left operand.
    BufferId form_left(const Product& product, const std::string& name, std::vector<BufferId> reads,
                       Body& body) {
        const BufferId values =
            add(name + "_left_values", Buffer::Place::Registers,
                kFloat * rows_of_thread(plan_) * columns_of(plan_, product.depth).of_thread);
        Op& op = push(Op::Kind::Elements, "the left operand of " + name, body);
        op.side = Op::Side::Left;
        op.reads = std::move(reads);
        op.writes = {values};
        op.cost.of(Unit::Issue) = elements_of(product.depth) / rates_.lanes * kOperations;
        return values;
    }

    /// What comes before a warp group's product: its left operand in registers, and the state that
    /// it is added to. Returns what the product itself reads.
    std::vector<const Expression*> form_group_parts(const Compute& compute, const Product& product,
                                                    Body& body) {
        const std::string name = name_of(compute.statement.targets.front());
        const Fold& fold = std::get<Fold>(compute.statement.body);
        const BufferId target = *buffer_of(compute.targets.front());
        const bool apart = is_apart(compute, product);
        std::vector<const Expression*> reads;
        if (!apart)
            for (const Expression& outside : product.outside) reads.push_back(&outside);
        if (!product.right.panel) reads.push_back(&product.right.value);
        if (in_matrix(plan_, product.left)) {
            if (!product.left.panel) reads.push_back(&product.left.value);
        } else {
            constexpr std::int64_t kBytes = 16;  // of a thread, for a step of 16
            const BufferId left =
                add(name + "_left", Buffer::Place::Registers,
                    padded(plan_.extents.at(product.depth), kTile) / kTile * kBytes);
            program_.left_of[leaf_] = left;
            std::vector<BufferId> values = buffers_read(compute, {&product.left.value});
            if (!product.left.direct) values = {form_left(product, name, std::move(values), body)};
            Op& pack = push(Op::Kind::Pack, name, body);
            pack.reads = std::move(values);
            pack.writes = {left};
            pack.held = product.left.direct && is_stale_weight(*product.left.direct);
            pack.cost.of(Unit::Issue) = elements_of(product.depth) / rates_.lanes;
        }
        if (apart) return reads;
        for (const Expression& seed : fold.seed) {
            if (std::holds_alternative<Read>(seed.node) || !plain(compute, product)) {
                reads.push_back(&seed);
                continue;
            }
            Op& prepare = push(Op::Kind::Prepare, name, body);
            prepare.reads = buffers_read(compute, {&seed});
            prepare.writes = {target};
            prepare.cost.of(Unit::Issue) = elements_of(product.column) / rates_.lanes;
        }
        return reads;
    }

    /// A warp's elements of a fragment with these columns.
    [[nodiscard]] double elements_of(AxisId columns) const {
        return static_cast<double>(plan_.rows_of_warp * padded(plan_.extents.at(columns), kTile));
    }

    /// Whether a product's results are the sums as the tensor core leaves them.
    [[nodiscard]] bool plain(const Compute& compute, const Product& product) const {
        const Fold& fold = std::get<Fold>(compute.statement.body);
        const ArrayId target = compute.statement.targets.front();
        const Array& info = region_.arrays[target.index()];
        const bool rounds = info.rounds && info.type != ElementType::F32;
        if (!product.outside.empty() || rounds || is_narrow(product)) return false;
        return fold.seed.empty()
                   ? product.scale > 0 && !info.rounds && !region_.stored.contains(target)
                   : product.scale == 1;
    }

    /// Whether a warp group's product is made by itself, and accumulated once it is through.
    [[nodiscard]] bool is_apart(const Compute& compute, const Product& product) const {
        const Fold& fold = std::get<Fold>(compute.statement.body);
        const Array& info = region_.arrays[compute.statement.targets.front().index()];
        if (!limits_.warp_groups || is_narrow(product)) return false;
        if (!product.outside.empty()) return true;
        if (!fold.seed.empty()) return product.scale != 1;
        const bool keeps_factor = product.scale > 0 && !info.rounds &&
                                  !region_.stored.contains(compute.statement.targets.front());
        return product.scale != 1 && !keeps_factor;
    }

    [[nodiscard]] bool fetchable(const Compute& compute, const Product& product) const {
        const Fold& fold = std::get<Fold>(compute.statement.body);
        const ArrayId target = compute.statement.targets.front();
        const Read* seed = fold.seed.empty() ? nullptr : std::get_if<Read>(&fold.seed.front().node);
        return seed != nullptr && seed->array == target && product.scale == 1 &&
               product.outside.empty() && !region_.arrays[target.index()].rounds &&
               in_matrix(plan_, product.left) && in_matrix(plan_, product.right);
    }

    void form_save(const Save& save, Body& body) {
        const BufferId source = *buffer_of(save.source);
        const std::int64_t rows = plan_.rows_of_warp * plan_.warps_down;
        if (plan_.staged.contains(save.array) && plan_.persistent) {
            const BufferId slices = add(name_of(save.array) + "_slices", Buffer::Place::Shared,
                                        rows * plan_.warps_across * kSliceBytes);
            program_[slices].guarded = true;
            Op& store = push(Op::Kind::Store, "save " + name_of(save.array), body);
            store.reads = {source};
            store.writes = {slices};
        } else if (plan_.staged.contains(save.array)) {
            const Tile& tile = plan_.tiles.at(save.source);
            const BufferId staging = add(name_of(save.array) + "_staging", Buffer::Place::Shared,
                                         rows * columns_of(plan_, *tile.column).padded *
                                             bytes_of(region_.stored.at(save.array)));
            Op& stage = push(Op::Kind::Publish, "stage " + name_of(save.array), body);
            stage.reads = {source};
            stage.writes = {staging};
            push(Op::Kind::Store, "save " + name_of(save.array), body).reads = {staging};
        } else {
            push(Op::Kind::Store, "save " + name_of(save.array), body).reads = {source};
        }
        ++leaf_.value;
    }

    [[nodiscard]] std::int64_t warps() const { return plan_.warps_down * plan_.warps_across; }

    [[nodiscard]] bool is_stale_weight(VariableId variable) const {
        return std::any_of(plan_.stale.begin(), plan_.stale.end(), [&](const StaleGauge& gauge) {
            return std::any_of(gauge.weights.begin(), gauge.weights.end(), [&](LeafId leaf) {
                return std::get<Compute>(leaves_[leaf.index()]->node).targets.front() == variable;
            });
        });
    }

    /// Rare work is not priced; what it reads must be there still.
    void form_stale() {
        for (Op& op : program_.ops) {
            op.rare = is_rare(plan_, op);
            if (op.rare) op.cost = {};
            for (const StaleGauge& gauge : plan_.stale)
                op.again = op.again || (op.kind == Op::Kind::Elements && op.leaf == gauge.take);
            // Two rounded numbers are in a register.
            if (op.kind == Op::Kind::Pack && op.held) program_[op.reads.front()].bytes /= 2;
        }
    }

    static constexpr double kOperations = 4;  // to read, convert and write one element

    const RegionProgram& region_;
    const Plan& plan_;
    const Limits& limits_;
    Rates rates_;
    std::vector<const TileStatement*> leaves_;
    Program program_;
    LeafId leaf_;
    std::uint32_t loop_ = 0;
    std::optional<BufferId> scratch_;
};

}  // namespace

Program form(const RegionProgram& region, const Plan& plan, const Limits& limits) {
    return Former(region, plan, limits).run();
}

}  // namespace napkin::schedule
