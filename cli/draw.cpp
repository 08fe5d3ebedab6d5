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
Result<PictureOptions> options_of(const Context& context, const State& state, Format format) {
    const Arguments& arguments = context.arguments;
    PictureOptions options;
    options.sources = &context.sources;
    options.title = state.diagram.name;
    if (format == Format::Text) {
        options.medium = drawing::Medium::Terminal;
        options.title.clear();
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

std::optional<Diagnostics> write_picture(const Arguments& arguments, const drawing::Canvas& canvas,
                                         const std::string& path) {
    const Result<Format> format = drawing::format_of(path);
    if (!format) return format.error();
    const auto theme = drawing::theme_named(arguments.theme);
    invariant(theme.has_value(), "the arguments know the themes");
    const Result<std::string> bytes = drawing::render_canvas(canvas, *format, *theme);
    if (!bytes) return bytes.error();
    if (const auto failure = write_data(path, *bytes)) return Diagnostics{{*failure}};
    return std::nullopt;
}

/// The state of a diagram; `step` led there.
std::optional<Diagnostics> draw_state(const Context& context, const State& state,
                                      const std::string& step, const std::string& path) {
    const Result<Format> format = drawing::format_of(path);
    if (!format) return format.error();
    Result<PictureOptions> options = options_of(context, state, *format);
    if (!options) return options.error();
    if (!step.empty()) options->title = options->step = step;
    const Result<Cost> cost = cost_of_state(state);
    if (!cost) return cost.error();
    const Result<drawing::Canvas> canvas = picture_of(state, *cost, *options);
    if (!canvas) return canvas.error();
    return write_picture(context.arguments, *canvas, path);
}

std::optional<Diagnostics> draw_tiles(const Context& context, const State& state) {
    const Result<TileProgram> program = expand(state, OpaqueBoxes::Keep);
    if (!program) return program.error();
    const Result<Cost> cost = cost_of(*program);
    if (!cost) return cost.error();
    return write_picture(context.arguments,
                         drawing::draw_listings(listings_of(*program, *cost, context.sources)),
                         context.arguments.output);
}

/// `out/step.svg` with 3: `out/step-03.svg`.
std::string numbered(const std::string& path, std::size_t number) {
    const std::size_t dot = path.rfind('.');
    const std::string digits = (number < 10 ? "0" : "") + std::to_string(number);
    return path.substr(0, dot) + "-" + digits + path.substr(dot);
}

Result<int> draw_steps(const Context& context, const Loaded& loaded) {
    const std::string& path = context.arguments.output;
    if (const Result<Format> format = drawing::format_of(path); !format) return format.error();
    State state = initial_state(loaded.plain);
    std::string step;
    for (std::size_t i = 0; i <= loaded.state.steps.size(); ++i) {
        if (i > 0) {
            Command command = loaded.state.steps[i - 1].command;
            command.comment.clear();
            step = print(command);
            Outcome outcome = apply(state, command);
            invariant(std::holds_alternative<State>(outcome), "a replayed step applies no more");
            state = std::get<State>(std::move(outcome));
        }
        if (const auto failure = draw_state(context, state, step, numbered(path, i)))
            return *failure;
    }
    return kOk;
}

/// Without a file: in the terminal.
Result<int> draw_here(const Context& context, const State& state) {
    Result<PictureOptions> options = options_of(context, state, Format::Text);
    if (!options) return options.error();
    if (context.arguments.width == 0) options->max_width = columns(terminal_width());
    const Result<Cost> cost = cost_of_state(state);
    if (!cost) return cost.error();
    const Result<drawing::Canvas> picture = picture_of(state, *cost, *options);
    if (!picture) return picture.error();
    print_data(drawing::render_text(*picture, wants_color(1)) + "\n");
    return kOk;
}

std::optional<Diagnostics> draw_file(const Context& context, const Loaded& loaded) {
    if (context.arguments.tile) return draw_tiles(context, loaded.state);
    return draw_state(context, loaded.state, "", context.arguments.output);
}

}  // namespace

Result<int> run_draw(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    if (arguments.output.empty()) return draw_here(context, loaded->state);
    if (arguments.steps && !arguments.tile) return draw_steps(context, *loaded);
    if (const auto failure = draw_file(context, *loaded)) return *failure;
    return kOk;
}

}  // namespace napkin::cli
