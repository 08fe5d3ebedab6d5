// Maps and folds: loops over the elements that a thread holds.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor/fold_code.h"
#include "codegen/tensor/tensor_lowering.h"
#include "schedule/statements.h"

namespace napkin::lowering {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Declare;
using kernel::Enclose;
using kernel::For;
using tensor::Home;

Function function_of(MonoidId monoid) {
    if (monoid == kSum) return Function::Add;
    if (monoid == kProduct) return Function::Multiply;
    return monoid == kMax ? Function::Max : Function::Min;
}

/// The primitive that folds a value over threads.
std::string across(MonoidId monoid) {
    if (monoid == kSum) return "sum";
    if (monoid == kProduct) return "product";
    return monoid == kMax ? "maximum" : "minimum";
}

}  // namespace

std::string identity_of(MonoidId monoid) {
    if (monoid == kSum) return "0.0f";
    if (monoid == kProduct) return "1.0f";
    return monoid == kMax ? "minus_infinity()" : "infinity()";
}

std::string combined(MonoidId monoid, const std::string& a, const Code& b, bool finite) {
    if (monoid == kMax) return fmt::format("fmaxf({}, {})", a, b.text);
    if (monoid == kMin) return fmt::format("fminf({}, {})", a, b.text);
    const bool sum = monoid == kSum;
    if (!finite) return fmt::format("{}({}, {})", sum ? "add" : "multiply", a, b.text);
    const int level = sum ? precedence::kSumLevel : precedence::kProduct;
    return fmt::format("{} {} {}", a, sum ? "+" : "*", wrapped(b, level + 1));
}

void TensorLowering::lower_compute(const Compute& compute, Span span, Body& body) {
    temporaries_ = 0;
    for (const VariableId variable : compute.reads)
        if (const auto later = deferred_.find(variable);
            later != deferred_.end() && !declared_.contains(variable))
            lower_load(*loads_.at(variable), later->second, body);
    bool first = true;
    for (std::string& line : comments(text_of(compute.statement), span, compute.via)) {
        body.push_back({kernel::Comment{std::move(line), first}});
        first = false;
    }
    const Fold* fold = std::get_if<Fold>(&compute.statement.body);
    const auto product = plan_.products.find(&compute);
    if (product != plan_.products.end())
        return lower_product(compute, *fold, product->second, body);
    const tensor::Tile& tile = plan_.tiles.at(compute.targets.front());
    if (tile.home == Home::Shared || tile.home == Home::Matrix) return lower_shared(compute, body);
    for (const VariableId variable : compute.reads)
        if (const Home home = plan_.tiles.at(variable).home;
            home == Home::Matrix || home == Home::Shared) {
            wait_for_copies(body);
            break;
        }
    if (const std::optional<Expression> value = map_of(compute))
        lower_map(compute, *value, body);
    else if (const auto serial = plan_.serial.find(&compute); serial != plan_.serial.end())
        lower_serial(compute, *fold, serial->second, body);
    else
        lower_fold(compute, *fold, body);
}

/// What a computation without a fold gives every element. A fold over one index is none.
std::optional<Expression> TensorLowering::map_of(const Compute& compute) const {
    if (const Map* map = std::get_if<Map>(&compute.statement.body)) return map->value;
    const Fold& fold = std::get<Fold>(compute.statement.body);
    for (const AxisId axis : fold.over)
        if (plan_.extents.contains(axis) && plan_.extents.at(axis) > 1) return std::nullopt;
    if (fold.seed.empty()) return fold.values.front();
    return apply(function_of(fold.monoid), {fold.seed.front(), fold.values.front()});
}

void TensorLowering::lower_map(const Compute& compute, const Expression& value, Body& body) {
    const VariableId target = compute.targets.front();
    const tensor::Tile& tile = plan_.tiles.at(target);
    const Array& info = region_.arrays[region_.variables[target.index()].array.index()];
    ExpressionScope scope = scope_for(compute);
    Domain domain{tile.home != Home::Thread, std::nullopt};
    if (tile.home == Home::Fragment) domain.column = tile.column;

    // Constant factors wait until the value is used.
    Expression kept = value;
    scales_.erase(compute.statement.targets.front());
    if (tile.home == Home::Fragment && !info.rounds && info.role != ArrayRole::Output) {
        const tensor::Scaled scaled = tensor::Scaler(region_, scales_).split(value);
        const bool saved = region_.stored.contains(compute.statement.targets.front());
        if (scaled.factor != 1 && !saved) {
            kept = scaled.rest;
            // The factor of what is read is what was taken out.
            tensor::Scales own = scales_;
            scales_.clear();
            Body before;
            Body inside;
            const Code code = print_hoisted(kept, domain, scope, before, inside);
            scales_ = own;
            scales_[compute.statement.targets.front()] = scaled.factor;
            finish_map(compute, domain, code, std::move(before), std::move(inside), body);
            return;
        }
    }
    Body before;
    Body inside;
    const Code code = print_hoisted(kept, domain, scope, before, inside);
    finish_map(compute, domain, code, std::move(before), std::move(inside), body);
}

bool TensorLowering::rounded_when_saved(const Compute& compute) const {
    const ArrayId array = compute.statement.targets.front();
    const auto stored = region_.stored.find(array);
    if (stored == region_.stored.end() || stored->second != region_.arrays[array.index()].type)
        return false;
    bool read = false;
    tensor::for_statements(region_.body, [&](const TileStatement& statement, const Loop*) {
        if (const Compute* reader = std::get_if<Compute>(&statement.node))
            for (const VariableId variable : reader->reads)
                read = read || variable == compute.targets.front();
    });
    return !read;
}

void TensorLowering::finish_map(const Compute& compute, const Domain& domain, Code value,
                                Body before, Body inside, Body& body) {
    const VariableId target = compute.targets.front();
    const tensor::Tile& tile = plan_.tiles.at(target);
    const Array& info = region_.arrays[region_.variables[target.index()].array.index()];
    if (info.rounds && info.type != ElementType::F32 && !rounded_when_saved(compute))
        value = rounded(value, info.type);
    declare(target, body);
    if (tile.home == Home::Thread) {
        inside.push_back({Assign{place(target), "=", value.text}});
        if (inside.size() == 1)
            body.push_back(std::move(inside.front()));
        else
            body.push_back({Enclose{"{", std::move(inside), "}"}});
        return;
    }
    if (tile.home == Home::Row) {
        inside.push_back({Assign{place(target) + "[i]", "=", value.text}});
        for (kernel::Statement& part : row_loop(std::move(inside))) body.push_back(std::move(part));
        return;
    }
    // What a product multiplies must be 0 beyond the array.
    const bool operand =
        std::any_of(plan_.products.begin(), plan_.products.end(),
                    [&](const auto& entry) { return entry.second.left.direct == target; });
    const std::string test = test_in_chunk(*domain.column);
    if (operand && !test.empty())
        value.text = fmt::format("{} ? {} : 0.0f", test, wrapped(value, precedence::kChoice + 1));
    inside.push_back({Assign{place(target) + "(i, j)", "=", value.text}});
    for (kernel::Statement& part :
         column_loop(columns_of(*domain.column).type, *domain.column, std::move(inside)))
        before.push_back(std::move(part));
    for (kernel::Statement& part : row_loop(std::move(before))) body.push_back(std::move(part));
}

void TensorLowering::lower_fold(const Compute& compute, const Fold& fold, Body& body) {
    const VariableId target = compute.targets.front();
    const tensor::Tile& tile = plan_.tiles.at(target);
    const Array& info = region_.arrays[region_.variables[target.index()].array.index()];
    std::optional<AxisId> over;
    bool rows = false;
    for (const AxisId axis : fold.over) {
        if (!plan_.extents.contains(axis) || plan_.extents.at(axis) <= 1) continue;
        if (axis == plan_.row)
            rows = true;
        else
            over = axis;
    }
    ExpressionScope scope = scope_for(compute);
    scales_.erase(compute.statement.targets.front());
    const Domain outer{tile.home == Home::Row, std::nullopt};
    Body before;
    Code total = folded_elements(fold, over, rows, outer, scope, before);
    total.finite = !plan_.infinite.contains(compute.statement.targets.front());
    if (!fold.seed.empty()) {
        const Code seed = print_hoisted(fold.seed.front(), outer, scope, before, before);
        if (seed.precedence < precedence::kSumLevel)
            before.push_back({Declare{"float", "seed", seed.text, true, {}}});
        total.text =
            combined(fold.monoid, seed.precedence < precedence::kSumLevel ? "seed" : seed.text,
                     total, total.finite && seed.finite);
        total.precedence = precedence::kPrimary;
    }
    Code value = total;
    if (info.rounds && info.type != ElementType::F32 && !rounded_when_saved(compute))
        value = rounded(value, info.type);
    declare(target, body);
    if (tile.home == Home::Thread) {
        before.push_back({Assign{place(target), "=", value.text}});
        // What is not along the rows is the same in each of them.
        if (!rows) before.insert(before.begin(), {Declare{"int", "i", "0", true, {}}});
        body.push_back({Enclose{"{", std::move(before), "}"}});
        return;
    }
    before.push_back({Assign{place(target) + "[i]", "=", value.text}});
    for (kernel::Statement& part : row_loop(std::move(before))) body.push_back(std::move(part));
}

Code TensorLowering::folded_elements(const Fold& fold, std::optional<AxisId> over, bool rows,
                                     const Domain& outer, ExpressionScope& scope, Body& before) {
    const Expression& folded = fold.values.front();
    Code total;
    if (!rows && !axes_used(folded).contains(*over)) {
        // The same at every index.
        total = print_hoisted(folded, outer, scope, before, before);
        const std::string count = print_factor(ranges_.at(*over).count);
        if (fold.monoid == kSum) {
            total.text = fmt::format("{} * float({})", wrapped(total, precedence::kProduct), count);
            total.precedence = precedence::kProduct;
        } else if (fold.monoid == kProduct) {
            total.text = fmt::format("powf({}, float({}))", total.text, count);
            total.precedence = precedence::kPrimary;
        }
        return total;
    }
    const tensor::Scaled scaled = tensor::Scaler(region_, scales_).split(folded);
    const bool take_out = scaled.factor != 1 && fold.monoid != kProduct;
    const tensor::Scales own = scales_;
    if (take_out) scales_.clear();
    Body row;
    Body inside;
    Code value = print_hoisted(take_out ? scaled.rest : folded, {outer.row || rows, over}, scope,
                               row, inside);
    scales_ = own;
    std::string test = over ? test_in_chunk(*over) : rows ? row_leader() : "";
    if (rows && !row_test().empty())
        test = test.empty() ? row_test() : fmt::format("({}) && {}", test, row_test());
    if (!test.empty()) {
        constexpr std::size_t kLong = 50;
        if (value.precedence <= precedence::kChoice || test.size() + value.text.size() > kLong) {
            const std::string name = fmt::format("t{}", temporaries_++);
            inside.push_back({Declare{"float", name, value.text, true, {}}});
            value.text = name;
            value.precedence = precedence::kPrimary;
        }
        value.text = fmt::format("{} ? {} : {}", test, wrapped(value, precedence::kChoice + 1),
                                 identity_of(fold.monoid));
        value.precedence = precedence::kChoice;
    }
    inside.push_back({Assign{"acc", "=", combined(fold.monoid, "acc", value, value.finite)}});
    before.push_back({Declare{"float", "acc", identity_of(fold.monoid), false, {}}});
    Body* loop = rows ? &row : &before;
    if (!rows)
        for (kernel::Statement& part : row) before.insert(before.end() - 1, std::move(part));
    if (over) inside = column_loop(columns_of(*over).type, *over, std::move(inside));
    for (kernel::Statement& part : inside) loop->push_back(std::move(part));
    if (rows)
        for (kernel::Statement& part : row_loop(std::move(row))) before.push_back(std::move(part));
    if (rows) scope.named.clear();  // declared within the loop
    before.push_back(
        {Assign{"acc", "=",
                rows ? fmt::format("block_{}<kThreads>(acc, {})", across(fold.monoid), scratch_)
                     : folded_across(fold.monoid)}});
    total.text = "acc";
    if (take_out) {
        total.text = fmt::format("acc * {}", real_constant(scaled.factor).text);
        total.precedence = precedence::kProduct;
    }
    return total;
}

std::string TensorLowering::folded_across(MonoidId monoid) const {
    return plan_.lanes_per_row > 32
               ? fmt::format("block_{}<Rows::lanes_per_row>(acc, {})", across(monoid), scratch_)
               : fmt::format("row_{}<Rows>(acc)", across(monoid));
}

/// Vectors and matrices in shared memory are computed by all threads together, an element each.
void TensorLowering::lower_shared(const Compute& compute, Body& body) {
    const VariableId target = compute.targets.front();
    const tensor::Tile& tile = plan_.tiles.at(target);
    Shared& shared = shared_.at(target);
    const Array& info = region_.arrays[region_.variables[target.index()].array.index()];
    shared.axes = info.axes;
    shared.origin.clear();
    shared.count.clear();
    for (const AxisId axis : info.axes) {
        shared.origin.push_back(ranges_.at(axis).start);
        shared.count.push_back(ranges_.at(axis).count);
    }
    wait_for_copies(body);
    body.push_back({kernel::Barrier{}});
    if (tile.home == Home::Matrix) {
        Expression value = map_of(compute).value();
        if (info.rounds && info.type != ElementType::F32)
            value = {Convert{info.type, {std::move(value)}}, {}};
        compute_matrix(value, compute, shared.name, info.axes[tile.row_dimension],
                       info.axes[tile.column_dimension], tile.type, body);
        body.push_back({kernel::Barrier{}});
        return;
    }
    ExpressionScope scope = scope_for(compute);
    const AxisId axis = *tile.column;
    const AxisRange& range = ranges_.at(axis);
    For loop;
    loop.name = axis_names_[axis.index()].local;
    loop.begin = "threadIdx.x";
    loop.end = std::to_string(columns_of(axis).padded);
    loop.step = "kThreads";
    ElementScope element = element_of({false, axis});
    const tensor::Scaler scaler(region_, scales_);
    Code value;
    const auto print_value = [&](const Expression& expression, Body& inside) {
        ElementScope here = element;
        here.temporaries = &inside;
        here.next_temporary = &temporaries_;
        return as_sort(ExpressionPrinter(scope).print(scaler.expand(expression), here), Sort::Real);
    };
    if (const Fold* fold = std::get_if<Fold>(&compute.statement.body)) {
        loop.body.push_back({Declare{"float", "acc", identity_of(fold->monoid), false, {}}});
        std::vector<AxisId> along;
        for (const AxisId over : fold->over) {
            if (!plan_.extents.contains(over) || plan_.extents.at(over) <= 1) continue;
            along.push_back(over);
            element.index[over] = ranges_.at(over).start + local_index(over);
        }
        looped_ = std::set<AxisId>(along.begin(), along.end());
        Body inside;
        value = print_value(fold->values.front(), inside);
        looped_.clear();
        inside.push_back({Assign{"acc", "=", combined(fold->monoid, "acc", value, value.finite)}});
        for (kernel::Statement& part : loops_along(along, std::move(inside)))
            loop.body.push_back(std::move(part));
        value.text = "acc";
        value.precedence = precedence::kPrimary;
        if (!fold->seed.empty()) {
            const Code seed = print_value(fold->seed.front(), loop.body);
            value.text = combined(fold->monoid, wrapped(seed, precedence::kSumLevel), value,
                                  value.finite && seed.finite);
        }
    } else {
        value = print_value(std::get<Map>(compute.statement.body).value, loop.body);
    }
    if (info.rounds && info.type != ElementType::F32 && !rounded_when_saved(compute))
        value = rounded(value, info.type);
    if (!range.count.is_constant(columns_of(axis).padded))
        value.text = fmt::format("{} < {} ? {} : 0.0f", loop.name, print(range.count),
                                 wrapped(value, precedence::kChoice + 1));
    loop.body.push_back({Assign{fmt::format("{}[{}]", shared.name, loop.name), "=", value.text}});
    body.push_back({std::move(loop)});
    body.push_back({kernel::Barrier{}});
}

}  // namespace napkin::lowering
