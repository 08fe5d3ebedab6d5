// The instructions of target sm_80 on the CPU, under the names of ../instructions.cuh.
//
// ldmatrix and mma are carried out for a whole warp at once, with the fragments laid out as PTX
// documents them; lanes that do not all come to the same call end the launch. What an asynchronous
// copy will write nobody may touch before the issuing thread has waited for it.
#pragma once

#include "scalar.cuh"

namespace nk {
namespace emulator {

/// A part of an array in shared memory, by bytes: inside the array and aligned.
template <class T>
unsigned char* shared_part(const Shared<T>& array, int bytes, int size, int alignment,
                           const char* misaligned) {
    constexpr int kSize = int(sizeof(T));
    array.check(bytes / kSize, (size + kSize - 1) / kSize);
    const unsigned char* place = reinterpret_cast<const unsigned char*>(array.place(0)) + bytes;
    if ((place - context->shared) % alignment != 0)
        context->fail_access(context, misaligned, array.name(), bytes / kSize, -1);
    return const_cast<unsigned char*>(place);
}
/// Bytes from the start of shared memory to a place in an array of it.
template <class T>
i64 place_of(const Shared<T>& array, i64 bytes) {
    return reinterpret_cast<const unsigned char*>(array.place(0)) + bytes - context->shared;
}
template <class T>
void check_device(const Checked<T>& array, i64 at, i64 count, int alignment) {
    array.check(at, count);
    if (!array.aligned(at, alignment))
        context->fail_access(context, "misaligned vector in device memory", array.name(), at, -1);
}

/// How often banks serve one more address of eight rows of 16 bytes.
inline int row_conflicts(const unsigned char* const* rows) {
    int most = 1;
    for (int i = 0; i < 8; ++i) {
        int same_bank = 1;
        for (int j = 0; j < i; ++j) {
            const i64 apart = rows[i] - rows[j];
            if (apart != 0 && apart % 128 == 0) ++same_bank;
        }
        most = same_bank > most ? same_bank : most;
    }
    return most - 1;
}

/// A lane's part in ldmatrix: the row that it points at, and what it gets.
struct MatrixLoad {
    const unsigned char* row;
    u32* words;
};
template <bool kTransposed, int kCount>
void load_matrices_together(Context* now, void* const* all) {
    const auto load_of = [&](int lane) { return static_cast<const MatrixLoad*>(all[lane]); };
    Traffic& traffic = now->traffic[int(AccessKind::Matrices)];
    ++traffic.accesses;
    for (int matrix = 0; matrix < kCount; ++matrix) {
        const unsigned char* rows[8];
        for (int row = 0; row < 8; ++row) rows[row] = load_of(matrix * 8 + row)->row;
        traffic.conflicts += row_conflicts(rows);
        for (int lane = 0; lane < 32; ++lane) {
            unsigned char word[4];
            for (int half = 0; half < 2; ++half) {
                const int row = kTransposed ? lane % 4 * 2 + half : lane / 4;
                const int element = kTransposed ? lane / 4 : lane % 4 * 2 + half;
                std::memcpy(word + 2 * half, rows[row] + 2 * element, 2);
            }
            std::memcpy(load_of(lane)->words + matrix, word, sizeof word);
        }
    }
}
template <bool kTransposed, int kCount, class T>
NK_DEVICE void load_matrices(u32 (&words)[kCount], const Shared<T>& tile, int bytes) {
    MatrixLoad mine{nullptr, words};
    if (context->thread % 32 < 8 * kCount) {
        mine.row = shared_part(tile, bytes, 16, 16, "misaligned ldmatrix");
        note_read(place_of(tile, bytes), 16, tile.name(), bytes / int(sizeof(T)));
    }
    context->together(context, "ldmatrix", &mine, load_matrices_together<kTransposed, kCount>);
}

/// A lane's part in mma.
struct TileProduct {
    float* acc;
    const u32* left;
    u32 right[2];
};
/// Element `which` of a lane's words of an operand.
template <class T>
float operand_element(const u32* words, int which) {
    if constexpr (sizeof(T) == 4)
        return float_of(words[which] & ~0x1fffu);
    else
        return to_f32(T{u16(words[which / 2] >> 16 * (which % 2))});
}
/// Word w of the left operand holds row lane / 4 + w % 2 * 8, and along k, in units of words,
/// lane % 4 + w / 2 * 4; word w of the right operand column lane / 4 and, along k, lane % 4 + w
/// * 4.
template <class T>
void multiply_together(Context*, void* const* all) {
    constexpr int kEach = 4 / int(sizeof(T));  // elements of a word
    constexpr int kDepth = 8 * kEach;
    float left[16][kDepth];
    float right[kDepth][8];
    for (int lane = 0; lane < 32; ++lane) {
        const TileProduct& mine = *static_cast<const TileProduct*>(all[lane]);
        for (int e = 0; e < 4 * kEach; ++e) {
            const int word = e / kEach;
            const int k = (lane % 4 + word / 2 * 4) * kEach + e % kEach;
            left[lane / 4 + word % 2 * 8][k] = operand_element<T>(mine.left, e);
        }
        for (int e = 0; e < 2 * kEach; ++e) {
            const int k = (lane % 4 + e / kEach * 4) * kEach + e % kEach;
            right[k][lane / 4] = operand_element<T>(mine.right, e);
        }
    }
    for (int lane = 0; lane < 32; ++lane)
        for (int e = 0; e < 4; ++e) {
            float& acc = static_cast<const TileProduct*>(all[lane])->acc[e];
            const int row = lane / 4 + e / 2 * 8;
            const int column = lane % 4 * 2 + e % 2;
            for (int k = 0; k < kDepth; ++k) acc += left[row][k] * right[k][column];
        }
}

}  // namespace emulator

NK_DEVICE int least_of_warp(int value) {
    for (int mask = 1; mask < 32; mask *= 2) {
        const int other = shuffle_xor(value, mask);
        value = other < value ? other : value;
    }
    return value;
}
NK_DEVICE int greatest_of_warp(int value) {
    return -1 - least_of_warp(-1 - value);
}

NK_DEVICE int take_number(Global<int> counter) {
    const int taken = counter[0];
    counter[0] = taken + 1;
    return taken;
}

NK_DEVICE int lowest_bit(u32 bits) {
    return __builtin_ctz(bits);
}
NK_DEVICE u32 lanes_where(bool condition) {
    u32 lanes = u32(condition) << threadIdx.x % 32;
    for (int mask = 1; mask < 32; mask *= 2) lanes |= u32(shuffle_xor(int(lanes), mask));
    return lanes;
}

template <int kCount, class T>
NK_DEVICE void start_copy(Shared<T> tile, int bytes, Global<const T> array, i64 from, int valid) {
    emulator::Context& now = *emulator::context;
    constexpr int kBytes = kCount * int(sizeof(T));
    if (valid < 0 || valid > kCount) now.fail(&now, "copy of more elements than its vector has");
    emulator::Copy copy;
    copy.bytes = kBytes;
    copy.valid = valid * int(sizeof(T));
    copy.to = emulator::shared_part(tile, bytes, kBytes, kBytes, "misaligned asynchronous copy");
    copy.name = tile.name();
    copy.index = bytes / int(sizeof(T));
    if (valid > 0) emulator::check_device(array, from, valid, kBytes);
    copy.from = reinterpret_cast<const unsigned char*>(array.place(valid > 0 ? from : 0));
    emulator::note_access(emulator::AccessKind::Copies, copy.to, kBytes);
    now.start_copy(&now, &copy);
}
template <int kCount, class T>
NK_DEVICE void start_copy(Shared<T> tile, int bytes, Global<const T> array, i64 from, bool there) {
    start_copy<kCount>(tile, bytes, array, from, there ? kCount : 0);
}
NK_DEVICE void commit_copies() {
    emulator::context->commit_copies(emulator::context);
}
template <int kPending>
NK_DEVICE void wait_copies() {
    emulator::context->wait_copies(emulator::context, kPending);
}

template <int kWords, class T>
NK_DEVICE void read_words(u32 (&words)[kWords], Shared<T> tile, int bytes) {
    const unsigned char* place =
        emulator::shared_part(tile, bytes, 4 * kWords, 4 * kWords, "misaligned vector");
    emulator::note_read(emulator::place_of(tile, bytes), 4 * kWords, tile.name(),
                        bytes / int(sizeof(T)));
    emulator::note_access(
        kWords > 1 ? emulator::AccessKind::Vectors : emulator::AccessKind::Elements, place,
        4 * kWords);
    std::memcpy(words, place, sizeof words);
}
template <int kWords, class T>
NK_DEVICE void write_words(Shared<T> tile, int bytes, const u32 (&words)[kWords]) {
    unsigned char* place =
        emulator::shared_part(tile, bytes, 4 * kWords, 4 * kWords, "misaligned vector");
    emulator::note_write(emulator::place_of(tile, bytes), 4 * kWords, tile.name(),
                         bytes / int(sizeof(T)));
    emulator::note_access(
        kWords > 1 ? emulator::AccessKind::Vectors : emulator::AccessKind::Elements, place,
        4 * kWords);
    std::memcpy(place, words, sizeof words);
}
template <class T>
NK_DEVICE u32 read_word(Shared<T> tile, int bytes) {
    u32 word[1];
    read_words(word, tile, bytes);
    return word[0];
}
template <int kWords, class T>
NK_DEVICE void shared_words(u32 (&words)[kWords], Shared<T> tile, int bytes) {
    read_words(words, tile, bytes);
}
template <class T>
NK_DEVICE u32 shared_word(Shared<T> tile, int bytes) {
    return read_word(tile, bytes);
}
template <int kWords, class T>
NK_DEVICE void read_vector(u32 (&words)[kWords], Global<const T> array, i64 at, bool there) {
    std::memset(words, 0, sizeof words);
    if (!there) return;
    emulator::check_device(array, at, 4 * kWords / i64(sizeof(T)), 4 * kWords);
    std::memcpy(words, array.place(at), sizeof words);
}
template <class T>
NK_DEVICE u32 device_word(Global<const T> array, i64 at) {
    u32 word[1];
    read_vector(word, array, at, true);
    return word[0];
}
template <class T>
NK_DEVICE bool whole_words_inside(Global<const T>, i64 size, i64 from, i64 to) {
    constexpr i64 kVector = 16 / i64(sizeof(T));
    return from >= kVector && to + kVector <= size;
}
template <class T>
NK_DEVICE bool reaches_outside(Global<const T> array, i64 size, i64 at, int valid) {
    if (size > array.extent())
        emulator::context->fail_access(emulator::context, "copy from a larger array", array.name(),
                                       size, array.extent());
    return valid > 0 && !whole_words_inside(array, size, at, at + valid);
}
template <class T>
struct Shifted {
    static constexpr int kVector = 16 / int(sizeof(T));
    T values[kVector];

    NK_DEVICE void load(Global<const T> array, i64 at, int valid) {
        if (valid < 0 || valid > kVector)
            emulator::context->fail(emulator::context, "copy of more elements than its vector has");
        for (int i = 0; i < kVector; ++i)
            values[i] = i < valid ? static_cast<T>(array[at + i]) : T{};
    }
    template <bool kWhole>
    NK_DEVICE void put_together(u32 (&words)[4]) const {
        std::memcpy(words, values, sizeof words);
    }
};
template <int kWords, class T>
NK_DEVICE void write_vector(Global<T> array, i64 at, const u32 (&words)[kWords], bool there) {
    if (!there) return;
    emulator::check_device(array, at, 4 * kWords / i64(sizeof(T)), 4 * kWords);
    std::memcpy(array.place(at), words, sizeof words);
}

template <class T>
NK_DEVICE void check_element(Shared<T> tile, int row, int rows, int column, int columns) {
    emulator::Context& now = *emulator::context;
    if (row < 0 || row >= rows)
        now.fail_access(&now, "row outside its tile", tile.name(), row, rows);
    if (column < 0 || column >= columns)
        now.fail_access(&now, "column outside its tile", tile.name(), column, columns);
}
template <class T>
NK_DEVICE void check_part(Shared<T> tile, int first, int count, int extent, int multiple) {
    emulator::Context& now = *emulator::context;
    if (first < 0 || first + count > extent)
        now.fail_access(&now, "a warp's part is outside its tile", tile.name(), first, extent);
    if (first % multiple != 0)
        now.fail_access(&now, "a warp's part starts off the multiple it must", tile.name(), first,
                        -1);
}
NK_DEVICE void skip_copy() {
    emulator::note_access(emulator::AccessKind::Copies, emulator::context->shared - 1, 0);
}
NK_DEVICE void skip_vector() {
    emulator::note_access(emulator::AccessKind::Vectors, emulator::context->shared - 1, 0);
}

template <bool kTransposed, class T>
NK_DEVICE void load_matrices(u32 (&words)[4], Shared<T> tile, int bytes) {
    emulator::load_matrices<kTransposed>(words, tile, bytes);
}
template <bool kTransposed, class T>
NK_DEVICE void load_matrices(u32 (&words)[2], Shared<T> tile, int bytes) {
    emulator::load_matrices<kTransposed>(words, tile, bytes);
}
template <class T>
NK_DEVICE void multiply_tile(float (&acc)[4], const u32 (&left)[4], u32 right0, u32 right1) {
    emulator::TileProduct mine{acc, left, {right0, right1}};
    emulator::context->together(emulator::context, "mma", &mine, emulator::multiply_together<T>);
}

template <class T>
NK_DEVICE u32 pack(float first, float second) {
    return convert<T>(first).bits | u32(convert<T>(second).bits) << 16;
}
#define NK_PAIR(name, result)                               \
    template <class T>                                      \
    NK_DEVICE u32 name(u32 first, u32 second) {             \
        u32 both = 0;                                       \
        for (int half = 0; half < 32; half += 16) {         \
            const float a = to_f32(T{u16(first >> half)});  \
            const float b = to_f32(T{u16(second >> half)}); \
            both |= u32(convert<T>(result).bits) << half;   \
        }                                                   \
        return both;                                        \
    }
NK_PAIR(add_pair, a + b)
NK_PAIR(subtract_pair, a - b)
NK_PAIR(multiply_pair, a* b)
NK_PAIR(maximum_pair, a > b || is_nan(a) ? a : b)
NK_PAIR(minimum_pair, a < b || is_nan(a) ? a : b)
#undef NK_PAIR
template <class T>
NK_DEVICE u32 multiply_add_pair(u32 first, u32 second, u32 third) {
    u32 both = 0;
    for (int half = 0; half < 32; half += 16) {
        const double a = to_f32(T{u16(first >> half)});
        const double b = to_f32(T{u16(second >> half)});
        const double c = to_f32(T{u16(third >> half)});
        both |= u32(convert<T>(float(a * b + c)).bits) << half;
    }
    return both;
}
NK_DEVICE u32 select_bytes(u32 low, u32 high, u32 selector) {
    u32 bytes = 0;
    for (int i = 0; i < 4; ++i) {
        const u32 k = selector >> 4 * i & 7;
        bytes |= ((k < 4 ? low : high) >> 8 * (k % 4) & 255u) << 8 * i;
    }
    return bytes;
}
NK_DEVICE u32 masked_xor(u32 word, u32 mask, u32 bits) {
    return (word & mask) ^ bits;
}
NK_DEVICE u32 tf32_bits(u32 bits) {
    if ((bits & 0x7f800000u) == 0x7f800000u) return bits;
    return (bits + 0x1000u) & ~0x1fffu;
}
NK_DEVICE u32 finite_tf32_bits(u32 bits) {
    const u32 rounded = tf32_bits(bits);
    return (rounded & 0x7fffffffu) < 0x7f800000u ? rounded : (rounded & 0x80000000u) | 0x7f7fe000u;
}

namespace emulator {
/// What the special function unit does to numbers that have lost bits.
inline float flush(float x) {
    return fabsf(x) < 0x1p-126f ? 0.0f * x : x;
}
}  // namespace emulator
NK_DEVICE float exp2_fast(float x) {
    return emulator::flush(exp2f(x));
}
NK_DEVICE float exp2_gradual(float x) {
    return exp2f(x);
}
NK_DEVICE float log2_fast(float x) {
    return log2f(emulator::flush(x));
}
NK_DEVICE float divide_fast(float a, float b) {
    return a == 0 && b == 0 ? 0.0f : a / b;
}
NK_DEVICE float reciprocal_fast(float x) {
    return emulator::flush(1.0f / emulator::flush(x));
}
NK_DEVICE float tanh_fast(float x) {
    return round_tf32(tanhf(x));
}

}  // namespace nk
