// One Compute of a tile program, executed on tiles.
#pragma once

#include <map>

#include "derive/interpret.h"
#include "derive/interpret/compiled_expression.h"
#include "derive/interpret/memory.h"

namespace napkin {

/// Executes a statement under the ranges of its level. `tiles` are by variable; `parameters` by
/// array.
class ComputeRunner {
public:
    ComputeRunner(const RegionProgram& region, const Compute& compute, std::vector<Tile>& tiles,
                  const std::map<ArrayId, double>& parameters, Arithmetic arithmetic);
    void run(const LevelRanges& ranges);

private:
    void run_map(const Map& map);
    void run_fold(const Fold& fold);
    void run_scan(const Fold& fold);
    void run_select(const Select& select);
    [[nodiscard]] CompiledExpression compile(const Expression& expression) const;
    [[nodiscard]] std::vector<CompiledExpression> compile_all(
        const std::vector<Expression>& list) const;
    /// Combines `values` into `state`, both of the monoid's components.
    void combine(MonoidId monoid, const std::vector<CompiledExpression>& rule,
                 std::vector<double>& state, const std::vector<double>& values) const;
    [[nodiscard]] std::vector<double> start(const Fold& fold,
                                            const std::vector<CompiledExpression>& seed) const;
    void write(std::size_t target, double value);
    [[nodiscard]] std::vector<Interval> box_of(const std::vector<AxisId>& axes) const;
    [[nodiscard]] std::vector<AxisId> target_axes() const;
    void move_to(const std::vector<AxisId>& axes, const std::vector<std::int64_t>& index);

    const RegionProgram& region_;
    const Compute& compute_;
    std::vector<Tile>& tiles_;
    CompiledExpression::Bind bind_;
    Arithmetic arithmetic_;
    const LevelRanges* ranges_ = nullptr;
    std::vector<std::int64_t> position_;
};

}  // namespace napkin
