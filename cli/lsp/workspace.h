// The texts that an editor holds, and what lies beside them on disk: which derivation is of which
// diagram. `attention_split.drv` is of `attention_split.ncd`, or else of `attention.ncd`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/lsp/text.h"

namespace napkin::lsp {

class Workspace {
public:
    /// An opened or changed text.
    void put(const std::string& uri, std::string text);
    void drop(const std::string& uri);
    /// Null where the editor has not opened it.
    [[nodiscard]] const Text* find(const std::string& uri) const;
    [[nodiscard]] std::vector<std::string> opened() const;

    /// The text as the editor has it, else the file's; nothing where there is none.
    [[nodiscard]] std::optional<Text> read(const std::string& uri) const;
    /// The diagram that a derivation is of.
    [[nodiscard]] std::optional<std::string> diagram_of(const std::string& derivation) const;
    /// The derivations of a diagram, opened or in its folder.
    [[nodiscard]] std::vector<std::string> derivations_of(const std::string& diagram) const;

private:
    [[nodiscard]] bool exists(const std::string& uri) const;

    std::map<std::string, Text> texts_;
};

[[nodiscard]] bool is_derivation(const std::string& uri);
/// A file's path; the URI itself where it names none.
[[nodiscard]] std::string path_of(const std::string& uri);
[[nodiscard]] std::string uri_of(const std::string& path);

}  // namespace napkin::lsp
