// report: one HTML page of a derivation, which answers by itself.
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/machines.h"
#include "cli/report/content.h"

namespace napkin::cli {

Result<int> run_report(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Machine> machine = take_timed_machine(
        context.sources, arguments.machine.empty() ? kDefaultMachine : arguments.machine);
    if (!machine) return machine.error();
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const Result<std::vector<DerivedStep>> steps = steps_of(*loaded, *machine);
    if (!steps) return steps.error();
    const Result<ReportPage> page = report_of(context, *loaded, *steps, *machine);
    if (!page) return page.error();
    if (const auto failure = write_data(arguments.output, html_of(*page, *steps))) return *failure;
    return kOk;
}

}  // namespace napkin::cli
