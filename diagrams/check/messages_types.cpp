// The second half of the catalogue: types, bounds, structure, warnings.
#include <utility>

#include "diagrams/check/messages.h"
#include "diagrams/message_text.h"

namespace napkin::messages {

Diagnostic bool_in_arithmetic(Span place, std::string_view where) {
    return make_error("E0401", place, join({"a condition cannot be used in ", where}),
                      "this is a condition", "turn it into a number: `if ... then 1 else 0`");
}

Diagnostic not_a_condition(Span place, std::string_view where) {
    return make_error("E0402", place, join({where, " needs a condition, not a number"}),
                      "this is a number", "compare it with something: `... != 0`");
}

Diagnostic real_index(Span place, std::string_view index, std::string_view array) {
    return make_error(
        "E0403", place,
        join({quoted(array), " is indexed with ", quoted(index), ", which is a real number"}),
        "not a whole number",
        "indices are made of axes, sizes and integer inputs; `//` divides and rounds "
        "down");
}

Diagnostic integers_only(Span place, std::string_view op) {
    return make_error("E0404", place, join({quoted(op), " takes whole numbers only"}),
                      "this is a real number", "`/` divides real numbers");
}

Diagnostic bool_mixed(Span place, std::string_view what) {
    return make_error("E0405", place, join({what, ": one is a condition, the other a number"}), "",
                      "turn the condition into a number: `if ... then 1 else 0`");
}

Diagnostic type_mismatch(Span place, std::string_view target, std::string_view type,
                         bool value_is_bool) {
    return make_error("E0406", place,
                      join({quoted(target), " is declared ", quoted(type), ", its value is ",
                            value_is_bool ? "a condition" : "a number"}),
                      "declared here",
                      value_is_bool ? "declare it `bool`, or write `if ... then 1 else 0`"
                                    : "compare the value with something: `... != 0`");
}

Diagnostic exponent_not_constant(Span place) {
    return make_error("E0407", place, "the exponent of `^` must be a constant", "not constant",
                      "write `exp(y * log(x))` for a power that varies, `bit_xor(u, v)` for bits");
}

Diagnostic out_of_range(Span place, std::string_view access, std::string_view index,
                        std::string_view range, std::string_view axis, std::string_view last,
                        std::string guard) {
    return make_error("E0408", place,
                      join({quoted(access), " is out of range: ", quoted(index), " takes values ",
                            range, ", axis ", quoted(axis), " has 0..", last}),
                      "may be outside", std::move(guard));
}

Diagnostic index_from_data(Span place, std::string_view access, std::string_view index,
                           std::string_view axis, std::string guard) {
    return make_error("E0409", place,
                      join({quoted(access), " may be out of range of axis ", quoted(axis), ": ",
                            quoted(index), " depends on data"}),
                      "cannot be proved inside", std::move(guard));
}

Diagnostic nested_reduction(Span place, std::string_view axis, Span outer) {
    Diagnostic diagnostic = make_error(
        "E0410", place,
        join({"a reduction over ", quoted(axis), " stands inside another over ", quoted(axis)}),
        "the inner reduction",
        join({"put the inner one in parentheses if its ", quoted(axis),
              " is its own, end the outer one with parentheses if it is not inside, or use an ",
              "alias: `axis ", axis, "2 = ", axis, "`"}));
    diagnostic.related.push_back({outer, "the outer reduction extends over the factors after it"});
    return diagnostic;
}

Diagnostic wrong_argument_count(Span place, std::string_view name, std::size_t given,
                                std::string_view wanted, const std::string& signature) {
    Diagnostic diagnostic =
        make_error("E0411", place,
                   join({quoted(name), " takes ", wanted, ", ", std::to_string(given),
                         given == 1 ? " is given" : " are given"}));
    if (!signature.empty()) diagnostic.help = "it is `" + signature + "`";
    return diagnostic;
}

Diagnostic whole_side_only(Span place, std::string_view name) {
    return make_error("E0412", place,
                      join({quoted(name),
                            " gives several arrays and must be the whole right side of its "
                            "statement"}),
                      "inside an expression", "give its results names in a statement of their own");
}

Diagnostic target_count(Span place, std::string_view what, std::size_t given,
                        std::string_view wanted) {
    return make_error("E0413", place,
                      join({what, " gives ", wanted, ", the statement names ",
                            counted(given, "array", "arrays")}));
}

Diagnostic targets_disagree(Span place, std::string_view first, std::string_view second) {
    return make_error("E0414", place,
                      join({quoted(second), " must have the same axes as ", quoted(first)}),
                      "results of one operation have one shape");
}

Diagnostic no_output(Span place, std::string_view diagram) {
    return make_error("E0415", place, join({"diagram ", quoted(diagram), " has no output"}),
                      "computes nothing that is kept",
                      "write `output` before the statement whose array you want");
}

Diagnostic too_large(Span place, std::size_t most) {
    return make_error("E0416", place,
                      join({"this expression has more than ", std::to_string(most),
                            " parts once its definitions are replaced"}),
                      "grows too large", "give parts of it names in statements of their own");
}

Diagnostic not_constant(Span place, std::string_view what) {
    return make_error("E0417", place, join({what, " must be a constant"}), "not constant",
                      "numbers and arithmetic on them only");
}

Diagnostic operand_count(Span place, std::string_view monoid, std::size_t given,
                         std::size_t wanted) {
    return make_error(
        "E0418", place,
        join({quoted(monoid), " combines elements of ", counted(wanted, "component", "components"),
              ", ", std::to_string(given), given == 1 ? " is given" : " are given"}));
}

Diagnostic no_diagram(Span place) {
    return make_error("E0419", place, "the file has no diagram", "",
                      "definitions come first, then `diagram name { ... }`");
}

Diagnostic let_with_type(Span place, std::string_view name) {
    return make_error("E0420", place, join({"the `let` ", quoted(name), " has a type"}),
                      "a `let` is replaced by its text", "convert its value: `i32(...)`");
}

Diagnostic no_operand(Span place, std::string_view name) {
    return make_error(
        "E0421", place, join({"the reduction ", quoted(name), " has no operand"}),
        "nothing to reduce",
        join({"name its axes, then its operand: `", name,
              "(x) X[x]`; a sign before it needs parentheses, `", name, "(x) (-X[x])`"}));
}

Diagnostic parameter_with_axes(Span place, std::string_view name) {
    return make_error("E0422", place, join({"the parameter ", quoted(name), " has axes"}),
                      "a parameter is one number", join({"declare `input ", name, "[...]`"}));
}

Diagnostic value_of_other_type(Span place, std::string_view name, std::string_view type,
                               std::string_view value) {
    return make_error(
        "E0424", place,
        join({value, " is no value of the parameter ", quoted(name), ", which is ", type}),
        "the default", "give a whole number in range, or declare it `: f32`");
}

Diagnostic captured_axis(Span place, std::string_view axis, std::string_view index) {
    return make_error("E0423", place,
                      join({"the reduction over ", quoted(axis), " would bind the ", quoted(axis),
                            " that ", quoted(index), " stands for"}),
                      "folds an axis of the index",
                      join({"use an alias in one of them: `axis ", axis, "2 = ", axis, "`"}));
}

Diagnostic integer_too_large(Span place, std::string_view text) {
    return make_error(
        "E0425", place, join({quoted(text), " may not be an exact integer"}),
        "integers are exact up to 2^53, and at these sizes it may be larger",
        "take remainders of its parts first, or compute in real numbers, with `1.0 *`");
}

Diagnostic not_elementwise(Span place, std::string_view name) {
    return make_error("E0426", place,
                      join({quoted(name), " is along an axis and cannot stand in a monoid"}),
                      "a monoid combines two elements, number by number",
                      "`monoid total(a; c) = a + c identity 0`, and in the diagram "
                      "`total(x) X[x]`");
}

Diagnostic rounds_in_monoid(Span place, std::string_view type) {
    return make_error("E0427", place, join({quoted(type), " rounds and cannot stand in a monoid"}),
                      "a fold would depend on the order in which it combines",
                      join({"round what is folded, `total(x) ", type,
                            "(X[x])`, or what is made of it, `", type, "(total(x) X[x])`"}));
}

Diagnostic mask_never_holds(Span place, std::string_view condition) {
    return make_warning("W0501", place, join({"the condition ", quoted(condition), " never holds"}),
                        "at the current sizes its first branch is never taken");
}

Diagnostic unused(Span place, std::string_view what, std::string_view name) {
    return make_warning("W0502", place, join({what, " ", quoted(name), " is never used"}));
}

Diagnostic hides_by_a_number(Span place) {
    return make_warning("W0504", place, "a mask hides by a number, not by `-inf`",
                        "beyond the largest f32 once it is scaled",
                        "write `-inf`: what is all hidden is then 0, and so it is in every kernel; "
                        "chunks that are all hidden are skipped");
}

Diagnostic index_as_size(Span place, std::string_view axis) {
    return make_warning("W0503", place,
                        join({quoted(axis), " is the index along the axis here, and begins at 0"}),
                        "not the size of the axis",
                        join({"its size is `size(", axis,
                              ")`; if the index is meant, say so with `f32(", axis, ")`"}));
}

Diagnostic folds_the_same(Span place, std::string_view axis,
                          const std::vector<std::string>& varies) {
    std::string has;
    for (const std::string& each : varies) has += (has.empty() ? "" : ", ") + quoted(each);
    return make_warning(
        "W0505", place, join({"nothing that is folded along ", quoted(axis), " has that axis"}),
        join({"the same at every ", quoted(axis)}),
        join({"it has ", has, ": fold along one of these, or read an array at ", quoted(axis)}));
}

}  // namespace napkin::messages
