#include "derive/separation/judge/refusal.h"

#include <algorithm>
#include <cmath>

#include "derive/separation/algebra/mentions.h"
#include "derive/separation/judge/rank.h"
#include "derive/separation/write/formula_text.h"
#include "diagrams/infinity.h"

namespace napkin::separation {
namespace {

/// Terms as expressions that read every array by its name, final or not.
class Namer {
public:
    explicit Namer(Cascade& cascade) : cascade_(cascade), algebra_(cascade.algebra()) {}

    Expression write(TermId id, bool by_name) {
        const Term term = algebra_[id];
        const auto known = cascade_.arrays_by_term().find(id);
        if (by_name && known != cascade_.arrays_by_term().end())
            return read_axes(known->second, cascade_.diagram()[known->second].axes);
        std::vector<Expression> parts;
        for (const TermId part : term.parts) parts.push_back(write(part, true));
        switch (term.kind) {
        case Kind::Number: return number(term.number, term.ref == 1);
        case Kind::Axis: return axis_index(AxisId{term.ref});
        case Kind::Size: return size_of(AxisId{term.ref});
        case Kind::Apply: return apply(term.function, std::move(parts));
        case Kind::Convert:
            return Expression{Convert{static_cast<ElementType>(term.ref), std::move(parts)}, {}};
        case Kind::Mask:
            return apply(Function::Select, {std::move(parts[0]), integer(0), number(-kInfinity)});
        case Kind::Read:
        case Kind::Late: return read(ArrayId{term.ref}, std::move(parts));
        case Kind::Fold: {
            const FoldOver& fold = cascade_.folds()[term.ref];
            if (fold.target) return read(*fold.target, std::move(parts));
            return write(algebra_[fold.body].parts[1], true);  // of a gather: what is gathered
        }
        case Kind::Inner: return std::move(parts.front());
        case Kind::Sum: return write(PolynomialId{term.ref});
        case Kind::Relative: return std::move(parts.front());
        case Kind::Mean: return integer(0);  // its counterpart is written whole
        case Kind::State: break;
        }
        throw InternalError("a state in a message");
    }

    Expression write(PolynomialId id) {
        std::optional<Expression> sum;
        for (const auto& [mono, coefficient] : Polynomial(algebra_[id]).terms) {
            const bool minus = sum && coefficient < 0;
            Expression term = write(mono, minus ? -coefficient : coefficient);
            sum = sum ? apply(minus ? Function::Subtract : Function::Add,
                              {std::move(*sum), std::move(term)})
                      : std::move(term);
        }
        return sum ? *sum : integer(0);
    }

private:
    Cascade& cascade_;
    Algebra& algebra_;

    Expression write(const Monomial& mono, double coefficient) {
        std::optional<Expression> above;
        std::optional<Expression> below;
        const auto join = [](std::optional<Expression>& side, Expression factor) {
            side = side ? apply(Function::Multiply, {std::move(*side), std::move(factor)})
                        : std::move(factor);
        };
        const double size = std::abs(coefficient);
        if (size != 1) above = number(size);
        if (mono.exponent != kZero) join(above, apply(Function::Exp, {write(mono.exponent)}));
        for (const auto& [term, power] : mono.powers) {
            Expression base = write(term, true);
            const double exponent = std::abs(power);
            if (exponent == 0.5)
                base = apply(Function::Sqrt, {std::move(base)});
            else if (exponent != 1)
                base = apply(Function::Power, {std::move(base), number(exponent)});
            join(power < 0 ? below : above, std::move(base));
        }
        Expression value = above ? std::move(*above) : integer(1);
        if (below) value = apply(Function::Divide, {std::move(value), std::move(*below)});
        for (const TermId guard : mono.guards)
            value = apply(Function::Select, {write(guard, true), std::move(value), integer(0)});
        return coefficient < 0 ? apply(Function::Negate, {std::move(value)}) : value;
    }
};

std::string operator_name(const Term& term) {
    if (term.kind == Kind::Convert)
        return "rounding to " + std::string(name_of(static_cast<ElementType>(term.ref)));
    if (term.kind == Kind::Apply) return std::string("`") + name_of(term.function) + "`";
    return "it";
}

std::string sentence(Why why, const std::string& op, const std::string& streamed,
                     const std::string& folded, const std::string& axis) {
    const std::string late = folded + " (final only after the last chunk)";
    const std::string both = streamed + " (streamed) and " + late;
    switch (why) {
    case Why::Function:
    case Why::Rounding: return op + " of " + both + " is not a sum of products";
    case Why::Exponent:
        return "the exponent multiplies " + streamed + " by " + folded +
               "; the exponential of a sum separates, of a product it does not";
    case Why::Condition:
        return "it compares each element, " + streamed + ", with " + folded +
               ", which is not final; elements once kept would have to be reconsidered";
    case Why::Power: return "this power of " + both + " is not multiplied out";
    case Why::Sign:
        return "the root or logarithm of " + both +
               " comes apart only where both are known to be "
               "non-negative";
    case Why::Growth: return "multiplied out it has more than 64 products";
    case Why::Capture:
        return "one axis is used in two roles here; an alias (`axis e = d`) parts them";
    case Why::Inner:
        return "a fold over another axis of " + both + " comes apart only when it is a sum";
    case Why::Gather:
        return "it reads an element of another chunk along `" + axis +
               "`, or at an index that is not known beforehand";
    case Why::Output: return "";
    case Why::Apart:
        return "it is folded over some of `" + axis +
               "` only; axes that are streamed together are folded together";
    case Why::Maximum:
        return "an extreme of several products of " + both +
               " is not a sum or a product of "
               "extremes";
    case Why::Monoid:
        return "what depends on " + late +
               " would have to be taken out of the fold, which is done for sums and extremes only";
    case Why::Scan:
        return "the running fold uses " + folded + ", which is final only after the last chunk";
    case Why::Quotient:
        return "it divides by a product that runs along `" + axis +
               "`; where that becomes 0, or too small for its type, everything after is lost";
    case Why::List:
        return "the list of the largest elements would keep too much of `" + axis +
               "`; up to 32 are kept";
    case Why::Ranks:
        return "how many are selected grows with `" + axis + "`, and a state does not grow";
    case Why::Select:
        return "the selection along `" + axis + "` compares values that depend on " + late;
    }
    return "";
}

/// Whether a sum of products is what was looked for, so that rank says something.
bool speaks_of_sums(Why why) {
    return why != Why::Maximum && why != Why::Monoid && why != Why::Select && why != Why::List &&
           why != Why::Ranks && why != Why::Scan && why != Why::Quotient;
}

/// What sampled values say: a form with fewer products than the rank does not exist.
std::string evidence(const Algebra& algebra, TermId term) {
    if (!algebra.class_of(term).mixed()) return "";
    const int rank = sampled_rank(algebra, term);
    if (rank == 0) return "";  // they are all equal, as of a comparison that never holds
    const int more = sampled_rank(algebra, term, 2 * kRankPoints);
    const std::string found = std::to_string(rank) + " of " + std::to_string(kRankPoints);
    if (rank == kRankPoints)
        return "; sampled values have rank " + found + ", so no sum of fewer products equals it";
    if (more > rank)
        return "; sampled values have rank " + found + " and " + std::to_string(more) + " of " +
               std::to_string(2 * kRankPoints) + ", which grows with the number of points";
    return "; sampled values have rank " + found + " only, so a rule may be missing here";
}

NotApplicable quotient_refusal(Cascade& cascade, TermId term) {
    const Fold* running = cascade.running_divisor(term, kProduct);
    if (running == nullptr) running = cascade.running_divisor(term, kSum);
    invariant(running != nullptr, "a quotient of running products has none");
    const std::string axis = cascade.diagram()[running->over.front()].name;
    NotApplicable refused = with_ways_out(
        cascade,
        "`" + term_text(cascade, term, false) + "`: " + sentence(Why::Quotient, "", "", "", axis),
        std::nullopt);
    refused.help =
        "keep `h = a * h + b` as a scan of affine maps, which divides by nothing: `monoid "
        "affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0) noncommutative`, then `A[" +
        axis + "], H[" + axis + "] = scan[" + axis + "] affine (a, b)`";
    return refused;
}

}  // namespace

const Diagram& Cascade::spelled() {
    if (spelled_) return *spelled_;
    spelled_ = diagram_;
    for (const Statement& statement : diagram_.statements)
        for (std::size_t i = 0; i < statement.targets.size(); ++i) {
            Array& array = spelled_->arrays[statement.targets[i].index()];
            if (!array.named) array.name = value_text(*spelled_, statement, i);
        }
    return *spelled_;
}

std::string term_text(Cascade& cascade, TermId term, bool by_name) {
    return formula_text(cascade.spelled(), Namer(cascade).write(term, by_name));
}

namespace {

/// The array that a value which is rounded defines.
std::optional<ArrayId> rounded_array(Cascade& cascade, TermId term) {
    if (cascade.algebra()[term].kind != Kind::Convert) return std::nullopt;
    for (const RegionStatement& each : cascade.statements())
        for (const ArrayId target : cascade.diagram()[each.statement].targets)
            if (cascade.diagram()[target].rounds && cascade.definition(target) == term)
                return target;
    return std::nullopt;
}

/// What a function is applied to, or what is divided by: what a sum adds up, or several arguments.
std::vector<TermId> operands_of(const Algebra& algebra, TermId id) {
    const Term& term = algebra[id];
    if (term.kind != Kind::Apply || term.parts.empty()) return {};
    if (term.function == Function::Max || term.function == Function::Min) return term.parts;
    std::vector<TermId> open{term.parts[term.function == Function::Divide ? 1 : 0]};
    std::vector<TermId> found;
    while (!open.empty()) {
        const TermId each = open.back();
        open.pop_back();
        const Term& part = algebra[each];
        const bool sum = part.kind == Kind::Apply &&
                         (part.function == Function::Add || part.function == Function::Subtract);
        if (!sum) found.push_back(each);
        if (sum) open.insert(open.end(), part.parts.rbegin(), part.parts.rend());
    }
    return found;
}

/// The sentence for a function or a quotient of a sum: all that it adds up, in the user's names.
std::string sentence_of_sum(Cascade& cascade, const Obstacle& obstacle) {
    const Algebra& algebra = cascade.algebra();
    const Term term = algebra[obstacle.term];
    const bool speaks = obstacle.why == Why::Power || obstacle.why == Why::Function;
    if (!speaks || term.kind != Kind::Apply) return "";
    if (term.function == Function::Power) {
        const Term& exponent = algebra[term.parts[1]];
        if (exponent.kind == Kind::Number && exponent.number > 0 &&
            exponent.number == std::floor(exponent.number))
            return "powers of a sum above the eighth are not multiplied out";
    }
    const std::vector<TermId> operands = operands_of(algebra, obstacle.term);
    const auto varies = [&](TermId each) {
        return algebra.class_of(each).streamed || algebra.class_of(each).folded;
    };
    const bool mixed = std::any_of(operands.begin(), operands.end(),
                                   [&](TermId each) { return algebra.class_of(each).mixed(); });
    if (operands.size() < 2 || (!mixed && obstacle.why == Why::Function)) return "";
    std::string list;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Class& of = algebra.class_of(operands[i]);
        list += i == 0 ? "" : i + 1 == operands.size() ? " and " : ", ";
        list += "`" + term_text(cascade, operands[i]) + "`";
        if (of.mixed()) list += " (streamed, and final only after the last chunk)";
        if (varies(operands[i]) && !of.mixed())
            list += of.folded ? " (final only after the last chunk)" : " (streamed)";
    }
    const bool several = term.function == Function::Max || term.function == Function::Min;
    if (term.function == Function::Divide)
        return "a quotient by the sum of " + list + " is not a sum of products";
    return std::string("`") + name_of(term.function) + "` of " + (several ? "" : "the sum of ") +
           list + " is not a sum of products";
}

std::string typed_name(const Array& array) {
    return array.name + " : " + std::string(name_of(array.type));
}

}  // namespace

NotApplicable refusal(Cascade& cascade, const Obstacle& obstacle) {
    if (obstacle.why == Why::Quotient) return quotient_refusal(cascade, obstacle.term);
    const std::string axis = cascade.axis_names();
    const auto part = [&](const std::optional<TermId>& term, const char* otherwise) {
        return term ? "`" + term_text(cascade, *term) + "`" : std::string(otherwise);
    };
    std::string text = term_text(cascade, obstacle.term, false);
    const Algebra& algebra = cascade.algebra();
    std::string op = operator_name(algebra[obstacle.term]);
    const std::optional<ArrayId> rounded = rounded_array(cascade, obstacle.term);
    if (rounded) text = typed_name(cascade.diagram()[*rounded]);
    std::string why = sentence_of_sum(cascade, obstacle);
    if (why.empty())
        why = sentence(obstacle.why, op, part(obstacle.streamed, "a value"),
                       part(obstacle.folded, "a fold"), axis);
    if (speaks_of_sums(obstacle.why)) why += evidence(algebra, obstacle.term);
    NotApplicable refused = with_ways_out(cascade, "`" + text + "`: " + why, obstacle.term);
    const Term& term = algebra[obstacle.term];
    if (obstacle.why == Why::Gather && term.kind == Kind::Read)
        refused.help =
            "keep `" + cascade.diagram()[ArrayId{term.ref}].name + "` in a region of its own";
    if (rounded && is_floating(cascade.diagram()[*rounded].type)) {
        const Array& array = cascade.diagram()[*rounded];
        refused.help = "leave the type of `" + array.name + "` away and `retype " + array.name +
                       " to " + std::string(name_of(array.type)) +
                       "`, which rounds what is kept of it before it is divided by anything; or " +
                       refused.help;
    }
    return refused;
}

NotApplicable output_refusal(Cascade& cascade, ArrayId array) {
    const Diagram& diagram = cascade.spelled();
    const std::string axis = cascade.axis_names();
    std::set<std::string> folds;
    Algebra& algebra = cascade.algebra();
    (void)mentions(algebra, *cascade.unrounded(array), [&](TermId id) {
        const Term term = algebra[id];
        if (term.kind == Kind::Fold) {
            const FoldOver& fold = cascade.folds()[term.ref];
            folds.insert("`" + (fold.target ? diagram[*fold.target].name : "a fold") + "`");
        }
        if (term.kind == Kind::Late) folds.insert("`" + diagram[ArrayId{term.ref}].name + "`");
        return false;
    });
    std::string list;
    for (const std::string& fold : folds) list += (list.empty() ? "" : ", ") + fold;
    return with_ways_out(cascade,
                         "`" + diagram[array].name + "` carries `" + axis + "` and depends on " +
                             list +
                             ": chunk 1 would have to be written before the last chunk is "
                             "read",
                         *cascade.unrounded(array));
}

NotApplicable late_storage_refusal(Cascade& cascade, ArrayId wire, ElementType type) {
    const std::string& name = cascade.diagram()[wire].name;
    return {
        .reason = "`" + name + "` is stored in " + std::string(name_of(type)) +
                  ", but is final only after the last chunk of `" + cascade.axis_names() +
                  "`, and what is folded is formed without its rounded value",
        .help = "take back `retype " + name + "`, or keep `" + name + "` in a region of its own"};
}

NotApplicable storage_refusal(Cascade& cascade, ArrayId wire, ElementType type) {
    const Diagram& diagram = cascade.diagram();
    const std::string& name = diagram[wire].name;
    const std::string axis = cascade.axis_names();
    return {
        .reason = "`" + name + "` is stored in " + std::string(name_of(type)) +
                  ", but depends on folds over `" + axis +
                  "` that are final only after the last chunk, and nothing that is folded has "
                  "its streamed part as a factor",
        .help = "take back `retype " + name + "`, or keep `" + name + "` in a region of its own"};
}

}  // namespace napkin::separation
