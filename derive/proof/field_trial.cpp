#include "derive/proof/field_trial.h"

#include <algorithm>
#include <functional>

#include "derive/interpret/tile_machine.h"
#include "derive/proof/evaluate_plain.h"
#include "derive/proof/field_inputs.h"
#include "derive/proof/renamed_grids.h"

namespace napkin::proof {
namespace {

OutputTrial compare(FieldDomain& domain, const Grid<FieldValue>& expected,
                    const Grid<FieldValue>& got, double& degree) {
    OutputTrial output;
    output.decided.assign(expected.values.size(), true);
    for (std::size_t at = 0; at < expected.values.size(); ++at) {
        const FieldValue& plain = expected.values[at];
        const bool present = at < got.values.size();
        if (present && domain.equal(plain, got.values[at])) {
            const Degree& a = plain.ring.degree;
            const Degree& b = got.values[at].ring.degree;
            degree = std::max(degree,
                              static_cast<double>(std::max(a.above + b.below, b.above + a.below)));
            ++(plain.empty ? output.unclaimed : output.equal);
        } else if (plain.empty || plain.kind == FieldValue::Kind::Poison) {
            ++output.unclaimed;
        } else if (present && (plain.rootless || got.values[at].rootless)) {
            ++output.inconclusive;
            output.decided[at] = false;
        } else {
            if (output.different++ == 0) output.where = index_at(expected.extents, at);
            output.decided[at] = false;
        }
    }
    return output;
}

/// Whether the program combines by the diagram's own rules: where states are taken as sums of
/// images, the rules themselves are not looked at.
bool same_monoids(const Diagram& diagram, const TileProgram& program) {
    for (const RegionProgram& region : program.regions)
        for (std::size_t i = 0; i < diagram.monoids.size(); ++i)
            if (i >= region.monoids.size() || region.monoids[i] != diagram.monoids[i]) return false;
    return true;
}

/// What is worse of two runs, of any of which the program may be made.
OutputTrial worse(const OutputTrial& one, OutputTrial other) {
    for (std::size_t at = 0; at < one.decided.size(); ++at)
        other.decided[at] = other.decided[at] && one.decided[at];
    const bool keeps =
        other.different == 0 && (one.different > 0 || one.inconclusive > other.inconclusive);
    if (!keeps) return other;
    OutputTrial kept = one;
    kept.decided = std::move(other.decided);
    return kept;
}

class NeedsCollector {
public:
    void add(const Statement& statement) {
        for (const Expression* expression : expressions_of(statement)) add(*expression);
    }
    void add(const Monoid& monoid) {
        for (const Expression& expression : monoid.combine) add(expression);
    }
    void add(const std::vector<TileStatement>& body) {
        for (const TileStatement& statement : body)
            std::visit(overloaded{
                           [&](const Parallel& parallel) { add(parallel.body); },
                           [&](const Loop& loop) { add(loop.body); },
                           [](const Load&) {},
                           [&](const Compute& compute) { add(compute.statement); },
                           [](const Save&) {},
                       },
                       statement.node);
    }
    FieldNeeds needs{.exponentials = false, .logarithms = false, .ordered = {}};

private:
    static bool reads(const Expression& expression) {
        bool found = false;
        walk(expression, [&](const Expression& part) {
            found |= std::holds_alternative<Read>(part.node) ||
                     std::holds_alternative<Operand>(part.node);
        });
        return found;
    }
    void add(const Expression& expression) {
        walk(expression, [&](const Expression& part) {
            const Apply* call = std::get_if<Apply>(&part.node);
            if (call == nullptr || call->arguments.empty()) return;
            const Function function = call->function;
            if (function == Function::Exp || function == Function::Tanh) needs.exponentials = true;
            // Roots of exponentials; a root of a size has none.
            const bool root = function == Function::Sqrt || function == Function::Rsqrt;
            const bool varies = reads(call->arguments.front());
            if (function == Function::Log || (root && varies)) needs.logarithms = true;
            if (function != Function::Power || !varies) return;
            const Number* power = std::get_if<Number>(&call->arguments[1].node);
            if (power == nullptr || !power->is_integer) needs.logarithms = true;
        });
    }
};

}  // namespace

FieldNeeds needs_of(const Diagram& diagram, const TileProgram& program) {
    NeedsCollector collector;
    for (const Statement& statement : diagram.statements) collector.add(statement);
    for (const Monoid& monoid : diagram.monoids) collector.add(monoid);
    for (const RegionProgram& region : program.regions) collector.add(region.body);
    // Formal pairs are compared by their exponentials.
    if (collector.needs.logarithms) collector.needs.exponentials = true;
    for (const Monoid& monoid : diagram.monoids)
        collector.needs.ordered.push_back(!monoid.commutative);
    return collector.needs;
}

FieldTrial run_field_trial(const Diagram& plain, const Diagram& derived, const TileProgram& program,
                           std::uint64_t seed, FieldSettings settings, FieldNeeds needs) {
    FieldTrial trial;
    FieldDomain domain(seed, settings, std::move(needs));
    const Grids<FieldValue> inputs = field_inputs(domain, plain, seed);
    if (settings.choices == Choices::FreeMonoids && !same_monoids(plain, program)) {
        trial.failure = "a monoid of the program is not the diagram's";
        return trial;
    }
    try {
        const Grids<FieldValue> expected = PlainEvaluator<FieldDomain>(domain, plain, inputs).run();
        RandomFunction digest(seed);
        for (const ArrayId output : outputs_of(plain))
            for (const FieldValue& value : expected.at(output).values)
                digest = digest(domain.key(value));
        trial.digest = digest.word();
        const auto judge = [&](MaskedChunks masked) {
            const Run<FieldValue> run = run_program(domain, derived, program,
                                                    renamed_grids(derived, plain, inputs), masked);
            for (const ArrayId output : outputs_of(plain)) {
                const std::optional<ArrayId> array = find_array(derived, plain[output].name);
                const auto found = array ? run.device.values.find(*array) : run.device.values.end();
                OutputTrial judged =
                    compare(domain, expected.at(output),
                            found == run.device.values.end() ? Grid<FieldValue>{} : found->second,
                            trial.degree);
                OutputTrial& all = trial.outputs[plain[output].name];
                all = masked == MaskedChunks::Visit ? std::move(judged)
                                                    : worse(all, std::move(judged));
            }
        };
        judge(MaskedChunks::Visit);
        if (has_data_masks(program)) judge(MaskedChunks::LeaveOut);
    } catch (const Undecided& unknown) {
        trial.failure = unknown.what();
    } catch (const std::logic_error& broken) {
        trial.failure = broken.what();
    }
    trial.uses = domain.uses();
    return trial;
}

}  // namespace napkin::proof
