#include "tests/support/random_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tests/support/random_derivation.h"

namespace napkin::test {
namespace {

using Names = std::vector<std::string>;

class WindowWriter {
public:
    explicit WindowWriter(std::mt19937_64& random) : random_(random) {}

    std::string write() {
        switch (below(7)) {
        case 0:
        case 1:
        case 2: convolution(); break;
        case 3: beside(); break;
        case 4: norm(); break;
        case 5: rows(); break;
        default: columns(); break;
        }
        return "diagram random {\n  axis " + axes_ + "\n" + inputs_ + statements_ + "}\n";
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    std::string pick(const Names& of) { return of[below(of.size())]; }
    std::string list(const Names& names) { return fmt::format("{}", fmt::join(names, ", ")); }
    Names shuffled(Names names) {
        std::shuffle(names.begin(), names.end(), random_);
        return names;
    }
    void axis(const std::string& name, std::size_t most) {
        const std::size_t size =
            chance(40) && most >= 8 ? (1 + below(most / 8)) * 8 : 1 + below(most);
        axes_ += fmt::format("{}{} = {}", axes_.empty() ? "" : ", ", name, size);
    }
    /// An element of a new input; dimensions keep the order in which their axes are given.
    void input(const std::string& name, const Names& dimensions) {
        inputs_ += fmt::format("  input {}[{}] : {}\n", name, list(dimensions),
                               pick({"bf16", "bf16", "f16", "f32"}));
    }

    /// Where the element beside `p` is, r further, and what must hold for it to be there.
    std::pair<std::string, std::string> place(const std::string& p, const std::string& r) {
        switch (below(6)) {
        case 0: return {p + " + " + r, fmt::format("{} + {} < size({})", p, r, p)};
        case 1:
            return {fmt::format("{} + {} - 1", p, r),
                    fmt::format("0 <= {} + {} - 1 and {} + {} - 1 < size({})", p, r, p, r, p)};
        case 2: return {fmt::format("({} + {}) % size({})", p, r, p), ""};
        case 3: return {fmt::format("min({} + {}, size({}) - 1)", p, r, p), ""};
        case 4: return {p + " - " + r, p + " >= " + r};
        default: return {fmt::format("size({}) - 1 - {}", p, p), ""};
        }
    }
    /// An element of the image X beside the places of `along`, by `taps`, perhaps of something
    /// computed from it.
    std::string element(const Names& dimensions, const Names& along, const Names& taps) {
        Names index = dimensions;
        std::string guard;
        for (std::size_t i = 0; i < along.size(); ++i) {
            const auto [at, holds] = place(along[i], taps[i]);
            std::replace(index.begin(), index.end(), along[i], at);
            if (!holds.empty()) guard += (guard.empty() ? "" : " and ") + holds;
        }
        std::string value = "X[" + list(index) + "]";
        if (!guard.empty())
            value = fmt::format("(if {} then {} else {})", guard, value, pick({"0", "0", "0.5"}));
        switch (below(7)) {
        case 0: return "relu(" + value + ")";
        case 1: return "exp(-abs(" + value + "))";
        case 2:
            input("m", {along[0], taps[0]});
            return fmt::format("({} * m[{}, {}])", value, along[0], taps[0]);
        case 3: return "(" + value + " * " + taps[0] + ")";
        default: return value;
        }
    }
    void convolution() {
        const bool image = chance(40);
        const Names along = image ? Names{"p", "q"} : Names{"p"};
        const Names taps = image ? Names{"r", "s"} : Names{"r"};
        for (const std::string& name : along) axis(name, image ? 8 : 24);
        for (const std::string& name : taps) axis(name, 3);
        axis("k", 20);
        axis("c", 20);
        Names of_image = along;
        of_image.push_back("k");
        if (chance(25)) of_image = shuffled(of_image);
        const std::string left = element(of_image, along, taps);
        input("X", of_image);
        Names of_filter = taps;
        of_filter.insert(of_filter.end(), {"k", "c"});
        if (chance(30)) of_filter = shuffled(of_filter);
        input("W", of_filter);
        Names over = taps;
        over.push_back("k");
        Names of_result = along;
        of_result.push_back("c");
        const std::string right = "W[" + list(of_filter) + "]";
        statements_ += fmt::format("  output Y[{}] : {} = sum({}) {}\n", list(of_result),
                                   pick({"f32", "bf16"}), list(over),
                                   chance(60) ? left + " * " + right : right + " * " + left);
    }
    /// Depthwise convolutions and pooling.
    void beside() {
        axis("n", 4);
        axis("p", 12);
        axis("r", 3);
        axis("k", 40);
        const Names dimensions = chance(70) ? Names{"n", "p", "k"} : shuffled({"n", "p", "k"});
        std::string value = element(dimensions, {"p"}, {"r"});
        input("X", dimensions);
        if (chance(50)) {
            input("W", {"r", "k"});
            value += " * W[r, k]";
        }
        statements_ += fmt::format("  output Y[{}] : f32 = {}(r) {}\n",
                                   list(chance(70) ? dimensions : shuffled(dimensions)),
                                   pick({"sum", "sum", "max", "min"}), value);
    }
    void norm() {
        axis("n", 4);
        axis("g", 6);
        axis("p", 20);
        axis("c", 16);
        const Names dimensions = shuffled({"n", "g", "p", "c"});
        input("X", dimensions);
        const std::string x = "X[" + list(dimensions) + "]";
        const Names along = chance(60) ? Names{"p", "c"} : Names{"n", "p"};
        const Names kept = along[0] == "p" ? Names{"n", "g"} : Names{"g", "c"};
        const std::string k = list(kept);
        const std::string size = fmt::format("(size({}) * size({}))", along[0], along[1]);
        statements_ += fmt::format("  mu[{}] = sum({}) {} / {}\n", k, list(along), x, size);
        if (chance(60)) {
            input("w", {chance(50) ? "g" : "c"});
            const std::string w = inputs_.find("w[g]") != std::string::npos ? "w[g]" : "w[c]";
            statements_ += fmt::format("  v[{}] = sum({}) ({} - mu[{}]) ^ 2 / {}\n", k, list(along),
                                       x, k, size);
            statements_ +=
                fmt::format("  output Y[{}] : bf16 = ({} - mu[{}]) * rsqrt(v[{}] + 0.1) * {}\n",
                            list(dimensions), x, k, k, w);
        } else {
            statements_ +=
                fmt::format("  output Y[{}] : f32 = {} - mu[{}]\n", list(dimensions), x, k);
        }
    }
    /// Rows that are read several times, some from a place of their own on.
    void rows() {
        axis("n", 12);
        axis("v", 80);
        const std::size_t longest = 1 + below(16);
        axes_ += fmt::format(", w = v + {}", longest);
        input("X", {"n", "w"});
        const auto x = [&] { return fmt::format("X[n, v + {}]", below(longest + 1)); };
        const std::string first = x();
        statements_ += fmt::format("  m[n] = {}(v) {}\n", pick({"max", "sum"}), first);
        statements_ += fmt::format("  output Y[n, v] : {} = {} - m[n]\n", pick({"bf16", "f32"}),
                                   chance(60) ? first : x());
    }
    void columns() {
        axis("n", 30);
        axis("p", 12);
        axis("c", 40);
        const Names dimensions = chance(70) ? Names{"n", "p", "c"} : shuffled({"n", "p", "c"});
        input("X", dimensions);
        input("w", {"n"});
        const std::string x = "X[" + list(dimensions) + "]";
        statements_ += fmt::format("  output S[c] : f32 = sum(n, p) {}\n", x);
        statements_ += fmt::format("  output Q[c] : f32 = {}(n, p) {}\n", pick({"sum", "max"}),
                                   chance(50) ? x + " * w[n]" : x + " ^ 2");
    }

    std::mt19937_64& random_;
    std::string axes_;
    std::string inputs_;
    std::string statements_;
};

}  // namespace

std::string random_window(std::mt19937_64& random) {
    return WindowWriter(random).write();
}

State tiled_window(const Diagram& diagram, std::mt19937_64& random) {
    State state = initial_state(diagram);
    const auto try_command = [&](const char* rule, const std::string& name, std::int64_t size,
                                 const std::string& in = "") {
        take_step(state, rule, name, size, in);
    };
    const auto chance = [&](std::uint64_t percent) { return random() % 100 < percent; };
    const auto size = [&] {
        const std::int64_t kSizes[] = {1, 1, 2, 3, 4, 8, 8, 16, 16};
        return kSizes[random() % std::size(kSizes)];
    };
    if (chance(70)) try_command("fuse", "all", 0);
    const std::vector<Axis> axes = diagram.axes;
    const std::vector<Region> regions = state.relabelling.regions;
    for (const Region& region : regions) {
        const std::string name = region_name(state.diagram, region);
        for (const Axis& axis : axes) {
            if (chance(45)) try_command(chance(60) ? "group" : "stream", axis.name, size(), name);
            if (chance(8)) try_command("split-stream", axis.name, size(), name);
        }
    }
    return state;
}

}  // namespace napkin::test
