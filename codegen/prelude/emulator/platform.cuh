// The device primitives' second implementation: one thread of a block is a fiber on the CPU.
//
// Pointers carry their extents, so that every access is checked. Of shared memory the emulator
// knows who touched it last: a read of what was never written, an access to what a copy in flight
// writes, and two accesses by different threads that nothing orders, of which one is a write, end
// the launch with a message.
#pragma once

// C's own functions: with those of C++17 (Bessel's and so on) half the time would go into reading
// them.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS

#include <cstring>
#include <type_traits>

#include "emulator/interface.h"

#define __global__
#define __launch_bounds__(...)
#define __grid_constant__
#define NK_DEVICE inline
#define NK_SHARED_MEMORY(name) unsigned char* const name = ::nk::emulator::context->shared
#define threadIdx (::nk::emulator::Index{::nk::emulator::context->thread})
#define blockIdx (::nk::emulator::Index{::nk::emulator::context->block})
#define gridDim (::nk::emulator::Index{::nk::emulator::context->blocks})

namespace nk {

using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

namespace emulator {

inline Context* context = nullptr;  // set by the emulator before the first thread runs

struct Index {
    int x;
};

inline void note_access(AccessKind kind, const unsigned char* place, int bytes) {
    Context& now = *context;
    if (now.note_access != nullptr) now.note_access(&now, kind, place - now.shared, bytes);
}

inline void note_read(i64 place, i64 bytes, const char* name, i64 index) {
    context->note_read(context, place, bytes, name, index);
}
inline void note_write(i64 place, i64 bytes, const char* name, i64 index) {
    context->note_write(context, place, bytes, name, index);
}

/// An element of a checked array: reads and writes go through here.
template <class T>
class Element {
public:
    using Value = std::remove_const_t<T>;
    Element(T* place, bool shared, const char* name, i64 index)
        : place_(place), shared_(shared), name_(name), index_(index) {}
    NK_DEVICE operator Value() const {
        if (shared_) {
            note_read(bytes() - context->shared, sizeof(T), name_, index_);
            note_access(AccessKind::Elements, bytes(), sizeof(T));
        }
        return *place_;
    }
    NK_DEVICE Element& operator=(Value value) {
        if (shared_) {
            note_write(bytes() - context->shared, sizeof(T), name_, index_);
            note_access(AccessKind::Elements, bytes(), sizeof(T));
        }
        *place_ = value;
        return *this;
    }
    NK_DEVICE Element& operator=(const Element& other) { return *this = static_cast<Value>(other); }

private:
    NK_DEVICE const unsigned char* bytes() const {
        return reinterpret_cast<const unsigned char*>(place_);
    }
    T* place_;
    bool shared_;
    const char* name_;
    i64 index_;
};

/// A pointer with an extent.
template <class T>
class Checked {
public:
    Checked() = default;
    Checked(T* data, i64 extent, const char* name, bool shared = false)
        : data_(data), extent_(extent), name_(name), shared_(shared) {}
    template <class Index>
    Element<T> operator[](Index index) const {
        const i64 at = static_cast<i64>(index);
        check(at, 1);
        return {data_ + at, shared_, name_, at};
    }
    void check(i64 at, i64 count) const {
        if (at < 0 || at + count > extent_)
            context->fail_access(context, "access out of bounds", name_,
                                 at < 0 ? at : at + count - 1, extent_);
    }
    [[nodiscard]] bool aligned(i64 at, i64 bytes) const {
        return reinterpret_cast<unsigned long long>(data_ + at) % u64(bytes) == 0;
    }
    [[nodiscard]] const char* name() const { return name_; }
    [[nodiscard]] i64 extent() const { return extent_; }
    /// Unchecked.
    [[nodiscard]] T* place(i64 at) const { return data_ + at; }

private:
    T* data_ = nullptr;
    i64 extent_ = 0;
    const char* name_ = "";
    bool shared_ = false;  ///< in shared memory
};

}  // namespace emulator

template <class T>
using Global = emulator::Checked<T>;
template <class T>
using Shared = emulator::Checked<T>;

/// `count` elements of shared memory, `offset` bytes from its start.
template <class T>
Shared<T> shared_tile(unsigned char* memory, i64 offset, i64 count, const char* name) {
    emulator::Context& now = *emulator::context;
    const i64 end = offset + count * i64(sizeof(T));
    if (end > now.shared_bytes)
        now.fail_access(&now, "tile outside shared memory", name, end, now.shared_bytes);
    return {reinterpret_cast<T*>(memory + offset), count, name, true};
}

template <class To, class From>
Shared<To> shared_as(const Shared<From>& array) {
    static_assert(sizeof(To) == sizeof(From));
    return {reinterpret_cast<To*>(array.place(0)), array.extent(), array.name(), true};
}

NK_DEVICE void assume(bool condition) {
    if (!condition) emulator::context->fail(emulator::context, "an assumption does not hold");
}
inline void block_barrier(int line = __builtin_LINE()) {
    emulator::context->barrier(emulator::context, line);
}
inline void warp_barrier(int line = __builtin_LINE()) {
    emulator::context->warp_barrier(emulator::context, line);
}

inline u32 bits_of(float value) {
    u32 bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline float float_of(u32 bits) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
inline float rsqrtf(float value) {
    return 1.0f / sqrtf(value);
}

namespace emulator {

/// What a lane gives to an exchange inside its warp, then what it gets.
struct Exchange {
    u64 bits;
    int from;
};
inline void exchange(Context*, void* const* all) {
    u64 given[32];
    for (int lane = 0; lane < 32; ++lane) given[lane] = static_cast<Exchange*>(all[lane])->bits;
    for (int lane = 0; lane < 32; ++lane) {
        Exchange& mine = *static_cast<Exchange*>(all[lane]);
        mine.bits = given[mine.from & 31];
    }
}

}  // namespace emulator

/// The value that lane `from` of the warp passed in.
template <class T>
NK_DEVICE T shuffle(T value, int from) {
    static_assert(sizeof(T) <= sizeof(u64));
    emulator::Exchange mine{0, from};
    std::memcpy(&mine.bits, &value, sizeof value);
    emulator::context->together(emulator::context, "shuffle", &mine, emulator::exchange);
    std::memcpy(&value, &mine.bits, sizeof value);
    return value;
}
/// The value that lane `lane ^ mask` of the warp passed in.
template <class T>
NK_DEVICE T shuffle_xor(T value, int mask) {
    return shuffle(value, threadIdx.x % 32 ^ mask);
}

namespace emulator {

template <class T>
struct Unpack {
    static T from(const Argument& argument) {
        if constexpr (std::is_floating_point_v<T>)
            return static_cast<T>(argument.real);
        else
            return static_cast<T>(argument.integer);
    }
};
template <class T>
struct Unpack<Checked<T>> {
    static Checked<T> from(const Argument& argument) {
        return {static_cast<T*>(argument.data), argument.integer, argument.name};
    }
};

template <>
struct Unpack<TensorMap> {
    static TensorMap from(const Argument& argument) {
        return *static_cast<const TensorMap*>(argument.data);
    }
};

template <class... Parameters>
void invoke(void (*kernel)(Parameters...), const Argument* arguments) {
    int at = 0;
    // Braced initialisation evaluates left to right.
    struct Values {
        void (*kernel)(Parameters...);
        Values(void (*function)(Parameters...), Parameters... values) : kernel(function) {
            kernel(values...);
        }
    };
    Values{kernel, Unpack<Parameters>::from(arguments[at++])...};
}

}  // namespace emulator
}  // namespace nk
