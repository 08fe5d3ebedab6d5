#include "diagrams/index/block_forms.h"

#include <algorithm>
#include <numeric>

#include "diagrams/checked.h"
#include "diagrams/contains.h"

namespace napkin::index {

namespace {

/// A period of remainders beyond it is not what blocks are aligned to.
constexpr std::int64_t kLongestPeriod = 1 << 20;

/// With a period, its common multiples with those known.
void add_period(std::vector<std::int64_t>& periods, std::int64_t period) {
    std::vector<std::int64_t> more{period};
    for (const std::int64_t known : periods) more.push_back(std::lcm(known, period));
    for (const std::int64_t each : more)
        if (each <= kLongestPeriod && !contains(periods, each)) periods.push_back(each);
    std::sort(periods.begin(), periods.end());
}

}  // namespace

BlockForms::BlockForms(const std::vector<std::optional<std::size_t>>& axis_of, BoxCondition choices)
    : axis_of_(axis_of), choices_(std::move(choices)) {
    for (const Choice& choice : choices_)
        for (const Clause& clause : choice.clauses) {
            for (const Quotient& quotient : clause.quotients)
                note(quotient.dividend, quotient.divisor);
            for (const Linear& form : clause.zero) note(form, std::nullopt);
            for (const Linear& form : clause.not_negative) note(form, std::nullopt);
        }
    std::sort(axes_.begin(), axes_.end());
}

void BlockForms::note(const Linear& form, std::optional<std::int64_t> divisor) {
    for (const auto& [variable, coefficient] : form.terms) {
        if (variable / 2 >= axis_of_.size() || !axis_of_[variable / 2]) continue;
        const std::size_t axis = *axis_of_[variable / 2];
        if (!contains(axes_, axis)) axes_.push_back(axis);
        std::vector<std::int64_t>& periods = periods_[axis];
        if (divisor) add_period(periods, *divisor / std::gcd(*divisor, coefficient));
    }
}

BlockForms::Reach BlockForms::reach_of(const Linear& form) const {
    Reach reach{form.constant, 0, 0};
    const auto add = [&](std::int64_t coefficient, const Reach& value) {
        const std::int64_t a = saturating_multiply(coefficient, value.low);
        const std::int64_t b = saturating_multiply(coefficient, value.high);
        reach.corner = saturating_add(reach.corner, saturating_multiply(coefficient, value.corner));
        reach.low = saturating_add(reach.low, std::min(a, b));
        reach.high = saturating_add(reach.high, std::max(a, b));
    };
    for (const auto& [variable, coefficient] : form.terms) {
        const std::size_t coordinate = variable / 2;
        if (coordinate > axis_of_.size())
            add(coefficient, quotients_[variable - 2 * (axis_of_.size() + 1)]);
        else if (const std::optional<std::size_t> axis = axis_of_[coordinate])
            add(coefficient, {block_->first[*axis], 0, block_->count[*axis] - 1});
        else
            add(coefficient, {(*values_)[coordinate], 0, 0});
    }
    return reach;
}

Truth BlockForms::judge(const Clause& clause, Signature& signature) {
    quotients_.clear();
    for (const Quotient& quotient : clause.quotients) {
        const Reach dividend = reach_of(quotient.dividend);
        const std::int64_t corner = floor_quotient(dividend.corner, quotient.divisor);
        const std::int64_t rest = dividend.corner - corner * quotient.divisor;
        const auto moved = [&](std::int64_t by) {
            return floor_quotient(saturating_add(rest, by), quotient.divisor);
        };
        quotients_.push_back({corner, moved(dividend.low), moved(dividend.high)});
        const bool one_value = quotients_.back().low == quotients_.back().high;
        signature.push_back(one_value ? -1 : rest);
    }
    Truth all = Truth::True;
    const auto note = [&](bool always, bool never, std::int64_t corner) {
        const Truth each = never ? Truth::False : always ? Truth::True : Truth::Open;
        if (each == Truth::False || all == Truth::True) all = each;
        signature.push_back(static_cast<std::int64_t>(each));
        if (each == Truth::Open) signature.push_back(corner);
        return all != Truth::False;
    };
    for (const Linear& form : clause.zero) {
        const Reach reach = reach_of(form);
        const std::int64_t low = saturating_add(reach.corner, reach.low);
        const std::int64_t high = saturating_add(reach.corner, reach.high);
        if (!note(low == 0 && high == 0, low > 0 || high < 0, reach.corner)) return all;
    }
    for (const Linear& form : clause.not_negative) {
        const Reach reach = reach_of(form);
        if (!note(saturating_add(reach.corner, reach.low) >= 0,
                  saturating_add(reach.corner, reach.high) < 0, reach.corner))
            return all;
    }
    return all;
}

Truth BlockForms::judge(const Choice& choice, Signature& signature) {
    Truth any = Truth::False;
    for (const Clause& clause : choice.clauses) {
        const std::size_t before = signature.size();
        const Truth truth = judge(clause, signature);
        if (truth == Truth::True || any == Truth::False) any = truth;
        // What is decided here stays so: its forms matter no more.
        if (truth != Truth::Open) signature.resize(before);
        signature.push_back(-2 - static_cast<std::int64_t>(truth));
        if (any == Truth::True) break;
    }
    if (any == Truth::Open || !choice.inverted) return any;
    return any == Truth::True ? Truth::False : Truth::True;
}

Truth BlockForms::judge(const Block& block, const std::vector<std::int64_t>& values,
                        Signature& signature) {
    block_ = &block;
    values_ = &values;
    Truth all = Truth::True;
    for (const Choice& choice : choices_) {
        const std::size_t before = signature.size();
        const Truth truth = judge(choice, signature);
        if (truth == Truth::False) return truth;
        if (truth == Truth::Open) all = truth;
        if (truth == Truth::True) signature.resize(before);
        signature.push_back(-8 - static_cast<std::int64_t>(truth));
    }
    return all;
}

}  // namespace napkin::index
