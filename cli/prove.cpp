// prove: shows that a derivation's tile program computes what its diagram says, and writes the
// certificate. verify: checks a certificate again from its text alone.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/numbers.h"
#include "cli/proving.h"
#include "cli/session.h"
#include "derive/proof/certificate.h"
#include "derive/proof/messages.h"
#include "derive/proof/verify.h"

namespace napkin::cli {
namespace {

std::string shape_text(const proof::Shape& shape) {
    std::string text;
    for (const auto& [name, size] : shape.sizes)
        text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(size);
    for (Command command : shape.commands) {
        command.comment.clear();
        if (command.size) text += "; " + print(command);
    }
    return text;
}

std::string text_of(const proof::Proof& proof, const std::string& hash) {
    std::string text = "rungs: " + joined(proof.rungs()) + "\n";
    for (const proof::ProvedShape& each : proof.shapes) {
        text += "at " + shape_text(each.shape) + ":\n";
        for (const proof::Identity& identity : each.proof.identities)
            text += "  " + identity.output + ": the diagram's, " + proof::claim_of(identity) +
                    "; " + std::to_string(identity.trials.size()) + " trials, " +
                    (identity.degree ? "each wrong by chance at most " + proof::bound_text(identity)
                                     : "with no bound on being wrong by chance") +
                    "; " + std::to_string(identity.unclaimed) + " of " +
                    std::to_string(identity.elements) + " elements not claimed\n";
    }
    text += "safety: " + describe(proof.safety) + "\n";
    return text + "certificate: " + hash + "\n";
}

}  // namespace

Json json_of(const proof::Proof& proof, const std::string& hash) {
    Json json{{"ok", true}, {"rungs", proof.rungs()}, {"hash", hash}};
    for (const proof::ProvedShape& each : proof.shapes)
        for (const proof::Identity& identity : each.proof.identities)
            json["outputs"].push_back(Json{{"output", identity.output},
                                           {"shape", shape_text(each.shape)},
                                           {"trials", identity.trials.size()},
                                           {"bound", proof::bound_text(identity)},
                                           {"elements", identity.elements},
                                           {"unclaimed", identity.unclaimed}});
    json["safe"] = proof.safety.exponents_safe() && proof.safety.arrays_safe();
    return json;
}

Result<proof::Proof> prove_given(Context& context, std::uint32_t text,
                                 std::vector<Command> commands, const Settings& settings) {
    Result<SetFile> set = parse_with_settings(context.sources, text, settings);
    if (!set) return set.error();
    proof::ProofOptions options;
    options.seed = context.arguments.seed;
    Result<proof::Proof> proof =
        proof::prove({context.sources, set->tree, std::move(commands), set->sizes}, options);
    if (!proof) return proof;
    const std::string& name = proof->state.diagram.name;
    if (proof->verdict() == proof::Verdict::Refuted)
        return proof::messages::refuted(name, proof->failures());
    if (!proof->ok()) return proof::messages::not_proved(name, proof->failures());
    return proof;
}

Result<int> run_prove(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<std::uint32_t> text = load_text(context.sources, arguments.file);
    if (!text) return text.error();
    const Result<Settings> settings = settings_of_sets(arguments.sets);
    if (!settings) return settings.error();
    Result<std::vector<Command>> commands = load_commands(context);
    if (!commands) return commands.error();
    const Result<proof::Proof> proof =
        prove_given(context, *text, std::move(commands).value(), *settings);
    if (!proof) return proof.error();
    const std::string certificate = proof::certificate_text(*proof);
    const std::string hash = proof::certificate_hash(certificate);
    if (!arguments.output.empty())
        if (auto failure = write_data(arguments.output, certificate)) return *failure;
    if (arguments.output == "-")
        print_talk(text_of(*proof, hash));
    else
        arguments.json ? print_data(text_of(json_of(*proof, hash)))
                       : print_lines(text_of(*proof, hash));
    return kOk;
}

Result<int> run_verify(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<std::uint32_t> text = load_text(context.sources, arguments.file);
    if (!text) return text.error();
    const Result<proof::Verification> found =
        proof::verify_certificate(context.sources.files[*text].text);
    if (!found) return found.error();
    if (!found->ok()) return proof::messages::not_verified(found->failures);
    if (arguments.json)
        print_data(text_of(Json{{"ok", true},
                                {"diagram", found->diagram},
                                {"rungs", found->rungs},
                                {"derivation", found->derivation},
                                {"hash", found->hash}}));
    else
        print_data("`" + found->diagram + "`: the certificate holds\nrungs: " +
                   joined(found->rungs) + "\nderivation: " + found->derivation + "\n");
    return kOk;
}

}  // namespace napkin::cli
