// How generated kernels say that a piece of code has several versions.
#pragma once

/// Of a lambda that must stay in its kernel, whose registers it uses.
#define NK_INLINE __attribute__((always_inline))

namespace nk {

/// A truth known when the kernel is compiled, passed to `auto` parameters.
template <bool kValue>
struct Flag {
    static constexpr bool value = kValue;
};

}  // namespace nk
