#include "python/answers.h"

#include <nlohmann/json.hpp>

#include "cli/clearance.h"
#include "cli/cost_text.h"
#include "cli/derivation_steps.h"
#include "cli/machines.h"
#include "cli/messages.h"
#include "cli/picture.h"
#include "cli/proving.h"
#include "cli/search.h"
#include "cli/usage/usage.h"
#include "cli/workbench.h"
#include "derive/proof/certificate.h"

namespace napkin::python {

using cli::Arguments;
using cli::Context;

namespace {

/// Nothing is told on standard error.
Arguments quiet() {
    Arguments arguments;
    arguments.json = true;
    return arguments;
}

std::string rendered(const Diagnostics& diagnostics, const SourceMap& sources) {
    std::string text;
    for (const Diagnostic& each : diagnostics.list) text += render(each, sources);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

/// The value of a result, or its refusal.
template <class T>
T take(Result<T> result, const SourceMap& sources) {
    if (!result) throw Refused(result.error(), sources);
    return std::move(result).value();
}

/// Its file becomes a source of messages.
Machine machine_named(SourceMap& sources, const std::string& name) {
    return take(cli::take_machine(sources, name), sources);
}

}  // namespace

Refused::Refused(const Diagnostics& why, const SourceMap& sources)
    : text_(rendered(why, sources)), json_(cli::to_json(why, sources).dump()) {}

Derivation::Derivation(std::string text, std::string name, std::string steps,
                       cli::Settings settings)
    : name_(std::move(name)), settings_(std::move(settings)) {
    const std::uint32_t diagram = sources_.add(name_, std::move(text));
    const std::uint32_t derivation = sources_.add("<steps>", std::move(steps));
    commands_ = take(parse_derivation(sources_, derivation), sources_);
    const Arguments arguments = quiet();
    Context context{arguments, sources_};
    Diagnostics warnings;
    loaded_ = take(cli::load_given(context, diagram, commands_, settings_, warnings), sources_);
    for (const Diagnostic& warning : warnings.list)
        warnings_.push_back(rendered({{warning}}, sources_));
}

std::string Derivation::canonical_text() const {
    return syntax::print(take(syntax::parse(sources_, loaded_.text), sources_));
}

std::vector<std::string> Derivation::steps() const {
    std::vector<std::string> steps;
    for (const Step& step : loaded_.state.steps) steps.push_back(cli::typed_text(step.command));
    return steps;
}

Sizes Derivation::sizes() const {
    return proof::own_sizes(loaded_.plain);
}

std::vector<ArrayFacts> Derivation::arrays(ArrayRole role) const {
    std::vector<ArrayFacts> facts;
    for (const Array& array : loaded_.plain.arrays) {
        if (array.role != role) continue;
        ArrayFacts fact{array.name, std::string(name_of(array.type)), {}, {}};
        for (const AxisId axis : array.axes) {
            fact.axes.push_back(loaded_.plain[axis].name);
            fact.shape.push_back(loaded_.plain[axis].extent);
        }
        facts.push_back(std::move(fact));
    }
    return facts;
}

std::string Derivation::cost(const std::string& machine) const {
    SourceMap sources = sources_;
    const std::optional<Machine> on =
        machine.empty() ? std::nullopt : std::optional(machine_named(sources, machine));
    const Cost cost = take(cli::cost_of_state(loaded_.state, on ? &*on : nullptr), sources);
    return cli::cost_json({loaded_.plain, loaded_.state, cost, on ? &*on : nullptr}).dump();
}

std::string Derivation::derivation(const std::string& machine) const {
    SourceMap sources = sources_;
    const Machine on = machine_named(sources, machine);
    const std::vector<cli::DerivedStep> steps = take(cli::steps_of(loaded_, on), sources);
    return cli::derivation_json(loaded_.plain, steps, on).dump();
}

std::string Derivation::search(const std::string& machine, int top, const std::string& target,
                               const Deadline& deadline) const {
    SourceMap sources = sources_;
    const Machine on = machine_named(sources, machine);
    Arguments arguments = quiet();
    arguments.top = top;
    arguments.only_target = target;
    const SearchResult found =
        take(cli::search_as_asked(arguments, loaded_.plain, on, {}, deadline), sources);
    return cli::json_of(loaded_.plain, found, on).dump();
}

std::pair<std::string, std::string> Derivation::prove(std::uint64_t seed) const {
    SourceMap sources = sources_;
    Arguments arguments = quiet();
    arguments.seed = seed;
    Context context{arguments, sources};
    const proof::Proof proof =
        take(cli::prove_given(context, loaded_.text, commands_, settings_), sources);
    const std::string certificate = proof::certificate_text(proof);
    return {cli::json_of(proof, proof::certificate_hash(certificate)).dump(), certificate};
}

std::string Derivation::emit(const EmitWish& wish) const {
    SourceMap sources = sources_;
    const TileProgram tiles = take(expand(loaded_.state), sources);
    if (wish.as == "tile") return print(tiles, sources);
    Arguments arguments = quiet();
    arguments.target = wish.target;
    arguments.arch = wish.arch;
    arguments.unproved = wish.unproved;
    Context context{arguments, sources};
    const cli::Cleared cleared = take(cli::emit_cleared(context, loaded_, tiles), sources);
    std::string text;
    for (const EmittedKernel& kernel : cleared.program.kernels) text += kernel.source;
    return text;
}

cli::ExportedProgram Derivation::begin_export(Context& context) const {
    Diagnostics ignored;
    cli::Loaded loaded = take(cli::load_given(context, loaded_.text, commands_, settings_, ignored),
                              context.sources);
    return take(cli::begin_export(context, std::move(loaded)), context.sources);
}

std::vector<std::pair<std::string, std::string>> Derivation::operator_files(
    const OperatorWish& wish, const Derivation* gradient) const {
    Arguments arguments = quiet();
    arguments.dynamic = wish.dynamic;
    arguments.target = wish.target;
    arguments.arch = wish.arch;
    arguments.unproved = wish.unproved;
    Arguments of_gradient = arguments;
    arguments.name = wish.name;
    SourceMap sources = sources_;
    SourceMap of_other = gradient == nullptr ? SourceMap() : gradient->sources_;
    std::vector<Context> contexts{{arguments, sources}};
    std::vector<cli::ExportedProgram> parts{begin_export(contexts.front())};
    if (gradient != nullptr) {
        of_gradient.name = wish.name + "_gradient";
        contexts.push_back({of_gradient, of_other});
        parts.push_back(gradient->begin_export(contexts.back()));
    }
    const std::vector<ExportedFile> planned = take(cli::exported_files(parts), sources);
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (const auto wrong = cli::finish_export(contexts[i], planned, parts[i]))
            throw Refused(*wrong, contexts[i].sources);
    std::vector<std::pair<std::string, std::string>> files;
    for (ExportedFile& file : take(cli::exported_files(parts), sources))
        files.emplace_back(std::move(file.name), std::move(file.text));
    return files;
}

std::string Derivation::draw(const PictureWish& wish) const {
    SourceMap sources = sources_;
    const std::optional<Machine> on =
        wish.machine.empty() ? std::nullopt : std::optional(machine_named(sources, wish.machine));
    Arguments arguments = quiet();
    arguments.region = wish.region;
    arguments.theme = wish.theme;
    arguments.width = wish.width;
    const cli::PictureOptions options = take(
        cli::picture_options(arguments, loaded_.state, on ? &*on : nullptr, sources, wish.format),
        sources);
    return take(cli::picture_bytes(arguments, loaded_.state, options, wish.format), sources);
}

cli::RunReport Derivation::run(const Tensors& inputs, const std::string& device,
                               const std::string& target, std::uint64_t seed) const {
    if (!cli::has_values(loaded_.plain)) refuse({{cli::opaque_has_no_values()}});
    if (const auto excess = cli::excess_memory(loaded_, device)) refuse({{*excess}});
    SourceMap sources = sources_;
    Arguments arguments = quiet();
    arguments.target = target;
    arguments.seed = seed;
    Context context{arguments, sources};
    const cli::ExecutionOptions options{.device = device};
    cli::RunReport report = take(inputs.empty() ? cli::execute_random(context, loaded_, options)
                                                : cli::execute(context, loaded_, inputs, options),
                                 sources);
    if (!report.executed)
        refuse({{cli::nothing_computed(loaded_.plain[outputs_of(loaded_.plain).front()].name)}});
    return report;
}

std::vector<std::string> machines() {
    return machine_names();
}

std::string version() {
    return cli::version_text();
}

}  // namespace napkin::python
