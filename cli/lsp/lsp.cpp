// lsp: a language server on standard input and output.
#include <iostream>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/lsp/frames.h"
#include "cli/lsp/server.h"
#include "diagrams/overloaded.h"

namespace napkin::cli {

Result<int> run_lsp(Context&) {
    lsp::Server server([](const lsp::Json& message) {
        // Names may hold any bytes.
        const std::string text = message.dump(-1, ' ', false, lsp::Json::error_handler_t::replace);
        std::cout << lsp::framed(text) << std::flush;
    });
    std::optional<int> code;
    while (!code && std::cout) {
        const lsp::Frame frame = lsp::read_frame(std::cin);
        std::visit(overloaded{[&](const std::string& message) { code = server.take(message); },
                              [&](const lsp::BrokenFrame& broken) { server.refuse(broken.why); },
                              [&](const lsp::EndOfInput&) { code = kUserInput; }},
                   frame);
    }
    return code.value_or(kUserInput);
}

}  // namespace napkin::cli
