// The kernel's skeleton: shared memory, loops with their rings of stages, loads and saves.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/tensor/matrix_layout.h"
#include "codegen/tensor/statements.h"
#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/overloaded.h"

namespace napkin::lowering {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Call;
using kernel::Declare;
using kernel::Enclose;
using kernel::If;

constexpr std::int64_t kAlignment = 128;

std::int64_t aligned(std::int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

TensorLowering::TensorLowering(const State& state, const RegionProgram& region,
                               const EmitOptions& options, tensor::Plan plan)
    : RegionFrame(state, region, options), plan_(std::move(plan)) {}

LoweredRegion TensorLowering::run() {
    program_.threads = plan_.threads();
    program_.include = "tensor.cuh";
    name_tiles();
    place_matrices();
    Body body;
    const std::vector<TileStatement>& inner = lower_grid(body);
    declare_warps(body);
    lower(inner, body);
    program_.body = std::move(body);
    LoweredRegion result = finish();
    for (const auto& [compute, product] : plan_.products)
        if (rounds_operand(product)) result.operands[compute->statement.box] = product.type;
    return result;
}

/// Whether the tensor core's operands are less precise than what was computed.
bool TensorLowering::rounds_operand(const tensor::Product& product) const {
    const auto computed = [&](const tensor::Operand& side) {
        return !side.direct || !loads_.contains(*side.direct);
    };
    return computed(product.left) || computed(product.right);
}

/// Device arrays keep their names; tiles get others where these are taken.
void TensorLowering::name_tiles() {
    tensor::for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Load* load = std::get_if<Load>(&statement.node)) {
            static_cast<void>(buffer_name(load->array, false));
            loads_[load->target] = load;
        }
    });
    tensor::for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Save* save = std::get_if<Save>(&statement.node))
            static_cast<void>(buffer_name(save->array, true));
    });
    for (const auto& [variable, tile] : plan_.tiles) {
        if (tile.home == Home::Device) continue;
        const std::string plain = Names::identifier(region_.variables[variable.index()].name);
        const bool shared = tile.home == Home::Matrix || tile.home == Home::Shared;
        const std::string wanted = shared                     ? plain + "_tile"
                                   : names_.are_free({plain}) ? plain
                                                              : plain + "_part";
        const std::string name = names_.fresh(wanted);
        if (!shared) {
            names_of_[variable] = name;
            continue;
        }
        shared_[variable].name = name;
        shared_[variable].tile = kernel::TileId{static_cast<std::uint32_t>(program_.tiles.size())};
        kernel::Tile entry;
        entry.name = name;
        entry.type = tile.type;
        if (tile.home == Home::Matrix) {
            entry.matrix = kernel::Tile::Matrix{tile.rows, tile.columns, 1};
            entry.shape = fmt::format("{} x {}", tile.rows, tile.columns);
        } else {
            entry.elements = columns_of(*tile.column).padded;
            entry.shape =
                fmt::format("{} of {}", entry.elements, region_.axes[tile.column->index()].name);
        }
        program_.tiles.push_back(std::move(entry));
    }
}

/// As many stages as fit, up to what hides a copy's latency; what is saved through shared memory
/// takes the place of everything else.
void TensorLowering::place_matrices() {
    std::vector<bool> streamed(program_.tiles.size(), false);
    for (const auto& [variable, tile] : plan_.tiles)
        if (tile.streamed) streamed[shared_.at(variable).tile.index()] = true;
    for (const auto& [compute, product] : plan_.products) {
        if (product.right.direct) continue;
        const ArrayId target = compute->statement.targets.front();
        const auto unit = [&](AxisId axis) { return (plan_.extents.at(axis) + 15) / 16 * 16; };
        kernel::Tile entry;
        entry.name =
            names_.fresh(Names::identifier(region_.arrays[target.index()].name) + "_right_tile");
        entry.type = product.type;
        entry.matrix = kernel::Tile::Matrix{unit(product.depth), unit(product.column), 1};
        entry.shape = fmt::format("{} x {}", entry.matrix->rows, entry.matrix->columns);
        computed_right_[compute] =
            kernel::TileId{static_cast<std::uint32_t>(program_.tiles.size())};
        program_.tiles.push_back(std::move(entry));
        streamed.push_back(false);
    }
    std::int64_t fixed = 0;
    std::int64_t ring = 0;
    for (std::size_t i = 0; i < program_.tiles.size(); ++i) {
        kernel::Tile& tile = program_.tiles[i];
        const std::int64_t element = kernel::element_bytes(tile.type);
        if (tile.matrix) tile.elements = tile.matrix->rows * tile.matrix->columns;
        (streamed[i] ? ring : fixed) += aligned(tile.elements * element);
    }
    const bool chained =
        std::any_of(plan_.products.begin(), plan_.products.end(), [&](const auto& entry) {
            const auto& left = entry.second.left.direct;
            return left && plan_.tiles.at(*left).home == Home::Fragment;
        });
    stages_ = chained ? 2 : 4;
    // Two blocks of few warps hide each other's latencies.
    constexpr int kFewThreads = 128;
    constexpr std::int64_t kReserved = 1024;  // of every block, by the hardware
    const std::int64_t half = options_.shared_memory / 2 - kReserved;
    while (stages_ > 2 && program_.threads <= kFewThreads && fixed + ring * stages_ > half)
        --stages_;
    while (stages_ > 1 && fixed + ring * stages_ > options_.shared_memory) --stages_;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < program_.tiles.size(); ++i) {
        kernel::Tile& tile = program_.tiles[i];
        const std::int64_t bytes = aligned(tile.elements * kernel::element_bytes(tile.type));
        tile.offset = offset;
        if (streamed[i]) {
            tile.matrix->stages = stages_;
            tile.elements *= stages_;
            if (stages_ > 1) tile.shape += fmt::format(", {} stages", stages_);
            offset += bytes * stages_;
        } else {
            offset += bytes;
        }
    }
    program_.shared_bytes = offset;
}

void TensorLowering::declare_warps(Body& body) {
    body.push_back({Call{"using Rows = " + rows_type()}});
    if (!plan_.row) return;
    const std::string& row = region_.axes[plan_.row->index()].name;
    const std::string across =
        plan_.warps_across > 1 ? fmt::format(" / {}", plan_.warps_across) : std::string();
    body.push_back({Declare{"int", "warp_" + Names::identifier(row),
                            plan_.warps_down == 1 && across.empty()
                                ? "0"
                                : fmt::format("warp_index(){} * {}", across, plan_.rows_of_warp),
                            true, "first row of this warp"}});
    if (plan_.split) {
        const Columns columns = columns_of(*plan_.split);
        body.push_back(
            {Declare{"int", "warp_" + Names::identifier(region_.axes[plan_.split->index()].name),
                     fmt::format("warp_index() % {} * {}", plan_.warps_across,
                                 columns.padded / plan_.warps_across),
                     true, "and its first column"}});
    }
}

void TensorLowering::lower(const std::vector<TileStatement>& statements, Body& body) {
    for (const TileStatement& statement : statements) lower(statement, body);
}

void TensorLowering::lower(const TileStatement& statement, Body& body) {
    std::visit(
        overloaded{[&](const Parallel& parallel) { lower(parallel.body, body); },
                   [&](const Loop& loop) { lower_loop(loop, body); },
                   [&](const Load& load) { lower_load(load, statement.span, body); },
                   [&](const Compute& compute) { lower_compute(compute, statement.span, body); },
                   [&](const Save& save) { lower_save(save, statement.span, body); }},
        statement.node);
}

void TensorLowering::wait_for_copies(Body& body) {
    if (!copies_pending_) return;
    body.push_back({Call{"wait_copies<0>()"}});
    body.push_back({kernel::Barrier{}});
    copies_pending_ = false;
}

std::string TensorLowering::untested(const Loop& loop) {
    const AxisRange& range = ranges_.at(loop.axis);
    std::vector<Expression> conditions;
    for (const TileStatement& statement : loop.body)
        if (const Compute* compute = std::get_if<Compute>(&statement.node))
            for (const Expression* expression : expressions_of(compute->statement))
                collect_conditions(*expression, conditions);
    std::string whole;
    const auto add = [&](const std::string& code) {
        whole += (whole.empty() ? "" : " && ") +
                 (code.find(" || ") == std::string::npos ? code : "(" + code + ")");
    };
    const std::int64_t padded = columns_of(loop.axis).padded;
    if (range.capacity != padded) return "false";
    if (!range.exact()) add(fmt::format("{} == {}", print(range.count), range.capacity));
    const IntervalPrinter intervals(ranges_, sizes_);
    known_.clear();
    for (const Expression& condition : conditions) {
        const std::string holds = intervals.must_hold(condition);
        if (holds == "true") continue;
        if (holds != "false") {
            add(holds);
            known_.push_back({condition, "!kTested", false});
            continue;
        }
        const std::string never = intervals.must_hold(apply(Function::Not, {condition}));
        if (never == "false" || never == "true") continue;
        add(never);
        known_.push_back({condition, "kTested", true});
    }
    return whole;
}

void TensorLowering::lower_loop(const Loop& loop, Body& body) {
    const AxisRange outer = ranges_[loop.axis];
    const std::string axis = Names::identifier(region_.axes[loop.axis.index()].name);
    const std::string start = next_name(axis_names_[loop.axis.index()].start);
    multiples_[start] = std::gcd(divisor_of(outer.start), loop.size);
    const std::string end = print(outer.start + outer.count);
    const auto enter = [&](Body& inside) {
        used_.erase(axis_names_[loop.axis.index()].count);
        ranges_[loop.axis] = outer;
        narrow(loop.axis, loop.size, index_atom(start), inside);
    };
    body.push_back({kernel::Comment{fmt::format("chunks of {}", axis), true}});

    // Which chunks are visited, and the next of them.
    std::string step = fmt::format("{} + {}", start, loop.size);
    std::string first = print(outer.start);
    Body visible;
    enter(visible);
    std::string test;
    for (const Expression& condition : loop.visible) {
        const std::string code = IntervalPrinter(ranges_, sizes_).may_hold(condition);
        if (code == "true") continue;
        test += (test.empty() ? "" : " && ") +
                (code.find(" || ") == std::string::npos ? code : "(" + code + ")");
    }
    const std::string next = "next_" + axis;
    if (!test.empty()) {
        visible.push_back({Call{"return " + test}});
        body.push_back({Enclose{fmt::format("const auto visible_{} = [&](int {}) {{", axis, start),
                                std::move(visible), "};"}});
        Body search;
        search.push_back({Enclose{
            "do {",
            {{Assign{start, "+=", std::to_string(loop.size)}}},
            fmt::format("}} while ({} < {} && !visible_{}({}));", start, end, axis, start)}});
        search.push_back({Call{"return " + start}});
        body.push_back({Enclose{fmt::format("const auto {} = [&](int {}) {{", next, start),
                                std::move(search), "};"}});
        step = fmt::format("{}({})", next, start);
        first = fmt::format("{}({})", next, print(outer.start - loop.size));
    }

    // What a chunk brings.
    Body loads;
    enter(loads);
    bool streams = false;
    for (const TileStatement& statement : loop.body) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load == nullptr || plan_.tiles.at(load->target).home != Home::Matrix) continue;
        streams = true;
        const std::string tile = shared_.at(load->target).name + (stages_ > 1 ? "(stage)" : "");
        for (kernel::Statement& part : copy_matrix(*load, tile)) loads.push_back(std::move(part));
    }
    const std::string filling = "load_" + axis;
    if (streams)
        body.push_back({Enclose{fmt::format("const auto {} = [&](int {}{}) {{", filling, start,
                                            stages_ > 1 ? ", int stage" : ""),
                                std::move(loads), "};"}});

    // The chunk itself, with and without tests.
    Body whole;
    enter(whole);
    const std::vector<ExpressionScope::Known> outer_known = known_;
    const std::string outer_tested = tested_;
    const std::string untested_code = untested(loop);
    const bool two_versions = !untested_code.empty() && untested_code != "false";
    if (two_versions) {
        whole.push_back({Call{"return " + untested_code}});
        body.push_back({Enclose{fmt::format("const auto whole_{} = [&](int {}) {{", axis, start),
                                std::move(whole), "};"}});
    } else {
        known_.clear();
    }
    const std::optional<AxisId> outer_chunked = chunked_;
    chunked_ = loop.axis;
    tested_ = two_versions ? "kTested" : untested_code.empty() ? "false" : "";
    const std::string chunk = "chunk_" + axis;
    Body inside;
    if (two_versions)
        inside.push_back({Declare{"bool", "kTested", "decltype(tested)::value", true, {}}});
    enter(inside);
    const std::set<VariableId> declared = declared_;
    const std::string outer_stage = stage_;
    if (streams) stage_ = stages_ > 1 ? "(stage)" : "";
    const bool pending = copies_pending_;
    copies_pending_ = false;
    for (const TileStatement& statement : loop.body) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load != nullptr && plan_.tiles.at(load->target).home == Home::Matrix) continue;
        lower(statement, inside);
    }
    declared_ = declared;
    stage_ = outer_stage;
    known_ = outer_known;
    tested_ = outer_tested;
    chunked_ = outer_chunked;
    const std::string parameters =
        fmt::format("int {}{}{}", start, streams && stages_ > 1 ? ", int stage" : "",
                    two_versions ? ", auto tested" : "");
    body.push_back({Enclose{fmt::format("const auto {} = [&]({}) NK_INLINE {{", chunk, parameters),
                            std::move(inside), "};"}});

    const std::string arguments = start + (streams && stages_ > 1 ? ", stage" : "");
    Body run;
    if (two_versions) {
        run.push_back({If{fmt::format("whole_{}({})", axis, start),
                          {{Call{fmt::format("{}({}, Flag<false>())", chunk, arguments)}}},
                          {{Call{fmt::format("{}({}, Flag<true>())", chunk, arguments)}}}}});
    } else {
        run.push_back({Call{fmt::format("{}({})", chunk, arguments)}});
    }
    const auto loop_over = [&](const std::string& from, Body steps) {
        const std::string advance = test.empty() ? fmt::format("{} += {}", start, loop.size)
                                                 : fmt::format("{} = {}", start, step);
        body.push_back({Enclose{
            fmt::format("for (int {0} = {1}; {0} < {2}; {3}) {{", start, from, end, advance),
            std::move(steps), "}"}});
    };
    if (!streams) {
        copies_pending_ = pending;
        wait_for_copies(body);
        loop_over(first, std::move(run));
    } else if (stages_ == 1) {
        Body steps;
        steps.push_back({kernel::Barrier{}});
        steps.push_back({Call{fmt::format("{}({})", filling, start)}});
        steps.push_back({Call{"commit_copies()"}});
        steps.push_back({Call{"wait_copies<0>()"}});
        steps.push_back({kernel::Barrier{}});
        for (kernel::Statement& part : run) steps.push_back(std::move(part));
        loop_over(first, std::move(steps));
        copies_pending_ = pending;
    } else {
        const std::string ahead = axis + "_ahead";
        const std::string from = names_.fresh("first_" + axis);
        const auto fill = [&](const std::string& stage) {
            Body steps;
            steps.push_back({If{fmt::format("{} < {}", ahead, end),
                                {{Call{fmt::format("{}({}, {})", filling, ahead, stage)}}},
                                {}}});
            steps.push_back({Call{"commit_copies()"}});
            steps.push_back({Assign{ahead, "=",
                                    test.empty() ? fmt::format("{} + {}", ahead, loop.size)
                                                 : fmt::format("{}({})", next, ahead)}});
            return steps;
        };
        if (!outer_stage.empty() || !outer_tested.empty()) body.push_back({kernel::Barrier{}});
        if (!test.empty()) body.push_back({Declare{"int", from, first, true, {}}});
        const std::string begin = test.empty() ? first : from;
        body.push_back({Declare{"int", ahead, begin, false, "the next chunk to load"}});
        kernel::For prime;
        prime.name = "stage";
        prime.end = std::to_string(stages_ - 1);
        prime.body = fill("stage");
        body.push_back({std::move(prime)});
        body.push_back({Declare{"int", "stage", "0", false, {}}});
        Body steps;
        steps.push_back({Call{fmt::format("wait_copies<{}>()", stages_ - 2)}});
        steps.push_back({kernel::Barrier{}});
        for (kernel::Statement& part : fill(fmt::format("(stage + {}) % {}", stages_ - 1, stages_)))
            steps.push_back(std::move(part));
        for (kernel::Statement& part : run) steps.push_back(std::move(part));
        steps.push_back({Assign{"stage", "=", fmt::format("(stage + 1) % {}", stages_)}});
        loop_over(begin, std::move(steps));
        // Nothing may be visited: then the copies before the loop are still on their way.
        copies_pending_ = pending;
    }
    ranges_[loop.axis] = outer;
}

/// The copy of a load's part of its array into a matrix.
kernel::Body TensorLowering::copy_matrix(const Load& load, const std::string& tile) {
    Shared& shared = shared_.at(load.target);
    const tensor::Tile& plan = plan_.tiles.at(load.target);
    const std::size_t dimensions = load.index.size();
    shared.axes.clear();
    shared.origin.clear();
    shared.count.clear();
    for (std::size_t d = 0; d < dimensions; ++d) {
        const AxisId axis = std::get<AxisIndex>(load.index[d].front().node).axis;
        shared.axes.push_back(axis);
        shared.origin.push_back(ranges_.at(axis).start);
        shared.count.push_back(ranges_.at(axis).count);
    }
    const DeviceOffset from = device_offset(load.array, shared.origin);
    const int width = vector_elements(load.array, divisor_of(shared.origin[plan.column_dimension]));
    Body body;
    body.push_back({Call{fmt::format(
        "copy_async<{}>({}, {}, {}, {}, {}, {}, threadIdx.x, kThreads)", width, tile,
        buffer_name(load.array, false), print(from.offset),
        device_stride(load.array, plan.row_dimension), print(shared.count[plan.row_dimension]),
        print(shared.count[plan.column_dimension]))}});
    return body;
}

void TensorLowering::lower_load(const Load& load, Span span, Body& body) {
    const tensor::Tile& tile = plan_.tiles.at(load.target);
    if (tile.home == Home::Device) return;
    bool first = true;
    for (std::string& line :
         comments(fmt::format("load {}", region_.arrays[load.array.index()].name), span, "")) {
        body.push_back({kernel::Comment{std::move(line), first}});
        first = false;
    }
    if (tile.home == Home::Fragment) return lower_fragment_load(load, span, body);
    for (kernel::Statement& part : copy_matrix(load, shared_.at(load.target).name))
        body.push_back(std::move(part));
    body.push_back({Call{"commit_copies()"}});
    copies_pending_ = true;
}

void TensorLowering::lower_fragment_load(const Load& load, Span, Body& body) {
    const tensor::Tile& tile = plan_.tiles.at(load.target);
    std::vector<IndexForm> origin;
    std::string row_count = "1";
    std::string column_count = "1";
    std::string stride = "0";
    std::int64_t divisor = 0;
    for (std::size_t d = 0; d < load.index.size(); ++d) {
        const AxisId axis = std::get<AxisIndex>(load.index[d].front().node).axis;
        IndexForm start = ranges_.at(axis).start;
        if (axis == plan_.row) {
            const IndexForm warp =
                index_atom("warp_" + Names::identifier(region_.axes[axis.index()].name));
            start = start + warp;
            row_count = print(ranges_.at(axis).count - warp);
            stride = device_stride(load.array, d);
        }
        if (axis == tile.column) {
            column_count = print(ranges_.at(axis).count);
            divisor = divisor_of(start);
        }
        origin.push_back(start);
    }
    static_cast<void>(vector_elements(load.array, divisor));
    declare(load.target, body);
    body.push_back({Call{fmt::format("load_rows({}, {}, {}, {}, {}, {}, 0.0f)", place(load.target),
                                     buffer_name(load.array, false),
                                     print(device_offset(load.array, origin).offset), stride,
                                     row_count, column_count)}});
}

void TensorLowering::lower_save(const Save& save, Span span, Body& body) {
    bool first = true;
    for (std::string& line :
         comments(fmt::format("save {}", region_.arrays[save.array.index()].name), span, "")) {
        body.push_back({kernel::Comment{std::move(line), first}});
        first = false;
    }
    const tensor::Tile& tile = plan_.tiles.at(save.source);
    const Array& array = region_.arrays[save.array.index()];
    const std::size_t last = array.axes.empty()     ? 0
                             : array.layout.empty() ? array.axes.size() - 1
                                                    : array.layout.back();
    if (tile.home == Home::Fragment && plan_.has_products() && tile.column &&
        array.axes[last] == *tile.column) {
        const int width = vector_elements(save.array, divisor_of(ranges_.at(*tile.column).start));
        if (width > 1) {
            for (kernel::Statement& part : staged_save(save, width))
                body.push_back(std::move(part));
            return;
        }
    }
    if (tile.home == Home::Fragment && !plan_.has_products() && tile.column &&
        array.axes[last] == *tile.column &&
        vector_elements(save.array, divisor_of(ranges_.at(*tile.column).start)) % plan_.vector ==
            0) {
        body.push_back(row_save(save));
        return;
    }
    for (kernel::Statement& part : direct_save(save)) body.push_back(std::move(part));
}

/// Whole rows, in vectors.
kernel::Statement TensorLowering::row_save(const Save& save) {
    const Array& array = region_.arrays[save.array.index()];
    const tensor::Tile& tile = plan_.tiles.at(save.source);
    std::vector<IndexForm> origin;
    std::string stride = "0";
    std::string rows = "1";
    for (std::size_t d = 0; d < array.axes.size(); ++d) {
        const AxisId axis = array.axes[d];
        IndexForm start = ranges_.at(axis).start;
        if (axis == plan_.row) {
            const IndexForm warp =
                index_atom("warp_" + Names::identifier(region_.axes[axis.index()].name));
            start = start + warp;
            rows = print(ranges_.at(axis).count - warp);
            stride = device_stride(save.array, d);
        }
        origin.push_back(start);
    }
    return {Call{fmt::format("save_rows({}, {}, {}, {}, {}, {})", place(save.source),
                             buffer_name(save.array, true),
                             print(device_offset(save.array, origin).offset), stride, rows,
                             print(ranges_.at(*tile.column).count))}};
}

/// Through shared memory, which then holds nothing else.
kernel::Body TensorLowering::staged_save(const Save& save, int width) {
    Body body;
    const tensor::Tile& tile = plan_.tiles.at(save.source);
    const ElementType type = device_type(save.array);
    const Columns columns = columns_of(*tile.column);
    const std::int64_t rows = plan_.rows_of_warp * plan_.warps_down;
    kernel::Tile entry;
    const Array& array = region_.arrays[save.array.index()];
    entry.name = names_.fresh(Names::identifier(array.name) + "_staging");
    entry.type = type;
    entry.matrix = kernel::Tile::Matrix{rows, columns.padded, 1};
    entry.shape = fmt::format("{} x {}, after everything else", rows, columns.padded);
    const std::int64_t element = kernel::element_bytes(type);
    entry.elements = rows * columns.padded;
    program_.shared_bytes = std::max(program_.shared_bytes, entry.elements * element);
    const std::string name = entry.name;
    program_.tiles.push_back(std::move(entry));

    if (copies_pending_) body.push_back({Call{"wait_copies<0>()"}});
    copies_pending_ = false;
    const std::string warp_row = "warp_" + Names::identifier(region_.axes[plan_.row->index()].name);
    const std::string warp_column =
        columns.split ? "warp_" + Names::identifier(region_.axes[tile.column->index()].name) : "0";
    body.push_back({kernel::Barrier{}});
    body.push_back({Call{
        fmt::format("store({}, {}, {}, {})", place(save.source), name, warp_row, warp_column)}});
    body.push_back({kernel::Barrier{}});
    std::vector<IndexForm> origin;
    std::size_t row_dimension = 0;
    for (std::size_t d = 0; d < array.axes.size(); ++d) {
        origin.push_back(ranges_.at(array.axes[d]).start);
        if (array.axes[d] == *plan_.row) row_dimension = d;
    }
    body.push_back({Call{fmt::format(
        "save_matrix<{}>({}, 0, {}, {}, {}, {}, {}, {}, threadIdx.x, kThreads)", width, name, rows,
        buffer_name(save.array, true), print(device_offset(save.array, origin).offset),
        device_stride(save.array, row_dimension), print(ranges_.at(*plan_.row).count),
        print(ranges_.at(*tile.column).count))}});
    return body;
}

}  // namespace napkin::lowering
