// Products on the emulated tensor core against plain loops: every type, order and several shapes of
// a warp's part. Elements are small whole numbers, so that all sums are exact.
#include <tensor.cuh>

#include <random>

#include "tests/codegen/kernel_runner.h"

namespace napkin {
namespace {

template <class T>
std::string type_name() {
    return std::is_same_v<T, float> ? "float" : std::is_same_v<T, nk::f16> ? "f16" : "bf16";
}

template <class T>
std::vector<T> whole_numbers(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> values(size);
    for (T& value : values)
        value = nk::convert<T>(static_cast<float>(static_cast<int>(random() % 9) - 4));
    return values;
}

/// A warp's part of a product, 2 x 2 warps, `steps` instructions along k.
struct Shape {
    int down;
    int across;
    int steps;
};
const std::vector<Shape> kShapes = {{1, 1, 1}, {2, 3, 4}, {3, 4, 5}};

/// C = op(A) op(B) for one of the shapes and orders, chosen at run time; device arrays are smaller
/// than the tiles by 3 rows and one vector, and what is missing counts as zero.
std::string product_source(const std::string& type) {
    std::string text = "using T = " + type + R"(;
template <Order kLeft, Order kRight, int kDown, int kAcross, int kSteps>
NK_DEVICE void product(unsigned char* memory, Global<const T> A, Global<const T> B,
                       Global<float> C) {
    constexpr int kVector = 16 / int(sizeof(T));
    constexpr int kM = 2 * 16 * kDown;
    constexpr int kN = 2 * 8 * kAcross;
    constexpr int kK = kStepOf<T> * kSteps;
    constexpr bool kPlainLeft = kLeft == Order::AsStored;
    constexpr bool kPlainRight = kRight == Order::AsStored;
    using A_tile = Matrix<T, kPlainLeft ? kM : kK, kPlainLeft ? kK : kM>;
    using B_tile = Matrix<T, kPlainRight ? kK : kN, kPlainRight ? kN : kK>;
    const auto a = shared_matrix<T, A_tile::rows, A_tile::columns>(memory, 0, "A_tile");
    const auto b = shared_matrix<T, B_tile::rows, B_tile::columns>(memory, A_tile::bytes, "B_tile");
    const int thread = threadIdx.x;
    copy_async<kVector>(a, A, 0, a.columns, a.rows - 3, a.columns - kVector, thread, 128);
    copy_async<kVector>(b, B, 0, b.columns, b.rows - 3, b.columns - kVector, thread, 128);
    commit_copies();
    wait_copies<0>();
    block_barrier();
    const int row = warp_index() / 2 * 16 * kDown;
    const int column = warp_index() % 2 * 8 * kAcross;
    Fragment<kDown, kAcross> acc;
    acc.fill(0.0f);
    multiply<kLeft, kRight, kK>(acc, a, row, b, column);
    // Once more with the left operand in registers.
    LeftOperand<T, kDown, kSteps> left;
    load_left<kLeft>(left, a, row, 0);
    multiply<kRight>(acc, left, b, 0, column);
    for (int i = 0; i < acc.rows; ++i)
        for (int j = 0; j < acc.columns; ++j)
            C[(row + acc.row(i)) * kN + column + acc.column(j)] = acc(i, j);
}
extern "C" __global__ void products(Global<const T> A, Global<const T> B, Global<float> C,
                                    int which) {
    NK_SHARED_MEMORY(memory);
)";
    int which = 0;
    for (const Shape& shape : kShapes)
        for (const char* left : {"AsStored", "Transposed"})
            for (const char* right : {"AsStored", "Transposed"})
                text += "    if (which == " + std::to_string(which++) + ") product<Order::" + left +
                        ", Order::" + right + ", " + std::to_string(shape.down) + ", " +
                        std::to_string(shape.across) + ", " + std::to_string(shape.steps) +
                        ">(memory, A, B, C);\n";
    return text + "}\n";
}

/// An operand stored by rows, with what the kernel does not load as zero.
template <class T>
double element(const std::vector<T>& array, int rows, int columns, int row, int column) {
    const int vector = 16 / static_cast<int>(sizeof(T));
    if (row >= rows - 3 || column >= columns - vector) return 0;
    return static_cast<double>(nk::to_f32(array[static_cast<std::size_t>(row * columns + column)]));
}

template <class T>
void check_product(const Shape& shape, bool plain_left, bool plain_right, int which) {
    INFO(type_name<T>(), " ", shape.down, " x ", shape.across, " x ", shape.steps, " left ",
         plain_left, " right ", plain_right);
    const int m = 32 * shape.down;
    const int n = 16 * shape.across;
    const int k = 32 / static_cast<int>(sizeof(T)) * shape.steps;
    std::vector<T> a = whole_numbers<T>(static_cast<std::size_t>(m * k), 1);
    std::vector<T> b = whole_numbers<T>(static_cast<std::size_t>(k * n), 2);
    std::vector<float> c(static_cast<std::size_t>(m * n), -1.0f);
    test::KernelRunner runner("products", product_source(type_name<T>()), 128,
                              static_cast<std::int64_t>(a.size() + b.size()) * sizeof(T));
    const EmulatedRun run =
        runner.buffer("A", a).buffer("B", b).buffer("C", c).number(which).run(3);
    REQUIRE_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
    for (const nk::emulator::Traffic& traffic : run.traffic) CHECK_EQ(traffic.conflicts, 0);
    int wrong = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int at = 0; at < k; ++at)
                sum += (plain_left ? element(a, m, k, i, at) : element(a, k, m, at, i)) *
                       (plain_right ? element(b, k, n, at, j) : element(b, n, k, j, at));
            wrong += static_cast<double>(c[static_cast<std::size_t>(i * n + j)]) != 2 * sum;
        }
    CHECK_EQ(wrong, 0);
}

template <class T>
void check_products() {
    int which = 0;
    for (const Shape& shape : kShapes)
        for (const bool plain_left : {true, false})
            for (const bool plain_right : {true, false})
                check_product<T>(shape, plain_left, plain_right, which++);
}

/// Two products in a row, as attention has them: O = round(Q K^T) V with results in registers.
const char* const kChain = R"(
extern "C" __global__ void chain(Global<const T> Q, Global<const T> K, Global<const T> V,
                                 Global<T> O) {
    NK_SHARED_MEMORY(memory);
    constexpr int kVector = 16 / int(sizeof(T));
    const auto q = shared_matrix<T, 64, 32>(memory, 0, "Q_tile");
    const auto k = shared_matrix<T, 48, 32>(memory, q.bytes, "K_tile");
    const auto v = shared_matrix<T, 48, 24>(memory, q.bytes + k.bytes, "V_tile");
    const int thread = threadIdx.x;
    copy_async<kVector>(q, Q, 0, 32, 64, 32, thread, 128);
    copy_async<kVector / 2>(k, K, 0, 32, 48, 32, thread, 128);
    copy_async<kVector / 4>(v, V, 0, 24, 48, 24, thread, 128);
    commit_copies();
    wait_copies<0>();
    block_barrier();
    const int row = warp_index() * 16;
    Fragment<1, 6> s;
    s.fill(0.0f);
    multiply<Order::AsStored, Order::Transposed, 32>(s, q, row, k, 0);
    Fragment<1, 3> o;
    o.fill(1.0f);
    multiply<Order::AsStored>(o, as_left<T>(s), v, 0, 0);
    // Out through the part of Q that this warp alone reads.
    warp_barrier();
    const auto out = shared_matrix<T, 16, 24>(memory, row * 32 * int(sizeof(T)), "O_tile");
    store(o, out, 0, 0);
    warp_barrier();
    save_matrix<kVector>(out, 0, 16, O, row * 24, 24, 61 - row, 23, lane_index(), 32);
}
)";

template <class T>
void check_chain() {
    INFO(type_name<T>());
    std::vector<T> q = whole_numbers<T>(64 * 32, 1);
    std::vector<T> k = whole_numbers<T>(48 * 32, 2);
    std::vector<T> v = whole_numbers<T>(48 * 24, 3);
    std::vector<T> o(61 * 24, nk::convert<T>(77.0f));
    test::KernelRunner runner("chain", "using T = " + type_name<T>() + ";\n" + kChain, 128,
                              static_cast<std::int64_t>(sizeof(T)) * (64 * 32 + 48 * 32 + 48 * 24));
    const EmulatedRun run =
        runner.buffer("Q", q).buffer("K", k).buffer("V", v).buffer("O", o).run(4);
    REQUIRE_MESSAGE(!run.fault.has_value(), (run.fault ? run.fault->message : ""));
    for (const nk::emulator::Traffic& traffic : run.traffic) CHECK_EQ(traffic.conflicts, 0);
    const auto at = [](const std::vector<T>& array, int place) {
        return nk::to_f32(array[static_cast<std::size_t>(place)]);
    };
    int wrong = 0;
    for (int i = 0; i < 61; ++i)
        for (int j = 0; j < 24; ++j) {
            float sum = 1;
            for (int x = 0; x < 48; ++x) {
                float score = 0;
                for (int d = 0; d < 32; ++d) score += at(q, i * 32 + d) * at(k, x * 32 + d);
                sum += nk::round_to<T>(score) * at(v, x * 24 + j);
            }
            const float expected = j < 23 ? nk::round_to<T>(sum) : 77.0f;
            wrong += at(o, i * 24 + j) != expected;
        }
    CHECK_EQ(wrong, 0);
}

}  // namespace

TEST_CASE("products: every type, order and shape on the emulated tensor core") {
    check_products<nk::bf16>();
    check_products<nk::f16>();
    check_products<float>();
}

TEST_CASE("products: results feed the next product from registers") {
    check_chain<nk::bf16>();
    check_chain<nk::f16>();
    check_chain<float>();
}

}  // namespace napkin
