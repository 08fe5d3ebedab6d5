// Where an interactive session shows its states: in the terminal, and on a page that follows it.
#pragma once

#include <optional>
#include <string>

#include "cli/report/live_page.h"
#include "cli/step_report.h"
#include "cli/terminal/image.h"
#include "cli/workbench.h"

namespace napkin::cli {

class Display {
public:
    /// Both outlive it.
    Display(const Machine& machine, const SourceMap& sources)
        : machine_(machine), sources_(sources), cost_of_(machine) {}

    /// Asks the terminal whether it takes images; what somebody typed meanwhile.
    [[nodiscard]] std::string ask();
    /// `show image` and `show text`: how pictures are shown here from now on; false where the
    /// terminal takes no images.
    bool use_images(bool wanted);

    /// Where the session stands, after a step from `before`; null where there was none.
    void report(const State* before, const Workbench& bench);
    /// `show live [FILE.html]` and `show live off`: begins a page that follows, or ends it.
    void live(const std::string& rest, const Workbench& bench);
    /// Tells the page that the session has ended.
    void end();

private:
    void show_picture(const State& state, const Cost& cost);
    void follow(const Workbench& bench, const StepReport& report);
    void begin_page(const std::string& path, const Workbench& bench);

    const Machine& machine_;
    const SourceMap& sources_;
    CostOfSteps cost_of_;
    std::optional<LivePage> page_;
    Answers terminal_;
    std::optional<ImageProtocol> images_;  ///< pictures are text where there is none
};

}  // namespace napkin::cli
