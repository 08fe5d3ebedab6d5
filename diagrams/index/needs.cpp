#include "diagrams/index/needs.h"

#include <algorithm>
#include <set>

#include "diagrams/checked.h"
#include "diagrams/index/isl.h"
#include "diagrams/index/quasi_affine.h"

namespace napkin::index {

namespace {

/// Alternatives of a set, beyond which no more are added.
constexpr int kMostPieces = 64;
/// To count, some 100 ms: a triangle of 16384 indices is counted line by line.
constexpr unsigned long kMostCounted = 300'000;
/// To follow a use, or to tell dimensions apart, whose operations may be a hundred times as slow;
/// ordinary ones need some 5000.
constexpr unsigned long kMostFollowed = 30'000;

Set all_of(const Set& set, unsigned dimension, unsigned count) {
    return Set(isl_set_eliminate(set.copy(), isl_dim_set, dimension, count));
}
Set without(const Set& set, unsigned dimension, unsigned count) {
    return Set(isl_set_project_out(set.copy(), isl_dim_set, dimension, count));
}

/// Whether the set is the product of its extent along a dimension and of all the rest.
bool stands_apart(const Set& set, unsigned dimension, unsigned dimensions) {
    const Set line = all_of(all_of(set, dimension + 1, dimensions - dimension - 1), 0, dimension);
    const Set rest = all_of(set, dimension, 1);
    const Set product = both(line, rest);
    return isl_set_is_equal(set.get(), product.get()) == isl_bool_true;
}

CheckedInt points_of(const Set& set) {
    const Value count(isl_set_count_val(set.get()));
    if (!count || isl_val_is_int(count.get()) != isl_bool_true) return CheckedInt(0);
    return CheckedInt(isl_val_get_num_si(count.get()));
}

}  // namespace

struct Needs::Parts {
    Context context{kMostFollowed};
    std::vector<Axis> axes;
    const std::vector<Array>& arrays;
    std::set<ArrayId> whole;        // needed in every element, for which isl is not asked
    std::map<ArrayId, Set> needed;  // and what is needed of others

    Parts(const std::vector<Axis>& of, const std::vector<Array>& all) : axes(of), arrays(all) {
        for (Axis& axis : axes) axis.dynamic = false;
    }

    /// The tuple of values at each point.
    Set tuple(Translator& translator, const std::vector<Expression>& values) {
        Set result(isl_set_universe(isl_space_set_alloc(context.get(), 0, 0)));
        for (const Expression& value : values)
            result = Set(isl_set_flat_product(
                result.release(), isl_set_from_pw_aff(translator.value(value).release())));
        return result;
    }
    Set tuple(Translator& translator, ArrayId array) {
        std::vector<Expression> indices;
        for (const AxisId axis : arrays[array.index()].axes) indices.push_back(axis_index(axis));
        return tuple(translator, indices);
    }
    [[nodiscard]] CheckedInt size_of(ArrayId array) const {
        CheckedInt size = 1;
        for (const AxisId axis : arrays[array.index()].axes)
            size = size * axes[axis.index()].extent;
        return size;
    }
    /// Whether readers that are whole take every element, because each index is an axis of its own,
    /// of the array's extent.
    [[nodiscard]] bool takes_whole(const Use& use) const {
        const std::vector<AxisId>& own = arrays[use.array.index()].axes;
        std::set<AxisId> met;
        for (std::size_t i = 0; i < own.size(); ++i) {
            const AxisIndex* axis = std::get_if<AxisIndex>(&use.index[i].node);
            if (axis == nullptr || !met.insert(axis->axis).second ||
                axes[axis->axis.index()].extent != axes[own[i].index()].extent)
                return false;
        }
        return use.conditions.empty();
    }
    void add(ArrayId array, Set elements) {
        if (!elements) return;
        const auto [known, fresh] = needed.try_emplace(array, elements);
        if (fresh) return;
        Set more(isl_set_coalesce(either(known->second, std::move(elements)).release()));
        if (more && isl_set_n_basic_set(more.get()) <= kMostPieces) known->second = std::move(more);
    }
};

Needs::Needs(const std::vector<Axis>& axes, const std::vector<Array>& arrays)
    : parts_(std::make_unique<Parts>(axes, arrays)) {}
Needs::~Needs() = default;

void Needs::add_whole(ArrayId array) {
    parts_->whole.insert(array);
}

void Needs::add(const Use& use) {
    Parts& parts = *parts_;
    const auto is_whole = [&](ArrayId array) { return parts.whole.contains(array); };
    if (is_whole(use.array)) return;
    if (std::all_of(use.readers.begin(), use.readers.end(), is_whole) && parts.takes_whole(use))
        return add_whole(use.array);
    parts.context.begin();
    Translator translator(parts.context, parts.axes, {});
    Set points = translator.everything();
    for (const ArrayId reader : use.readers) {
        if (is_whole(reader)) continue;
        const auto needed = parts.needed.find(reader);
        if (needed == parts.needed.end()) return;
        const Set elements = both(parts.tuple(translator, reader), needed->second);
        points = both(std::move(points), Set(isl_set_params(elements.copy())));
    }
    for (const auto& [condition, holds] : use.conditions)
        points = both(std::move(points), translator.condition(condition, holds));
    const Set elements = parts.tuple(translator, use.index);
    if (!translator.is_exact()) return;
    points = both(std::move(points), translator.ranges());
    parts.add(use.array, Set(isl_set_project_out_all_params(
                             isl_set_intersect_params(elements.copy(), points.release()))));
}

std::int64_t Needs::count(ArrayId array) const {
    // Of more than 64 bits nothing is claimed.
    if (parts_->whole.contains(array)) return parts_->size_of(array).value.value_or(0);
    const auto needed = parts_->needed.find(array);
    if (needed == parts_->needed.end()) return 0;
    Context& context = parts_->context;
    const auto points = [&](const Set& part) {
        context.begin();
        context.allow(kMostCounted);
        const CheckedInt counted = points_of(part);
        context.allow(kMostFollowed);
        return counted;
    };
    Set set = needed->second;
    CheckedInt count(1);
    unsigned at = 0;
    while (set) {
        const unsigned dimensions = static_cast<unsigned>(isl_set_dim(set.get(), isl_dim_set));
        if (at >= dimensions) break;
        context.begin();
        if (!stands_apart(set, at, dimensions)) {
            ++at;
            continue;
        }
        count = count * points(without(without(set, at + 1, dimensions - at - 1), 0, at));
        set = without(set, at, 1);
    }
    count = count * points(set);
    return count ? *count : 0;
}

}  // namespace napkin::index
