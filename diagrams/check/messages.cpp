#include "diagrams/check/messages.h"

#include <utility>

#include "diagrams/check/other_spellings.h"
#include "diagrams/message_text.h"

namespace napkin::messages {

namespace {

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// How to write what the name means elsewhere, else the nearest name, else what can be done.
std::string help_for(std::string_view name, std::string_view meant, std::string otherwise) {
    std::string help = checking::written_here(name);
    return help.empty() ? did_you_mean(meant, std::move(otherwise)) : help;
}

}  // namespace

Diagnostic unknown_name(Span place, std::string_view name, std::string_view meant, bool in_index) {
    const std::string value = join({"`param ", name, " = 1e-5`, `input ", name, " : f32`, "});
    std::string help = join({"declare it: ", in_index ? "" : value, "`axis ", name,
                             " = 128`, or a statement before this one"});
    if (name == "true") help = "a condition is a comparison: `0 == 0` always holds";
    if (name == "false") help = "a condition is a comparison: `0 == 1` never holds";
    return make_error("E0201", place, join({"nothing is named ", quoted(name)}), "unknown name",
                      did_you_mean(meant, std::move(help)));
}

Diagnostic unknown_axis(Span place, std::string_view name, std::string_view meant,
                        std::size_t more_places) {
    const std::string more = more_places == 0 ? ""
                             : more_places == 1
                                 ? ", and in 1 more place"
                                 : join({", and in ", std::to_string(more_places), " more places"});
    return make_error("E0202", place, join({"no axis is named ", quoted(name)}),
                      join({"unknown axis", more}),
                      did_you_mean(meant, join({"declare it: `axis ", name, " = 128`"})));
}

Diagnostic unknown_array(Span place, std::string_view name, std::string_view meant) {
    return make_error("E0203", place, join({"no array is named ", quoted(name)}), "unknown array",
                      did_you_mean(meant, join({"declare it with `input ", name,
                                                "[...]`, or define it before this line"})));
}

Diagnostic unknown_operation(Span place, std::string_view name, std::string_view meant) {
    return make_error(
        "E0204", place, join({"no operation is named ", quoted(name)}), "unknown operation",
        help_for(name, meant, join({"define it before the diagram: `def ", name, "(u) = ...`"})));
}

Diagnostic unknown_reduction(Span place, std::string_view name, std::string_view meant,
                             bool scanned) {
    return make_error(
        "E0205", place, join({"no reduction is named ", quoted(name)}), "unknown reduction",
        help_for(name, meant,
                 join({"there are sum, prod, max, min, ", scanned ? "" : "argmax, argmin, ",
                       "and what `monoid` declares before the diagram"})));
}

Diagnostic selection_scanned(Span place, std::string_view name) {
    return make_error("E0428", place, join({quoted(name), " selects and cannot be scanned"}),
                      "no monoid",
                      "there are sum, prod, max, min, and what `monoid` declares before the "
                      "diagram");
}

Diagnostic unknown_glyph(Span place, std::string_view name, std::string_view meant,
                         const std::vector<std::string>& known) {
    return make_error("E0214", place, join({"no glyph is named ", quoted(name)}), "unknown glyph",
                      did_you_mean(meant, join({"there are ", listed(known)})));
}

Diagnostic defined_twice(Span place, std::string_view name, Span first) {
    Diagnostic diagnostic =
        make_error("E0206", place, join({quoted(name), " is defined twice"}), "defined again here",
                   "a name means one thing: choose another");
    diagnostic.related.push_back({first, "first defined here"});
    return diagnostic;
}

Diagnostic used_before(Span place, std::string_view name, Span definition) {
    Diagnostic diagnostic =
        make_error("E0207", place, join({quoted(name), " is used before it is defined"}),
                   "used here", "move its definition above this line");
    diagnostic.related.push_back({definition, "defined here"});
    return diagnostic;
}

Diagnostic built_in(Span place, std::string_view name) {
    return make_error("E0208", place,
                      join({quoted(name), " is built in and cannot be defined again"}),
                      "built-in name", "choose another name");
}

Diagnostic axis_indexed(Span place, std::string_view name) {
    return make_error(
        "E0209", place, join({quoted(name), " is an axis, not an array"}), "an axis",
        join({"write ", quoted(name), " alone for its index, `size(", name, ")` for its size"}));
}

Diagnostic outside_definition(Span place, std::string_view name, std::string_view definition) {
    return make_error("E0210", place,
                      join({quoted(name), " is no parameter of ", quoted(definition)}),
                      "not known inside the definition",
                      "a definition sees its own parameters and bracket axes only: add one");
}

Diagnostic not_an_input(Span place, std::string_view name, std::string_view meant) {
    return make_error(
        "E0211", place, join({"no input is named ", quoted(name)}), "not an input",
        did_you_mean(meant, "`weave ... over` names inputs; what depends on them follows"));
}

Diagnostic unknown_size(std::string_view name, std::string_view meant) {
    return plain_error("E0212",
                       join({"cannot set the size of ", quoted(name), ": there is no such axis"}),
                       did_you_mean(meant));
}

Diagnostic recursive_definition(Span place, std::string_view name) {
    return make_error("E0213", place, join({"the definition of ", quoted(name), " uses itself"}),
                      "used inside itself",
                      "definitions are replaced by their text and cannot recurse");
}

Diagnostic repeated_axis(Span place, std::string_view axis, std::string_view owner) {
    return make_error("E0301", place,
                      join({"axis ", quoted(axis), " stands twice in ", quoted(owner)}), "repeated",
                      join({"declare an alias and use it here: `axis ", axis, "2 = ", axis, "`"}));
}

Diagnostic wrong_index_count(Span place, std::string_view array, std::size_t given,
                             const std::vector<std::string>& axes) {
    const std::string shape = axes.empty()
                                  ? join({quoted(array), " is a scalar"})
                                  : join({"it is ", quoted(join({array, "[", listed(axes), "]"}))});
    return make_error(
        "E0302", place,
        join({quoted(array), " has ", counted(axes.size(), "axis", "axes"), ", ",
              counted(given, "index", "indices"), given == 1 ? " is given" : " are given"}),
        "", shape);
}

Diagnostic sizes_differ(Span place, std::string_view array, std::string_view index,
                        std::string_view index_size, std::string_view axis,
                        std::string_view axis_size) {
    return make_error("E0303", place,
                      join({quoted(index), " (size ", index_size, ") cannot index axis ",
                            quoted(axis), " (size ", axis_size, ") of ", quoted(array)}),
                      "sizes are not equal",
                      join({"give them one size, `axis ", index, " = ", axis, "`, or guard: `if ",
                            index, " < size(", axis, ") then ... else ...`"}));
}

Diagnostic axes_swapped(Span place, std::string_view read, std::string_view declared) {
    return make_error(
        "E0320", place,
        join({quoted(read), " has the axes of ", quoted(declared), " in another order"}),
        "sizes are not equal", join({"swap the indices: ", quoted(declared)}));
}

Diagnostic size_below_one(Span place, std::string_view axis, std::string_view size) {
    return make_error("E0304", place,
                      join({"axis ", quoted(axis), " has size ", size, ", and the least is 1"}),
                      "this size");
}

Diagnostic size_not_whole(Span place, std::string_view axis, std::string_view size,
                          bool is_number) {
    return make_error(
        "E0305", place, join({"axis ", quoted(axis), " has size ", size, ", which is not whole"}),
        "this size", is_number ? "sizes are whole numbers" : "`//` divides and rounds down");
}

Diagnostic cyclic_size(Span place, std::string_view axis) {
    return make_error("E0306", place, join({"the size of ", quoted(axis), " depends on itself"}),
                      "in a cycle", "give one axis of the cycle a number");
}

Diagnostic too_many_elements(Span place, std::string_view array, std::string_view product) {
    return make_error("E0307", place,
                      join({quoted(array), " has more than 2^62 elements: ", product}),
                      "too large to count", "make an axis smaller");
}

Diagnostic derived_size(Span place, std::string_view axis, std::string_view formula) {
    return make_error("E0308", place,
                      join({"cannot set the size of ", quoted(axis), ": it is ", formula}),
                      "computed from other sizes", "set the sizes that it is computed from");
}

Diagnostic unbound_axis(Span place, std::string_view axis, std::string_view target) {
    return make_error(
        "E0309", place,
        join({"axis ", quoted(axis), " is used here, but ", quoted(target),
              " does not have it and nothing folds it"}),
        "free axis",
        join({"fold it, `sum(", axis, ") ...`, or add it to the target's axes; its size is `size(",
              axis, ")`"}));
}

Diagnostic not_a_layout(Span place, std::string_view array, const std::vector<std::string>& axes) {
    return make_error("E0310", place,
                      join({"the layout of ", quoted(array), " must name each of its axes once"}),
                      "",
                      axes.empty() ? join({quoted(array), " is a scalar and has no layout"})
                                   : join({"its axes are ", listed(axes)}));
}

Diagnostic not_a_size(Span place) {
    return make_error("E0311", place, "this cannot stand in a size", "not a size",
                      "sizes are whole numbers and other axes, with + - * // % min max");
}

Diagnostic size_too_large(Span place, std::string_view axis, std::string_view size) {
    return make_error(
        "E0318", place,
        join({"axis ", quoted(axis), " has size ", size, ", and the largest is 2^53 - 1"}),
        "this size");
}

Diagnostic size_overflow(Span place, std::string_view axis) {
    return make_error("E0312", place,
                      join({"the size of ", quoted(axis), " overflows or divides by zero"}),
                      "cannot be computed");
}

Diagnostic rank_too_large(Span place, std::string_view rank, std::int64_t rank_size,
                          std::string_view axis, std::int64_t size) {
    return make_error("E0313", place,
                      join({"the top ", std::to_string(rank_size), " of ", quoted(axis),
                            ", which has ", std::to_string(size), " elements"}),
                      join({quoted(rank), " is larger than ", quoted(axis)}),
                      join({"make ", quoted(rank), " at most ", quoted(axis)}));
}

Diagnostic rank_at_run_time(Span place, std::string_view rank, std::string_view axis) {
    return make_error(
        "E0327", place,
        join({"how many of ", quoted(axis), " are selected is known at run time only"}),
        join({quoted(rank), " is `dynamic`"}),
        join({"give ", quoted(rank), " a size of its own, without `dynamic`"}));
}

Diagnostic no_rank_axis(Span place, std::string_view target) {
    return make_error(
        "E0314", place,
        join({quoted(target), " needs exactly one axis that ranks the largest elements"}),
        "no such axis, or several",
        "`val[n, k], idx[n, k] = topk[e](G[n, e])`: `k` takes the place of `e`");
}

Diagnostic scan_axis_missing(Span place, std::string_view axis, std::string_view target) {
    return make_error("E0315", place,
                      join({"a scan along ", quoted(axis), " needs the axis in ", quoted(target)}),
                      "scanned here",
                      join({"a scan keeps every prefix: add ", quoted(axis),
                            " to the target's axes, or fold with `sum(", axis, ")`"}));
}

Diagnostic several_axes_as_index(Span place, std::string_view name) {
    return make_error("E0316", place,
                      join({quoted(name), " stands for several axes and has no single index"}),
                      "used as an index", "call the operation with one axis in its brackets");
}

Diagnostic wrong_axis_count(Span place, std::string_view name, std::size_t given,
                            std::size_t wanted, std::string_view form) {
    return make_error("E0317", place,
                      join({quoted(name), " takes ", counted(wanted, "axis", "axes"), ", ",
                            std::to_string(given), given == 1 ? " is given" : " are given"}),
                      "", join({"write ", quoted(form)}));
}

Diagnostic set_below_one(std::string_view axis, std::int64_t size) {
    return plain_error("E0319",
                       join({"cannot set axis ", quoted(axis), " to ", std::to_string(size)}),
                       "sizes are at least 1");
}

}  // namespace napkin::messages
