#include "perfmodel/cost_messages.h"

namespace napkin::messages {

Diagnostic cost_overflows(const std::string& name) {
    return plain_error("E0720", "the costs of `" + name + "` do not fit in 64 bits",
                       "give smaller sizes with `--set`");
}

Diagnostic too_many_heads(const std::string& statement, std::int64_t most) {
    return plain_error(
        "E0721",
        "the mask of `" + statement + "` differs over more than " + std::to_string(most) + " heads",
        "give smaller sizes of woven axes with `--set`");
}

Diagnostic too_many_pairs(const std::string& statement, std::int64_t most) {
    return plain_error("E0722",
                       "the mask of `" + statement + "` has more than " + std::to_string(most) +
                           " pairs, and no closed form to count them without looking at each",
                       "give smaller sizes with `--set`, and files of these if it reads files");
}

}  // namespace napkin::messages
