// Maps and folds: loops over the elements that a thread holds.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor/statements.h"
#include "codegen/tensor/tensor_lowering.h"
#include "diagrams/overloaded.h"

namespace napkin::lowering {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Declare;
using kernel::For;
using kernel::If;
using tensor::Home;

constexpr std::int64_t kTile = 16;

std::int64_t padded(std::int64_t extent, std::int64_t unit) {
    return (extent + unit - 1) / unit * unit;
}

bool is_trivial(const Expression& expression) {
    return std::holds_alternative<Number>(expression.node) ||
           std::holds_alternative<SizeOf>(expression.node) ||
           std::holds_alternative<AxisIndex>(expression.node);
}

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

TensorLowering::Columns TensorLowering::columns_of(AxisId axis) const {
    const std::int64_t extent = plan_.extents.at(axis);
    Columns columns;
    if (plan_.has_products()) {
        constexpr std::int64_t kColumnsOfTile = 8;
        columns.padded = padded(extent, kTile);
        columns.split = plan_.split == axis;
        const std::int64_t across =
            columns.padded / (columns.split ? plan_.warps_across : 1) / kColumnsOfTile;
        columns.type = fmt::format("Fragment<{}, {}>", plan_.rows_of_warp / kTile, across);
        columns.count = across * 2;
        return columns;
    }
    const std::int64_t unit = plan_.lanes_per_row * plan_.vector;
    columns.padded = padded(extent, unit);
    columns.count = columns.padded / plan_.lanes_per_row;
    columns.type =
        fmt::format("RowFragment<{}, {}, {}, {}>", plan_.rows_of_warp * plan_.lanes_per_row / 32,
                    columns.padded / unit, plan_.vector, plan_.lanes_per_row);
    return columns;
}

std::string TensorLowering::rows_type() const {
    if (plan_.has_products()) return fmt::format("Fragment<{}, 1>", plan_.rows_of_warp / kTile);
    return fmt::format("RowFragment<{}, 1, {}, {}>", plan_.rows_of_warp * plan_.lanes_per_row / 32,
                       plan_.vector, plan_.lanes_per_row);
}

std::string TensorLowering::place(VariableId variable) const {
    return names_of_.at(variable);
}

void TensorLowering::declare(VariableId variable, Body& body) {
    if (!declared_.insert(variable).second) return;
    const tensor::Tile& tile = plan_.tiles.at(variable);
    switch (tile.home) {
    case Home::Thread: body.push_back({Declare{"float", place(variable), "", false, {}}}); break;
    case Home::Row:
        body.push_back(
            {Declare{"float", fmt::format("{}[Rows::rows]", place(variable)), "", false, {}}});
        break;
    case Home::Fragment:
        body.push_back(
            {Declare{columns_of(*tile.column).type, place(variable), "", false,
                     fmt::format("{} of this warp", region_.axes[tile.column->index()].name)}});
        break;
    default: break;
    }
}

/// `for i` over the rows of a thread, with the row's index declared.
Body TensorLowering::row_loop(Body inner) const {
    For loop;
    loop.name = "i";
    loop.end = "Rows::rows";
    loop.unroll = true;
    if (plan_.row) {
        const std::string axis = Names::identifier(region_.axes[plan_.row->index()].name);
        loop.body.push_back({Declare{"int",
                                     axis_names_[plan_.row->index()].local,
                                     fmt::format("warp_{} + Rows::row(i)", axis),
                                     true,
                                     {}}});
    }
    for (kernel::Statement& statement : inner) loop.body.push_back(std::move(statement));
    return {{std::move(loop)}};
}

Body TensorLowering::column_loop(const std::string& fragment_type, AxisId axis, Body inner) const {
    const Columns columns = columns_of(axis);
    const std::string name = Names::identifier(region_.axes[axis.index()].name);
    For loop;
    loop.name = "j";
    loop.end = std::to_string(columns.count);
    loop.unroll = true;
    loop.body.push_back({Declare{
        "int",
        axis_names_[axis.index()].local,
        fmt::format("{}{}::column(j)", columns.split ? "warp_" + name + " + " : "", fragment_type),
        true,
        {}}});
    for (kernel::Statement& statement : inner) loop.body.push_back(std::move(statement));
    return {{std::move(loop)}};
}

ElementScope TensorLowering::element_of(const Domain& domain) const {
    ElementScope element;
    for (const auto& [axis, range] : ranges_) {
        const bool inside = (domain.row && axis == plan_.row) || axis == domain.column;
        if (inside)
            element.index[axis] = range.start + index_atom(axis_names_[axis.index()].local);
        else if (range.capacity == 1)
            element.index[axis] = range.start;
    }
    return element;
}

std::string TensorLowering::row_test() const {
    if (!plan_.row) return {};
    const AxisRange& range = ranges_.at(*plan_.row);
    if (range.count.is_constant(plan_.rows_of_warp * plan_.warps_down)) return {};
    return fmt::format("{} < {}", axis_names_[plan_.row->index()].local, print(range.count));
}

std::string TensorLowering::column_test(AxisId axis) const {
    const AxisRange& range = ranges_.at(axis);
    if (range.count.is_constant(columns_of(axis).padded)) return {};
    return fmt::format("{} < {}", axis_names_[axis.index()].local, print(range.count));
}

std::string TensorLowering::test_in_chunk(AxisId axis) const {
    const std::string test = column_test(axis);
    if (test.empty() || axis != chunked_ || tested_.empty()) return test;
    return tested_ == "false" ? "" : fmt::format("!{} || {}", tested_, test);
}

std::string TensorLowering::lane_leader() const {
    return plan_.lanes_per_row == 1 ? std::string()
                                    : fmt::format("lane_index() % {} == 0", plan_.lanes_per_row);
}

void TensorLowering::add_element(ExpressionScope& scope, VariableId variable) {
    const ArrayId array = region_.variables[variable.index()].array;
    const tensor::Tile tile = plan_.tiles.at(variable);
    const bool finite = !plan_.infinite.contains(array);
    const auto real = [finite](std::string text) {
        Code code;
        code.text = std::move(text);
        code.finite = finite;
        return code;
    };
    switch (tile.home) {
    case Home::Thread:
        scope.elements[array] = [=, this](const auto&) { return real(place(variable)); };
        return;
    case Home::Row:
        scope.elements[array] = [=, this](const auto&) { return real(place(variable) + "[i]"); };
        return;
    case Home::Fragment:
        scope.elements[array] = [=, this](const auto&) { return real(place(variable) + "(i, j)"); };
        return;
    case Home::Shared:
        scope.elements[array] = [=, this](const std::vector<IndexForm>& at) {
            const Array& info = region_.arrays[array.index()];
            IndexForm local;
            for (std::size_t d = 0; d < info.axes.size(); ++d)
                if (info.axes[d] == *tile.column) local = at[d] - ranges_.at(*tile.column).start;
            return real(fmt::format("{}[{}]", shared_.at(variable).name, napkin::print(local)));
        };
        return;
    case Home::Matrix:
        scope.elements[array] = [=, this](const std::vector<IndexForm>& at) {
            const Shared& shared = shared_.at(variable);
            const auto local = [&](std::size_t d) {
                return napkin::print(at[d] - shared.origin[d]);
            };
            Code code = loaded(
                fmt::format("{}{}({}, {})", shared.name, tile.streamed ? stage_ : std::string(),
                            local(tile.row_dimension), local(tile.column_dimension)),
                tile.type);
            code.finite = finite;
            return code;
        };
        return;
    case Home::Device: break;
    }
    const Load* load = loads_.at(variable);
    scope.elements[array] = [=, this](std::vector<IndexForm> at) {
        const ArrayId source = load->array;
        if (!load->gather.empty()) at = gathered(*load, array, at);
        const std::vector<AxisId>& axes = region_.arrays[source.index()].axes;
        for (std::size_t d = 0; d < at.size(); ++d) {
            // What stands past an edge is never used, but must not be read.
            const IndexForm& size = sizes_[axes[d].index()];
            const bool local =
                std::any_of(at[d].terms.begin(), at[d].terms.end(), [&](const auto& t) {
                    return std::any_of(axis_names_.begin(), axis_names_.end(),
                                       [&](const AxisNames& n) { return n.local == t.first; });
                });
            bool inside = !local || !load->gather.empty();
            for (std::size_t a = 0; a < axis_names_.size() && local; ++a) {
                const AxisId axis{static_cast<std::uint32_t>(a)};
                if (at[d] != ranges_.at(axis).start + index_atom(axis_names_[a].local)) continue;
                inside = axis == plan_.row ? row_test().empty() : column_test(axis).empty();
            }
            if (!inside) at[d] = minimum(at[d], size - 1);
        }
        const DeviceOffset offset = device_offset(source, at);
        Code code =
            loaded(fmt::format("{}[{}]", buffer_name(source, false), napkin::print(offset.offset)),
                   device_type(source));
        code.finite = true;
        return code;
    };
}

/// Where a gathered element stands in its array.
std::vector<IndexForm> TensorLowering::gathered(const Load& load, ArrayId target,
                                                const std::vector<IndexForm>& at) {
    ExpressionScope scope;
    scope.sizes = &sizes_;
    scope.arrays = &region_.arrays;
    for (const Expression& index : load.gather) {
        note_parameters(index, scope);
        for (const ArrayId array : arrays_read(index))
            for (const auto& [variable, other] : loads_)
                if (region_.variables[variable.index()].array == array)
                    add_element(scope, variable);
    }
    ElementScope element;
    const std::vector<AxisId>& axes = region_.arrays[target.index()].axes;
    for (std::size_t d = 0; d < axes.size(); ++d) {
        const bool last = axes[d] == plan_.row
                              ? !row_test().empty()
                              : plan_.extents.at(axes[d]) > 1 && !column_test(axes[d]).empty();
        element.index[axes[d]] = last ? minimum(at[d], sizes_[axes[d].index()] - 1) : at[d];
    }
    std::vector<IndexForm> places;
    for (const Expression& index : load.gather)
        places.push_back(ExpressionPrinter(scope).index(index, element));
    return places;
}

ExpressionScope TensorLowering::scope_for(const Compute& compute) {
    ExpressionScope scope;
    scope.sizes = &sizes_;
    scope.arrays = &region_.arrays;
    scope.fast = true;
    scope.known = known_;
    for (const VariableId variable : compute.reads) add_element(scope, variable);
    for (const Expression* expression : expressions_of(compute.statement))
        note_parameters(*expression, scope);
    return scope;
}

/// The expression as it is printed: divisors that are the same along a row become factors.
Expression TensorLowering::prepared(const Expression& value, const Domain& domain) const {
    const tensor::Scaler scaler(region_, scales_);
    Expression expanded = scaler.expand(value);
    if (!domain.column) return expanded;
    const auto along = [&](const Expression& e) { return axes_used(e).contains(*domain.column); };
    return rewrite(expanded, [&](const Expression& node) -> Expression {
        const Apply* call = std::get_if<Apply>(&node.node);
        if (call == nullptr || call->function != Function::Divide) return node;
        const Expression& divisor = call->arguments[1];
        if (tensor::constant_value(region_, divisor) || along(divisor) ||
            !along(call->arguments[0]))
            return node;
        return apply(Function::Multiply,
                     {call->arguments[0], apply(Function::Divide, {number(1), divisor})});
    });
}

Code TensorLowering::print_hoisted(const Expression& value, const Domain& domain,
                                   ExpressionScope& scope, Body& before, Body& inside) {
    const Expression whole = prepared(value, domain);
    ElementScope element = element_of(domain);
    if (domain.column) {
        element.temporaries = &before;
        element.next_temporary = &temporaries_;
        const auto fixed = [&](const Expression& e) {
            if (axes_used(e).contains(*domain.column) || is_trivial(e)) return false;
            if (tensor::constant_value(region_, e)) return false;
            if (const Read* read = std::get_if<Read>(&e.node)) {
                // Registers need no second name.
                const auto variable =
                    std::find_if(loads_.begin(), loads_.end(), [&](const auto& entry) {
                        return region_.variables[entry.first.index()].array == read->array;
                    });
                return variable != loads_.end();
            }
            return !arrays_read(e).empty();
        };
        const auto hoist = [&](const auto& self, const Expression& e) -> void {
            if (std::holds_alternative<Operand>(e.node)) return;
            if (fixed(e)) {
                for (const auto& [known, name] : scope.named)
                    if (known == e) return;
                Code code = ExpressionPrinter(scope).print(e, element);
                Code name = code;
                name.text = fmt::format("r{}", scope.named.size());
                name.precedence = precedence::kPrimary;
                name.index.reset();
                const char* type =
                    code.sort == Sort::Integer && !code.wide ? "int" : type_of(code.sort);
                before.push_back({Declare{type, name.text, code.text, true, {}}});
                scope.named.emplace_back(e, name);
                return;
            }
            if (const Apply* call = std::get_if<Apply>(&e.node))
                for (const Expression& argument : call->arguments) self(self, argument);
            if (const Convert* convert = std::get_if<Convert>(&e.node))
                self(self, convert->argument.front());
        };
        hoist(hoist, whole);
    }
    element.temporaries = &inside;
    element.next_temporary = &temporaries_;
    return as_sort(ExpressionPrinter(scope).print(whole, element), Sort::Real);
}

void TensorLowering::lower_compute(const Compute& compute, Span span, Body& body) {
    temporaries_ = 0;
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

/// Element by element: for what no copy in vectors serves.
Body TensorLowering::direct_save(const Save& save) {
    const tensor::Tile& tile = plan_.tiles.at(save.source);
    const Array& array = region_.arrays[save.array.index()];
    const ElementType type = device_type(save.array);
    Domain domain{tile.home == Home::Row || tile.home == Home::Fragment, std::nullopt};
    if (tile.home == Home::Fragment || tile.home == Home::Shared) domain.column = tile.column;
    const ElementScope element = element_of(domain);
    std::vector<IndexForm> at;
    for (const AxisId axis : array.axes) at.push_back(element.index.at(axis));
    const auto store = [&](const std::string& value, const std::string& tests) {
        Body copy;
        Code real;
        real.text = value;
        const std::string to = device_place(save.array, at, copy);
        copy.push_back({Assign{fmt::format("{}[{}]", buffer_name(save.array, true), to), "=",
                               stored(real, type)}});
        if (tests.empty()) return copy;
        return Body{{If{tests, std::move(copy), {}}}};
    };
    const auto both = [](const std::string& a, const std::string& b) {
        return a.empty() ? b : b.empty() ? a : a + " && " + b;
    };
    switch (tile.home) {
    case Home::Thread: return store(place(save.source), "threadIdx.x == 0");
    case Home::Shared: {
        For loop;
        loop.name = axis_names_[tile.column->index()].local;
        loop.begin = "threadIdx.x";
        loop.end = print(ranges_.at(*tile.column).count);
        loop.step = "kThreads";
        loop.body = store(fmt::format("{}[{}]", shared_.at(save.source).name, loop.name), "");
        return {{std::move(loop)}};
    }
    case Home::Row: {
        std::string tests = both(lane_leader(), row_test());
        if (plan_.warps_across > 1)
            tests = both(tests, fmt::format("warp_index() % {} == 0", plan_.warps_across));
        return row_loop(store(place(save.source) + "[i]", tests));
    }
    case Home::Fragment: {
        const Columns columns = columns_of(*tile.column);
        const std::string tests = both(row_test(), column_test(*tile.column));
        return row_loop(
            column_loop(columns.type, *tile.column, store(place(save.source) + "(i, j)", tests)));
    }
    default: throw InternalError("what is saved was computed");
    }
}

}  // namespace napkin::lowering
