// Sums in one statement are searched as if each were a statement.
#include "search/starts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "tests/search/search_support.h"

namespace napkin {
namespace {

/// A diagram of four matrices that multiply rows.
std::string linear(const std::string& statements) {
    return "diagram linear {\n axis m = 512, k = 1024, r = 16, n = 2048\n"
           " input X[m, k], W[k, n], D[k, r], U[r, n] : bf16\n" +
           statements + "\n}\n";
}
/// Two products that are added.
std::string added(const std::string& statements) {
    return "diagram added {\n axis m = 1024, n = 1024, k = 1024, r = 1024\n"
           " input A[m, k], B[k, n], C[m, r], D[r, n] : bf16\n" +
           statements + "\n}\n";
}

TEST_CASE("sums in one statement take no longer than in statements of their own") {
    const struct {
        std::string one, several;
    } cases[] = {
        {linear(" output Y[m, n] : bf16 = (sum(k) X[m, k] * W[k, n]) +"
                " 2 * sum(k, r) X[m, k] * D[k, r] * U[r, n]"),
         linear(" Z[m, n] = sum(k, r) X[m, k] * D[k, r] * U[r, n]\n"
                " output Y[m, n] : bf16 = (sum(k) X[m, k] * W[k, n]) + 2 * Z[m, n]")},
        {linear(" output Y[m, n] : bf16 = (sum(k) X[m, k] * W[k, n]) +"
                " sum(r) (sum(k) X[m, k] * D[k, r]) * U[r, n]"),
         linear(" Z[m, r] = sum(k) X[m, k] * D[k, r]\n"
                " output Y[m, n] : bf16 = (sum(k) X[m, k] * W[k, n]) + sum(r) Z[m, r] * U[r, n]")},
        {added(" output Y[m, n] : bf16 ="
               " (sum(k) A[m, k] * B[k, n]) + sum(r) C[m, r] * D[r, n]"),
         added(" Z[m, n] = sum(r) C[m, r] * D[r, n]\n"
               " output Y[m, n] : bf16 = (sum(k) A[m, k] * B[k, n]) + Z[m, n]")},
        {added(" output Y[m, n] : bf16 = softmax[n](sum(k) A[m, k] * B[k, n])"),
         added(" Z[m, n] = sum(k) A[m, k] * B[k, n]\n"
               " output Y[m, n] : bf16 = softmax[n](Z[m, n])")},
    };
    const Machine h200 = test::machine_of("H200");
    for (const auto& [one, several] : cases) {
        INFO(one);
        CHECK_LE(test::best_time(one, h200), 1.001 * test::best_time(several, h200));
    }
}

TEST_CASE("what is reduced alike stays in one piece") {
    const auto starts = [](const std::string& diagram) {
        std::string text;
        for (const Start& start : starts_of(test::derived(diagram).diagram)) {
            for (const Command& command : start.commands) text += print(command) + "; ";
            text += "\n";
        }
        return text;
    };
    CHECK_EQ(starts(linear(" output Y[m, n] : bf16 = (sum(k) X[m, k] * W[k, n]) *"
                           " sum(k) X[m, k] * W[k, n] * W[k, n]")),
             "\n");
    CHECK_EQ(starts(linear(" output Y[m, k] : bf16 = softmax[k](X[m, k])")), "\n");
    CHECK_EQ(starts(linear(" output Y[m, n] : bf16 = softmax[n](sum(k) X[m, k] * W[k, n])")),
             "\nunfuse Y; unfuse Y_3; unfuse Y_2; \n");
    CHECK_EQ(starts(added(" output Y[m, n] : bf16 ="
                          " (sum(k) A[m, k] * B[k, n]) + sum(r) C[m, r] * D[r, n]")),
             "\nunfuse Y; unfuse Y_2; \n");
}

}  // namespace
}  // namespace napkin
