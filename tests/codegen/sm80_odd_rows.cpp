#include <fmt/format.h>

#include <array>

#include "diagrams/random.h"
#include "tests/codegen/sm80_workloads.h"

namespace napkin::test {
namespace {

class OddRows {
public:
    explicit OddRows(std::uint64_t seed) : random_(seed) {}

    TensorWorkload next(int number) {
        const std::string type = one_of<const char*>({"bf16", "f16", "f32"});
        const std::string other = one_of<const char*>({"bf16", "f16", "f32"});
        const std::string x = "X[b, n, v]";
        const std::string r =
            one_of<const char*>({"R[b, n, v]", "R[b, n, v]", "R[b, n, v]", "R[b, v]"});
        const std::string row = "[b, n]";
        const std::array<std::string, 6> values = {
            "softmax[v](" + x + ")",
            x + " * g[v] - m" + row,
            "layernorm[v](" + x + ", g[v], h[v], 1e-5)",
            x + " * " + r + " + (if v == t" + row + " then 1 else 0)",
            "if v % 3 == 0 then " + x + " * h[v] else exp(" + x + " - m" + row + ")",
            "tanh(" + x + ") * h[v] + " + r,
        };
        const auto value = [&] { return values[static_cast<std::size_t>(random_.below(6))]; };
        const std::int64_t rows = 1 + random_.below(3);
        const std::string how = one_of<const char*>({"", " dynamic"});
        const int columns = one_of<int>({16001, 20003, 24577, 24578, 30523});
        const std::string order = one_of<const char*>({"b, n, v", "b, n, v", "b, n, v", "n, b, v"});
        const std::string stored = one_of<const char*>({"bf16", "f32"});
        const std::string first = value();
        const std::string second = value();
        const std::string diagram = fmt::format(
            "diagram odd {{ axis b = 2, n = {}{}, v = {}\n input {} : {}\n input {} : {}\n"
            " input g[v] : bf16, h[v] : f32, t{} : i32\n m{} = max(v) {}\n"
            " output Y[{}] : {} = {}\n output Z[b, n, v] : {} = {}\n"
            " output s{} : f32 = sum(v) {} * {} }}",
            rows, how, columns, x, type, r, other, row, row, x, order, stored, first, other, second,
            row, x, r);
        return {fmt::format("odd rows {}: {}", number, diagram),
                diagram,
                {},
                "fuse all\ngroup b by 1\ngroup n by 1"};
    }

private:
    template <class T>
    T one_of(std::initializer_list<T> list) {
        return *(list.begin() + random_.below(static_cast<std::int64_t>(list.size())));
    }
    Random random_;
};

}  // namespace

std::vector<TensorWorkload> odd_row_workloads(std::uint64_t seed, int count) {
    OddRows rows(seed);
    std::vector<TensorWorkload> list;
    for (int i = 0; i < count; ++i) list.push_back(rows.next(i));
    return list;
}

}  // namespace napkin::test
