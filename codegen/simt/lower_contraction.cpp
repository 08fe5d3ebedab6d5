// Contractions: sums of products whose factors split into those of rows and those of columns of the
// result. The threads of a block form a grid over the result; each keeps a micro-tile of it in
// registers and, for every element of the folded axes, reads a column of left factors and a row of
// right ones. Its rows and columns are a grid's width apart, so that neighbouring threads read
// neighbouring elements.
//
// Multiply-adds do not know the conventions for infinities (-inf absorbs, 0 * inf = 0). Where they
// differ the result is NaN, and such elements are computed again with the conventions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codegen/fold_constants.h"
#include "codegen/simt/contraction_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::define;
using kernel::For;
using kernel::variable;

}  // namespace

kernel::Expression ContractionLowering::flat_index(bool row, const char* step) const {
    const std::int64_t apart = row ? grid_.threads_down : grid_.threads_across;
    const std::int64_t passes = row ? row_passes_ : column_passes_;
    const std::int64_t own = row ? grid_.rows : grid_.columns;
    kernel::Expression flat = variable(row ? "row" : "column");
    if (passes > 1) flat = std::move(flat) + variable(row ? "row_pass" : "column_pass");
    if (own > 1) flat = std::move(flat) + kernel::folded(variable(step) * apart);
    return flat;
}

/// The local indices of a row or column of the micro-tile. With `clamp`, one that is not there
/// becomes the last that is, so that it can be computed without a test and thrown away.
std::vector<LocalIndex> ContractionLowering::line(const char* step, const std::vector<AxisId>& axes,
                                                  bool row, Body& body, bool clamp) const {
    const std::int64_t covered = row ? grid_.threads_down * grid_.rows * row_passes_
                                     : grid_.threads_across * grid_.columns * column_passes_;
    const std::int64_t total = capacity(axes);
    kernel::Expression flat = flat_index(row, step);
    std::vector<LocalIndex> locals;
    std::vector<AxisId> several;
    for (const AxisId axis : axes)
        if (region_.ranges_.at(axis).capacity > 1) several.push_back(axis);
    if (several.size() == 1) {
        const AxisId axis = several.front();
        const AxisRange& range = region_.ranges_.at(axis);
        const std::string& name = region_.axis_names_[axis.index()].local;
        const bool certain = range.exact() && covered <= total;
        if (clamp && !certain)
            flat = call("minimum", {std::move(flat), expression_of(range.count - 1)});
        body.push_back(define("int", name, std::move(flat)));
        kernel::Expression test = true;
        if (!certain && !clamp) test = variable(name) < expression_of(range.count);
        locals.push_back({axis, region_.local_index(axis), std::move(test)});
    } else {
        const std::string name = row ? "r" : "c";
        if (clamp && covered > total) flat = call("minimum", {std::move(flat), total - 1});
        body.push_back(define("int", name, std::move(flat)));
        const std::set<AxisId> clamped(axes.begin(), axes.end());
        locals = region_.decompose(name, several, body, clamp ? clamped : std::set<AxisId>{});
        if (!clamp && covered > total) {
            kernel::Expression& test = locals.front().test;
            test = (variable(name) < total) && test;
        }
    }
    for (const AxisId axis : axes)
        if (region_.ranges_.at(axis).capacity == 1) {
            const AxisRange& range = region_.ranges_.at(axis);
            kernel::Expression test = true;
            if (!clamp && !range.exact()) test = kernel::Expression(0) < expression_of(range.count);
            locals.push_back({axis, 0, std::move(test)});
        }
    return locals;
}

void ContractionLowering::add_batch_and_folded(ElementScope& element) const {
    const auto add = [&](AxisId axis) {
        const AxisRange& range = region_.ranges_.at(axis);
        const bool single = range.capacity == 1 && range.exact();
        element.index[axis] = single ? range.start : range.start + region_.local_index(axis);
    };
    for (const AxisId axis : batch_) add(axis);
    for (const AxisId axis : fold_.over) add(axis);
}

Code ContractionLowering::product(const std::vector<Expression>& factors,
                                  const ElementScope& element, bool exact) const {
    Code code = as_sort(ExpressionPrinter(scope_).print(factors.front(), element), Sort::Real);
    for (std::size_t i = 1; i < factors.size(); ++i) {
        const Code next = as_sort(ExpressionPrinter(scope_).print(factors[i], element), Sort::Real);
        code =
            real_code(exact ? call("multiply", {code.value, next.value}) : code.value * next.value);
    }
    return code;
}

/// `float a[8];` and its elements.
Body ContractionLowering::operand(const char* name, bool row) const {
    const std::int64_t count = row ? grid_.rows : grid_.columns;
    const char* step = row ? "i" : "j";
    Body inner;
    const std::vector<LocalIndex> locals =
        line(step, row ? contraction_.rows : contraction_.columns, row, inner, true);
    ElementScope element = region_.element_at(locals);
    add_batch_and_folded(element);
    int next = 0;
    element.temporaries = &inner;
    element.next_temporary = &next;
    const Code value = product(row ? contraction_.left : contraction_.right, element, false);
    inner.push_back(assign(subscript(variable(name), variable(step)), value.value));
    return {kernel::declare_array("float", name, {count}),
            kernel::unrolled_loop(step, count, std::move(inner))};
}

/// An element's sum with the language's conventions.
Body ContractionLowering::exact_sum() const {
    Body body;
    std::vector<LocalIndex> locals = line("i", contraction_.rows, true, body, true);
    const std::vector<LocalIndex> columns = line("j", contraction_.columns, false, body, true);
    locals.insert(locals.end(), columns.begin(), columns.end());
    ElementScope element = region_.element_at(locals);
    add_batch_and_folded(element);
    body.push_back(kernel::declare("float", "sum", kernel::real(0)));
    Body step;
    int next = 0;
    element.temporaries = &step;
    element.next_temporary = &next;
    const Code left = product(contraction_.left, element, true);
    step.push_back(define("float", "left", left.value));
    const Code right = product(contraction_.right, element, true);
    step.push_back(define("float", "right", right.value));
    step.push_back(assign(
        variable("sum"),
        call("add", {variable("sum"), call("multiply", {variable("left"), variable("right")})})));
    append(body, region_.axis_loops(fold_.over, std::move(step)));
    body.push_back({kernel::Return{variable("sum")}});
    return body;
}

/// Scales, adds the seed and stores.
Body ContractionLowering::finish() const {
    Body inner;
    std::vector<LocalIndex> locals = line("i", contraction_.rows, true, inner, false);
    const std::vector<LocalIndex> columns = line("j", contraction_.columns, false, inner, false);
    locals.insert(locals.end(), columns.begin(), columns.end());
    ElementScope element = region_.element_at(locals);
    add_batch_and_folded(element);
    kernel::Expression value = subscript(subscript(variable("acc"), variable("i")), variable("j"));
    double constant = 1;
    std::vector<Code> others;
    for (const Expression& factor : contraction_.outside) {
        Code code = as_sort(ExpressionPrinter(scope_).print(factor, element), Sort::Real);
        if (code.constant && std::isfinite(*code.constant) && *code.constant != 0)
            constant *= *code.constant;
        else
            others.push_back(std::move(code));
    }
    if (constant != 1) value = std::move(value) * kernel::real(constant);
    for (const Code& other : others) value = call("multiply", {std::move(value), other.value});
    Body work;
    if (!fold_.seed.empty()) {
        int next = 0;
        element.temporaries = &work;
        element.next_temporary = &next;
        const Code seed =
            as_sort(ExpressionPrinter(scope_).print(fold_.seed.front(), element), Sort::Real);
        element.temporaries = nullptr;
        value = call("add", {seed.value, std::move(value)});
    }
    region_.store(work, compute_, 0, real_code(std::move(value)), element);
    append(inner, kernel::only_if(region_.tests_of(locals), std::move(work)));
    return {kernel::unrolled_loop("i", grid_.rows,
                                  {kernel::unrolled_loop("j", grid_.columns, std::move(inner))})};
}

kernel::Phase ContractionLowering::run() {
    scope_ = region_.scope_for(compute_);
    region_.define_target(compute_.targets.front());
    kernel::Phase phase;
    const std::int64_t rows = capacity(contraction_.rows);
    const std::int64_t columns = capacity(contraction_.columns);
    grid_ = schedule::thread_grid(rows, columns, region_.program_.threads);
    row_passes_ = grid_.row_passes(rows);
    column_passes_ = grid_.column_passes(columns);

    const std::int64_t across = grid_.threads_across;
    phase.body.push_back(define("int", "row", kernel::thread_index() / across));
    phase.body.push_back(define("int", "column", kernel::thread_index() % across));
    Body work;
    work.push_back(
        kernel::declare_array("float", "acc", {grid_.rows, grid_.columns}, kernel::braces({}),
                              fmt::format("{} x {} threads", grid_.threads_down, across)));
    Body step = operand("a", true);
    append(step, operand("b", false));
    step.push_back(
        {kernel::Run{call("outer_product", {variable("acc"), variable("a"), variable("b")})}});
    append(work, region_.axis_loops(fold_.over, std::move(step)));
    kernel::Lambda exact{{{"int", "i"}, {"int", "j"}}, exact_sum()};
    work.push_back({kernel::Run{
        call("replace_nan", {variable("acc"), kernel::Expression(std::move(exact))})}});
    append(work, finish());

    const auto pass = [&](const char* name, std::int64_t passes, std::int64_t width) {
        if (passes == 1) return;
        For loop;
        loop.name = name;
        loop.end = passes * width;
        loop.step = width;
        loop.body = std::move(work);
        work = {{std::move(loop)}};
    };
    pass("column_pass", column_passes_, grid_.columns * grid_.threads_across);
    pass("row_pass", row_passes_, grid_.rows * grid_.threads_down);
    for (std::size_t i = batch_.size(); i-- > 0;) {
        const AxisRange& range = region_.ranges_.at(batch_[i]);
        if (range.capacity == 1 && range.exact()) continue;
        For loop;
        loop.name = region_.axis_names_[batch_[i].index()].local;
        loop.end = expression_of(range.count);
        loop.body = std::move(work);
        work = {{std::move(loop)}};
    }
    append(phase.body, std::move(work));
    return phase;
}

std::optional<kernel::Phase> SimtLowering::lower_contraction(const Fold& fold,
                                                             const Compute& compute) {
    ContractionLowering lowering(*this, fold, compute);
    if (!lowering.recognise()) return std::nullopt;
    return lowering.run();
}

}  // namespace napkin::lowering
