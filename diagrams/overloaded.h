// Exhaustive dispatch over a std::variant: std::visit(overloaded{...}, value), every alternative
// written out.
#pragma once

namespace napkin {

template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
overloaded(Functions...) -> overloaded<Functions...>;

}  // namespace napkin
