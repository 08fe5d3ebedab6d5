// The meaning of a diagram a second time, as plainly as it can be written: one element at a time,
// by recursion. Slow; the reference evaluator is held against it. With a narrower arithmetic every
// operation on reals and every step of a fold rounds, as a simple kernel would.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "diagrams/evaluate.h"

namespace napkin::test {

class PlainEvaluator {
public:
    PlainEvaluator(const Diagram& diagram, const Tensors& inputs,
                   ElementType arithmetic = ElementType::F64)
        : diagram_(diagram), inputs_(inputs), arithmetic_(arithmetic) {}

    [[nodiscard]] Tensor array(ArrayId array);

private:
    using Index = std::vector<std::int64_t>;
    using Position = std::map<AxisId, std::int64_t>;
    using Row = std::vector<double>;

    double element(ArrayId array, const Index& index);
    double value(const Expression& expression, const Position& at, const Row& operands = {});
    double applied(const Apply& call, const Position& at, const Row& operands);
    Row combined(const Monoid& monoid, const Row& left, const Row& right);
    Row folded(const Fold& fold, Position at);
    double selected(const Select& select, Position at, bool wants_index);
    double rounded(double exact) const { return round_to(arithmetic_, exact); }

    const Diagram& diagram_;
    const Tensors& inputs_;
    ElementType arithmetic_;
    std::map<std::pair<ArrayId, Index>, double> known_;
};

}  // namespace napkin::test
