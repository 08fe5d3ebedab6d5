#include "tests/support/random_integers.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

#include "diagrams/contains.h"
#include "diagrams/random.h"
#include "diagrams/value_kind.h"

namespace napkin::test {
namespace {

using Names = std::vector<std::string>;

constexpr int kMostBits = 51;
constexpr int kSumBits = 6;  // that a sum over two axes may add

/// Every expression keeps within a number of bits, so that nothing is larger than the language has.
class IntegerWriter {
public:
    explicit IntegerWriter(std::uint32_t seed) : random_(seed) {}

    std::string write() {
        std::string text = fmt::format("diagram random {{\n  axis n = {}, k = {}, l = {}\n",
                                       1 + below(5), 2 + below(6), 1 + below(4));
        for (const auto& [name, type, bits] : {std::tuple("A", "i8", 7),
                                               {"B", "i32", 31},
                                               {"C", "i64", kWideBits},
                                               {"D", "i32", 31}}) {
            const Names axes = some(1 + below(2));
            text += fmt::format("  input {}[{}] : {}\n", name, fmt::join(axes, ", "), type);
            known_.push_back({name, axes, bits});
        }
        if (chance(40)) {
            next_axis_ = pick({"n", "k", "l"});
            text += fmt::format("  input next[{}] : i32\n", next_axis_);
        }
        const std::size_t count = 1 + below(3);
        for (std::size_t i = 0; i < count; ++i) text += statement(fmt::format("T{}", i));
        return text + "}\n";
    }

private:
    struct Known {
        std::string name;
        Names axes;
        int bits = 0;
    };

    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    std::string pick(const Names& names) { return names[below(names.size())]; }
    Names some(std::size_t count) {
        Names names = {"n", "k", "l"};
        for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[below(i)]);
        names.resize(count);
        return names;
    }

    std::string statement(const std::string& name) {
        const Names axes = some(1 + below(2));
        const int bits = kMostBits - static_cast<int>(below(20));
        std::string value;
        if (chance(70))
            value = reduction(axes, bits);
        else if (chance(40))
            value = fmt::format("scan[{}] {} {}", pick(axes), pick({"sum", "max", "min"}),
                                factor(axes, bits - kSumBits, 2));
        else
            value = expression(axes, bits, 3);
        static constexpr const char* kRounded = " : f32";  // what reads it is no integer
        const char* type = chance(15) ? kRounded : chance(15) ? " : i64" : "";
        if (type != kRounded) known_.push_back({name, axes, bits});
        return fmt::format("  output {}[{}]{} = {}\n", name, fmt::join(axes, ", "), type, value);
    }

    /// A sum mostly, of what may be relative to the largest of it.
    std::string reduction(const Names& target, int bits) {
        std::string over;
        Names scope = target;
        for (const std::string& axis : some(1 + below(2))) {
            over += (over.empty() ? "" : ", ") + axis;
            if (!contains(scope, axis)) scope.push_back(axis);
        }
        if (chance(25))
            return fmt::format("{}({}) {}", pick({"max", "min"}), over, factor(scope, bits, 2));
        bits -= kSumBits;
        if (chance(75)) return fmt::format("sum({}) {}", over, factor(scope, bits, 2));
        const std::string value = factor(scope, std::min(bits - 1, 31), 1);
        return fmt::format("sum({0}) ({1} - ({2}({0}) {1}))", over, value, pick({"max", "min"}));
    }

    /// What a reduction takes: often with a factor that does not vary along it.
    std::string factor(const Names& scope, int bits, int depth) {
        constexpr int kSmall = 8;
        if (bits > 2 * kSmall && chance(50))
            return fmt::format("{} * {}", expression(scope, kSmall, 0),
                               expression(scope, bits - kSmall, 0));
        return "(" + expression(scope, bits, depth) + ")";
    }

    std::string expression(const Names& scope, int bits, int depth) {
        if (depth == 0 || bits < 4) return leaf(scope, bits);
        const auto part = [&](int of) { return "(" + expression(scope, of, depth - 1) + ")"; };
        switch (below(13)) {
        case 0: return part(bits - 1) + " + " + part(bits - 1);
        case 1: return part(bits - 1) + " - " + part(bits - 1);
        case 2:
        case 3: return part(bits / 3) + " * " + part(bits - bits / 3);
        case 4:
            return part(bits) + pick({" // 2", " // 3", " % 7", bits < 21 ? " % 3" : " % 1000003"});
        case 5:
            return fmt::format("if {} then {} else {}", condition(scope), part(bits),
                               chance(50) ? "0" : part(bits));
        case 6: return fmt::format("{}({}, {})", pick({"max", "min"}), part(bits), part(bits));
        case 7: return part(bits / 2) + " ^ 2";
        case 8: return "-" + part(bits);
        case 9: return "abs" + part(bits);
        case 10: return "bit_and(" + part(bits) + (bits < 17 ? ", 7)" : ", 65535)");
        case 11: return pick({"i4", bits < 8 ? "i4" : "i8"}) + part(bits);
        default: return depth > 1 ? "(" + reduction(scope, bits) + ")" : part(bits);
        }
    }

    std::string condition(const Names& scope) {
        switch (below(3)) {
        case 0: return pick(scope) + " <= " + pick(scope);
        case 1: return leaf(scope, 31) + " > 2";
        default: return pick(scope) + " % 2 == 0";
        }
    }

    /// A small number, an index, or an element along axes of the scope.
    std::string leaf(const Names& scope, int bits) {
        if (bits < 4 || chance(15)) return pick({"1", "3", "2", pick(scope)});
        for (int tries = 0; tries < 8; ++tries) {
            const Known& array = known_[below(known_.size())];
            if (array.bits > bits) continue;
            Names index = array.axes;
            for (std::string& axis : index) {
                if (!next_axis_.empty() && chance(30)) {
                    axis = place(scope, axis);
                    continue;
                }
                if (!contains(scope, axis)) axis = "0";
            }
            return fmt::format("{}[{}]", array.name, fmt::join(index, ", "));
        }
        return pick(scope);
    }

    /// An index of an axis that an element says, or what `next` holds where that one says.
    std::string place(const Names& scope, const std::string& axis) {
        const Known& array = known_[below(known_.size())];
        Names index = array.axes;
        for (std::string& each : index)
            if (!contains(scope, each)) each = "0";
        const std::string element = fmt::format("{}[{}]", array.name, fmt::join(index, ", "));
        if (axis != next_axis_ || chance(30)) return fmt::format("{} % size({})", element, axis);
        return fmt::format("next[{} % size({})]", element, axis);
    }

    std::mt19937 random_;
    std::vector<Known> known_;
    std::string next_axis_;  ///< of the table that names places along it; empty if there is none
};

}  // namespace

std::string random_integers(std::uint32_t seed) {
    return IntegerWriter(seed).write();
}

bool has_integers_alone(const Diagram& diagram) {
    const auto real = [](const Array& array) { return is_floating(array.type) && !array.rounds; };
    return std::none_of(diagram.arrays.begin(), diagram.arrays.end(), real) &&
           std::none_of(diagram.statements.begin(), diagram.statements.end(),
                        [&](const Statement& statement) {
                            return kind_of(diagram, statement) == ValueKind::Real;
                        });
}

Tensors wide_integers(const Diagram& diagram, std::uint64_t seed) {
    Random random(seed);
    Tensors inputs = random_inputs(diagram, seed);
    for (auto& [array, tensor] : inputs)
        for (double& value : tensor.values)
            if (!diagram[array].indexes) value = wide_integer(diagram[array].type, random);
    return inputs;
}

}  // namespace napkin::test
