// From files to a derivation state: read, check, apply sizes, replay.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "derive/state.h"
#include "diagrams/check.h"
#include "diagrams/syntax.h"

namespace napkin::cli {

/// A text added to the source map, by its index there.
[[nodiscard]] Result<std::uint32_t> load_text(SourceMap& sources, const std::string& path);

/// Whole numbers below this are exact, as in the language, and may be sizes.
inline constexpr double kMostWhole = 0x1p53;
/// What replaces the defaults of a file: sizes of axes and values of parameters, by name.
using Settings = std::map<std::string, double>;
/// `--set` as settings, of which no name has two values (refuse_repeated_sets).
[[nodiscard]] Result<Settings> settings_of_sets(const std::vector<std::string>& sets);
/// Why these cannot be what a user means: one name is given two values.
[[nodiscard]] std::optional<Diagnostic> refuse_repeated_sets(const std::vector<std::string>& sets);
/// A setting's value as it is typed.
[[nodiscard]] std::string value_text(double value);
/// Puts the settings of parameters into the file, and returns those of axes.
[[nodiscard]] Result<Sizes> take_settings(syntax::File& file, const Settings& settings);

/// The diagram of a text in the source map with the given settings, with the axes of `--dynamic` at
/// run time; warnings included.
[[nodiscard]] Result<Checked> check_text(Context& context, std::uint32_t file,
                                         const Settings& settings);
/// The diagram of FILE with the given settings, warnings included.
[[nodiscard]] Result<Checked> load_checked(Context& context, const Settings& settings);

/// A text parsed; a derivation is told from a diagram that is wrong.
[[nodiscard]] Result<syntax::File> parse_diagram(const SourceMap& sources, std::uint32_t file);
/// A text parsed, with the settings of parameters put in.
struct SetFile {
    syntax::File tree;
    Sizes sizes;  ///< the other settings
};
[[nodiscard]] Result<SetFile> parse_with_settings(SourceMap& sources, std::uint32_t file,
                                                  const Settings& settings);

/// A command as typed, shown in messages under this name; a choice of a schedule that there is not
/// is a diagnostic too.
[[nodiscard]] Result<Command> read_command(SourceMap& sources, const std::string& name,
                                           const std::string& text);
/// The commands of `--drv`, or of the interactive session; none where there is neither.
[[nodiscard]] Result<std::vector<Command>> load_commands(Context& context);

/// A derivation and where it starts.
struct Loaded {
    std::uint32_t text = 0;  ///< the diagram's, in the source map
    Diagram plain;
    State state;
    Settings settings;  ///< what differs from the file's defaults, by `set` or `--set`
    /// proof::derivation_hash: kernels carry it, and a certificate of the derivation states the
    /// same.
    std::string hash;
};
/// The state that a text in the source map, commands and settings lead to; settings override the
/// commands' own `set`. Warnings of the checker are added.
[[nodiscard]] Result<Loaded> load_given(Context& context, std::uint32_t text,
                                        const std::vector<Command>& commands, Settings settings,
                                        Diagnostics& warnings);
/// The state that FILE, `--drv` and `--set` lead to; `--set` overrides the derivation's own `set`.
/// Warnings of the checker are printed.
[[nodiscard]] Result<Loaded> load_state(Context& context);

}  // namespace napkin::cli
