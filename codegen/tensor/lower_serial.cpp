// Folds along axes that no tile in registers runs along: loops in every thread.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/tensor/fold_code.h"
#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Assign;
using kernel::Body;
using kernel::Declare;
using kernel::For;
using tensor::Home;

}  // namespace

Body TensorLowering::loops_along(const std::vector<AxisId>& axes, Body inner) const {
    for (std::size_t i = axes.size(); i-- > 0;) {
        For loop;
        loop.name = axis_names_[axes[i].index()].local;
        loop.end = print(ranges_.at(axes[i]).count);
        loop.body = std::move(inner);
        inner = {{std::move(loop)}};
    }
    return inner;
}

void TensorLowering::lower_serial(const Compute& compute, const Fold& fold,
                                  const tensor::Serial& serial, Body& body) {
    const tensor::Tile& tile = plan_.tiles.at(compute.targets.front());
    const bool fragment = tile.home == Home::Fragment;
    Domain domain{tile.home != Home::Thread, std::nullopt};
    if (fragment) domain.column = tile.column;
    scales_.erase(compute.statement.targets.front());
    ExpressionScope scope = scope_for(compute);
    for (const VariableId variable : serial.reads) add_element(scope, variable);
    note_parameters(serial.value, scope);

    // What every index of the axes adds.
    looped_ = std::set<AxisId>(serial.axes.begin(), serial.axes.end());
    const std::optional<AxisId> column = fragment ? tile.column : serial.over;
    Body step;
    Body inside;
    Code value = print_hoisted(serial.value, {domain.row, column}, scope, step, inside);
    const std::string test = serial.over ? test_in_chunk(*serial.over) : std::string();
    if (!test.empty()) {
        value.text = fmt::format("{} ? {} : {}", test, wrapped(value, precedence::kChoice + 1),
                                 identity_of(fold.monoid));
        value.precedence = precedence::kChoice;
    }
    const std::string acc = fragment ? "acc[j]" : "acc";
    inside.push_back({Assign{acc, "=", combined(fold.monoid, acc, value, value.finite)}});
    if (column) inside = column_loop(columns_of(*column).type, *column, std::move(inside));
    for (kernel::Statement& part : inside) step.push_back(std::move(part));
    looped_.clear();
    scope.named.clear();  // declared within the loops

    Body before;
    if (fragment) {
        const Columns columns = columns_of(*column);
        before.push_back({Declare{"float", fmt::format("acc[{}]", columns.count), "", false, {}}});
        For start;
        start.name = "j";
        start.end = std::to_string(columns.count);
        start.unroll = true;
        start.body.push_back({Assign{acc, "=", identity_of(fold.monoid)}});
        before.push_back({std::move(start)});
    } else {
        before.push_back({Declare{"float", acc, identity_of(fold.monoid), false, {}}});
    }
    for (kernel::Statement& part : loops_along(serial.axes, std::move(step)))
        before.push_back(std::move(part));
    if (serial.over) before.push_back({Assign{acc, "=", folded_across(fold.monoid)}});

    // What is added to it.
    Body last;
    Code total;
    total.text = acc;
    total.finite = !plan_.infinite.contains(compute.statement.targets.front());
    if (!fold.seed.empty()) {
        const Code seed =
            print_hoisted(fold.seed.front(), domain, scope, before, fragment ? last : before);
        total.text = combined(fold.monoid, wrapped(seed, precedence::kSumLevel + 1), total,
                              total.finite && seed.finite);
        total.precedence = fold.monoid == kSum ? precedence::kSumLevel : precedence::kProduct;
    }
    if (fragment) return finish_map(compute, domain, total, std::move(before), last, body);
    // What is not along the rows is the same in each of them.
    if (!domain.row) before.insert(before.begin(), {Declare{"int", "i", "0", true, {}}});
    finish_map(compute, domain, total, {}, std::move(before), body);
}

}  // namespace napkin::lowering
