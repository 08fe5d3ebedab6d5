// Selections along the streamed axis: the best element of the chunk against the best so far. Ties
// go to the lowest index, so only a strictly larger element replaces.
#include <limits>

#include "derive/separation/build.h"
#include "derive/separation/formula_text.h"

namespace napkin::separation {

void Builder::build_pick(std::uint32_t first) {
    const StateVariable variable = plan_.states()[first];
    serving_ = variable.serves;
    const Statement& source = diagram_[*plan_.folds()[variable.serves].statement];
    const Select& own = std::get<Select>(source.body);
    const ArrayId best = state_array(first);
    const ArrayId at = state_array(first + 1);
    initialise(best, number(-std::numeric_limits<double>::infinity()));
    initialise(at, integer(0));
    const std::string base = base_name(serving_);
    const ArrayId chunk_best = make_array(base + "_chunk_best", variable.axes, ElementType::F32);
    const ArrayId chunk_at = make_array(base + "_chunk_at", variable.axes, array(at).type);
    Select select = own;
    select.value = own_expression(variable.serves);
    Statement picked{.targets = {chunk_best, chunk_at},
                     .body = std::move(select),
                     .box = source.box,
                     .span = source.span};
    body_.push_back(std::move(picked));
    const Expression larger = apply(Function::Greater, {read_array(chunk_best), read_array(best)});
    const Statement index =
        statement(at, apply(Function::Select, {larger, read_array(chunk_at), read_array(at)}));
    const Statement value =
        statement(best, apply(Function::Max, {read_array(best), read_array(chunk_best)}));
    body_.push_back(index);  // before the value, which it is compared with
    body_.push_back(value);
    describe(first, value);
    describe(first + 1, index);
}

}  // namespace napkin::separation
