#include "derive/proof/prove_program.h"

#include <algorithm>

#include "derive/proof/monoid_laws.h"

namespace napkin::proof {
namespace {

// Inputs of rung 3t: of size one, and such that scores, products of two, reach 10^4 and more of
// either sign.
constexpr double kScalesOfInputs[] = {1, 100};

Provenance provenance_of(const Diagram& plain, const Diagram& derived, const TileProgram& program,
                         const ProofOptions& options, const std::vector<Identity>& identities) {
    // Where any maximum would do, a maximum is no input.
    Provenance both;
    for (const bool gauges : {true, false}) {
        std::vector<std::string> outputs;
        std::set<std::string> proved;  // of all points, not of a cell of them
        for (const Identity& identity : identities) {
            if ((identity.settings.choices == Choices::Gauges) != gauges) continue;
            outputs.push_back(identity.output);
            if (identity.proved && identity.settings.choices != Choices::Cells)
                proved.insert(identity.output);
        }
        if (outputs.empty()) continue;
        try {
            const Provenance part =
                compare_provenance(plain, derived, program, options.seed, outputs, gauges, proved);
            both.elements += part.elements;
            both.leaks += part.leaks;
            both.losses += part.losses;
            if (both.first.empty()) both.first = part.first;
        } catch (const std::logic_error& broken) {
            ++both.losses;
            if (both.first.empty()) both.first = broken.what();
        }
    }
    return both;
}

}  // namespace

bool ProgramProof::identity() const {
    return std::all_of(identities.begin(), identities.end(),
                       [](const Identity& each) { return each.proved; });
}

bool ProgramProof::executes() const {
    return std::all_of(executions.begin(), executions.end(),
                       [](const Execution& each) { return each.ok(); });
}

Verdict ProgramProof::verdict() const {
    if (!provenance.same() || !executes() || !broken_law.empty()) return Verdict::Refuted;
    return identity() ? Verdict::Proved : Verdict::Undecided;
}

std::vector<ProgramProof> prove_programs(const Diagram& plain,
                                         std::span<const DerivedProgram> programs,
                                         const ProofOptions& options) {
    std::vector<ProgramProof> proofs;
    for (const auto& [derived, program] : programs) {
        ProgramProof& proof = proofs.emplace_back();
        proof.identities = prove_identity(plain, derived, program, options);
        proof.provenance = provenance_of(plain, derived, program, options, proof.identities);
        proof.broken_law = broken_law(plain, options.seed);
    }
    for (const double scale : kScalesOfInputs) {
        const std::vector<Execution> executions = execute(plain, programs, options.seed, scale);
        for (std::size_t i = 0; i < proofs.size(); ++i)
            proofs[i].executions.push_back(executions[i]);
    }
    return proofs;
}

ProgramProof prove_program(const Diagram& plain, const Diagram& derived, const TileProgram& program,
                           const ProofOptions& options) {
    const DerivedProgram one{derived, program};
    return prove_programs(plain, {&one, 1}, options).front();
}

}  // namespace napkin::proof
