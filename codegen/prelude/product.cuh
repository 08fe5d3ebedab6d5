// Products on the tensor core, of tiles in shared memory and fragments.
//
// Operands come from shared memory four 8 x 8 matrices at a time (ldmatrix), rows of 16 bytes:
// as they lie where k runs along the stored rows, else transposed on the way. The instruction
// transposes 2-byte elements only, so f32 operands that would need it are read word by word.
//
// A lane's addresses are a start of its own plus constants, as far as the swizzle lets them: units
// are XORed with a number that depends on the lane alone, so a constant step along a row is an XOR
// too, provided that the warp's part starts at a multiple of the power of two which divides its
// length. Products demand that of their offsets.
#pragma once

#include "fragment.cuh"

namespace nk {

/// Places in a tile at constant distances from a lane's own row and unit. The warp's first unit is
/// a multiple of kAligned; the lane's may be one more, and steps are even then.
template <class Tile, int kAligned>
struct Cursor {
    int start = 0;  ///< bytes
    int unit = 0;
    int turn = 0;

    NK_DEVICE Cursor(int row, int first_unit, int bytes = 0)
        : start(row * Tile::row_bytes + bytes), unit(first_unit), turn(Tile::turn(row)) {}
    /// Bytes to what is `down` rows on, a multiple of 8, and `across` units.
    NK_DEVICE int operator()(int down, int across) const {
        const int low = across % kAligned;
        const int high = across - low;
        const int row = start + down * Tile::row_bytes;
        if constexpr (kAligned >= Tile::turns)
            return row + high * 16 + ((unit ^ turn) * 16 ^ low * 16);
        else
            return row + ((unit + high ^ turn) * 16 ^ low * 16);
    }
};

/// Reads left operands: kDown of 16 rows, over kSteps steps.
template <Order kOrder, class Tile, int kDown, int kSteps>
class LeftReader {
public:
    using T = typename Tile::Element;
    static constexpr bool kAlongRows = kOrder == Order::AsStored;
    static constexpr bool kByWords = !kAlongRows && sizeof(T) == 4;
    static constexpr int kDownUnits = 16 / Tile::unit;
    static constexpr int kAligned = alignment_of(kAlongRows ? 2 * kSteps : kDown * kDownUnits);

    NK_DEVICE LeftReader(Tile tile, int row, int k)
        : tile_(tile), first_(start(row, k, 0)), second_(start(row, k, 4)) {
        constexpr int kMultiple = kAligned * Tile::unit;
        check_part(tile.data, row, 16 * kDown, kAlongRows ? Tile::rows : Tile::columns,
                   kAlongRows ? 8 : kMultiple);
        check_part(tile.data, k, kStepOf<T> * kSteps, kAlongRows ? Tile::columns : Tile::rows,
                   kAlongRows ? kMultiple : 8);
    }
    NK_DEVICE void read(u32 (&words)[4], int i, int step) const {
        if constexpr (kAlongRows) {
            load_matrices<false>(words, tile_.data, first_(16 * i, 2 * step));
        } else if constexpr (!kByWords) {
            load_matrices<true>(words, tile_.data, first_(16 * step, 2 * i));
        } else {
            words[0] = read_word(tile_.data, first_(8 * step, 4 * i));
            words[1] = read_word(tile_.data, first_(8 * step, 4 * i + 2));
            words[2] = read_word(tile_.data, second_(8 * step, 4 * i));
            words[3] = read_word(tile_.data, second_(8 * step, 4 * i + 2));
        }
        round_operand<T>(words);
    }

private:
    using Place = Cursor<Tile, kAligned>;
    static NK_DEVICE Place start(int row, int k, int further) {
        const int lane = lane_index();
        if constexpr (kAlongRows) return {row + lane % 16, k / Tile::unit + lane / 16};
        if constexpr (!kByWords)
            return {k + lane % 8 + lane / 16 * 8, row / Tile::unit + lane / 8 % 2};
        return {k + lane % 4 + further, row / Tile::unit + lane / 16, lane / 4 % 4 * 4};
    }

    Tile tile_;
    Place first_;
    Place second_;  // of words, the later four of k
};

/// Reads right operands, those of two neighbouring 8 columns at once: kAcross of 8 columns, over
/// kSteps steps.
template <Order kOrder, class Tile, int kAcross, int kSteps>
class RightReader {
public:
    using T = typename Tile::Element;
    static constexpr bool kAlongRows = kOrder == Order::Transposed;
    static constexpr bool kByWords = !kAlongRows && sizeof(T) == 4;
    static constexpr int kAcrossUnits = 8 / Tile::unit;
    static constexpr int kAligned = alignment_of(kAlongRows ? 2 * kSteps : kAcross * kAcrossUnits);

    NK_DEVICE RightReader(Tile tile, int k, int column)
        : tile_(tile), first_(start(k, column, 0)), second_(start(k, column, 4)) {
        constexpr int kMultiple = kAligned * Tile::unit;
        check_part(tile.data, column, 8 * kAcross, kAlongRows ? Tile::rows : Tile::columns,
                   kAlongRows ? 8 : kMultiple);
        check_part(tile.data, k, kStepOf<T> * kSteps, kAlongRows ? Tile::columns : Tile::rows,
                   kAlongRows ? kMultiple : 8);
    }
    /// Two words each for columns 16 * pair and the 8 that follow, if there are any.
    NK_DEVICE void read(u32 (&words)[4], int pair, int step) const {
        const bool both = 2 * pair + 1 < kAcross;
        if constexpr (kByWords) {
            words[0] = read_word(tile_.data, first_(8 * step, 4 * pair));
            words[1] = read_word(tile_.data, second_(8 * step, 4 * pair));
            if (both) words[2] = read_word(tile_.data, first_(8 * step, 4 * pair + 2));
            if (both) words[3] = read_word(tile_.data, second_(8 * step, 4 * pair + 2));
        } else {
            const int from = kAlongRows ? first_(16 * pair, 2 * step) : first_(16 * step, 2 * pair);
            if (both) {
                load_matrices<!kAlongRows>(words, tile_.data, from);
            } else {
                u32 half[2];
                load_matrices<!kAlongRows>(half, tile_.data, from);
                words[0] = half[0];
                words[1] = half[1];
            }
        }
        round_operand<T>(words);
    }

private:
    using Place = Cursor<Tile, kAligned>;
    static NK_DEVICE Place start(int k, int column, int further) {
        const int lane = lane_index();
        if constexpr (kAlongRows)
            return {column + lane % 8 + lane / 16 * 8, k / Tile::unit + lane / 8 % 2};
        if constexpr (!kByWords) return {k + lane % 16, column / Tile::unit + lane / 16};
        return {k + lane % 4 + further, column / Tile::unit + lane / 16, lane / 4 % 4 * 4};
    }

    Tile tile_;
    Place first_;
    Place second_;  // of words, the later four of k
};

/// The parts of an operand. The rounded one is finite where the operand is infinite, so that the
/// other is: of an infinite part alone the sum would be no number. What the other has beyond tf32
/// is cut off by the tensor core. Parts may differ in sign: where a product is 2^11 times too large
/// for f32, infinities of both signs meet in no number, where whole operands give an infinity.
struct Parts {
    u32 rounded;
    u32 rest;
    NK_DEVICE explicit Parts(u32 bits)
        : rounded(finite_tf32_bits(bits)), rest(bits_of(float_of(bits) - float_of(rounded))) {}
};

/// acc += left right for kDown by one or two tiles of a warp.
template <class T, int kDown, int kAcross, class Left>
NK_DEVICE void multiply_pair(Fragment<kDown, kAcross>& acc, int pair, const Left& left,
                             const u32 (&right)[4]) {
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
        multiply_tile<T>(acc.at[i][2 * pair], left(i), right[0], right[1]);
        if (2 * pair + 1 < kAcross)
            multiply_tile<T>(acc.at[i][2 * pair + 1], left(i), right[2], right[3]);
    }
}

/// In parts, all but the product of what both operands lack, the least first. One product comes
/// after another for all rows, since the next into the same tile would wait. The tensor core cuts
/// off what does not fit when it adds, so that it sums a step alone; sums of steps are rounded.
template <int kDown, int kAcross, class Left>
NK_DEVICE void multiply_pair_in_parts(Fragment<kDown, kAcross>& acc, int pair, const Left& left,
                                      const u32 (&right)[4]) {
#pragma unroll
    for (int tile = 0; tile < 2 && 2 * pair + tile < kAcross; ++tile) {
        const Parts first(right[2 * tile]);
        const Parts second(right[2 * tile + 1]);
        float sum[kDown][4] = {};
#pragma unroll
        for (int product = 0; product < 3; ++product)
#pragma unroll
            for (int i = 0; i < kDown; ++i) {
                u32 of_left[4];
#pragma unroll
                for (int word = 0; word < 4; ++word) {
                    const Parts parts(left(i)[word]);
                    of_left[word] = product == 0 ? parts.rest : parts.rounded;
                }
                multiply_tile<float>(sum[i], of_left, product == 1 ? first.rest : first.rounded,
                                     product == 1 ? second.rest : second.rounded);
            }
#pragma unroll
        for (int i = 0; i < kDown; ++i)
#pragma unroll
            for (int e = 0; e < 4; ++e) acc.at[i][2 * pair + tile][e] += sum[i][e];
    }
}

template <class T, int kDown, int kAcross, class Left>
NK_DEVICE void multiply_tiles(Fragment<kDown, kAcross>& acc, int pair, const Left& left,
                              const u32 (&right)[4]) {
    if constexpr (kInParts<T>)
        multiply_pair_in_parts(acc, pair, left, right);
    else
        multiply_pair<T>(acc, pair, left, right);
}

/// Left operands that are in registers.
template <class T, int kDown, int kSteps>
struct HeldLeft {
    const LeftOperand<T, kDown, kSteps>& operand;
    NK_DEVICE void prepare(int) {}
    NK_DEVICE const u32 (&at(int i, int step) const)[4] { return operand.at[i][step]; }
};
/// Left operands that are read a step ahead of their use.
template <class Reader, int kDown>
struct ReadLeft {
    Reader reader;
    u32 words[2][kDown][4];
    NK_DEVICE void prepare(int step) {
#pragma unroll
        for (int i = 0; i < kDown; ++i) reader.read(words[step % 2][i], i, step);
    }
    NK_DEVICE const u32 (&at(int i, int step) const)[4] {
        return words[step % 2][i];
    }
};

/// acc += left right, right operands being read a few instructions ahead of their use.
template <class T, int kSteps, int kDown, int kAcross, class Left, class Right>
NK_DEVICE void multiply_steps(Fragment<kDown, kAcross>& acc, Left left, const Right& right) {
    constexpr int kPairs = (kAcross + 1) / 2;
    constexpr int kReads = kPairs * kSteps;
    constexpr int kAhead = kDown == 1 ? 2 : 1;
    constexpr int kPrepare = kPairs > kAhead ? kPairs - kAhead : 0;
    u32 words[kAhead + 1][4];
    left.prepare(0);
#pragma unroll
    for (int read = 0; read < kAhead && read < kReads; ++read)
        right.read(words[read], read % kPairs, read / kPairs);
#pragma unroll
    for (int read = 0; read < kReads; ++read) {
        const int step = read / kPairs;
        const int pair = read % kPairs;
        const int next = read + kAhead;
        if (next < kReads) right.read(words[next % (kAhead + 1)], next % kPairs, next / kPairs);
        if (pair == kPrepare && step + 1 < kSteps) left.prepare(step + 1);
        const u32(&now)[4] = words[read % (kAhead + 1)];
        const auto left_of = [&](int i) -> const u32(&)[4] { return left.at(i, step); };
        multiply_tiles<T>(acc, pair, left_of, now);
    }
}

/// Reads a warp's left operands from a tile, from row `row` of the operand and from `k` along k.
template <Order kOrder, class T, int kRows, int kColumns, int kDown, int kSteps>
NK_DEVICE void load_left(LeftOperand<T, kDown, kSteps>& operand, Matrix<T, kRows, kColumns> tile,
                         int row, int k) {
    const LeftReader<kOrder, Matrix<T, kRows, kColumns>, kDown, kSteps> reader(tile, row, k);
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
        for (int step = 0; step < kSteps; ++step) reader.read(operand.at[i][step], i, step);
}

/// acc += left right, for a warp's left operands in registers. `right` is read from k on along k
/// and from `column` on.
template <Order kRight, class T, int kDown, int kAcross, int kSteps, int kRows, int kColumns>
NK_DEVICE void multiply(Fragment<kDown, kAcross>& acc, const LeftOperand<T, kDown, kSteps>& left,
                        Matrix<T, kRows, kColumns> right, int k, int column) {
    const RightReader<kRight, Matrix<T, kRows, kColumns>, kAcross, kSteps> reader(right, k, column);
    multiply_steps<T, kSteps>(acc, HeldLeft<T, kDown, kSteps>{left}, reader);
}

/// acc += left right over the first kDepth of k, both from shared memory: the warp's part starts at
/// `row` of the left operand and at `column` of the right one.
template <Order kLeft, Order kRight, int kDepth, class T, int kDown, int kAcross, int kLeftRows,
          int kLeftColumns, int kRightRows, int kRightColumns>
NK_DEVICE void multiply(Fragment<kDown, kAcross>& acc, Matrix<T, kLeftRows, kLeftColumns> left,
                        int row, Matrix<T, kRightRows, kRightColumns> right, int column) {
    static_assert(kDepth % kStepOf<T> == 0, "whole steps along k");
    constexpr int kSteps = kDepth / kStepOf<T>;
    using Left = LeftReader<kLeft, Matrix<T, kLeftRows, kLeftColumns>, kDown, kSteps>;
    using Right = RightReader<kRight, Matrix<T, kRightRows, kRightColumns>, kAcross, kSteps>;
    multiply_steps<T, kSteps>(acc, ReadLeft<Left, kDown>{Left(left, row, 0), {}},
                              Right(right, 0, column));
}

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

/// A warp's operands of one step along k.
template <class T, int kDown, int kAcross>
struct StepOperands {
    u32 left[kDown][4];
    u32 right[(kAcross + 1) / 2][4];

    template <class Left, class Right>
    NK_DEVICE void read(const Left& left_reader, const Right& right_reader, int step) {
        static_assert(kSame<typename Left::T, T> && kSame<typename Right::T, T>,
                      "operands of one type");
#pragma unroll
        for (int i = 0; i < kDown; ++i) left_reader.read(left[i], i, step);
#pragma unroll
        for (int pair = 0; pair < (kAcross + 1) / 2; ++pair)
            right_reader.read(right[pair], pair, step);
    }
    NK_DEVICE void multiply_into(Fragment<kDown, kAcross>& acc) const {
#pragma unroll
        for (int pair = 0; pair < (kAcross + 1) / 2; ++pair) {
            const auto left_of = [&](int i) -> const u32(&)[4] { return left[i]; };
            multiply_tiles<T>(acc, pair, left_of, right[pair]);
        }
    }
};

/// What a product over several chunks keeps between two of them: the operands of a chunk's first
/// step, and of its last.
template <class T, int kDown, int kAcross>
struct Operands {
    StepOperands<T, kDown, kAcross> first;
    StepOperands<T, kDown, kAcross> last;
};

/// Reads the operands of the first step of a chunk of kDepth.
template <Order kLeft, Order kRight, int kDepth, class T, int kDown, int kAcross, class LeftTile,
          class RightTile>
NK_DEVICE void fetch_first(Operands<T, kDown, kAcross>& operands, LeftTile left, int row,
                           RightTile right, int column) {
    constexpr int kSteps = kDepth / kStepOf<T>;
    operands.first.read(LeftReader<kLeft, LeftTile, kDown, kSteps>(left, row, 0),
                        RightReader<kRight, RightTile, kAcross, kSteps>(right, 0, column), 0);
}

/// acc += left right over a chunk but for its last step, whose operands it leaves in
/// `operands.last`; those of the first step are in `operands.first`.
template <Order kLeft, Order kRight, int kDepth, class T, int kDown, int kAcross, class LeftTile,
          class RightTile>
NK_DEVICE void multiply_head(Fragment<kDown, kAcross>& acc, Operands<T, kDown, kAcross>& operands,
                             LeftTile left, int row, RightTile right, int column) {
    static_assert(kDepth % kStepOf<T> == 0, "whole steps along k");
    constexpr int kSteps = kDepth / kStepOf<T>;
    const LeftReader<kLeft, LeftTile, kDown, kSteps> left_reader(left, row, 0);
    const RightReader<kRight, RightTile, kAcross, kSteps> right_reader(right, 0, column);
    StepOperands<T, kDown, kAcross> step_operands[2];
    step_operands[0] = operands.first;
#pragma unroll
    for (int step = 0; step + 1 < kSteps; ++step) {
        step_operands[(step + 1) % 2].read(left_reader, right_reader, step + 1);
        step_operands[step % 2].multiply_into(acc);
    }
    operands.last = step_operands[(kSteps - 1) % 2];
}
/// acc += left right over the last step of a chunk.
template <class T, int kDown, int kAcross>
NK_DEVICE void multiply_tail(Fragment<kDown, kAcross>& acc,
                             const Operands<T, kDown, kAcross>& operands) {
    operands.last.multiply_into(acc);
}

/// Stores a warp's results in a tile, rounded to T, the first at (row, column).
template <class T, int kRows, int kColumns, int kDown, int kAcross>
NK_DEVICE void store(const Fragment<kDown, kAcross>& results, Matrix<T, kRows, kColumns> tile,
                     int row, int column) {
    using Tile = Matrix<T, kRows, kColumns>;
    constexpr int kUnits = 8 / Tile::unit;  // of 8 columns
    constexpr int kAligned = alignment_of(kAcross * kUnits);
    check_part(tile.data, row, 16 * kDown, kRows, 8);
    check_part(tile.data, column, 8 * kAcross, kColumns, kAligned * Tile::unit);
    const int lane = lane_index();
    const int own = lane % 4 * 2;
    const Cursor<Tile, kAligned> place(row + lane / 4, column / Tile::unit + own / Tile::unit,
                                       own % Tile::unit * int(sizeof(T)));
#pragma unroll
    for (int i = 0; i < 2 * kDown; ++i)
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
            const float first = results(i, 2 * j);
            const float second = results(i, 2 * j + 1);
            const int bytes = place(8 * i, kUnits * j);
            if constexpr (sizeof(T) == 2)
                write_words(tile.data, bytes, {pack<T>(first, second)});
            else
                write_words(tile.data, bytes, {bits_of(first), bits_of(second)});
        }
}

}  // namespace nk
