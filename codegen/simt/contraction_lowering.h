// A contraction on its way to a phase: how its axes and factors split, and how threads share it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/simt/simt_lowering.h"
#include "derive/contraction.h"
#include "schedule/plain_block.h"

namespace napkin::lowering {

class ContractionLowering {
public:
    ContractionLowering(SimtLowering& region, const Fold& fold, const Compute& compute)
        : region_(region), fold_(fold), compute_(compute) {}

    /// Whether the fold is a contraction; how it splits.
    bool recognise();
    [[nodiscard]] kernel::Phase run();

private:
    [[nodiscard]] std::int64_t capacity(const std::vector<AxisId>& axes) const {
        return region_.elements_of(axes);
    }
    [[nodiscard]] std::vector<LocalIndex> line(const char* step, const std::vector<AxisId>& axes,
                                               bool row, kernel::Body& body, bool clamp) const;
    [[nodiscard]] kernel::Expression flat_index(bool row, const char* step) const;
    [[nodiscard]] Code product(const std::vector<Expression>& factors, const ElementScope& element,
                               bool exact) const;
    void add_batch_and_folded(ElementScope& element) const;
    [[nodiscard]] kernel::Body operand(const char* name, bool row) const;
    [[nodiscard]] kernel::Body finish() const;
    [[nodiscard]] kernel::Body exact_sum() const;
    [[nodiscard]] static ElementScope merged(const ElementScope& a, const ElementScope& b) {
        ElementScope both = a;
        both.index.insert(b.index.begin(), b.index.end());
        return both;
    }

    SimtLowering& region_;
    const Fold& fold_;
    const Compute& compute_;
    ExpressionScope scope_;
    Contraction contraction_;
    std::vector<AxisId> batch_;  ///< and axes of which there is one index
    schedule::ThreadGrid grid_;
    std::int64_t row_passes_ = 1;
    std::int64_t column_passes_ = 1;
};

}  // namespace napkin::lowering
