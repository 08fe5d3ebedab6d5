// Gathers at indices that their region computes, and at what it gathers there in turn: each is
// loaded where it is read, after those that say where. Fused, tiled and streamed they are executed
// and proved.
#include <algorithm>

#include "tests/derive/programs.h"
#include "tests/support/trial.h"

namespace napkin::test {
namespace {

struct Chain {
    const char* name;
    const char* statements;
};

const std::vector<Chain> kChains = {
    {"a computed index, then a table", "h[n] = (st[n] * 7) % size(m)\n output Y[n] = V[nx[h[n]]]"},
    {"a gathered index, then a table", "a[n] = nx[st[n]]\n output Y[n] = V[nx[a[n]]]"},
    {"in one statement", "output Y[n] = V[nx[nx[st[n]]]]"},
    {"three tables", "h[n] = (st[n] * 7) % size(m)\n output Y[n] = V[nx[nx[nx[h[n]]]]]"},
    {"a gather between the tables",
     "h[n] = (st[n] + n) % size(m)\n a[n] = nx[h[n]]\n b[n] = nx[nx[a[n]]]\n"
     " output Y[n] = sum(d) X[nx[b[n]], d] * Z[n, d]"},
    {"tables at every length",
     "h[n] = (st[n] + n) % size(m)\n output Y[n] = V[h[n]] + V[nx[h[n]]] * V[nx[nx[h[n]]]]"},
    {"two indices beside each other",
     "h[n] = (st[n] * 7) % size(m)\n g[n] = (st[n] + 3) % size(d)\n"
     " output Y[n] = X[nx[h[n]], columns[g[n]]]"},
    {"a table of two dimensions",
     "h[n] = (st[n] * 7) % size(m)\n output Y[n, d] = X[pages[h[n], d], d] * Z[n, d]"},
    {"a loaded place beside a computed one",
     "h[n] = (st[n] * 7) % size(m)\n output Y[n, d] = X[(nx[st[n]] + nx[h[n]]) % size(m), d]"},
    {"an index that a condition keeps inside",
     "h[n] = st[n] + off\n"
     " output Y[n, d] = if h[n] >= 0 and h[n] < size(m) then X[nx[h[n]], d] else 0"},
    {"an index that a parameter moves",
     "output Y[n, d] = if st[n] + off >= 0 and st[n] + off < size(m) then X[nx[st[n] + off], d] "
     "else 0"},
    {"a table that a parameter moves",
     "output Y[n] = sum(d) X[nx[(st[n] + off) % size(m)], d] * Z[n, d]"},
    {"experts in slots",
     "val[n, k], idx[n, k] = topk[m](G[n, m])\n"
     " output Y[n, k] = val[n, k] * sum(d) Z[n, d] * X[nx[idx[n, k]], d]"},
    {"the largest, then two tables",
     "best[n] = argmax(m) G[n, m]\n output Y[n, d] = X[nx[nx[best[n]]], d] * Z[n, d]"},
    {"an index of each chunk",
     "h[n, d] = (st[n] * 7 + d) % size(m)\n a[n, d] = nx[h[n, d]]\n"
     " output Y[n] = sum(d) V[nx[a[n, d]]] * Z[n, d]"},
    {"an index that a sum makes, read after it",
     "h[n] = (sum(d) counts[n, d]) % size(m)\n output Y[n] = V[nx[nx[h[n]]]] * sum(d) Z[n, d]"},
    {"in the chunks and after them",
     "h[n] = (st[n] * 7) % size(m)\n a[n] = nx[h[n]]\n M[n] = max(d) X[nx[a[n]], d] * Z[n, d]\n"
     " output Y[n] = (sum(d) exp(X[nx[a[n]], d] * Z[n, d] - M[n])) + X[nx[nx[a[n]]], 0]"},
};

const std::vector<std::string> kTiles = {
    "",
    "group n by 4",
    "group n by 4\ngroup n by 2 at l2",
    "stream d by 2",
    "stream d by 2\nstream d by 1 at l2",
    "group n by 4\nstream d by 2 at l2",
    "group n by 4\ngroup n by 2 at l2\nstream d by 2",
    "stream m by 2",
    "group n by 4\nstream m by 3",
};

std::string with(const Chain& chain) {
    return std::string(
               "diagram chained {\n axis n = 10, m = 7, d = 5, k = 2\n param off : i32 = -2\n"
               " input st[n], nx[m], columns[d], pages[m, d], counts[n, d] : i32\n"
               " input G[n, m], X[m, d], Z[n, d], V[m] : f32\n ") +
           chain.statements + "\n}\n";
}

/// Commands with those left out that name an axis which the region lacks or only reads.
std::vector<std::string> that_apply(const Diagram& diagram, const std::string& tiles) {
    State state = initial_state(diagram);
    std::vector<std::string> steps;
    for (const Command& command : commands("fuse all\n" + tiles)) {
        Outcome outcome = apply(state, command);
        if (State* next = std::get_if<State>(&outcome)) {
            state = std::move(*next);
            steps.push_back(print(command));
        }
    }
    return steps;
}

TEST_CASE("late gathers: each is loaded after those that say where") {
    const TileProgram program = program_of(derive(load(with(kChains[3])), "fuse all"));
    const RegionProgram& region = program.regions.front();
    std::vector<std::string> order;
    for (const TileStatement& statement : region.body) {
        if (const Load* loaded = std::get_if<Load>(&statement.node))
            order.push_back(region.variables[loaded->target.index()].name);
        if (const Compute* compute = std::get_if<Compute>(&statement.node))
            order.push_back(region.variables[compute->targets.front().index()].name);
    }
    CHECK_EQ(order, std::vector<std::string>{"st", "h", "nx'1", "nx'2", "nx'3", "V'1", "Y"});
}

TEST_CASE("late gathers: fused, tiled and streamed they are what the diagram says") {
    std::size_t streamed = 0;
    for (const Chain& chain : kChains) {
        const std::string text = with(chain);
        const Diagram diagram = load(text);
        for (const std::string& tiles : kTiles) {
            const std::vector<std::string> steps = that_apply(diagram, tiles);
            std::string all;
            for (const std::string& step : steps) all += step + "\n";
            streamed += all.find("stream") != std::string::npos ? 1 : 0;
            INFO(std::string(chain.name), ":\n", all);
            const State state = derive(diagram, all);
            REQUIRE_EQ(state.relabelling.regions.size(), 1);
            check_against_reference(state);
            CHECK_EQ(failure_of({text, steps, 1}, Depth::Verify).value_or(""), "");
        }
    }
    CHECK_GE(streamed, 40);
}

}  // namespace
}  // namespace napkin::test
