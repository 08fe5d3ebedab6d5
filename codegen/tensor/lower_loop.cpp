// Loops over chunks, with their rings of stages and versions with and without tests.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "codegen/fold_constants.h"
#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::only_if;
using kernel::Run;
using kernel::variable;
using tensor::Home;

kernel::Statement wait_copies(std::int64_t pending) {
    return {Run{call({"wait_copies", {pending}})}};
}

/// The stage so many after another in a ring.
kernel::Expression stage_after(const std::string& stage, std::int64_t count, std::int64_t stages) {
    return (variable(stage) + count) % stages;
}

}  // namespace

kernel::Lambda TensorLowering::ChunkLoop::function(Body body) const {
    kernel::Lambda lambda{{{"int", start}}, std::move(body)};
    if (!stage.empty()) lambda.parameters.push_back({"int", stage});
    return lambda;
}

kernel::Expression TensorLowering::ChunkLoop::after(const std::string& from) const {
    return next.empty() ? variable(from) + loop.size : invoke(variable(next), {variable(from)});
}

kernel::Expression TensorLowering::untested(const Loop& loop, Body& body) {
    const AxisRange& range = ranges_.at(loop.axis);
    std::vector<Expression> conditions;
    for (const TileStatement& statement : loop.body)
        if (const Compute* compute = std::get_if<Compute>(&statement.node))
            for (const Expression* expression : expressions_of(compute->statement))
                collect_conditions(*expression, conditions);
    if (range.capacity != columns_of(loop.axis).padded) return false;
    kernel::Expression whole = true;
    if (!range.exact()) whole = equal(expression_of(range.count), range.capacity);
    const IntervalPrinter intervals(axes_, ranges_, sizes_);
    known_.clear();
    for (const Expression& condition : conditions) {
        const kernel::Expression holds = intervals.must_hold(condition, names_, body);
        if (is(holds, true)) continue;
        const kernel::Expression tested = variable("kTested");
        if (!is(holds, false)) {
            whole = std::move(whole) && holds;
            known_.push_back({condition, !tested, false});
            continue;
        }
        const kernel::Expression never =
            intervals.must_hold(apply(Function::Not, {condition}), names_, body);
        if (is(never, false) || is(never, true)) continue;
        whole = std::move(whole) && never;
        known_.push_back({condition, tested, true});
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
    body.push_back(kernel::declare("int", ahead, code.first, "the next chunk to load"));
    kernel::For prime;
    prime.name = stage;
    prime.end = stages_ - 1;
    prime.body = fill_ahead(code, ahead, variable(stage));
    body.push_back({std::move(prime)});
    body.push_back(wait_copies(stages_ - 2));
    body.push_back({kernel::Barrier{}});

    const kernel::Expression row = warp_part(*plan_.row);
    const kernel::Expression column = first_column(product.column);
    const auto left = [&](kernel::Expression at) {
        return element(variable(shared_.at(*product.left.direct).name), {std::move(at)});
    };
    const auto right = [&](kernel::Expression at) {
        return element(variable(shared_.at(*product.right.direct).name), {std::move(at)});
    };
    const std::vector<kernel::Expression> orders = orders_of(product);
    const std::string operands = names_.fresh("operands");
    std::vector<kernel::Expression> shape = columns_of(product.column).type.arguments;
    shape.insert(shape.begin(), kernel::Type(kernel::element_name(product.type)));
    body.push_back(kernel::declare({"StepOperands", std::move(shape)}, operands));
    body.push_back(
        {Run{call({"read_first", orders}, {variable(operands), left(0), row, right(0), column})}});
    body.push_back(kernel::declare("int", stage, 0));

    Body steps = fill_ahead(code, ahead, stage_after(stage, stages_ - 1, stages_));
    steps.push_back(define("int", "next", stage_after(stage, 1, stages_)));
    bool apart = true;
    for (std::string& line : comments(text_of(compute.statement), {}, compute.via)) {
        steps.push_back({kernel::Comment{std::move(line), apart}});
        apart = false;
    }
    Body turn = {wait_copies(stages_ - 2),
                 {kernel::Barrier{}},
                 {kernel::Return{code.after(code.start) < code.end}}};
    steps.push_back(kernel::define_function("turn", {{}, std::move(turn)}));
    const kernel::Expression next = variable("next");
    steps.push_back(
        {Run{call({"multiply_on", orders},
                  {place(compute.targets.front()), variable(operands), left(variable(stage)), row,
                   right(variable(stage)), column, left(next), right(next), variable("turn")})}});
    steps.push_back(assign(variable(stage), next));
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

/// Which chunks are visited, where masks may skip some: those of a progression, or those that a
/// function finds.
void TensorLowering::find_visible(ChunkLoop& code, Body& body) {
    code.first = expression_of(code.outer.start);
    find_by_index(code, body);
    if (!code.loop.data_masks.empty()) find_by_data(code, body);
}

void TensorLowering::find_by_index(ChunkLoop& code, Body& body) {
    if (code.loop.visible.empty()) return;
    const std::optional<std::vector<ChunkProgression>> chunks =
        IntervalPrinter(axes_, ranges_, sizes_)
            .chunks(code.loop.visible, code.loop.axis, code.loop.size, names_, body);
    if (!chunks) return search_visible(code, body);
    if (chunks->size() == 1 && !chunks->front().origin)
        std::tie(code.first, code.end) = declare_ends(code, chunks->front(), body);
    else
        find_nearest(code, *chunks, body);
}

/// Declares where a progression begins and ends.
std::pair<kernel::Expression, kernel::Expression> TensorLowering::declare_ends(
    const ChunkLoop& code, const ChunkProgression& chunks, Body& body) {
    const auto declared = [&](const char* name, kernel::Expression value) {
        if (parts_of(value) == nullptr) return value;
        const std::string fresh = names_.fresh(name + code.axis);
        body.push_back(define("int", fresh, std::move(value)));
        return variable(fresh);
    };
    kernel::Expression first = declared("first_", expression_of(chunks.first));
    kernel::Expression end =
        declared("end_", folded(choose(chunks.when, expression_of(chunks.end), first)));
    return {std::move(first), std::move(end)};
}

/// Declares what gives the next chunk of all progressions.
void TensorLowering::find_nearest(ChunkLoop& code, const std::vector<ChunkProgression>& all,
                                  Body& body) {
    const std::string after = names_.fresh("after_" + code.axis);
    const std::string nearest_name = names_.fresh("nearest_" + code.axis);
    const kernel::Expression nearest = variable(nearest_name);
    Body search = {define("int", after, variable(code.start) + code.loop.size),
                   kernel::declare("int", nearest_name, code.end)};
    for (const ChunkProgression& each : all) {
        const auto [first, end] = declare_ends(code, each, body);
        IndexForm place = index_along(code.loop.axis, after);
        if (first != kernel::Expression(0))
            place = index_atom(call("maximum", {variable(after), first}), range_of(place));
        if (each.origin) place = place + modulo(*each.origin - place, each.step);
        const std::string at = names_.fresh("at");
        search.push_back(define("int", at, expression_of(place)));
        append(search, only_if(variable(at) < end,
                               {assign(nearest, call("minimum", {nearest, variable(at)}))}));
    }
    search.push_back({kernel::Return{nearest}});
    code.next = names_.fresh("next_" + code.axis);
    body.push_back(kernel::define_function(code.next, code.function(std::move(search))));
    code.first = invoke(variable(code.next), {expression_of(code.outer.start - code.loop.size)});
}

/// Where no closed form says which chunks are visited, they are tried one after another.
void TensorLowering::search_visible(ChunkLoop& code, Body& body) {
    Body visible;
    enter_chunk(code, visible);
    kernel::Expression test =
        IntervalPrinter(axes_, ranges_, sizes_).may_hold(code.loop.visible, names_, visible);
    ranges_[code.loop.axis] = code.outer;
    if (is(test, true)) return;
    code.next = names_.fresh("next_" + code.axis);
    const std::string seen = names_.fresh("visible_" + code.axis);
    visible.push_back({kernel::Return{std::move(test)}});
    body.push_back(kernel::define_function(seen, code.function(std::move(visible))));
    const kernel::Expression start = variable(code.start);
    Body search = {{kernel::Repeat{{add_to(start, code.loop.size)},
                                   start < code.end && !invoke(variable(seen), {start})}},
                   {kernel::Return{start}}};
    body.push_back(kernel::define_function(code.next, code.function(std::move(search))));
    code.first = invoke(variable(code.next), {expression_of(code.outer.start - code.loop.size)});
}

/// The least and the greatest of the elements that a read means in the part that the block works
/// on, where that is along one axis; the warp declares them.
std::optional<IntervalCode> TensorLowering::element_ends(const Read& read, Body& body) {
    const IntervalPrinter intervals(axes_, ranges_, sizes_);
    const std::string at = names_.fresh("i");
    std::vector<IndexForm> place;
    IndexForm count = 1;
    for (const Expression& index : read.index) {
        const AxisRange& range = ranges_.at(std::get<AxisIndex>(index.node).axis);
        place.push_back(range.start);
        if (range.capacity == 1) continue;
        if (!count.is_constant(1)) return std::nullopt;
        count = range.count;
        place.back() = place.back() + counted(at, range.capacity - 1);
    }
    const std::string& array = region_.arrays[read.array.index()].name;
    const std::string name = names_.fresh(Names::identifier(array) + "_ends");
    const std::string element = names_.fresh(Names::identifier(array) + "_at");
    body.push_back(kernel::define_function(
        element, {{{"int", at}}, {{kernel::Return{device_element(read.array, place).value}}}}));
    body.push_back(
        define("Ends", name, call("ends_of", {expression_of(count), variable(element)})));
    const auto end = [&](const char* which) {
        return index_atom(member(variable(name), which), range_of(ElementType::I32));
    };
    return IntervalCode{end("least"), end("greatest")};
}

/// The block's warps mark the chunks in which data may let something through, which a function then
/// finds; those past the marks are visited.
void TensorLowering::find_by_data(ChunkLoop& code, Body& body) {
    std::vector<Expression> conditions = code.loop.data_masks;
    const bool by_function = !code.next.empty();
    if (by_function) {
        conditions.insert(conditions.end(), code.loop.visible.begin(), code.loop.visible.end());
        code.first = expression_of(code.outer.start);
        code.next.clear();
    }
    std::vector<std::pair<Read, IntervalCode>> known;
    const auto declare = [&](bool along_chunks, Body& where) {
        for (const Expression& condition : conditions)
            walk(condition, [&](const Expression& part) {
                const Read* element = std::get_if<Read>(&part.node);
                if (element == nullptr || axes_used(part).contains(code.loop.axis) != along_chunks)
                    return;
                for (const auto& [read, ends] : known)
                    if (read == *element) return;
                if (const std::optional<IntervalCode> ends = element_ends(*element, where))
                    known.emplace_back(*element, *ends);
            });
    };
    declare(false, body);
    Body test;
    enter_chunk(code, test);
    declare(true, test);
    const auto ends_of = [&](const Read& element) -> std::optional<IntervalCode> {
        for (const auto& [read, ends] : known)
            if (read == element) return ends;
        return std::nullopt;
    };
    kernel::Expression seen =
        IntervalPrinter(axes_, ranges_, sizes_, ends_of).may_hold(conditions, names_, test);
    ranges_[code.loop.axis] = code.outer;
    test.push_back({kernel::Return{std::move(seen)}});
    const auto& [marks, most] = marks_.at({code.loop.axis, code.loop.level});
    if (chunked_) body.push_back({kernel::Barrier{}});
    body.push_back({Run{call({"mark_chunks", {most, program_.threads / 32}},
                             {variable(marks), code.first, code.end, code.loop.size,
                              kernel::Expression(code.function(std::move(test)))})}});
    body.push_back({kernel::Barrier{}});
    const kernel::Expression start = variable(code.start);
    const auto next_from = [&](kernel::Expression from) {
        return call({"next_marked", {most}},
                    {variable(marks), code.first, code.end, code.loop.size, std::move(from)});
    };
    code.next = names_.fresh("next_" + code.axis);
    body.push_back(kernel::define_function(
        code.next, code.function({{kernel::Return{next_from(start + code.loop.size)}}})));
    code.first = next_from(code.first);
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
        kernel::Expression tile = variable(shared_.at(load->target).name);
        if (stages_ > 1) tile = element(std::move(tile), {variable(code.stage)});
        append(loads, copy_matrix(*load, tile));
    }
    code.filling = names_.fresh("load_" + code.axis);
    body.push_back(kernel::define_function(code.filling, code.function(std::move(loads))));
    return own;
}

/// Declares what a chunk does, with and without the tests of masks and edges; the call of it.
Body TensorLowering::declare_chunk(const ChunkLoop& code, const std::vector<VariableId>& own,
                                   Body& body) {
    Body whole;
    enter_chunk(code, whole);
    const std::vector<ExpressionScope::Known> outer_known = known_;
    const kernel::Expression outer_tested = tested_;
    const kernel::Expression without_tests = untested(code.loop, whole);
    const bool two_versions = !is(without_tests, true) && !is(without_tests, false);
    const std::string is_whole = two_versions ? names_.fresh("whole_" + code.axis) : std::string();
    if (two_versions) {
        whole.push_back({kernel::Return{without_tests}});
        body.push_back(
            kernel::define_function(is_whole, {{{"int", code.start}}, std::move(whole)}));
    } else {
        known_.clear();
    }
    const std::optional<AxisId> outer_chunked = chunked_;
    chunked_ = code.loop.axis;
    tested_ = two_versions ? variable("kTested") : !without_tests;
    const std::string chunk = names_.fresh("chunk_" + code.axis);
    Body inside;
    if (two_versions)
        inside.push_back(define("bool", "kTested", member(variable("tested"), "value")));
    enter_chunk(code, inside);
    const std::set<VariableId> declared = declared_;
    for (const VariableId matrix : own)
        if (!code.stage.empty()) stage_of_[matrix] = code.stage;
    for (const TileStatement& statement : code.loop.body) {
        const Load* load = std::get_if<Load>(&statement.node);
        if (load != nullptr && plan_.tiles.at(load->target).home == Home::Matrix) continue;
        lower(statement, inside);
    }
    declared_ = declared;
    known_ = outer_known;
    tested_ = outer_tested;
    chunked_ = outer_chunked;
    kernel::Lambda function = code.function(std::move(inside));
    function.inlined = true;
    if (two_versions) function.parameters.push_back({"auto", "tested"});
    body.push_back(kernel::define_function(chunk, std::move(function)));

    std::vector<kernel::Expression> arguments = {variable(code.start)};
    if (!code.stage.empty()) arguments.push_back(variable(code.stage));
    const auto run = [&](std::optional<bool> tested) -> Body {
        std::vector<kernel::Expression> all = arguments;
        if (tested) all.push_back(call({"Flag", {*tested}}));
        return {{Run{invoke(variable(chunk), std::move(all))}}};
    };
    if (!two_versions) return run(std::nullopt);
    return {
        {kernel::If{invoke(variable(is_whole), {variable(code.start)}), run(false), run(true)}}};
}

void TensorLowering::loop_over(const ChunkLoop& code, kernel::Expression from, Body steps,
                               Body& body) {
    kernel::For loop;
    loop.name = code.start;
    loop.begin = std::move(from);
    loop.end = code.end;
    loop.step = code.loop.size;
    if (!code.next.empty()) loop.next = code.after(code.start);
    loop.body = std::move(steps);
    body.push_back({std::move(loop)});
}

/// A chunk is loaded, then used.
void TensorLowering::loop_in_turns(const ChunkLoop& code, Body run, Body& body) {
    Body steps;
    steps.push_back({kernel::Barrier{}});
    steps.push_back({Run{invoke(variable(code.filling), {variable(code.start)})}});
    steps.push_back({Run{call("commit_copies")}});
    steps.push_back(wait_copies(0));
    steps.push_back({kernel::Barrier{}});
    append(steps, std::move(run));
    loop_over(code, code.first, std::move(steps), body);
}

/// Loads the chunk ahead into a stage, and goes on to the next.
Body TensorLowering::fill_ahead(const ChunkLoop& code, const std::string& ahead,
                                const kernel::Expression& stage) {
    const kernel::Expression chunk = variable(ahead);
    Body steps = only_if(chunk < code.end, {{Run{invoke(variable(code.filling), {chunk, stage})}}});
    steps.push_back({Run{call("commit_copies")}});
    steps.push_back(code.next.empty() ? add_to(chunk, code.loop.size)
                                      : assign(chunk, code.after(ahead)));
    return steps;
}

/// Copies of later chunks are on their way while one is used: a ring of stages.
void TensorLowering::loop_ahead(const ChunkLoop& code, Body run, Body& body) {
    const std::string ahead = names_.fresh(code.axis + "_ahead");
    const std::string from = names_.fresh("first_" + code.axis);
    // The loop around it may still read what the last turn brought.
    if (chunked_) body.push_back({kernel::Barrier{}});
    if (!code.next.empty()) body.push_back(define("int", from, code.first));
    const kernel::Expression begin = code.next.empty() ? code.first : variable(from);
    body.push_back(kernel::declare("int", ahead, begin, "the next chunk to load"));
    kernel::For prime;
    prime.name = code.stage;
    prime.end = stages_ - 1;
    prime.body = fill_ahead(code, ahead, variable(code.stage));
    body.push_back({std::move(prime)});
    body.push_back(kernel::declare("int", code.stage, 0));
    Body steps = {wait_copies(stages_ - 2), {kernel::Barrier{}}};
    append(steps, fill_ahead(code, ahead, stage_after(code.stage, stages_ - 1, stages_)));
    append(steps, std::move(run));
    steps.push_back(assign(variable(code.stage), stage_after(code.stage, 1, stages_)));
    loop_over(code, begin, std::move(steps), body);
}

void TensorLowering::lower_loop(const Loop& loop, Body& body) {
    ChunkLoop code{loop, ranges_[loop.axis]};
    code.axis = Names::identifier(region_.axes[loop.axis.index()].name);
    code.start = next_name(axis_names_[loop.axis.index()].start);
    code.end = expression_of(code.outer.start + code.outer.count);
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
