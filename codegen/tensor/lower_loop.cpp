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
void TensorLowering::lower_product_loop(const Loop& loop, const Compute& compute,
                                        const std::string& filling, const std::string& stage,
                                        const std::string& start, const std::string& first,
                                        const std::string& end, Body& body) {
    const tensor::Product& product = plan_.products.at(&compute);
    const std::string ahead =
        names_.fresh(Names::identifier(region_.axes[loop.axis.index()].name) + "_ahead");
    const auto fill = [&](const std::string& which) {
        Body steps;
        steps.push_back({If{fmt::format("{} < {}", ahead, end),
                            {{Call{fmt::format("{}({}, {})", filling, ahead, which)}}},
                            {}}});
        steps.push_back({Call{"commit_copies()"}});
        steps.push_back({Assign{ahead, "+=", std::to_string(loop.size)}});
        return steps;
    };
    body.push_back({kernel::Barrier{}});
    body.push_back({Declare{"int", ahead, first, false, "the next chunk to load"}});
    kernel::For prime;
    prime.name = stage;
    prime.end = std::to_string(stages_ - 1);
    prime.body = fill(stage);
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

    Body steps = fill(fmt::format("({} + {}) % {}", stage, stages_ - 1, stages_));
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
    turn.push_back({Call{fmt::format("return {} + {} < {}", start, loop.size, end)}});
    steps.push_back({Enclose{"const auto turn = [&] {", std::move(turn), "};"}});
    steps.push_back({Call{
        fmt::format("multiply_on<{}>({}, {}, {}({}), {}, {}({}), {}, {}(next), {}(next), turn)",
                    orders, place(compute.targets.front()), operands, left, stage, row, right,
                    stage, column, left, right)}});
    steps.push_back({Assign{stage, "=", "next"}});
    body.push_back({Enclose{
        fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3}) {{", start, first, end, loop.size),
        std::move(steps), "}"}});
    copies_pending_ = false;
}

bool TensorLowering::fills_matrices(const Loop& loop) const {
    return std::any_of(loop.body.begin(), loop.body.end(), [&](const TileStatement& statement) {
        const Load* load = std::get_if<Load>(&statement.node);
        return load != nullptr && plan_.tiles.at(load->target).home == Home::Matrix;
    });
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
    const std::string next = test.empty() ? std::string() : names_.fresh("next_" + axis);
    if (!test.empty()) {
        const std::string seen = names_.fresh("visible_" + axis);
        visible.push_back({Call{"return " + test}});
        body.push_back({Enclose{fmt::format("const auto {} = [&](int {}) {{", seen, start),
                                std::move(visible), "};"}});
        Body search;
        search.push_back(
            {Enclose{"do {",
                     {{Assign{start, "+=", std::to_string(loop.size)}}},
                     fmt::format("}} while ({} < {} && !{}({}));", start, end, seen, start)}});
        search.push_back({Call{"return " + start}});
        body.push_back({Enclose{fmt::format("const auto {} = [&](int {}) {{", next, start),
                                std::move(search), "};"}});
        step = fmt::format("{}({})", next, start);
        first = fmt::format("{}({})", next, print(outer.start - loop.size));
    }

    // What a chunk brings.
    Body loads;
    enter(loads);
    const bool streams = fills_matrices(loop);
    const std::string stage = streams && stages_ > 1 ? names_.fresh("stage") : std::string();
    std::vector<VariableId> own;
    for (const TileStatement& statement : loop.body) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load == nullptr || plan_.tiles.at(load->target).home != Home::Matrix) continue;
        own.push_back(load->target);
        const std::string tile =
            shared_.at(load->target).name + (stages_ > 1 ? "(" + stage + ")" : "");
        for (kernel::Statement& part : copy_matrix(*load, tile)) loads.push_back(std::move(part));
    }
    const std::string filling = streams ? names_.fresh("load_" + axis) : std::string();
    const std::string stage_parameter = stage.empty() ? std::string() : ", int " + stage;
    if (streams)
        body.push_back({Enclose{
            fmt::format("const auto {} = [&](int {}{}) {{", filling, start, stage_parameter),
            std::move(loads), "};"}});

    if (const Compute* product = streams ? lone_product(loop) : nullptr) {
        lower_product_loop(loop, *product, filling, stage, start, first, end, body);
        ranges_[loop.axis] = outer;
        return;
    }

    // The chunk itself, with and without tests.
    Body whole;
    enter(whole);
    const std::vector<ExpressionScope::Known> outer_known = known_;
    const std::string outer_tested = tested_;
    const std::string untested_code = untested(loop);
    const bool two_versions = !untested_code.empty() && untested_code != "false";
    const std::string is_whole = two_versions ? names_.fresh("whole_" + axis) : std::string();
    if (two_versions) {
        whole.push_back({Call{"return " + untested_code}});
        body.push_back({Enclose{fmt::format("const auto {} = [&](int {}) {{", is_whole, start),
                                std::move(whole), "};"}});
    } else {
        known_.clear();
    }
    const std::optional<AxisId> outer_chunked = chunked_;
    chunked_ = loop.axis;
    tested_ = two_versions ? "kTested" : untested_code.empty() ? "false" : "";
    const std::string chunk = names_.fresh("chunk_" + axis);
    Body inside;
    if (two_versions)
        inside.push_back({Declare{"bool", "kTested", "decltype(tested)::value", true, {}}});
    enter(inside);
    const std::set<VariableId> declared = declared_;
    for (const VariableId matrix : own)
        stage_of_[matrix] = stage.empty() ? stage : "(" + stage + ")";
    const bool pending = copies_pending_;
    copies_pending_ = false;
    for (const TileStatement& statement : loop.body) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load != nullptr && plan_.tiles.at(load->target).home == Home::Matrix) continue;
        lower(statement, inside);
    }
    declared_ = declared;
    known_ = outer_known;
    tested_ = outer_tested;
    chunked_ = outer_chunked;
    const std::string parameters =
        fmt::format("int {}{}{}", start, stage_parameter, two_versions ? ", auto tested" : "");
    body.push_back({Enclose{fmt::format("const auto {} = [&]({}) NK_INLINE {{", chunk, parameters),
                            std::move(inside), "};"}});

    const std::string arguments = stage.empty() ? start : start + ", " + stage;
    Body run;
    if (two_versions) {
        run.push_back({If{fmt::format("{}({})", is_whole, start),
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
        const std::string ahead = names_.fresh(axis + "_ahead");
        const std::string from = names_.fresh("first_" + axis);
        const auto fill = [&](const std::string& which) {
            Body steps;
            steps.push_back({If{fmt::format("{} < {}", ahead, end),
                                {{Call{fmt::format("{}({}, {})", filling, ahead, which)}}},
                                {}}});
            steps.push_back({Call{"commit_copies()"}});
            steps.push_back({Assign{ahead, "=",
                                    test.empty() ? fmt::format("{} + {}", ahead, loop.size)
                                                 : fmt::format("{}({})", next, ahead)}});
            return steps;
        };
        // The loop around it may still read what the last turn brought.
        if (outer_chunked) body.push_back({kernel::Barrier{}});
        if (!test.empty()) body.push_back({Declare{"int", from, first, true, {}}});
        const std::string begin = test.empty() ? first : from;
        body.push_back({Declare{"int", ahead, begin, false, "the next chunk to load"}});
        kernel::For prime;
        prime.name = stage;
        prime.end = std::to_string(stages_ - 1);
        prime.body = fill(stage);
        body.push_back({std::move(prime)});
        body.push_back({Declare{"int", stage, "0", false, {}}});
        Body steps;
        steps.push_back({Call{fmt::format("wait_copies<{}>()", stages_ - 2)}});
        steps.push_back({kernel::Barrier{}});
        for (kernel::Statement& part :
             fill(fmt::format("({} + {}) % {}", stage, stages_ - 1, stages_)))
            steps.push_back(std::move(part));
        for (kernel::Statement& part : run) steps.push_back(std::move(part));
        steps.push_back({Assign{stage, "=", fmt::format("({} + 1) % {}", stage, stages_)}});
        loop_over(begin, std::move(steps));
        // Nothing may be visited: then the copies before the loop are still on their way.
        copies_pending_ = pending;
    }
    ranges_[loop.axis] = outer;
}

}  // namespace napkin::lowering
