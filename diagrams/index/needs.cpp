#include "diagrams/index/needs.h"

#include <algorithm>
#include <set>

#include "diagrams/checked.h"
#include "diagrams/index/isl.h"
#include "diagrams/index/quasi_affine.h"
#include "diagrams/recent.h"

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

/// A use that isl is asked about; of a reader that is not needed whole, with its axes.
struct Followed {
    std::optional<ArrayId> reader;
    std::vector<AxisId> axes;
    ArrayId array;
    std::vector<Expression> index;
    std::vector<std::pair<Expression, bool>> conditions;
    bool operator==(const Followed&) const = default;
};

/// What is needed of arrays that are not needed whole.
class NeededElements {
public:
    explicit NeededElements(const std::vector<Axis>& axes) : axes_(axes) {}

    void follow(const Followed& use) {
        context_.begin();
        Translator translator(context_, axes_, {});
        Set points = translator.everything();
        if (use.reader) {
            const auto needed = needed_.find(*use.reader);
            if (needed == needed_.end()) return;
            std::vector<Expression> indices;
            for (const AxisId axis : use.axes) indices.push_back(axis_index(axis));
            const Set elements = both(tuple(translator, indices), needed->second);
            points = both(std::move(points), Set(isl_set_params(elements.copy())));
        }
        for (const auto& [condition, holds] : use.conditions)
            points = both(std::move(points), translator.condition(condition, holds));
        const Set elements = tuple(translator, use.index);
        if (!translator.is_exact()) return;
        points = both(std::move(points), translator.ranges());
        add(use.array, Set(isl_set_project_out_all_params(
                           isl_set_intersect_params(elements.copy(), points.release()))));
    }

    std::int64_t count(ArrayId array) {
        const auto needed = needed_.find(array);
        if (needed == needed_.end()) return 0;
        Set set = needed->second;
        CheckedInt count(1);
        unsigned at = 0;
        while (set) {
            const unsigned dimensions = static_cast<unsigned>(isl_set_dim(set.get(), isl_dim_set));
            if (at >= dimensions) break;
            context_.begin();
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

private:
    /// The tuple of values at each point.
    Set tuple(Translator& translator, const std::vector<Expression>& values) {
        Set result(isl_set_universe(isl_space_set_alloc(context_.get(), 0, 0)));
        for (const Expression& value : values)
            result = Set(isl_set_flat_product(
                result.release(), isl_set_from_pw_aff(translator.value(value).release())));
        return result;
    }
    void add(ArrayId array, Set elements) {
        if (!elements) return;
        const auto [known, fresh] = needed_.try_emplace(array, elements);
        if (fresh) return;
        Set more(isl_set_coalesce(either(known->second, std::move(elements)).release()));
        if (more && isl_set_n_basic_set(more.get()) <= kMostPieces) known->second = std::move(more);
    }
    CheckedInt points(const Set& part) {
        context_.begin();
        context_.allow(kMostCounted);
        const CheckedInt counted = points_of(part);
        context_.allow(kMostFollowed);
        return counted;
    }

    Context context_{kMostFollowed};
    const std::vector<Axis>& axes_;
    std::map<ArrayId, Set> needed_;
};

struct Needs::Parts {
    std::vector<Axis> axes;
    const std::vector<Array>& arrays;
    std::set<ArrayId> whole;  // needed in every element, for which isl is not asked
    std::vector<Followed> uses;
    std::vector<bool> is_followed;  // of each use, whether its elements are known
    NeededElements elements{axes};

    Parts(const std::vector<Axis>& of, const std::vector<Array>& all) : axes(of), arrays(all) {
        for (Axis& axis : axes) axis.dynamic = false;
    }

    [[nodiscard]] CheckedInt size_of(ArrayId array) const {
        CheckedInt size = 1;
        for (const AxisId axis : arrays[array.index()].axes)
            size = size * axes[axis.index()].extent;
        return size;
    }
    /// Whether a reader that is whole takes every element, because each index is an axis of its
    /// own, of the array's extent.
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
    /// The uses by which something of an array is needed, in order.
    [[nodiscard]] std::vector<std::size_t> leading_to(ArrayId array) const {
        std::vector<std::size_t> found;
        std::set<ArrayId> met = {array};
        for (std::size_t i = uses.size(); i-- > 0;) {
            if (!met.contains(uses[i].array)) continue;
            found.push_back(i);
            if (uses[i].reader) met.insert(*uses[i].reader);
        }
        std::reverse(found.begin(), found.end());
        return found;
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
    if (parts.whole.contains(use.array)) return;
    Followed followed{{}, {}, use.array, use.index, use.conditions};
    if (!parts.whole.contains(use.reader)) {
        followed.reader = use.reader;
        followed.axes = parts.arrays[use.reader.index()].axes;
    }
    if (!followed.reader && parts.takes_whole(use)) return add_whole(use.array);
    parts.uses.push_back(std::move(followed));
    parts.is_followed.push_back(false);
}

namespace {

/// How many elements of an array uses make needed.
struct Question {
    std::vector<Axis> axes;
    std::vector<Followed> uses;
    ArrayId array;
    bool operator==(const Question&) const = default;
};

}  // namespace

std::int64_t Needs::count(ArrayId array) const {
    Parts& parts = *parts_;
    // Of more than 64 bits nothing is claimed.
    if (parts.whole.contains(array)) return parts.size_of(array).value.value_or(0);
    const std::vector<std::size_t> leading = parts.leading_to(array);
    if (leading.empty()) return 0;
    constexpr std::size_t kMostKept = 64;
    thread_local Recent<Question, std::int64_t> kept(kMostKept);
    Question question{parts.axes, {}, array};
    for (const std::size_t use : leading) question.uses.push_back(parts.uses[use]);
    if (const std::int64_t* count = kept.find(question)) return *count;
    for (const std::size_t use : leading) {
        if (!parts.is_followed[use]) parts.elements.follow(parts.uses[use]);
        parts.is_followed[use] = true;
    }
    return kept.keep(std::move(question), parts.elements.count(array));
}

}  // namespace napkin::index
