#include "codegen/run/emulated_places.h"

#include <execinfo.h>

#include <array>
#include <boost/functional/hash.hpp>

namespace napkin {

KernelPlace kernel_place() {
    std::array<void*, 32> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    return KernelPlace(frames.begin(), frames.begin() + count);
}

CallSite call_site(const void* frame, const void* entered) {
    // A frame begins with its caller's, then where it returns to.
    struct Frame {
        const Frame* caller;
        const void* back;
    };
    CallSite site = 0;
    for (const Frame* at = static_cast<const Frame*>(frame); at != entered; at = at->caller)
        boost::hash_combine(site, at->back);
    return site;
}

}  // namespace napkin
