#include "tests/support/random_diagram.h"

#include <algorithm>
#include <random>
#include <vector>

#include "diagrams/contains.h"

namespace napkin::test {

namespace {

using Names = std::vector<std::string>;

std::string listed(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

struct Known {
    std::string name;
    Names axes;
    bool read = false;
};

struct Line {
    std::string target;  ///< with its axes
    std::string value;
    std::size_t array = 0;  ///< which known array it defines
};

class Writer {
public:
    Writer(std::uint32_t seed, const RandomDiagramOptions& options)
        : random_(seed), options_(options) {}

    std::string write() {
        std::string text = "diagram random {\n";
        text += axes();
        text += inputs();
        const std::size_t count = 1 + below(static_cast<std::size_t>(options_.most_statements));
        for (std::size_t i = 0; i < count; ++i) statement(i);
        for (const Line& line : lines_) {
            // What nothing reads is an output, and so is a part of the rest.
            const bool output = !arrays_[line.array].read || chance(15);
            const bool rounds = output && options_.types && chance(30);
            text += "  " + std::string(output ? "output " : "") + line.target +
                    (rounds ? pick({" : bf16", " : f16", " : f32"}) : "") + " = " + line.value +
                    "\n";
        }
        return text + weaves() + "}\n";
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    std::string pick(const Names& names) { return names[below(names.size())]; }

    std::string axes() {
        std::string text = "  axis ";
        const Names names = {"q", "x", "d", "k", "e"};
        const std::size_t count = 3 + below(3);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t size = 1 + below(static_cast<std::size_t>(options_.largest_size));
            text += (i == 0 ? "" : ", ") + names[i] + " = " + std::to_string(size);
            axes_.push_back(names[i]);
        }
        text += "\n";
        convolves_ = options_.affine && chance(30);
        if (convolves_) text += "  axis r = 3, n = q + r - 1\n";
        woven_ = options_.weaves && chance(40);
        return text;
    }

    std::string inputs() {
        std::string text;
        const std::size_t count = 2 + below(3);
        for (std::size_t i = 0; i < count; ++i) {
            const std::string name(1, static_cast<char>('A' + i));
            Known array{name, some(axes_, 1 + below(3)), false};
            text += "  input " + name + "[" + listed(array.axes) +
                    "] : " + pick({"f32", "f32", "bf16", "f16"}) + "\n";
            arrays_.push_back(std::move(array));
        }
        inputs_ = arrays_.size();
        if (convolves_) text += "  input F[n] : f32\n";
        if (options_.integer_inputs && chance(40)) {
            label_axes_ = some(axes_, 1);
            text += "  input label[" + listed(label_axes_) + "] : i32\n";
            has_label_ = true;
            if (chance(50)) {
                table_ = true;
                text += "  input table[x, d] : f32\n";
            }
        }
        if (woven_ && chance(50)) {
            has_slope_ = true;
            text += "  input slope[h] : f32\n";
        }
        return text;
    }

    /// That many distinct names, in a random order.
    Names some(Names names, std::size_t count) {
        for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[below(i)]);
        names.resize(std::min(count, names.size()));
        return names;
    }

    void statement(std::size_t number) {
        const std::string name = "T" + std::to_string(number);
        Names target = some(axes_, below(100) < 10 ? 0 : 1 + below(3));
        std::string value;
        std::string shape = name;
        const std::size_t kind = below(100);
        if (kind < 35) {
            value = reduction(target, 2);
        } else if (kind < 50 && options_.library && !target.empty()) {
            value = call(target);
        } else if (kind < 58 && options_.scans && !target.empty()) {
            value = "scan[" + pick(target) + "] " + pick({"sum", "max"}) + " " + factor(target, 1);
        } else if (kind < 66 && options_.selections) {
            value = "argmax(" + pick(axes_) + ") ";
            // The operand must vary along the axis, or every element would tie.
            Names scope = target;
            const std::string over = value.substr(7, value.find(')') - 7);
            if (!contains(scope, over)) scope.push_back(over);
            value += "(" + expression(scope, 1) + " + 0.37 * " + over + ")";
        } else {
            value = expression(target, 3);
        }
        if (!target.empty()) shape += "[" + listed(target) + "]";
        lines_.push_back({shape, value, arrays_.size()});
        arrays_.push_back({name, target, false});
    }

    std::string reduction(const Names& target, int depth) {
        Names over = some(axes_, 1 + below(2));
        Names scope = target;
        for (const std::string& axis : over)
            if (!contains(scope, axis)) scope.push_back(axis);
        const std::string monoid = pick({"sum", "sum", "sum", "max", "min"});
        return monoid + "(" + listed(over) + ") " + factor(scope, depth);
    }

    std::string call(const Names& target) {
        const std::string axis = pick(target);
        const std::string argument = expression(target, 2);
        switch (below(8)) {
        case 6: return "log(sum(" + axis + ") exp(" + tame(argument) + "))";
        case 7:
            return "(sum(" + axis + ") exp(" + tame(argument) + ") * " + leaf(target) +
                   ") / (sum(" + axis + ") exp(" + tame(argument) + "))";
        case 0: return "logsumexp[" + axis + "](" + argument + ")";
        case 1: return "rmsnorm[" + axis + "](" + argument + ", 1.5, 0.1)";
        case 2: return "layernorm[" + axis + "](" + argument + ", 0.5, 0.25, 0.1)";
        case 3: return "silu(" + argument + ")";
        default: return "softmax[" + axis + "](" + masked(target, argument) + ")";
        }
    }

    /// Of any size within 1, so that its exponential is of no size to speak of.
    static std::string tame(const std::string& value) { return "0.5 * tanh(" + value + ")"; }

    std::string masked(const Names& scope, const std::string& value) {
        if (!options_.masks || scope.empty() || !chance(40)) return value;
        return "if " + condition(scope) + " then " + value + " else -inf";
    }

    std::string condition(const Names& scope) {
        const std::string a = pick(scope);
        const std::string b = pick(scope);
        switch (below(has_label_ && contains(scope, label_axes_[0]) ? 8 : 7)) {
        case 0: return a + " <= " + b;
        case 1: return a + " < " + b + " + 2";
        case 2: return "(" + a + " + " + b + ") % 2 == 0";
        case 3: return a + " // 2 == " + b + " // 2";
        case 4: return "abs(" + a + " - " + b + ") < 2 or " + a + " == 0";
        case 5: return a + " >= 1 and " + b + " < size(" + b + ") - 1";
        case 6: return "not " + a + " + 1 == size(" + a + ")";
        default: return b + " <= label[" + label_axes_[0] + "]";
        }
    }

    /// A factor: what a reduction takes as its operand without parentheses around all of it.
    std::string factor(const Names& scope, int depth) {
        if (chance(60)) return leaf(scope) + " * " + leaf(scope);
        return "(" + expression(scope, depth) + ")";
    }

    std::string expression(const Names& scope, int depth) {
        if (depth == 0) return leaf(scope);
        const std::string a = expression(scope, depth - 1);
        switch (below(11)) {
        case 0: return a + " + " + leaf(scope);
        case 1: return a + " - (" + expression(scope, depth - 1) + ")";
        case 2: return "(" + a + ") * " + leaf(scope);
        case 3: return "tanh(" + a + ")";
        case 4: return "exp(0.5 * tanh(" + a + "))";
        case 5: return "max(" + a + ", " + leaf(scope) + ")";
        case 6: return "(" + a + ") / (1.5 + abs(" + leaf(scope) + "))";
        case 7: return "sqrt(1 + (" + a + ") ^ 2)";
        case 8:
            return options_.masks && !scope.empty()
                       ? "(if " + condition(scope) + " then " + a + " else " + leaf(scope) + ")"
                       : "abs(" + a + ")";
        case 9: return depth > 1 ? "(" + reduction(scope, 1) + ")" : "sigmoid(" + a + ")";
        default: return leaf(scope);
        }
    }

    std::string leaf(const Names& scope) {
        const std::size_t kind = below(100);
        if (kind < 8) return pick({"0.5", "2.0", "1", "0.25"});
        if (kind < 14 && !scope.empty()) return "0.1 * " + pick(scope);
        if (kind < 18 && has_slope_) return "slope[h]";
        if (kind < 24 && convolves_ && contains(scope, "q"))
            return contains(scope, "r") ? "F[q + r]" : "F[q + 1]";
        if (kind < 30 && convolves_) return "(sum(r, q) F[q + r])";
        if (kind < 36 && table_ && contains(scope, label_axes_[0]))
            return "table[label[" + label_axes_[0] + "], 0]";
        return element(scope);
    }

    /// An element of a known array; axes that are not in scope are folded or fixed.
    std::string element(const Names& scope) {
        // Inputs are read more often than what they led to.
        const std::size_t choice = chance(50) ? below(inputs_) : below(arrays_.size());
        Known& array = arrays_[choice];
        array.read = true;
        if (array.axes.empty()) return array.name;
        Names index = array.axes;
        Names missing;
        for (std::string& axis : index) {
            if (contains(scope, axis)) continue;
            if (chance(50))
                missing.push_back(axis);
            else
                axis = "0";
        }
        const std::string read = array.name + "[" + listed(index) + "]";
        return missing.empty() ? read : "(sum(" + listed(missing) + ") " + read + ")";
    }

    std::string weaves() {
        if (!woven_) return "";
        std::string text = "  weave b = 2, h = 3\n";
        if (chance(40)) text += "  weave g = 2 over A\n";
        return text;
    }

    std::mt19937 random_;
    const RandomDiagramOptions& options_;
    Names axes_;
    std::vector<Known> arrays_;
    std::vector<Line> lines_;
    std::size_t inputs_ = 0;
    Names label_axes_;
    bool convolves_ = false;
    bool woven_ = false;
    bool has_label_ = false;
    bool table_ = false;
    bool has_slope_ = false;
};

}  // namespace

std::string random_diagram(std::uint32_t seed, const RandomDiagramOptions& options) {
    return Writer(seed, options).write();
}

}  // namespace napkin::test
