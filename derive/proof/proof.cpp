#include "derive/proof/proof.h"

#include <algorithm>
#include <array>

#include "derive/proof/limits.h"
#include "derive/proof/messages.h"
#include "derive/tile_program.h"
#include "diagrams/check.h"

namespace napkin::proof {
namespace {

std::string sizes_text(const Sizes& sizes) {
    std::string text;
    for (const auto& [name, size] : sizes)
        text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(size);
    return text;
}

}  // namespace

Sizes own_sizes(const Diagram& diagram) {
    Sizes sizes;
    for (std::uint32_t i = 0; i < diagram.axes.size(); ++i)
        if (has_own_size(diagram, AxisId{i})) sizes[diagram.axes[i].name] = diagram.axes[i].extent;
    return sizes;
}

bool Proof::identity() const {
    return std::all_of(shapes.begin(), shapes.end(), [](const ProvedShape& each) {
        return each.proof.identity() && each.proof.provenance.same() &&
               each.proof.broken_law.empty();
    });
}

bool Proof::executes() const {
    return std::all_of(shapes.begin(), shapes.end(),
                       [](const ProvedShape& each) { return each.proof.executes(); });
}

Verdict Proof::verdict() const {
    Verdict worst = Verdict::Proved;
    for (const ProvedShape& each : shapes) {
        const Verdict verdict = each.proof.verdict();
        if (verdict == Verdict::Refuted) return verdict;
        if (verdict == Verdict::Undecided) worst = verdict;
    }
    return worst;
}

std::vector<std::string> Proof::rungs() const {
    std::vector<std::string> rungs{"0", "1"};
    if (identity()) rungs.emplace_back("2");
    if (executes()) rungs.emplace_back("3t");
    return rungs;
}

std::vector<std::string> Proof::failures() const {
    std::vector<std::string> failures;
    for (const ProvedShape& each : shapes) {
        const std::string where = " at " + sizes_text(each.shape.sizes);
        for (const Identity& identity : each.proof.identities)
            if (!identity.proved)
                failures.push_back("`" + identity.output +
                                   "` is not shown to be what the diagram " + "says" + where +
                                   ": " + identity.counterexample);
        if (!each.proof.provenance.same()) failures.push_back(each.proof.provenance.first + where);
        if (!each.proof.broken_law.empty()) failures.push_back(each.proof.broken_law);
        for (const Execution& execution : each.proof.executions) {
            if (execution.ok()) continue;
            std::string what = execution.first;
            if (what.empty())
                what = execution.written_twice > 0 ? "an output is written more than once"
                                                   : "an output is not written";
            failures.push_back("executed, " + what + where);
        }
    }
    // Shapes with the same sizes, cut into other tiles, fail alike.
    std::vector<std::string> once;
    for (std::string& failure : failures)
        if (std::find(once.begin(), once.end(), failure) == once.end())
            once.push_back(std::move(failure));
    return once;
}

namespace {

/// How much longer axes are made, one after another, where masks hide all of an output.
constexpr std::array<std::int64_t, 3> kScales = {1, 4, 16};

/// Proves the derivation at the shapes that are chosen for it.
Result<bool> prove_shapes(const Subject& subject, const ProofOptions& options, Proof& proof) {
    Result<std::vector<Shape>> shapes = choose_shapes(subject);
    if (!shapes) return shapes.error();
    proof.shapes.clear();
    proof.fixed = sizes_that_count(subject, *shapes);
    for (Shape& shape : *shapes) {
        Result<TileProgram> small = expand(shape.state);
        if (!small) return small.error();
        proof.shapes.push_back({std::move(shape), std::move(*small), {}});
    }
    std::vector<DerivedProgram> programs;
    for (const ProvedShape& each : proof.shapes)
        programs.push_back({each.shape.state.diagram, each.program});
    std::vector<ProgramProof> found =
        prove_programs(proof.shapes.front().shape.plain, programs, options);
    for (std::size_t i = 0; i < found.size(); ++i) proof.shapes[i].proof = std::move(found[i]);
    return true;
}

/// Whether masks hide all of an output.
bool hides_an_output(const Proof& proof) {
    return std::any_of(proof.shapes.begin(), proof.shapes.end(), [](const ProvedShape& each) {
        const std::vector<Identity>& all = each.proof.identities;
        return std::any_of(all.begin(), all.end(), [](const Identity& identity) {
            return identity.elements > 0 && identity.unclaimed == identity.elements;
        });
    });
}

Result<Proof> prove_in_limits(Subject subject, const ProofOptions& options) {
    Proof proof;
    proof.options = options;
    const Sizes given = subject.given();
    Result<Checked> checked = check(subject.sources, subject.file, given);
    if (!checked) return checked.error();
    Result<State> state = replay(checked->diagram, subject.commands);
    if (!state) return state.error();
    Result<TileProgram> program = expand(*state);
    if (!program) return program.error();
    proof.diagram_text = syntax::print(subject.file);
    proof.sizes = own_sizes(checked->diagram);
    proof.state = std::move(state).value();
    proof.program = std::move(program).value();
    proof.safety = check_safety(proof.state.diagram, proof.program, kRealInputs);
    for (const std::int64_t scale : kScales) {
        subject.scale = scale;
        Proof longer = proof;
        const Result<bool> proved = prove_shapes(subject, options, longer);
        if (!proved && scale == 1) return proved.error();
        if (!proved) break;
        proof = std::move(longer);
        if (!hides_an_output(proof)) break;
    }
    return proof;
}

}  // namespace

Result<Proof> prove(const Subject& subject, const ProofOptions& options) {
    try {
        return prove_in_limits(subject, options);
    } catch (const TooMuchWork& excess) {
        return messages::too_much_work(excess.what());
    }
}

}  // namespace napkin::proof
