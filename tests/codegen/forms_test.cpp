// Every form that must stream, and every example, as kernels: lowered for simt, which refuses none
// of them, and for sm_80, whose refusals are stated; run in the emulator at small ragged sizes
// within the derived tolerance.
#include <algorithm>

#include "tests/codegen/judge.h"
#include "tests/derive/programs.h"
#include "tests/golden.h"
#include "tests/support/derivations.h"
#include "tests/support/forms.h"

namespace napkin::test {
namespace {

/// What is lowered: a form in one kernel or more, in blocks and chunks.
struct Subject {
    std::string name;
    Diagram plain;
    State state;
};

/// Rows in blocks where the region can be grouped.
State in_blocks(State state, std::int64_t size) {
    const std::vector<Region> regions = state.relabelling.regions;
    for (const Region& region : regions) {
        Command group;
        group.rule = "group";
        group.size = size;
        group.in = region_name(state.diagram, region);
        const ArrayId saved = saves_of(state.diagram, region).front();
        for (const AxisId axis : std::vector<AxisId>(state.diagram[saved].axes)) {
            group.names = {state.diagram[axis].name};
            Outcome grouped = apply(state, group);
            if (State* next = std::get_if<State>(&grouped)) {
                state = std::move(*next);
                break;
            }
        }
    }
    return state;
}

/// Inputs without a type get one that the tensor core multiplies.
std::string with_short_inputs(std::string text) {
    for (std::size_t at = text.find("  input "); at != std::string::npos;
         at = text.find("  input ", at + 1)) {
        const std::size_t end = text.find('\n', at);
        if (text.find(" : ", at) > end) text.insert(end, " : bf16");
    }
    return text;
}

/// All forms in chunks of so many and blocks of so many rows.
std::vector<Subject> forms_in(bool tensor, std::int64_t chunk, std::int64_t rows) {
    std::vector<Subject> list;
    for (const Form& form : all_forms()) {
        const Diagram diagram = load(tensor ? with_short_inputs(form.text) : form.text);
        const auto derived = state_of(diagram, commands_of(form, chunk));
        INFO(form.name, ": ", std::holds_alternative<State>(derived) ? "" : std::get<1>(derived));
        REQUIRE(std::holds_alternative<State>(derived));
        list.push_back({form.name, diagram, in_blocks(std::get<State>(derived), rows)});
    }
    return list;
}

std::vector<Subject> subjects(const std::string& target) {
    const bool tensor = target != "simt";
    std::vector<Subject> list = tensor ? forms_in(true, 16, 16) : forms_in(false, 5, 3);
    for (ExampleDerivation& example : example_derivations()) {
        for (Command& step : example.commands)
            if (step.size) step.size = std::max<std::int64_t>(tensor ? 16 : 1, *step.size / 16);
        const Result<State> state = replay(example.diagram, example.commands);
        REQUIRE(state.has_value());
        list.push_back({"examples/" + example.name, example.diagram, *state});
    }
    return list;
}

struct Lowered {
    Subject subject;
    EmittedProgram program;
};

/// Compiles all kernels, runs each program and says what is wrong with it.
void check_runs(const std::vector<Lowered>& lowered) {
    std::vector<EmittedKernel> kernels;
    for (const Lowered& each : lowered)
        kernels.insert(kernels.end(), each.program.kernels.begin(), each.program.kernels.end());
    CHECK_EQ(compile_together(kernels), "");
    for (const Lowered& each : lowered) {
        INFO(each.subject.name);
        CHECK_EQ(wrong_with(each.subject.plain, each.subject.state, each.program, 3), "");
    }
}

}  // namespace

TEST_CASE("forms: simt takes every one, and its kernels are right") {
    std::vector<Lowered> lowered;
    for (Subject& subject : subjects("simt")) {
        Result<EmittedProgram> program = emit(subject.state, program_of(subject.state));
        INFO(subject.name, ": ", program ? "" : program.error().list.front().message);
        CHECK(program.has_value());
        if (program) lowered.push_back({std::move(subject), std::move(program).value()});
    }
    check_runs(lowered);
}

TEST_CASE("forms: what sm_80 takes is right, and what it does not take is refused with a reason") {
    EmitOptions options;
    options.target = "sm_80";
    std::string refusals;
    std::vector<Lowered> lowered;
    for (Subject& subject : subjects("sm_80")) {
        Result<EmittedProgram> program = emit(subject.state, program_of(subject.state), options);
        if (program) {
            lowered.push_back({std::move(subject), std::move(program).value()});
            continue;
        }
        const Diagnostic& why = program.error().list.front();
        CHECK_EQ(why.code, "E0905");
        refusals += "== " + subject.name + "\n" + why.message + "\n  " + why.help + "\n";
    }
    check_runs(lowered);
    check_golden("codegen/forms_sm_80.txt", refusals);
}

TEST_CASE("forms: what sm_80 takes is right where a chunk is one element, or less than a tile") {
    EmitOptions options;
    options.target = "sm_80";
    std::vector<Lowered> lowered;
    for (const auto& [chunk, rows] : {std::pair{1, 16}, {5, 3}})
        for (Subject& subject : forms_in(true, chunk, rows)) {
            Result<EmittedProgram> program =
                emit(subject.state, program_of(subject.state), options);
            if (program) lowered.push_back({std::move(subject), std::move(program).value()});
        }
    REQUIRE_GT(lowered.size(), 100);
    check_runs(lowered);
}

}  // namespace napkin::test
