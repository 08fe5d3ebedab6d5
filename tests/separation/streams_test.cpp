// Cascades that stream: derived with no case written for any of them, compared with direct
// evaluation over random chunkings.
#include <fstream>
#include <sstream>
#include <vector>

#include "derive/accumulator_text.h"
#include "tests/golden.h"
#include "tests/separation/cases.h"

namespace napkin::test {
namespace {

struct Case {
    std::string name;
    std::string axis;
    std::string body;
    bool large = true;  ///< scores of hundreds too; not where the user's own form underflows there
};

constexpr double kTolerance = 1e-11;

/// Cases are kept as text: `== name : axis`, `small` where large scores are out of the form's own
/// reach, then a diagram.
std::vector<Case> read_cases(const std::string& file) {
    std::vector<Case> cases;
    std::istringstream lines(read_text(std::filesystem::path(NAPKIN_GOLDEN_DIR) / file));
    std::string line;
    while (std::getline(lines, line)) {
        if (line.rfind("== ", 0) == 0) {
            const std::size_t colon = line.find(" : ");
            const std::size_t end = line.find(' ', colon + 3);
            cases.push_back({.name = line.substr(3, colon - 3),
                             .axis = line.substr(colon + 3, end - colon - 3),
                             .body = "",
                             .large = end == std::string::npos});
        } else if (!cases.empty()) {
            cases.back().body += line + "\n";
        }
    }
    return cases;
}

}  // namespace

TEST_CASE("separation: what streams agrees with direct evaluation") {
    std::string texts;
    for (const Case& each : read_cases("separation/streams.ncd")) {
        CAPTURE(each.name);
        const Loaded loaded = load(each.body, each.axis);
        const auto result = derive(loaded);
        const NotApplicable* refused = std::get_if<NotApplicable>(&result);
        const std::string why = refused != nullptr ? refused->reason : "";
        CAPTURE(why);
        CHECK(refused == nullptr);
        if (refused != nullptr) continue;
        const Accumulator& accumulator = std::get<Accumulator>(result);
        texts += "== " + each.name + "\n" + explain(loaded.diagram, accumulator) + "\n";
        for (const double scale : {1.0, 30.0}) {
            if (scale > 1 && !each.large) continue;
            const Agreement agreement = compare(loaded, accumulator, 7, scale, 12);
            CAPTURE(scale);
            CAPTURE(agreement.where);
            CHECK(agreement.worst < kTolerance);
            if (agreement.worst >= kTolerance) MESSAGE(explain(loaded.diagram, accumulator));
        }
    }
    check_golden("separation/streams.txt", texts);
}

TEST_CASE("separation: what does not stream is refused at the smallest term") {
    std::string texts;
    for (const Case& each : read_cases("separation/refusals.ncd")) {
        CAPTURE(each.name);
        const auto result = derive(load(each.body, each.axis));
        const NotApplicable* refused = std::get_if<NotApplicable>(&result);
        CHECK(refused != nullptr);
        if (refused == nullptr) continue;
        CHECK(refused->reason.rfind("no accumulator found: ", 0) == 0);
        CHECK_FALSE(refused->help.empty());
        texts += "== " + each.name + "\n" + refused->reason + "\n  " + refused->help + "\n";
    }
    check_golden("separation/refusals.txt", texts);
}

}  // namespace napkin::test
