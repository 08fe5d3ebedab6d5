// A value, or the diagnostics that say why there is none. GCC 12 has no std::expected in C++20; the
// names are its.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "diagrams/diagnostic.h"

namespace napkin {

/// A bug of napkin's own, never the user's: caught in main (exit 70) and in tests.
class InternalError : public std::logic_error {
    using std::logic_error::logic_error;
};

/// Throws InternalError, which says `what` (in parts, joined only then), when `holds` is false;
/// stays on in release builds.
template <class... Parts>
void invariant(bool holds, const Parts&... what) {
    if (!holds) throw InternalError((std::string() + ... + what));
}

template <class T>
class [[nodiscard]] Result {
public:
    // NOLINTBEGIN(google-explicit-constructor): `return value;` and `return error;` are the point
    Result(T value) : state_(std::move(value)) {}
    Result(Diagnostics errors) : state_(std::move(errors)) {}
    Result(Diagnostic error) : state_(Diagnostics{{std::move(error)}}) {}
    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }
    [[nodiscard]] const T& value() const& { return check(), std::get<0>(state_); }
    [[nodiscard]] T& value() & { return check(), std::get<0>(state_); }
    [[nodiscard]] T&& value() && { return check(), std::get<0>(std::move(state_)); }
    const T& operator*() const& { return value(); }
    T& operator*() & { return value(); }
    const T* operator->() const { return &value(); }
    T* operator->() { return &value(); }
    [[nodiscard]] const Diagnostics& error() const { return std::get<1>(state_); }

private:
    void check() const { invariant(has_value(), "value() of a Result that holds an error"); }
    std::variant<T, Diagnostics> state_;
};

}  // namespace napkin
