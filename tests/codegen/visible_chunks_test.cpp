// Which chunks kernels visit and in which they test nothing, seen from outside, against what is
// counted of the mask and against every pair: of masks that people use and of random ones, and of
// those that read data, which are right at least.
//
// Copy b of the inputs has values that are not numbers, or are not 0, in chunk b alone. Such values
// reach the results of the tiles that visit the chunk.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>

#include "codegen/emit.h"
#include "codegen/run/execute.h"
#include "perfmodel/mask_report.h"
#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"

namespace napkin {
namespace {

/// Copy, head, tile of queries: the number of the chunk is that of the copy.
using Chunks = std::set<std::array<std::int64_t, 3>>;

struct Case {
    std::string mask;
    std::int64_t queries = 100;
    std::int64_t keys = 100;
    std::int64_t tile = 64;
    std::int64_t chunk = 16;
    std::string data = {};

    [[nodiscard]] std::int64_t chunks() const { return (keys + chunk - 1) / chunk; }
    [[nodiscard]] std::int64_t heads() const {
        return mask.find("h]") == std::string::npos ? 1 : 2;
    }
    [[nodiscard]] std::string text() const {
        return fmt::format(
            "diagram masked {{ axis q = {}, x = {}, d = 16\n input Q[q, d], K[x, d], V[x, d] : "
            "bf16\n {}\n S[q, x] = sum(d) Q[q, d] * K[x, d]\n M[q, x] = if {} then S[q, x] else "
            "-inf\n P[q, x] = softmax[x](M[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * V[x, "
            "d]\n weave b = {}, h = {} }}",
            queries, keys, data, mask, chunks(), heads());
    }
    [[nodiscard]] State state() const {
        return test::derive(test::load(text()),
                            fmt::format("fuse all\ngroup q by {}\nstream x by {}", tile, chunk));
    }
    /// Documents of 30, the last of the rest; lengths; blocks that are visible or not.
    void arrange(const Diagram& diagram, Tensors& inputs) const {
        for (auto& [id, tensor] : inputs) {
            const std::string& name = diagram[id].name;
            for (std::size_t at = 0; at < tensor.values.size(); ++at) {
                const std::int64_t x = static_cast<std::int64_t>(at) % keys;
                if (name == "document") tensor.values[at] = static_cast<double>(x / 30);
                if (name == "first") tensor.values[at] = static_cast<double>(x / 30 * 30);
                if (name == "length") tensor.values[at] = 70;
                if (name == "blocks" || name == "shown" || name == "keys" || name == "few")
                    tensor.values[at] = at * 5 % 7 < 3 ? 1 : 0;
            }
        }
    }
    [[nodiscard]] Tensors inputs(const Diagram& diagram) const {
        Tensors made = random_inputs(diagram, 1);
        arrange(diagram, made);
        return made;
    }
    /// Of a row of queries, counted over copies and heads.
    [[nodiscard]] std::array<std::int64_t, 3> tile_of(std::int64_t row) const {
        return {row / queries / heads(), row / queries % heads(), row % queries / tile};
    }
};

/// The chunks from which one value reaches a result.
Chunks reached(const Case& made, const Diagram& diagram, const EmittedProgram& program,
               double value, bool (*reaches)(double)) {
    Tensors inputs = made.inputs(diagram);
    for (auto& [id, tensor] : inputs) {
        if (diagram[id].name != "V") continue;
        const std::int64_t copy = static_cast<std::int64_t>(tensor.values.size()) / made.chunks();
        for (std::int64_t at = 0; at < copy * made.chunks(); ++at) {
            const bool inside = at / 16 % made.keys / made.chunk == at / copy;
            tensor.values[static_cast<std::size_t>(at)] = inside ? value : 0;
        }
    }
    ExecuteOptions how;
    how.emulator_cache = test::emulator_folder();
    const Result<Execution> run = execute_emulated(diagram, program, inputs, how);
    REQUIRE(run);
    Chunks found;
    for (const auto& [id, tensor] : run->outputs) {
        if (diagram[id].name != "O") continue;
        for (std::size_t at = 0; at < tensor.values.size(); ++at) {
            const std::int64_t row = static_cast<std::int64_t>(at) / 16;
            if (reaches(tensor.values[at])) found.insert(made.tile_of(row));
        }
    }
    return found;
}

/// The chunks that have a visible pair, and of those of full length those that have no other.
struct Pairs {
    Chunks visible;
    Chunks full;
};

Pairs pairs_of(const Case& made, const Diagram& diagram) {
    const Tensors inputs = made.inputs(diagram);
    Pairs pairs;
    Chunks hidden;
    for (std::uint32_t id = 0; id < diagram.arrays.size(); ++id) {
        if (diagram.arrays[id].name != "M") continue;
        const Tensor scores = Evaluator(diagram, inputs).array({id});
        for (std::size_t at = 0; at < scores.values.size(); ++at) {
            const std::int64_t row = static_cast<std::int64_t>(at) / made.keys;
            const std::int64_t chunk = static_cast<std::int64_t>(at) % made.keys / made.chunk;
            if (made.tile_of(row).front() != chunk) continue;
            const bool seen = scores.values[at] != -std::numeric_limits<double>::infinity();
            (seen ? pairs.visible : hidden).insert(made.tile_of(row));
        }
    }
    for (const auto& each : pairs.visible)
        if (!hidden.contains(each) && (each[0] + 1) * made.chunk <= made.keys)
            pairs.full.insert(each);
    return pairs;
}

/// Takes away what an untested chunk adds.
EmittedProgram without_full_chunks(EmittedProgram program) {
    for (EmittedKernel& kernel : program.kernels)
        for (std::size_t at = 0;
             (at = kernel.source.find("!kTested || ", at)) != std::string::npos;)
            kernel.source.replace(at, 12, "kTested && ");
    return program;
}

std::string listed(const Chunks& chunks) {
    std::string text;
    for (const auto& [chunk, head, tile] : chunks)
        text += fmt::format(" chunk {} of head {}, tile {};", chunk, head, tile);
    return text;
}

bool is_subset(const Chunks& part, const Chunks& of) {
    return std::includes(of.begin(), of.end(), part.begin(), part.end());
}

struct Made {
    Case what;
    State state;
    EmittedProgram program;
    EmittedProgram tested;
};

/// Kernels of a target, and those whose blocks take one tile after another, where it has such.
std::vector<EmittedProgram> programs_of(const State& state, const char* target) {
    std::vector<EmittedProgram> all;
    for (const bool several : {false, true}) {
        EmitOptions how;
        how.target = target;
        if (several) {
            if (target != std::string("sm_90a")) break;
            schedule::Request request;
            request.region = test::program_of(state).regions.front().name;
            request.schedule.persistent = true;
            how.schedules.push_back(request);
        }
        Result<EmittedProgram> program = emit(state, test::program_of(state), how);
        if (program)
            all.push_back(std::move(*program));
        else
            CHECK_EQ(program.error().list.front().code, "E0905");
    }
    return all;
}

/// Kernels of all cases, compiled.
std::vector<Made> made_of(const std::vector<Case>& cases) {
    std::vector<Made> all;
    std::vector<EmittedKernel> kernels;
    for (const Case& each : cases)
        for (const char* target : {"simt", "sm_80", "sm_90a"}) {
            const State state = each.state();
            for (EmittedProgram& program : programs_of(state, target)) {
                if (program.kernels.front().target != target) continue;
                EmittedProgram tested = without_full_chunks(program);
                kernels.push_back(program.kernels.front());
                if (tested.kernels != program.kernels) kernels.push_back(tested.kernels.front());
                all.push_back({each, state, std::move(program), std::move(tested)});
            }
        }
    CHECK_EQ(test::compile_together(kernels), "");
    return all;
}

void check(const Made& made) {
    const Diagram& diagram = made.state.diagram;
    const std::string& target = made.program.kernels.front().target;
    INFO(target, ": ", made.what.mask, "\n", made.what.text(), "\ntiles of ", made.what.tile,
         " by ", made.what.chunk);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Chunks visited = reached(made.what, diagram, made.program, nan,
                                   [](double value) { return std::isnan(value); });
    const Chunks tested =
        reached(made.what, diagram, made.tested, 1, [](double value) { return value > 0; });
    Chunks full;
    for (const auto& each : visited)
        if (!tested.contains(each)) full.insert(each);
    const Pairs pairs = pairs_of(made.what, diagram);
    CHECK_MESSAGE(is_subset(pairs.visible, visited), "left out:" << listed(pairs.visible));
    CHECK_EQ(test::wrong_with(made.state, made.program, 1,
                              [&](Tensors& inputs) { made.what.arrange(diagram, inputs); }),
             "");
    const MaskReport report = mask_reports(made.state).value().front();
    const bool marks = target != "simt";  // which it has none of
    if (!report.decided || (!report.data.empty() && !marks)) return;
    CHECK_EQ(listed(visited), listed(pairs.visible));
    if (marks) CHECK(is_subset(full, pairs.full));
    // Of a chunk that fills no fragment the rest is tested away.
    if (marks && made.what.chunk % 8 == 0) CHECK_EQ(listed(full), listed(pairs.full));
    if (!report.data.empty()) return;
    std::int64_t counted =
        report.total().visited * (report.counts.size() == 1 ? made.what.heads() : 1);
    CHECK_EQ(static_cast<std::int64_t>(visited.size()), counted);
}

/// Masks that people use.
const char* const kMasks[] = {
    "sliding[q, x](20, 9)",           "global_tokens[q, x](5)",
    "block_diagonal[q, x](24)",       "neighbourhood[q, x](20, 8, 1)",
    "neighbourhood[q, x](9, 2, 5)",   "strided_heads[q, x, h](2, 2, 3, 1, 16, 1)",
    "strided_blocks[q, x](1, 3, 16)", "x < 4 or neighbourhood[q, x](24, 1, 1)",
};

const char* const kBlocks =
    "axis i = 2, j = 7, k = 10, l = 70\n input blocks[i, j], keys[k], few[l] : i32\n input "
    "shown[i, j] : bool";

const char* const kDocuments = "input document[x], first[q], length[b] : i32";

/// Unions and intersections of what masks are made of, in tiles of any size.
class RandomCase {
public:
    explicit RandomCase(std::uint64_t seed) : random_(seed) {}

    Case draw() {
        Case made{mask(2)};
        made.queries = number(20, 150);
        made.keys = number(0, 1) == 0 ? made.queries : number(20, 150);
        made.tile = 16 * number(1, 8);
        made.chunk = number(0, 3) == 0 ? number(9, 70) : 16 * number(1, 4);
        return made;
    }

private:
    std::int64_t number(std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
    }
    std::string mask(int depth) {
        if (depth == 0 || number(0, 4) == 0) return atom();
        const std::string left = mask(depth - 1);
        return fmt::format("({} {} {})", left, number(0, 1) == 0 ? "and" : "or", mask(depth - 1));
    }
    std::string atom() {
        const std::int64_t width = number(1, 60);
        const std::int64_t part = number(2, 40);
        switch (number(0, 9)) {
        case 0: return fmt::format("x <= q + {}", width - 30);
        case 1: return fmt::format("q - x < {}", width);
        case 2: return fmt::format("x < {}", width);
        case 3: return fmt::format("x >= {}", width);
        case 4: return fmt::format("q // {0} == x // {0}", part);
        case 5: return fmt::format("(q - x) % {} == 0", number(2, 6));
        case 6: return fmt::format("(x // {} + h) % {} == 0", part, number(2, 5));
        case 7: return fmt::format("q // {0} - x // {0} < {1}", part, number(1, 4));
        case 8: return fmt::format("neighbourhood[q, x]({}, {}, 1)", number(4, 18), number(1, 4));
        default: return fmt::format("abs(q - x) >= {}", width);
        }
    }

    std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("visible chunks: kernels visit what is counted, and test partial chunks alone") {
    std::vector<Case> cases;
    for (const char* mask : kMasks) cases.push_back({mask});
    // One query, as where a sequence is continued.
    cases.push_back({"strided_heads[q, x, h](2, 2, 3, 1, 16, 1)", 1, 100, 1});
    cases.push_back({"x < 4 or sliding[q, x](20, 0)", 1, 100, 1});
    for (const Made& made : made_of(cases)) check(made);
}

TEST_CASE("visible chunks: kernels visit what is counted of random masks in random tiles") {
    // NAPKIN_TRIALS asks for more, from NAPKIN_SEED on.
    const auto number = [](const char* variable, std::uint64_t usual) {
        const char* given = std::getenv(variable);
        return given != nullptr ? std::stoull(given) : usual;
    };
    const std::uint64_t first = number("NAPKIN_SEED", 1);
    std::vector<Case> cases;
    for (std::uint64_t seed = first; seed < first + number("NAPKIN_TRIALS", 4); ++seed)
        cases.push_back(RandomCase(seed).draw());
    for (const Made& made : made_of(cases)) check(made);
}

TEST_CASE("visible chunks: where data decides, what no pair is visible in is left out") {
    const char* const kData[] = {
        "same_document(document[q], document[x])",
        "x <= q and x < length[b] and document[q] == document[x]",
        "first[q] <= x and x < length[b] and neighbourhood[q, x](40, 1, 1)"};
    std::vector<Case> cases;
    for (const char* mask : kData) cases.push_back({mask, 100, 100, 64, 16, kDocuments});
    // Lists of blocks, in tiles of their size and in others, and of what is visible to every query.
    const char* const kLists[] = {"blocks[q // 64, x // 16] == 1",
                                  "shown[q // 64, x // 16]",
                                  "blocks[q // 64, x // 16] > 0 and x <= q",
                                  "not shown[q // 50, (x + 3) // 16]",
                                  "keys[x // 10] != 0",
                                  "blocks[0, x // 16] == 1"};
    for (const char* mask : kLists) cases.push_back({mask, 100, 100, 64, 16, kBlocks});
    // A parameter is one number, which kernels take by value.
    for (const char* window : {"param window : i32 = 30", "param window : i64 = 1099511627776"})
        cases.push_back({"x <= q + window", 100, 100, 64, 16, window});
    int by_value = 0;
    for (const Made& made : made_of(cases)) {
        check(made);
        for (const KernelParameter& parameter : made.program.kernels.front().parameters) {
            if (parameter.name != "window") continue;
            CHECK_EQ(parameter.kind, KernelParameter::Kind::Scalar);
            ++by_value;
        }
    }
    CHECK_GT(by_value, 3);
}

TEST_CASE(
    "visible chunks: one tile after another, where no copies ask what data leaves, is refused") {
    const State state = test::derive(
        test::load(
            "diagram gathered { axis q = 128, x = 768, d = 16, n = 64\n input Q[q, d], K[n, "
            "d], V[n, d] : bf16\n input document[x], row[x] : i32\n S[q, x] = sum(d) Q[q, d] "
            "* K[row[x], d]\n M[q, x] = if document[6 * q] == document[x] then S[q, x] else "
            "-inf\n P[q, x] = softmax[x](M[q, x])\n output O[q, d] : bf16 = sum(x) P[q, x] * "
            "V[row[x], d] }"),
        "fuse all\ngroup q by 64\nstream x by 64");
    EmitOptions how;
    how.target = "sm_90a";
    schedule::Request request;
    request.region = "O";
    request.schedule.persistent = true;
    how.schedules.push_back(request);
    const Result<EmittedProgram> program = emit(state, test::program_of(state), how);
    REQUIRE_FALSE(program);
    CHECK_NE(program.error().list.front().message.find("a block finds out once"),
             std::string::npos);
}

TEST_CASE("visible chunks: a list that ends before the keys is read under its guard alone") {
    for (const Made& made : made_of({{"x < 70 and few[x] == 1", 100, 100, 64, 16, kBlocks}})) {
        INFO(made.program.kernels.front().target);
        CHECK_EQ(made.program.kernels.front().source.find("mark_chunks"), std::string::npos);
        CHECK_EQ(test::wrong_with(made.state, made.program, 1), "");
    }
}

}  // namespace napkin
