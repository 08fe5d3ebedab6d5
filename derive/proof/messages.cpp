#include "derive/proof/messages.h"

namespace napkin::proof::messages {
namespace {

constexpr std::size_t kMostShown = 5;

std::string shown(const std::vector<std::string>& failures) {
    std::string text;
    for (std::size_t i = 0; i < failures.size() && i < kMostShown; ++i)
        text += (i == 0 ? "" : "; ") + failures[i];
    if (failures.size() > kMostShown)
        text += "; and " + std::to_string(failures.size() - kMostShown) + " more";
    return text;
}

}  // namespace

Diagnostic no_small_sizes(const std::string& refusal) {
    return plain_error("E0950",
                       "the derivation applies at none of the small sizes that were tried; at the "
                       "first of them: " +
                           refusal,
                       "give sizes of a few elements with `--set`, as in `--set q=7,x=11`");
}

Diagnostic too_much_work(const std::string& excess) {
    return plain_error("E0954", "at these sizes a proof is too long: it takes " + excess,
                       "give fewer sizes with `--set`, or sizes of a few elements");
}

Diagnostic not_proved(const std::string& diagram, const std::vector<std::string>& failures) {
    return plain_error("E0951", "`" + diagram + "` is not proved: " + shown(failures), "",
                       Failure::NotProved);
}

Diagnostic refuted(const std::string& diagram, const std::vector<std::string>& failures) {
    return plain_error("E0955", "`" + diagram + "` is refuted: " + shown(failures),
                       "no kernel of this derivation is written; where no monoid of yours breaks a "
                       "law, please report it",
                       Failure::NotProved);
}

Diagnostic no_certificate(const std::string& reason) {
    return plain_error("E0952", "this is no certificate: " + reason,
                       "`napkin prove FILE --drv DERIVATION -o CERTIFICATE` writes one");
}

Diagnostic not_verified(const std::vector<std::string>& failures) {
    return plain_error("E0953", "the certificate does not hold: " + shown(failures), "",
                       Failure::NotProved);
}

}  // namespace napkin::proof::messages
