#include "perfmodel/cost_messages.h"

namespace napkin::messages {

Diagnostic cost_overflows(const std::string& name) {
    return plain_error("E0720", "the costs of `" + name + "` do not fit in 64 bits",
                       "give smaller sizes with `--set`");
}

}  // namespace napkin::messages
