#include "derive/proof/monoid_laws.h"

#include <cmath>
#include <sstream>

#include "derive/proof/evaluate_plain.h"
#include "derive/proof/extended_domain.h"
#include "diagrams/random.h"

namespace napkin::proof {
namespace {

constexpr int kTrials = 64;
constexpr MonoidId kFirstOfUsers{4};
// Differences that rounding of long double does not explain.
constexpr long double kTolerance = 0x1p-40L;

using Element = std::vector<WideReal>;

bool same(const Element& a, const Element& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        const long double x = a[i].value();
        const long double y = b[i].value();
        if (x == y) continue;
        if (!(std::abs(x - y) <= kTolerance * (1 + std::abs(x) + std::abs(y)))) return false;
    }
    return true;
}

std::string text_of(const Element& element) {
    std::ostringstream text;
    for (const WideReal& part : element)
        text << (text.str().empty() ? "(" : ", ") << static_cast<double>(part.value());
    return text.str() + ")";
}

class LawChecker {
public:
    LawChecker(const Diagram& diagram, const Monoid& monoid, std::uint64_t seed)
        : monoid_(monoid), random_(seed), evaluator_(domain_, diagram, {}) {}

    std::string run() {
        Element identity;
        for (const Expression& part : monoid_.identity) identity.push_back(evaluator_.value(part));
        for (int i = 0; i < kTrials; ++i) {
            const Element a = draw();
            const Element b = draw();
            const Element c = draw();
            if (!same(combine(identity, a), a) || !same(combine(a, identity), a))
                return "its identity changes " + text_of(a);
            if (!same(combine(combine(a, b), c), combine(a, combine(b, c))))
                return "it is not associative at " + text_of(a) + ", " + text_of(b) + ", " +
                       text_of(c);
            if (monoid_.commutative && !same(combine(a, b), combine(b, a)))
                return "it is not commutative at " + text_of(a) + ", " + text_of(b);
        }
        return "";
    }

private:
    /// Small numbers, some of them whole, so that equal elements and zeros occur.
    Element draw() {
        Element element;
        for (std::size_t i = 0; i < monoid_.combine.size(); ++i)
            element.emplace_back(random_.below(3) == 0 ? static_cast<double>(random_.below(5) - 2)
                                                       : random_.normal());
        return element;
    }
    Element combine(const Element& a, const Element& b) {
        Element operands = a;
        operands.insert(operands.end(), b.begin(), b.end());
        Element result;
        for (const Expression& part : monoid_.combine)
            result.push_back(evaluator_.value(part, operands));
        return result;
    }

    const Monoid& monoid_;
    Random random_;
    ExtendedDomain domain_;
    PlainEvaluator<ExtendedDomain> evaluator_;
};

}  // namespace

std::string broken_law(const Diagram& diagram, std::uint64_t seed) {
    for (std::size_t i = kFirstOfUsers.index(); i < diagram.monoids.size(); ++i) {
        const std::string broken = LawChecker(diagram, diagram.monoids[i], seed).run();
        if (!broken.empty()) return "monoid `" + diagram.monoids[i].name + "`: " + broken;
    }
    return "";
}

}  // namespace napkin::proof
