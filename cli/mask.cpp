// mask: what the masks of a derivation leave to compute, in words, pictures and the forms of
// others.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/mask_export.h"
#include "cli/mask_text.h"
#include "cli/messages.h"
#include "cli/session.h"
#include "cli/tensor_files.h"
#include "derive/tile_program.h"
#include "diagrams/checked.h"
#include "diagrams/compare.h"
#include "diagrams/drawing/render.h"
#include "diagrams/graphviz/render_canvas.h"
#include "perfmodel/cost.h"

namespace napkin::cli {
namespace {

/// As `cost` says.
Result<MaskBytes> mask_bytes_of(const Diagram& plain, const State& state, std::size_t region) {
    const Region& kernel = state.relabelling.regions[region];
    const Result<RegionProgram> program = expand(state, kernel, OpaqueBoxes::Keep);
    if (!program) return program.error();
    const Result<RegionCost> cost = cost_of(*program);
    if (!cost) return cost.error();
    MaskBytes bytes;
    if (const auto block = cost->levels.find(Level::Block); block != cost->levels.end())
        bytes.total = block->second.transferred.bytes();
    // Parts that steps made are taken one by one too, and are no heads.
    for (const Group& group : kernel.groups) {
        const Axis& axis = state.diagram[group.axis];
        if (axis.woven && find_axis(plain, axis.name))
            bytes.heads = saturating_multiply(bytes.heads, axis.extent);
    }
    return bytes;
}

bool is_matrix(const std::string& path) {
    return path.ends_with(".npy") || holds_rows(path);
}

Result<int> written(const Result<std::string>& text, const std::string& path) {
    if (!text) return text.error();
    if (path.empty()) {
        print_data(*text);
        return kOk;
    }
    if (const auto failure = write_data(path, *text)) return Diagnostics{{*failure}};
    return kOk;
}

/// The options that say nothing of a matrix, those that were given.
std::vector<std::string> options_of_diagrams(const Arguments& arguments) {
    std::vector<std::string> given;
    if (!arguments.derivation.empty()) given.push_back("--drv");
    if (!arguments.sets.empty()) given.push_back("--set");
    if (!arguments.inputs.empty()) given.push_back("--input");
    if (!arguments.statement.empty()) given.push_back("--statement");
    if (!arguments.region.empty()) given.push_back("--region");
    if (arguments.json) given.push_back("--json");
    const Result<drawing::Format> format = drawing::format_of(arguments.output);
    if (format && *format != drawing::Format::Text) given.push_back("-o " + arguments.output);
    return given;
}

/// Which rows of progressions a matrix is, or a diagram with such a mask.
Result<int> mask_of_matrix(const Arguments& arguments) {
    if (const auto given = options_of_diagrams(arguments); !given.empty())
        return Diagnostics{{option_of_a_diagram(given.front(), arguments.file)}};
    const Result<MaskMatrix> matrix = read_matrix(arguments.file);
    if (!matrix) return matrix.error();
    const bool is_rows = arguments.output.empty() || holds_rows(arguments.output);
    if (arguments.as.empty() && !is_rows)
        return Diagnostics{{mask_ending_unknown(arguments.output)}};
    if (arguments.as.empty() || arguments.as == "acsr")
        return written(compressed_text(*matrix, arguments.file), arguments.output);
    if (arguments.as != "ncd") return Diagnostics{{mask_form_unfit(arguments.as, arguments.file)}};
    if (arguments.output.empty()) return Diagnostics{{mask_folder_missing(arguments.as)}};
    const Result<std::string> text = import_matrix(*matrix, arguments.file, arguments.output);
    if (!text) return text.error();
    return kOk;
}

Result<int> write_form(const Arguments& arguments, const State& state, const MaskReport& report) {
    if (arguments.as == "acsr") return written(compressed_text(state, report), arguments.output);
    if (arguments.as == "flex") return written(mask_mod_text(state, report), arguments.output);
    if (arguments.as != "blocks")
        return Diagnostics{{mask_form_unfit(arguments.as, arguments.file)}};
    if (arguments.output.empty()) return Diagnostics{{mask_folder_missing(arguments.as)}};
    if (auto failure = write_block_lists(state, report, arguments.output)) return *failure;
    return kOk;
}

Result<int> draw_mask(const Arguments& arguments, const State& state, const MaskReport& report) {
    const Result<drawing::Format> format = drawing::format_of(arguments.output);
    if (!format) return format.error();
    if (*format == drawing::Format::Text)
        return written(mask_characters(state, report, kColumns), arguments.output);
    const Result<drawing::Canvas> canvas = mask_picture(state, report);
    if (!canvas) return canvas.error();
    return written(drawing::render_canvas(*canvas, *format), arguments.output);
}

/// What is said of masks, each once.
template <class Said>
std::vector<std::string> said_of(const std::vector<MaskReport>& reports, const Said& said) {
    std::vector<std::string> all;
    for (const MaskReport& report : reports)
        if (const std::string text = said(report);
            std::find(all.begin(), all.end(), text) == all.end())
            all.push_back(text);
    return all;
}

std::string statement_of(const MaskReport& report) {
    return report.statement;
}

/// The masks that `--statement` and `--region` leave.
Result<std::vector<MaskReport>> chosen(const Arguments& arguments, const State& state,
                                       const std::vector<MaskReport>& reports) {
    std::optional<std::size_t> region;
    if (!arguments.region.empty()) {
        const auto found = find_region(state, arguments.region);
        if (const NotApplicable* none = std::get_if<NotApplicable>(&found))
            return Diagnostics{{unknown_region(none->reason, none->help)}};
        region = std::get<std::size_t>(found);
    }
    std::vector<MaskReport> left;
    for (const MaskReport& report : reports)
        if ((arguments.statement.empty() || report.statement == arguments.statement) &&
            (!region || report.region == *region))
            left.push_back(report);
    if (left.empty())
        return Diagnostics{{no_such_mask(said_of(reports, [&](const MaskReport& report) {
            return report.statement + "` in kernel `" + kernel_of(state, report);
        }))}};
    return left;
}

/// Kernels that run one after another have the same mask once each.
bool same_mask(const MaskReport& a, const MaskReport& b) {
    return a.conditions == b.conditions && a.data == b.data && a.tilings == b.tilings &&
           a.queries == b.queries;
}

Result<int> write_one(const Arguments& arguments, const State& state,
                      const std::vector<MaskReport>& reports) {
    const MaskReport& report = reports.front();
    if (!std::all_of(reports.begin(), reports.end(),
                     [&](const MaskReport& other) { return same_mask(report, other); }))
        return Diagnostics{{several_masks(
            reports.size(), said_of(reports, statement_of),
            said_of(reports, [&](const MaskReport& each) { return kernel_of(state, each); }))}};
    if (report.counts.empty() && arguments.as != "flex") return *report.uncounted;
    return arguments.as.empty() ? draw_mask(arguments, state, report)
                                : write_form(arguments, state, report);
}

}  // namespace

Result<int> run_mask(Context& context) {
    const Arguments& arguments = context.arguments;
    if (is_matrix(arguments.file)) return mask_of_matrix(arguments);
    const Result<Loaded> loaded = load_state(context);
    if (!loaded) return loaded.error();
    const State& state = loaded->state;
    const Result<Tensors> inputs = read_inputs(arguments, loaded->plain);
    if (!inputs) return inputs.error();
    Result<std::vector<MaskReport>> reports =
        mask_reports(state, tensors_in(state.diagram, loaded->plain, *inputs));
    if (!reports) return reports.error();
    if (reports->empty()) return Diagnostics{{no_mask(state.diagram.name)}};
    reports = chosen(arguments, state, *reports);
    if (!reports) return reports.error();
    if (!arguments.as.empty() || !arguments.output.empty())
        return write_one(arguments, state, *reports);
    Json json{{"ok", true}, {"masks", Json::array()}};
    std::string text;
    for (const MaskReport& report : *reports) {
        const Result<MaskBytes> bytes = mask_bytes_of(loaded->plain, state, report.region);
        if (!bytes) return bytes.error();
        if (arguments.json)
            json["masks"].push_back(mask_json(state, report, *bytes));
        else
            text += mask_text(state, report, *bytes);
    }
    arguments.json ? print_data(text_of(json)) : print_lines(text);
    return kOk;
}

}  // namespace napkin::cli
