#include "perfmodel/machine_messages.h"

namespace napkin::messages {

namespace {

Diagnostic placed(std::string code, std::string message, Span place, std::string remark,
                  std::string help) {
    Diagnostic result;
    result.code = std::move(code);
    result.message = std::move(message);
    result.primary = {place, std::move(remark)};
    result.help = std::move(help);
    return result;
}

}  // namespace

Diagnostic unknown_machine(Span place, const std::string& name,
                           const std::vector<std::string>& known) {
    std::string list;
    for (const std::string& machine : known) list += (list.empty() ? "`" : ", `") + machine + "`";
    return placed("E0701", "no machine and no file is named `" + name + "`", place, "here",
                  "the machines are " + list +
                      "; a file is named by its path from this folder, `./mine.toml`");
}
Diagnostic machine_syntax(Span place, const std::string& reason) {
    return placed("E0703", "this is not TOML: " + reason, place, "here", "");
}
Diagnostic unknown_figure(Span place, const std::string& key, const std::string& nearest) {
    return placed(
        "E0704", "machines have no figure `" + key + "`", place, "unknown",
        nearest.empty() ? "`napkin machines H200` lists them" : "did you mean `" + nearest + "`?");
}
Diagnostic wrong_figure(Span place, const std::string& key, const std::string& reason) {
    return placed("E0705", "`" + key + "`: " + reason, place, "this value", "");
}
Diagnostic figure_without_source(Span place, const std::string& key) {
    return placed("E0706", "`" + key + "` does not say where its number comes from", place,
                  "no `source`", "write `{ value = \"...\", source = \"...\" }`");
}
Diagnostic wrong_type(Span place, const std::string& key, const std::string& want) {
    return placed("E0707", "`" + key + "` is not " + want, place, "this value", "");
}
Diagnostic malformed_override(Span place) {
    return placed("E0708", "an override is `key=value`", place, "no `=` here",
                  "for example `H200,block.capacity=96KiB`");
}
Diagnostic level_missing(Span place, const std::string& key, const std::string& level) {
    return placed("E0709", "`" + key + "` belongs to a level that the machine does not have", place,
                  "no such level", "give the file a table `[" + level + "]` with a `title`");
}
Diagnostic machine_lacks(Span place, const std::string& what) {
    return placed("E0710", "the machine file does not say `" + what + "`", place, "this file",
                  "every machine has a `name` and the tables `[device]` and `[block]`, which may "
                  "come from its `base`");
}
Diagnostic base_too_deep(Span place, const std::string& base) {
    return placed("E0711", "`base` does not name a machine of the binary: `" + base + "`", place,
                  "unknown", "`napkin machines` lists them");
}

Diagnostic machine_without_times(const std::string& name, const std::string& key) {
    return plain_error(
        "E0712", "there are no times on " + name + ": it has no `" + key + "`",
        "give it in the machine's file, or after its name as in `H200,device.bandwidth=1TB/s`");
}

}  // namespace napkin::messages
