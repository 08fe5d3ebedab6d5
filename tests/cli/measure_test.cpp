// Measured times are kept whole, by one process or several, and a search ranks by them alone.
#include "cli/measure.h"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>

#include "codegen/run/compile.h"
#include "tests/cli/transcript.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin::test {
namespace {

using cli::Kept;
using cli::Measurement;
using cli::Measurements;
using cli::TestBench;
using cli::TimedProgram;

std::filesystem::path fresh_file() {
    static int number = 0;
    return scratch() + "/measured-" + std::to_string(++number) + "/times.sqlite";
}

Measurements opened(const std::filesystem::path& path) {
    Result<Measurements> opened = Measurements::open(path);
    REQUIRE(opened);
    return std::move(opened).value();
}

TimedProgram program(int number) {
    return {"hash " + std::to_string(number), "q=4", "fuse all"};
}

const TestBench kBench{"NVIDIA H200", "13.0", "13.0"};
const Measurement kTime{"right", 2e-6, 1e-6, 3e-6, 20};

std::string why_not(const Result<Measurements>& opened) {
    REQUIRE_FALSE(opened);
    CHECK_EQ(opened.error().list.front().code, "E9081");
    return opened.error().list.front().message;
}

/// Runs statements on a file by SQLite itself.
void run_sql(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    sqlite3* database = nullptr;
    REQUIRE_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    CHECK_EQ(sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
}

/// Rows that a file holds; none while it cannot be read.
int measurements_in(const std::filesystem::path& path) {
    sqlite3* database = nullptr;
    sqlite3_stmt* count = nullptr;
    int rows = 0;
    if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
        sqlite3_prepare_v2(database, "SELECT count(*) FROM measurement", -1, &count, nullptr) ==
            SQLITE_OK &&
        sqlite3_step(count) == SQLITE_ROW)
        rows = sqlite3_column_int(count, 0);
    sqlite3_finalize(count);
    sqlite3_close(database);
    return rows;
}

/// In a folder of these tests.
std::string folder() {
    std::filesystem::create_directories(scratch() + "/measuring");
    return scratch() + "/measuring";
}

std::string run(const std::string& command) {
    return run_command({command, ""}, folder());
}

/// A diagram of which every result is zero, as the fake device says of all.
constexpr const char* kZeroes =
    "cat > zeroes.ncd <<'X'\n"
    "diagram zeroes {\n  axis n = 512, d = 256\n  input X[n, d] : f32\n"
    "  output Y[n] : f32 = sum(d) X[n, d] * 0\n}\nX\n";

const std::string kOnFake = "LD_LIBRARY_PATH=" NAPKIN_FAKE_CUDA " ";
const std::string kOnNone = "mkdir -p none; : > none/libcuda.so.1; LD_LIBRARY_PATH=none ";

bool compiles_here() {
    return provided("nvrtc", nvrtc_status().missing);
}

}  // namespace

TEST_CASE("measurements: found under device, driver, compiler, kernels and sizes alone") {
    const std::filesystem::path path = fresh_file();
    const Measurements kept = opened(path);
    CHECK_FALSE(kept.find(kBench, program(1))->has_value());
    REQUIRE_FALSE(kept.keep(kBench, program(1), kTime));
    CHECK_EQ(*kept.find(kBench, program(1)), kTime);
    CHECK_EQ(*opened(path).find(kBench, program(1)), kTime);
    CHECK_FALSE(kept.find({"NVIDIA H100", "13.0", "13.0"}, program(1))->has_value());
    CHECK_FALSE(kept.find({"NVIDIA H200", "12.8", "13.0"}, program(1))->has_value());
    CHECK_FALSE(kept.find({"NVIDIA H200", "13.0", "12.8"}, program(1))->has_value());
    CHECK_FALSE(kept.find(kBench, program(2))->has_value());
    TimedProgram larger = program(1);
    larger.sizes = "q=8";
    CHECK_FALSE(kept.find(kBench, larger)->has_value());
    const Measurement wrong{"wrong", 1e-6, 1e-6, 1e-6, 20};
    REQUIRE_FALSE(kept.keep(kBench, program(1), wrong));
    CHECK_EQ(*kept.find(kBench, program(1)), wrong);
    REQUIRE_FALSE(kept.keep({"NVIDIA H100", "13.0", "13.0"}, program(1), kTime));
    CHECK_EQ(kept.benches()->size(), 2);
}

TEST_CASE("measurements: what is no whole database of ours is refused, and left as it is") {
    const std::filesystem::path text = fresh_file();
    std::filesystem::create_directories(text.parent_path());
    std::ofstream(text)
        << "a text that somebody wrote, longer than a header of a database would be, "
           "so that nothing can be taken for one";
    const std::string before = read_text(text);
    CHECK_NE(why_not(Measurements::open(text)).find("not a database"), std::string::npos);
    CHECK_NE(why_not(Measurements::open_to_read(text)).find("not a database"), std::string::npos);
    CHECK_EQ(read_text(text), before);

    const std::filesystem::path other = fresh_file();
    run_sql(other, "CREATE TABLE music (title TEXT)");
    CHECK_NE(why_not(Measurements::open(other)).find("another program's"), std::string::npos);

    const std::filesystem::path newer = fresh_file();
    static_cast<void>(opened(newer));
    run_sql(newer, "PRAGMA user_version = 2");
    CHECK_NE(why_not(Measurements::open(newer)).find("its form is 2"), std::string::npos);

    const std::filesystem::path torn = fresh_file();
    {
        const Measurements kept = opened(torn);
        for (int i = 0; i < 200; ++i) REQUIRE_FALSE(kept.keep(kBench, program(i), kTime));
    }
    std::fstream(torn, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(4096)
        .write(std::string(4096, 'x').data(), 4096);
    CHECK_NE(why_not(Measurements::open(torn)).find("age 2"), std::string::npos);

    CHECK_NE(why_not(Measurements::open(torn.parent_path())).find("unable to open"),
             std::string::npos);
}

TEST_CASE("measurements: to read a file that is not there makes none") {
    const std::filesystem::path path = fresh_file();
    const Result<Measurements> kept = Measurements::open_to_read(path);
    REQUIRE(kept);
    CHECK(kept->benches()->empty());
    CHECK_FALSE(kept->find(kBench, program(1))->has_value());
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("measurements: several processes at once lose nothing") {
    constexpr int kProcesses = 4;
    constexpr int kEach = 25;
    const std::filesystem::path path = fresh_file();
    std::filesystem::create_directories(path.parent_path());
    std::vector<pid_t> children;
    for (int child = 0; child < kProcesses; ++child) {
        const pid_t id = ::fork();
        REQUIRE(id >= 0);
        if (id != 0) {
            children.push_back(id);
            continue;
        }
        const Result<Measurements> kept = Measurements::open(path);
        bool whole = kept.has_value();
        for (int i = 0; whole && i < kEach; ++i)
            whole = !kept->keep(kBench, program(child * kEach + i), kTime);
        ::_exit(whole ? 0 : 1);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK_EQ(status, 0);
    }
    const Measurements kept = opened(path);
    for (int i = 0; i < kProcesses * kEach; ++i) CHECK(kept.find(kBench, program(i))->has_value());
}

TEST_CASE("measuring goes on where it was stopped") {
    const Measurements kept = opened(fresh_file());
    const std::vector<TimedProgram> programs{program(0), program(1), program(2), program(3)};
    std::vector<std::size_t> timed;
    const auto time = [&](std::size_t i) -> Result<Measurement> {
        timed.push_back(i);
        Measurement one = kTime;
        one.median = 1e-6 * static_cast<double>(10 - i);
        return one;
    };
    const auto first_two = [](std::size_t done, std::size_t all, double best) {
        CHECK_EQ(all, 4);
        CHECK_EQ(best, doctest::Approx(done == 0 ? 0 : 1e-6 * static_cast<double>(11 - done)));
        return done < 2;
    };
    const Result<Kept> half = measure_missing(kept, kBench, programs, time, first_two);
    REQUIRE(half);
    CHECK_EQ(timed, std::vector<std::size_t>{0, 1});
    CHECK((*half)[1].has_value());
    CHECK_FALSE((*half)[2].has_value());

    const auto to_the_end = [](std::size_t, std::size_t, double) { return true; };
    const auto broken = [&](std::size_t i) -> Result<Measurement> {
        if (i == 3) return plain_error("E0911", "no compiler");
        return time(i);
    };
    CHECK_FALSE(measure_missing(kept, kBench, programs, broken, to_the_end));
    CHECK_EQ(timed, std::vector<std::size_t>{0, 1, 2});
    const Result<Kept> whole = measure_missing(kept, kBench, programs, time, to_the_end);
    REQUIRE(whole);
    CHECK_EQ(timed, std::vector<std::size_t>{0, 1, 2, 3});
    CHECK((*whole)[3].has_value());
}

TEST_CASE("after a failure nothing is timed, and the next time what failed is left out") {
    const Measurements kept = opened(fresh_file());
    const std::vector<TimedProgram> programs{program(0), program(1)};
    std::vector<std::size_t> timed;
    const auto time = [&](std::size_t i) -> Result<Measurement> {
        timed.push_back(i);
        return i == 0 ? Measurement{.verdict = "failed: illegal address"} : kTime;
    };
    const auto to_the_end = [](std::size_t, std::size_t, double) { return true; };
    const Result<Kept> first = measure_missing(kept, kBench, programs, time, to_the_end);
    CHECK((*first)[0]->failed());
    CHECK_FALSE((*first)[1].has_value());
    const Result<Kept> second = measure_missing(kept, kBench, programs, time, to_the_end);
    CHECK_EQ(timed, std::vector<std::size_t>{0, 1});
    CHECK_EQ((*second)[1], kTime);
}

TEST_CASE("search --measure ranks by the device's times, from which the best is a derivation") {
    if (!compiles_here()) return;
    const std::string search =
        "napkin search zeroes.ncd --machine H200 --set n=384 --measure 3 --measurements ./t.sqlite";
    const std::string measured = run(kZeroes + kOnFake + search + " -o best.drv");
    CHECK_NE(measured.find("# zeroes: 3 candidates timed on NVIDIA H200, driver 13.0"),
             std::string::npos);
    CHECK_NE(measured.find("#   1  15.6 us  (15.6 us)"), std::string::npos);
    CHECK_NE(measured.find("set n = 384\n"), std::string::npos);
    CHECK_EQ(measured.find("[exit"), std::string::npos);
    CHECK_EQ(measured, read_text(folder() + "/best.drv"));
    CHECK_EQ(run("napkin cost zeroes.ncd --drv best.drv > log; echo $?"), "0\n");

    // The slowest by the model is the fastest that was recorded, and no GPU is needed any more.
    run_sql(folder() + "/t.sqlite",
            "UPDATE measurement SET median = median / 2 WHERE rowid = "
            "(SELECT max(rowid) FROM measurement)");
    const std::string recorded = run(kOnNone + search);
    CHECK_NE(recorded.find("no GPU here: times are those in ./t.sqlite\n"), std::string::npos);
    CHECK_NE(recorded.find("#   1  7.81 us"), std::string::npos);
    CHECK_NE(recorded.find("# the model's choice takes 2.000 times as long as the best\n"),
             std::string::npos);
    // Predictions never stand in for what was not measured.
    const std::string more = run(kOnNone + "napkin search zeroes.ncd --machine H200 " +
                                 "--set n=384 --measure 4 --measurements ./t.sqlite");
    CHECK_NE(more.find("error[E9082]"), std::string::npos);
    CHECK_NE(more.find("and 1 of 4 candidates are not recorded of NVIDIA H200, driver 13.0"),
             std::string::npos);
    CHECK_NE(more.find("[exit 4]"), std::string::npos);
    const std::string others = run(kOnNone +
                                   "napkin search zeroes.ncd --machine "
                                   "H100 --set n=384 --measure 3 --measurements ./t.sqlite");
    CHECK_NE(others.find("and 3 of 3 candidates are not recorded in `./t.sqlite`"),
             std::string::npos);
}

TEST_CASE("search --measure names the machine that predictions are for") {
    if (!compiles_here()) return;
    const std::string told =
        run(kZeroes + kOnFake + "napkin search zeroes.ncd --machine H100 --measure 1");
    CHECK_NE(
        told.find("warning[W9002]: predictions are for H100, and kernels are timed on NVIDIA H200"),
        std::string::npos);
}

TEST_CASE("search --measure ranks no kernel that computes something else") {
    if (!compiles_here()) return;
    const std::string told =
        run(kOnFake + "napkin search " NAPKIN_EXAMPLES_DIR
                      "/matmul.ncd --machine H200 --set "
                      "a=256,b=256,c=256 --measure 2 --measurements wrong.sqlite");
    CHECK_NE(told.find("#   -  wrong"), std::string::npos);
    CHECK_EQ(told.find("\ngroup"), std::string::npos);
    CHECK_NE(told.find("[exit 3]"), std::string::npos);
}

TEST_CASE("search --measure stops in order, and goes on") {
    if (!compiles_here()) return;
    const std::string search =
        "napkin search zeroes.ncd --machine H200 --measure 3 --measurements ./stopped.sqlite";
    const std::string failed =
        run(kZeroes + ("FAKE_CUDA_FAILS=cuLaunchKernel " + kOnFake) + search);
    CHECK_NE(failed.find("stopped where one failed: the CUDA driver failed in `cuLaunchKernel`"),
             std::string::npos);
    CHECK_NE(failed.find("1 of 3 candidates are timed, and kept in ./stopped.sqlite"),
             std::string::npos);
    CHECK_NE(failed.find("[exit 4]"), std::string::npos);
    run_sql(folder() + "/stopped.sqlite", "DELETE FROM measurement");
    const std::string rest = run(kOnFake + search);
    CHECK_NE(rest.find("# zeroes: 3 candidates timed"), std::string::npos);
}

TEST_CASE(
    "search --measure that is interrupted ends the candidate at hand, keeps it, and goes on") {
    if (!compiles_here()) return;
    const std::filesystem::path times = folder() + "/interrupted.sqlite";
    const std::string search =
        "napkin search zeroes.ncd --machine H200 --measure 3 --measurements ./interrupted.sqlite";
    // One launch of fifty milliseconds after another: seconds for a candidate.
    std::future<std::string> running = std::async(std::launch::async, [&] {
        return run(kZeroes + ("FAKE_CUDA_PAUSE=50 " + kOnFake) + search +
                   " & echo $! > searching; wait $!");
    });
    const auto is_running = [&] {
        return running.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready;
    };
    while (is_running() && measurements_in(times) == 0) continue;
    REQUIRE_EQ(measurements_in(times), 1);
    const pid_t process = std::stoi(read_text(folder() + "/searching"));
    CHECK_EQ(::kill(process, SIGINT), 0);
    const std::string stopped = running.get();
    CHECK_NE(stopped.find("stopped: 2 of 3 candidates are timed, and kept in ./interrupted.sqlite"),
             std::string::npos);
    CHECK_NE(stopped.find("[exit 130]"), std::string::npos);
    CHECK_EQ(measurements_in(times), 2);
    // What is kept is not timed again.
    run_sql(times, "UPDATE measurement SET median = 2.34e-6");
    const std::string rest = run(kOnFake + search);
    CHECK_NE(rest.find("# zeroes: 3 candidates timed"), std::string::npos);
    CHECK_NE(rest.find("#   2  2.34 us"), std::string::npos);
    CHECK_NE(rest.find("#   3  15.6 us"), std::string::npos);
}

TEST_CASE("calibrate writes the file of the machine that is here") {
    if (!compiles_here()) return;
    const std::string told = run(kOnFake + "napkin calibrate -o mine.toml");
    CHECK_EQ(told.find("[exit"), std::string::npos);
    // A round of the fake device is 1000 clocks and 625 ns, and every launch 64 ms.
    for (const char* reading :
         {"# NVIDIA H200, driver 13.0, as `napkin calibrate` measured it",
          "shared                                           131.1 B/clk",
          "wgmma m64n128k16 bf16                        4194.3 FLOP/clk",
          "copy by 1 block                                   524.3 MB/s", "launch          ",
          "# not measured: tensor_core.tf32: no instruction of a warp group",
          "# kept as in H200: block.exposed, block.fetched, cache.exposed, cluster.blocks, "}) {
        INFO(std::string(reading));
        CHECK_NE(told.find(reading), std::string::npos);
    }
    const std::string file = read_text(folder() + "/mine.toml");
    CHECK_EQ(file.find(told), 0);
    // A text that is broken into lines.
    CHECK_EQ(
        run("napkin machines ./mine.toml | tr -s ' \\n' ' ' | grep -o 'measured: napkin calibrate "
            "on NVIDIA H200, driver 13.0: ' | wc -l"),
        "32\n");
    CHECK_NE(run("napkin machines ./mine.toml").find("processor.sustained"), std::string::npos);
    // A figure that nothing measured keeps its source.
    CHECK_NE(
        file.find("\ncapacity = { value = \"1020 B\", from = \"published\", source = \"CUDA C++"),
        std::string::npos);
    const std::string compared = run("napkin compare H200 H100 ./mine.toml");
    CHECK_NE(compared.substr(0, compared.find('\n')).find(" H200-measured"), std::string::npos);
    CHECK_NE(compared.find("\nblock.processors"), std::string::npos);
    CHECK_NE(compared.find("\nenergy.device"), std::string::npos);
    // With figures of energy, what a kernel draws is known.
    const std::string cost = "napkin cost " NAPKIN_EXAMPLES_DIR "/matmul.ncd --machine ";
    CHECK_NE(run(cost + "A100").find("  energy not known, at most "), std::string::npos);
    CHECK_NE(run(cost + "./mine.toml").find("  energy "), std::string::npos);
    CHECK_EQ(run(cost + "./mine.toml").find("not known"), std::string::npos);
    CHECK_NE(run(kOnFake + "napkin calibrate ./mine.toml -o mine.toml").find("error[E9020]"),
             std::string::npos);
}

TEST_CASE("calibrate says what stands in its way, and writes nothing then") {
    const std::string nowhere = run(kOnNone + "napkin calibrate -o none.toml; ls none.toml");
    CHECK_NE(nowhere.find("error[E0913]: no CUDA device can be used"), std::string::npos);
    CHECK_NE(nowhere.find("cannot access 'none.toml'"), std::string::npos);
    CHECK_NE(run(kOnFake + "napkin calibrate H20 -o none.toml").find("error[E0"),
             std::string::npos);
    CHECK_NE(run("FAKE_CUDA_NAME='NVIDIA X1' " + kOnFake + "napkin calibrate").find("error[E9084]"),
             std::string::npos);
    if (!compiles_here()) return;
    CHECK_NE(run("FAKE_CUDA_FAILS=cuLaunchKernel " + kOnFake + "napkin calibrate -o none.toml")
                 .find("error[E0914]: the CUDA driver failed in `cuLaunchKernel`"),
             std::string::npos);
    const std::string stopped =
        run("FAKE_CUDA_PAUSE=100 " + kOnFake +
            "timeout --foreground --preserve-status -s INT 8 napkin calibrate "
            "-o none.toml; ls none.toml");
    INFO(stopped);
    CHECK_NE(stopped.find("error[E9083]"), std::string::npos);
    CHECK_NE(stopped.find("cannot access 'none.toml'"), std::string::npos);
}

TEST_CASE("calibrate --print writes every kernel, without a GPU") {
    const std::string sources = run(kOnNone + "napkin calibrate --print --arch sm_90");
    CHECK_NE(sources.find("// wgmma m64n256k16 bf16: eight products of a warp group"),
             std::string::npos);
    CHECK_EQ(sources.find('@'), std::string::npos);
    CHECK_EQ(run(kOnNone + "napkin calibrate --print --arch sm_80").find("wgmma"),
             std::string::npos);
}

}  // namespace napkin::test
