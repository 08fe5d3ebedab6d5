// A language server for diagrams and derivations: one message after another, each answered before
// the next is read.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/lsp/workspace.h"

namespace napkin::lsp {

using Json = nlohmann::ordered_json;

class Server {
public:
    /// `send` takes every message to the editor.
    explicit Server(std::function<void(const Json&)> send) : send_(std::move(send)) {}

    /// Answers a message; wrong ones with an error. The exit code where it was the last.
    [[nodiscard]] std::optional<int> take(const std::string& message);
    /// Tells that something that was no message was read.
    void refuse(const std::string& why);

private:
    [[nodiscard]] std::optional<int> answer(const Json& message);
    [[nodiscard]] Json result_of(const std::string& method, const Json& parameters);
    void note(const std::string& method, const Json& parameters);
    /// Of the text and, where it is a diagram, of its opened derivations.
    void publish(const std::string& uri);
    void publish_one(const std::string& uri);

    std::function<void(const Json&)> send_;
    Workspace workspace_;
    bool initialized_ = false;
    bool shut_down_ = false;
};

}  // namespace napkin::lsp
