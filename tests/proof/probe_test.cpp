#include <doctest/doctest.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include "derive/proof/prove_program.h"
#include "derive/proof/shapes.h"
#include "diagrams/check.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"
using namespace napkin;
using namespace napkin::proof;
namespace napkin::test {
std::filesystem::path diagram_of(const std::filesystem::path& derivation) {
    std::string stem = derivation.stem().string();
    while (!std::filesystem::exists(derivation.parent_path() / (stem + ".ncd"))) {
        const std::size_t cut = stem.rfind('_');
        REQUIRE(cut != std::string::npos);
        stem.resize(cut);
    }
    return derivation.parent_path() / (stem + ".ncd");
}
static void attempt(const std::string& text, const std::string& drv) {
    using Clock = std::chrono::steady_clock;
    const auto ms = [](Clock::time_point a, Clock::time_point b) {
        return std::chrono::duration<double, std::milli>(b - a).count();
    };
    const auto t0 = Clock::now();
    SourceMap sources;
    const auto file = sources.add("x.ncd", text);
    const auto parsed = syntax::parse(sources, file);
    const auto shapes = choose_shapes({sources, *parsed, commands(drv), {}});
    if (!shapes) {
        std::cout << "  NO SHAPES " << all_messages(shapes.error(), sources) << "\n";
        return;
    }
    const auto t1 = Clock::now();
    std::cout << "  shapes " << ms(t0, t1) << " ms\n";
    for (const Shape& shape : *shapes) {
        const auto a = Clock::now();
        const TileProgram program = program_of(shape.state);
        const auto b = Clock::now();
        const auto ids = prove_identity(shape.plain, shape.state.diagram, program, {});
        const auto c = Clock::now();
        const ProgramProof p = prove_program(shape.plain, shape.state.diagram, program, {});
        const auto d = Clock::now();
        std::cout << "   ";
        for (auto& [n, s] : shape.sizes) std::cout << n << "=" << s << " ";
        for (auto& s : shape.commands)
            if (s.size) std::cout << "| " << print(s) << " ";
        std::cout << "\n    expand " << ms(a, b) << " identity " << ms(b, c) << " all " << ms(c, d)
                  << "\n";
        for (auto& i : p.identities)
            std::cout << "    " << i.output << (i.proved ? " proved " : " NOT ")
                      << print(i.settings) << " " << i.elements << " unclaimed " << i.unclaimed
                      << " trials " << i.trials.size() << " degree " << (i.degree ? *i.degree : -1)
                      << " " << i.counterexample << "\n";
        std::cout << "    provenance " << p.provenance.elements << " leaks " << p.provenance.leaks
                  << " losses " << p.provenance.losses << " " << p.provenance.first << "\n";
        for (auto& e : p.executions)
            std::cout << "    scale " << e.scale << " compared " << e.compared << " unreached "
                      << e.unreached << " failed " << e.failed << " " << e.first << "\n";
    }
}
TEST_CASE("probe examples") {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_EXAMPLES_DIR))
        if (entry.path().extension() == ".drv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& f : files) {
        std::cout << f.filename().string() << "\n";
        attempt(read_text(diagram_of(f)), read_text(f));
    }
}
TEST_CASE("probe streams") {
    std::istringstream lines(
        read_text(std::filesystem::path(NAPKIN_GOLDEN_DIR) / "separation/streams.ncd"));
    std::string line, name, axis, body;
    const auto flush = [&] {
        if (body.empty()) return;
        const Diagram diagram = load(body);
        std::string cmds = "fuse all\nstream " + axis + " by 3\n";
        if (diagram.boxes.size() == 1) cmds = "stream " + axis + " by 3\n";
        std::cout << name << "\n";
        attempt(body, cmds);
    };
    while (std::getline(lines, line)) {
        if (line.rfind("== ", 0) == 0) {
            flush();
            body.clear();
            auto colon = line.find(" : ");
            name = line.substr(3, colon - 3);
            std::istringstream(line.substr(colon + 3)) >> axis;
        } else
            body += line + "\n";
    }
    flush();
}
}  // namespace napkin::test
#include <random>
#include "tests/support/random_derivation.h"
#include "tests/support/random_diagram.h"
namespace napkin::test {
TEST_CASE("probe random") {
    std::mt19937_64 random(12);
    RuleCounts counts;
    int proved = 0, total = 0;
    std::map<std::string, int> how;
    const int n = std::getenv("N") ? std::atoi(std::getenv("N")) : 300;
    for (std::uint32_t seed = 0; seed < std::uint32_t(n); ++seed) {
        const std::string text = random_diagram(seed);
        const Diagram diagram = load(text);
        const State state = random_derivation(diagram, random, 12, counts);
        const TileProgram program = program_of(state);
        const ProgramProof p = prove_program(diagram, state.diagram, program, {});
        ++total;
        proved += p.ok();
        for (auto& i : p.identities)
            how[i.proved ? print(i.settings) + (i.degree ? " bound" : " no bound")
                         : "not proved"]++;
        if (!p.ok()) {
            std::cout << "seed " << seed << "\n" << text;
            for (const Step& step : state.steps) std::cout << "  " << print(step.command) << "\n";
            for (auto& i : p.identities)
                std::cout << "    " << i.output << (i.proved ? " proved " : " NOT ")
                          << print(i.settings) << " " << i.elements << " unclaimed " << i.unclaimed
                          << " trials " << i.trials.size() << " " << i.counterexample << "\n";
            std::cout << "    provenance leaks " << p.provenance.leaks << " losses "
                      << p.provenance.losses << " " << p.provenance.first << "\n";
            for (auto& e : p.executions)
                std::cout << "    scale " << e.scale << " compared " << e.compared << " unreached "
                          << e.unreached << " failed " << e.failed << " " << e.first << "\n";
        }
    }
    std::cout << proved << " of " << total << "\n";
    for (auto& [k, v] : how) std::cout << k << " " << v << "\n";
}
}  // namespace napkin::test
