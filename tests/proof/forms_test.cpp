// Every form is proved.
#include "tests/support/forms.h"
#include "derive/proof/proof.h"
#include "tests/proof/subjects.h"

namespace napkin::test {

TEST_CASE("forms: every one is proved") {
    for (const Form& form : all_forms()) {
        CAPTURE(form.name);
        SourceMap sources;
        const Result<syntax::File> file =
            syntax::parse(sources, sources.add("form.ncd", form.text));
        REQUIRE(file.has_value());
        const Result<proof::Proof> proof =
            proof::prove({sources, *file, commands(commands_of(form, 5)), {}}, {});
        if (!proof) FAIL_CHECK(rendered(proof.error(), sources));
        if (!proof) continue;
        for (const std::string& failure : proof->failures()) FAIL_CHECK(failure);
        CHECK_EQ(proof->rungs(), std::vector<std::string>{"0", "1", "2", "3t"});
    }
}

TEST_CASE("forms: what is beyond double in the diagram's own form refutes nothing") {
    // Exponents that nothing bounds: at inputs of size 100 the weights overflow, and what is
    // factored out of their sums makes NaN of that where the diagram makes infinity.
    for (const std::string type : {" : bf16", " : f32", ""}) {
        INFO(type);
        const std::string diagram = R"(diagram backward {
  axis q = 65, x = q, d = 16, e = d
  input Q[q, d], K[x, d], V[x, e], dO[q, e] : bf16
  input L[q] : f32
  P[q, x] = if sliding[q, x](17, 3) then exp((sum(d) Q[q, d] * K[x, d]) - L[q]) else 0
  dP[q, x] = sum(e) dO[q, e] * V[x, e]
  D[q] = sum(x) P[q, x] * dP[q, x]
  dS[q, x] = P[q, x] * (dP[q, x] - D[q])
  output dQ[q, d])" + type + R"( = sum(x) dS[q, x] * K[x, d]
})";
        std::int64_t unreached = 0;
        for (const proof::Shape& shape :
             test::shapes_of(diagram, "fuse all\ngroup q by 1\nstream x by 64")) {
            const proof::ProgramProof proof = test::prove(shape);
            INFO(test::describe(proof));
            CHECK(proof.verdict() == proof::Verdict::Proved);
            for (const proof::Execution& each : proof.executions) unreached += each.unreached;
        }
        CHECK(unreached > 0);
    }
}

}  // namespace napkin::test
