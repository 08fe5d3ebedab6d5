#include "diagrams/messages.h"

#include <array>
#include <utility>

#include "diagrams/message_text.h"

namespace napkin::messages {

namespace {

std::string hexadecimal(unsigned value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    return {'0', 'x', kDigits[value >> 4U & 0xFU], kDigits[value & 0xFU]};
}

struct Replacement {
    std::string_view sign;
    std::string_view help;
};

// clang-format off
constexpr std::array kReplacements = {
    Replacement{"&", "write `and` between conditions, `bit_and(u, v)` of integers"},
    Replacement{"|", "write `or` between conditions, `bit_or(u, v)` of integers"},
    Replacement{"!", "write `not`, or `!=` between two values"},
    Replacement{"?", "write `if c then a else b`"},
    Replacement{"\"", "the language has no strings; comments begin with `#`"},
    Replacement{"'", "names are letters, digits and `_`; comments begin with `#`"},
    Replacement{"@", "matrix products are written with indices: `sum(k) A[i, k] * B[k, j]`"},
    Replacement{".", "a fraction is written with its leading zero: `0.5`; nothing has methods, a transpose is `Y[j, i] = X[i, j]`"},
    Replacement{"\\", "a line that ends with an operator, or stands inside parentheses, goes on by itself"},
    Replacement{"~", "write `not` before a condition, `bit_xor(u, -1)` of an integer"},
    Replacement{"\xE2\x89\xA4", "write `<=`"},
    Replacement{"\xE2\x89\xA5", "write `>=`"},
    Replacement{"\xE2\x89\xA0", "write `!=`"},
    Replacement{"\xC3\x97", "write `*`"},
    Replacement{"\xC2\xB7", "write `*`"},
    Replacement{"\xE2\x8B\x85", "write `*`"},
    Replacement{"\xC3\xB7", "write `/`"},
    Replacement{"\xE2\x88\x92", "write the ASCII minus `-`"},
    Replacement{"\xE2\x80\x93", "write the ASCII minus `-`"},
    Replacement{"\xE2\x86\x92", "write `->`"},
    Replacement{"\xE2\x88\x9E", "write `inf`"},
    Replacement{"\xE2\x88\x91", "write `sum(axis)`"},
    Replacement{"\xE2\x88\xA7", "write `and`"},
    Replacement{"\xE2\x88\xA8", "write `or`"},
    Replacement{"\xC2\xAC", "write `not`"},
    Replacement{"\xC2\xA0", "this is a no-break space; type an ordinary one"},
};
// clang-format on

std::string replacement_for(std::string_view text) {
    for (const Replacement& entry : kReplacements)
        if (text.starts_with(entry.sign)) return std::string(entry.help);
    const bool ascii = static_cast<unsigned char>(text.front()) < 0x80;
    return ascii
               ? ""
               : "names are ASCII letters, digits and `_`; other characters may stand in comments";
}

std::string shown(std::string_view text) {
    constexpr std::size_t kLongest = 12;
    const auto first = static_cast<unsigned char>(text.front());
    if (first < 0x20 || first == 0x7F) return "control character " + hexadecimal(first);
    if (text.size() <= kLongest) return quoted(text);
    std::size_t end = kLongest;
    while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return quoted(std::string(text.substr(0, end)) + "...");
}

}  // namespace

Diagnostic not_utf8(Span place, unsigned char byte) {
    return make_error("E0101", place,
                      "the text is not UTF-8: byte " + hexadecimal(byte) + " begins no character",
                      "", "save the file as UTF-8; outside comments only ASCII is used");
}

Diagnostic file_too_large(const std::string& name, std::size_t size, std::size_t most) {
    return plain_error("E0102",
                       quoted(name) + " has " + std::to_string(size) + " bytes, more than the " +
                           std::to_string(most) + " that are read",
                       "is this a diagram?");
}

Diagnostic empty_file(Span place) {
    return make_error("E0103", place, "the file holds no diagram and no definition", "",
                      "a diagram is written `diagram name { ... }`");
}

Diagnostic too_many_errors(Span place, std::size_t most) {
    return make_error(
        "E0104", place,
        "more than " + std::to_string(most) + " errors; the rest of the file is not read");
}

Diagnostic unknown_character(Span place, std::string_view text) {
    return make_error("E0105", place, shown(text) + " means nothing here", "",
                      replacement_for(text));
}

Diagnostic malformed_number(Span place, std::string_view text) {
    std::string help = "numbers are written `4096`, `0.5` or `1e-6`";
    if (text.starts_with('.') && text.find_first_not_of(".0123456789") == std::string_view::npos)
        help = "write `0" + std::string(text) + "`";
    return make_error("E0106", place, shown(text) + " is not a number", "", std::move(help));
}

Diagnostic number_too_large(Span place, std::string_view text) {
    const bool real = text.find_first_of(".eE") != std::string_view::npos;
    return make_error(
        "E0107", place, "the number " + shown(text) + " is too large", "",
        real ? "the largest real number is about 1.8e308; infinity is written `inf`"
             : "integers go up to 2^53 = 9007199254740992; write `1e20` for a real number");
}

Diagnostic reserved_word(Span place, std::string_view word) {
    return make_error("E0108", place,
                      quoted(word) + " is a word of the language and cannot be a name", "",
                      "choose another name, such as " + quoted(std::string(word) + "_"));
}

Diagnostic expected(Span place, std::string_view what, std::string_view found, std::string help) {
    return make_error("E0109", place,
                      "expected " + std::string(what) + ", found " + std::string(found), "",
                      std::move(help));
}

Diagnostic expected_expression(Span place, std::string_view found, std::string help) {
    return make_error("E0110", place, "expected an expression, found " + std::string(found), "",
                      std::move(help));
}

Diagnostic missing_assign(Span place, std::string_view found, std::string help) {
    return make_error("E0111", place, "expected `=`, found " + std::string(found), "",
                      std::move(help));
}

Diagnostic unclosed_bracket(Span place, std::string_view opener, Span opened,
                            std::string_view found) {
    const std::string_view closer = opener == "(" ? ")" : "]";
    Diagnostic diagnostic =
        make_error("E0112", place, "expected " + quoted(closer) + ", found " + std::string(found),
                   "", "close the bracket with " + quoted(closer));
    diagnostic.related.push_back({opened, quoted(opener) + " is opened here"});
    return diagnostic;
}

Diagnostic unopened_bracket(Span place, std::string_view closer) {
    return make_error("E0113", place, quoted(closer) + " closes nothing", "", "remove it");
}

Diagnostic empty_brackets(Span place, std::string_view name) {
    return make_error("E0114", place, "there is nothing in the brackets of " + quoted(name), "",
                      "a scalar has no brackets: " + quoted(name));
}

Diagnostic unknown_item(Span place, std::string_view word, std::string_view meant) {
    return make_error(
        "E0115", place, "no line begins with " + quoted(word), "",
        meant.empty() ? "a statement is `target[axes] = expression`" : did_you_mean(meant));
}

Diagnostic unknown_type(Span place, std::string_view name, std::string_view meant) {
    std::string help = did_you_mean(meant);
    if (help.empty())
        help = "the types are f32, tf32, bf16, f16, e4m3, e5m2, i8, i4, i32, i64 and bool";
    return make_error("E0116", place, "there is no type " + quoted(name), "", std::move(help));
}

Diagnostic chained_comparison(Span place, Span first, std::string help) {
    Diagnostic diagnostic =
        make_error("E0117", place, "comparisons do not chain", "", std::move(help));
    diagnostic.related.push_back({first, "the first comparison"});
    return diagnostic;
}

Diagnostic missing_branch(Span place, std::string_view word, Span opened, std::string_view found) {
    Diagnostic diagnostic = make_error(
        "E0118", place, "expected " + quoted(word) + ", found " + std::string(found), "",
        found == "`=`" ? "`==` compares" : "every `if` has both branches: `if c then a else b`");
    diagnostic.related.push_back({opened, "of this `if`"});
    return diagnostic;
}

Diagnostic missing_operator(Span place, std::string_view found, std::string help) {
    return make_error("E0119", place, "expected an operator before " + std::string(found), "",
                      std::move(help));
}

Diagnostic nested_too_deep(Span place, std::size_t most) {
    return make_error("E0120", place,
                      "the expression is nested deeper than " + std::to_string(most) + " levels",
                      "", "name a part of it in a statement of its own");
}

Diagnostic too_many_in_a_row(Span place, std::size_t most) {
    return make_error("E0127", place,
                      "the expression joins more than " + std::to_string(most) + " terms in a row",
                      "", "join some of them in a statement of its own");
}

Diagnostic not_an_axis(Span place, std::string_view where) {
    return make_error("E0121", place, "expected the name of an axis " + std::string(where), "",
                      "an index that is computed belongs to the array that is read, `X[p + r]`");
}

Diagnostic missing_brace(Span place, Span opened, std::string_view diagram) {
    Diagnostic diagnostic =
        make_error("E0122", place, "the diagram " + quoted(diagram) + " is not closed", "",
                   "close it with `}` on a line of its own");
    diagnostic.related.push_back({opened, "`{` is opened here"});
    return diagnostic;
}

Diagnostic second_diagram(Span place, Span first) {
    Diagnostic diagnostic =
        make_error("E0123", place, "a file holds one diagram, and this is the second", "",
                   "move it into a file of its own");
    diagnostic.related.push_back({first, "the first one"});
    return diagnostic;
}

Diagnostic text_outside(Span place, std::string_view found, bool after_diagram) {
    return make_error("E0124", place, std::string(found) + " stands outside the diagram", "",
                      after_diagram
                          ? "nothing but comments follows the closing `}`"
                          : "a file holds `def` and `monoid` lines, then `diagram name { ... }`");
}

Diagnostic definition_inside(Span place, std::string_view word) {
    return make_error("E0125", place, quoted(word) + " stands inside the diagram", "",
                      "definitions come before the line `diagram name {`");
}

Diagnostic component_mismatch(Span place, std::string_view what, std::size_t count,
                              std::size_t components, std::string_view monoid) {
    return make_error(
        "E0126", place,
        "the " + std::string(what) + " of " + quoted(monoid) + " has " + std::to_string(count) +
            (count == 1 ? " component" : " components") + ", its elements have " +
            std::to_string(components),
        "", "give both elements, the result and the identity the same number of components");
}

}  // namespace napkin::messages
