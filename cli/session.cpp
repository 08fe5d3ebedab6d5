#include "cli/session.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "cli/console.h"
#include "cli/files.h"
#include "cli/messages.h"

namespace napkin::cli {

Result<std::uint32_t> load_text(SourceMap& sources, const std::string& path) {
    Result<std::string> text = text_of_file(path);
    if (!text) return text.error();
    return sources.add(path, std::move(text).value());
}

namespace {

/// `q=8192`; false if it is not that.
bool read_setting(std::string_view text, Settings& settings) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + equals + 1, end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end || std::isnan(value)) return false;
    settings[std::string(text.substr(0, equals))] = value;
    return true;
}

}  // namespace

Result<Settings> settings_of_sets(const std::vector<std::string>& sets) {
    Settings settings;
    for (const std::string& text : sets) {
        std::string_view rest = text;
        for (;;) {
            const std::size_t comma = rest.find(',');
            const std::string setting(rest.substr(0, comma));
            if (!read_setting(setting, settings))
                return malformed_set(setting.empty() ? text : setting);
            if (comma == std::string_view::npos) break;
            rest.remove_prefix(comma + 1);
        }
    }
    return settings;
}

std::optional<Diagnostic> refuse_repeated_sets(const std::vector<std::string>& sets) {
    std::map<std::string, std::string> given;  // by name
    for (const std::string& text : sets) {
        std::istringstream settings(text);
        for (std::string setting; std::getline(settings, setting, ',');) {
            const auto [first, fresh] =
                given.emplace(setting.substr(0, setting.find('=')), setting);
            if (!fresh && first->second != setting) return repeated_set(first->second, setting);
        }
    }
    return std::nullopt;
}

std::string value_text(double value) {
    char buffer[400];  // a whole number is written out
    const auto end =
        value == std::floor(value) && std::abs(value) < kMostWhole
            ? std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed)
            : std::to_chars(buffer, buffer + sizeof buffer, value);
    return std::string(buffer, end.ptr);
}

namespace {

std::vector<syntax::AxisItem*> axis_items(syntax::File& file) {
    std::vector<syntax::AxisItem*> items;
    for (syntax::Line& line : file.lines) {
        if (auto* declared = std::get_if<syntax::AxisLine>(&line.body))
            for (syntax::AxisItem& item : declared->axes) items.push_back(&item);
        if (auto* woven = std::get_if<syntax::WeaveLine>(&line.body))
            for (syntax::AxisItem& item : woven->axes) items.push_back(&item);
    }
    return items;
}

std::map<std::string, syntax::ParamLine*> parameters_of(syntax::File& file) {
    std::map<std::string, syntax::ParamLine*> parameters;
    for (syntax::Line& line : file.lines)
        if (auto* parameter = std::get_if<syntax::ParamLine>(&line.body))
            parameters[parameter->param.name.text] = parameter;
    return parameters;
}

/// A number as the language writes it, at the place of what it replaces.
syntax::Expression constant(double value, Span span) {
    syntax::Expression expression;
    expression.span = span;
    if (std::signbit(value))
        expression.node = syntax::Unary{"-", {constant(-value, span)}};
    else if (std::isinf(value))
        expression.node = syntax::Reference{{"inf", span}};
    else
        expression.node = syntax::Literal{value, value == std::floor(value) && value < kMostWhole};
    return expression;
}

/// As if the axes were declared `dynamic`: the checker then proves what it proves for every size.
std::optional<Diagnostic> make_dynamic(syntax::File& file, const std::vector<std::string>& axes) {
    const std::vector<syntax::AxisItem*> items = axis_items(file);
    for (const std::string& axis : axes) {
        const auto item =
            std::find_if(items.begin(), items.end(),
                         [&](const syntax::AxisItem* known) { return known->name.text == axis; });
        if (item == items.end()) {
            std::vector<std::string> known;
            for (const syntax::AxisItem* other : items) known.push_back(other->name.text);
            return unknown_dynamic_axis(axis, known);
        }
        (*item)->dynamic = true;
    }
    return std::nullopt;
}

}  // namespace

Result<Sizes> take_settings(syntax::File& file, const Settings& settings) {
    const std::map<std::string, syntax::ParamLine*> parameters = parameters_of(file);
    std::vector<std::string> known;
    for (const syntax::AxisItem* item : axis_items(file)) known.push_back(item->name.text);
    std::vector<std::string> names;
    for (const auto& [name, line] : parameters) names.push_back(name);
    Diagnostics errors;
    Sizes sizes;
    for (const auto& [name, value] : settings) {
        const bool is_axis = std::find(known.begin(), known.end(), name) != known.end();
        const auto parameter = parameters.find(name);
        const ElementType type = parameter == parameters.end()
                                     ? ElementType::F32
                                     : parameter->second->param.type.value_or(ElementType::F32);
        if (!is_floating(type) && round_to(type, value) != value)
            errors.add(set_no_value(name, std::string(name_of(type)), value_text(value)));
        else if (parameter != parameters.end())
            parameter->second->value = constant(value, parameter->second->value.span);
        else if (!is_axis)
            errors.add(unknown_setting(name, known, names));
        else if (value < 1 || value != std::floor(value) || value >= kMostWhole)
            errors.add(set_no_size(name, value < kMostWhole ? value_text(value) : "2^53 or more"));
        else
            sizes[name] = static_cast<std::int64_t>(value);
    }
    if (errors.has_errors()) return errors;
    return sizes;
}

Result<syntax::File> parse_diagram(const SourceMap& sources, std::uint32_t file) {
    Result<syntax::File> tree = syntax::parse(sources, file);
    const std::string& path = sources.files[file].name;
    if (!tree && path.ends_with(".drv")) return Diagnostics{{derivation_for_diagram(path)}};
    return tree;
}

Result<SetFile> parse_with_settings(SourceMap& sources, std::uint32_t file,
                                    const Settings& settings) {
    Result<syntax::File> tree = parse_diagram(sources, file);
    if (!tree) return tree.error();
    Result<Sizes> sizes = take_settings(*tree, settings);
    if (!sizes) return sizes.error();
    return SetFile{std::move(tree).value(), std::move(sizes).value()};
}

Result<Checked> check_text(Context& context, std::uint32_t file, const Settings& settings) {
    Result<SetFile> set = parse_with_settings(context.sources, file, settings);
    if (!set) return set.error();
    if (const auto wrong = make_dynamic(set->tree, context.arguments.dynamic)) return *wrong;
    return check(context.sources, set->tree, set->sizes);
}

Result<Checked> load_checked(Context& context, const Settings& settings) {
    const Result<std::uint32_t> file = load_text(context.sources, context.arguments.file);
    if (!file) return file.error();
    return check_text(context, *file, settings);
}

}  // namespace napkin::cli
