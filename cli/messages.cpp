#include "cli/messages.h"

#include <cstdio>

#include "diagrams/nearest.h"

namespace napkin::cli {

std::string listed(const std::vector<std::string>& words) {
    if (words.empty()) return "nothing";
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
        text += "`" + words[i] + "`";
    }
    return text;
}

Diagnostic cannot_write(const std::string& path, const std::string& reason) {
    return plain_error("E9002", "cannot write `" + path + "`: " + reason);
}

Diagnostic read_only(const std::string& path) {
    return plain_error("E9023", "cannot write `" + path + "`: it is read-only",
                       "`chmod u+w` makes it writable; or name another file");
}

Diagnostic output_is_input(const std::string& path, const std::string& input) {
    return plain_error("E9020",
                       "cannot write `" + path + "`: this command reads it" +
                           (input == path ? "" : ", as `" + input + "`") + ", and it would be lost",
                       "name another file");
}

Diagnostic output_is_source(const std::string& path, const std::string& source) {
    return plain_error("E9021",
                       "cannot write `" + path + "`: a " + source +
                           " stands there, and something else would replace it",
                       "name another file, or remove this one first");
}

Diagnostic output_is_no_derivation(const std::string& path) {
    return plain_error("E9022",
                       "cannot write `" + path +
                           "`: what stands there is no derivation, and would "
                           "be lost",
                       "name a `.drv` file, or remove this one first");
}

Diagnostic output_is_no_live_page(const std::string& path) {
    return plain_error(
        "E9027",
        "cannot write `" + path + "`: what stands there is of no live page, and would be lost",
        "name another page, as in `show live other.html`, or remove this file first");
}

Diagnostic malformed_set(const std::string& text) {
    return plain_error("E9004", "`--set " + text + "` is not a name and a number",
                       "write it as `--set q=8192` or `--set eps=1e-5`");
}

Diagnostic repeated_set(const std::string& first, const std::string& second) {
    return plain_error("E9005", "`--set " + first + "` and `--set " + second + "` are both given",
                       "give one of them");
}

Diagnostic repeated_tensor(const std::string& option, const std::string& first,
                           const std::string& second) {
    return plain_error(
        "E9089",
        "`--" + option + " " + first + "` and `--" + option + " " + second + "` are both given",
        "give one of them");
}

Diagnostic repeated_output(const std::string& path) {
    return plain_error("E9090", "two outputs are written to `" + path + "`",
                       "give each a file of its own");
}

Diagnostic malformed_tensor_option(const std::string& option, const std::string& text) {
    return plain_error("E9006", "`--" + option + " " + text + "` is not an array and a file",
                       "write it as `--" + option + " Q=q.npy`");
}

Diagnostic unknown_tensor(const std::string& option, const std::string& name,
                          const std::vector<std::string>& known) {
    return plain_error(
        "E9007", "`--" + option + " " + name + "=...` names no " + option + " of this diagram",
        "it has " + listed(known));
}

Diagnostic capacity_exceeded(const Excess& excess, const std::string& machine) {
    Diagnostic warning = plain_error("W9001", describe(excess) + " on " + machine,
                                     excess.level == Level::Device
                                         ? "no tiles make arrays smaller; `--set` does"
                                         : "group or stream an axis of it in smaller tiles");
    warning.severity = Severity::Warning;
    return warning;
}

Diagnostic unknown_region(const std::string& reason, const std::string& help) {
    return plain_error("E9024", reason, help);
}

Diagnostic too_few_columns(int wanted, int least) {
    return plain_error("E9094",
                       "the picture takes " + std::to_string(least) + " columns, more than " +
                           std::to_string(wanted),
                       "`--width " + std::to_string(least) +
                           "` is the least; `--region` draws one kernel, `-o P.svg` a page");
}

Diagnostic law_without_picture(const std::string& command) {
    return plain_error("E9018", "there is no picture of why `" + command + "` is legal",
                       "`-o` draws the law of a `group`, or with `--machine` its times; `napkin "
                       "draw --steps` draws "
                       "what a step does");
}

Diagnostic after_without_schedule() {
    return plain_error("E9025", "`--after` is of schedules", "add `--as schedule`");
}

Diagnostic no_passes(const std::string& region, const std::string& target) {
    return plain_error(
        "E9026",
        "kernels of target `" + target + "` go through no passes, as of region `" + region + "`",
        "`--target sm_80` says why that one does not serve, or takes it");
}

Diagnostic no_mask(const std::string& diagram) {
    return plain_error("E9030", "no fold of `" + diagram + "` has a mask",
                       "a mask is a condition outside of which an element adds nothing: "
                       "`if x <= q then S[q, x] else -inf`");
}

Diagnostic uncounted_mask(const std::string& statement) {
    return plain_error("E9031",
                       "the mask of `" + statement + "` has too many tiles for a picture or a list",
                       "give smaller sizes with `--set`, or larger tiles");
}

Diagnostic data_in_mask(const std::string& statement) {
    return plain_error(
        "E9032", "the mask of `" + statement + "` reads arrays, which are known at run time",
        "give them with `--input ARRAY=FILE.npy`, or `--as flex`, which writes it as a "
        "function of them");
}

Diagnostic row_not_compressed(const std::string& row, bool is_longer) {
    return plain_error(
        "E9033",
        "row " + row +
            (is_longer ? " takes three progressions, and with such rows the mask is longer than as "
                         "compressed sparse rows"
                       : " is no union of up to three progressions or progressions of them"),
        "a mask of other rows has no compressed form; write it as an expression");
}

Diagnostic no_compressed_row(const std::string& path, std::int64_t line) {
    return plain_error("E9088",
                       "line " + std::to_string(line) + " of `" + path + "` is no compressed row",
                       "after `# ROWS rows of COLUMNS`, a row is `stride first count`, with ` x "
                       "stride count` where that repeats and ` + ` before another");
}

Diagnostic rows_missing(const std::string& path, std::int64_t lines) {
    return plain_error("E9095",
                       "`" + path + "` ends after line " + std::to_string(lines) +
                           ", with fewer rows than it says",
                       "write the rows that are missing, or their number in `# ROWS rows of "
                       "COLUMNS`");
}

Diagnostic row_past_columns(const std::string& path, std::int64_t line, std::int64_t columns) {
    return plain_error("E9093",
                       "line " + std::to_string(line) + " of `" + path + "` goes past column " +
                           std::to_string(columns - 1) + ", the last",
                       "columns are numbered from 0, as many as the first line says; the last of "
                       "`stride first count` is first + stride (count - 1)");
}

Diagnostic no_mask_matrix(const std::string& path, const std::string& why) {
    return plain_error("E9034", "`" + path + "` is no matrix of zeros and ones: " + why,
                       "a mask has a row a query and a column a key, and before them heads if any");
}

Diagnostic blocks_differ(const std::string& axis, std::int64_t extent, std::int64_t size) {
    return plain_error("E9037",
                       "tiles of `" + axis + "` by " + std::to_string(size) +
                           " leave a shorter one of its " + std::to_string(extent) +
                           " indices, and blocks of a list are of one length",
                       "take a divisor of " + std::to_string(extent) +
                           " for its tiles, or tile the first axis alone");
}

Diagnostic several_masks(std::size_t count, const std::vector<std::string>& statements,
                         const std::vector<std::string>& kernels) {
    return plain_error(
        "E9035", std::to_string(count) + " masks do not go into one file",
        statements.size() > 1 ? "choose one with `--statement`: " + listed(statements)
        : kernels.size() > 1  ? "choose one with `--region`: " + listed(kernels)
                              : "they stand in one definition: give each one of its own");
}

Diagnostic no_such_mask(const std::vector<std::string>& masks) {
    return plain_error("E9097", "no mask is the one that is asked for",
                       "masks stand in " + listed(masks));
}

Diagnostic mask_ending_unknown(const std::string& path) {
    return plain_error("E9092", "`" + path + "` does not end as a form of a matrix does",
                       "compressed rows end in `.acsr`; `--as acsr` writes them to any file, and "
                       "`--as ncd -o FOLDER` a diagram");
}

Diagnostic page_ending_unknown(const std::string& path) {
    return plain_error("E9096", "`" + path + "` does not end as a page does",
                       "it is a page for a browser: name a file that ends in `.html`");
}

Diagnostic mask_form_unfit(const std::string& form, const std::string& path) {
    return plain_error(
        "E9036", "`--as " + form + "` is not of `" + path + "`",
        "`acsr`, `flex` and `blocks` are of a diagram, `acsr` and `ncd` of a matrix "
        "in a `.npy` or `.acsr` file; `blocks` and `ncd` write a folder, `-o FOLDER`");
}

Diagnostic option_of_a_diagram(const std::string& option, const std::string& path) {
    return plain_error("E9087", "`" + option + "` is of a diagram, and `" + path + "` is a matrix",
                       "`napkin mask " + path +
                           " --as ncd -o FOLDER` makes a diagram of it, which "
                           "is counted and drawn");
}

Diagnostic diagram_for_derivation(const std::string& path) {
    return plain_error("E9086", "`" + path + "` is a diagram, where a derivation is wanted",
                       "a derivation is a `.drv` file of commands such as `group q by 64`; the "
                       "diagram is the first argument");
}

Diagnostic derivation_for_diagram(const std::string& path) {
    return plain_error("E9091", "`" + path + "` is a derivation, where a diagram is wanted",
                       "the diagram is an `.ncd` file, and the first argument; `--drv` names the "
                       "derivation");
}

Diagnostic mask_folder_missing(const std::string& form) {
    return plain_error("E9085", "`--as " + form + "` writes a folder, and none is named",
                       "add `-o FOLDER`");
}

Diagnostic several_cubins(std::size_t count) {
    return plain_error("E9008",
                       "this derivation has " + std::to_string(count) +
                           " kernels, and standard output takes one cubin",
                       "`-o FILE` writes one file a region");
}

Diagnostic nothing_computed(const std::string& array) {
    return plain_error("E9009",
                       "no values of `" + array + "` were computed, so there are none to write",
                       "`--set` makes the diagram small enough to execute here");
}

Diagnostic opaque_has_no_values() {
    return plain_error(
        "E9010", "this diagram has an opaque box, which is drawn and costed but has no values",
        "write the box as statements to execute it");
}

Diagnostic unused_option(const std::string& option, const std::string& why,
                         const std::string& help) {
    return plain_error("E9038", "`" + option + "` " + why, help);
}

Diagnostic too_large_to_emulate(double work) {
    char amount[32];
    std::snprintf(amount, sizeof amount, "%.1e", work);
    return plain_error(
        "E9011",
        std::string("the emulator would visit ") + amount + " elements, which takes too long",
        "`--set` makes the diagram smaller");
}

Diagnostic unknown_dynamic_axis(const std::string& axis, const std::vector<std::string>& known) {
    return plain_error("E9014", "`--dynamic " + axis + "` names no axis of this diagram",
                       "it has " + listed(known));
}

Diagnostic unknown_setting(const std::string& name, const std::vector<std::string>& axes,
                           const std::vector<std::string>& parameters) {
    std::vector<std::string> known = axes;
    known.insert(known.end(), parameters.begin(), parameters.end());
    const std::optional<std::string> near = nearest(name, known);
    return plain_error(
        "E9015", "cannot set `" + name + "`: no axis and no parameter has this name",
        near ? "did you mean `" + *near + "`?"
             : "the axes are " + listed(axes) +
                   (parameters.empty() ? "" : ", the parameters " + listed(parameters)));
}

Diagnostic certificate_of_another(const std::string& path, const std::string& stated,
                                  const std::string& wanted) {
    return plain_error("E9019",
                       "`" + path + "` certifies derivation " + stated + ", and this is " + wanted,
                       "`napkin prove` with the same file, derivation and `--set` writes its own",
                       Failure::NotProved);
}

namespace {

std::string gigabytes(double bytes) {
    char text[32];
    std::snprintf(text, sizeof text, bytes < 1e11 ? "%.2g GB" : "%.0f GB", bytes / 1e9);
    return text;
}

}  // namespace

Diagnostic too_much_memory(double inputs, double results, double tiles, double left) {
    std::string parts = gigabytes(inputs) + " for inputs";
    if (results > 0) parts += ", " + gigabytes(results) + " for what is computed";
    if (tiles > 0) parts += ", " + gigabytes(tiles) + " for tiles";
    return plain_error("E9017",
                       "to execute this takes " + gigabytes(inputs + results + tiles) + " (" +
                           parts + "); there are " + gigabytes(left),
                       tiles > left / 2
                           ? "`group` and `stream` make tiles smaller, `--set` all of it"
                           : "`--set` makes the diagram smaller");
}

Diagnostic self_test_too_large(double inputs, double left, const std::string& axis) {
    return plain_error(
        "E9013",
        "the inputs of the self-test take " + gigabytes(inputs) + "; there are " + gigabytes(left),
        "`--dynamic " + axis +
            "` leaves this size to the call, and the self-test takes small ones");
}

Diagnostic set_no_size(const std::string& axis, const std::string& value) {
    return plain_error("E9016", "cannot set axis `" + axis + "` to " + value,
                       "a size is a whole number of at least 1 and less than 2^53");
}

Diagnostic set_no_value(const std::string& parameter, const std::string& type,
                        const std::string& value) {
    return plain_error(
        "E9028", "cannot set the parameter `" + parameter + "`, which is " + type + ", to " + value,
        "give a whole number in range, or declare it `: f32`");
}

Diagnostics named_at(Diagnostics problems, Span place) {
    for (Diagnostic& problem : problems.list) {
        if (problem.has_place) {
            problem.related.push_back({place, "asked for here"});
            continue;
        }
        problem.has_place = true;
        problem.primary = {place, "asked for here"};
    }
    return problems;
}

}  // namespace napkin::cli
