#include "tests/support/random_diagram.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "tests/support/random_expression.h"

namespace napkin::test {

namespace {

/// A monoid that a diagram may declare: its parts, and what its elements are made of. `A` stands
/// for any value, `E` for one within 1.
struct MonoidForm {
    const char* name;
    const char* declaration;
    std::array<const char*, 3> elements;  ///< one a part; the others are null
};

constexpr std::array kMonoids = {
    MonoidForm{"affine",
               "(a, b; c, d) = (a * c, b * c + d) identity (1, 0) noncommutative",
               {"E", "A", nullptr}},
    MonoidForm{"pair", "(n, s; m, t) = (n + m, s + t) identity (0, 0)", {"1", "A", nullptr}},
    MonoidForm{"most", "(a; b) = max(a, b) identity -inf", {"A", nullptr, nullptr}},
    MonoidForm{"product", "(a; b) = a * b identity 1", {"E", nullptr, nullptr}},
    MonoidForm{"complex",
               "(a, b; c, d) = (a * c - b * d, a * d + b * c) identity (1, 0)",
               {"E", "E", nullptr}},
    MonoidForm{"triangle",
               "(a, b, c; d, e, f) = (a * d, a * e + b * f, c * f) identity (1, 0, 1) "
               "noncommutative",
               {"E", "A", "E"}},
};

struct Line {
    std::string target;  ///< with its axes
    std::string value;
    std::vector<std::size_t> arrays;  ///< which known arrays it defines
    bool rounds = true;               ///< it may
};

class Writer : private RandomExpressions {
public:
    using RandomExpressions::RandomExpressions;

    std::string write() {
        std::string text = "diagram random {\n";
        text += axes();
        text += inputs();
        const std::size_t count = 1 + below(static_cast<std::size_t>(options_.most_statements));
        for (std::size_t i = 0; i < count; ++i) statement(i);
        if (options_.chains && chance(20)) text += chained();
        for (const Line& line : lines_) {
            // What nothing reads is an output, and so is a part of the rest.
            const bool unread = std::any_of(line.arrays.begin(), line.arrays.end(),
                                            [&](std::size_t i) { return !arrays_[i].read; });
            const bool output = unread || chance(15);
            const bool rounds = output && line.rounds && options_.types && chance(30);
            text += "  " + std::string(output ? "output " : "") + line.target +
                    (rounds ? pick({" : bf16", " : f16", " : f32"}) : "") + " = " + line.value +
                    "\n";
        }
        text += weaves() + "}\n";
        for (const auto& [name, declaration] : monoids_)
            text.insert(0, "monoid " + name + declaration + "\n");
        return text;
    }

private:
    std::string axes() {
        std::string text = "  axis ";
        const Names names = {"q", "x", "d", "k", "e"};
        const std::size_t count = 3 + below(3);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t size = 1 + below(static_cast<std::size_t>(options_.largest_size));
            const bool alias = i > 0 && options_.elsewhere && !alias_ && chance(15);
            if (alias) alias_ = {names[i - 1], names[i]};
            text += (i == 0 ? "" : ", ") + names[i] + " = " +
                    (alias ? names[i - 1] : std::to_string(size));
            axes_.push_back(names[i]);
            sizes_[names[i]] = alias ? sizes_[names[i - 1]] : size;
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
            text += "  input " + name + "[" + listed(array.axes) + "] : ";
            text += pick({"f32", "f32", "bf16", "f16"}) + "\n";
            if (options_.layouts && !woven_ && array.axes.size() > 1 && chance(40))
                text += "  layout " + name + "[" +
                        listed({array.axes.rbegin(), array.axes.rend()}) + "]\n";
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

    void statement(std::size_t number) {
        const std::string name = "T" + std::to_string(number);
        const Names target = some(axes_, below(100) < 10 ? 0 : 1 + below(3));
        const std::size_t kind = below(100);
        if (kind < 30) {
            define(name, target, reduction(target, 2));
        } else if (kind < 44 && options_.library && !target.empty()) {
            define(name, target, call(target));
        } else if (kind < 51 && options_.scans && !target.empty()) {
            std::string scan = "scan[" + pick(target) + "] ";
            scan += pick({"sum", "max", "min", "prod"}) + " ";
            define(name, target, scan + factor(target, 1));
        } else if (kind < 56 && options_.selections) {
            // The operand must vary along the axis, or every element would tie.
            const std::string over = pick(axes_);
            define(name, target, "argmax(" + over + ") " + varying(target, over));
        } else if (kind < 61 && options_.selections) {
            topk(name, target);
        } else if (kind < 70 && options_.monoids) {
            user_monoid(name, target);
        } else if (kind < 80 && options_.cascades) {
            cascade(name);
        } else if (kind < 92 && options_.elsewhere) {
            neighbours(name);
        } else {
            define(name, target, expression(target, 3));
        }
    }

    static std::string indexed(const std::string& name, const Names& axes) {
        return axes.empty() ? name : name + "[" + listed(axes) + "]";
    }
    /// Adds a statement; returns its target, with axes.
    std::string define(const std::string& name, const Names& axes, const std::string& value) {
        const std::string target = indexed(name, axes);
        lines_.push_back({target, value, {arrays_.size()}, true});
        arrays_.push_back({name, axes, false});
        return target;
    }
    /// One that the cascade reads.
    std::string part(const std::string& name, const Names& axes, const std::string& value) {
        std::string target = define(name, axes, value);
        arrays_.back().read = true;
        return target;
    }
    std::string varying(const Names& target, const std::string& over) {
        return "(" + expression(with(target, over), 1) + " + 0.37 * " + over + ")";
    }

    void topk(const std::string& name, Names target) {
        const std::string over = pick(axes_);
        Names ranks;
        for (const std::string& axis : axes_)
            if (axis != over && sizes_[axis] <= sizes_[over]) ranks.push_back(axis);
        if (ranks.empty()) return define_plain(name, target);
        const std::string rank = pick(ranks);
        target = some(axes_, 2);
        std::erase(target, over);
        std::erase(target, rank);
        // An axis that the operand lacks would rank, too.
        std::string value = varying(target, over);
        for (const std::string& axis : target) value += " + 0.01 * " + axis;
        target.push_back(rank);
        const Names names = {name + "_val", name + "_idx"};
        define_all(names, target, "topk[" + over + "](" + value + ")");
    }
    void define_plain(const std::string& name, const Names& target) {
        define(name, target, expression(target, 2));
    }
    void define_all(const Names& names, const Names& axes, const std::string& value) {
        Line line{"", value, {}, false};
        for (const std::string& name : names) {
            line.target += (line.target.empty() ? "" : ", ") + indexed(name, axes);
            line.arrays.push_back(arrays_.size());
            arrays_.push_back({name, axes, false});
        }
        lines_.push_back(std::move(line));
    }

    void user_monoid(const std::string& name, const Names& target) {
        const MonoidForm& form = kMonoids[below(kMonoids.size())];
        monoids_[form.name] = form.declaration;
        const bool scans = options_.scans && !target.empty() && chance(35);
        const std::string over = scans ? pick(target) : pick(axes_);
        Names names;
        Names values;
        for (const char* element : form.elements) {
            if (element == nullptr) continue;
            names.push_back(name + "_" + std::to_string(names.size()));
            const Names scope = with(target, over);
            const std::string kind(element);
            values.push_back(kind == "1"   ? kind
                             : kind == "A" ? expression(scope, 1)
                                           : tame(expression(scope, 1)));
        }
        const std::string operand = (scans ? " (" : "(" + over + ") (") + listed(values) + ")";
        define_all(names, target, (scans ? "scan[" + over + "] " : "") + form.name + operand);
    }

    /// Reductions over one axis that use each other, ending in a contraction or a row.
    void cascade(const std::string& name) {
        const Names axes = some(axes_, 3);
        const std::string& x = axes[1];
        const Names row = {axes[0]};
        const Names scores = {axes[0], x};
        const Names result = {axes[0], axes[2]};
        const Names values = {x, axes[2]};
        const auto sum = [&](const std::string& body) { return "sum(" + x + ") " + body; };
        const std::string v = "(" + leaf(values) + ")";
        const std::string score = expression(scores, 1);
        const std::string s = part(name + "_s", scores, score);
        switch (below(12)) {
        case 0: {  // attention by hand
            const std::string w = part(name + "_w", scores, masked(scores, s));
            const std::string m = part(name + "_m", row, "max(" + x + ") " + w);
            const std::string l = part(name + "_l", row, sum("exp(" + w + " - " + m + ")"));
            define(name, result, "(" + sum("exp(" + w + " - " + m + ") * " + v) + ") / " + l);
            break;
        }
        case 9: {  // a neighbour that the condition keeps inside of its array
            const std::string& a = axes[0];
            if (sizes_[a] == 1) return define_plain(name, row);  // there is no neighbour
            part(name + "_g", row, expression(row, 1));
            const std::string next = name + "_g[" + a + " + 1]";
            const std::string body = next + pick({" * ", " + ", " - "}) + s;
            const std::string kept =
                "if " + a + " < size(" + a + ") - 1 and " + x + " % 2 == 0 then ";
            define(name, row,
                   chance(50) ? sum(kept + "(" + body + ") else 0")
                              : "log(" + sum("exp(" + kept + tame(body) + " else -inf)") + ")");
            break;
        }
        case 10: {  // scores that a mask hides, in a function that is multiplied
            const std::string w = part(name + "_w", scores, masked(scores, s));
            const std::string gate = "(" + leaf(row) + ")";
            define(name, result, sum(gate + " / (2 + (" + w + " - 0.5) ^ 2) * " + v));
            break;
        }
        case 11: {  // moments by a weight under a condition
            const std::string w =
                part(name + "_w", scores, "(if " + x + " >= 1 then " + s + " else 0) ^ 2");
            const std::string n = part(name + "_n", row, sum(w) + " + 0.5");
            const std::string m = part(name + "_m", result, "(" + sum(w + " * " + v) + ") / " + n);
            define(name, result, "(" + sum(w + " * (" + v + " - " + m + ") ^ 2") + ") / " + n);
            break;
        }
        case 1: {  // no maximum is subtracted
            const std::string e = part(name + "_e", scores, "exp(" + tame(s) + ")");
            const std::string l = part(name + "_l", row, sum(e));
            define(name + "_log", row, "log(" + l + ")");
            const std::string p = part(name + "_p", scores, e + " / " + l);
            define(name, result, sum(p + " * " + v));
            break;
        }
        case 2: {  // moments
            const std::string t = part(name + "_t", row, sum(s) + " / size(" + x + ")");
            const std::string n = part(name + "_n", row, sum("(" + s + " - " + t + ") ^ 2"));
            const std::string c = "(" + s + " - " + t + ") * rsqrt(" + n + " + 0.5)";
            define(name, result, sum(c + " * " + v));
            break;
        }
        case 3: {  // normalised by a sum
            const std::string a = part(name + "_a", scores, pick({"abs(" + s + ")", s + " ^ 2"}));
            const std::string l = part(name + "_l", row, sum(a));
            define(name, result, "(" + sum(a + " * " + v) + ") / (0.5 + " + l + ")");
            break;
        }
        case 4: {  // loss of a label, by comparison
            const std::string label =
                has_label_ && label_axes_[0] == axes[0] ? "label[" + axes[0] + "]" : axes[0];
            const std::string lse = part(name + "_l", row, "logsumexp[" + x + "](" + s + ")");
            const std::string hit = sum("if " + x + " == " + label + " then " + s + " else 0");
            define(name, row, lse + " - (" + hit + ")");
            break;
        }
        case 5: {  // two contractions in a row
            const std::string right = leaf({axes[2], axes[0]});
            const std::string o = part(name + "_o", result, sum(s + " * " + v));
            define(name, row, "sum(" + axes[2] + ") " + o + " * (" + right + ")");
            break;
        }
        case 6: {  // softmax backward, then a contraction
            const std::string g = "(" + leaf(scores) + ")";
            const std::string p = part(name + "_p", scores, "softmax[" + x + "](" + s + ")");
            const std::string dot = part(name + "_d", row, sum(p + " * " + g));
            define(name, result, sum(p + " * (" + g + " - " + dot + ") * " + v));
            break;
        }
        case 7: {  // a scale from the largest
            const std::string a = part(name + "_a", row, "max(" + x + ") abs(" + s + ")");
            define(name, result, sum("(" + s + " / (0.1 + " + a + ")) * " + v));
            break;
        }
        default: {  // entropy of the probabilities
            const std::string p = part(name + "_p", scores, "softmax[" + x + "](" + s + ")");
            const std::string l = part(name + "_l", row, "logsumexp[" + x + "](" + s + ")");
            const std::string each = p + " * " + s;
            define(name, row,
                   l + " - (" +
                       sum(chance(50) ? each : "if " + p + " > 0 then " + each + " else 0") + ")");
        }
        }
    }

    /// Values against those at other places: differences, products, both ways of normalising.
    void neighbours(const std::string& name) {
        const Names both = some(axes_, 2);
        const std::string& x = both[1];
        const std::string s = part(name + "_s", both, expression(both, 1));
        const std::string there = moved(name + "_s", both, both);
        switch (below(options_.picks ? 9 : 6)) {
        case 0: define(name, both, s + " - " + there); break;
        case 6:
        case 7:
        case 8: {  // under a mask, and where it says nothing
            const std::string seen = options_.masks ? condition(both) : x + " < 2";
            const std::string m =
                part(name + "_m", {both[0]},
                     pick({"sum(" + x + ") if " + seen + " then " + s + " else 0",
                           "max(" + x + ") if " + seen + " then " + s + " else -inf"}));
            const std::string at = "[" + both[0] + ", " + along(both[0], x) + "]";
            define(name, {both[0]}, "max(" + m + ", -9) + " + name + "_s" + at);
            break;
        }
        case 3:
        case 4: {  // of a reduction's value
            const std::string z = pick(axes_);
            const std::string sum = "sum(" + z + ") " + factor(with(both, z), 1);
            const std::string r = part(name + "_r", both, sum);
            (void)part(name + "_n", both, pick({"sigmoid(", "tanh(", "exp(0.1 * "}) + r + ")");
            define(name, {both[0]}, "sum(" + x + ") " + moved(name + "_n", both, both));
            break;
        }
        case 1: define(name, {both[0]}, "sum(" + x + ") " + s + " * " + there); break;
        case 2: define(name, {both[0]}, "sum(" + x + ") " + there); break;
        default: {
            const std::string r = part(name + "_r", {both[0]}, "logsumexp[" + x + "](" + s + ")");
            const std::string c = part(name + "_c", {x}, "logsumexp[" + both[0] + "](" + s + ")");
            const std::string all = "sum(" + both[0] + ", " + x + ") ";
            define(name, {}, all + "(" + r + " + " + c + " - " + s + " - " + there + ")");
        }
        }
    }

    /// The inputs of a chain of gathers, whose statements are added.
    std::string chained() {
        const Chain made = chain();
        for (const Definition& each : made.definitions) {
            if (each.name != "at0") arrays_.back().read = true;
            define_all({each.name}, each.axes, each.value);
        }
        return made.inputs;
    }

    std::string weaves() {
        if (!woven_) return "";
        std::string text = "  weave b = 2, h = 3\n";
        if (chance(40)) text += "  weave g = 2 over A\n";
        return text;
    }

    std::vector<Line> lines_;
    std::map<std::string, std::size_t> sizes_;
    std::map<std::string, std::string> monoids_;  ///< declarations by name
};

}  // namespace

std::string random_diagram(std::uint32_t seed, const RandomDiagramOptions& options) {
    return Writer(seed, options).write();
}

}  // namespace napkin::test
