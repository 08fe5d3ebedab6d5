#include "derive/proof/limits.h"

#include "derive/proof/messages.h"

namespace napkin::proof {
namespace {

std::string more_than(double most, const std::string& what) {
    return "more than " + std::to_string(static_cast<long long>(most)) + " " + what;
}

}  // namespace

TooMuchWork::TooMuchWork(const std::string& what, double most)
    : std::runtime_error(more_than(most, what)) {}

std::optional<Diagnostic> excess_of(const Work& work) {
    if (work.values > kMostValues)
        return messages::too_much_work(more_than(kMostValues, "values to hold"));
    if (work.steps > kMostSteps)
        return messages::too_much_work(more_than(kMostSteps, "operations"));
    return std::nullopt;
}

}  // namespace napkin::proof
