// Machine files: every built-in one, overrides, and each mistake with its place.
#include "perfmodel/machine.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/golden.h"
#include "tests/support/provided.h"
#include "tests/support/rendered.h"

namespace napkin {
namespace {

Machine machine(const std::string& text) {
    SourceMap sources;
    const Result<Machine> result = load_machine(sources, text);
    if (!result) FAIL(test::rendered(result.error(), sources));
    return *result;
}

TEST_CASE("units of quantities divide to seconds") {
    const Seconds time = Bytes{1e12} / BytesPerSecond{2e12};
    CHECK_EQ(time.value, doctest::Approx(0.5));
    CHECK_EQ((Bytes{6} + Bytes{2}) / Bytes{4}, doctest::Approx(2));
}

TEST_CASE("every machine of the binary reads, with a source for every number") {
    CHECK_GE(machine_names().size(), 6);
    for (const std::string& name : machine_names()) {
        const Machine known = machine(name);
        CHECK_EQ(known.name, name);
        REQUIRE(known.capacity(Level::Block).has_value());
        REQUIRE(known.bandwidth(Level::Device).has_value());
        for (const auto& [key, figure] : known.figures) {
            INFO(name, " ", key);
            CHECK_GT(figure.value, 0);
            CHECK_GT(figure.source.size(), 5);
        }
    }
}

TEST_CASE("a machine's text is a file of the same machine") {
    for (const std::string& name : machine_names()) {
        Machine known = machine(name + ",power.idle=75W,energy.device=40pJ");
        known.title += " \"quoted\" \\";
        SourceMap sources;
        const Result<Machine> again =
            parse_machine(sources, "again.toml", machine_file_text(known));
        if (!again) FAIL(test::rendered(again.error(), sources));
        CHECK(*again == known);
    }
}

TEST_CASE("figures resolve to the whole device") {
    const Machine h200 = machine("h200");
    CHECK_EQ(h200.capacity(Level::Block)->value, 227 * 1024);
    CHECK_EQ(h200.bandwidth(Level::Device)->value, doctest::Approx(4.8e12));
    CHECK_EQ(h200.bandwidth(Level::Block)->value, doctest::Approx(128 * 1.83e9 * 132));
    CHECK_EQ(h200.exponentials()->value, doctest::Approx(16 * 1.83e9 * 132));
    CHECK_EQ(h200.tensor_core(ElementType::BF16)->value, doctest::Approx(989.4e12));
    CHECK_FALSE(h200.tensor_core(ElementType::F64).has_value());
    CHECK_FALSE(machine("abstract2").has(Level::Warps));
    CHECK(machine("abstract3").has(Level::Warps));
    CHECK_EQ(machine("abstract3").bandwidth(Level::Device)->value, doctest::Approx(1e12));
}

TEST_CASE("overrides replace a figure") {
    const Machine small = machine("H200,block.capacity=96KiB,device.bandwidth=2 TB/s");
    CHECK_EQ(small.capacity(Level::Block)->value, 96 * 1024);
    CHECK_EQ(small.bandwidth(Level::Device)->value, 2e12);
    CHECK_EQ(small.figures.at("block.capacity").source, "given on the command line");
    const auto sustained = [](const std::string& text) {
        return *machine(text).figure("processor.sustained");
    };
    CHECK_EQ(sustained("H200"), 1755e6);
    CHECK_EQ(sustained("H200,processor.clock=915MHz"), doctest::Approx(1755e6 / 2));
    CHECK_EQ(sustained("H200,processor.sustained=1GHz,processor.clock=3GHz"), 1e9);
    for (const char* clock : {"125MHz", "1.001GHz", "3.333GHz"})
        CHECK_LE(sustained("H200,processor.clock=" + std::string(clock)),
                 *machine("H200,processor.clock=" + std::string(clock)).figure("processor.clock"));
}

TEST_CASE("mistakes in a text are reported with their place") {
    const char* texts[] = {
        "H300",
        "H200,block.capacty=96KiB",
        "H200,block.capacity=96",
        "H200,block.capacity=96ms",
        "H200,block.capacity=96kb",
        "H200,block.capacity=-1 KiB",
        "H200,model.spread=120 %",
        "H200,device.reached=140 %",
        "H200,block.exposed=200%",
        "H200,warp_group.overlapped=101 %",
        "H200,block.capacity=",
        "H200,block.capacity",
        "H200,",
        "H200,block.processors=1.5",
        "H200,block.processors=1e300",
        "H200, block.capcity=1KiB",
        "H200,block.processors=132 B,colour=red",
        "H200,processor.clock=900MHz,processor.sustained=1GHz",
        "abstract2,warps.capacity=1KiB",
        "./missing.toml",
        "",
    };
    std::string report;
    for (const char* text : texts) {
        SourceMap sources;
        const Result<Machine> result = load_machine(sources, text);
        REQUIRE_FALSE_MESSAGE(result.has_value(), text);
        report += "### " + std::string(text) + "\n" + test::rendered(result.error(), sources);
    }
    test::check_golden("perfmodel/machine-overrides.txt", report);
}

TEST_CASE("mistakes in a file are reported with their line") {
    const char* texts[] = {
        "name = \"m\"\n[device]\ncapacity = 80 GB\n",
        "name = \"m\"\n[device]\n[block]\ncapacity = { value = \"96 KiB\" }\n",
        "name = \"m\"\n[device]\n[block]\ncapacity = \"96 KiB\"\n",
        "name = \"m\"\n[device]\n[block]\ncapacity = { value = \"96 s\", source = \"me\" }\n"
        "speed = { value = \"1\", source = \"me\" }\n[blok]\n"
        "capacity = { value = \"96 KiB\", source = \"me\" }\n",
        "name = 3\n[device]\ntitle = 7\n[block]\nprocessors = { value = 2, source = \"me\", x = 1 "
        "}\n",
        "name = \"m\\u001b[2J\"\n[device]\ntitle = \"two\\nlines\"\n[block]\n"
        "capacity = { value = \"96 KiB\", source = \"a\\tb\" }\n",
        "base = \"H9\"\nname = \"m\"\n",
        "name = \"m\"\nname = \"n\"\n",
        "capacity = 3\n",
        "",
        "\xff\xfe",
    };
    std::string report;
    for (const char* text : texts) {
        SourceMap sources;
        const Result<Machine> result = parse_machine(sources, "mine.toml", text);
        REQUIRE_FALSE_MESSAGE(result.has_value(), text);
        report += test::rendered(result.error(), sources) + "###\n";
    }
    test::check_golden("perfmodel/machine-files.txt", report);
}

TEST_CASE("a user's file may start from a machine of the binary") {
    const std::filesystem::path path =
        test::kept_folder("machine-" + std::to_string(::getpid())) / "mine.toml";
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path)
        << "base = \"H200\"\nname = \"mine\"\n[block]\ncapacity = { value = \"1 MiB\", "
           "source = \"a hypothesis\" }\n";
    const Machine mine = machine(path.string() + ",latency.launch=1us");
    CHECK_EQ(mine.name, "mine");
    CHECK_EQ(mine.capacity(Level::Block)->value, 1 << 20);
    CHECK_EQ(mine.launch_latency().value, doctest::Approx(1e-6));
    CHECK_EQ(mine.processors(), 132);
    std::filesystem::remove_all(path.parent_path());
    SourceMap sources;
    CHECK_FALSE(load_machine(sources, std::filesystem::temp_directory_path().string()).has_value());
}

TEST_CASE("a machine prints with its sources") {
    test::check_golden("perfmodel/machine-h200.txt", print(machine("H200")));
}

}  // namespace
}  // namespace napkin
