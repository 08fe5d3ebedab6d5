// Monoids that are not commutative, folded over several axes: what a rule allows keeps the order in
// which elements are combined, and what would not is refused.
#include <array>

#include "tests/derive/programs.h"

namespace napkin::test {

namespace {

/// Monoids for which any two elements in another order give another result, and their elements.
struct Ordered {
    const char* declaration;
    const char* name;
    const char* element;  ///< over t, u and c
    int parts;
};

constexpr std::array kOrdered = {
    Ordered{"left(a; b) = if a != 0 then a else b identity 0", "left",
            "(if A[t, u, c] > 0.4 then A[t, u, c] else 0)", 1},
    Ordered{"last(a; b) = if b != 0 then b else a identity 0", "last",
            "(if A[t, u, c] > 0.4 then A[t, u, c] else 0)", 1},
    Ordered{"affine(a, b; c, d) = (a * c, b * c + d) identity (1, 0)", "affine",
            "(A[t, u, c], B[t, u, c])", 2},
};

constexpr std::array kSteps = {
    "stream t by 1",
    "stream t by 2",
    "stream u by 2",
    "stream u by 5",
    "stream u by 6",
    "stream t by 1\nstream u by 4",
    "stream t by 2\nstream u by 4",
    "stream u by 1\nstream t by 3",
    "stream u by 3\nstream t by 2",
    "stream t by 4\nstream t by 1 at l2\nstream u by 2 at l2",
    "stream t by 1 at l2\nstream u by 2",
    "stream t by 1\nstream u by 4\nunstream t",
    "split-stream t by 2",
    "split-stream t by 3",
    "split-stream u by 4",
    "stream t by 1\nsplit-stream t by 2",
    "stream t by 1\nstream u by 2\nsplit-stream t by 2",
    "stream t by 1\nstream u by 2\nsplit-stream u by 2",
    "split-axis t as v by 2\nstream t by 1",
    "split-axis t as v by 2\nstream v by 1",
    "split-axis u as v by 2\nstream u by 1",
    "split-axis u as v by 2\nstream v by 1",
    "split-axis t as v by 2\nstream t by 1\nstream v by 1\nstream u by 3",
    "join-axes t, u as z",
    "join-axes t, u as z\nstream z by 5",
    "join-axes t, u as z\nsplit-stream z by 7",
    "group c by 2\nstream t by 2",
    "recompute f in O\nstream t by 2",
};

std::string diagram_of(const Ordered& monoid, const std::string& over) {
    return "monoid " + std::string(monoid.declaration) +
           " noncommutative\ndiagram ordered {\n  axis t = 4, u = 6, c = 3\n"
           "  input A[t, u, c], B[t, u, c]\n  " +
           (monoid.parts == 2 ? "e[c], " : "") + "f[c] = " + monoid.name + "(" + over + ") " +
           monoid.element + "\n  output O[c] = f[c] + 1\n}";
}

/// Applies what the rules allow; whether the last step was.
bool applies(State& state, const std::string& steps) {
    bool applied = false;
    for (const Command& command : commands(steps)) {
        Outcome outcome = apply(state, command);
        applied = std::holds_alternative<State>(outcome);
        if (applied) state = std::get<State>(std::move(outcome));
    }
    return applied;
}

}  // namespace

TEST_CASE("fold order: what the rules allow combines elements in the order of the fold") {
    for (const Ordered& monoid : kOrdered)
        for (const std::string over : {"t, u", "u, t"}) {
            int applied = 0;
            for (const std::string steps : kSteps) {
                const Diagram diagram = load(diagram_of(monoid, over));
                State state = derive(diagram, "fuse all");
                INFO(print(diagram), steps);
                applied += applies(state, steps) ? 1 : 0;
                for (const std::uint64_t seed : {1, 2, 3}) {
                    check_same_meaning(diagram, state, seed);
                    check_against_reference(state, seed);
                }
            }
            CHECK(applied >= (over == "t, u" ? 15 : 6));
        }
}

TEST_CASE("fold order: refusals") {
    const Diagram rows = load(diagram_of(kOrdered[0], "t, u"));
    const Diagram columns = load(diagram_of(kOrdered[0], "u, t"));
    const std::string why =
        "`left` is not commutative: elements are combined in the order of `t`, then `u`";
    const std::string chunks = why + ", and chunks of `u` would come before all of `t`";
    const std::string streams =
        chunks + "; stream `t`, the outermost; `u` too once `t` is streamed by 1";
    CHECK_EQ(refusal(rows, "fuse all\nstream u by 2"), streams);
    CHECK_EQ(refusal(rows, "fuse all\nstream t by 2\nstream u by 2"), streams);
    CHECK_EQ(refusal(rows, "fuse all\nstream t by 1\nstream u by 2"), "applied");
    CHECK_EQ(refusal(rows, "fuse all\nstream t by 1\nstream u by 2\nunstream t"), streams);
    CHECK_EQ(refusal(rows, "fuse all\nsplit-stream u by 2"),
             chunks + "; split the outermost of them; parts of it are combined in order");
    CHECK_EQ(refusal(rows, "join-axes t, u as z"), "applied");
    CHECK_EQ(refusal(columns, "join-axes t, u as z"),
             "`left` is not commutative: elements are combined in the order of `u`, then `t`, and "
             "along the joined axis `u` comes right after `t`");
}

}  // namespace napkin::test
