#include "cli/exercise/asked.h"

#include "cli/exercise/messages.h"
#include "cli/machines.h"
#include "cli/messages.h"

namespace napkin::cli {

Result<Asked> load_asked(Context& context) {
    const Arguments& arguments = context.arguments;
    Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    Result<Quiz> quiz = Quiz{};
    if (!arguments.quiz.empty()) {
        const Result<std::uint32_t> text = load_text(context.sources, arguments.quiz);
        if (!text) return text.error();
        quiz = parse_quiz(context.sources, *text);
        if (!quiz) return quiz.error();
    }
    const std::string named = quiz->machine.empty() ? kDefaultMachine : quiz->machine;
    Result<Machine> machine = arguments.machine.empty()
                                  ? take_timed_machine(context.sources, named, "machine")
                                  : take_timed_machine(context.sources, arguments.machine);
    if (!machine)
        return arguments.machine.empty() ? named_at(machine.error(), quiz->machine_place)
                                         : machine.error();
    Result<std::vector<DerivedStep>> steps = steps_of(*loaded, *machine);
    if (!steps) return steps.error();
    if (arguments.quiz.empty()) quiz = quiz_of(*steps);
    if (quiz->questions.empty()) return no_questions(arguments.derivation);
    Result<std::vector<Grader>> graders = graders_of(loaded->plain, *machine, *quiz);
    if (!graders) return graders.error();
    return Asked{std::move(loaded).value(), std::move(machine).value(), std::move(steps).value(),
                 std::move(graders).value()};
}

}  // namespace napkin::cli
