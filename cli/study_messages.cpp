#include "cli/study_messages.h"

namespace napkin::cli {

Diagnostic no_prediction(const NotApplicable& why) {
    return plain_error("E9040", "there is no prediction: " + why.reason, why.help);
}

Diagnostic malformed_sweep(const std::string& text, const std::string& reason) {
    return plain_error("E9041", "`--sweep " + text + "`: " + reason,
                       "write it as `--sweep q=512..16384`, `--sweep q,x=512..16384` or `--sweep "
                       "device.bandwidth=1TB/s..10TB/s`");
}

Diagnostic against_without_sweep() {
    return plain_error("E9042", "`--against` is of sweeps",
                       "add `--sweep q=512..16384`; `napkin diff` compares at one size");
}

}  // namespace napkin::cli
