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
        if (!proof) FAIL_CHECK(all_messages(proof.error(), sources));
        if (!proof) continue;
        for (const std::string& failure : proof->failures()) FAIL_CHECK(failure);
        CHECK_EQ(proof->rungs(), std::vector<std::string>{"0", "1", "2", "3t"});
    }
}

}  // namespace napkin::test
