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

#include "codegen/simt/region_lowering.h"

namespace napkin::simt {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Call;
using kernel::Declare;
using kernel::For;
using kernel::If;

/// A product's factors; a constant one apart.
struct Factors {
    double constant = 1;
    std::vector<const Expression*> list;
};

void collect_factors(const Expression& expression, Factors& factors) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call != nullptr && call->function == Function::Multiply) {
        collect_factors(call->arguments[0], factors);
        collect_factors(call->arguments[1], factors);
        return;
    }
    if (call != nullptr && call->function == Function::Negate) {
        factors.constant = -factors.constant;
        collect_factors(call->arguments[0], factors);
        return;
    }
    factors.list.push_back(&expression);
}

bool within(const std::set<AxisId>& part, const std::set<AxisId>& whole) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

/// How the threads of a block share a result of rows x columns.
struct Arrangement {
    std::int64_t threads_across = 1;
    std::int64_t threads_down = 1;
    std::int64_t rows = 1;     ///< of a thread's micro-tile
    std::int64_t columns = 1;  ///< of a thread's micro-tile
};

std::int64_t ceil_quotient(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// The arrangement with the least estimated time: multiply-adds issue four times as fast as loads.
Arrangement arrange(std::int64_t rows, std::int64_t columns, std::int64_t threads) {
    constexpr std::int64_t kMostRows = 8;
    constexpr std::int64_t kMostColumns = 8;
    Arrangement best;
    double least = 0;
    for (std::int64_t across = 1; across <= threads; across *= 2) {
        const std::int64_t down = threads / across;
        Arrangement tried{across, down, std::min(kMostRows, ceil_quotient(rows, down)),
                          std::min(kMostColumns, ceil_quotient(columns, across))};
        const double passes = static_cast<double>(ceil_quotient(rows, tried.rows * down) *
                                                  ceil_quotient(columns, tried.columns * across));
        const auto r = static_cast<double>(tried.rows);
        const auto c = static_cast<double>(tried.columns);
        // Fewer than a warp across reads more rows at once; 16 is a good width.
        const double shape = std::abs(std::log2(static_cast<double>(across)) - 4) * 0.01;
        const double time = passes * (r * c / 4 + r + c) * (1 + shape);
        if (least == 0 || time < least) {
            least = time;
            best = tried;
        }
    }
    return best;
}

}  // namespace

class ContractionLowering {
public:
    ContractionLowering(RegionLowering& region, const Fold& fold, const Compute& compute)
        : region_(region), fold_(fold), compute_(compute) {}

    /// Whether the fold is a contraction; splits its axes and factors.
    bool recognise();
    [[nodiscard]] kernel::Phase run();

private:
    [[nodiscard]] std::int64_t capacity(const std::vector<AxisId>& axes) const {
        return region_.elements_of(axes);
    }
    [[nodiscard]] std::vector<LocalIndex> line(const std::string& flat,
                                               const std::vector<AxisId>& axes, bool row,
                                               Body& body, bool clamp) const;
    [[nodiscard]] std::string flat_index(bool row, const std::string& step) const;
    [[nodiscard]] Code product(const std::vector<const Expression*>& factors,
                               const ElementScope& element, bool exact) const;
    [[nodiscard]] Body folded_loops(Body inner) const;
    void add_batch_and_folded(ElementScope& element) const;
    [[nodiscard]] Body operand(const char* name, bool row) const;
    [[nodiscard]] Body finish() const;
    [[nodiscard]] Body exact_sum() const;
    [[nodiscard]] For unrolled(const char* name, std::int64_t end, Body body) const;
    [[nodiscard]] static ElementScope merged(const ElementScope& a, const ElementScope& b) {
        ElementScope both = a;
        both.index.insert(b.index.begin(), b.index.end());
        return both;
    }

    RegionLowering& region_;
    const Fold& fold_;
    const Compute& compute_;
    ExpressionScope scope_;
    Factors factors_;
    std::vector<const Expression*> left_, right_, outside_;
    std::vector<AxisId> rows_, columns_, batch_;
    Arrangement arrangement_;
    std::int64_t row_passes_ = 1;
    std::int64_t column_passes_ = 1;
};

bool ContractionLowering::recognise() {
    if (fold_.monoid != kSum || fold_.every_prefix || fold_.values.size() != 1) return false;
    const ArrayId target = compute_.statement.targets.front();
    if (!is_floating(region_.region_.arrays[target.index()].type)) return false;
    collect_factors(fold_.values.front(), factors_);
    const std::vector<AxisId> axes = region_.target_axes(compute_);
    const std::set<AxisId> wanted(axes.begin(), axes.end());
    const std::set<AxisId> folded(fold_.over.begin(), fold_.over.end());

    // Factors of the folded axes, with the result's axes that each uses. Axes of which there is
    // only one index do not matter.
    std::vector<std::pair<const Expression*, std::set<AxisId>>> inside;
    for (const Expression* factor : factors_.list) {
        bool uses_folded = false;
        std::set<AxisId> uses;
        for (const AxisId axis : axes_used(*factor)) {
            if (folded.contains(axis)) uses_folded = true;
            if (wanted.contains(axis) && region_.ranges_.at(axis).capacity > 1) uses.insert(axis);
        }
        if (uses_folded)
            inside.emplace_back(factor, std::move(uses));
        else
            outside_.push_back(factor);
    }
    if (inside.size() < 2) return false;
    const auto widest =
        std::max_element(inside.begin(), inside.end(), [&](const auto& a, const auto& b) {
            return capacity({a.second.begin(), a.second.end()}) <
                   capacity({b.second.begin(), b.second.end()});
        });
    const std::set<AxisId> first = widest->second;
    std::set<AxisId> second;
    for (const auto& [factor, uses] : inside)
        if (!within(uses, first) &&
            capacity({uses.begin(), uses.end()}) >= capacity({second.begin(), second.end()}))
            second = uses;
    if (second.empty()) return false;
    for (const auto& [factor, uses] : inside) {
        if (within(uses, first))
            left_.push_back(factor);
        else if (within(uses, second))
            right_.push_back(factor);
        else
            return false;
    }
    // Both have the batch; what only one has are its rows or columns. The columns get the axis that
    // varies fastest in the result.
    std::vector<AxisId> only_first;
    std::vector<AxisId> only_second;
    for (const AxisId axis : axes) {
        if (region_.ranges_.at(axis).capacity == 1) {
            batch_.push_back(axis);
        } else if (first.contains(axis) == second.contains(axis)) {
            (first.contains(axis) ? batch_ : only_first).push_back(axis);
        } else {
            (first.contains(axis) ? only_first : only_second).push_back(axis);
        }
    }
    if (only_first.empty() || only_second.empty()) return false;
    rows_ = only_first;
    columns_ = only_second;
    if (std::find(only_first.begin(), only_first.end(), axes.back()) != only_first.end()) {
        std::swap(rows_, columns_);
        std::swap(left_, right_);
    }
    return true;
}

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
        locals.push_back({axis, index_atom(name), test});
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
        element.index[axis] =
            single ? range.start
                   : range.start + index_atom(region_.axis_names_[axis.index()].local);
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

Body ContractionLowering::folded_loops(Body inner) const {
    for (std::size_t i = fold_.over.size(); i-- > 0;) {
        const AxisRange& range = region_.ranges_.at(fold_.over[i]);
        if (range.capacity == 1 && range.exact()) continue;
        For loop;
        loop.name = region_.axis_names_[fold_.over[i].index()].local;
        loop.end = napkin::print(range.count);
        loop.body = std::move(inner);
        inner = {{std::move(loop)}};
    }
    return inner;
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
    for (kernel::Statement& statement : folded_loops(std::move(step)))
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
    for (kernel::Statement& statement : folded_loops(std::move(step)))
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

std::optional<kernel::Phase> RegionLowering::lower_contraction(const Fold& fold,
                                                               const Compute& compute) {
    ContractionLowering lowering(*this, fold, compute);
    if (!lowering.recognise()) return std::nullopt;
    return lowering.run();
}

}  // namespace napkin::simt
