#include "derive/proof/verify.h"

#include <algorithm>
#include <set>

#include "derive/proof/certificate_json.h"
#include "derive/proof/checker/check_certificate.h"
#include "derive/proof/checker/program_reader.h"
#include "derive/proof/limits.h"
#include "derive/proof/messages.h"

namespace napkin::proof {
namespace {

// Levels of lists in lists: several for each of the deepest expression that is parsed.
constexpr std::size_t kDeepestLists = 2048;

/// Where two JSON values first differ: `shapes[0].outputs[0].bound`.
std::string first_difference(const Json& a, const Json& b, const std::string& path) {
    if (a == b) return "";
    if (a.type() == b.type() && a.is_object()) {
        for (const auto& [name, value] : a.items()) {
            std::string inner = path.empty() ? name : path + "." + name;
            if (!b.contains(name)) return inner;
            if (std::string found = first_difference(value, b[name], inner); !found.empty())
                return found;
        }
        for (const auto& [name, value] : b.items())
            if (!a.contains(name)) return path.empty() ? name : path + "." + name;
    }
    if (a.type() == b.type() && a.is_array())
        for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
            const std::string inner = path + "[" + std::to_string(i) + "]";
            if (std::string found = first_difference(a[i], b[i], inner); !found.empty())
                return found;
        }
    return path.empty() ? "it" : path;
}

Sizes sizes_of_json(const Json& json) {
    Sizes sizes;
    for (const auto& [name, size] : json.items()) sizes[name] = size.get<std::int64_t>();
    return sizes;
}

class Verifier {
public:
    explicit Verifier(const Json& certificate) : json_(certificate) {}

    Verification run() {
        result_.diagram = json_.at("diagram").at("name").get<std::string>();
        result_.hash = json_.at("hash").get<std::string>();
        result_.derivation = json_.at("derivation").at("hash").get<std::string>();
        for (const Json& rung : json_.at("rungs"))
            result_.rungs.push_back(rung.at("rung").get<std::string>());
        if (hash_of(json_) != result_.hash)
            result_.failures.emplace_back("the hash is not its own");
        const std::uint32_t source =
            sources_.add("<certificate>", json_.at("diagram").at("text").get<std::string>());
        const Result<syntax::File> file = syntax::parse(sources_, source);
        if (!file) {
            result_.failures.emplace_back("the diagram's text cannot be read");
            return result_;
        }
        add(checker::check_steps(json_));
        // Programs of another's making might never end.
        if (replay(*file)) add(checker::check_programs(json_, sources_, *file));
        return result_;
    }

private:
    void add(std::vector<std::string> failures) {
        for (std::string& failure : failures) result_.failures.push_back(std::move(failure));
    }

    /// Whether the derivation is proved again and all comes out as it is written.
    bool replay(const syntax::File& file) {
        const std::size_t before = result_.failures.size();
        compare(file);
        return result_.failures.size() == before;
    }

    void compare(const syntax::File& file) {
        std::string derivation;
        for (const Json& step : json_.at("derivation").at("steps"))
            derivation += step.at("command").get<std::string>() + "\n";
        SourceMap steps;
        const Result<std::vector<Command>> commands =
            parse_derivation(steps, steps.add("<derivation>", derivation));
        if (!commands) {
            result_.failures.emplace_back("the steps cannot be read");
            return;
        }
        Subject subject{sources_, file, *commands, sizes_of_json(json_.at("fixed")),
                        sizes_of_json(json_.at("sizes"))};
        ProofOptions options;
        options.seed = json_.at("seed").get<std::uint64_t>();
        const Result<Proof> proof = prove(subject, options);
        if (!proof) {
            result_.failures.emplace_back("the derivation does not replay: " +
                                          proof.error().list.front().message);
            return;
        }
        for (const std::string& failure : proof->failures())
            result_.failures.push_back("proved again, " + failure);
        Json again = certificate_json(*proof);
        again["hash"] = json_.at("hash");
        if (const std::string where = first_difference(json_, again, ""); !where.empty())
            result_.failures.push_back("replay yields another `" + where + "`");
        else if (json_.dump() != again.dump())
            result_.failures.emplace_back("replay yields another order of fields");
    }

    const Json& json_;
    SourceMap sources_;
    Verification result_;
};

/// In the words of the file, not of the library that reads it.
std::string explained(const Json::exception& wrong) {
    constexpr int kMissingKey = 403;
    const std::string what = wrong.what();
    const std::size_t begin = what.find('\'');
    const std::size_t end = what.rfind('\'');
    if (wrong.id == kMissingKey && begin < end)
        return "there is no `" + what.substr(begin + 1, end - begin - 1) + "` where one belongs";
    return "a field is of another kind than it should be";
}

/// How deep objects and lists stand in each other.
std::size_t depth_of(const std::string& text) {
    std::size_t deepest = 0;
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\') ++i;
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
        if ((c == ']' || c == '}') && depth > 0) --depth;
    }
    return deepest;
}

/// A text's JSON. Of a field that an object has twice, readers see one or the other: it is noted.
Json parse(const std::string& text, std::optional<std::string>& repeated) {
    std::vector<std::set<std::string>> open;
    const auto watch = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start) open.emplace_back();
        if (event == Json::parse_event_t::object_end) open.pop_back();
        if (event == Json::parse_event_t::key && !open.back().insert(parsed).second)
            repeated = parsed.get<std::string>();
        return true;
    };
    return Json::parse(text, watch, false);
}

}  // namespace

Result<Verification> verify_certificate(const std::string& text) {
    if (text.size() > kMostBytes)
        return messages::no_certificate("it has more than " + std::to_string(kMostBytes) +
                                        " bytes");
    if (text.find('\0') != std::string::npos)  // which ends what is parsed
        return messages::no_certificate("it has a byte of value 0");
    if (depth_of(text) > kDeepestLists)
        return messages::no_certificate("its lists are nested more than " +
                                        std::to_string(kDeepestLists) + " deep");
    std::optional<std::string> repeated;
    const Json json = parse(text, repeated);
    if (json.is_discarded() || !json.is_object())
        return messages::no_certificate("it is not a JSON object");
    if (repeated) return messages::no_certificate("an object has `" + *repeated + "` twice");
    try {
        return Verifier(json).run();
    } catch (const Json::exception& wrong) {
        return messages::no_certificate(explained(wrong));
    } catch (const checker::MalformedCertificate& wrong) {
        return messages::no_certificate(wrong.what());
    } catch (const std::invalid_argument& wrong) {
        return messages::no_certificate("a number is expected");
    } catch (const std::out_of_range& wrong) {
        return messages::no_certificate("a number is out of range");
    }
}

}  // namespace napkin::proof
