// Results that a block of several tiles saves while it computes the next one.
#include <fmt/format.h>

#include "codegen/tensor/tensor_lowering.h"

namespace napkin::lowering {
namespace {

using kernel::Body;
using kernel::call;
using kernel::only_if;
using kernel::Run;
using kernel::variable;
using schedule::Op;

}  // namespace

void TensorLowering::declare_held(Body& body) {
    for (const Op& op : schedule_.ops) {
        if (op.kind != Op::Kind::Hold) continue;
        const Save& save = std::get<Save>(leaves_[op.leaf.index()]->node);
        const std::string& name = region_.arrays[save.array.index()].name;
        held_results_[op.writes.front()] = names_.fresh(Names::identifier(name) + "_held");
        kernel::Type type = columns_of(*plan_.tiles.at(save.source).column).type;
        type.name = "Held";
        type.arguments.insert(type.arguments.begin(),
                              kernel::Type(kernel::element_name(device_type(save.array))));
        body.push_back(kernel::declare(type, held_results_.at(op.writes.front()), std::nullopt,
                                       "the results of the tile before"));
    }
}

void TensorLowering::hold(const Op& op, const Save& save, Span span, Body& body) {
    add_comments(fmt::format("hold {}, to save it beside the next tile",
                             region_.arrays[save.array.index()].name),
                 span, "", body);
    Body held;
    Destination to = destination_of_warp(save, held);
    held.push_back({Run{
        call("hold", {variable(held_results_.at(op.writes.front())), place(save.source),
                      std::move(to.first), expression_of(to.rows), expression_of(to.columns)})}});
    append(body, only_if(has_columns(*plan_.tiles.at(save.source).column), std::move(held)));
}

/// Behind the last tile.
void TensorLowering::save_last_held(Body& body) {
    for (const Op& op : schedule_.ops)
        if (schedule::is_deferred(schedule_, op) && op.portion == Op::Portion::Tail)
            body.push_back(saved_held(op, std::get<Save>(leaves_[op.leaf.index()]->node)));
}

kernel::Statement TensorLowering::saved_held(const Op& op, const Save& save) {
    Body known;  // when it was held
    const Destination to = destination_of_warp(save, known);
    const char* how = op.portion == Op::Portion::Tail ? "save_all_held" : "save_held";
    return {Run{call(
        {how, {to.width}},
        {variable(held_results_.at(op.reads.front())), slices_of_warp(op.writes.front()),
         variable(buffer_name(save.array, true)), device_stride(save.array, to.row_dimension)})}};
}

}  // namespace napkin::lowering
