// The instructions of target sm_80 on a GPU, a function each: asynchronous copies, matrices from
// shared memory, products on the tensor core, vectors of memory, approximations.
// emulator/instructions.cuh has the same names for the CPU. Places in shared memory are counted in
// bytes from the start of an array.
#pragma once

#include "scalar.cuh"

namespace nk {

/// Of the values that the warp's lanes passed in.
NK_DEVICE int least_of_warp(int value) {
    return __reduce_min_sync(0xffffffffu, value);
}
NK_DEVICE int greatest_of_warp(int value) {
    return __reduce_max_sync(0xffffffffu, value);
}

/// What stands in device memory, which is one more for whoever asks next.
NK_DEVICE int take_number(Global<int> counter) {
    return atomicAdd(counter, 1);
}

/// The place of the lowest bit that is 1; one is.
NK_DEVICE int lowest_bit(u32 bits) {
    return __ffs(static_cast<int>(bits)) - 1;
}
/// A bit of each lane of the warp in which the condition holds.
NK_DEVICE u32 lanes_where(bool condition) {
    return __ballot_sync(0xffffffffu, condition);
}

template <class T>
NK_DEVICE u32 shared_address(Shared<T> array, int bytes) {
    return u32(__cvta_generic_to_shared(array)) + u32(bytes);
}

/// Starts the copy of kCount elements, of which all but the first `valid` are zero.
template <int kCount, class T>
NK_DEVICE void start_copy(Shared<T> tile, int bytes, Global<const T> array, i64 from, int valid) {
    constexpr int kBytes = kCount * int(sizeof(T));
    const u32 to = shared_address(tile, bytes);
    const int size = valid * int(sizeof(T));
    if constexpr (kBytes == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to),
                     "l"(array + from), "r"(size)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to),
                     "l"(array + from), "n"(kBytes), "r"(size)
                     : "memory");
}
/// Starts the copy of kCount elements, or their filling with zero where they are not `there`.
template <int kCount, class T>
NK_DEVICE void start_copy(Shared<T> tile, int bytes, Global<const T> array, i64 from, bool there) {
    start_copy<kCount>(tile, bytes, array, from, there ? kCount : 0);
}
/// Makes a group of this thread's copies since the last one.
NK_DEVICE void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits for all of this thread's groups but the last kPending.
template <int kPending>
NK_DEVICE void wait_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Words of shared memory: one, two or four, at a multiple of their size.
template <int kWords, class T>
NK_DEVICE void read_words(u32 (&words)[kWords], Shared<T> tile, int bytes) {
    static_assert(kWords == 1 || kWords == 2 || kWords == 4);
    const u32 from = shared_address(tile, bytes);
    if constexpr (kWords == 1)
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(words[0]) : "r"(from) : "memory");
    else if constexpr (kWords == 2)
        asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                     : "=r"(words[0]), "=r"(words[1])
                     : "r"(from)
                     : "memory");
    else
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(from)
                     : "memory");
}
template <int kWords, class T>
NK_DEVICE void write_words(Shared<T> tile, int bytes, const u32 (&words)[kWords]) {
    static_assert(kWords == 1 || kWords == 2 || kWords == 4);
    const u32 to = shared_address(tile, bytes);
    if constexpr (kWords == 1)
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(words[0]) : "memory");
    else if constexpr (kWords == 2)
        asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(words[0]), "r"(words[1])
                     : "memory");
    else
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]),
                     "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
}
template <class T>
NK_DEVICE u32 read_word(Shared<T> tile, int bytes) {
    u32 word[1];
    read_words(word, tile, bytes);
    return word[0];
}
/// The same, which the compiler may do once for several readers.
template <int kWords, class T>
NK_DEVICE void shared_words(u32 (&words)[kWords], Shared<T> tile, int bytes) {
    static_assert(kWords == 1 || kWords == 2 || kWords == 4);
    struct alignas(4 * kWords) Words {
        u32 at[kWords];
    };
    const Words all =
        *reinterpret_cast<const Words*>(reinterpret_cast<const unsigned char*>(tile) + bytes);
#pragma unroll
    for (int k = 0; k < kWords; ++k) words[k] = all.at[k];
}
template <class T>
NK_DEVICE u32 shared_word(Shared<T> tile, int bytes) {
    return *reinterpret_cast<const u32*>(reinterpret_cast<const unsigned char*>(tile) + bytes);
}
/// Words of device memory from an element on, at a multiple of their size; zero where they are not
/// `there`. What is only read does not change during a kernel.
template <int kWords, class T>
NK_DEVICE void read_vector(u32 (&words)[kWords], Global<const T> array, i64 at, bool there) {
    static_assert(kWords == 1 || kWords == 2 || kWords == 4);
    for (u32& word : words) word = 0;
    if constexpr (kWords == 1)
        asm("{\n.reg .pred there;\nsetp.ne.u32 there, %2, 0;\n"
            "@there ld.global.nc.b32 %0, [%1];\n}"
            : "+r"(words[0])
            : "l"(array + at), "r"(u32(there)));
    else if constexpr (kWords == 2)
        asm("{\n.reg .pred there;\nsetp.ne.u32 there, %3, 0;\n"
            "@there ld.global.nc.v2.b32 {%0, %1}, [%2];\n}"
            : "+r"(words[0]), "+r"(words[1])
            : "l"(array + at), "r"(u32(there)));
    else
        asm("{\n.reg .pred there;\nsetp.ne.u32 there, %5, 0;\n"
            "@there ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
            : "+r"(words[0]), "+r"(words[1]), "+r"(words[2]), "+r"(words[3])
            : "l"(array + at), "r"(u32(there)));
}
/// A word of device memory, at a multiple of its size, which the compiler may read once for several
/// readers.
template <class T>
NK_DEVICE u32 device_word(Global<const T> array, i64 at) {
    return *reinterpret_cast<const u32*>(array + at);
}
/// The distance of an element from the last multiple of 16 bytes before it, in bytes.
template <class T>
NK_DEVICE u32 past_multiple(Global<const T> array, i64 at) {
    return u32(reinterpret_cast<unsigned long long>(array + at)) % 16;
}
/// Whether the 16 bytes around any of the elements [from, to) are inside an array of `size`.
template <class T>
NK_DEVICE bool whole_words_inside(Global<const T> array, i64 size, i64 from, i64 to) {
    const i64 before = past_multiple(array, from) / sizeof(T);
    const i64 after = (16 - past_multiple(array, to)) % 16 / sizeof(T);
    return from >= before && to + after <= size;
}
/// Whether the 16 bytes around any of the first `valid` elements from one on reach outside an array
/// of `size`.
template <class T>
NK_DEVICE bool reaches_outside(Global<const T> array, i64 size, i64 at, int valid) {
    return valid > 0 && !whole_words_inside(array, size, at, at + valid);
}
/// 16 bytes of an array from an element on that stands anywhere, of which the first `valid` are
/// there and the others are zero: on their way, then put together. kWhole says that valid is 16
/// bytes or none.
template <class T>
struct Shifted {
    static constexpr int kVector = 16 / int(sizeof(T));
    u32 first[4];
    u32 second[4];
    u32 shift;
    int valid;

    NK_DEVICE void load(Global<const T> array, i64 at, int there) {
        valid = there;
        shift = past_multiple(array, at);
        const i64 low = at - i64(shift / sizeof(T));
        const bool more = shift / sizeof(T) + valid > kVector;
        read_vector(first, array, low, valid > 0);
        read_vector(second, array, low + kVector, valid > 0 && more);
    }
    template <bool kWhole>
    NK_DEVICE void put_together(u32 (&words)[4]) const {
        u32 all[8] = {first[0],  first[1],  first[2],  first[3],
                      second[0], second[1], second[2], second[3]};
#pragma unroll
        for (int i = 0; i < 6; ++i) all[i] = shift & 8 ? all[i + 2] : all[i];
#pragma unroll
        for (int i = 0; i < 5; ++i) all[i] = shift & 4 ? all[i + 1] : all[i];
#pragma unroll
        for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(all[i], all[i + 1], 8 * (shift & 3));
        if constexpr (kWhole) return;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int bits = 8 * (valid * int(sizeof(T)) - 4 * i);
            words[i] &= bits >= 32 ? ~0u : bits <= 0 ? 0u : (1u << bits) - 1;
        }
    }
};
template <int kWords, class T>
NK_DEVICE void write_vector(Global<T> array, i64 at, const u32 (&words)[kWords], bool there) {
    static_assert(kWords == 1 || kWords == 2 || kWords == 4);
    if constexpr (kWords == 1)
        asm volatile(
            "{\n.reg .pred there;\nsetp.ne.u32 there, %2, 0;\n"
            "@there st.global.b32 [%0], %1;\n}" ::"l"(array + at),
            "r"(words[0]), "r"(u32(there))
            : "memory");
    else if constexpr (kWords == 2)
        asm volatile(
            "{\n.reg .pred there;\nsetp.ne.u32 there, %3, 0;\n"
            "@there st.global.v2.b32 [%0], {%1, %2};\n}" ::"l"(array + at),
            "r"(words[0]), "r"(words[1]), "r"(u32(there))
            : "memory");
    else
        asm volatile(
            "{\n.reg .pred there;\nsetp.ne.u32 there, %5, 0;\n"
            "@there st.global.v4.b32 [%0], {%1, %2, %3, %4};\n}" ::"l"(array + at),
            "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(u32(there))
            : "memory");
}

// What the emulator alone checks or counts: that an element is inside its tile; that a warp's part
// of a tile is, and starts at a multiple; that a thread takes no part in its warp's copy or vector
// access.
template <class T>
NK_DEVICE void check_element(Shared<T>, int, int, int, int) {}
template <class T>
NK_DEVICE void check_part(Shared<T>, int, int, int, int) {}
NK_DEVICE void skip_copy() {}
NK_DEVICE void skip_vector() {}

/// Four 8 x 8 matrices of 2-byte elements, lane / 8 pointing at the rows of each: row lane / 4,
/// elements lane % 4 * 2 and one more; transposed, the other way round.
template <bool kTransposed, class T>
NK_DEVICE void load_matrices(u32 (&words)[4], Shared<T> tile, int bytes) {
    const u32 from = shared_address(tile, bytes);
    if constexpr (kTransposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(from)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(from)
                     : "memory");
}
/// Two of them, at which lanes 0 to 15 point.
template <bool kTransposed, class T>
NK_DEVICE void load_matrices(u32 (&words)[2], Shared<T> tile, int bytes) {
    const u32 from = shared_address(tile, bytes);
    if constexpr (kTransposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(words[0]), "=r"(words[1])
                     : "r"(from)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(words[0]), "=r"(words[1])
                     : "r"(from)
                     : "memory");
}

/// acc += left right: 16 x 8 results of a warp, over 16 elements, or 8 of tf32.
template <class T>
NK_DEVICE void multiply_tile(float (&acc)[4], const u32 (&left)[4], u32 right0, u32 right1);
template <>
NK_DEVICE void multiply_tile<bf16>(float (&acc)[4], const u32 (&left)[4], u32 right0, u32 right1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}
template <>
NK_DEVICE void multiply_tile<f16>(float (&acc)[4], const u32 (&left)[4], u32 right0, u32 right1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}
template <>
NK_DEVICE void multiply_tile<float>(float (&acc)[4], const u32 (&left)[4], u32 right0, u32 right1) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

/// Two rounded values in a word, the first in its lower half.
template <class T>
NK_DEVICE u32 pack(float first, float second);
template <>
NK_DEVICE u32 pack<bf16>(float first, float second) {
    u32 both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
}
template <>
NK_DEVICE u32 pack<f16>(float first, float second) {
    u32 both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
}
// Of two numbers at once, each rounded once.
#define NK_PAIR(name, operation)                                            \
    template <class T>                                                      \
    NK_DEVICE u32 name(u32 a, u32 b);                                       \
    template <>                                                             \
    NK_DEVICE u32 name<bf16>(u32 a, u32 b) {                                \
        u32 both;                                                           \
        asm(operation ".bf16x2 %0, %1, %2;" : "=r"(both) : "r"(a), "r"(b)); \
        return both;                                                        \
    }                                                                       \
    template <>                                                             \
    NK_DEVICE u32 name<f16>(u32 a, u32 b) {                                 \
        u32 both;                                                           \
        asm(operation ".f16x2 %0, %1, %2;" : "=r"(both) : "r"(a), "r"(b));  \
        return both;                                                        \
    }
NK_PAIR(add_pair, "add.rn")
NK_PAIR(subtract_pair, "sub.rn")
NK_PAIR(multiply_pair, "mul.rn")
NK_PAIR(maximum_pair, "max.NaN")
NK_PAIR(minimum_pair, "min.NaN")
#undef NK_PAIR
/// a b + c of two numbers at once, rounded once.
template <class T>
NK_DEVICE u32 multiply_add_pair(u32 a, u32 b, u32 c);
template <>
NK_DEVICE u32 multiply_add_pair<bf16>(u32 a, u32 b, u32 c) {
    u32 both;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(both) : "r"(a), "r"(b), "r"(c));
    return both;
}
template <>
NK_DEVICE u32 multiply_add_pair<f16>(u32 a, u32 b, u32 c) {
    u32 both;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(both) : "r"(a), "r"(b), "r"(c));
    return both;
}
/// Four bytes of the eight of two words: where the selector has k in its i-th digit, byte i is
/// byte k.
NK_DEVICE u32 select_bytes(u32 low, u32 high, u32 selector) {
    u32 bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(selector));
    return bytes;
}
/// (word & mask) ^ bits as one instruction; of two constants the compiler makes two.
NK_DEVICE u32 masked_xor(u32 word, u32 mask, u32 bits) {
    u32 result;
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(result) : "r"(word), "r"(mask), "r"(bits));
    return result;
}
/// The nearest number of 10 fraction bits, ties away from zero.
NK_DEVICE u32 tf32_bits(u32 bits) {
    u32 rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(float_of(bits)));
    return rounded;
}
/// The nearest of them that is finite, ties away from zero; of what is no number the largest.
NK_DEVICE u32 finite_tf32_bits(u32 bits) {
    constexpr float kLargest = 3.4011621342146535e38f;
    float within;
#if __CUDA_ARCH__ >= 860
    asm("min.xorsign.abs.f32 %0, %1, %2;" : "=f"(within) : "f"(float_of(bits)), "f"(kLargest));
#else
    within = fminf(fmaxf(float_of(bits), -kLargest), kLargest);
#endif
    return (bits_of(within) + 0x1000u) & ~0x1fffu;
}

// Approximations by the special function unit: about 22 bits, tanh_fast 11.
NK_DEVICE float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/// Keeps what is below the least normal number, for three instructions more.
NK_DEVICE float exp2_gradual(float x) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
NK_DEVICE float log2_fast(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
NK_DEVICE float reciprocal_fast(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
/// Within two units of the last place, in no branch; 0 / 0 is 0.
NK_DEVICE float divide_fast(float a, float b) {
    float quotient;
    asm("div.full.f32 %0, %1, %2;" : "=f"(quotient) : "f"(a), "f"(b));
    return a == 0 && b == 0 ? 0.0f : quotient;
}
NK_DEVICE float tanh_fast(float x) {
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

}  // namespace nk
