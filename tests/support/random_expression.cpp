#include "tests/support/random_expression.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagrams/contains.h"

namespace napkin::test {

std::string listed(const Names& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

Names RandomExpressions::some(Names names, std::size_t count) {
    for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[below(i)]);
    names.resize(std::min(count, names.size()));
    return names;
}

Names RandomExpressions::with(Names axes, const std::string& axis) {
    if (!contains(axes, axis)) axes.push_back(axis);
    return axes;
}

std::string RandomExpressions::reduction(const Names& target, int depth) {
    Names over = some(axes_, 1 + below(2));
    Names scope = target;
    for (const std::string& axis : over) scope = with(std::move(scope), axis);
    const std::string monoid =
        pick({"sum", "sum", "sum", "sum", "sum", "max", "max", "min", "prod"});
    return monoid + "(" + listed(over) + ") " + factor(scope, depth);
}

std::string RandomExpressions::call(const Names& target) {
    const std::string axis = pick(target);
    const std::string argument = expression(target, 2);
    switch (below(8)) {
    case 6: return "log(sum(" + axis + ") exp(" + tame(argument) + "))";
    case 7:
        return "(sum(" + axis + ") exp(" + tame(argument) + ") * " + leaf(target) + ") / (sum(" +
               axis + ") exp(" + tame(argument) + "))";
    case 0: return "logsumexp[" + axis + "](" + argument + ")";
    case 1: return "rmsnorm[" + axis + "](" + argument + ", 1.5, 0.1)";
    case 2: return "layernorm[" + axis + "](" + argument + ", 0.5, 0.25, 0.1)";
    case 3: return "silu(" + argument + ")";
    default: return "softmax[" + axis + "](" + masked(target, argument) + ")";
    }
}

std::string RandomExpressions::masked(const Names& scope, const std::string& value) {
    if (!options_.masks || scope.empty() || !chance(40)) return value;
    const std::string hidden = "if " + condition(scope) + " then " + value + " else -inf";
    if (!chance(30)) return hidden;
    // Within another condition, beside what it leaves.
    const std::string beside = expression(scope, 1);
    return "if " + condition(scope) +
           (chance(50) ? " then (" + hidden + ") else " + beside
                       : " then " + beside + " else " + hidden);
}

std::string RandomExpressions::condition(const Names& scope) {
    const std::string a = pick(scope);
    const std::string b = pick(scope);
    // Past what 32 bits hold.
    const std::string factor = pick({"900000011", "2147483647", "4294967311"});
    const bool labelled = has_label_ && contains(scope, label_axes_[0]);
    switch (below(!labelled ? 8 : options_.picks ? 11 : 9)) {
    case 0: return a + " <= " + b;
    case 1: return a + " < " + b + " + 2";
    case 2: return "(" + a + " + " + b + ") % 2 == 0";
    case 3: return a + " // 2 == " + b + " // 2";
    case 4: return "abs(" + a + " - " + b + ") < 2 or " + a + " == 0";
    case 5: return a + " >= 1 and " + b + " < size(" + b + ") - 1";
    case 6: return "not " + a + " + 1 == size(" + a + ")";
    case 7: return "(" + a + " * " + factor + " - " + b + ") % 7 < 4";
    case 8: return b + " <= label[" + label_axes_[0] + "]";
    case 9: return b + " == label[" + label_axes_[0] + "]";
    default: return "label[" + label_axes_[0] + "] == 1";
    }
}

std::string RandomExpressions::factor(const Names& scope, int depth) {
    if (chance(60)) return leaf(scope) + " * " + leaf(scope);
    return "(" + expression(scope, depth) + ")";
}

std::string RandomExpressions::expression(const Names& scope, int depth) {
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

std::string RandomExpressions::leaf(const Names& scope) {
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
std::string RandomExpressions::element(const Names& scope) {
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
    const std::string read = options_.elsewhere && chance(20)
                                 ? moved(array.name, index, scope)
                                 : array.name + "[" + listed(index) + "]";
    return missing.empty() ? read : "(sum(" + listed(missing) + ") " + read + ")";
}

/// An element with one index moved, or two exchanged: reversed, clamped, shifted, of another axis.
std::string RandomExpressions::moved(const std::string& array, Names index, const Names& scope) {
    std::string& at = index[below(index.size())];
    const std::string own = at;
    if (own == "0") return array + "[" + listed(index) + "]";
    const std::string size = "size(" + own + ")";
    std::string within;
    switch (below(options_.masks ? 14 : 9)) {
    case 0:
    case 7:
    case 8: at = size + " - 1 - " + own; break;
    case 1: at = "min(" + own + " + 1, " + size + " - 1)"; break;
    case 2: at = "max(" + own + " - 2, 0)"; break;
    case 3: at = "(" + own + " + 1) % " + size; break;
    case 4: at = along(pick(scope.empty() ? Names{own} : scope), own); break;
    case 5:
    case 6: {
        std::string& other = index[below(index.size())];
        if (other == "0" || other == own) break;
        at = along(other, own);
        other = along(own, other);
        break;
    }
    case 9:
    case 10:
        at = own + " + 1";
        within = own + " < " + size + " - 1";
        break;
    default: at = own + " - 1"; within = own + " >= 1";
    }
    const std::string read = array + "[" + listed(index) + "]";
    return within.empty() ? read : "(if " + within + " then " + read + " else 0.5)";
}

/// Rows of a table by an index that is computed, and by what other tables hold at such an index.
RandomExpressions::Chain RandomExpressions::chain() {
    const Names axes = some(axes_, 3);
    const std::string &n = axes[0], &m = axes[1], &d = axes[2];
    const Names scope = chance(30) ? Names{n, d} : Names{n};
    const auto own = [&](const std::string& name) { return name + "[" + listed(scope) + "]"; };
    Chain made;
    made.inputs =
        fmt::format("  input start[{}], next[{}] : i32\n  input row[{}, {}] : f32\n", n, m, m, d);
    std::string first;
    std::string guard;
    std::size_t hops = below(3);
    switch (below(4)) {
    case 0: first = fmt::format("(start[{}] * 7 + {}) % size({})", n, scope.back(), m); break;
    case 1:
        first = fmt::format("next[start[{}]]", n);
        hops += hops == 0 ? 1 : 0;  // a table promises what is read as an index itself
        break;
    case 2:
        first = fmt::format("argmax({0}) ({1} + 0.37 * {0})", m, expression(with(scope, m), 1));
        break;
    default:
        made.inputs += "  param off : i32 = -1\n";
        first = fmt::format("start[{}] + off", n);
        guard = fmt::format("if {0} >= 0 and {0} < size({1}) then ", own("at0"), m);
    }
    made.definitions.push_back({"at0", scope, first});
    std::string index = own("at0");
    for (; hops > 0; --hops) {
        index = "next[" + index + "]";
        if (!guard.empty() || hops == 1 || chance(40)) continue;
        const std::string name = fmt::format("at{}", made.definitions.size());
        made.definitions.push_back({name, scope, index});
        index = own(name);
    }
    made.definitions.push_back(found(scope, {n, d}, guard, "row[" + index + ", "));
    return made;
}

/// A value made of a row's elements, which are read under a condition if there is one.
RandomExpressions::Definition RandomExpressions::found(const Names& scope, const Names& both,
                                                       const std::string& guard,
                                                       const std::string& row) {
    const auto element = [&](const std::string& column) {
        return "(" + guard + row + column + "]" + (guard.empty() ? ")" : " else 0.5)");
    };
    const std::string& d = both.back();
    switch (below(3)) {
    case 0: return {"found", {both[0]}, "sum(" + d + ") " + element(d) + " * " + leaf(both)};
    case 1: return {"found", both, element(d) + " + " + expression(both, 1)};
    default: return {"found", scope, element("0") + " * " + leaf(scope)};
    }
}

/// The index of one axis where that of another is meant: itself if they are of one size, else as
/// far as it goes.
std::string RandomExpressions::along(const std::string& axis, const std::string& meant) const {
    const bool alias = alias_ && ((axis == alias_->first && meant == alias_->second) ||
                                  (axis == alias_->second && meant == alias_->first));
    return alias || axis == meant ? axis : "min(" + axis + ", size(" + meant + ") - 1)";
}

}  // namespace napkin::test
