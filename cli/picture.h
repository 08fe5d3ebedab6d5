// Pictures of a derivation: the diagram under its relabelling, with the resource table above it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "derive/state.h"
#include "diagrams/drawing/changes.h"
#include "diagrams/drawing/layout.h"
#include "diagrams/graphviz/render_canvas.h"
#include "perfmodel/cost.h"
#include "perfmodel/machine.h"
#include "schedule/region_schedule.h"

namespace napkin::cli {

/// What a picture is made for.
struct PictureOptions {
    drawing::Medium medium = drawing::Medium::Page;
    std::string title;
    std::optional<std::size_t> kernel;  ///< the only region that is drawn
    std::optional<double> max_width;    ///< in points; a terminal's character has six
    bool must_fit = false;              ///< in that of a terminal, or there is no picture
    std::string step;                   ///< of the derivation, that the picture is after
    /// Bytes stand under the formulas, and what is too large for it is told.
    const Machine* machine = nullptr;
    bool levels = true;                  ///< what colours mean stands below
    bool per_group = false;              ///< H of one group and how many there are, below
    const SourceMap* sources = nullptr;  ///< that the diagram was written in, where known
};

/// The drawing with its table, under an overview where there are several kernels.
[[nodiscard]] Result<drawing::Canvas> picture_of(const State& state, const Cost& cost,
                                                 const PictureOptions& options);
/// What the arguments ask for of a picture in a format; the machine may be null.
[[nodiscard]] Result<PictureOptions> picture_options(const Arguments& arguments, const State& state,
                                                     const Machine* machine,
                                                     const SourceMap& sources,
                                                     drawing::Format format);
/// A state's picture as a file of the format, as the arguments ask for it.
[[nodiscard]] Result<std::string> picture_bytes(const Arguments& arguments, const State& state,
                                                const PictureOptions& options,
                                                drawing::Format format);
/// What a step changed of what is moved, and of what the kernel that holds most holds.
[[nodiscard]] std::vector<drawing::CostChange> changed_costs(const Cost& before, const Cost& after);
/// `l1`, `l2`, or the level's name where figures call it so.
[[nodiscard]] std::string level_title(Level level);
/// Columns of a terminal in points.
[[nodiscard]] double columns(int count);
/// The drawing in box-drawing characters, as wide as the terminal.
[[nodiscard]] std::string terminal_picture(const State& state, const Cost& cost, bool color);
/// The cost of a state, expanded first; with the kernels that its derivation asks for where a
/// machine is given that they are for.
[[nodiscard]] Result<Cost> cost_of_state(const State& state, const Machine* machine = nullptr);

/// Costs of the states of a derivation in turn, with their kernels for a machine: what a step
/// leaves alone is not costed again.
class CostOfSteps {
public:
    explicit CostOfSteps(Machine machine) : machine_(std::move(machine)) {}
    [[nodiscard]] Result<Cost> operator()(const State& state);

private:
    struct Known {
        Region region;
        schedule::RegionSchedule schedule;  ///< what is asked for of it
        RegionCost cost;
    };
    Machine machine_;
    std::optional<State> last_;
    std::vector<Known> known_;  ///< regions of last_
};

}  // namespace napkin::cli
