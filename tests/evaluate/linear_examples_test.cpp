// Products with prologues, epilogues and norms, convolution, fp8: against Eigen and plain loops.
#include <Eigen/Dense>

#include "examples.h"

using napkin::ElementType;
using napkin::round_to;
using napkin::Tensor;
using napkin::test::Run;
using napkin::test::run_example;
using napkin::test::View;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix matrix(const Run& run, const std::string& name) {
    const Tensor& tensor = run.inputs.at(run.id(name));
    return Eigen::Map<const Matrix>(tensor.values.data(), tensor.extents[0], tensor.extents[1]);
}
Eigen::RowVectorXd row_vector(const Run& run, const std::string& name) {
    const Tensor& tensor = run.inputs.at(run.id(name));
    return Eigen::Map<const Eigen::RowVectorXd>(tensor.values.data(), tensor.extents[0]);
}

void check_matrix(const Run& run, const std::string& name, const Matrix& expected) {
    for (Eigen::Index row = 0; row < expected.rows(); ++row)
        for (Eigen::Index column = 0; column < expected.cols(); ++column)
            run.check(name, expected(row, column), row, column);
}

}  // namespace

TEST_CASE("example matmul") {
    const Run run = run_example("matmul", {{"a", 13}, {"b", 17}, {"c", 9}});
    check_matrix(run, "C", matrix(run, "A") * matrix(run, "B"));
}

TEST_CASE("example matmul_epilogue") {
    const Run run = run_example("matmul_epilogue", {{"m", 6}, {"k", 11}, {"n", 7}});
    const Matrix shifted = (matrix(run, "X").rowwise() + row_vector(run, "shift")).cwiseMax(0.0);
    const Matrix linear =
        (shifted * matrix(run, "W").transpose()).rowwise() + row_vector(run, "bias");
    const Matrix gelu =
        linear.unaryExpr([](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); });
    check_matrix(run, "Z", gelu + matrix(run, "R"));
}

TEST_CASE("example swiglu") {
    const Run run = run_example("swiglu", {{"n", 5}, {"d", 12}, {"f", 8}});
    const Matrix gate = matrix(run, "X") * matrix(run, "W").transpose();
    const Matrix up = matrix(run, "X") * matrix(run, "V").transpose();
    check_matrix(run, "Y",
                 gate.unaryExpr([](double x) { return x / (1 + std::exp(-x)); }).cwiseProduct(up));
}

TEST_CASE("example rmsnorm_linear") {
    const Run run = run_example("rmsnorm_linear", {{"n", 6}, {"d", 10}, {"c", 5}});
    Matrix normed = matrix(run, "X");
    const double eps = round_to(ElementType::F32, 1e-6);
    for (Eigen::Index row = 0; row < normed.rows(); ++row)
        normed.row(row) /= std::sqrt(normed.row(row).squaredNorm() / 10 + eps);
    normed = normed * row_vector(run, "gain").asDiagonal();
    check_matrix(run, "Y", normed * matrix(run, "W").transpose());
}

TEST_CASE("example layernorm_linear") {
    const Run run = run_example("layernorm_linear", {{"n", 6}, {"d", 10}, {"c", 5}}, 3.0);
    Matrix normed = matrix(run, "X");
    const double eps = round_to(ElementType::F32, 1e-5);
    for (Eigen::Index row = 0; row < normed.rows(); ++row) {
        normed.row(row).array() -= normed.row(row).mean();
        normed.row(row) /= std::sqrt(normed.row(row).squaredNorm() / 10 + eps);
    }
    normed = normed * row_vector(run, "gain").asDiagonal();
    normed.rowwise() += row_vector(run, "bias");
    check_matrix(run, "Y", normed * matrix(run, "W").transpose());
}

TEST_CASE("example convolution, at its border too, with even and odd kernels") {
    for (const int side : {1, 2, 3}) {
        const Run run =
            run_example("convolution",
                        {{"b", 2}, {"y", 5}, {"x", 4}, {"k", 3}, {"c", 2}, {"r", side}, {"s", 3}});
        const View image = run.in("X");
        const View weights = run.in("W");
        for (int b = 0; b < 2; ++b)
            for (int y = 0; y < 5; ++y)
                for (int x = 0; x < 4; ++x)
                    for (int c = 0; c < 2; ++c) {
                        double sum = 0;
                        for (int r = 0; r < side; ++r)
                            for (int s = 0; s < 3; ++s)
                                for (int k = 0; k < 3; ++k) {
                                    const int row = y + r - side / 2;
                                    const int column = x + s - 1;
                                    if (row < 0 || row >= 5 || column < 0 || column >= 4) continue;
                                    sum += image(b, row, column, k) * weights(c, r, s, k);
                                }
                        run.check("Y", sum, b, y, x, c);
                    }
    }
}

TEST_CASE("example fp8_matmul: rounded to e4m3, and a row of zeros gives zeros") {
    Run run = run_example("fp8_matmul", {{"m", 4}, {"n", 5}, {"k", 20}});
    for (std::size_t at = 20; at < 40; ++at) run.input("X").values[at] = 0;
    run.evaluate();
    const View x = run.in("X");
    const View weights = run.in("B");
    const View scale = run.in("scale");
    for (int m = 0; m < 4; ++m) {
        double largest = 0;
        for (int k = 0; k < 20; ++k) largest = std::max(largest, std::abs(x(m, k)));
        for (int n = 0; n < 5; ++n) {
            double sum = 0;
            for (int k = 0; k < 20 && largest > 0; ++k)
                sum += round_to(ElementType::E4M3, x(m, k) / (largest / 448)) * weights(n, k);
            run.check("Y", sum * largest / 448 * scale(n), m, n);
        }
    }
    CHECK_EQ(run.out("Y")(1, 2), 0);
}
