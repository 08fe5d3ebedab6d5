// Transcripts: texts in which a line `$ COMMAND` is followed by what the command prints. Running
// one gives the same text with the output that the commands print now.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace napkin::test {

/// One command of a transcript. Lines `napkin> ...` of its output are what is typed at the prompt
/// of an interactive session, so they are its standard input too.
struct Exchange {
    std::string command;
    std::string output;
};

/// The commands and outputs of a text that begins with `$ `; lines `> ` continue a command.
[[nodiscard]] std::vector<Exchange> parse_transcript(std::string_view text);
/// An empty folder of this process, removed at the end.
[[nodiscard]] const std::string& scratch();
/// Runs one command in a folder, the repository's root if none is named, with `napkin` on the PATH
/// and `$SCRATCH` the scratch folder; standard output and error as they came, then `[exit N]` where
/// N is not 0.
[[nodiscard]] std::string run_command(const Exchange& exchange, const std::string& folder = {});
/// The transcript as it is now.
[[nodiscard]] std::string rerun(std::string_view text, const std::string& folder = {});

}  // namespace napkin::test
