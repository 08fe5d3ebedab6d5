// A page that follows an interactive session: it reads a script beside it again and again, which
// works from a file, offline and without a server. The page is written once, the script after
// every command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derive/state.h"
#include "diagrams/drawing/canvas.h"
#include "perfmodel/cost.h"

namespace napkin::cli {

/// Where a session stands.
struct LiveView {
    const State& state;
    const Cost& cost;
    std::string title;
    std::string words;  ///< figures and reasons
};

class LivePage {
public:
    /// Of a file that ends in `.html`, beside which the script ends in `.js`. Nothing is written
    /// yet.
    explicit LivePage(std::string path);
    /// Why the page cannot stand there: it would replace what is no live page.
    [[nodiscard]] std::optional<Diagnostic> refused() const;
    /// Writes the page, which shows nothing until `show` is called.
    [[nodiscard]] std::optional<Diagnostic> write() const;
    /// Shows a state, with what is not as in the one before in a halo.
    [[nodiscard]] std::optional<Diagnostics> show(const LiveView& view);
    /// Says that nothing follows.
    [[nodiscard]] std::optional<Diagnostic> end();
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    std::string script_;
    std::string shown_;  ///< JSON of the last state, without its closing brace
    std::optional<drawing::Canvas> picture_;
    std::optional<Cost> cost_;
};

}  // namespace napkin::cli
