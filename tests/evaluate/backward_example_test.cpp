// The backward example against finite differences of attention, written with Eigen.
#include <Eigen/Dense>

#include "examples.h"

using napkin::Tensor;
using napkin::test::Run;

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix head_of(const Tensor& tensor, Eigen::Index head) {
    const Eigen::Index rows = tensor.extents[2];
    const Eigen::Index columns = tensor.extents[3];
    return Eigen::Map<const Matrix>(tensor.values.data() + head * rows * columns, rows, columns);
}

struct Forward {
    Matrix output;
    Eigen::VectorXd log_sum;
};

Forward attention(const Matrix& query, const Matrix& key, const Matrix& value) {
    const Matrix scores = query * key.transpose() / std::sqrt(static_cast<double>(query.cols()));
    const Matrix weights = scores.array().exp();
    const Eigen::VectorXd total = weights.rowwise().sum();
    return {total.cwiseInverse().asDiagonal() * weights * value, total.array().log()};
}

/// sum of dO * O, whose gradients attention_backward gives.
double loss(const Matrix& query, const Matrix& key, const Matrix& value, const Matrix& seed) {
    return attention(query, key, value).output.cwiseProduct(seed).sum();
}

Matrix finite_difference(Matrix at, const std::function<double(const Matrix&)>& function) {
    constexpr double kStep = 1e-5;
    Matrix slope(at.rows(), at.cols());
    for (Eigen::Index row = 0; row < at.rows(); ++row)
        for (Eigen::Index column = 0; column < at.cols(); ++column) {
            const double center = at(row, column);
            at(row, column) = center + kStep;
            const double above = function(at);
            at(row, column) = center - kStep;
            slope(row, column) = (above - function(at)) / (2 * kStep);
            at(row, column) = center;
        }
    return slope;
}

void check_close(const Matrix& got, const Matrix& expected) {
    // The outputs are bf16: half a unit in eight bits, and the error of the differences.
    for (Eigen::Index row = 0; row < got.rows(); ++row)
        for (Eigen::Index column = 0; column < got.cols(); ++column)
            CHECK(std::abs(got(row, column) - expected(row, column)) <=
                  std::abs(expected(row, column)) / 256 + 1e-7);
}

}  // namespace

TEST_CASE("example attention_backward against finite differences") {
    Run run = napkin::test::run_example("attention_backward",
                                        {{"b", 1}, {"h", 2}, {"q", 5}, {"x", 7}, {"d", 4}});
    // The saved statistics are those of the forward pass.
    for (Eigen::Index head = 0; head < 2; ++head) {
        const Forward forward =
            attention(head_of(run.input("Q"), head), head_of(run.input("K"), head),
                      head_of(run.input("V"), head));
        const Matrix seed = head_of(run.input("dO"), head);
        for (Eigen::Index q = 0; q < 5; ++q) {
            const auto at = static_cast<std::size_t>(head * 5 + q);
            run.input("L").values[at] = forward.log_sum(q);
            run.input("D").values[at] = seed.row(q).dot(forward.output.row(q));
        }
    }
    run.evaluate();
    for (Eigen::Index head = 0; head < 2; ++head) {
        const Matrix query = head_of(run.input("Q"), head);
        const Matrix key = head_of(run.input("K"), head);
        const Matrix value = head_of(run.input("V"), head);
        const Matrix seed = head_of(run.input("dO"), head);
        check_close(head_of(run.outputs.at(run.id("dQ")), head),
                    finite_difference(query, [&](const Matrix& changed) {
                        return loss(changed, key, value, seed);
                    }));
        check_close(head_of(run.outputs.at(run.id("dK")), head),
                    finite_difference(key, [&](const Matrix& changed) {
                        return loss(query, changed, value, seed);
                    }));
        check_close(head_of(run.outputs.at(run.id("dV")), head),
                    finite_difference(value, [&](const Matrix& changed) {
                        return loss(query, key, changed, seed);
                    }));
    }
}
