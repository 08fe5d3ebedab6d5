// The reference meaning once more, each element with a bound on what a kernel may answer
// instead: the tolerance of a validation, derived from the diagram's types and lengths and from the
// data at hand.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "cli/error_rules.h"
#include "diagrams/evaluate.h"

namespace napkin::cli {

/// Types in which kernels keep arrays between regions; the reference does not round to them.
using StoredTypes = std::map<ArrayId, ElementType>;

/// Elements on demand. Opaque boxes have no meaning: asking for what depends on one throws
/// InternalError.
class ErrorBounds {
public:
    ErrorBounds(const Diagram& diagram, const Tensors& inputs, StoredTypes stored,
                const Precision& precision = kSingle);
    [[nodiscard]] Bounded element(ArrayId array, std::span<const std::int64_t> index);

private:
    using Environment = std::vector<std::int64_t>;  ///< the index along each axis
    [[nodiscard]] Bounded value_of(const Expression& expression, Environment& at);
    [[nodiscard]] Bounded read(const Read& read, Environment& at);
    [[nodiscard]] Bounded element_at(ArrayId array, std::int64_t offset);
    void compute(StatementId statement, ArrayId array, std::int64_t offset);
    void compute_fold(const Statement& statement, const Fold& fold, std::int64_t offset,
                      Environment& at);
    void compute_select(const Statement& statement, const Select& select, Environment& at);
    [[nodiscard]] std::vector<Bounded> fold_along(const Fold& fold, std::vector<Bounded> start,
                                                  Environment& at);
    [[nodiscard]] std::vector<Bounded> combine(const Monoid& monoid,
                                               const std::vector<Bounded>& left,
                                               const std::vector<Bounded>& right);
    [[nodiscard]] std::vector<Bounded> start_of(const Fold& fold, Environment& at);
    void keep(ArrayId array, std::int64_t offset, Bounded value);
    [[nodiscard]] std::int64_t offset_of(ArrayId array, const Environment& at) const;
    [[nodiscard]] Environment environment(ArrayId array, std::int64_t offset) const;

    const Diagram& diagram_;
    const Tensors& inputs_;
    StoredTypes stored_;
    Precision precision_;
    std::vector<std::map<std::int64_t, Bounded>> known_;  ///< by array, by offset
    const std::vector<Bounded>* operands_ = nullptr;      ///< of the monoid being combined
};

}  // namespace napkin::cli
