#include "cli/lsp/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "cli/files.h"

namespace napkin::lsp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kScheme = "file://";
constexpr std::string_view kDerivation = ".drv";
constexpr std::string_view kDiagram = ".ncd";

/// The value of a hexadecimal digit, or -1.
int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const int lower = std::tolower(static_cast<unsigned char>(c));
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The names that a derivation's diagram may have, most of the words first.
std::vector<std::string> stems_of(std::string stem) {
    std::vector<std::string> stems{stem};
    for (std::size_t end = stem.rfind('_'); end != std::string::npos && end > 0;
         end = stem.rfind('_')) {
        stem.resize(end);
        stems.push_back(stem);
    }
    return stems;
}

}  // namespace

bool is_derivation(const std::string& uri) {
    return uri.ends_with(kDerivation);
}

std::string path_of(const std::string& uri) {
    if (!uri.starts_with(kScheme)) return uri;
    std::string path;
    for (std::size_t at = uri.find('/', kScheme.size()); at < uri.size(); ++at) {
        const bool escaped = uri[at] == '%' && at + 2 < uri.size() && digit(uri[at + 1]) >= 0 &&
                             digit(uri[at + 2]) >= 0;
        path += escaped ? static_cast<char>(16 * digit(uri[at + 1]) + digit(uri[at + 2])) : uri[at];
        if (escaped) at += 2;
    }
    return path;
}

std::string uri_of(const std::string& path) {
    std::string uri(kScheme);
    for (const char c : path) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                           std::string_view("/-_.~").find(c) != std::string_view::npos;
        uri += plain ? std::string(1, c)
                     : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    return uri;
}

void Workspace::put(const std::string& uri, std::string text) {
    texts_.insert_or_assign(uri, Text(std::move(text)));
}

void Workspace::drop(const std::string& uri) {
    texts_.erase(uri);
}

const Text* Workspace::find(const std::string& uri) const {
    const auto found = texts_.find(uri);
    return found == texts_.end() ? nullptr : &found->second;
}

std::vector<std::string> Workspace::opened() const {
    std::vector<std::string> uris;
    for (const auto& [uri, text] : texts_) uris.push_back(uri);
    return uris;
}

bool Workspace::exists(const std::string& uri) const {
    std::error_code ignored;
    return texts_.contains(uri) ||
           (uri.starts_with(kScheme) && fs::is_regular_file(path_of(uri), ignored));
}

std::optional<Text> Workspace::read(const std::string& uri) const {
    if (const Text* text = find(uri)) return *text;
    if (!exists(uri)) return std::nullopt;
    Result<std::string> bytes = text_of_file(path_of(uri));
    if (!bytes) return std::nullopt;
    return Text(std::move(bytes).value());
}

std::optional<std::string> Workspace::diagram_of(const std::string& derivation) const {
    const std::size_t slash = derivation.rfind('/') + 1;
    const std::string name =
        derivation.substr(slash, derivation.size() - slash - kDerivation.size());
    for (const std::string& stem : stems_of(name)) {
        std::string uri = derivation.substr(0, slash) + stem + std::string(kDiagram);
        if (exists(uri)) return uri;
    }
    return std::nullopt;
}

std::vector<std::string> Workspace::derivations_of(const std::string& diagram) const {
    std::set<std::string> candidates;
    for (const auto& [uri, text] : texts_)
        if (is_derivation(uri)) candidates.insert(uri);
    std::error_code ignored;
    if (diagram.starts_with(kScheme))
        for (const fs::directory_entry& entry :
             fs::directory_iterator(fs::path(path_of(diagram)).parent_path(), ignored))
            if (entry.path().extension() == kDerivation)
                candidates.insert(uri_of(entry.path().string()));
    std::vector<std::string> derivations;
    for (const std::string& uri : candidates)
        if (diagram_of(uri) == diagram) derivations.push_back(uri);
    return derivations;
}

}  // namespace napkin::lsp
