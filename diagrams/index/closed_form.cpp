#include "diagrams/index/closed_form.h"

#include <isl/constraint.h>

#include <algorithm>
#include <limits>

#include "diagrams/checked.h"

namespace napkin::index {

namespace {

using Constraint = Owned<isl_constraint, isl_constraint_copy, isl_constraint_free>;
using Affine = Owned<isl_aff, isl_aff_copy, isl_aff_free>;
using BasicSet = Owned<isl_basic_set, isl_basic_set_copy, isl_basic_set_free>;

/// Variables of the parameters and local divisions of a basic set, and what reading them met.
class ClauseReader {
public:
    ClauseReader(BasicSet set, std::size_t coordinates)
        : set_(std::move(set)), coordinates_(coordinates) {
        const int parameters = isl_basic_set_dim(set_.get(), isl_dim_param);
        for (int i = 0; i < parameters; ++i)
            variables_.push_back(variable(
                isl_basic_set_get_dim_name(set_.get(), isl_dim_param, static_cast<unsigned>(i))));
    }

    std::optional<Clause> read() {
        const int divisions = isl_basic_set_dim(set_.get(), isl_dim_div);
        for (int i = 0; i < divisions; ++i) {
            const Affine floor(isl_basic_set_get_div(set_.get(), i));
            if (!floor) return std::nullopt;
            const Value divisor(isl_aff_get_denominator_val(floor.get()));
            const Affine whole(isl_aff_scale_val(floor.copy(), divisor.copy()));
            clause_.quotients.push_back({linear(whole, i), number(divisor)});
        }
        isl_constraint_list* list = isl_basic_set_get_constraint_list(set_.get());
        const int count = isl_constraint_list_n_constraint(list);
        for (int i = 0; i < count; ++i)
            add(Constraint(isl_constraint_list_get_constraint(list, i)));
        isl_constraint_list_free(list);
        return valid_ && count >= 0 ? std::optional(clause_) : std::nullopt;
    }

private:
    void add(const Constraint& constraint) {
        const bool equal = isl_constraint_is_equality(constraint.get()) == isl_bool_true;
        const Affine form(isl_constraint_get_aff(constraint.get()));
        (equal ? clause_.zero : clause_.not_negative)
            .push_back(linear(form, static_cast<int>(clause_.quotients.size())));
    }
    [[nodiscard]] std::size_t variable(const std::string& name) const {
        if (name == kChunkName) return 2 * coordinates_;
        const std::size_t coordinate = std::stoul(name.substr(1));
        return 2 * coordinate + (name.front() == 'h' ? 1 : 0);
    }
    Linear linear(const Affine& form, int divisions) {
        Linear result;
        result.constant = number(Value(isl_aff_get_constant_val(form.get())));
        const auto add = [&](isl_dim_type type, int at, std::size_t variable) {
            const std::int64_t coefficient =
                number(Value(isl_aff_get_coefficient_val(form.get(), type, at)));
            if (coefficient != 0) result.terms.emplace_back(variable, coefficient);
        };
        for (std::size_t i = 0; i < variables_.size(); ++i)
            add(isl_dim_param, static_cast<int>(i), variables_[i]);
        for (int i = 0; i < divisions; ++i)
            add(isl_dim_div, i, 2 * (coordinates_ + 1) + static_cast<std::size_t>(i));
        std::sort(result.terms.begin(), result.terms.end());
        return result;
    }
    std::int64_t number(const Value& value) {
        constexpr std::int64_t kMost = std::int64_t{1} << 60;
        valid_ = valid_ && value && isl_val_is_int(value.get()) == isl_bool_true &&
                 isl_val_cmp_si(value.get(), kMost) < 0 && isl_val_cmp_si(value.get(), -kMost) > 0;
        return valid_ ? isl_val_get_num_si(value.get()) : 0;
    }

    BasicSet set_;
    std::size_t coordinates_;
    std::vector<std::size_t> variables_;  // of the parameters
    Clause clause_;
    bool valid_ = true;
};

std::int64_t coefficient_of(const Linear& form, std::size_t variable) {
    for (const auto& [known, coefficient] : form.terms)
        if (known == variable) return coefficient;
    return 0;
}

Linear without(Linear form, std::size_t variable) {
    std::erase_if(form.terms, [&](const auto& term) { return term.first == variable; });
    return form;
}

Linear negated(Linear form) {
    form.constant = -form.constant;
    for (auto& [variable, coefficient] : form.terms) coefficient = -coefficient;
    return form;
}

bool is_saturated(const Linear& form) {
    const auto at_end = [](std::int64_t number) {
        return number == std::numeric_limits<std::int64_t>::max() ||
               number == std::numeric_limits<std::int64_t>::min();
    };
    return at_end(form.constant) ||
           std::any_of(form.terms.begin(), form.terms.end(),
                       [&](const auto& term) { return at_end(term.second); });
}

/// Takes the constraints of the chunk's number out of a clause.
class RunReader {
public:
    RunReader(Clause clause, std::size_t coordinates)
        : chunk_(2 * coordinates),
          first_quotient_(2 * coordinates + 2),
          clause_(std::move(clause)) {
        for (const Quotient& quotient : clause_.quotients)
            moves_.push_back(follows_chunk(quotient.dividend));
    }
    /// Several where a bound has both the number and a quotient of it: one for each remainder that
    /// tells what the quotient is.
    [[nodiscard]] std::optional<std::vector<ChunkRun>> runs() {
        constexpr std::int64_t kMostRemainders = 16;
        const Quotient told = quotient_beside_number().value_or(Quotient{});
        const std::int64_t of_chunk = coefficient_of(told.dividend, chunk_);
        if (told.divisor > kMostRemainders || (told.divisor > 1 && std::abs(of_chunk) != 1) ||
            !moving_quotients(told.dividend).empty())
            return std::nullopt;
        std::vector<ChunkRun> result;
        for (std::int64_t remainder = 0; remainder < told.divisor; ++remainder) {
            run_ = {};
            run_.step = told.divisor;
            run_.residue = without(of_chunk > 0 ? negated(told.dividend) : told.dividend, chunk_);
            run_.residue.constant += of_chunk * remainder;
            read();
            if (!valid_) return std::nullopt;
            result.push_back(run_);
        }
        return result;
    }

private:
    [[nodiscard]] std::optional<Quotient> quotient_beside_number() const {
        for (const Linear& form : clause_.not_negative)
            for (const std::size_t moving : moving_quotients(form))
                if (coefficient_of(form, chunk_) != 0) return quotient(moving);
        return std::nullopt;
    }
    void read() {
        // Nothing asks for what follows the chunk's number, which has no value.
        for (std::size_t i = 0; i < moves_.size(); ++i)
            run_.when.quotients.push_back(moves_[i] ? Quotient{{}, 1} : clause_.quotients[i]);
        for (const Linear& form : clause_.zero) add_zero(form);
        for (const Linear& form : clause_.not_negative) add_bound(form);
    }
    [[nodiscard]] const Quotient& quotient(std::size_t variable) const {
        return clause_.quotients[variable - first_quotient_];
    }
    [[nodiscard]] std::vector<std::size_t> moving_quotients(const Linear& form) const {
        std::vector<std::size_t> found;
        for (const auto& [variable, coefficient] : form.terms)
            if (variable >= first_quotient_ && variable - first_quotient_ < moves_.size() &&
                moves_[variable - first_quotient_])
                found.push_back(variable);
        return found;
    }
    [[nodiscard]] bool follows_chunk(const Linear& form) const {
        return coefficient_of(form, chunk_) != 0 || !moving_quotients(form).empty();
    }

    void add_bound(const Linear& form) {
        const std::int64_t factor = coefficient_of(form, chunk_);
        if (const std::vector<std::size_t> moving = moving_quotients(form); !moving.empty()) {
            valid_ = valid_ && (moving.size() == 1 || factor != 0);
            if (!valid_) return;
            const Linear other =
                factor == 0 ? undivided(form, moving.front()) : known(form, moving.front());
            if (valid_) add_bound(other);
            return;
        }
        const Linear rest = without(form, chunk_);
        if (factor > 0) run_.least.push_back({negated(rest), factor});
        if (factor < 0) run_.most.push_back({rest, -factor});
        if (factor == 0) run_.when.not_negative.push_back(rest);
    }
    /// factor * (dividend // divisor) + rest >= 0, said of the dividend.
    [[nodiscard]] Linear undivided(const Linear& form, std::size_t moving) {
        const std::int64_t factor = coefficient_of(form, moving);
        const auto& [dividend, divisor] = quotient(moving);
        const std::size_t limit = first_quotient_ + run_.when.quotients.size();
        run_.when.quotients.push_back({without(form, moving), std::abs(factor)});
        Linear result = factor > 0 ? dividend : negated(dividend);
        if (factor < 0) result.constant += divisor - 1;
        result.terms.emplace_back(limit, divisor);
        return result;
    }
    /// A bound, times the divisor of a quotient whose dividend has a known remainder.
    [[nodiscard]] Linear known(const Linear& form, std::size_t moving) {
        const std::int64_t factor = coefficient_of(form, moving);
        const auto& [dividend, divisor] = quotient(moving);
        const std::int64_t of_chunk = coefficient_of(dividend, chunk_);
        const Linear at = sum(without(dividend, chunk_), run_.residue, of_chunk);
        valid_ = valid_ && at.terms.empty() && run_.step % divisor == 0;
        if (!valid_) return form;
        Linear exact = dividend;
        exact.constant -= at.constant - divisor * napkin::floor_quotient(at.constant, divisor);
        const Linear result = sum(sum({}, without(form, moving), divisor), exact, factor);
        valid_ = !is_saturated(result);
        return result;
    }
    /// factor * k + rest = step * quotient.
    void add_zero(const Linear& form) {
        const std::int64_t factor = coefficient_of(form, chunk_);
        const std::vector<std::size_t> moving = moving_quotients(form);
        const Linear rest = without(form, chunk_);
        if (moving.empty()) {
            if (factor == 0) return run_.when.zero.push_back(rest);
            add_bound(form);
            return add_bound(negated(form));
        }
        valid_ = valid_ && moving.size() == 1 && run_.step == 1 && std::abs(factor) == 1;
        if (!valid_) return;
        run_.step = std::abs(coefficient_of(form, moving.front()));
        const Linear others = without(rest, moving.front());
        run_.residue = factor > 0 ? negated(others) : others;
    }

    std::size_t chunk_;
    std::size_t first_quotient_;
    Clause clause_;
    std::vector<bool> moves_;  // of its quotients: whether they depend on the chunk's number
    ChunkRun run_;
    bool valid_ = true;
};

/// Values of variables: ends of a box, then quotients.
class Variables {
public:
    Variables(std::span<const Interval> box, std::vector<std::int64_t>& quotients)
        : box_(box), quotients_(quotients) {}

    [[nodiscard]] bool hold(const BoxCondition& condition) {
        return std::all_of(condition.begin(), condition.end(), [&](const Choice& choice) {
            return choice.inverted != std::any_of(choice.clauses.begin(), choice.clauses.end(),
                                                  [&](const Clause& each) { return hold(each); });
        });
    }
    /// The first number of a run from `from` on.
    [[nodiscard]] std::optional<std::int64_t> next(const ChunkRun& run, std::int64_t from) {
        if (!hold(run.when)) return std::nullopt;
        for (const Quotient& least : run.least)
            from = std::max(from, -napkin::floor_quotient(-value(least.dividend), least.divisor));
        const std::int64_t ahead = value(run.residue) - from;
        from += ahead - run.step * napkin::floor_quotient(ahead, run.step);
        const bool inside =
            std::all_of(run.most.begin(), run.most.end(), [&](const Quotient& most) {
                return saturating_multiply(from, most.divisor) <= value(most.dividend);
            });
        return inside ? std::optional(from) : std::nullopt;
    }

private:
    [[nodiscard]] bool hold(const Clause& clause) {
        quotients_.clear();
        for (const Quotient& quotient : clause.quotients)
            quotients_.push_back(
                napkin::floor_quotient(value(quotient.dividend), quotient.divisor));
        return std::all_of(clause.zero.begin(), clause.zero.end(),
                           [&](const Linear& form) { return value(form) == 0; }) &&
               std::all_of(clause.not_negative.begin(), clause.not_negative.end(),
                           [&](const Linear& form) { return value(form) >= 0; });
    }
    [[nodiscard]] std::int64_t value(const Linear& form) const {
        std::int64_t total = form.constant;
        for (const auto& [variable, coefficient] : form.terms)
            total = saturating_add(total, saturating_multiply(coefficient, value(variable)));
        return total;
    }
    [[nodiscard]] std::int64_t value(std::size_t variable) const {
        const std::size_t coordinate = variable / 2;
        if (coordinate > box_.size()) return quotients_[variable - 2 * (box_.size() + 1)];
        return variable % 2 == 0 ? box_[coordinate].low : box_[coordinate].high;
    }

    std::span<const Interval> box_;
    std::vector<std::int64_t>& quotients_;
};

}  // namespace

Linear sum(Linear a, const Linear& b, std::int64_t factor) {
    a.constant = saturating_add(a.constant, saturating_multiply(factor, b.constant));
    for (const auto& [variable, coefficient] : b.terms) {
        const auto same =
            std::find_if(a.terms.begin(), a.terms.end(),
                         [&, which = variable](const auto& term) { return term.first == which; });
        if (same == a.terms.end())
            a.terms.emplace_back(variable, saturating_multiply(factor, coefficient));
        else
            same->second = saturating_add(same->second, saturating_multiply(factor, coefficient));
    }
    std::erase_if(a.terms, [](const auto& term) { return term.second == 0; });
    std::sort(a.terms.begin(), a.terms.end());
    return a;
}

std::string value_name(std::size_t coordinate) {
    return "p" + std::to_string(coordinate);
}
std::string low_name(std::size_t coordinate) {
    return "l" + std::to_string(coordinate);
}
std::string high_name(std::size_t coordinate) {
    return "h" + std::to_string(coordinate);
}

std::optional<std::vector<Clause>> closed_form(const Set& set, std::size_t coordinates) {
    if (!set) return std::nullopt;
    std::vector<Clause> clauses;
    isl_basic_set_list* list = isl_set_get_basic_set_list(set.get());
    const int count = isl_basic_set_list_n_basic_set(list);
    bool valid = count >= 0;
    for (int i = 0; i < count && valid; ++i) {
        ClauseReader reader(BasicSet(isl_basic_set_list_get_basic_set(list, i)), coordinates);
        const std::optional<Clause> clause = reader.read();
        valid = clause.has_value();
        if (valid) clauses.push_back(*clause);
    }
    isl_basic_set_list_free(list);
    return valid ? std::optional(std::move(clauses)) : std::nullopt;
}

std::optional<std::vector<ChunkRun>> chunk_runs(const Set& set, std::size_t coordinates) {
    const std::optional<std::vector<Clause>> clauses = closed_form(set, coordinates);
    if (!clauses) return std::nullopt;
    std::vector<ChunkRun> runs;
    for (const Clause& clause : *clauses) {
        const std::optional<std::vector<ChunkRun>> read = RunReader(clause, coordinates).runs();
        if (!read) return std::nullopt;
        runs.insert(runs.end(), read->begin(), read->end());
    }
    return runs;
}

bool holds(const BoxCondition& condition, std::span<const Interval> box,
           std::vector<std::int64_t>& quotients) {
    return Variables(box, quotients).hold(condition);
}

std::optional<std::int64_t> next_chunk(const Chunks& chunks, const std::vector<Interval>& box,
                                       std::int64_t from) {
    std::vector<std::int64_t> quotients;
    Variables variables(box, quotients);
    if (!variables.hold(chunks.when)) return std::nullopt;
    std::optional<std::int64_t> first;
    for (const ChunkRun& run : chunks.runs)
        if (const std::optional<std::int64_t> next = variables.next(run, from))
            first = std::min(next, first ? first : next);
    return first;
}

}  // namespace napkin::index
