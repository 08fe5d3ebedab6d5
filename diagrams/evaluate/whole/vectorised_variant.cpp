// Compiled once for each set of vector instructions: the build names the
// variant, and gives Eigen a namespace of its own in each, since its functions are inline and the
// linker would take one variant's for another's.
#include <Eigen/Core>
#include <cmath>

#include "diagrams/evaluate/whole/vectorised.h"

namespace napkin::evaluation::NAPKIN_VARIANT {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<const Matrix>;

void multiply(MatrixView left, MatrixView right, ProductShape shape, double* out);
void exponentials(const double* values, std::size_t count, double* out);

void multiply(MatrixView left, MatrixView right, ProductShape shape, double* out) {
    Eigen::Map<Matrix> product(out, shape.rows, shape.columns);
    const View a(left.values, shape.rows, shape.depth);
    const View a_transposed(left.values, shape.depth, shape.rows);
    const View b(right.values, shape.depth, shape.columns);
    const View b_transposed(right.values, shape.columns, shape.depth);
    if (!left.transposed && !right.transposed) product.noalias() = a * b;
    if (!left.transposed && right.transposed) product.noalias() = a * b_transposed.transpose();
    if (left.transposed && !right.transposed) product.noalias() = a_transposed.transpose() * b;
    if (left.transposed && right.transposed)
        product.noalias() = a_transposed.transpose() * b_transposed.transpose();
}

void exponentials(const double* values, std::size_t count, double* out) {
    constexpr double kMost = 700;
    const auto size = static_cast<Eigen::Index>(count);
    const Eigen::Map<const Eigen::ArrayXd> from(values, size);
    Eigen::Map<Eigen::ArrayXd>(out, size) = from.exp();
    // Eigen cuts off what is near the ends of the range.
    for (std::size_t at = 0; at < count; ++at)
        if (!(std::abs(values[at]) < kMost)) out[at] = std::exp(values[at]);
}

}  // namespace napkin::evaluation::NAPKIN_VARIANT
