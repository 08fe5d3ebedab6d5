#include "tests/support/random_contraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "tests/support/random_derivation.h"

namespace napkin::test {

namespace {

class ContractionWriter {
public:
    explicit ContractionWriter(std::mt19937_64& random) : random_(random) {}

    std::string write() {
        const std::string scores = product();
        const std::string shaped = epilogue(scores);
        finish(shaped);
        add_folds_beside();
        add_product_beside();
        const std::string columns = by_itself_ ? "m" : std::to_string(size(48));
        std::string text = fmt::format("diagram random {{\n  axis m = {}, n = {}, k = {}, e = {}\n",
                                       size(40), columns, size(36), size(24));
        text += inputs_ + statements_;
        if (chance(40)) text += fmt::format("  weave b = {}\n", 1 + below(3));
        if (chance(20)) text += "  weave h = 2, g = 2 over L\n";
        return text + "}\n";
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    std::string pick(std::initializer_list<const char*> of) {
        return *(of.begin() + static_cast<std::ptrdiff_t>(below(of.size())));
    }
    /// Often a size that tiles divide, sometimes 1.
    std::size_t size(std::size_t most) {
        if (chance(40)) return (1 + below(most / 8)) * 8;
        return 1 + below(most);
    }
    std::string type() {
        return pick({"bf16", "bf16", "bf16", "f16", "f16", "tf32", "e4m3", "e5m2", "i8", "f32"});
    }
    /// An element of a new input, its dimensions in any order.
    std::string input(const std::string& name, const std::string& a, const std::string& b = "",
                      std::string of = "") {
        std::string axes = b.empty() ? a : chance(50) ? a + ", " + b : b + ", " + a;
        if (of.empty()) of = type();
        inputs_ += fmt::format("  input {}[{}] : {}\n", name, axes, of);
        return fmt::format("{}[{}]", name, axes);
    }
    std::string vector(const std::string& along) {
        return input(fmt::format("v{}", vectors_++), along);
    }
    std::string define(const std::string& name, const std::string& axes, const std::string& value,
                       bool output = false, bool may_round = true) {
        const std::string rounds =
            may_round && chance(output ? 60 : 15) ? pick({" : bf16", " : f16", " : f32"}) : "";
        statements_ +=
            fmt::format("  {}{}[{}]{} = {}\n", output ? "output " : "", name, axes, rounds, value);
        return fmt::format("{}[{}]", name, axes);
    }

    /// One side of a product: an input, or something computed from it.
    std::string side(const std::string& name, const std::string& axis) {
        const std::string element = input(name, axis, "k");
        (axis == "m" ? left_ : right_) = element;
        switch (below(14)) {
        case 0: return "max(" + element + ", 0)";
        case 1: return "(" + element + " * " + vector("k") + ")";
        case 2: return "(" + element + " + " + vector(axis) + ")";
        case 3: return fmt::format("(if k <= {} then {} else 0)", axis, element);
        case 4: return "exp(0.5 * tanh(" + element + "))";
        case 5: {
            const std::string order = chance(50) ? "k, " + axis : axis + ", k";
            return define(name + "1", order, element + " * 0.5 + " + vector("k"));
        }
        default: return element;
        }
    }
    std::string both(const std::string& a, const std::string& b) {
        return chance(70) ? a + ", " + b : b + ", " + a;
    }
    std::string product() {
        // Drawn aside, so that every other seed's diagram stays what it is.
        std::mt19937_64 aside = random_;
        by_itself_ = aside() % 10 == 0;
        const std::string order = aside() % 2 == 0 ? "{}, k" : "k, {}";
        const auto own = [&](const char* axis) {
            return "L[" + fmt::format(fmt::runtime(order), axis) + "]";
        };
        if (by_itself_) inputs_ += "  input " + own("m") + " : " + type() + "\n";
        if (by_itself_) left_ = own("m");
        std::string left = by_itself_ ? own("m") : side("L", "m");
        if (aside() % 6 == 0) {
            inputs_ += aside() % 2 == 0 ? "  input gain[k] : bf16\n" : "  input gain[k] : f16\n";
            left = "(" + left + " * gain[k])";
        }
        multiplied_ = left;
        const std::string right = by_itself_ ? own("n") : side("R", "n");
        const std::string factors = chance(50) ? left + " * " + right : right + " * " + left;
        const std::string scale = pick({"", "", "0.25 * ", "rsqrt(size(k)) * ", "-0.5 * "});
        const std::string sum = chance(20) ? "(sum(k) " + factors + ") / 3" : "sum(k) " + factors;
        const bool gated = chance(15);
        const std::string first = define("S", both("m", "n"), scale + sum);
        if (!gated) return first;
        const std::string other = input("R2", "n", "k");
        const std::string second = define("S2", both("m", "n"), "sum(k) " + left + " * " + other);
        return define("S3", both("m", "n"),
                      pick({"silu(", "tanh(", "("}) + first + ") * " + second);
    }
    std::string epilogue(std::string value) {
        for (std::size_t step = below(3); step > 0; --step) {
            std::string next;
            switch (below(12)) {
            case 0: next = value + " + " + vector("n"); break;
            case 1: next = value + " * " + vector("m"); break;
            case 2: next = value + " - " + input(fmt::format("D{}", vectors_++), "m", "n"); break;
            case 3: next = "silu(" + value + ")"; break;
            case 4: next = "gelu(" + value + ")"; break;
            case 5: next = "3 * tanh(" + value + " / 3)"; break;
            case 6: next = value + " - 0.1 * abs(m - n)"; break;
            case 7: next = "max(" + value + ", 0.1 * " + vector("n") + ")"; break;
            case 8: next = "if (m + n) % 3 != 0 then " + value + " else 0.5"; break;
            case 9: next = "sigmoid(" + value + " + " + vector("m") + ")"; break;
            case 10: next = value + " * " + value; break;
            default: next = value + " / (1.5 + abs(" + vector("n") + "))"; break;
            }
            value = define(fmt::format("E{}", step), both("m", "n"), next);
        }
        return value;
    }
    std::string condition() {
        switch (below(8)) {
        case 0: return "n <= m";
        case 1: return "n <= m + size(n) - size(m)";
        case 2: return "n <= m and m - n < 7";
        case 3: return input("docm", "m", "", "i32") + " == " + input("docn", "n", "", "i32");
        case 4: return "n < " + input("len", "m", "", "i32");
        case 5: return "(n + m) % 2 == 0";
        case 6: return "n // 8 <= m // 8";
        default: return "abs(n - m) < 5 or n < 2";
        }
    }
    std::string masked(const std::string& value) {
        if (!chance(50)) return value;
        return "if " + condition() + " then " + value + " else -inf";
    }

    /// Folds of what the product reads, along the axes that it has and those that it sums. Drawn
    /// aside, so that every other seed's diagram stays what it is.
    void add_folds_beside() {
        std::mt19937_64 aside = random_;
        if (aside() % 4 != 0) return;
        const std::string rows = by_itself_ ? "m" : aside() % 2 == 0 ? "m" : "n";
        const std::string& element = rows == "m" ? left_ : right_;
        const char* const kFolds[] = {"sum", "sum", "max", "min"};
        const std::pair<std::string, std::string> kAlong[] = {
            {"", rows + ", k"}, {"[k]", rows}, {"[" + rows + "]", "k"}};
        const auto& [axes, over] = kAlong[aside() % std::size(kAlong)];
        const char* const kValues[] = {"0.5 * {0}", "abs({0} - 0.25)", "{0} * {0} * 0.1"};
        statements_ += fmt::format(
            "  output beside{} : f32 = {}({}) {}\n", axes, kFolds[aside() % std::size(kFolds)],
            over, fmt::format(fmt::runtime(kValues[aside() % std::size(kValues)]), element));
    }

    /// A product of the same left operand with another matrix, of its own type, where there are
    /// columns. Drawn aside too.
    void add_product_beside() {
        std::mt19937_64 aside = random_;
        aside.discard(8);
        if (by_itself_ || aside() % 4 != 0) return;
        const char* const kTypes[] = {"bf16", "f16", "f32", "e4m3"};
        const char* const kElements[] = {"R3[n, k]", "R3[k, n]"};
        const std::string element = kElements[aside() % std::size(kElements)];
        const char* const kOperands[] = {"{}", "max({}, 0)"};
        inputs_ += fmt::format("  input {} : {}\n", element, kTypes[aside() % std::size(kTypes)]);
        statements_ += fmt::format(
            "  output T[m, n] : f32 = sum(k) {} * {}\n", multiplied_,
            fmt::format(fmt::runtime(kOperands[aside() % std::size(kOperands)]), element));
    }

    /// What becomes of the scores: outputs, rows of them, operands of another product.
    void finish(const std::string& value) {
        std::string scores = value;
        switch (below(9)) {
        case 0: define("O", both("m", "n"), value, true); return;
        case 1: define("O", "m", pick({"sum(n) ", "max(n) ", "min(n) "}) + value, true); return;
        case 2: define("O", "m", "logsumexp[n](" + masked(value) + ")", true); return;
        case 3: define("O", both("m", "n"), "softmax[n](" + masked(value) + ")", true); return;
        case 4:
            define("O", both("m", "n"), "rmsnorm[n](" + value + ", " + vector("n") + ", 0.1)",
                   true);
            return;
        case 5: define("O", "n", "sum(m) " + value, true); return;
        case 6: break;
        case 7:
            if (chance(40)) define("lse", "m", "logsumexp[n](" + masked(value) + ")", true);
            [[fallthrough]];
        default: scores = define("P", both("m", "n"), "softmax[n](" + masked(value) + ")");
        }
        const std::string second = input("V", "n", "e");
        const std::string factors = chance(50) ? scores + " * " + second : second + " * " + scores;
        const std::string after = chance(20) ? " + " + vector("e") : "";
        const std::string sum = "sum(n) " + factors;
        define("O", both("m", "e"), after.empty() ? sum : "(" + sum + ")" + after, true);
    }

    std::mt19937_64& random_;
    std::string inputs_;
    std::string statements_;
    int vectors_ = 0;
    std::string multiplied_;  ///< the product's left operand
    std::string left_;        ///< elements of the inputs that the product reads
    std::string right_;
    bool by_itself_ = false;  ///< whether rows of an array are multiplied with rows of the same
};

}  // namespace

std::string random_contraction(std::mt19937_64& random) {
    return ContractionWriter(random).write();
}

State tiled_contraction(const Diagram& diagram, std::mt19937_64& random) {
    State state = initial_state(diagram);
    const auto try_command = [&](const char* rule, const std::string& name, std::int64_t size,
                                 const std::string& in = "") {
        take_step(state, rule, name, size, in);
    };
    const auto size = [&] {
        const std::int64_t kSizes[] = {1, 3, 8, 8, 16, 16, 16, 17, 32, 32};
        return kSizes[random() % std::size(kSizes)];
    };
    const auto chance = [&](std::uint64_t percent) { return random() % 100 < percent; };
    if (chance(90)) try_command("fuse", "all", 0);
    const bool by_itself = std::none_of(diagram.arrays.begin(), diagram.arrays.end(),
                                        [](const Array& array) { return array.name == "R"; });
    if (chance(by_itself ? 50 : 8)) try_command("split-stream", chance(50) ? "k" : "n", size());
    const std::vector<Region> regions = state.relabelling.regions;
    for (const Region& region : regions) {
        const std::string name = region_name(state.diagram, region);
        if (chance(85)) try_command("group", "m", size(), name);
        if (chance(70)) try_command(chance(50) ? "group" : "stream", "n", size(), name);
        if (chance(60)) try_command("stream", "n", size(), name);
        if (chance(50)) try_command("stream", "k", size(), name);
        if (chance(20)) try_command("group", "e", size(), name);
        if (chance(10)) try_command("stream", "m", size(), name);
    }
    return state;
}

}  // namespace napkin::test
