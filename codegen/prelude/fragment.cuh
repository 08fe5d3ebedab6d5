// What the threads of a warp hold of products on the tensor core: results, and operands on the
// left. A place within a fragment is relative to the warp's part of the whole.
#pragma once

#include "matrix.cuh"

namespace nk {

/// f32 results of kDown x kAcross products of 16 x 8. Of every 16 rows a thread holds two, and two
/// neighbours of every 8 columns.
template <int kDown, int kAcross>
struct Fragment {
    static constexpr int rows = 2 * kDown;       ///< of one thread
    static constexpr int columns = 2 * kAcross;  ///< of one thread
    static constexpr int lanes_per_row = 4;      ///< neighbours

    float at[kDown][kAcross][4];

    NK_DEVICE float& operator()(int i, int j) { return at[i / 2][j / 2][i % 2 * 2 + j % 2]; }
    NK_DEVICE float operator()(int i, int j) const { return at[i / 2][j / 2][i % 2 * 2 + j % 2]; }
    static NK_DEVICE int row(int i) { return i / 2 * 16 + i % 2 * 8 + lane_index() / 4; }
    static NK_DEVICE int column(int j) { return j / 2 * 8 + lane_index() % 4 * 2 + j % 2; }
    NK_DEVICE void fill(float value) {
#pragma unroll
        for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int j = 0; j < columns; ++j) (*this)(i, j) = value;
    }
};

/// Combines the values of kLanes neighbouring lanes, a power of two; all get the result, with the
/// same bits when `combine` is commutative.
template <int kLanes, class Combine>
NK_DEVICE float row_combine(float value, const Combine& combine) {
#pragma unroll
    for (int mask = 1; mask < kLanes; mask *= 2) value = combine(value, shuffle_xor(value, mask));
    return value;
}
/// Combines the values of kThreads neighbouring threads, whole warps; all get the result, with the
/// same bits. `scratch` has a place for every warp of the block, all of which come here.
template <int kThreads, class Combine>
NK_DEVICE float block_combine(float value, Shared<float> scratch, const Combine& combine) {
    static_assert(kThreads % 32 == 0);
    constexpr int kWarps = kThreads / 32;
    value = row_combine<32>(value, combine);
    block_barrier();
    if (lane_index() == 0) scratch[warp_index()] = value;
    block_barrier();
    const int first = warp_index() / kWarps * kWarps;
    value = scratch[first];
#pragma unroll
    for (int warp = 1; warp < kWarps; ++warp) value = combine(value, scratch[first + warp]);
    return value;
}

/// What comes first of the elements that kLanes neighbouring lanes have found, a power of two; all
/// get the result.
template <int kLanes>
NK_DEVICE Ranked row_first(Ranked best) {
#pragma unroll
    for (int mask = 1; mask < kLanes; mask *= 2) {
        const float value = shuffle_xor(best.value, mask);
        const int index = shuffle_xor(best.index, mask);
        if (precedes(Ranked{value, index}, best)) best = {value, index};
    }
    return best;
}
/// The same of kThreads neighbouring threads, whole warps. `scratch` has two places for every warp
/// of the block, all of which come here.
template <int kThreads>
NK_DEVICE Ranked block_first(Ranked best, Shared<float> scratch) {
    static_assert(kThreads % 32 == 0);
    constexpr int kWarps = kThreads / 32;
    best = row_first<32>(best);
    block_barrier();
    if (lane_index() == 0) {
        scratch[2 * warp_index()] = best.value;
        scratch[2 * warp_index() + 1] = float_of(u32(best.index));
    }
    block_barrier();
    const int first = warp_index() / kWarps * kWarps;
#pragma unroll
    for (int warp = first; warp < first + kWarps; ++warp) {
        const Ranked other = {scratch[2 * warp], int(bits_of(scratch[2 * warp + 1]))};
        if (warp == first || precedes(other, best)) best = other;
    }
    return best;
}

// By the language's arithmetic.
struct Sum {
    static NK_DEVICE float identity() { return 0.0f; }
    NK_DEVICE float operator()(float a, float b) const { return add(a, b); }
};
struct Product {
    static NK_DEVICE float identity() { return 1.0f; }
    NK_DEVICE float operator()(float a, float b) const { return multiply(a, b); }
};
struct Maximum {
    static NK_DEVICE float identity() { return minus_infinity(); }
    NK_DEVICE float operator()(float a, float b) const { return maximum(a, b); }
};
struct Minimum {
    static NK_DEVICE float identity() { return infinity(); }
    NK_DEVICE float operator()(float a, float b) const { return minimum(a, b); }
};
// Of finite numbers.
struct PlainSum {
    static NK_DEVICE float identity() { return 0.0f; }
    NK_DEVICE float operator()(float a, float b) const { return a + b; }
};
struct PlainProduct {
    static NK_DEVICE float identity() { return 1.0f; }
    NK_DEVICE float operator()(float a, float b) const { return a * b; }
};

/// So many neighbouring lanes share a row, a power of two.
template <int kLanes>
struct Lanes {
    static constexpr int lanes_per_row = kLanes;
};

// Over the lanes that share a row of a fragment.
template <class Rows>
NK_DEVICE float row_sum(float value) {
    return row_combine<Rows::lanes_per_row>(value, Sum());
}
template <class Rows>
NK_DEVICE float row_product(float value) {
    return row_combine<Rows::lanes_per_row>(value, Product());
}
template <class Rows>
NK_DEVICE float row_maximum(float value) {
    return row_combine<Rows::lanes_per_row>(value, Maximum());
}
template <class Rows>
NK_DEVICE float row_minimum(float value) {
    return row_combine<Rows::lanes_per_row>(value, Minimum());
}
// Over a number of threads.
template <int kThreads>
NK_DEVICE float block_sum(float value, Shared<float> scratch) {
    return block_combine<kThreads>(value, scratch, Sum());
}
template <int kThreads>
NK_DEVICE float block_product(float value, Shared<float> scratch) {
    return block_combine<kThreads>(value, scratch, Product());
}
template <int kThreads>
NK_DEVICE float block_maximum(float value, Shared<float> scratch) {
    return block_combine<kThreads>(value, scratch, Maximum());
}
template <int kThreads>
NK_DEVICE float block_minimum(float value, Shared<float> scratch) {
    return block_combine<kThreads>(value, scratch, Minimum());
}

NK_DEVICE float exp_fast(float x) {
    return exp2_fast(x * 1.4426950408889634f);
}
/// To about 20 bits; tanh_fast has 11. Near 0, where the difference would leave few bits, by a
/// polynomial.
NK_DEVICE float tanh_by_exp(float x) {
    const float square = x * x;
    float factor = fmaf(square, -0.0477602222f, 0.132768302f);
    factor = fmaf(square, factor, -0.333318390f);
    const float near_zero = fmaf(x * square, factor, x);
    const float elsewhere = 1.0f - 2.0f * reciprocal_fast(exp_fast(2.0f * x) + 1.0f);
    return fabsf(x) < 0.4f ? near_zero : elsewhere;
}

/// Whether operands of a type are rounded to tf32, and whether they are taken into parts.
template <class T>
constexpr bool kRounded = false;
template <>
constexpr bool kRounded<float> = true;
template <class T>
constexpr bool kInParts = false;
template <>
constexpr bool kInParts<f32_parts> = true;

template <class T>
NK_DEVICE void round_operand(u32 (&words)[4]) {
    if constexpr (kRounded<T>) {
#pragma unroll
        for (u32& word : words) word = tf32_bits(word);
    }
}

/// How a product's operand lies in its tile. The left one is stored as [row][k] and transposed as
/// [k][row], the right one as [k][column] and transposed as [column][k].
enum class Order { AsStored, Transposed };

/// What one instruction's operands extend over along k.
template <class T>
constexpr int kStepOf = 32 / int(sizeof(T));

/// kDown x kSteps operands on the left: of bf16 and f16, 16 x 16 each; of f32, 16 x 8, rounded to
/// tf32 but where they are multiplied in parts.
template <class T, int kDown, int kSteps>
struct LeftOperand {
    u32 at[kDown][kSteps][4];
    /// Two neighbouring columns of a thread's first row or of its second one.
    NK_DEVICE u32& operator()(int i, int p) { return at[0][p / 2][p % 2 * 2 + i]; }
};

/// Results of one product as the left operand of the next, rounded to T.
template <class T, int kDown, int kAcross>
NK_DEVICE LeftOperand<T, kDown, kAcross * 8 / kStepOf<T>> as_left(
    const Fragment<kDown, kAcross>& results) {
    static_assert(kAcross * 8 % kStepOf<T> == 0);
    LeftOperand<T, kDown, kAcross * 8 / kStepOf<T>> left;
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
            const float(&tile)[4] = results.at[i][j];
            if constexpr (sizeof(T) == 2) {
                left.at[i][j / 2][j % 2 * 2] = pack<T>(tile[0], tile[1]);
                left.at[i][j / 2][j % 2 * 2 + 1] = pack<T>(tile[2], tile[3]);
            } else {
                // Lane t of four has columns 2 t and 2 t + 1, and needs t and t + 4.
                const int lane = lane_index();
                const int from = lane / 4 * 4 + lane % 4 / 2;
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    const float even = shuffle(tile[k % 2 * 2], from + k / 2 * 2);
                    const float odd = shuffle(tile[k % 2 * 2 + 1], from + k / 2 * 2);
                    left.at[i][j][k] = bits_of(lane % 2 == 0 ? even : odd);
                }
                round_operand<T>(left.at[i][j]);
            }
        }
    return left;
}

}  // namespace nk
