#include "tests/cli/transcript.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace napkin::test {
namespace {

constexpr std::string_view kPrompt = "napkin> ";

bool starts_with(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
}

/// A folder of this process, removed at the end.
class Scratch {
public:
    Scratch() {
        std::string name = std::filesystem::temp_directory_path() / "napkin-test-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

std::string typed_lines(std::string_view output) {
    std::string lines;
    while (!output.empty()) {
        const std::size_t end = std::min(output.find('\n'), output.size());
        const std::string_view line = output.substr(0, end);
        if (starts_with(line, kPrompt)) lines += std::string(line.substr(kPrompt.size())) + "\n";
        output.remove_prefix(std::min(end + 1, output.size()));
    }
    return lines;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

}  // namespace

const std::string& scratch() {
    static const Scratch kFolder;
    return kFolder.path();
}

std::vector<Exchange> parse_transcript(std::string_view text) {
    std::vector<Exchange> exchanges;
    bool in_command = false;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string line(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (starts_with(line, "$ ")) {
            exchanges.push_back({line.substr(2), ""});
            in_command = true;
        } else if (in_command && starts_with(line, "> ")) {
            exchanges.back().command += "\n" + line.substr(2);
        } else if (!exchanges.empty()) {
            exchanges.back().output += line + "\n";
            in_command = false;
        }
    }
    return exchanges;
}

std::string run_command(const Exchange& exchange, const std::string& folder) {
    const std::string input = scratch() + "/.stdin";
    std::ofstream(input, std::ios::binary) << typed_lines(exchange.output);
    const std::filesystem::path binary(NAPKIN_BINARY);
    const std::string path = binary.parent_path().string() + ":" + std::getenv("PATH");
    ::setenv("SCRATCH", scratch().c_str(), 1);
    ::setenv("XDG_CACHE_HOME", (scratch() + "/cache").c_str(), 1);
    ::setenv("NO_COLOR", "1", 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    ::setenv("NAPKIN_TEST_COMMAND", exchange.command.c_str(), 1);
    const std::string line = "cd '" + (folder.empty() ? NAPKIN_SOURCE_DIR : folder) +
                             "' && PATH='" + path + "' sh -c \"$NAPKIN_TEST_COMMAND\" < '" + input +
                             "' 2>&1";
    std::FILE* pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
    std::string output;
    char buffer[4096];
    for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        output.append(buffer, got);
    const int status = ::pclose(pipe);
    replace_all(output, scratch(), "$SCRATCH");
    if (!output.empty() && output.back() != '\n') output += '\n';
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code != 0) output += "[exit " + std::to_string(code) + "]\n";
    return output;
}

std::string rerun(std::string_view text, const std::string& folder) {
    std::string now;
    for (const Exchange& exchange : parse_transcript(text)) {
        std::string command = exchange.command;
        replace_all(command, "\n", "\n> ");
        now += "$ " + command + "\n" + run_command(exchange, folder);
    }
    return now;
}

}  // namespace napkin::test
