// Certificates: what verifies, and that no field of one can be changed and the hash recomputed.
#include <nlohmann/json.hpp>

#include "derive/proof/certificate.h"
#include "derive/proof/checker/check_certificate.h"
#include "derive/proof/sha256.h"
#include "derive/proof/verify.h"
#include "tests/proof/subjects.h"

namespace napkin::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDiagram = R"(diagram small {
  axis q = 64, x = 64
  input S[q, x], V[x]
  T[q, x] = if x <= q then S[q, x] else -inf
  P[q, x] = softmax[x](T[q, x])
  output O[q] = sum(x) P[q, x] * V[x]
})";
constexpr const char* kDerivation = "fuse all\ngroup q by 16\nstream x by 16";

std::string certificate(const std::string& diagram, const std::string& derivation,
                        const Sizes& fixed = {}) {
    SourceMap sources;
    const Result<syntax::File> file = syntax::parse(sources, sources.add("test.ncd", diagram));
    REQUIRE(file.has_value());
    const Result<proof::Proof> proof =
        proof::prove({sources, *file, commands(derivation), fixed}, {});
    if (!proof) FAIL(rendered(proof.error(), sources));
    REQUIRE(proof->ok());
    return proof::certificate_text(*proof);
}

std::string with_hash(Json json) {
    json.erase("hash");
    json["hash"] = proof::sha256(json.dump());
    return json.dump();
}

/// Pointers to every value that is neither object nor list.
void collect_leaves(const Json& json, const std::string& path, std::vector<std::string>& out) {
    if (json.is_object())
        for (const auto& [name, value] : json.items())
            collect_leaves(value, path + "/" + name, out);
    else if (json.is_array())
        for (std::size_t i = 0; i < json.size(); ++i)
            collect_leaves(json[i], path + "/" + std::to_string(i), out);
    else
        out.push_back(path);
}

/// Pointers to every list that has something in it.
void collect_lists(const Json& json, const std::string& path, std::vector<std::string>& out) {
    if (json.is_array() && !json.empty()) out.push_back(path);
    if (json.is_object())
        for (const auto& [name, value] : json.items()) collect_lists(value, path + "/" + name, out);
    else if (json.is_array())
        for (std::size_t i = 0; i < json.size(); ++i)
            collect_lists(json[i], path + "/" + std::to_string(i), out);
}

Json changed(const Json& value) {
    if (value.is_boolean()) return !value.get<bool>();
    if (value.is_number()) return value.get<std::int64_t>() + 1;
    std::string text = value.get<std::string>();
    text += text.empty() || text.back() != '1' ? "1" : "2";
    return text;
}

bool holds(const std::string& text) {
    const Result<proof::Verification> verification = proof::verify_certificate(text);
    return verification.has_value() && verification->ok();
}

}  // namespace

/// Why a text is no certificate, or why it does not hold.
std::string refusal(const std::string& text) {
    const Result<proof::Verification> verification = proof::verify_certificate(text);
    if (!verification) return verification.error().list.front().message;
    return verification->ok() ? "" : verification->failures.front();
}

std::string nested(const std::string& open, const std::string& close) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += open;
    text += "1";
    for (int i = 0; i < 100000; ++i) text += close;
    return text;
}

TEST_CASE("SHA-256 of the standard's examples") {
    CHECK_EQ(proof::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_EQ(proof::sha256("abc"),
             "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_EQ(proof::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
             "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("a certificate verifies from its text, and repeats itself") {
    const std::string text = certificate(kDiagram, kDerivation);
    const Result<proof::Verification> verification = proof::verify_certificate(text);
    REQUIRE(verification.has_value());
    for (const std::string& failure : verification->failures) MESSAGE(failure);
    CHECK(verification->ok());
    CHECK_EQ(verification->hash, proof::certificate_hash(text));
    CHECK_EQ(text, certificate(kDiagram, kDerivation));
}

TEST_CASE("a certificate that is nested too deep is refused before it is built") {
    const std::string rest = certificate(kDiagram, kDerivation).substr(1);
    for (const std::string& deep : {"{\"more\":" + nested("[", "]") + "," + rest,
                                    "{\"more\":" + nested("{\"a\":", "}"), nested("[", "")})
        CHECK(refusal(deep).find("nested more than") != std::string::npos);
    // Nothing follows the end that a byte 0 would be.
    const std::string whole = certificate(kDiagram, kDerivation);
    CHECK(refusal(whole + '\0' + "{}").find("a byte of value 0") != std::string::npos);
    // Brackets in a string are none.
    CHECK(refusal("{\"diagram\": \"\\\"" + nested("[", "") + "\"}").find("nested more") ==
          std::string::npos);
}

TEST_CASE("sizes that make a proof of much work are refused, not tried") {
    Json json = Json::parse(certificate(kDiagram, kDerivation));
    json["fixed"] = Json{{"q", 100000000}};
    CHECK(refusal(with_hash(json)).find("too long") != std::string::npos);
    json["fixed"] = Json{{"q", 5}, {"x", 200000}};
    CHECK(refusal(with_hash(json)).find("too long") != std::string::npos);
    CHECK(refusal(std::string((std::size_t{1} << 24) + 1, ' ')).find("bytes") != std::string::npos);
    json = Json::parse(certificate(kDiagram, kDerivation));
    json["shapes"][0]["sizes"]["q"] = 100000000;
    json["shapes"][0]["program"]["axes"]["q"] = 100000000;
    CHECK(!holds(with_hash(json)));
    json["trials"] = 1000000000;
    CHECK(!holds(with_hash(json)));
}

TEST_CASE("a certificate names the sizes that were asked for where they count, and no others") {
    const std::string diagram = R"(diagram rows {
  axis r = 1, q = 64, x = 64
  input S[r, q, x]
  T[r, q, x] = tanh(S[r, q, x])
  output O[r, q] = tanh(sum(x) T[r, q, x])
})";
    const std::string plain = certificate(diagram, kDerivation);
    CHECK_EQ(certificate(diagram, kDerivation, {{"r", 1}}), plain);
    const Json asked = Json::parse(certificate(diagram, kDerivation, {{"r", 1}, {"x", 6}}));
    CHECK_EQ(asked["fixed"], Json{{"x", 6}});
    CHECK(holds(asked.dump()));
    Json more = Json::parse(plain);
    more["fixed"] = Json{{"r", 1}};
    CHECK(!holds(with_hash(more)));
    Json fewer = asked;
    fewer["fixed"] = Json::object();
    CHECK(!holds(with_hash(fewer)));
    // Of tanh no range depends on the inputs'.
    Json inputs = Json::parse(plain);
    inputs["safety"]["inputs"] = "500";
    CHECK(!holds(with_hash(inputs)));
}

TEST_CASE("every example is proved with its own derivation, and verifies from its certificate") {
    const std::vector<Example> examples = all_examples();
    REQUIRE(examples.size() > 20);
    for (const Example& each : examples) {
        CAPTURE(each.name);
        SourceMap sources;
        const Result<syntax::File> file =
            syntax::parse(sources, sources.add("test.ncd", each.diagram));
        REQUIRE(file.has_value());
        const Result<proof::Proof> proof =
            proof::prove({sources, *file, commands(each.derivation), short_axes(each.name)}, {});
        REQUIRE(proof.has_value());
        for (const std::string& failure : proof->failures()) FAIL_CHECK(failure);
        for (const proof::ProvedShape& shape : proof->shapes)
            for (const proof::Execution& execution : shape.proof.executions)
                CHECK((execution.scale != 1 || execution.compared > 0));
        if (!proof->ok()) continue;
        const Result<proof::Verification> found =
            proof::verify_certificate(proof::certificate_text(*proof));
        REQUIRE(found.has_value());
        for (const std::string& failure : found->failures) FAIL_CHECK(failure);
    }
}

TEST_CASE("chunks of what a split renames are checked against its step") {
    const std::string diagram = R"(diagram total {
  axis a = 8, b = 4096
  input X[a, b], Y[a, b]
  S[a] = sum(b) X[a, b]
  output T[a] = S[a] + sum(b) Y[a, b]
})";
    for (const std::string derivation :
         {"stream b by 32 in S\nsplit-stream b by 1024 in S",
          "stream b by 32 in S\nsplit-stream b by 1024 in S\nstream b_in by 8 at thread in "
          "S_sum_part",
          "stream b by 32 in S\nsplit-stream b by 1024 as part, place in S",
          "stream b by 32 in S\nsplit-stream b by 1024 in S\nsplit-stream b_in by 256 in "
          "S_sum_part",
          "fuse all\nstream b by 64\nsplit-stream b by 1024\nstream b_part by 2 in T"}) {
        CAPTURE(derivation);
        const Json json = Json::parse(certificate(diagram, derivation));
        CHECK(holds(json.dump()));
    }
    // A split that the steps do not ask for so: other parts, or chunks of something else.
    const Json json =
        Json::parse(certificate(diagram, "stream b by 32 in S\nsplit-stream b by 1024 in S"));
    for (const auto& [from, to] :
         {std::pair{"stream b by 32 in S", "stream b by 16 in S"},
          std::pair{"split-stream b by 1024 in S", "split-stream a by 1024 in S"}}) {
        Json other = json;
        for (Json& step : other["derivation"]["steps"])
            if (step["command"] == from) step["command"] = to;
        CHECK(!proof::checker::check_steps(other).empty());
    }
    CHECK(proof::checker::check_steps(json).empty());
}

TEST_CASE("tiles of one name may have another shape in another region") {
    const std::string text = certificate(R"(diagram labels {
  axis d = 6, k = 3
  input C[d, k], table[d]
  input label[d] : i32
  output T0[k] = max(d) table[label[d]] * table[label[d]]
  output T1 = argmax(d) (table[label[d]] / (1.5 + abs((sum(k) C[d, k]))) + 0.37 * d)
})",
                                         "split-stream d by 2 in T1");
    const Result<proof::Verification> verification = proof::verify_certificate(text);
    REQUIRE(verification.has_value());
    CHECK(verification->failures.empty());
}

TEST_CASE("no field of a certificate can be changed and the hash recomputed") {
    const Json json = Json::parse(certificate(kDiagram, kDerivation));
    CHECK(holds(with_hash(json)));
    std::vector<std::string> leaves;
    collect_leaves(json, "", leaves);
    CHECK(leaves.size() > 100);
    // Every field outside of the programs, and every seventh statement's part in them.
    std::size_t inside = 0;
    for (const std::string& leaf : leaves) {
        if (leaf == "/hash") continue;
        if (leaf.find("/program/") != std::string::npos && inside++ % 29 != 0) continue;
        CAPTURE(leaf);
        Json mutated = json;
        Json& value = mutated[Json::json_pointer(leaf)];
        value = changed(value);
        CHECK(!holds(with_hash(mutated)));
    }
    // Nor can anything be left out: what cannot be run is refused.
    std::vector<std::string> lists;
    collect_lists(json, "", lists);
    CHECK(lists.size() > 50);
    for (const std::string& list : lists) {
        CAPTURE(list);
        Json mutated = json;
        Json& value = mutated[Json::json_pointer(list)];
        value.erase(value.size() - 1);
        CHECK(!holds(with_hash(mutated)));
    }
    Json fewer = json;
    fewer["guards"].erase(0);
    CHECK(!holds(with_hash(fewer)));
    Json more = json;
    more["remark"] = "trust me";
    CHECK(!holds(with_hash(more)));
    CHECK(!holds(json.dump(1) + "x"));
    std::string twice = with_hash(json);
    twice.insert(1, "\"hash\":\"0\",");
    CHECK(!holds(twice));
}

}  // namespace napkin::test
