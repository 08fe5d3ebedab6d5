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

#include "codegen/simt/contraction_lowering.h"
#include "schedule/rounding.h"

namespace napkin::lowering {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Call;
using kernel::Declare;
using kernel::For;
using kernel::If;

}  // namespace

std::string ContractionLowering::flat_index(bool row, const std::string& step) const {
    const std::int64_t apart = row ? arrangement_.threads_down : arrangement_.threads_across;
    const std::int64_t passes = row ? row_passes_ : column_passes_;
    const std::string base = row ? "row" : "column";
    const std::int64_t own = row ? arrangement_.rows : arrangement_.columns;
    std::string text = base;
    if (passes > 1) text += row ? " + row_pass" : " + column_pass";
    if (own > 1) text += fmt::format(" + {}{}", step, apart > 1 ? fmt::format(" * {}", apart) : "");
    return text;
}

/// The local indices of a row or column of the micro-tile. With `clamp`, one that is not there
/// becomes the last that is, so that it can be computed without a test and thrown away.
std::vector<LocalIndex> ContractionLowering::line(const std::string& step,
                                                  const std::vector<AxisId>& axes, bool row,
                                                  Body& body, bool clamp) const {
    const std::int64_t covered =
        row ? arrangement_.threads_down * arrangement_.rows * row_passes_
            : arrangement_.threads_across * arrangement_.columns * column_passes_;
    const std::int64_t total = capacity(axes);
    std::string flat = flat_index(row, step);
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
            flat = fmt::format("minimum({}, {})", flat, napkin::print(range.count - 1));
        body.push_back({Declare{"int", name, flat, true, {}}});
        const std::string test = certain || clamp
                                     ? std::string()
                                     : fmt::format("{} < {}", name, napkin::print(range.count));
        locals.push_back({axis, region_.local_index(axis), test});
    } else {
        const std::string name = row ? "r" : "c";
        if (clamp && covered > total) flat = fmt::format("minimum({}, {})", flat, total - 1);
        body.push_back({Declare{"int", name, flat, true, {}}});
        const std::set<AxisId> clamped(axes.begin(), axes.end());
        locals = region_.decompose(name, several, body, clamp ? clamped : std::set<AxisId>{});
        if (!clamp && covered > total) {
            std::string& test = locals.front().test;
            test = fmt::format("{} < {}{}", name, total, test.empty() ? "" : " && " + test);
        }
    }
    for (const AxisId axis : axes)
        if (region_.ranges_.at(axis).capacity == 1) {
            const AxisRange& range = region_.ranges_.at(axis);
            locals.push_back({axis, 0,
                              clamp || range.exact()
                                  ? std::string()
                                  : fmt::format("0 < {}", napkin::print(range.count))});
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

Code ContractionLowering::product(const std::vector<const Expression*>& factors,
                                  const ElementScope& element, bool exact) const {
    Code code = as_sort(ExpressionPrinter(scope_).print(*factors.front(), element), Sort::Real);
    for (std::size_t i = 1; i < factors.size(); ++i) {
        const Code next =
            as_sort(ExpressionPrinter(scope_).print(*factors[i], element), Sort::Real);
        Code both;
        if (exact) {
            both.text = fmt::format("multiply({}, {})", code.text, next.text);
        } else {
            both.text = fmt::format("{} * {}", wrapped(code, 13), wrapped(next, 14));
            both.precedence = 13;
        }
        code = std::move(both);
    }
    return code;
}

For ContractionLowering::unrolled(const char* name, std::int64_t end, Body body) const {
    For loop;
    loop.name = name;
    loop.end = std::to_string(end);
    loop.unroll = true;
    loop.body = std::move(body);
    return loop;
}

/// `float a[8];` and its elements.
Body ContractionLowering::operand(const char* name, bool row) const {
    const std::int64_t count = row ? arrangement_.rows : arrangement_.columns;
    const char* step = row ? "i" : "j";
    Body inner;
    const std::vector<LocalIndex> locals = line(step, row ? rows_ : columns_, row, inner, true);
    ElementScope element = region_.element_at(locals);
    add_batch_and_folded(element);
    int next = 0;
    element.temporaries = &inner;
    element.next_temporary = &next;
    const Code value = product(row ? left_ : right_, element, false);
    inner.push_back({Assign{fmt::format("{}[{}]", name, step), "=", value.text}});
    return {{Declare{"float", fmt::format("{}[{}]", name, count), {}, false, {}}},
            {unrolled(step, count, std::move(inner))}};
}

/// An element's sum with the language's conventions.
Body ContractionLowering::exact_sum() const {
    Body body;
    std::vector<LocalIndex> locals = line("i", rows_, true, body, true);
    const std::vector<LocalIndex> columns = line("j", columns_, false, body, true);
    locals.insert(locals.end(), columns.begin(), columns.end());
    ElementScope element = region_.element_at(locals);
    add_batch_and_folded(element);
    body.push_back({Declare{"float", "sum", "0.0f", false, {}}});
    Body step;
    int next = 0;
    element.temporaries = &step;
    element.next_temporary = &next;
    const Code left = product(left_, element, true);
    step.push_back({Declare{"float", "left", left.text, true, {}}});
    const Code right = product(right_, element, true);
    step.push_back({Declare{"float", "right", right.text, true, {}}});
    step.push_back({Assign{"sum", "=", "add(sum, multiply(left, right))"}});
    for (kernel::Statement& statement : region_.axis_loops(fold_.over, std::move(step)))
        body.push_back(std::move(statement));
    body.push_back({Call{"return sum"}});
    return body;
}

/// Scales, adds the seed and stores.
Body ContractionLowering::finish() const {
    Body inner;
    std::vector<LocalIndex> locals = line("i", rows_, true, inner, false);
    const std::vector<LocalIndex> columns = line("j", columns_, false, inner, false);
    locals.insert(locals.end(), columns.begin(), columns.end());
    ElementScope element = region_.element_at(locals);
    add_batch_and_folded(element);
    Code value;
    value.text = "acc[i][j]";
    double constant = factors_.constant;
    std::vector<Code> others;
    for (const Expression* factor : outside_) {
        Code code = as_sort(ExpressionPrinter(scope_).print(*factor, element), Sort::Real);
        if (code.constant && std::isfinite(*code.constant) && *code.constant != 0)
            constant *= *code.constant;
        else
            others.push_back(std::move(code));
    }
    if (constant != 1) {
        value.text = fmt::format("{} * {}", value.text, wrapped(real_constant(constant), 14));
        value.precedence = 13;
    }
    for (const Code& other : others) {
        value.text = fmt::format("multiply({}, {})", value.text, other.text);
        value.precedence = 16;
    }
    Body work;
    if (!fold_.seed.empty()) {
        int next = 0;
        element.temporaries = &work;
        element.next_temporary = &next;
        const Code seed =
            as_sort(ExpressionPrinter(scope_).print(fold_.seed.front(), element), Sort::Real);
        element.temporaries = nullptr;
        value.text = fmt::format("add({}, {})", seed.text, value.text);
        value.precedence = 16;
    }
    region_.store(work, compute_, 0, value, element);
    const std::string tests = region_.tests_of(locals);
    if (tests.empty())
        inner.insert(inner.end(), work.begin(), work.end());
    else
        inner.push_back({If{tests, std::move(work), {}}});
    return {{unrolled("i", arrangement_.rows,
                      {{unrolled("j", arrangement_.columns, std::move(inner))}})}};
}

kernel::Phase ContractionLowering::run() {
    scope_ = region_.scope_for(compute_);
    region_.define_target(compute_.targets.front());
    kernel::Phase phase;
    for (const auto& [array, tile] : scope_.tiles) phase.reads.push_back(tile.tile);
    arrangement_ = arrange(capacity(rows_), capacity(columns_), region_.program_.threads);
    row_passes_ = ceil_quotient(capacity(rows_), arrangement_.rows * arrangement_.threads_down);
    column_passes_ =
        ceil_quotient(capacity(columns_), arrangement_.columns * arrangement_.threads_across);

    const std::string across = std::to_string(arrangement_.threads_across);
    phase.body.push_back({Declare{"int", "row", "threadIdx.x / " + across, true, {}}});
    phase.body.push_back({Declare{"int", "column", "threadIdx.x % " + across, true, {}}});
    Body work;
    work.push_back({Declare{
        "float", fmt::format("acc[{}][{}]", arrangement_.rows, arrangement_.columns), "{}", false,
        fmt::format("{} x {} threads", arrangement_.threads_down, arrangement_.threads_across)}});
    Body step = operand("a", true);
    for (kernel::Statement& statement : operand("b", false)) step.push_back(std::move(statement));
    step.push_back({Call{"outer_product(acc, a, b)"}});
    for (kernel::Statement& statement : region_.axis_loops(fold_.over, std::move(step)))
        work.push_back(std::move(statement));
    work.push_back({kernel::Enclose{"replace_nan(acc, [&](int i, int j) {", exact_sum(), "});"}});
    for (kernel::Statement& statement : finish()) work.push_back(std::move(statement));

    const auto pass = [&](const char* name, std::int64_t passes, std::int64_t width) {
        if (passes == 1) return;
        For loop;
        loop.name = name;
        loop.end = std::to_string(passes * width);
        loop.step = std::to_string(width);
        loop.body = std::move(work);
        work = {{std::move(loop)}};
    };
    pass("column_pass", column_passes_, arrangement_.columns * arrangement_.threads_across);
    pass("row_pass", row_passes_, arrangement_.rows * arrangement_.threads_down);
    for (std::size_t i = batch_.size(); i-- > 0;) {
        const AxisRange& range = region_.ranges_.at(batch_[i]);
        if (range.capacity == 1 && range.exact()) continue;
        For loop;
        loop.name = region_.axis_names_[batch_[i].index()].local;
        loop.end = napkin::print(range.count);
        loop.body = std::move(work);
        work = {{std::move(loop)}};
    }
    for (kernel::Statement& statement : work) phase.body.push_back(std::move(statement));
    return phase;
}

std::optional<kernel::Phase> SimtLowering::lower_contraction(const Fold& fold,
                                                             const Compute& compute) {
    ContractionLowering lowering(*this, fold, compute);
    if (!lowering.recognise()) return std::nullopt;
    return lowering.run();
}

}  // namespace napkin::lowering
