#include "diagrams/evaluate/whole/vectorised.h"

namespace napkin::evaluation {
namespace plain {
void multiply(MatrixView left, MatrixView right, ProductShape shape, double* out);
void exponentials(const double* values, std::size_t count, double* out);
}  // namespace plain
#ifdef __x86_64__
namespace avx2 {
void multiply(MatrixView left, MatrixView right, ProductShape shape, double* out);
void exponentials(const double* values, std::size_t count, double* out);
}  // namespace avx2
namespace avx512 {
void multiply(MatrixView left, MatrixView right, ProductShape shape, double* out);
void exponentials(const double* values, std::size_t count, double* out);
}  // namespace avx512
#endif

namespace {

struct Variant {
    void (*multiply)(MatrixView, MatrixView, ProductShape, double*) = plain::multiply;
    void (*exponentials)(const double*, std::size_t, double*) = plain::exponentials;
    double rate = 2e9;
};

const Variant& best_variant() {
    static const Variant best = []() -> Variant {
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
            return {avx512::multiply, avx512::exponentials, 1.4e10};
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            return {avx2::multiply, avx2::exponentials, 8e9};
#endif
        return {};
    }();
    return best;
}

}  // namespace

void multiply(MatrixView left, MatrixView right, ProductShape shape, double* out) {
    best_variant().multiply(left, right, shape, out);
}

void exponentials(const double* values, std::size_t count, double* out) {
    best_variant().exponentials(values, count, out);
}

double multiplication_rate() {
    return best_variant().rate;
}

}  // namespace napkin::evaluation
