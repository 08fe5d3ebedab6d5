// A program and the program of its gradients in one export: what fits, and what is refused.
// torch_cases.py is its test in PyTorch.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/export/exported.h"
#include "tests/golden.h"
#include "tests/support/provided.h"

namespace napkin::test {
namespace {

ExportExample example_in_file(const std::string& name) {
    const std::string path = std::string(NAPKIN_TEST_FOLDER "/gradient/") + name;
    return {name,
            read_text(path + ".ncd"),
            read_text(path + ".drv"),
            "simt",
            {{{"q", 20}, {"x", 33}, {"b", 1}, {"h", 2}}}};
}

ExportExample with(ExportExample example, const std::string& what, const std::string& by) {
    REQUIRE(example.diagram.find(what) != std::string::npos);
    for (std::string* text : {&example.diagram, &example.derivation})
        for (std::size_t at = text->find(what); at != std::string::npos;
             at = text->find(what, at + by.size()))
            text->replace(at, what.size(), by);
    return example;
}

Result<std::vector<ExportedFile>> export_both(const ExportExample& example,
                                              const ExportExample& gradient) {
    const Exported first = make_export(example);
    const Exported second = make_export(gradient);
    const ExportOptions options{"0.0.0", "", ""};
    const std::vector<SelfTestCase> none;
    const ExportPart part{second.state, second.kernels, none, options};
    return export_program({first.state, first.kernels, none, options}, &part);
}

}  // namespace

TEST_CASE("an operator calls its gradient with what it read and wrote") {
    const Result<std::vector<ExportedFile>> files =
        export_both(example_in_file("attention"), example_in_file("attention_gradient"));
    REQUIRE(files.has_value());
    const std::filesystem::path folder = scratch() / "gradient";
    std::filesystem::create_directories(folder);
    for (const ExportedFile& file : *files)
        std::ofstream(folder / file.name, std::ios::binary) << file.text;
    std::string log;
    if (!provided("python3", shell("python3 --version", log) == 0 ? "" : "there is no python3"))
        return;
    log.clear();
    CHECK_EQ(shell("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='" NAPKIN_TEST_FOLDER "/fake_torch:" +
                       folder.string() +
                       "' python3 -c 'import attention; print(attention._OPERANDS); "
                       "print(attention._RESULTS, attention._backward_operator.schema)'",
                   log),
             0);
    CHECK_EQ(log,
             "(('input', 0), ('input', 1), ('input', 2), ('output', 0), ('gradient', 0), "
             "('output', 1))\n(0, 1, 2) (Tensor Q, Tensor K, Tensor V, Tensor O, Tensor dO, Tensor "
             "L) -> (Tensor, Tensor, Tensor)\n");
}

TEST_CASE("a gradient that does not fit is refused, and the message says what differs") {
    struct Row {
        const char* what;
        const char* by;
        const char* message;
    };
    const std::vector<Row> rows = {
        {"L[q]", "logs[q]",
         "`attention_gradient` reads `logs`, which `attention` neither reads nor writes, and which "
         "is the gradient of no output"},
        {"dV", "gV", "`attention_gradient` computes no `dV`"},
        {"dQ[q, d] : bf16", "dQ[q, d] : f16",
         "`dQ` is dQ[b, h, q, d] f16 in `attention_gradient`, and Q[b, h, q, d] bf16 in "
         "`attention`"},
        {"weave b = 2 dynamic, h = 3 dynamic", "weave h = 3 dynamic, b = 2 dynamic",
         "`Q` is Q[h, b, q, d] bf16 in `attention_gradient`, and Q[b, h, q, d] bf16 in "
         "`attention`"},
        {"q = 64 dynamic", "q = 64",
         "axis `q` is 64 in `attention_gradient`, and given at run time in `attention`"},
        {"d = 32", "d = 48", "axis `d` is 48 in `attention_gradient`, and 32 in `attention`"},
        {"  D[q] = sum(d) dO[q, d]", "  param cap : f32 = 1\n  D[q] = sum(d) cap * dO[q, d]",
         "`attention_gradient` takes a number `cap`, which `attention` does not"},
        {"diagram attention_gradient", "diagram attention",
         "the gradient of `attention` is called `attention` too"},
    };
    for (const Row& row : rows) {
        INFO(row.by);
        ExportExample gradient = with(example_in_file("attention_gradient"), row.what, row.by);
        gradient.sizes.clear();
        const Result<std::vector<ExportedFile>> files =
            export_both(example_in_file("attention"), gradient);
        REQUIRE_FALSE(files.has_value());
        const Diagnostic& wrong = files.error().list.front();
        CHECK_EQ(wrong.code, "E0968");
        CHECK_EQ(wrong.message, row.message);
        CHECK_FALSE(wrong.help.empty());
    }
}

TEST_CASE("a parameter of a gradient is that of what it is the gradient of") {
    const ExportExample forward =
        with(example_in_file("attention"), "= sum(d) Q[q, d]", "= sum(d) cap * Q[q, d]");
    const auto said = [&](const std::string& declared) -> std::string {
        ExportExample gradient = with(example_in_file("attention_gradient"), "  D[q] = sum(d) dO",
                                      "  param cap" + declared + "\n  D[q] = sum(d) cap * dO");
        gradient.sizes.clear();
        const Result<std::vector<ExportedFile>> files =
            export_both(with(forward, "  S[q, x]", "  param cap : f32 = 2\n  S[q, x]"), gradient);
        return files ? "" : files.error().list.front().message;
    };
    CHECK_EQ(said(" : f32 = 2"), "");
    CHECK_EQ(said(" : i32 = 2"),
             "parameter `cap` is i32 in `attention_gradient`, and f32 in `attention`");
    CHECK_EQ(said(" : f32 = 3"),
             "parameter `cap` has another default in `attention_gradient` than in `attention`");
}

}  // namespace napkin::test
