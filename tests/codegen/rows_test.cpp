// Rows in registers, reductions over the lanes that share them, approximations, and the counting of
// bank conflicts.
#include <tensor.cuh>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/codegen/kernel_runner.h"

namespace napkin {
namespace {

/// Rows of a 13 x 44 array, stride 48, less their maximum; what is missing counts as 0. One warp
/// for every 8 rows.
std::string rows_source(const std::string& in, const std::string& out) {
    return "using In = " + in + ";\nusing Out = " + out + R"(;
template <int kRows, int kVectors, int kVector, int kLanes>
NK_DEVICE void run(Global<const In> in, Global<Out> out, int columns) {
    using Rows = RowFragment<kRows, kVectors, kVector, kLanes>;
    constexpr int kEach = kRows * 32 / kLanes;
    for (int first = warp_index() * kEach; first < 13; first += 2 * kEach) {
        Rows rows;
        load_rows(rows, in, first * 48, 48, 13 - first, columns);
        for (int i = 0; i < rows.rows; ++i) {
            float most = minus_infinity();
            float least = infinity();
            float sum = 0.0f;
            for (int j = 0; j < rows.columns; ++j) {
                most = maximum(most, rows(i, j));
                least = minimum(least, rows(i, j));
                sum += rows(i, j);
            }
            most = row_maximum<Rows>(most);
            least = row_minimum<Rows>(least);
            sum = row_sum<Rows>(sum);
            const float product = row_combine<kLanes>(2.0f, [](float a, float b) { return a * b; });
            for (int j = 0; j < rows.columns; ++j)
                rows(i, j) += most + 4 * least + sum + product / kLanes;
        }
        save_rows(rows, out, first * 48, 48, 13 - first, columns);
    }
}
extern "C" __global__ void rows(Global<const In> in, Global<Out> out, int which, int columns) {
    if (which == 0) run<2, 2, 8, 4>(in, out, columns);
    if (which == 1) run<1, 1, 4, 16>(in, out, columns);
    if (which == 2) run<3, 1, 8, 8>(in, out, columns);
    if (which == 3) run<1, 1, 2, 32>(in, out, columns);
    if (which == 4) run<4, 64, 1, 1>(in, out, columns);
}
)";
}
/// Lanes that share a row in each case; all cases have 64 columns.
constexpr int kLanes[] = {4, 16, 8, 32, 1};

template <class In, class Out>
void check_rows(const std::string& in_name, const std::string& out_name) {
    std::mt19937 random(5);
    std::vector<In> in(13 * 48);
    for (In& value : in)
        value = nk::convert<In>(static_cast<float>(static_cast<int>(random() % 9) - 4));
    for (int which = 0; which < 5; ++which)
        for (const int columns : {44, 40, 37}) {
            INFO(in_name, " to ", out_name, ", case ", which, ", columns ", columns);
            std::vector<Out> out(13 * 48, nk::convert<Out>(99.0f));
            test::KernelRunner runner("rows", rows_source(in_name, out_name), 64, 0);
            const EmulatedRun run =
                runner.buffer("in", in).buffer("out", out).number(which).number(columns).run();
            REQUIRE_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
            const auto at = [&](int row, int column) {
                if (column >= columns) return 0.0f;
                return nk::to_f32(in[static_cast<std::size_t>(row * 48 + column)]);
            };
            int wrong = 0;
            for (int row = 0; row < 13; ++row) {
                float most = -4;
                float least = 5;
                float sum = 0;
                for (int column = 0; column < 64; ++column) {
                    most = std::max(most, at(row, column));
                    least = std::min(least, at(row, column));
                    sum += at(row, column);
                }
                const float lanes = static_cast<float>(kLanes[which]);
                const float added = most + 4 * least + sum + std::exp2(lanes) / lanes;
                for (int column = 0; column < 48; ++column) {
                    const float expected =
                        column < columns ? nk::round_to<Out>(at(row, column) + added) : 99.0f;
                    wrong +=
                        nk::to_f32(out[static_cast<std::size_t>(row * 48 + column)]) != expected;
                }
            }
            CHECK_EQ(wrong, 0);
        }
}

/// What one access by 32 lanes to a 32 x 32 tile or array of floats adds to the counters.
nk::emulator::Traffic traffic_of(const std::string& access, nk::emulator::AccessKind kind) {
    std::vector<float> in(32 * 32, 1.0f);
    std::vector<float> out(32, 0.0f);
    test::KernelRunner runner("access", R"(
extern "C" __global__ void access(Global<const float> in, Global<float> out) {
    NK_SHARED_MEMORY(memory);
    const auto tile = shared_matrix<float, 32, 32>(memory, 0, "tile");
    const auto array = shared_tile<float>(memory, tile.bytes, 32 * 32, "array");
    const int lane = threadIdx.x;
    copy_async<4>(tile, in, 0, 32, 32, 32, lane, 32);
    commit_copies();
    wait_copies<0>();
    for (int i = 0; i < 32; ++i) array[i * 32 + lane] = 1.0f;
    block_barrier();
    )" + access + "\n}\n",
                              32, 2 * 4096);
    const EmulatedRun run = runner.buffer("in", in).buffer("out", out).run();
    REQUIRE_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
    return run.of(kind);
}

}  // namespace

TEST_CASE("rows: load, reduce and save, every kind of vector and rest") {
    check_rows<nk::bf16, nk::bf16>("bf16", "bf16");
    check_rows<float, nk::f16>("float", "f16");
    check_rows<nk::e4m3, float>("e4m3", "float");
}

TEST_CASE("emulator: bank conflicts are counted for every kind of access") {
    using nk::emulator::AccessKind;
    const auto conflicts = [](const char* access, AccessKind kind) {
        return traffic_of(access, kind).conflicts;
    };
    CHECK_EQ(traffic_of("", AccessKind::Copies).accesses, 8);
    CHECK_EQ(conflicts("", AccessKind::Copies), 0);
    CHECK_EQ(conflicts("out[lane] = array[lane];", AccessKind::Elements), 0);
    CHECK_EQ(conflicts("out[lane] = array[lane * 32];", AccessKind::Elements), 31);
    // A column of the swizzled tile: eight rows of different banks.
    CHECK_EQ(conflicts("out[lane] = tile(lane, 0);", AccessKind::Elements), 3);
    CHECK_EQ(conflicts("u32 words[4]; read_words(words, array, lane * 16);", AccessKind::Vectors),
             0);
    CHECK_EQ(conflicts("u32 words[4]; read_words(words, array, lane * 128);", AccessKind::Vectors),
             4 * 7);
    CHECK_EQ(conflicts("u32 words[2]; read_words(words, array, lane * 64);", AccessKind::Vectors),
             2 * 7);
    CHECK_EQ(conflicts("u32 words[4]; load_matrices<false>(words, array, lane * 16);",
                       AccessKind::Matrices),
             0);
    CHECK_EQ(conflicts("u32 words[4]; load_matrices<false>(words, array, lane * 128);",
                       AccessKind::Matrices),
             4 * 7);
}

TEST_CASE("prelude: approximations are as near as the special function unit's") {
    const float inf = std::numeric_limits<float>::infinity();
    CHECK_EQ(nk::exp2_fast(-inf), 0.0f);
    CHECK_EQ(nk::exp2_fast(inf), inf);
    CHECK_EQ(nk::exp2_fast(-140.0f), 0.0f);  // results that have lost bits are zero
    CHECK_EQ(nk::exp2_gradual(-140.0f), 0x1p-140f);
    CHECK_EQ(nk::log2_fast(0.0f), -inf);
    CHECK_EQ(nk::reciprocal_fast(0.0f), inf);
    CHECK_EQ(nk::reciprocal_fast(inf), 0.0f);
    CHECK_UNARY(std::isnan(nk::exp2_fast(std::numeric_limits<float>::quiet_NaN())));
    for (float x = -20; x < 20; x += 0.37f) {
        const auto near = [](float actual, double expected, double bound) {
            return std::abs(static_cast<double>(actual) - expected) <= bound * std::abs(expected);
        };
        const double exact = static_cast<double>(x);
        CHECK_UNARY(near(nk::exp2_fast(x), std::exp2(exact), 1e-6));
        CHECK_UNARY(near(nk::exp_fast(x), std::exp(exact), 4e-6));
        CHECK_UNARY(near(nk::reciprocal_fast(x), 1 / exact, 1e-6));
        CHECK_UNARY(near(nk::tanh_fast(x), std::tanh(exact), 1.0 / 2048));
        for (const float scale : {1.0f, 0.01f, 1e-5f})
            CHECK_UNARY(
                near(nk::tanh_by_exp(x * scale), std::tanh(static_cast<double>(x * scale)), 9e-7));
        CHECK_UNARY(near(nk::log2_fast(x * x + 2), std::log2(exact * exact + 2), 1e-6));
    }
    // Ties away from zero, where round_tf32 has them to even.
    const auto tf32 = [](std::uint32_t bits) { return nk::tf32_bits(bits); };
    CHECK_EQ(tf32(0x3f801000u), 0x3f802000u);
    CHECK_EQ(tf32(0x3f800fffu), 0x3f800000u);
    CHECK_EQ(tf32(0xbf803000u), 0xbf804000u);
    CHECK_EQ(tf32(0x7f800000u), 0x7f800000u);
    CHECK_EQ(tf32(0x7fffffffu), 0x7fffffffu);
    // Of an infinite operand one part is infinite, of none both are no number.
    const auto parts = [](std::uint32_t bits) { return nk::Parts(bits); };
    CHECK_EQ(parts(0x3f800fffu).rounded, 0x3f800000u);
    CHECK_EQ(parts(0x3f800fffu).rest, std::bit_cast<std::uint32_t>(0x0.001ffep0f));
    CHECK_EQ(parts(0xff800000u).rounded, 0xff7fe000u);
    CHECK_EQ(parts(0xff800000u).rest, 0xff800000u);
    CHECK_EQ(parts(0x7f7fffffu).rounded, 0x7f7fe000u);
    CHECK_UNARY(std::isnan(std::bit_cast<float>(parts(0x7fc00000u).rest)));
    CHECK_EQ(nk::pack<nk::bf16>(1.0f, -2.0f), 0xc0003f80u);
    CHECK_EQ(nk::pack<nk::f16>(1.0f, -2.0f), 0xc0003c00u);
}

}  // namespace napkin
