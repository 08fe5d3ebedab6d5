#include "tests/proof/subjects.h"

#include <algorithm>
#include <sstream>

#include "tests/golden.h"

namespace napkin::test {
namespace {

std::filesystem::path diagram_of(const std::filesystem::path& derivation) {
    std::string stem = derivation.stem().string();
    while (!std::filesystem::exists(derivation.parent_path() / (stem + ".ncd"))) {
        const std::size_t cut = stem.rfind('_');
        REQUIRE(cut != std::string::npos);
        stem.resize(cut);
    }
    return derivation.parent_path() / (stem + ".ncd");
}

Example read_example(const std::filesystem::path& derivation) {
    return {derivation.stem().string(), read_text(diagram_of(derivation)), read_text(derivation)};
}

}  // namespace

std::vector<proof::Shape> shapes_of(const std::string& diagram, const std::string& derivation,
                                    const Sizes& fixed) {
    SourceMap sources;
    const Result<syntax::File> file = syntax::parse(sources, sources.add("test.ncd", diagram));
    if (!file) FAIL(all_messages(file.error(), sources));
    const Result<std::vector<proof::Shape>> shapes =
        proof::choose_shapes({sources, *file, commands(derivation), fixed});
    if (!shapes) FAIL(all_messages(shapes.error(), sources));
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

std::vector<Example> all_examples() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".drv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<Example> examples;
    for (const std::filesystem::path& file : files) examples.push_back(read_example(file));
    return examples;
}

Example example(const std::string& name) {
    return read_example(std::filesystem::path(NAPKIN_EXAMPLES_DIR) / (name + ".drv"));
}

}  // namespace napkin::test
