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

/// Takes the constraints of the chunk's number out of a clause.
class RunReader {
public:
    RunReader(Clause clause, std::size_t coordinates)
        : chunk_(2 * coordinates), first_quotient_(2 * coordinates + 2) {
        run_.when.quotients = std::move(clause.quotients);
        moves_.assign(run_.when.quotients.size(), false);
        for (std::size_t i = 0; i < moves_.size(); ++i)
            moves_[i] = follows_chunk(run_.when.quotients[i].dividend);
        for (const Linear& form : clause.zero) add_zero(form);
        for (const Linear& form : clause.not_negative) add_bound(form);
        // Nothing asks for them any more, and the chunk's number has no value.
        for (std::size_t i = 0; i < moves_.size(); ++i)
            if (moves_[i]) run_.when.quotients[i] = {{}, 1};
    }
    [[nodiscard]] std::optional<ChunkRun> run() const {
        return valid_ ? std::optional(run_) : std::nullopt;
    }

private:
    [[nodiscard]] std::vector<std::size_t> moving_quotients(const Linear& form) const {
        std::vector<std::size_t> found;
        for (const auto& [variable, coefficient] : form.terms)
            if (variable >= first_quotient_ && moves_[variable - first_quotient_])
                found.push_back(variable);
        return found;
    }
    [[nodiscard]] bool follows_chunk(const Linear& form) const {
        return coefficient_of(form, chunk_) != 0 || !moving_quotients(form).empty();
    }

    void add_bound(const Linear& form) {
        const std::int64_t factor = coefficient_of(form, chunk_);
        valid_ = valid_ && moving_quotients(form).empty();
        const Linear rest = without(form, chunk_);
        if (factor > 0) run_.least.push_back({negated(rest), factor});
        if (factor < 0) run_.most.push_back({rest, -factor});
        if (factor == 0) run_.when.not_negative.push_back(rest);
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
    std::vector<bool> moves_;  // of quotients: whether they depend on the chunk's number
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
        const std::optional<ChunkRun> run = RunReader(clause, coordinates).run();
        if (!run) return std::nullopt;
        runs.push_back(*run);
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
