#include <algorithm>
#include <sstream>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/machines.h"
#include "cli/messages.h"
#include "cli/picture.h"
#include "cli/session.h"
#include "cli/tile_listing.h"
#include "diagrams/drawing/changes.h"

namespace napkin::cli {
namespace {

using drawing::Format;

constexpr double kPageWidth = 760;  // in points

/// A drawing of the command line: what was typed, and the machine where one was.
struct Drawing {
    const Context& context;
    std::optional<Machine> machine;
};

Result<PictureOptions> options_of(const Drawing& drawing, const State& state, Format format) {
    return picture_options(drawing.context.arguments, state,
                           drawing.machine ? &*drawing.machine : nullptr, drawing.context.sources,
                           format);
}

std::optional<Diagnostics> write_picture(const Arguments& arguments, const drawing::Canvas& canvas,
                                         const std::string& path) {
    const Result<Format> format = drawing::format_of(path);
    if (!format) return format.error();
    const auto theme = drawing::theme_named(arguments.theme);
    const auto font = drawing::font_named(arguments.font);
    invariant(theme && font, "the arguments know themes and fonts");
    const Result<std::string> bytes = drawing::render_canvas(canvas, *format, *theme, *font);
    if (!bytes) return bytes.error();
    if (const auto failure = write_data(path, *bytes)) return Diagnostics{{*failure}};
    return std::nullopt;
}

std::optional<Diagnostics> draw_state(const Drawing& drawing, const State& state,
                                      const std::string& path) {
    const Result<Format> format = drawing::format_of(path);
    if (!format) return format.error();
    const Result<PictureOptions> options = options_of(drawing, state, *format);
    if (!options) return options.error();
    const Result<std::string> bytes =
        picture_bytes(drawing.context.arguments, state, *options, *format);
    if (!bytes) return bytes.error();
    if (const auto failure = write_data(path, *bytes)) return Diagnostics{{*failure}};
    return std::nullopt;
}

Result<std::vector<drawing::Listing>> listings_here(const Context& context, const State& state) {
    const Result<TileProgram> program = expand(state, OpaqueBoxes::Keep);
    if (!program) return program.error();
    const Result<Cost> cost = cost_of(*program);
    if (!cost) return cost.error();
    return listings_of(*program, *cost, context.sources);
}

/// In the columns that are asked for, else in so many.
Result<std::string> listing_in(const std::vector<drawing::Listing>& listings, int asked,
                               int columns) {
    std::string text =
        drawing::listing_text(listings, static_cast<std::size_t>(asked > 0 ? asked : columns));
    std::istringstream lines(text);
    int most = 0;
    for (std::string line; std::getline(lines, line);)
        most = std::max(most, static_cast<int>(drawing::columns_in(line)));
    if (asked > 0 && most > asked) return Diagnostics{{too_few_columns(asked, most)}};
    return text;
}

std::optional<Diagnostics> draw_tiles(const Context& context, const State& state) {
    const Arguments& arguments = context.arguments;
    const Result<Format> format = drawing::format_of(arguments.output);
    if (!format) return format.error();
    const auto listings = listings_here(context, state);
    if (!listings) return listings.error();
    const int width = arguments.width;
    if (*format != Format::Text) {
        const double points = width > 0 ? width / drawing::units_in_point(*format) : kPageWidth;
        return write_picture(arguments, drawing::draw_listings(*listings, points),
                             arguments.output);
    }
    const Result<std::string> text = listing_in(*listings, width, kColumns);
    if (!text) return text.error();
    if (const auto failure = write_data(arguments.output, *text)) return Diagnostics{{*failure}};
    return std::nullopt;
}

/// A picture a step on canvases of one size, in which what the step changed stands out.
Result<std::vector<drawing::Canvas>> pictures_of_steps(const Drawing& drawing, const Loaded& loaded,
                                                       Format format) {
    std::vector<drawing::Canvas> plain;
    std::vector<drawing::Canvas> marked;
    std::optional<Cost> last;
    State state = initial_state(loaded.plain);
    for (std::size_t i = 0; i <= loaded.state.steps.size(); ++i) {
        std::string step;
        if (i > 0) {
            Command command = loaded.state.steps[i - 1].command;
            command.comment.clear();
            Outcome outcome = apply(state, command);
            invariant(std::holds_alternative<State>(outcome), "a replayed step applies no more");
            state = std::get<State>(std::move(outcome));
            step = print(command);
        }
        Result<PictureOptions> options = options_of(drawing, state, format);
        if (!options) return options.error();
        if (!step.empty()) options->title = options->step = step;
        Result<Cost> cost = cost_of_state(state, options->machine);
        if (!cost) return cost.error();
        Result<drawing::Canvas> picture = picture_of(state, *cost, *options);
        if (!picture) return picture.error();
        marked.push_back(*picture);
        if (i > 0 && format != Format::Text)
            drawing::mark_changes(marked.back(), plain.back(), changed_costs(*last, *cost),
                                  options->max_width.value_or(drawing::DrawOptions{}.max_width));
        plain.push_back(std::move(*picture));
        last = std::move(*cost);
    }
    if (format != Format::Text) drawing::share_size(marked);
    return marked;
}

/// `out/step.svg` with 3: `out/step-03.svg`.
std::string numbered(const std::string& path, std::size_t number) {
    const std::size_t dot = path.rfind('.');
    const std::string digits = (number < 10 ? "0" : "") + std::to_string(number);
    return path.substr(0, dot) + "-" + digits + path.substr(dot);
}

Result<int> draw_steps(const Drawing& drawing, const Loaded& loaded) {
    const std::string& path = drawing.context.arguments.output;
    const Result<Format> format = drawing::format_of(path);
    if (!format) return format.error();
    const auto pictures = pictures_of_steps(drawing, loaded, *format);
    if (!pictures) return pictures.error();
    for (std::size_t i = 0; i < pictures->size(); ++i)
        if (const auto failure =
                write_picture(drawing.context.arguments, (*pictures)[i], numbered(path, i)))
            return *failure;
    return kOk;
}

/// Every step in the terminal.
Result<int> draw_steps_here(const Drawing& drawing, const Loaded& loaded) {
    const auto pictures = pictures_of_steps(drawing, loaded, Format::Text);
    if (!pictures) return pictures.error();
    for (const drawing::Canvas& picture : *pictures)
        print_data(drawing::render_text(picture, wants_color(1)) + "\n");
    return kOk;
}

/// Without a file: in the terminal.
Result<int> draw_here(const Drawing& drawing, const State& state) {
    const Context& context = drawing.context;
    if (context.arguments.tile) {
        const auto listings = listings_here(context, state);
        if (!listings) return listings.error();
        const Result<std::string> text =
            listing_in(*listings, context.arguments.width, terminal_width());
        if (!text) return text.error();
        print_data(*text);
        return kOk;
    }
    Result<PictureOptions> options = options_of(drawing, state, Format::Text);
    if (!options) return options.error();
    if (context.arguments.width == 0) options->max_width = columns(terminal_width());
    const Result<Cost> cost = cost_of_state(state, options->machine);
    if (!cost) return cost.error();
    const Result<drawing::Canvas> picture = picture_of(state, *cost, *options);
    if (!picture) return picture.error();
    print_data(drawing::render_text(*picture, wants_color(1)) + "\n");
    return kOk;
}

std::optional<Diagnostics> draw_file(const Drawing& drawing, const Loaded& loaded) {
    if (drawing.context.arguments.tile) return draw_tiles(drawing.context, loaded.state);
    return draw_state(drawing, loaded.state, drawing.context.arguments.output);
}

}  // namespace

Result<int> run_draw(Context& context) {
    const Arguments& arguments = context.arguments;
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    Drawing drawing{context, std::nullopt};
    if (!arguments.machine.empty()) {
        Result<Machine> machine = take_machine(context.sources, arguments.machine);
        if (!machine) return machine.error();
        drawing.machine = std::move(*machine);
    }
    if (arguments.output.empty() && arguments.steps && !arguments.tile)
        return draw_steps_here(drawing, *loaded);
    if (arguments.output.empty()) return draw_here(drawing, loaded->state);
    if (arguments.steps && !arguments.tile) return draw_steps(drawing, *loaded);
    if (const auto failure = draw_file(drawing, *loaded)) return *failure;
    return kOk;
}

}  // namespace napkin::cli
