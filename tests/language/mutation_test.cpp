// Seeded mutations of good and bad inputs: no crash, no hang, and the property of every text.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "diagrams/syntax.h"
#include "tests/golden.h"
#include "tests/language/parse_property.h"
#include "tests/language/random_syntax.h"

namespace napkin {
namespace {

class Mutator {
public:
    explicit Mutator(std::vector<std::string> corpus) : corpus_(std::move(corpus)) {}

    std::string next() {
        std::string text = corpus_[below(corpus_.size())];
        for (std::size_t i = 1 + below(6); i > 0 && !text.empty(); --i) mutate(text);
        return text;
    }

private:
    std::size_t below(std::size_t bound) { return random_() % std::max<std::size_t>(bound, 1); }

    void mutate(std::string& text) {
        static constexpr const char* kPieces[] = {
            "(",       ")",       "[",        "]",     "{",         "}",
            "=",       "==",      ",",        ";",     ":",         "->",
            "\n",      "#",       " ",        "\t",    "-",         "*",
            "/",       "//",      "^",        "if ",   "then ",     "else ",
            "not ",    "and ",    "scan[t] ", "axis",  "input",     "output",
            "weave",   "diagram", "def ",     "1e",    ".5",        "\xEF\xBB\xBF",
            "\xFF",    "\xC3",    "glyph ",   "over ", "identity ", "inf",
            "sum(d) ", "\r\n",    "$"};
        const std::size_t at = below(text.size());
        const std::size_t length = 1 + below(12);
        switch (below(6)) {
        case 0: text.erase(at, length); break;
        case 1: text.insert(at, kPieces[below(std::size(kPieces))]); break;
        case 2: text.insert(at, text.substr(below(text.size()), length * 4)); break;
        case 3: text[at] = static_cast<char>(random_()); break;
        case 4: text.resize(at); break;
        default: {
            const std::string& other = corpus_[below(corpus_.size())];
            text.insert(at, other.substr(below(other.size()), length * 4));
        }
        }
    }

    std::mt19937 random_{20240611};
    std::vector<std::string> corpus_;
};

std::vector<std::string> corpus() {
    namespace fs = std::filesystem;
    std::vector<fs::path> paths;
    for (const fs::path& folder : {fs::path(NAPKIN_EXAMPLES_DIR), fs::path(NAPKIN_GOLDEN_DIR)})
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
            if (entry.path().extension() == ".ncd") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const fs::path& path : paths) texts.push_back(test::read_text(path));
    for (std::uint32_t seed = 1; seed <= 30; ++seed)
        texts.push_back(syntax::print(test::RandomSyntax(seed).file()));
    return texts;
}

TEST_CASE("mutated texts are read or refused, never mishandled") {
    Mutator mutator(corpus());
    int read = 0;
    constexpr int kTrials = 20000;
    for (int trial = 0; trial < kTrials; ++trial) {
        const std::string text = mutator.next();
        const std::string failure = test::parse_property_failure(text);
        INFO("trial ", trial, "\n", text, "\n", failure);
        REQUIRE(failure.empty());
        SourceMap sources;
        if (syntax::parse(sources, sources.add("t.ncd", text))) ++read;
    }
    // Neither side of the property may be vacuous.
    CHECK_GT(read, kTrials / 50);
    CHECK_LT(read, kTrials - kTrials / 50);
}

}  // namespace
}  // namespace napkin
