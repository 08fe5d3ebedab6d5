// Loops over chunks, with their rings of stages and versions with and without tests.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Call;
using kernel::Declare;
using kernel::Enclose;
using kernel::If;
using tensor::Home;

}  // namespace

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

/// A loop of one product: a warp reads the first operands of a chunk before it is through with the
/// one before.
void TensorLowering::lower_product_loop(const ChunkLoop& code, const Compute& compute, Body& body) {
    const std::string& stage = code.stage;
    const tensor::Product& product = plan_.products.at(&compute);
    const std::string ahead = names_.fresh(code.axis + "_ahead");
    body.push_back({kernel::Barrier{}});
    body.push_back({Declare{"int", ahead, code.first, false, "the next chunk to load"}});
    kernel::For prime;
    prime.name = stage;
    prime.end = std::to_string(stages_ - 1);
    prime.body = fill_ahead(code, ahead, stage);
    body.push_back({std::move(prime)});
    const std::string wait = fmt::format("wait_copies<{}>()", stages_ - 2);
    body.push_back({Call{wait}});
    body.push_back({kernel::Barrier{}});

    const std::string row = warp_part(*plan_.row);
    const std::string column = first_column(product.column);
    const std::string left = shared_.at(*product.left.direct).name;
    const std::string right = shared_.at(*product.right.direct).name;
    const std::string orders = orders_of(product);
    const std::string operands = names_.fresh("operands");
    const Columns columns = columns_of(product.column);
    const std::string shape = columns.type.substr(columns.type.find('<') + 1);
    body.push_back(
        {Declare{fmt::format("StepOperands<{}, {}", kernel::element_name(product.type), shape),
                 operands,
                 "",
                 false,
                 {}}});
    body.push_back({Call{fmt::format("read_first<{}>({}, {}(0), {}, {}(0), {})", orders, operands,
                                     left, row, right, column)}});
    body.push_back({Declare{"int", stage, "0", false, {}}});

    Body steps =
        fill_ahead(code, ahead, fmt::format("({} + {}) % {}", stage, stages_ - 1, stages_));
    steps.push_back(
        {Declare{"int", "next", fmt::format("({} + 1) % {}", stage, stages_), true, {}}});
    bool apart = true;
    for (std::string& line : comments(text_of(compute.statement), {}, compute.via)) {
        steps.push_back({kernel::Comment{std::move(line), apart}});
        apart = false;
    }
    Body turn;
    turn.push_back({Call{wait}});
    turn.push_back({kernel::Barrier{}});
    turn.push_back(
        {Call{fmt::format("return {} + {} < {}", code.start, code.loop.size, code.end)}});
    steps.push_back({Enclose{"const auto turn = [&] {", std::move(turn), "};"}});
    steps.push_back({Call{
        fmt::format("multiply_on<{}>({}, {}, {}({}), {}, {}({}), {}, {}(next), {}(next), turn)",
                    orders, place(compute.targets.front()), operands, left, stage, row, right,
                    stage, column, left, right)}});
    steps.push_back({Assign{stage, "=", "next"}});
    loop_over(code, code.first, std::move(steps), body);
    copies_pending_ = false;
}

bool TensorLowering::fills_matrices(const Loop& loop) const {
    return std::any_of(loop.body.begin(), loop.body.end(), [&](const TileStatement& statement) {
        const Load* load = std::get_if<Load>(&statement.node);
        return load != nullptr && plan_.tiles.at(load->target).home == Home::Matrix;
    });
}

void TensorLowering::enter_chunk(const ChunkLoop& code, Body& body) {
    used_.erase(axis_names_[code.loop.axis.index()].count);
    ranges_[code.loop.axis] = code.outer;
    narrow(code.loop.axis, code.loop.size, index_along(code.loop.axis, code.start), body);
}

/// Declares a function from a chunk's start.
void TensorLowering::declare_function(const ChunkLoop& code, const std::string& name, Body inside,
                                      Body& body) {
    body.push_back({Enclose{fmt::format("const auto {} = [&](int {}) {{", name, code.start),
                            std::move(inside), "};"}});
}

/// Which chunks are visited, where masks may skip some, and the first of them.
void TensorLowering::find_visible(ChunkLoop& code, Body& body) {
    code.first = print(code.outer.start);
    Body visible;
    enter_chunk(code, visible);
    std::string test;
    for (const Expression& condition : code.loop.visible) {
        const std::string holds = IntervalPrinter(ranges_, sizes_).may_hold(condition);
        if (holds == "true") continue;
        test += (test.empty() ? "" : " && ") +
                (holds.find(" || ") == std::string::npos ? holds : "(" + holds + ")");
    }
    if (test.empty()) return;
    code.next = names_.fresh("next_" + code.axis);
    const std::string seen = names_.fresh("visible_" + code.axis);
    visible.push_back({Call{"return " + test}});
    declare_function(code, seen, std::move(visible), body);
    Body search;
    search.push_back({Enclose{
        "do {",
        {{Assign{code.start, "+=", std::to_string(code.loop.size)}}},
        fmt::format("}} while ({} < {} && !{}({}));", code.start, code.end, seen, code.start)}});
    search.push_back({Call{"return " + code.start}});
    declare_function(code, code.next, std::move(search), body);
    code.first = fmt::format("{}({})", code.next, print(code.outer.start - code.loop.size));
}

/// Declares what loads a chunk's matrices; which they are.
std::vector<VariableId> TensorLowering::fill_matrices(ChunkLoop& code, Body& body) {
    Body loads;
    enter_chunk(code, loads);
    if (!fills_matrices(code.loop)) return {};
    if (stages_ > 1) code.stage = names_.fresh("stage");
    std::vector<VariableId> own;
    for (const TileStatement& statement : code.loop.body) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load == nullptr || plan_.tiles.at(load->target).home != Home::Matrix) continue;
        own.push_back(load->target);
        const std::string tile =
            shared_.at(load->target).name + (stages_ > 1 ? "(" + code.stage + ")" : "");
        for (kernel::Statement& part : copy_matrix(*load, tile)) loads.push_back(std::move(part));
    }
    code.filling = names_.fresh("load_" + code.axis);
    body.push_back({Enclose{fmt::format("const auto {} = [&](int {}{}) {{", code.filling,
                                        code.start, code.stage_parameter()),
                            std::move(loads), "};"}});
    return own;
}

/// Declares what a chunk does, with and without the tests of masks and edges; the call of it.
Body TensorLowering::declare_chunk(const ChunkLoop& code, const std::vector<VariableId>& own,
                                   Body& body) {
    Body whole;
    enter_chunk(code, whole);
    const std::vector<ExpressionScope::Known> outer_known = known_;
    const std::string outer_tested = tested_;
    const std::string untested_code = untested(code.loop);
    const bool two_versions = !untested_code.empty() && untested_code != "false";
    const std::string is_whole = two_versions ? names_.fresh("whole_" + code.axis) : std::string();
    if (two_versions) {
        whole.push_back({Call{"return " + untested_code}});
        declare_function(code, is_whole, std::move(whole), body);
    } else {
        known_.clear();
    }
    const std::optional<AxisId> outer_chunked = chunked_;
    chunked_ = code.loop.axis;
    tested_ = two_versions ? "kTested" : untested_code.empty() ? "false" : "";
    const std::string chunk = names_.fresh("chunk_" + code.axis);
    Body inside;
    if (two_versions)
        inside.push_back({Declare{"bool", "kTested", "decltype(tested)::value", true, {}}});
    enter_chunk(code, inside);
    const std::set<VariableId> declared = declared_;
    for (const VariableId matrix : own)
        stage_of_[matrix] = code.stage.empty() ? code.stage : "(" + code.stage + ")";
    for (const TileStatement& statement : code.loop.body) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load != nullptr && plan_.tiles.at(load->target).home == Home::Matrix) continue;
        lower(statement, inside);
    }
    declared_ = declared;
    known_ = outer_known;
    tested_ = outer_tested;
    chunked_ = outer_chunked;
    body.push_back(
        {Enclose{fmt::format("const auto {} = [&](int {}{}{}) NK_INLINE {{", chunk, code.start,
                             code.stage_parameter(), two_versions ? ", auto tested" : ""),
                 std::move(inside), "};"}});

    const std::string arguments = code.stage.empty() ? code.start : code.start + ", " + code.stage;
    if (!two_versions) return {{Call{fmt::format("{}({})", chunk, arguments)}}};
    return {{If{fmt::format("{}({})", is_whole, code.start),
                {{Call{fmt::format("{}({}, Flag<false>())", chunk, arguments)}}},
                {{Call{fmt::format("{}({}, Flag<true>())", chunk, arguments)}}}}}};
}

void TensorLowering::loop_over(const ChunkLoop& code, const std::string& from, Body steps,
                               Body& body) {
    const std::string advance = code.next.empty()
                                    ? fmt::format("{} += {}", code.start, code.loop.size)
                                    : fmt::format("{} = {}({})", code.start, code.next, code.start);
    body.push_back({Enclose{
        fmt::format("for (int {0} = {1}; {0} < {2}; {3}) {{", code.start, from, code.end, advance),
        std::move(steps), "}"}});
}

/// A chunk is loaded, then used.
void TensorLowering::loop_in_turns(const ChunkLoop& code, Body run, Body& body) {
    Body steps;
    steps.push_back({kernel::Barrier{}});
    steps.push_back({Call{fmt::format("{}({})", code.filling, code.start)}});
    steps.push_back({Call{"commit_copies()"}});
    steps.push_back({Call{"wait_copies<0>()"}});
    steps.push_back({kernel::Barrier{}});
    for (kernel::Statement& part : run) steps.push_back(std::move(part));
    loop_over(code, code.first, std::move(steps), body);
}

/// Loads the chunk ahead into a stage, and goes on to the next.
Body TensorLowering::fill_ahead(const ChunkLoop& code, const std::string& ahead,
                                const std::string& stage) {
    Body steps;
    steps.push_back({If{fmt::format("{} < {}", ahead, code.end),
                        {{Call{fmt::format("{}({}, {})", code.filling, ahead, stage)}}},
                        {}}});
    steps.push_back({Call{"commit_copies()"}});
    if (code.next.empty())
        steps.push_back({Assign{ahead, "+=", std::to_string(code.loop.size)}});
    else
        steps.push_back({Assign{ahead, "=", fmt::format("{}({})", code.next, ahead)}});
    return steps;
}

/// Copies of later chunks are on their way while one is used: a ring of stages.
void TensorLowering::loop_ahead(const ChunkLoop& code, Body run, Body& body) {
    const std::string ahead = names_.fresh(code.axis + "_ahead");
    const std::string from = names_.fresh("first_" + code.axis);
    // The loop around it may still read what the last turn brought.
    if (chunked_) body.push_back({kernel::Barrier{}});
    if (!code.next.empty()) body.push_back({Declare{"int", from, code.first, true, {}}});
    const std::string begin = code.next.empty() ? code.first : from;
    body.push_back({Declare{"int", ahead, begin, false, "the next chunk to load"}});
    kernel::For prime;
    prime.name = code.stage;
    prime.end = std::to_string(stages_ - 1);
    prime.body = fill_ahead(code, ahead, code.stage);
    body.push_back({std::move(prime)});
    body.push_back({Declare{"int", code.stage, "0", false, {}}});
    Body steps;
    steps.push_back({Call{fmt::format("wait_copies<{}>()", stages_ - 2)}});
    steps.push_back({kernel::Barrier{}});
    for (kernel::Statement& part :
         fill_ahead(code, ahead, fmt::format("({} + {}) % {}", code.stage, stages_ - 1, stages_)))
        steps.push_back(std::move(part));
    for (kernel::Statement& part : run) steps.push_back(std::move(part));
    steps.push_back({Assign{code.stage, "=", fmt::format("({} + 1) % {}", code.stage, stages_)}});
    loop_over(code, begin, std::move(steps), body);
}

void TensorLowering::lower_loop(const Loop& loop, Body& body) {
    ChunkLoop code{loop, ranges_[loop.axis]};
    code.axis = Names::identifier(region_.axes[loop.axis.index()].name);
    code.start = next_name(axis_names_[loop.axis.index()].start);
    code.end = print(code.outer.start + code.outer.count);
    multiples_[code.start] = std::gcd(divisor_of(code.outer.start), loop.size);
    body.push_back({kernel::Comment{fmt::format("chunks of {}", code.axis), true}});
    find_visible(code, body);
    const std::vector<VariableId> own = fill_matrices(code, body);
    const bool streams = !code.filling.empty();
    if (const Compute* product = streams ? lone_product(loop) : nullptr) {
        lower_product_loop(code, *product, body);
        ranges_[loop.axis] = code.outer;
        return;
    }
    const bool pending = copies_pending_;
    copies_pending_ = false;
    Body run = declare_chunk(code, own, body);
    if (!streams) {
        copies_pending_ = pending;
        wait_for_copies(body);
        loop_over(code, code.first, std::move(run), body);
    } else {
        if (stages_ == 1)
            loop_in_turns(code, std::move(run), body);
        else
            loop_ahead(code, std::move(run), body);
        // Nothing may be visited: then the copies before the loop are still on their way.
        copies_pending_ = pending;
    }
    ranges_[loop.axis] = code.outer;
}

}  // namespace napkin::lowering
