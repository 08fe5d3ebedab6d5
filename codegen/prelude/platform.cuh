// The device primitives on a GPU: threads, barriers, shared memory and pointers. Needs no CUDA
// header. emulator/platform.cuh has the same names for the CPU.
#pragma once

#define NK_DEVICE __device__ __forceinline__
#define NK_SHARED_MEMORY(name) extern __shared__ __align__(1024) unsigned char name[]

namespace nk {

using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

/// A kernel's arrays in device memory do not overlap.
template <class T>
using Global = T* __restrict__;
template <class T>
using Shared = T*;

/// `count` elements of shared memory, `offset` bytes from its start.
template <class T>
NK_DEVICE Shared<T> shared_tile(unsigned char* memory, int offset, int, const char*) {
    return reinterpret_cast<T*>(memory + offset);
}

/// The same bytes, as elements of another type of the same size.
template <class To, class From>
NK_DEVICE Shared<To> shared_as(Shared<From> array) {
    return reinterpret_cast<To*>(array);
}

/// Tells the compiler what holds; the emulator checks it.
NK_DEVICE void assume(bool condition) {
    __builtin_assume(condition);
}

NK_DEVICE void block_barrier() {
    __syncthreads();
}
NK_DEVICE void warp_barrier() {
    __syncwarp();
}

#if __CUDA_ARCH__ >= 800
/// These do in an instruction what scalar.cuh and arithmetic.cuh have as arithmetic.
#define NK_IN_ONE_INSTRUCTION
NK_DEVICE u16 round_to_bf16(float value) {
    u16 bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
NK_DEVICE u16 round_to_f16(float value) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
NK_DEVICE float widen_f16(u16 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
NK_DEVICE float maximum_or_nan(float a, float b) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
NK_DEVICE float minimum_or_nan(float a, float b) {
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
/// Saturates; NaN gives 0.
NK_DEVICE int round_to_int(float value) {
    return __float2int_rn(value);
}
#endif

#if __CUDA_ARCH__ >= 890
/// These widen two 8-bit floating-point numbers, the first in the lower half, to two f16.
#define NK_WIDENS_FP8
NK_DEVICE u32 widen_e4m3(u16 pair) {
    u32 both;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(both) : "h"(pair));
    return both;
}
NK_DEVICE u32 widen_e5m2(u16 pair) {
    u32 both;
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(both) : "h"(pair));
    return both;
}
/// What is too large becomes the largest finite number.
NK_DEVICE u8 round_to_e4m3(float value) {
    u16 pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
    return u8(pair);
}
NK_DEVICE u8 round_to_e5m2(float value) {
    u16 pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
    return u8(pair);
}
#endif

NK_DEVICE u32 bits_of(float value) {
    return __float_as_uint(value);
}
NK_DEVICE float float_of(u32 bits) {
    return __uint_as_float(bits);
}

/// The value that lane `from` of the warp passed in.
template <class T>
NK_DEVICE T shuffle(T value, int from) {
    return __shfl_sync(0xffffffffu, value, from);
}
/// The value that lane `lane ^ mask` of the warp passed in.
template <class T>
NK_DEVICE T shuffle_xor(T value, int mask) {
    return __shfl_xor_sync(0xffffffffu, value, mask);
}

}  // namespace nk
