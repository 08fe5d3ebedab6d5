#include "derive/proof/monoid_laws.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "derive/proof/evaluate_plain.h"
#include "derive/proof/extended_domain.h"
#include "diagrams/random.h"

namespace napkin::proof {
namespace {

constexpr int kTrialsOfALaw = 256;
constexpr int kDeepestStatements = 16;  ///< statements that an element is followed back through
constexpr MonoidId kFirstOfUsers{4};
// Differences that rounding of long double does not explain.
constexpr long double kTolerance = 0x1p-40L;

using Element = std::vector<WideReal>;

/// Up to rounding of numbers as large as `most`.
bool same(const Element& a, const Element& b, long double most) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        const long double x = a[i].value();
        const long double y = b[i].value();
        if (x == y) continue;
        if (!(std::abs(x - y) <= kTolerance * (1 + most))) return false;
    }
    return true;
}

/// The largest finite magnitude in elements.
long double largest_of(const std::vector<Element>& elements) {
    long double largest = 0;
    for (const Element& element : elements)
        for (const WideReal& part : element)
            if (std::isfinite(part.value())) largest = std::max(largest, std::abs(part.value()));
    return largest;
}

std::string text_of(const Element& element) {
    std::ostringstream text;
    for (const WideReal& part : element)
        text << (text.str().empty() ? "(" : ", ") << static_cast<double>(part.value());
    return text.str() + ")";
}

class LawChecker {
public:
    LawChecker(const Diagram& diagram, MonoidId monoid, std::uint64_t seed)
        : diagram_(diagram),
          monoid_(diagram[monoid]),
          random_(seed),
          evaluator_(domain_, diagram, {}) {
        for (const Statement& statement : diagram.statements)
            if (const Fold* fold = std::get_if<Fold>(&statement.body);
                fold && fold->monoid == monoid)
                folds_.push_back(fold);
        for (const Expression& part : monoid_.combine) note_scales(part);
        for (const Fold* fold : folds_)
            for (const Expression& value : fold->values) note_scales(value);
    }

    std::string run() {
        if (folds_.empty()) return "";  // Nobody asks for its laws.
        Element identity;
        for (const Expression& part : monoid_.identity) identity.push_back(evaluator_.value(part));
        for (int i = 0; i < kTrialsOfALaw; ++i) {
            seen_.clear();
            const Element a = draw();
            const Element b = draw();
            const Element c = draw();
            const Element ab = combine(a, b);
            const Element bc = combine(b, c);
            const Element left = combine(ab, c);
            const Element right = combine(a, bc);
            const long double most = largest_of({a, b, c, ab, bc, left, right});
            if (!same(combine(identity, a), a, largest_of({a})) ||
                !same(combine(a, identity), a, largest_of({a})))
                return "its identity changes " + text_of(a);
            if (!same(left, right, most))
                return "it is not associative at " + text_of(a) + ", " + text_of(b) + ", " +
                       text_of(c);
            if (monoid_.commutative && !same(ab, combine(b, a), most))
                return "it is not commutative at " + text_of(a) + ", " + text_of(b);
        }
        return "";
    }

private:
    /// A partial fold of up to three elements, as the diagram's folds make them.
    Element draw() {
        Element element = draw_one();
        for (std::int64_t more = random_.below(3); more > 0; --more)
            element = combine(element, draw_one());
        return element;
    }
    Element draw_one() {
        known_.clear();
        Element element;
        for (const Expression& value : folds_[index_below(folds_.size())]->values)
            element.emplace_back(drawn(value, 0));
        return element;
    }
    std::size_t index_below(std::size_t count) {
        return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(count)));
    }
    /// Small numbers, some of them whole; numbers about as large as those that the rule has in it;
    /// and every other time one that this trial has seen, at times with its sign turned: a rule
    /// that compares elements may tell those apart that are equal in what it compares.
    /// Integers of a type are as likely any that it has.
    double anything(ElementType type = ElementType::F64) {
        if (!seen_.empty() && random_.below(2) == 0) {
            const double value = seen_[index_below(seen_.size())];
            return round_to(type, random_.below(4) == 0 ? -value : value);
        }
        if (!is_floating(type) && random_.below(2) == 0) {
            seen_.push_back(wide_integer(type, random_));
            return seen_.back();
        }
        const double scale = scales_[index_below(scales_.size())];
        seen_.push_back(scale * (random_.below(3) == 0 ? static_cast<double>(random_.below(5) - 2)
                                                       : random_.normal()));
        return round_to(type, seen_.back());
    }
    void note_scales(const Expression& expression) {
        walk(expression, [&](const Expression& part) {
            const double* value = literal(part);
            if (value != nullptr && *value != 0 && std::isfinite(*value))
                scales_.push_back(std::abs(*value));
        });
    }
    /// The expression where inputs are drawn, one that several parts of an element read for all of
    /// them: what is a constant or above zero stays so.
    double drawn(const Expression& expression, int depth) {
        if (const Number* number = std::get_if<Number>(&expression.node)) return number->value;
        if (const Convert* convert = std::get_if<Convert>(&expression.node))
            return kept(convert->type, drawn(convert->argument.front(), depth));
        const Apply* call = std::get_if<Apply>(&expression.node);
        if (call == nullptr) {
            for (const auto& [known, value] : known_)
                if (known == expression) return value;
            const Read* element = std::get_if<Read>(&expression.node);
            // Elsewhere than at its own axes a definition reads other inputs.
            const bool here =
                element == nullptr ||
                expression == read_axes(element->array, diagram_[element->array].axes);
            const auto outside = known_;
            if (!here) known_.clear();
            const double value = element != nullptr
                                     ? drawn(element->array, depth)
                                     : static_cast<double>(random_.below(5));  // an index or a size
            if (!here) known_ = outside;
            known_.emplace_back(expression, value);
            return value;
        }
        std::vector<double> arguments;
        for (const Expression& argument : call->arguments)
            arguments.push_back(drawn(argument, depth));
        const double value = apply_function(call->function, arguments);
        return std::isfinite(value) ? value : anything();
    }
    double drawn(ArrayId array, int depth) {
        const Array& own = diagram_[array];
        if (depth < kDeepestStatements)
            for (const Statement& statement : diagram_.statements) {
                const Map* map = std::get_if<Map>(&statement.body);
                if (map && statement.targets.front() == array)
                    return kept(own.type, drawn(map->value, depth + 1));
            }
        if (own.type == ElementType::Bool) return static_cast<double>(random_.below(2));
        if (own.indexes) return static_cast<double>(random_.below(diagram_[*own.indexes].extent));
        return is_floating(own.type) ? anything() : anything(own.type);
    }
    /// Where it is kept as an integer or a condition it is one; other roundings are small.
    static double kept(ElementType type, double value) {
        return is_floating(type) ? value : round_to(type, value);
    }
    Element combine(const Element& a, const Element& b) {
        Element operands = a;
        operands.insert(operands.end(), b.begin(), b.end());
        Element result;
        for (const Expression& part : monoid_.combine)
            result.push_back(evaluator_.value(part, operands));
        return result;
    }

    const Diagram& diagram_;
    const Monoid& monoid_;
    std::vector<const Fold*> folds_;  ///< by the monoid
    std::vector<double> scales_ = {1};
    std::vector<std::pair<Expression, double>> known_;  ///< of the element that is drawn
    std::vector<double> seen_;                          ///< by `anything`, of the trial
    Random random_;
    ExtendedDomain domain_;
    PlainEvaluator<ExtendedDomain> evaluator_;
};

}  // namespace

std::string broken_law(const Diagram& diagram, std::uint64_t seed) {
    for (std::uint32_t i = kFirstOfUsers.value; i < diagram.monoids.size(); ++i) {
        const std::string broken = LawChecker(diagram, MonoidId{i}, seed).run();
        if (!broken.empty()) return "monoid `" + diagram.monoids[i].name + "`: " + broken;
    }
    return "";
}

}  // namespace napkin::proof
