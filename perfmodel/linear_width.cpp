#include "perfmodel/linear_width.h"

#include <algorithm>
#include <utility>

#include "diagrams/index/interval.h"

namespace napkin {
namespace {

bool same_factors(const Affine& a, const Affine& b) {
    return std::equal(a.factors.begin(), a.factors.end(), b.factors.begin(), b.factors.end(),
                      [](const auto& x, const auto& y) {
                          return x.first == y.first && x.second.value == y.second.value;
                      });
}

/// An index kept inside by a bound, without the bound: where sizes divide, it never binds.
Expression unclamped(const Expression& index) {
    const Apply* call = std::get_if<Apply>(&index.node);
    if (call == nullptr || (call->function != Function::Min && call->function != Function::Max))
        return index;
    const bool first = axes_used(call->arguments[0]).empty();
    const bool second = axes_used(call->arguments[1]).empty();
    return first == second ? index : unclamped(call->arguments[first ? 1 : 0]);
}

bool stays_inside(const std::vector<Axis>& axes, const Footprint& dimension) {
    if (!dimension.limit) return true;
    return std::all_of(dimension.index.begin(), dimension.index.end(), [&](const Expression& e) {
        const std::optional<Interval> whole = bounds(axes, e, {});
        return whole && whole->low >= 0 && whole->high < *dimension.limit;
    });
}

}  // namespace

std::optional<std::vector<Affine>> forms_of(const std::vector<Axis>& axes,
                                            const Footprint& dimension, bool ideal) {
    std::vector<Affine> forms;
    for (const Expression& index : dimension.index) {
        std::optional<Affine> form =
            ideal ? affine_form(axes, unclamped(index)) : affine_form(axes, index);
        if (!form) return std::nullopt;
        forms.push_back(std::move(*form));
    }
    return forms.empty() ? std::nullopt : std::optional(std::move(forms));
}

std::optional<LinearWidth> linear_width(const std::vector<Axis>& axes, const Footprint& dimension,
                                        bool ideal) {
    const std::optional<std::vector<Affine>> forms = forms_of(axes, dimension, ideal);
    if (!forms || (!ideal && !stays_inside(axes, dimension))) return std::nullopt;
    const Affine* least = &forms->front();
    const Affine* most = &forms->front();
    for (const Affine& form : *forms) {
        if (!same_factors(form, forms->front())) return std::nullopt;
        if (form.constant.value < least->constant.value) least = &form;
        if (form.constant.value > most->constant.value) most = &form;
    }
    LinearWidth width;
    width.rest = {Formula(1), 1};
    if (most != least)
        width.rest = {most->constant.formula - least->constant.formula + Formula(1),
                      most->constant.value - least->constant.value + 1};
    for (const auto& [axis, factor] : forms->front().factors) {
        const Coefficient size =
            factor.value < 0 ? Coefficient{Formula(0) - factor.formula, -factor.value} : factor;
        width.factors[axis] = size;
        width.rest = {width.rest.formula - size.formula, width.rest.value - size.value};
    }
    return width;
}

}  // namespace napkin
