// The operator for PyTorch, under a stand-in for PyTorch: what it launches and what it refuses.
// bench/export-on-gpu is its test on a real one.
#include <doctest/doctest.h>

#include "tests/export/examples.h"
#include "tests/export/exported.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin::test {
namespace {

bool has_python() {
    std::string log;
    return provided("python3", shell("python3 --version", log) == 0 ? "" : "there is no python3");
}

}  // namespace

TEST_CASE("the operator launches what the launcher does, and refuses what it refuses") {
    if (!has_python()) return;
    std::string log;
    const Launcher attention(
        make_export(export_example("attention on tensor cores, sizes at run time")),
        "operator-attention", {});
    const Launcher unfused(
        make_export(export_example("several kernels with a workspace, sizes at run time")),
        "operator-unfused", {});
    const Launcher grouped(
        make_export(export_example("attention of warp groups, sizes at run time")),
        "operator-grouped", {});
    const Launcher quantised(
        make_export(export_example("weights of 4 bits in bulk, outputs at run time")),
        "operator-quantised", {});
    const Launcher narrow(
        make_export(export_example("numbers by value, of types narrower than they are passed in")),
        "operator-narrow", {});
    log.clear();
    const std::string path = std::string(NAPKIN_TEST_FOLDER "/fake_torch:") +
                             attention.folder().string() + ":" + unfused.folder().string() + ":" +
                             grouped.folder().string() + ":" + quantised.folder().string() + ":" +
                             narrow.folder().string();
    const int status = shell("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='" + path +
                                 "' python3 '" NAPKIN_TEST_FOLDER "/operator_cases.py'",
                             log);
    CHECK_EQ(log, "ok\n");
    CHECK_EQ(status, 0);
}

TEST_CASE("the Python of the page on exports calls the operator") {
    if (!has_python()) return;
    std::string log;
    const std::filesystem::path docs = std::filesystem::path(NAPKIN_EXAMPLES_DIR) / "../docs";
    std::string diagram = read_text(docs / "export/variant.ncd");
    for (const char* axis : {"q = 2048", "b = 2", "h = 4"}) {
        const std::size_t at = diagram.find(axis);
        REQUIRE(at != std::string::npos);
        diagram.insert(at + std::string(axis).size(), " dynamic");
    }
    const Launcher launcher(make_export({"the page's",
                                         diagram,
                                         read_text(docs / "export/variant.drv"),
                                         "sm_80",
                                         {{{"q", 20}, {"b", 1}, {"h", 1}}}}),
                            "page", {});
    log.clear();
    const int status =
        shell("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='" NAPKIN_TEST_FOLDER "/fake_torch:" +
                  launcher.folder().string() + "' python3 '" NAPKIN_TEST_FOLDER "/page_case.py' '" +
                  (docs / "export.md").string() + "'",
              log);
    CHECK_EQ(log, "ok\n");
    CHECK_EQ(status, 0);
}

TEST_CASE("every operator is Python") {
    if (!has_python()) return;
    std::string log;
    for (const ExportExample& example : export_examples()) {
        const Exported exported = make_export(example);
        const Launcher launcher(exported, "python-" + exported.program.name, {});
        log.clear();
        INFO(example.name, log);
        const std::string file = (launcher.folder() / (exported.program.name + ".py")).string();
        CHECK_EQ(shell("python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' '" +
                           file + "'",
                       log),
                 0);
    }
}

}  // namespace napkin::test
