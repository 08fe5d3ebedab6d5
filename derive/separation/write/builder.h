// Writes the derived states as statements: what runs before the first chunk, for every chunk, and
// after the last.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "derive/accumulator.h"
#include "derive/separation/judge/judge.h"
#include "derive/separation/place/plan.h"

namespace napkin::separation {

/// Where an expression stands; decides what a fold and an intermediate are read as.
enum class Where {
    Chunk,   ///< in the body: mapped arrays of the chunk may be read
    Before,  ///< a gauge before the chunk is taken in
    After,   ///< a gauge after it
    Tail,    ///< after the last chunk
};

/// An array of integers would be computed from real numbers.
struct Inexact {
    ArrayId target;
};

/// Throws Unresolved and Inexact.
class Builder {
public:
    /// `tail` is the normal form in which folds stand for their values in states.
    /// `stored` holds wires that are saved in types of their own.
    Builder(Cascade& cascade, Plan& plan, NormalForm& normal, NormalForm& tail,
            const std::map<ArrayId, ElementType>& stored);

    /// Makes the array available after the last chunk.
    void need_tail(ArrayId array);
    /// Makes the array available in every chunk.
    void need_chunk(ArrayId array);
    /// Writes the states that were asked for and returns everything.
    [[nodiscard]] Accumulator finish();

private:
    /// The value of a fold in states.
    [[nodiscard]] PolynomialId resolved(TermId fold);
    struct Factor {
        Expression value;
        Class of;
        bool below = false;
    };
    using Key = std::pair<PolynomialId, PolynomialId>;
    /// The largest elements so far and those of the chunk, with their indices.
    struct Lists {
        AxisId rank;
        ArrayId best;
        ArrayId at;
        ArrayId chunk_best;
        ArrayId chunk_at;
        std::vector<std::pair<ArrayId, ArrayId>> payloads;  ///< so far, of the chunk
    };
    /// A value with an array of its own.
    struct Hoisted {
        Where where = Where::Chunk;
        ArrayId array = {};
        std::set<AxisId> needed = {};          ///< axes whose conditions keep its accesses inside
        std::optional<Expression> known = {};  ///< the condition that was taken along
    };

    Cascade& cascade_;
    Plan& plan_;
    NormalForm& normal_;
    NormalForm& tail_;
    Algebra& algebra_;
    const Diagram& diagram_;
    Judged judged_;
    Judgements judgements_;
    TailJudge tail_judge_;
    Accumulator result_;
    std::optional<Diagram> scope_;  ///< the diagram with this accumulator's arrays, for text
    std::set<std::string> names_;
    std::set<std::size_t> chunk_statements_;  ///< into the cascade's
    std::vector<Statement> body_;             ///< after the mapped statements
    std::vector<Statement> updates_;          ///< at the very end of the body
    std::set<ArrayId> untyped_;               ///< of the types of their values
    std::map<std::uint32_t, ArrayId> state_arrays_;
    std::map<std::uint32_t, ArrayId> mean_arrays_;
    std::map<std::uint32_t, ArrayId> next_arrays_;  ///< the new value of a gauge or a weight
    std::map<std::size_t, ArrayId> carries_;        ///< by statement and component
    std::map<PolynomialId, ArrayId> repairs_;       ///< by gauge
    std::map<TermId, ArrayId> moves_;               ///< by what moves
    std::map<Key, ArrayId> weights_;                ///< by exponent and gauge
    std::map<std::tuple<ArrayId, Monomial, PolynomialId>, ArrayId> stored_;  ///< with their gauge
    std::multimap<TermId, Hoisted> hoisted_;
    std::vector<Expression> known_;  ///< conditions around what is being written
    std::map<PolynomialId, ArrayId> chunk_forms_;
    std::map<PolynomialId, ArrayId> tail_forms_;
    std::set<ArrayId> tail_done_;
    std::set<ArrayId> excluded_;  ///< being defined: not to be read
    std::uint32_t serving_ = 0;   ///< the fold whose helpers are being written

    // builder.cpp: arrays and the order of things
    ArrayId make_array(const std::string& name, std::vector<AxisId> axes, ElementType type);
    /// One of the type of its values.
    ArrayId make_array(const std::string& name, std::vector<AxisId> axes);
    /// The same where the fold that is served is one of integers.
    ArrayId make_served(const std::string& name, std::vector<AxisId> axes);
    /// One of the axes and the type of another.
    ArrayId make_like(ArrayId other, const std::string& name);
    [[nodiscard]] bool is_real(std::uint32_t fold) const;
    void settle();
    [[nodiscard]] std::string base_name(std::uint32_t fold) const;
    [[nodiscard]] const Diagram& scope();
    [[nodiscard]] std::string text_of(const Expression& written);
    [[nodiscard]] std::string quoted(ArrayId id) const { return "`" + array(id).name + "`"; }
    [[nodiscard]] BoxId box_of(std::uint32_t fold) const;
    [[nodiscard]] Span span_of(std::uint32_t fold) const;
    [[nodiscard]] Statement statement(ArrayId target, Expression value) const;
    [[nodiscard]] Statement fold_statement(ArrayId target, const StateVariable& state,
                                           Expression value, Expression seed) const;
    ArrayId helper(const std::string& suffix, const std::set<AxisId>& axes, Expression value,
                   std::optional<ElementType> type = std::nullopt, const std::string& name = "");
    [[nodiscard]] bool is_count(PolynomialId form) const;
    [[nodiscard]] ElementType exact_type(ArrayId result, const StateVariable& variable) const;
    [[nodiscard]] std::optional<ElementType> type_of_payload(const StateVariable& variable);
    ArrayId state_array(std::uint32_t state);
    ArrayId mean_array(std::uint32_t mean);
    [[nodiscard]] Expression read_array(ArrayId array) const;
    [[nodiscard]] const Array& array(ArrayId id) const;
    void register_forms();
    [[nodiscard]] Statement in_chunk(std::size_t index);
    [[nodiscard]] std::vector<Statement> chunk_statements();

    // expressions.cpp: terms back into expressions
    Expression expression(TermId term, Where where);
    Expression expression(PolynomialId polynomial, Where where);
    std::optional<Expression> named(TermId term, Where where);
    Expression reference(const Term& term, TermId id, Where where);
    [[nodiscard]] bool is_bare_gauge(const Monomial& product) const;
    Expression choice(const Term& term, Where where);
    Expression inner(TermId id, Where where);
    Expression sum_of_tail(TermId id);
    [[nodiscard]] std::optional<Expression> known_of(const std::set<AxisId>& needed) const;
    [[nodiscard]] std::optional<ArrayId> hoisted(TermId id, Where where) const;
    ArrayId hoist(TermId id, const char* suffix, std::variant<Map, Fold> body, Where where);
    Expression product(const Monomial& monomial, double coefficient, Where where);
    [[nodiscard]] bool always_inside(TermId index, const Axis& own);
    [[nodiscard]] std::vector<AxisId> axes_of_element(const Term& term) const;
    [[nodiscard]] bool reads_elsewhere(const Monomial& monomial);
    [[nodiscard]] std::vector<TermId> guards_of(const Monomial& monomial);
    std::vector<Factor> factors_of(Monomial monomial, Where where);
    Factor power(TermId base, double exponent, Where where);
    void read_known_products(Monomial& monomial, Where where, std::vector<Factor>& factors);
    [[nodiscard]] static Expression quotient(const std::vector<Factor>& factors,
                                             double coefficient);
    std::optional<Expression> all_of(std::vector<TermId> guards, Where where);
    [[nodiscard]] static Expression guarded(Expression value,
                                            const std::optional<Expression>& guard,
                                            double otherwise);
    Expression guarded(Expression value, std::vector<TermId> guards, double otherwise, Where where);

    // states.cpp, means.cpp, exponents.cpp, selections.cpp: states
    void mark_gauges();
    void find_means(PolynomialId polynomial);
    void build_held_mean(std::uint32_t mean);
    void build_running_mean(std::uint32_t mean);
    void keep_mean(std::uint32_t mean, Gauge gauge);
    void provide(std::string condition);
    void build_early(std::uint32_t state);
    void build_state(std::uint32_t state);
    void build_tuple(std::uint32_t first);
    void build_pick(std::uint32_t first);
    [[nodiscard]] Expression merged_part(const Lists& lists, bool earlier, ArrayId payload) const;
    ArrayId chunk_payload(const StateVariable& variable, ArrayId chunk_at);
    void keep_list(ArrayId state, std::uint32_t first);
    void merge_lists(const Lists& lists, std::uint32_t first);
    void keep_larger(const Lists& lists, std::uint32_t first);
    void build_carry(std::size_t index, const std::vector<Expression>& values);
    [[nodiscard]] Expression state_value(const StateVariable& state);
    [[nodiscard]] std::vector<Factor> take_quotients(Monomial& product);
    [[nodiscard]] Expression contraction(const StateVariable& state);
    [[nodiscard]] Expression own_expression(std::uint32_t fold);
    struct MultipleOf {
        TermId maximum;
        PolynomialId factor;
    };
    [[nodiscard]] std::vector<MultipleOf> maxima_in(PolynomialId gauge);
    [[nodiscard]] Expression multiple_of_difference(PolynomialId factor, Expression value,
                                                    Expression reference, Where where);
    [[nodiscard]] Expression fall(PolynomialId gauge);
    [[nodiscard]] Expression relative(PolynomialId varying, PolynomialId gauge);
    [[nodiscard]] std::optional<ArrayId> written_already(const Expression& value) const;
    ArrayId repair(PolynomialId gauge);
    [[nodiscard]] Expression moved(std::uint32_t state);
    ArrayId moves(TermId gauge);
    [[nodiscard]] ArrayId gauge_array(TermId gauge);
    ArrayId weight(PolynomialId varying, PolynomialId gauge);
    [[nodiscard]] Expression seed(std::uint32_t state, const StateVariable& variable);
    void initialise(ArrayId target, Expression value);
    void keep_state(std::uint32_t state);

    // stored.cpp
    ArrayId stored_part(const StateVariable& state);
    [[nodiscard]] static Monomial beside_stored(const StateVariable& state, const Monomial& whole);

    // tail.cpp
    [[nodiscard]] double degree_of(const Monomial& product) const;
    [[nodiscard]] std::vector<Factor> means_in(Monomial& product);
    Expression tail_value(TermId term);
    [[nodiscard]] bool plain(TermId term);
    [[nodiscard]] bool is_scaled(PolynomialId form);
    [[nodiscard]] Statement tail_statement(ArrayId array);
    void drop_unused_tail();
    [[nodiscard]] PolynomialId gathered(PolynomialId polynomial);
    [[nodiscard]] PolynomialId scaled_difference(PolynomialId sum);
    [[nodiscard]] Statement fold_result(ArrayId target, PolynomialId form);
    static void renew(Statement& statement,
                      const std::function<Expression(const Expression&)>& written);
    [[nodiscard]] Statement rewritten(const Statement& source);
};

/// The identity of a monoid's component, as an expression.
[[nodiscard]] Expression identity_of(const Diagram& diagram, MonoidId monoid,
                                     std::uint32_t component);

}  // namespace napkin::separation
