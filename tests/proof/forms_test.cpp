// Every form is proved, and its certificate verified.
#include "tests/support/forms.h"
#include "derive/proof/certificate.h"
#include "derive/proof/verify.h"
#include "tests/proof/subjects.h"

namespace napkin::test {

TEST_CASE("forms: every one is proved, and its certificate verified") {
    for (const Form& form : all_forms()) {
        CAPTURE(form.name);
        SourceMap sources;
        const Result<syntax::File> file =
            syntax::parse(sources, sources.add("form.ncd", form.text));
        REQUIRE(file.has_value());
        const Result<proof::Proof> proof =
            proof::prove({sources, *file, commands(commands_of(form, 5)), {}}, {});
        if (!proof) FAIL_CHECK(all_messages(proof.error(), sources));
        if (!proof) continue;
        for (const std::string& failure : proof->failures()) FAIL_CHECK(failure);
        CHECK_EQ(proof->rungs(), std::vector<std::string>{"0", "1", "2", "3t"});
        const auto verified = proof::verify_certificate(proof::certificate_text(*proof));
        CHECK((verified && verified->ok()));
    }
}

}  // namespace napkin::test
