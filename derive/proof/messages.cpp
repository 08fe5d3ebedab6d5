#include "derive/proof/messages.h"

namespace napkin::proof::messages {

Diagnostic no_small_sizes() {
    return plain_error("E0950", "the derivation applies at none of the small sizes that were tried",
                       "give sizes of a few elements with `--set`, as in `--set q=7,x=11`");
}

}  // namespace napkin::proof::messages
