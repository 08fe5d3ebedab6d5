#include "diagrams/evaluate/whole/products.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagrams/integer_range.h"

namespace napkin::evaluation {
namespace {

/// More factors are not told apart: each subset of them is tried.
constexpr std::size_t kMostFactors = 8;

struct Product {
    double coefficient = 1;
    std::vector<Expression> factors;
};
using Sum = std::vector<Product>;

const Apply* call_of(const Expression& expression) {
    return std::get_if<Apply>(&expression.node);
}

Sum expand(const Diagram& diagram, const Expression& expression);

Sum scaled(Sum sum, double factor) {
    for (Product& product : sum) product.coefficient *= factor;
    return sum;
}

/// As one product, with the whole expression for a factor where it is a sum.
Product single(const Diagram& diagram, const Expression& expression) {
    Sum sum = expand(diagram, expression);
    return sum.size() == 1 ? std::move(sum.front()) : Product{1, {expression}};
}

Product joined(Product left, const Product& right) {
    left.coefficient *= right.coefficient;
    left.factors.insert(left.factors.end(), right.factors.begin(), right.factors.end());
    return left;
}

/// `abs(a * b)` is `abs(a) * abs(b)`, and guards do nothing to what is finite.
Product of_each(Function function, Product product) {
    if (function == Function::Abs) product.coefficient = std::abs(product.coefficient);
    for (Expression& factor : product.factors) factor = apply(function, {std::move(factor)});
    return product;
}

/// Whether no read leaves its array, whatever the axes' indices.
bool stays_inside(const Diagram& diagram, const Expression& expression) {
    const LeafRange leaf = [&](const Expression& part) -> std::optional<Interval> {
        if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
            return Interval{0, diagram[index->axis].extent - 1};
        if (const SizeOf* size = std::get_if<SizeOf>(&part.node))
            return Interval{diagram[size->axis].extent, diagram[size->axis].extent};
        return std::nullopt;
    };
    bool inside = true;
    walk(expression, [&](const Expression& part) {
        const Read* element = std::get_if<Read>(&part.node);
        if (element == nullptr) return;
        const std::vector<AxisId>& axes = diagram[element->array].axes;
        for (std::size_t at = 0; at < axes.size(); ++at) {
            const std::optional<Interval> range = value_range(element->index[at], leaf);
            inside = inside && range && range->within({0, diagram[axes[at]].extent - 1});
        }
    });
    return inside;
}

/// A product where a condition holds, 0 elsewhere. A factor that reads outside its arrays elsewhere
/// has the condition itself.
Product chosen_by(const Diagram& diagram, const Expression& condition, Product product) {
    bool is_tested = false;
    for (Expression& factor : product.factors)
        if (!stays_inside(diagram, factor)) {
            factor = apply(Function::Select, {condition, std::move(factor), number(0)});
            is_tested = true;
        }
    if (!is_tested)
        product.factors.push_back(apply(Function::Select, {condition, number(1), number(0)}));
    return product;
}

Sum expand_multiply(const Diagram& diagram, const Expression& a, const Expression& b) {
    for (const auto& [one, other] : {std::pair{&a, &b}, {&b, &a}})
        if (const Number* literal = std::get_if<Number>(&one->node);
            literal != nullptr && std::isfinite(literal->value))
            return scaled(expand(diagram, *other), literal->value);
    return {joined(single(diagram, a), single(diagram, b))};
}

Sum expand(const Diagram& diagram, const Expression& expression) {
    const Sum whole = {{1, {expression}}};
    if (const Number* literal = std::get_if<Number>(&expression.node))
        return std::isfinite(literal->value) ? Sum{{literal->value, {}}} : whole;
    const Apply* call = call_of(expression);
    if (call == nullptr) return whole;
    const std::vector<Expression>& arguments = call->arguments;
    switch (call->function) {
    case Function::Negate: return scaled(expand(diagram, arguments[0]), -1);
    case Function::Add:
    case Function::Subtract: {
        Sum sum = expand(diagram, arguments[0]);
        const Sum second =
            scaled(expand(diagram, arguments[1]), call->function == Function::Subtract ? -1 : 1);
        sum.insert(sum.end(), second.begin(), second.end());
        return sum;
    }
    case Function::Multiply: return expand_multiply(diagram, arguments[0], arguments[1]);
    case Function::Abs:
    case Function::Guard: {
        const Product inside = single(diagram, arguments[0]);
        if (inside.factors.size() < 2) return whole;
        return {of_each(call->function, inside)};
    }
    case Function::Divide: {
        // Infinity divided by infinity is no product.
        Product above = single(diagram, arguments[0]);
        if (above.factors.size() < 2 || !arrays_read(arguments[1]).empty()) return whole;
        above.factors.push_back(apply(Function::Divide, {number(1), arguments[1]}));
        return {above};
    }
    case Function::Select: {
        if (!is_literal(arguments[2], 0)) return whole;
        Product inside = single(diagram, arguments[1]);
        if (inside.factors.size() < 2) return whole;
        return {chosen_by(diagram, arguments[0], std::move(inside))};
    }
    default: return whole;
    }
}

Expression product_of(const std::vector<Expression>& factors, double coefficient) {
    std::optional<Expression> product;
    if (coefficient != 1 || factors.empty()) product = number(coefficient);
    for (const Expression& factor : factors)
        product = product ? apply(Function::Multiply, {*product, factor}) : factor;
    return *product;
}

void add(std::optional<Expression>& sum, Expression term) {
    sum = sum ? apply(Function::Add, {*std::move(sum), std::move(term)}) : std::move(term);
}

class Splitter {
public:
    Splitter(const Diagram& diagram, const std::vector<AxisId>& kept,
             const std::vector<AxisId>& folded, double gain)
        : diagram_(diagram), kept_(kept), depth_(places(folded)), gain_(gain) {}

    /// The split of a product's factors with the smallest operands, if it gains.
    [[nodiscard]] std::optional<ProductTerm> split(const Product& product) const {
        const std::size_t count = product.factors.size();
        if (count < 2 || count > kMostFactors) return std::nullopt;
        std::vector<std::set<AxisId>> axes;
        for (const Expression& factor : product.factors) axes.push_back(axes_used(factor));
        double least = places(kept_) * depth_ / gain_;
        std::optional<ProductTerm> best;
        // The first factor is on the left.
        for (std::size_t right = 1; right < std::size_t{1} << (count - 1); ++right) {
            const auto is_right = [&](std::size_t at) { return at > 0 && right >> (at - 1) & 1; };
            ProductTerm term;
            for (const AxisId axis : kept_) {
                bool in_left = false;
                bool in_right = false;
                for (std::size_t at = 0; at < count; ++at)
                    (is_right(at) ? in_right : in_left) |= axes[at].count(axis) != 0;
                (in_left && in_right ? term.batch
                 : in_right          ? term.columns
                                     : term.rows)
                    .push_back(axis);
            }
            const double operands =
                places(term.batch) * (places(term.rows) + places(term.columns)) * depth_;
            if (operands > least) continue;
            least = operands;
            std::vector<Expression> sides[2];
            for (std::size_t at = 0; at < count; ++at)
                sides[is_right(at) ? 1 : 0].push_back(product.factors[at]);
            term.left = product_of(sides[0], product.coefficient);
            term.right = product_of(sides[1], 1);
            best = std::move(term);
        }
        return best;
    }

private:
    [[nodiscard]] double places(const std::vector<AxisId>& axes) const {
        double count = 1;
        for (const AxisId axis : axes) count *= static_cast<double>(diagram_[axis].extent);
        return count;
    }

    const Diagram& diagram_;
    const std::vector<AxisId>& kept_;
    double depth_ = 1;
    double gain_ = 1;
};

/// Terms with an operand in common are one.
void merge(std::vector<ProductTerm>& terms, ProductTerm term) {
    for (ProductTerm& known : terms) {
        if (known.rows != term.rows || known.columns != term.columns) continue;
        for (const auto& [same, other] : {std::pair{&ProductTerm::left, &ProductTerm::right},
                                          {&ProductTerm::right, &ProductTerm::left}}) {
            if (known.*same != term.*same) continue;
            known.*other = apply(Function::Add, {known.*other, term.*other});
            return;
        }
    }
    terms.push_back(std::move(term));
}

}  // namespace

SumOfProducts products_of(const Diagram& diagram, const Expression& value,
                          const std::vector<AxisId>& kept, const std::vector<AxisId>& folded,
                          double gain) {
    const Splitter splitter(diagram, kept, folded, gain);
    SumOfProducts result;
    for (const Product& product : expand(diagram, value)) {
        if (std::optional<ProductTerm> term = splitter.split(product))
            merge(result.terms, *std::move(term));
        else
            add(result.rest, product_of(product.factors, product.coefficient));
    }
    if (result.terms.empty()) result.rest = value;
    return result;
}

}  // namespace napkin::evaluation
