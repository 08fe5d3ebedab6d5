#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/messages.h"
#include "cli/picture.h"
#include "cli/session.h"
#include "cli/tile_listing.h"

namespace napkin::cli {
namespace {

using drawing::Format;

/// What the arguments ask for, in points.
Result<PictureOptions> options_of(const Arguments& arguments, const State& state, Format format,
                                  std::string title) {
    PictureOptions options;
    options.title = std::move(title);
    if (format == Format::Text) {
        options.medium = drawing::Medium::Terminal;
        options.max_width = columns(kColumns);
    }
    if (arguments.width > 0) options.max_width = arguments.width / drawing::units_in_point(format);
    if (arguments.region.empty()) return options;
    const auto region = find_region(state, arguments.region);
    if (const NotApplicable* none = std::get_if<NotApplicable>(&region))
        return Diagnostics{{unknown_region(none->reason, none->help)}};
    options.kernel = std::get<std::size_t>(region);
    return options;
}

std::optional<Diagnostics> draw_state(const Arguments& arguments, const State& state,
                                      const std::string& title, const std::string& path) {
    const Result<Format> format = drawing::format_of(path);
    if (!format) return format.error();
    const Result<PictureOptions> options = options_of(arguments, state, *format, title);
    if (!options) return options.error();
    const Result<Cost> cost = cost_of_state(state);
    if (!cost) return cost.error();
    const Result<std::string> bytes =
        drawing::render_canvas(picture_of(state, *cost, *options), *format);
    if (!bytes) return bytes.error();
    if (const auto failure = write_data(path, *bytes)) return Diagnostics{{*failure}};
    return std::nullopt;
}

std::optional<Diagnostics> draw_tiles(const State& state, const SourceMap& sources,
                                      const std::string& path) {
    const Result<Format> format = drawing::format_of(path);
    if (!format) return format.error();
    const Result<TileProgram> program = expand(state, OpaqueBoxes::Keep);
    if (!program) return program.error();
    const Result<Cost> cost = cost_of(*program);
    if (!cost) return cost.error();
    const drawing::Canvas canvas = drawing::draw_listings(listings_of(*program, *cost, sources));
    const Result<std::string> bytes = drawing::render_canvas(canvas, *format);
    if (!bytes) return bytes.error();
    if (const auto failure = write_data(path, *bytes)) return Diagnostics{{*failure}};
    return std::nullopt;
}

/// `out/step.svg` with 3: `out/step-03.svg`.
std::string numbered(const std::string& path, std::size_t number) {
    const std::size_t dot = path.rfind('.');
    const std::string digits = (number < 10 ? "0" : "") + std::to_string(number);
    return path.substr(0, dot) + "-" + digits + path.substr(dot);
}

Result<int> draw_steps(const Arguments& arguments, const Loaded& loaded) {
    const std::string& path = arguments.output;
    if (const Result<Format> format = drawing::format_of(path); !format) return format.error();
    State state = initial_state(loaded.plain);
    std::string title = loaded.plain.name;
    for (std::size_t i = 0; i <= loaded.state.steps.size(); ++i) {
        if (i > 0) {
            Command command = loaded.state.steps[i - 1].command;
            command.comment.clear();
            title = print(command);
            Outcome outcome = apply(state, command);
            invariant(std::holds_alternative<State>(outcome), "a replayed step applies no more");
            state = std::get<State>(std::move(outcome));
        }
        if (const auto failure = draw_state(arguments, state, title, numbered(path, i)))
            return *failure;
    }
    return kOk;
}

/// Without a file: in the terminal.
Result<int> draw_here(const Arguments& arguments, const State& state) {
    Result<PictureOptions> options = options_of(arguments, state, Format::Text, "");
    if (!options) return options.error();
    if (arguments.width == 0) options->max_width = columns(terminal_width());
    const Result<Cost> cost = cost_of_state(state);
    if (!cost) return cost.error();
    const drawing::Canvas picture = picture_of(state, *cost, *options);
    print_data(drawing::render_text(picture, wants_color(1)) + "\n");
    return kOk;
}

}  // namespace

Result<int> run_draw(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    if (arguments.output.empty()) return draw_here(arguments, loaded->state);
    if (arguments.tile) {
        if (const auto failure = draw_tiles(loaded->state, context.sources, arguments.output))
            return *failure;
        return kOk;
    }
    if (arguments.steps) return draw_steps(arguments, *loaded);
    if (const auto failure =
            draw_state(arguments, loaded->state, loaded->state.diagram.name, arguments.output))
        return *failure;
    return kOk;
}

}  // namespace napkin::cli
