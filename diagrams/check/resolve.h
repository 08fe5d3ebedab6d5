// Resolving one line: from a syntax tree to expressions over arrays, with every reduction inside
// hoisted into an unnamed statement of its own.
//
// Named operations and lets are replaced by their texts while resolving: parameters are bound to
// expressions that were resolved where the call stands, so names cannot be captured; bracket axes
// are bound to the call's axes, so that a reduction of the definition binds the axes of its
// arguments, as is meant.
#pragma once

#include <optional>
#include <variant>

#include "diagrams/check/context.h"

namespace napkin::checking {

/// What a name of an axis means inside a definition or a let.
struct AxisBinding {
    std::vector<AxisId> axes;         ///< several for softmax[u, v]
    std::optional<Expression> index;  ///< a let's index, where it is not the axis itself
};

/// A reduction that extends to the place being resolved, with nothing that delimits it between.
struct OpenReduction {
    AxisId axis;
    Span span;
};

/// The names and conditions that hold at one place of an expression.
struct Scope {
    std::map<std::string, AxisBinding> axes;
    std::map<std::string, Expression> values;
    std::string definition;     ///< the definition being replaced; its names only are visible
    std::optional<Span> place;  ///< where library text is said to stand: at its call
    std::vector<OpenReduction> open;
    bool in_index = false;           ///< in the brackets of an array
    bool combines = false;           ///< in a monoid's combination, which is of numbers alone
    std::vector<Expression> guards;  ///< conditions that hold here
    std::vector<std::string> calls;  ///< definitions and lets around this place
};

/// A fold or selection that has no target yet.
struct Reduction {
    std::variant<Fold, Select> body;
    bool ranked = false;       ///< topk: its rank axis comes from the target
    std::vector<AxisId> free;  ///< axes its value varies over, without woven ones
    Span span;
};
/// What a whole right side is.
using Whole = std::variant<Expression, Reduction>;

class Resolver {
public:
    /// `target` names what is hoisted; `axes` are its axes, which order those of what is hoisted.
    Resolver(Context& context, std::string target, std::vector<AxisId> axes, BoxId box, Span line);

    /// A value; nullopt when there were errors.
    [[nodiscard]] std::optional<Expression> value(const syntax::Expression& source,
                                                  const Scope& scope);
    /// A right side; a reduction that is all of it is not hoisted.
    [[nodiscard]] std::optional<Whole> whole(const syntax::Expression& source, const Scope& scope);
    /// Gives a reduction unnamed targets, one a component, and appends its statement.
    std::vector<ArrayId> hoist(Reduction reduction, const std::vector<Expression>& guards);

private:
    using Maybe = std::optional<Expression>;
    Maybe node(const syntax::Literal& literal, Span span, const Scope& scope);
    Maybe node(const syntax::Reference& name, Span span, const Scope& scope);
    Maybe node(const syntax::Access& access, Span span, const Scope& scope);
    Maybe node(const syntax::Call& call, Span span, const Scope& scope);
    Maybe node(const syntax::Reduction& reduction, Span span, const Scope& scope);
    Maybe node(const syntax::Unary& unary, Span span, const Scope& scope);
    Maybe node(const syntax::Binary& binary, Span span, const Scope& scope);
    Maybe node(const syntax::Conditional& conditional, Span span, const Scope& scope);

    Maybe bound_name(const syntax::Name& name, Span span, const Scope& scope);
    Maybe diagram_name(const syntax::Name& name, Span span, const Scope& scope);
    Maybe let_value(const syntax::LetLine& let, const std::vector<syntax::Expression>& index,
                    Span span, const Scope& scope);
    Maybe size_call(const syntax::Call& call, Span span, const Scope& scope);
    void spell(const syntax::Call& call, const Scope& inside, const Expression& value);
    Maybe function_call(const syntax::Call& call, Span span, const Scope& scope);
    std::optional<std::vector<Expression>> arguments(const std::vector<syntax::Expression>& list,
                                                     const Scope& scope);
    /// The scope of a definition's text; nullopt when the call does not fit it.
    std::optional<Scope> enter(const syntax::Call& call, const Operation& operation, Span span,
                               const Scope& scope);
    std::optional<Scope> replacing(const std::string& name, Span span, const Scope& scope);
    bool bind_axes(Scope& inside, const syntax::Call& call, const syntax::Definition& definition,
                   Span span, const Scope& scope);
    std::optional<Scope> enter_let(const syntax::LetLine& let,
                                   const std::vector<syntax::Expression>& index, Span span,
                                   const Scope& scope);
    std::optional<Reduction> reduction(const syntax::Reduction& source, Span span,
                                       const Scope& scope);
    std::optional<Reduction> topk(const syntax::Call& call, Span span, const Scope& scope);
    std::optional<std::vector<Expression>> operands(const syntax::Reduction& source,
                                                    std::size_t components, Span span,
                                                    const Scope& inside);
    bool check_nesting(const std::vector<AxisId>& over, Span span, const Scope& scope);
    std::optional<std::vector<AxisId>> axes_named(const syntax::Name& name, const Scope& scope);
    std::optional<std::vector<AxisId>> reduced_axes(const std::string& owner,
                                                    const std::vector<syntax::Name>& names,
                                                    const Scope& scope);
    void find_free(Reduction& reduction) const;
    void warn_of_the_same(const Reduction& reduction);
    void shift(Reduction& scan) const;
    /// Whether a reduction's accesses are inside only where `guards` hold.
    [[nodiscard]] bool needs(Reduction& reduction, const std::vector<Expression>& guards) const;
    void guard_accesses(Reduction& reduction, const std::vector<Expression>& guards);
    bool spend(std::size_t nodes);

    Context& context_;
    std::string target_;
    std::vector<AxisId> target_axes_;
    BoxId box_;
    Span line_;
    std::vector<std::pair<Reduction, std::vector<ArrayId>>> hoisted_;
    std::size_t spent_ = 0;
};

/// The scope inside parentheses or brackets: reductions around them do not reach in.
[[nodiscard]] inline Scope delimited(const Scope& scope) {
    Scope inner = scope;
    inner.open.clear();
    return inner;
}

/// The span to give a node written at `span`.
[[nodiscard]] inline Span placed(Span span, const Scope& scope) {
    return scope.place.value_or(span);
}

/// Reports names that a user's definition cannot know, wherever it is called or not.
void check_definition(Context& context, const syntax::Definition& definition);
/// The components of a monoid's combination, its names replaced by operands.
[[nodiscard]] std::vector<Expression> resolve_combine(Context& context,
                                                      const syntax::MonoidDefinition& monoid);

}  // namespace napkin::checking
