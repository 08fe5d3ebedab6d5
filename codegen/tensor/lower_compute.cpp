// Maps and folds: loops over the elements that a thread holds.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor/statements.h"
#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Declare;
using kernel::For;
using tensor::Home;

std::string identity_of(MonoidId monoid) {
    if (monoid == kSum) return "0.0f";
    if (monoid == kProduct) return "1.0f";
    return monoid == kMax ? "minus_infinity()" : "infinity()";
}

/// The code that combines two values.
std::string combined(MonoidId monoid, const std::string& a, const Code& b, bool finite) {
    if (monoid == kMax) return fmt::format("fmaxf({}, {})", a, b.text);
    if (monoid == kMin) return fmt::format("fminf({}, {})", a, b.text);
    const bool sum = monoid == kSum;
    if (!finite) return fmt::format("{}({}, {})", sum ? "add" : "multiply", a, b.text);
    const int level = sum ? precedence::kSumLevel : precedence::kProduct;
    return fmt::format("{} {} {}", a, sum ? "+" : "*", wrapped(b, level + 1));
}

}  // namespace

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
    if (fold != nullptr) return lower_fold(compute, *fold, body);
    lower_map(compute, std::get<Map>(compute.statement.body).value, body);
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
        for (kernel::Statement& part : inside) body.push_back(std::move(part));
        body.push_back({Assign{place(target), "=", value.text}});
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
    for (const AxisId axis : fold.over)
        if (plan_.extents.contains(axis) && plan_.extents.at(axis) > 1) over = axis;
    ExpressionScope scope = scope_for(compute);
    scales_.erase(compute.statement.targets.front());
    const Domain outer{tile.home == Home::Row, std::nullopt};
    Body before;
    std::string result;
    Code total;
    total.finite = !plan_.infinite.contains(compute.statement.targets.front());
    if (!over) {
        total = print_hoisted(fold.values.front(), outer, scope, before, before);
    } else if (!axes_used(fold.values.front()).contains(*over)) {
        // The same at every index.
        total = print_hoisted(fold.values.front(), outer, scope, before, before);
        const std::string count = print_factor(ranges_.at(*over).count);
        if (fold.monoid == kSum) {
            total.text = fmt::format("{} * float({})", wrapped(total, precedence::kProduct), count);
            total.precedence = precedence::kProduct;
        } else if (fold.monoid == kProduct) {
            total.text = fmt::format("powf({}, float({}))", total.text, count);
            total.precedence = precedence::kPrimary;
        }
    } else {
        const tensor::Scaled scaled = tensor::Scaler(region_, scales_).split(fold.values.front());
        const bool take_out = scaled.factor != 1 && fold.monoid != kProduct;
        const tensor::Scales own = scales_;
        if (take_out) scales_.clear();
        const Domain domain{outer.row, over};
        Body inside;
        Code value = print_hoisted(take_out ? scaled.rest : fold.values.front(), domain, scope,
                                   before, inside);
        scales_ = own;
        const std::string test = test_in_chunk(*over);
        if (!test.empty()) {
            value.text = fmt::format("{} ? {} : {}", test, wrapped(value, precedence::kChoice + 1),
                                     identity_of(fold.monoid));
            value.precedence = precedence::kChoice;
        }
        before.push_back({Declare{"float", "acc", identity_of(fold.monoid), false, {}}});
        inside.push_back({Assign{"acc", "=", combined(fold.monoid, "acc", value, value.finite)}});
        for (kernel::Statement& part :
             column_loop(columns_of(*over).type, *over, std::move(inside)))
            before.push_back(std::move(part));
        const bool extreme = fold.monoid == kMax || fold.monoid == kMin;
        const std::string across =
            fold.monoid == kProduct
                ? "row_combine<Rows::lanes_per_row>(acc, [](float a, float b) { return a * b; })"
                : fmt::format("row_{}<Rows>(acc)",
                              extreme ? (fold.monoid == kMax ? "maximum" : "minimum") : "sum");
        before.push_back({Assign{"acc", "=", across}});
        total.text = "acc";
        total.precedence = precedence::kPrimary;
        if (take_out) {
            total.text = fmt::format("acc * {}", real_constant(scaled.factor).text);
            total.precedence = precedence::kProduct;
        }
    }
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
        for (kernel::Statement& part : before) body.push_back(std::move(part));
        body.push_back({Assign{place(target), "=", value.text}});
        return;
    }
    before.push_back({Assign{place(target) + "[i]", "=", value.text}});
    for (kernel::Statement& part : row_loop(std::move(before))) body.push_back(std::move(part));
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
        compute_matrix(std::get<Map>(compute.statement.body).value, compute, shared.name,
                       info.axes[tile.row_dimension], info.axes[tile.column_dimension], tile.type,
                       body);
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
        For inner;
        Body* inside = &loop.body;
        for (const AxisId over : fold->over) {
            if (!plan_.extents.contains(over) || plan_.extents.at(over) <= 1) continue;
            inner.name = axis_names_[over.index()].local;
            inner.end = print(ranges_.at(over).count);
            element.index[over] = ranges_.at(over).start + index_atom(inner.name);
            inside = &inner.body;
        }
        value = print_value(fold->values.front(), *inside);
        inside->push_back({Assign{"acc", "=", combined(fold->monoid, "acc", value, value.finite)}});
        if (inside == &inner.body) loop.body.push_back({std::move(inner)});
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
