// Products of warp groups in the emulator against plain loops: every type, order, width of the
// swizzle and several depths, the operands loaded by a warp group of its own through a ring.
// Elements are small whole numbers, so that all sums are exact; what the tensor core cuts off sums
// of numbers of 8 bits has a case of its own.
#include <panels.cuh>
#include <tensor.cuh>

#include <random>

#include "tests/codegen/kernel_runner.h"

namespace napkin {
namespace {

/// A block's part of a product; the rows are 64 for each consumer.
struct Shape {
    int consumers;
    int columns;
    int depth;  ///< of a chunk
    int stages;
};
/// Rows of operands are 128, 64, 32 and two times 128 bytes along k; 128, 64, 32 and 128 along
/// columns.
const std::vector<Shape> kShapes = {
    {2, 64, 64, 3}, {1, 32, 32, 2}, {1, 48, 16, 4}, {1, 128, 128, 1}};

/// What there is of operands of so many bytes: those of 8 bits run along k, 32 of them at once.
bool exists(const Shape& shape, bool plain_left, bool plain_right, std::size_t bytes) {
    return bytes == 2 || (plain_left && !plain_right && shape.depth % 32 == 0);
}

/// C = op(A) op(B) for one of the shapes and orders, chosen at run time.
std::string product_source(const std::string& type, std::size_t bytes) {
    std::string text = "using T = " + type + R"(;
/// Bulk copies of a tile, a panel each.
template <int kRank, class Tile>
NK_DEVICE void load(Tile tile, const TensorMap& map, const int (&at)[kRank], Shared<u64> barriers,
                    int slot) {
    for (int panel = 0; panel < Tile::columns / Tile::width; ++panel) {
        int from[kRank];
        for (int d = 0; d < kRank; ++d) from[d] = at[d];
        from[0] += panel * Tile::width;
        start_bulk_load(tile.data, panel * Tile::panel_bytes, map, from, barriers, slot);
    }
}
template <Order kLeft, Order kRight, int kConsumers, int kN, int kDepth, int kStages>
NK_DEVICE void product(unsigned char* memory, const TensorMap& A, const TensorMap& B,
                       Global<float> C, int m, int n, int k) {
    constexpr int kM = 64 * kConsumers;
    constexpr bool kPlainLeft = kLeft == Order::AsStored;
    constexpr bool kPlainRight = kRight == Order::AsStored;
    using A_tile = Panels<T, kPlainLeft ? kM : kDepth, kPlainLeft ? kDepth : kM>;
    using B_tile = Panels<T, kPlainRight ? kDepth : kN, kPlainRight ? kN : kDepth>;
    constexpr int kStage = (A_tile::bytes + B_tile::bytes + 1023) / 1024 * 1024;
    constexpr int kRight0 = (A_tile::bytes + 1023) / 1024 * 1024;
    static_assert(kRight0 + B_tile::bytes <= kStage + 1024);
    const auto ring = shared_ring<kStages>(memory, kStages * (kStage + 1024), "ring");
    const auto a = [&](int chunk) {
        return shared_panels<T, A_tile::rows, A_tile::columns>(
            memory, ring.slot(chunk) * (kStage + 1024), "A_tile");
    };
    const auto b = [&](int chunk) {
        return shared_panels<T, B_tile::rows, B_tile::columns>(
            memory, ring.slot(chunk) * (kStage + 1024) + kRight0, "B_tile");
    };
    const int m0 = int(blockIdx.x) * kM;
    const int chunks = (k + kDepth - 1) / kDepth;
    if (threadIdx.x == 0) {
        ring.start(1, 4 * kConsumers);
        fence_barriers();
    }
    block_barrier();
    if (threadIdx.x >= 128 * kConsumers) {
        give_up_registers<40>();
        if (threadIdx.x == 128 * kConsumers)
            for (int chunk = 0; chunk < chunks; ++chunk) {
                const int k0 = chunk * kDepth;
                ring.wait_free(chunk);
                arrive_expecting(ring.barriers, ring.slot(chunk), A_tile::bytes + B_tile::bytes);
                load(a(chunk), A, {kPlainLeft ? k0 : m0, kPlainLeft ? m0 : k0},
                            ring.barriers, ring.slot(chunk));
                load(b(chunk), B, {kPlainRight ? 0 : k0, kPlainRight ? k0 : 0},
                            ring.barriers, ring.slot(chunk));
            }
        return;
    }
    take_registers<kConsumers == 1 ? 248 : 232>();
    const int row = threadIdx.x / 128 * 64;
    Fragment<1, kN / 8> acc;
    acc.fill(0.0f);
    for (int chunk = 0; chunk < chunks; ++chunk) {
        ring.wait_filled(chunk);
        if constexpr (sizeof(T) == 1) {
            multiply_narrow<kDepth>(acc, a(chunk), row, b(chunk), 0, chunk > 0);
        } else {
            start_multiply<kLeft, kRight, kDepth>(acc, a(chunk), row, b(chunk), 0, chunk > 0);
            finish_multiply<0>(acc);
        }
        ring.release(chunk);
    }
    for (int i = 0; i < acc.rows; ++i)
        for (int j = 0; j < acc.columns; ++j) {
            const int r = m0 + row + warp_index() % 4 * 16 + acc.row(i);
            if (r < m && acc.column(j) < n) C[i64(r) * n + acc.column(j)] = acc(i, j);
        }
}
extern "C" __global__ void __launch_bounds__(384, 1)
    products(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
             Global<float> C, int which, int m, int n, int k) {
    NK_SHARED_MEMORY(memory);
)";
    int which = 0;
    for (const Shape& shape : kShapes)
        for (const bool left : {true, false})
            for (const bool right : {true, false}) {
                const auto order = [](bool plain) { return plain ? "AsStored" : "Transposed"; };
                const int number = which++;
                if (!exists(shape, left, right, bytes)) continue;
                text += "    if (which == " + std::to_string(number) +
                        ") product<Order::" + order(left) + ", Order::" + order(right) + ", " +
                        std::to_string(shape.consumers) + ", " + std::to_string(shape.columns) +
                        ", " + std::to_string(shape.depth) + ", " + std::to_string(shape.stages) +
                        ">(memory, A, B, C, m, n, k);\n";
            }
    return text + "}\n";
}

template <class T>
std::vector<T> whole_numbers(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> values(size);
    for (T& value : values)
        value = nk::convert<T>(static_cast<float>(static_cast<int>(random() % 9) - 4));
    return values;
}

/// An operand of a product, stored by rows.
template <class T>
struct Operand {
    std::vector<T> values;
    int rows = 0;
    int columns = 0;
    bool transposed = false;

    [[nodiscard]] double at(int row, int column) const {
        const int place = transposed ? column * columns + row : row * columns + column;
        return static_cast<double>(nk::to_f32(values[static_cast<std::size_t>(place)]));
    }
    /// Its map, in boxes of panels of `columns` by `rows`.
    void add_to(test::KernelRunner& runner, const char* name, int tile_rows, int tile_columns) {
        constexpr int kBytes = static_cast<int>(sizeof(T));
        const int panel = nk::alignment_of(tile_columns * kBytes / 16) * 16 / kBytes;
        runner.map(name, values, {columns, rows}, {panel, tile_rows}, kBytes * panel);
    }
};

/// Extents whose rows are multiples of 16 bytes, ragged otherwise.
template <class T>
Operand<T> operand(int rows, int columns, bool transposed, unsigned seed) {
    Operand<T> made{{}, transposed ? columns : rows, transposed ? rows : columns, transposed};
    made.values = whole_numbers<T>(
        static_cast<std::size_t>(made.rows) * static_cast<std::size_t>(made.columns), seed);
    return made;
}

template <class T>
void check_product(const Shape& shape, bool plain_left, bool plain_right, int which,
                   const std::string& source) {
    INFO(which, ": ", shape.columns, " columns, depth ", shape.depth, " left ", plain_left,
         " right ", plain_right);
    const int tile_m = 64 * shape.consumers;
    const int m = 2 * tile_m - 24;
    const int n = shape.columns - 8;
    const int k = 3 * shape.depth - 16 / static_cast<int>(sizeof(T));
    Operand<T> a = operand<T>(m, k, !plain_left, 1);
    Operand<T> b = operand<T>(k, n, !plain_right, 2);
    std::vector<float> c(static_cast<std::size_t>(m * n), -1.0F);
    test::KernelRunner runner("products", source, 128 * (shape.consumers + 1), 160 * 1024);
    a.add_to(runner, "A", plain_left ? tile_m : shape.depth, plain_left ? shape.depth : tile_m);
    b.add_to(runner, "B", plain_right ? shape.depth : shape.columns,
             plain_right ? shape.columns : shape.depth);
    const EmulatedRun run =
        runner.buffer("C", c).number(which).number(m).number(n).number(k).run(3, 2);
    REQUIRE_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
    int wrong = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int at = 0; at < k; ++at) sum += a.at(i, at) * b.at(at, j);
            wrong += static_cast<double>(c[static_cast<std::size_t>(i * n + j)]) != sum;
        }
    CHECK_EQ(wrong, 0);
}

template <class T>
void check_products(const std::string& type) {
    INFO(type);
    const std::string source = product_source(type, sizeof(T));
    int which = 0;
    for (const Shape& shape : kShapes)
        for (const bool plain_left : {true, false})
            for (const bool plain_right : {true, false}) {
                const int number = which++;
                if (exists(shape, plain_left, plain_right, sizeof(T)))
                    check_product<T>(shape, plain_left, plain_right, number, source);
            }
}

/// C = A B of 64 x 256 and 256 x 8 numbers of 8 bits, B stored by columns.
const char* const kNarrowSource = R"(
extern "C" __global__ void __launch_bounds__(128, 1)
    products(Global<const e4m3> A, Global<const e5m2> B, Global<float> C) {
    NK_SHARED_MEMORY(memory);
    const auto a = shared_panels<e4m3, 64, 256>(memory, 0, "A_tile");
    const auto b = shared_panels<e5m2, 8, 256>(memory, 16384, "B_tile");
    for (int at = threadIdx.x; at < 64 * 256; at += 128) a.data[a.place(at / 256, at % 256)] = A[at];
    for (int at = threadIdx.x; at < 8 * 256; at += 128) b.data[b.place(at / 256, at % 256)] = B[at];
    fence_async();
    block_barrier();
    Fragment<1, 1> acc;
    multiply_narrow<256>(acc, a, 0, b, 0, false);
    for (int i = 0; i < acc.rows; ++i)
        for (int j = 0; j < acc.columns; ++j)
            C[(warp_index() * 16 + acc.row(i)) * 8 + acc.column(j)] = acc(i, j);
}
)";

}  // namespace

TEST_CASE("products of warp groups: every type, order and swizzle, through a ring") {
    check_products<nk::bf16>("bf16");
    check_products<nk::f16>("f16");
    check_products<nk::e4m3>("e4m3");
    check_products<nk::e5m2>("e5m2");
}

TEST_CASE("products of numbers of 8 bits: sums of 128 are cut off after 13 bits of fraction") {
    // 256, then 2^-6 or -2^-6 for ever, which are half of what the tensor core has beside 256.
    std::vector<nk::e4m3> a(std::size_t{64} * 256, nk::convert<nk::e4m3>(0x1p-6F));
    std::vector<nk::e5m2> b(std::size_t{8} * 256, nk::convert<nk::e5m2>(1.0F));
    for (std::size_t row = 0; row < 64; ++row) {
        a[row * 256] = nk::convert<nk::e4m3>(256.0F);
        if (row % 2 == 1)
            for (std::size_t k = 1; k < 256; ++k)
                a[row * 256 + k] = nk::convert<nk::e4m3>(-0x1p-6F);
    }
    // Of the last column twice as much, which it has.
    for (std::size_t k = 1; k < 256; ++k) b[7 * 256 + k] = nk::convert<nk::e5m2>(2.0F);
    std::vector<float> c(std::size_t{64} * 8, -1.0F);
    test::KernelRunner runner("products", kNarrowSource, 128, 32 * 1024);
    const EmulatedRun run = runner.buffer("A", a).buffer("B", b).buffer("C", c).run(1, 1);
    REQUIRE_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
    for (std::size_t row = 0; row < 64; ++row) {
        const float sign = row % 2 == 0 ? 1.0F : -1.0F;
        CHECK_EQ(c[row * 8], 256 + sign * 128 * 0x1p-6F);
        CHECK_EQ(c[row * 8 + 7], 256 + sign * 255 * 0x1p-5F);
    }
}

}  // namespace napkin
