// lecture: a derivation as slides with questions, or the teacher's sheet of answers.
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exercise/asked.h"
#include "cli/files.h"
#include "cli/report/content.h"
#include "cli/report/questions.h"

namespace napkin::cli {
namespace {

/// The command that grades any answer.
std::string prompt_command(const Arguments& arguments) {
    std::string text = "napkin quiz " + arguments.file;
    text += arguments.quiz.empty() ? " --drv " + arguments.derivation : " --quiz " + arguments.quiz;
    for (const std::string& set : arguments.sets) text += " --set " + set;
    return arguments.machine.empty() ? text : text + " --machine " + arguments.machine;
}

Result<std::string> slides_of(Context& context, Asked& asked) {
    Result<ReportPage> page = report_of(context, asked.loaded, asked.steps, asked.machine);
    if (!page) return page.error();
    if (auto wrong =
            add_questions(*page, asked.steps, asked.graders, prompt_command(context.arguments)))
        return std::move(*wrong);
    return html_of(*page, asked.steps);
}

}  // namespace

Result<int> run_lecture(Context& context) {
    Result<Asked> asked = load_asked(context);
    if (!asked) return asked.error();
    const Result<std::string> page =
        context.arguments.sheet ? sheet_of(asked->loaded.plain.name, asked->machine, asked->graders)
                                : slides_of(context, *asked);
    if (!page) return page.error();
    if (const auto failure = write_data(context.arguments.output, *page)) return *failure;
    return kOk;
}

}  // namespace napkin::cli
