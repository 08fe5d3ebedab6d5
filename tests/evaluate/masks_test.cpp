// Masks: what they leave out is the identity of its fold, whatever the inputs, infinite ones too.
#include "diagrams/masks.h"

#include <fmt/format.h>

#include <limits>

#include "diagrams/random.h"
#include "examples.h"

namespace napkin::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Values that conditions hide, in every way that the language has.
class HiddenValues {
public:
    HiddenValues(Random& random, std::string hidden)
        : random_(random), hidden_(std::move(hidden)) {}

    std::string value(int depth) {
        const std::int64_t kind = depth == 0 ? random_.below(2) : random_.below(11);
        switch (kind) {
        case 0: return "S[q, x]";
        case 1: return hidden_;
        case 2: return fmt::format("min({}, {})", value(depth - 1), value(depth - 1));
        case 3: return fmt::format("max({}, {})", value(depth - 1), value(depth - 1));
        case 4: return fmt::format("({} + {})", value(depth - 1), value(depth - 1));
        case 5: return fmt::format("({} - T[x])", value(depth - 1));
        case 6: return fmt::format("({} * 0.5)", value(depth - 1));
        case 7: return fmt::format("e4m3({})", value(depth - 1));
        case 8: return fmt::format("bf16({})", value(depth - 1));
        default:
            return fmt::format("(if {} then {} else {})", condition(), value(depth - 1),
                               value(depth - 1));
        }
    }

private:
    std::string condition() {
        switch (random_.below(4)) {
        case 0: return fmt::format("x <= q + {}", random_.below(3));
        case 1: return fmt::format("q < {}", 1 + random_.below(4));
        case 2: return fmt::format("x % 3 == {}", random_.below(3));
        default: return "document[q] == x";
        }
    }

    Random& random_;
    std::string hidden_;
};

/// The outputs of a fold, and of the same one that the masks hide once more; the number of masks.
std::size_t compare_hidden(const std::string& fold, std::uint64_t seed) {
    const std::string text =
        "diagram hidden {\n  axis q = 5, x = 6\n  input S[q, x], T[x] : f32\n"
        "  input document[q] : i32\n  output Y[q] : f32 = " +
        fold + "\n}\n";
    INFO(text);
    Run run("hidden.ncd", text, {}, 1.0, Run::kWarnings);
    Random random(seed);
    for (const char* name : {"S", "T"})
        for (double& value : run.inputs.at(*find_array(run.diagram, name)).values)
            if (random.below(4) == 0) value = random.below(2) == 0 ? kInfinity : -kInfinity;
    run.evaluate();
    const Tensors plain = run.outputs;
    Fold* written = std::get_if<Fold>(&run.diagram.statements.front().body);
    REQUIRE(written != nullptr);
    const std::vector<Expression> masks =
        masks_of(run.diagram, written->values.front(), written->monoid);
    const Expression identity = run.diagram[written->monoid].identity.front();
    for (const Expression& mask : masks)
        written->values.front() =
            apply(Function::Select, {mask, std::move(written->values.front()), identity});
    run.evaluate();
    CHECK(plain == run.outputs);
    return masks.size();
}

}  // namespace

TEST_CASE("masks: what random ones leave out adds nothing") {
    std::size_t masks = 0;
    Random random(1);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        HiddenValues low(random, "-inf");
        HiddenValues high(random, "inf");
        masks += compare_hidden("max(x) (" + low.value(3) + ")", seed);
        masks += compare_hidden("min(x) (" + high.value(3) + ")", seed);
        masks += compare_hidden("sum(x) exp(" + low.value(3) + ") * T[x]", seed);
    }
    CHECK_GT(masks, 200);
}

TEST_CASE("masks: both branches of a condition may hide, and one of them") {
    for (const auto& [value, count] :
         {std::pair("if q < 2 then (if x <= q then S[q, x] else -inf) else (if x % 3 == 1 then "
                    "S[q, x] * 2 else -inf)",
                    1U),
          {"if q < 2 then (if x <= q then S[q, x] else -inf) else S[q, x]", 1U},
          {"min(S[q, x], if x <= q then inf else -inf)", 1U},
          {"max(S[q, x], if x <= q then inf else -inf)", 0U},
          {"max(if q < 2 then T[x] else -inf, if x <= q then S[q, x] else -inf)", 1U},
          {"if q < 2 then S[q, x] else T[x]", 0U}}) {
        CAPTURE(std::string(value));
        CHECK_EQ(compare_hidden("max(x) (" + std::string(value) + ")", 7), count);
    }
    // What both branches have is one mask, however often it is chosen.
    std::string value = "(if x <= q then S[q, x] else -inf)";
    for (int i = 0; i < 5; ++i)
        value = "(if q < " + std::to_string(i) + " then " + value + " else " + value + " + 1)";
    CHECK_EQ(compare_hidden("max(x) " + value, 7), 1);
    // e4m3 has no infinity, but 448.
    CHECK_EQ(compare_hidden("max(x) bf16(if x <= q then S[q, x] else -inf)", 3), 1);
    CHECK_EQ(compare_hidden("max(x) e4m3(if x <= q then S[q, x] else -inf)", 3), 0);
    CHECK_EQ(compare_hidden("sum(x) e4m3(if x <= q then S[q, x] else 0)", 3), 1);
    // Beside -inf an infinity is no identity of a minimum.
    CHECK_EQ(compare_hidden("min(x) ((if x <= q then S[q, x] else inf) + T[x])", 3), 0);
    CHECK_EQ(compare_hidden("min(x) ((if x <= q then S[q, x] else inf) + 2)", 3), 1);
}

}  // namespace napkin::test
