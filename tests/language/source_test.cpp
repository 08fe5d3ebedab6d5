#include <doctest/doctest.h>

#include "diagrams/diagnostic.h"
#include "diagrams/nearest.h"
#include "diagrams/source.h"

namespace napkin {
namespace {

TEST_CASE("places in a text") {
    SourceMap sources;
    sources.add("first.ncd", "nothing");
    const std::string text = "ab\n\xC3\xA9 c\r\n\nlast";
    const std::uint32_t file = sources.add("second.ncd", text);
    struct Case {
        std::uint32_t begin;
        std::uint32_t line;
        std::uint32_t column;
        const char* whole_line;
    };
    const Case cases[] = {
        {0, 1, 1, "ab"},         {2, 1, 3, "ab"},         {3, 2, 1, "\xC3\xA9 c"},
        {5, 2, 2, "\xC3\xA9 c"}, {6, 2, 3, "\xC3\xA9 c"}, {9, 3, 1, ""},
        {10, 4, 1, "last"},      {14, 4, 5, "last"},      {99, 4, 5, "last"},
    };
    for (const Case& each : cases) {
        INFO("offset ", each.begin);
        const Span span{each.begin, each.begin, file};
        CHECK_EQ(sources.position(span).line, each.line);
        CHECK_EQ(sources.position(span).column, each.column);
        CHECK_EQ(sources.line_of(span), each.whole_line);
    }
    CHECK_EQ(sources.describe({3, 5, file}), "second.ncd:2:1");
    CHECK_EQ(sources.text_of({10, 14, file}), "last");
    CHECK_EQ(sources.text_of({12, 99, file}), "st");
    const Span both = cover({3, 5, file}, {10, 14, file});
    CHECK_EQ(both.begin, 3);
    CHECK_EQ(both.end, 14);
}

TEST_CASE("the word that was probably meant") {
    const std::vector<std::string> words = {"softmax", "max",   "bf16",  "f32",
                                            "q",       "input", "output"};
    struct Case {
        const char* word;
        const char* meant;
    };
    const Case cases[] = {
        {"softmx", "softmax"},
        {"sotfmax", "softmax"},
        {"SoftMax", "softmax"},
        {"maks", "max"},
        {"bf61", "bf16"},
        {"F32", "f32"},
        {"Q", "q"},
        {"p", ""},
        {"inptu", "input"},
        {"ouput", "output"},
        {"attention", ""},
        {"", ""},
    };
    for (const Case& each : cases) {
        INFO(std::string(each.word));
        CHECK_EQ(nearest(each.word, words).value_or(""), std::string(each.meant));
    }
    CHECK_FALSE(nearest("softmx", {}).has_value());
}

TEST_CASE("a rendered message") {
    SourceMap sources;
    const std::uint32_t file = sources.add("attn.ncd", "one\ntwo words\nthree\n");
    Diagnostic diagnostic = plain_error("E0999", "a message", "a fix");
    CHECK_EQ(render(diagnostic, sources), "error[E0999]: a message\nhelp: a fix\n");
    diagnostic.has_place = true;
    diagnostic.primary = {{8, 13, file}, "remark"};
    diagnostic.related.push_back({{14, 19, file}, "see here"});
    diagnostic.severity = Severity::Warning;
    CHECK_EQ(render(diagnostic, sources),
             "attn.ncd:2:5: warning[E0999]: a message\n"
             "  two words\n"
             "      ^^^^^ remark\n"
             "attn.ncd:3:1: note: see here\n"
             "  three\n"
             "  ^^^^^\n"
             "help: a fix\n");
    CHECK_NE(render(diagnostic, sources, true).find("\x1b["), std::string::npos);
    Diagnostics list;
    list.add(diagnostic);
    CHECK_FALSE(list.has_errors());
    list.add(plain_error("E0998", "an error"));
    CHECK(list.has_errors());
}

}  // namespace
}  // namespace napkin
