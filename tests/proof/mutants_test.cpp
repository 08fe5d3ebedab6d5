// Every deliberate fault is caught, and by which rung: `1` where the rules or the expansion refuse,
// `2` the identity over the fields, `p` provenance, `3t` execution.
#include <map>
#include <sstream>

#include "tests/golden.h"
#include "tests/proof/mutations.h"
#include "tests/proof/subjects.h"

namespace napkin::test {
namespace {

/// A subject at one shape: of examples at small sizes with several ragged tiles.
struct Prepared {
    Diagram plain;
    State state;
};

Prepared derived(const std::string& subject) {
    for (const Example& each : all_examples())
        if (each.name == subject) {
            proof::Shape shape =
                shapes_of(each.diagram, each.derivation, short_axes(subject)).front();
            return {std::move(shape.plain), std::move(shape.state)};
        }
    const auto [diagram, derivation] = extra_subject(subject);
    Diagram plain = load(diagram);
    State state = derive(plain, derivation);
    return {std::move(plain), std::move(state)};
}

/// Derived once: faults are planted in copies.
const Prepared& prepared(const std::string& subject) {
    static std::map<std::string, Prepared> known;
    const auto found = known.find(subject);
    if (found != known.end()) return found->second;
    return known.emplace(subject, derived(subject)).first->second;
}

std::string rungs_that_catch(const Mutation& mutation) {
    Prepared subject = prepared(mutation.subject);
    if (mutation.on_state) mutation.on_state(subject.state);
    std::optional<TileProgram> program;
    try {
        if (Result<TileProgram> expanded = expand(subject.state)) program = *expanded;
    } catch (const std::logic_error&) {
    }
    if (!program) return "1";
    if (mutation.on_program) {
        ProgramEditor editor(*program);
        mutation.on_program(editor);
    }
    std::string rungs;
    const auto note = [&](bool caught, const char* rung) {
        if (caught) rungs += (rungs.empty() ? "" : " ") + std::string(rung);
    };
    const proof::ProgramProof proof =
        proof::prove_program(subject.plain, subject.state.diagram, *program, {});
    note(!proof.identity(), "2");
    note(!proof.provenance.same(), "p");
    note(!proof.executes(), "3t");
    // What only the identity does not show may still be right: nothing was seen that is wrong.
    const bool seen = rungs.find_first_of("p3") != std::string::npos;
    CHECK(proof.verdict() == (seen ? proof::Verdict::Refuted : proof::Verdict::Undecided));
    return rungs;
}

}  // namespace

TEST_CASE("mutants: every fault is caught") {
    std::ostringstream table;
    std::map<std::string, int> stages;
    for (const Mutation& mutation : all_mutations()) {
        CAPTURE(mutation.stage);
        CAPTURE(mutation.fault);
        const std::string rungs = rungs_that_catch(mutation);
        CHECK(rungs != "");
        ++stages[mutation.stage];
        table << rungs << std::string(rungs.size() < 8 ? 8 - rungs.size() : 1, ' ')
              << mutation.stage << ": " << mutation.fault << " (" << mutation.subject << ")\n";
    }
    MESSAGE("\n", table.str());
    CHECK(all_mutations().size() >= 30);
    for (const char* stage : {"rule", "accumulator", "expansion", "interpreter"})
        CHECK(stages[stage] >= 5);
    check_golden("proof/mutants.txt", table.str());
}

TEST_CASE("mutants: without a fault every subject is proved") {
    std::set<std::string> subjects;
    for (const Mutation& mutation : all_mutations()) subjects.insert(mutation.subject);
    for (const std::string& name : subjects) {
        CAPTURE(name);
        const Prepared& subject = prepared(name);
        const proof::ProgramProof proof = proof::prove_program(subject.plain, subject.state.diagram,
                                                               program_of(subject.state), {});
        INFO(describe(proof));
        CHECK(proof.ok());
    }
}

}  // namespace napkin::test
