// A region read as a cascade of folds over the streamed axis: every statement in terms of inputs,
// axes and folds, with mapped intermediates substituted, so that no name hides structure.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "derive/separation/algebra/algebra.h"
#include "derive/separation/algebra/facts.h"
#include "derive/separation/normal_form/normal_form.h"
#include "diagrams/relabelling.h"
#include "diagrams/value_kind.h"

namespace napkin::separation {

/// How a statement of the region is executed.
enum class Part {
    Before,  ///< neither varies along the axis nor depends on a fold over it: computed by the
             ///< caller
    Chunk,   ///< mapped: computed for every chunk
    Fold,    ///< folds the axis
    Prefix,  ///< keeps every prefix of a fold: computed for every chunk, with a state
    Pick,    ///< selects along the axis
    Tail,    ///< depends on folds only: computed after the last chunk
    Mixed,   ///< varies along the axis and depends on folds: an intermediate of later folds
};

/// A reduction over the streamed axis, a component of it where elements are tuples.
struct FoldOver {
    std::optional<StatementId> statement = {};  ///< empty for a fold made from a gather
    std::uint32_t component = 0;
    std::optional<ArrayId> target = {};
    MonoidId monoid = {};
    std::vector<AxisId> over = {};
    std::vector<AxisId> axes = {};  ///< of the result
    TermId body = {};
    bool picks = false;  ///< one result of a selection, not a reduction by a monoid
    std::optional<std::uint32_t> carried_by =
        {};                      ///< the selection whose element `body` belongs to
    bool divides = false;        ///< its value is divided by, or its logarithm is taken
    bool divides_alone = false;  ///< nothing else is left of a divisor where it vanishes
    std::set<std::uint32_t> divided_by = {};  ///< folds that it, or part of it, is divided by
};

struct RegionStatement {
    StatementId statement = {};
    Part part = Part::Before;
    bool verbatim = true;  ///< reads the streamed axis at its own index only
};

class Cascade {
public:
    /// A statement in the way of a cascade ends it, or is left out, so that what it makes is data.
    enum class InTheWay { Ends, LeftOut };
    Cascade(const Diagram& diagram, const Region& region, const std::vector<AxisId>& axes,
            InTheWay in_the_way = InTheWay::Ends);

    [[nodiscard]] const Diagram& diagram() const { return diagram_; }
    [[nodiscard]] const std::vector<AxisId>& axes() const { return axes_; }
    [[nodiscard]] bool is_streamed(AxisId axis) const;
    /// `u, v`.
    [[nodiscard]] std::string axis_names() const;
    Algebra& algebra() { return algebra_; }
    [[nodiscard]] const TermFacts& facts() const { return facts_; }
    /// What a state accumulates, and the axes that it has.
    struct Summand {
        TermId body;
        MonoidId monoid;
        std::vector<AxisId> axes;
    };
    /// For tests of sign, and of what vanishes, in tails.
    void know_states(std::function<Summand(std::uint32_t)> of_state) {
        of_state_ = std::move(of_state);
    }
    [[nodiscard]] const std::vector<RegionStatement>& statements() const { return statements_; }
    /// Folds by the numbers that terms know them by: those of the statements, and behind them what
    /// a plan adds, of which it may take back the last. They stay where they are.
    [[nodiscard]] const std::deque<FoldOver>& folds() const { return folds_; }
    [[nodiscard]] std::deque<FoldOver>& folds() { return folds_; }
    [[nodiscard]] const std::optional<Obstacle>& obstacle() const { return obstacle_; }
    /// What the element of an array at its own axes is; nothing for arrays from outside and those
    /// computed before.
    [[nodiscard]] std::optional<TermId> definition(ArrayId array) const;
    /// The same before it is rounded.
    [[nodiscard]] std::optional<TermId> unrounded(ArrayId array) const;
    /// The values that an element of the chunk is the maximum of, over other axes than the
    /// streamed or over all before it.
    [[nodiscard]] std::optional<TermId> maximum_of(TermId term);
    /// The value before it is rounded, where the term is an array that is kept rounded.
    [[nodiscard]] TermId behind_rounding(TermId term) const;
    /// Arrays that are rounded after the last chunk and then divided by.
    [[nodiscard]] const std::set<ArrayId>& rounded_divisors() const { return rounded_divisors_; }
    [[nodiscard]] Part part_of(ArrayId array) const;
    [[nodiscard]] bool is_saved(ArrayId array) const;
    /// The kind of the fold as its target keeps it; nullopt of one that nobody wrote.
    [[nodiscard]] std::optional<ValueKind> kind_of(const FoldOver& fold) const;
    /// The fold of a running product that the value divides by, or of a running sum that it
    /// subtracts in an exponent, where that varies along a streamed axis.
    [[nodiscard]] const Fold* running_divisor(TermId value, MonoidId of) const;
    /// The expression as a term.
    TermId lower(const Expression& expression);
    /// An element that a condition may keep inside of its array, under conditions of its own: 1
    /// where there is none. The term itself where its indices are those of axes.
    TermId apart_from_conditions(TermId element);
    /// The diagram with formulas for the names of arrays that the user gave none: for messages.
    const Diagram& spelled();
    /// Whether the array has no axis along which the term only repeats, so that it may be read in
    /// place of the term.
    [[nodiscard]] bool stands_for(ArrayId array, TermId term) const;
    /// The name of an array that is this term, for messages and for reading results back.
    [[nodiscard]] const std::map<TermId, ArrayId>& arrays_by_term() const { return by_term_; }

private:
    const Diagram& diagram_;
    const Region& region_;
    std::vector<AxisId> axes_;
    Algebra algebra_;
    DiagramFacts outside_;
    TermFacts facts_;
    std::vector<RegionStatement> statements_;
    std::deque<FoldOver> folds_;
    std::map<ArrayId, TermId> definitions_;
    std::map<ArrayId, std::size_t> producer_;  ///< into statements_
    std::map<TermId, ArrayId> by_term_;
    std::map<ArrayId, TermId> unrounded_;
    std::set<ArrayId> rounded_divisors_;
    std::map<ArrayId, TermId> summands_;  ///< of folds over other axes
    std::optional<Obstacle> obstacle_;
    std::optional<Diagram> spelled_;
    bool verbatim_ = true;
    std::function<Summand(std::uint32_t)> of_state_;

    [[nodiscard]] bool is_in_place(const Term& term) const;
    [[nodiscard]] bool touches(const Statement& statement) const;
    /// Whether exactly the streamed axes are among these; refuses where only some of them are.
    bool folds_all(const std::vector<AxisId>& over, const Statement& statement, TermId value);
    void add(StatementId id);
    void leave_out(StatementId id, std::size_t folds);
    Part add_map(const Statement& statement, const Map& map);
    Part add_fold(StatementId id, const Statement& statement, const Fold& fold);
    Part add_select(StatementId id, const Statement& statement, const Select& select);
    Part add_opaque(const Statement& statement, const Opaque& opaque);
    /// Targets as arrays that are computed chunk by chunk or after the last one.
    Part materialise(const Statement& statement, const Class& of);
    void define(ArrayId array, TermId term);
    TermId lower_read(const Read& element);
    TermId gather(ArrayId array, const std::vector<TermId>& index, TermId body);
    TermId within(const std::vector<AxisId>& axes, const std::vector<TermId>& index, TermId value,
                  TermId otherwise);
    [[nodiscard]] const std::vector<AxisId>& axes_of_element(const Term& element) const;
    TermId where_read(TermId index, TermId value, TermId otherwise);
    std::optional<TermId> carry(const Read& element, const std::vector<TermId>& index);
    std::optional<TermId> carry(std::uint32_t pick, TermId body);
    std::optional<TermId> carry_elements(TermId term);
    std::optional<TermId> at_selected(TermId summand, AxisId over);
    [[nodiscard]] std::optional<std::uint32_t> pick_at(TermId index);
    [[nodiscard]] bool is_read_along(ArrayId array, AxisId axis) const;
    [[nodiscard]] bool reads_other_chunk(TermId term) const;
    std::uint32_t fold_for(FoldOver wanted);
    void define_fold(ArrayId target, std::uint32_t fold);
    void define_late(ArrayId target, TermId value);
    void refuse(Why why, TermId term);
    [[nodiscard]] const Fold* running_fold(ArrayId array) const;
    void mark_divisors();
    [[nodiscard]] bool has_number(TermId id) const;
    void mark_divided();
    [[nodiscard]] std::optional<TermId> body_of(const Term& term) const;
    [[nodiscard]] Facts facts_of(const Term& term) const;
};

}  // namespace napkin::separation
