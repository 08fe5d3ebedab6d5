// Ownership of isl's objects. Only diagrams/index includes this file, or isl itself.
//
// Every function of isl takes null for an argument that could not be computed and returns null in
// turn: an error is a value that reaches the end of a computation, where it is looked for once.
#pragma once

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/id.h>
#include <isl/ilp.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace napkin::index {

/// An object of isl, or null. Copies share it.
template <class T, auto Copy, auto Free>
class Owned {
public:
    Owned() = default;
    explicit Owned(T* object) : object_(object) {}
    Owned(const Owned& other) : object_(other.copy()) {}
    Owned(Owned&& other) noexcept : object_(other.release()) {}
    Owned& operator=(Owned other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Owned() { Free(object_); }

    /// For functions that look at it.
    [[nodiscard]] T* get() const { return object_; }
    /// For functions that consume it.
    [[nodiscard]] T* copy() const { return Copy(object_); }
    [[nodiscard]] T* release() { return std::exchange(object_, nullptr); }
    explicit operator bool() const { return object_ != nullptr; }

private:
    T* object_ = nullptr;
};

using Set = Owned<isl_set, isl_set_copy, isl_set_free>;
using Value = Owned<isl_val, isl_val_copy, isl_val_free>;
/// A quasi-affine function on each piece of its domain.
using Piecewise = Owned<isl_pw_aff, isl_pw_aff_copy, isl_pw_aff_free>;

/// What all objects of one question belong to, and outlived by none of them.
class Context {
public:
    /// A question that needs more operations ends without an answer. Ordinary ones need fewer than
    /// 5000; what many minima and choices nest into would need millions.
    explicit Context(unsigned long most_operations) : context_(isl_ctx_alloc()) {
        isl_options_set_on_error(context_, ISL_ON_ERROR_CONTINUE);
        allow(most_operations);
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() { isl_ctx_free(context_); }
    /// Gives the next question its own share of work.
    void begin() {
        isl_ctx_reset_operations(context_);
        isl_ctx_reset_error(context_);
    }
    /// Gives the next step of a question, if it has not ended, a share of its own, so many
    /// operations.
    void allow(unsigned long most_operations) {
        isl_ctx_set_max_operations(context_, most_operations);
        isl_ctx_reset_operations(context_);
    }
    /// Whether the question ended for want of operations.
    [[nodiscard]] bool is_exhausted() const {
        return isl_ctx_last_error(context_) == isl_error_quota;
    }
    [[nodiscard]] isl_ctx* get() const { return context_; }

private:
    isl_ctx* context_;
};

inline Set both(Set a, Set b) {
    return Set(isl_set_intersect(a.release(), b.release()));
}
inline Set either(Set a, Set b) {
    return Set(isl_set_union(a.release(), b.release()));
}
inline Piecewise sum(const Piecewise& a, const Piecewise& b) {
    return Piecewise(isl_pw_aff_add(a.copy(), b.copy()));
}
inline Set at_most(const Piecewise& a, const Piecewise& b) {
    return Set(isl_pw_aff_le_set(a.copy(), b.copy()));
}
inline Set below(const Piecewise& a, const Piecewise& b) {
    return Set(isl_pw_aff_lt_set(a.copy(), b.copy()));
}
/// A value that is an integer of 64 bits.
inline std::optional<std::int64_t> finite(const Value& value) {
    constexpr long kLeast = std::numeric_limits<long>::min();
    constexpr long kMost = std::numeric_limits<long>::max();
    if (!value || isl_val_is_int(value.get()) != isl_bool_true) return std::nullopt;
    if (isl_val_cmp_si(value.get(), kLeast) < 0 || isl_val_cmp_si(value.get(), kMost) > 0)
        return std::nullopt;
    return isl_val_get_num_si(value.get());
}
/// The least and the greatest value at some points.
inline std::optional<std::int64_t> least_at(const Piecewise& value, const Set& points) {
    return finite(
        Value(isl_pw_aff_min_val(isl_pw_aff_intersect_domain(value.copy(), points.copy()))));
}
inline std::optional<std::int64_t> greatest_at(const Piecewise& value, const Set& points) {
    return finite(
        Value(isl_pw_aff_max_val(isl_pw_aff_intersect_domain(value.copy(), points.copy()))));
}
inline bool certainly_empty(const Set& set) {
    return isl_set_is_empty(set.get()) == isl_bool_true;
}

}  // namespace napkin::index
