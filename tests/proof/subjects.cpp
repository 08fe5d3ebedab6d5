#include "tests/proof/subjects.h"

#include <sstream>

namespace napkin::test {

Sizes short_axes(const std::string& example) {
    if (example == "attention_gqa") return {{"b", 1}, {"e", 2}};
    if (example == "attention_neighbourhood") return {{"b", 1}, {"d", 2}};
    if (example == "convolution") return {{"b", 1}};
    return {};
}

std::vector<proof::Shape> shapes_of(const std::string& diagram, const std::string& derivation,
                                    const Sizes& fixed) {
    SourceMap sources;
    const Result<syntax::File> file = syntax::parse(sources, sources.add("test.ncd", diagram));
    if (!file) FAIL(rendered(file.error(), sources));
    const Result<std::vector<proof::Shape>> shapes =
        proof::choose_shapes({sources, *file, commands(derivation), fixed});
    if (!shapes) FAIL(rendered(shapes.error(), sources));
    return *shapes;
}

proof::ProgramProof prove(const proof::Shape& shape) {
    return proof::prove_program(shape.plain, shape.state.diagram, program_of(shape.state), {});
}

std::string describe(const proof::ProgramProof& proof) {
    std::ostringstream text;
    for (const proof::Identity& each : proof.identities)
        text << each.output << (each.proved ? " proved by " : " not proved by ")
             << print(each.settings) << ": " << each.elements << " elements, " << each.unclaimed
             << " unclaimed, " << each.trials.size() << " trials; " << each.counterexample << "\n";
    for (const proof::Execution& each : proof.executions)
        text << "scale " << each.scale << ": " << each.compared << " compared, " << each.failed
             << " failed, " << each.unreached << " unreached, " << each.written_twice
             << " written twice, " << each.never_written << " never; " << each.first << "\n";
    text << proof.provenance.leaks << " leaks, " << proof.provenance.losses << " losses; "
         << proof.provenance.first << "\n";
    return text.str();
}

}  // namespace napkin::test
