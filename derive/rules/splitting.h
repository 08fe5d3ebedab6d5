// A stream cut into parts that run in parallel, and what combines their states.
//
// The accumulator of the stream (derive/accumulator.h) says how a chunk is taken into the state.
// Read with a part in place of the chunk and the initial state in place of the old one, its body is
// what a part computes; read with a part's state in place of the old one, its repaired seeds are
// what a part adds to the whole:
//
//   body of the stream                              a part                    all parts
//   m_new = max(m, max(x) S)                        m[p] = max(x) S           M = max(p) m[p]
//   rho   = exp(m - m_new)                                                    rho[p] = exp(m[p] -
//   M) o     = o * rho + sum(x) exp(S - m_new) * V     o[p] = sum(x) exp(S - m[p]) * V
//                                                                             O = sum(p) o[p] *
//                                                                             rho[p]
//
// A state kept relative to a centre c, as sums of (X - c)^n are, is moved from the part's centre to
// that of all parts by the binomial theorem. A selection among the parts' winners selects among
// all. Everything is ordinary statements over two new axes: a part, and a place inside of it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "derive/rewriting/products.h"
#include "derive/rules/draft.h"

namespace napkin::rules {

struct SplitNames {
    std::string part;
    std::string inner;
};

class Splitting {
public:
    /// The region as it is streamed along `axis`, and the accumulator of that.
    Splitting(const State& state, std::size_t region, AxisId axis, Accumulator accumulator,
              std::int64_t size, const SplitNames& names);

    /// Writes both regions into the draft; the reason why that is not possible.
    [[nodiscard]] std::optional<NotApplicable> run();

    Draft& draft() { return draft_; }
    [[nodiscard]] AxisId part_axis() const { return part_; }
    [[nodiscard]] AxisId inner_axis() const { return inner_; }
    [[nodiscard]] std::size_t parts_region() const { return parts_region_; }
    /// The states that parts save, by name.
    [[nodiscard]] const std::vector<std::string>& saved() const { return saved_; }

private:
    /// A body statement with initial states put in, and which states were updated before it.
    struct Line {
        Statement statement;
        std::set<ArrayId> updated;
        std::size_t body = 0;  ///< where it stands in the accumulator's body
        std::size_t turn = 0;  ///< where it is written
    };
    /// A selection along the axis and the states that keep its winners.
    struct Pick {
        std::size_t line = 0;
        ArrayId best;  ///< states
        ArrayId at;
    };

    const State& state_;
    const Diagram& diagram_;
    std::size_t region_;
    AxisId axis_;
    Accumulator accumulator_;
    Draft draft_;
    AxisId part_;
    AxisId inner_;
    bool ragged_ = false;
    std::size_t parts_region_ = 0;
    std::optional<NotApplicable> problem_;
    std::vector<std::string> saved_;

    std::map<ArrayId, Expression> initial_;
    std::map<ArrayId, ArrayId> newest_;  ///< of a state: the array with its value after the part
    std::vector<Line> lines_;
    std::map<ArrayId, std::size_t> producer_;  ///< into lines_
    std::vector<Pick> picks_;
    std::map<ArrayId, ArrayId> parts_;
    std::map<ArrayId, ArrayId> combined_;
    std::map<ArrayId, Expression> counts_;  ///< sums of a constant over a part
    std::set<ArrayId> zeroed_;              ///< in the draft: 0 beyond the end of the axis
    std::set<ArrayId> local_;               ///< in the draft: indices along the inner axis
    std::set<ArrayId> varying_;             ///< in the draft: what has the part axis
    std::map<std::pair<bool, BoxId>, BoxId> boxes_;
    /// What stands for the part's own value of a state that is being combined.
    std::optional<std::pair<ArrayId, Expression>> moved_;

    void refuse(std::string reason, std::string help = "");
    [[nodiscard]] const Array& array(ArrayId id) const;
    [[nodiscard]] bool is_state(ArrayId id) const { return initial_.count(id) != 0; }

    // splitting.cpp: the body, read once from the initial state
    void read_body();
    void read_update(const Statement& statement, std::size_t index, std::set<ArrayId>& updated);
    void drop_seed(Statement& statement);
    void find_picks();
    void clear_region();
    void write_tail();
    void share_earlier();
    [[nodiscard]] BoxId box(bool combining, BoxId old);
    [[nodiscard]] StatementId first_statement() const;

    // splitting_parts.cpp: what a part computes
    [[nodiscard]] ArrayId part(ArrayId old);
    void write_part(std::size_t line);
    [[nodiscard]] bool carries(const Statement& statement) const;
    [[nodiscard]] bool depends(const Statement& statement);
    [[nodiscard]] std::vector<AxisId> part_axes(ArrayId old, bool dependent) const;
    [[nodiscard]] std::string part_name(ArrayId old) const;
    void write_body(const Statement& source, Statement& target);
    [[nodiscard]] Expression chunk_value(const Expression& value, const Expression& neutral);
    [[nodiscard]] Expression folded_value(const Expression& value, MonoidId monoid,
                                          const Expression& neutral);
    [[nodiscard]] Expression translated(const Expression& expression, bool clamped);
    [[nodiscard]] Expression read_part(const Read& element, bool clamped);
    [[nodiscard]] Expression guarded(Expression value, Expression neutral) const;
    [[nodiscard]] Expression guarded_product(const Expression& product);
    [[nodiscard]] bool vanishes(const Expression& product) const;
    [[nodiscard]] bool varies(const Expression& expression) const;
    [[nodiscard]] Expression place(bool clamped) const;
    [[nodiscard]] Expression offset() const;
    [[nodiscard]] Expression width() const;

    // splitting_combine.cpp: what combines the parts
    [[nodiscard]] ArrayId combined(ArrayId old);
    void combine_fold(std::size_t line);
    void combine_centre(ArrayId state, std::size_t line);
    void combine_pick(const Pick& pick);
    [[nodiscard]] bool folds_parts(const Statement& statement) const;
    [[nodiscard]] ArrayId combine_helper(ArrayId old);
    void note_mean(ArrayId made, ArrayId of, bool alike);
    [[nodiscard]] Expression combining(const Expression& expression,
                                       const std::set<ArrayId>& updated);
    [[nodiscard]] std::optional<Expression> moved_state(const Read& element);
    [[nodiscard]] Expression combining_read(const Read& element, const std::set<ArrayId>& updated);
    [[nodiscard]] Expression saved_read(ArrayId old, std::vector<Expression> index);
    [[nodiscard]] ArrayId add_combining(const std::string& name, std::vector<AxisId> axes,
                                        std::variant<Map, Fold> body, const Statement& like);

    // splitting_centre.cpp: states relative to a centre
    [[nodiscard]] const Gauge* held(ArrayId state) const;
    [[nodiscard]] const Gauge* running_mean(ArrayId next) const;
    [[nodiscard]] bool mentions_centre(const Expression& expression) const;
    [[nodiscard]] Expression inlined(const Expression& expression, bool all = false) const;
    [[nodiscard]] Expression moved(const Line& line, std::size_t component);
    [[nodiscard]] Expression moment(const Line& line, const Product& product,
                                    const std::vector<Expression>& guards);
};

}  // namespace napkin::rules
