#include "diagrams/index/domain.h"

#include "diagrams/index/isl.h"
#include "diagrams/index/quasi_affine.h"

namespace napkin::index {

namespace {

/// Alternatives of a domain, beyond which conditions are left out.
constexpr int kMostAlternatives = 64;
/// Of a question, some 10 ms.
constexpr unsigned long kMostOperations = 30'000;

}  // namespace

struct Domain::Parts {
    Context context;
    Translator translator;
    Set conditions;
    bool complete = true;  ///< no condition has been left out

    Parts(const std::vector<Axis>& axes, Elements elements)
        : context(kMostOperations),
          translator(context, axes, std::move(elements)),
          conditions(translator.everything()) {}

    /// The points, of all that has been translated.
    [[nodiscard]] Set points() const { return both(conditions, translator.ranges()); }
    [[nodiscard]] bool never(Set where) const {
        return certainly_empty(both(std::move(where), points()));
    }
};

Domain::Domain(const std::vector<Axis>& axes, Elements elements)
    : parts_(std::make_unique<Parts>(axes, std::move(elements))) {}
Domain::~Domain() = default;

void Domain::restrict_to(const Expression& condition, bool holds) {
    parts_->context.begin();
    Set narrower = both(parts_->conditions, parts_->translator.condition(condition, holds));
    if (narrower && isl_set_n_basic_set(narrower.get()) <= kMostAlternatives)
        parts_->conditions = std::move(narrower);
    else
        parts_->complete = false;
}

bool is_empty(const Domain& domain) {
    domain.parts_->context.begin();
    return domain.parts_->never(domain.parts_->translator.everything());
}

Within is_within(const Domain& domain, const Expression& index, AxisId axis) {
    Domain::Parts& parts = *domain.parts_;
    parts.context.begin();
    const Piecewise value = parts.translator.value(index);
    const Piecewise size = parts.translator.size(axis);
    const Piecewise zero = parts.translator.constant(0);
    return {parts.never(Set(isl_pw_aff_lt_set(value.copy(), zero.copy()))),
            parts.never(Set(isl_pw_aff_ge_set(value.copy(), size.copy())))};
}

std::optional<Bounds> range_of(const Domain& domain, const Expression& expression) {
    Domain::Parts& parts = *domain.parts_;
    parts.context.begin();
    const Piecewise value = parts.translator.value(expression);
    const Set points = parts.points();
    if (certainly_empty(points)) return std::nullopt;
    return Bounds{least_at(value, points), greatest_at(value, points)};
}

std::optional<std::int64_t> count_of(const Domain& domain, AxisId axis) {
    Domain::Parts& parts = *domain.parts_;
    parts.context.begin();
    const Piecewise index = parts.translator.value({AxisIndex{axis}, {}});
    if (!parts.complete || !parts.translator.is_exact()) return std::nullopt;
    const Set indices(isl_set_project_out_all_params(
        isl_set_from_pw_aff(isl_pw_aff_intersect_domain(index.copy(), parts.points().release()))));
    return finite(Value(isl_set_count_val(indices.get())));
}

}  // namespace napkin::index
