#include "cli/clearance.h"

#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/messages.h"
#include "codegen/run/folders.h"
#include "codegen/run/kept.h"
#include "derive/proof/certificate.h"
#include "derive/proof/messages.h"
#include "derive/proof/verify.h"

namespace napkin::cli {
namespace {

using proof::Verdict;

/// What is kept of a proof.
struct Decision {
    Verdict verdict = Verdict::Undecided;
    std::string certificate;            ///< where it is proved
    std::vector<std::string> failures;  ///< elsewhere: what stands in the way
};

std::string kept_text(const Decision& decision) {
    return cli::text_of(Json{{"verdict", static_cast<int>(decision.verdict)},
                             {"certificate", decision.certificate},
                             {"failures", decision.failures}});
}

Decision decision_of(const std::string& kept) {
    const Json json = Json::parse(kept);
    return {static_cast<Verdict>(json.at("verdict").get<int>()),
            json.at("certificate").get<std::string>(),
            json.at("failures").get<std::vector<std::string>>()};
}

/// What `made` makes, or made before under the same key.
template <class Make>
std::string kept_or(const std::string& key, const Make& made) {
    const std::filesystem::path folder = cache_folder() / "proofs";
    const std::string whole = "napkin proof 1\n" + this_build() + "\n" + key;
    const bool keeps = !this_build().empty();
    if (keeps)
        if (std::optional<std::string> kept = find_kept(folder, whole)) return *std::move(kept);
    std::string value = made();
    if (keeps && !value.empty()) keep(folder, whole, value);
    return value;
}

Result<Decision> decide(Context& context, const Loaded& loaded) {
    Result<SetFile> set = parse_with_settings(context.sources, loaded.text, loaded.settings);
    if (!set) return set.error();
    std::vector<Command> commands;
    for (const Step& step : loaded.state.steps) commands.push_back(step.command);
    proof::ProofOptions options;
    options.seed = context.arguments.seed;
    std::string key = "seed " + std::to_string(options.seed) + "\nderivation " + loaded.hash + "\n";
    for (const auto& [axis, size] : set->sizes) key += axis + " = " + std::to_string(size) + "\n";
    return decision_of(kept_or(key, [&] {
        const Result<proof::Proof> proof = proof::prove(
            {context.sources, set->tree, std::move(commands), {}, set->sizes}, options);
        if (!proof) {
            const Diagnostic& why = proof.error().list.front();
            return kept_text({Verdict::Undecided, "", {why.message}});
        }
        return kept_text({proof->verdict(), proof->ok() ? proof::certificate_text(*proof) : "",
                          proof->failures()});
    }));
}

/// A certificate that was given, where it holds and is of this derivation.
Result<Clearance> take_certificate(const std::string& path, const Loaded& loaded) {
    Result<std::string> text = text_of_file(path);
    if (!text) return text.error();
    std::optional<Diagnostics> wrong;
    const std::string derivation = kept_or("certificate\n" + *text, [&]() -> std::string {
        const Result<proof::Verification> found = proof::verify_certificate(*text);
        if (!found) wrong = found.error();
        if (found && found->ok()) return found->derivation;
        if (found) wrong = Diagnostics{{proof::messages::not_verified(found->failures)}};
        return "";
    });
    if (wrong) return *wrong;
    if (derivation != loaded.hash) return certificate_of_another(path, derivation, loaded.hash);
    return Clearance{std::move(text).value(), ""};
}

}  // namespace

Result<Clearance> clear(Context& context, const Loaded& loaded) {
    const Arguments& arguments = context.arguments;
    if (!arguments.certificate.empty()) return take_certificate(arguments.certificate, loaded);
    Result<Decision> decision = decide(context, loaded);
    if (!decision) return decision.error();
    const std::string& name = loaded.plain.name;
    switch (decision->verdict) {
    case Verdict::Proved: return Clearance{std::move(decision->certificate), ""};
    case Verdict::Refuted: return proof::messages::refuted(name, decision->failures);
    case Verdict::Undecided: break;
    }
    if (arguments.unproved) return Clearance{"", decision->failures.front()};
    Diagnostic undecided = proof::messages::not_proved(name, decision->failures);
    undecided.help =
        "`--unproved` writes it all the same, and says so in its header; "
        "`--certificate` takes a proof that was made before";
    return undecided;
}

Result<Cleared> emit_cleared(Context& context, const Loaded& loaded, const TileProgram& tiles) {
    Result<EmitOptions> options = emit_options(context, loaded.hash);
    if (!options) return options.error();
    Result<EmittedProgram> emission = emit_chosen(context, loaded.state, tiles, *options);
    if (!emission) return emission.error();
    Result<Clearance> clearance = clear(context, loaded);
    if (!clearance) return clearance.error();
    options->reservation = clearance->reservation;
    if (!options->reservation.empty())
        emission = emit_chosen(context, loaded.state, tiles, *options);
    if (!emission) return emission.error();
    return Cleared{std::move(emission).value(), std::move(clearance).value()};
}

Json to_json(const Clearance& clearance) {
    if (!clearance.reservation.empty()) return Json{{"unproved", clearance.reservation}};
    return Json{{"certificate", proof::certificate_hash(clearance.certificate)}};
}

}  // namespace napkin::cli
