#include "schedule/requests.h"

#include <toml++/toml.h>

#include <charconv>

#include "diagrams/toml_text.h"
#include "schedule/messages.h"

namespace napkin::schedule {
namespace {

class ScheduleReader {
public:
    ScheduleReader(const SourceMap& sources, std::uint32_t file) : sources_(sources), file_(file) {}

    Result<std::vector<Request>> read(const toml::table& root) {
        for (const auto& [key, node] : root) {
            Request request;
            request.region = std::string(key.str());
            request.place = place(key.source());
            if (const toml::table* table = node.as_table())
                read(*table, request);
            else
                problems_.add(messages::no_region_table(request.place, request.region));
            requests_.push_back(std::move(request));
        }
        if (problems_.has_errors()) return problems_;
        return std::move(requests_);
    }

private:
    [[nodiscard]] Span place(const toml::source_region& region) const {
        return toml_place(sources_.files[file_].text, region, file_);
    }

    void read(const toml::table& table, Request& request) {
        for (const auto& [key, node] : table) {
            const std::string field(key.str());
            const toml::table* named = node.as_table();
            if (named == nullptr)
                take({field, ""}, node, place(key.source()), request);
            else
                for (const auto& [of, value] : *named)
                    take({field, std::string(of.str())}, value, place(of.source()), request);
        }
    }

    void take(SettingName name, const toml::node& node, Span span, Request& request) {
        // Of neither type: what is no whole number is no flag.
        SettingValue value = std::int64_t{-1};
        if (const auto number = node.value_exact<std::int64_t>())
            value = *number;
        else if (const auto flag = node.value_exact<bool>())
            value = *flag;
        if (const auto wrong = set(request.schedule, {name, value}))
            problems_.add(messages::wrong_choice(span, *wrong));
        request.places[std::move(name)] = span;
    }

    const SourceMap& sources_;
    std::uint32_t file_;
    std::vector<Request> requests_;
    Diagnostics problems_;
};

SettingValue value_of(const std::string& text) {
    if (text == "true" || text == "false") return text == "true";
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && rest == end ? number : -1;
}

/// The choice of one `schedule` command.
Result<Request> request_of(const Command& command) {
    if (command.names.size() != 1 || command.value.empty())
        return messages::wrong_choice(command.span, {"`schedule` takes a choice and its value",
                                                     "write it as `schedule stages = 3 in O`"});
    Request request;
    request.region = command.in;
    request.place = command.span;
    const SettingName name{command.names.front(), command.of};
    if (const auto wrong = set(request.schedule, {name, value_of(command.value)}))
        return messages::wrong_choice(command.span, *wrong);
    request.places[name] = command.span;
    return request;
}

}  // namespace

Result<std::vector<Request>> read_schedule(const SourceMap& sources, std::uint32_t file) {
    const std::string& text = sources.files[file].text;
    try {
        const toml::table root = toml::parse(text, sources.files[file].name);
        return ScheduleReader(sources, file).read(root);
    } catch (const toml::parse_error& error) {
        return messages::schedule_syntax(toml_place(text, error.source(), file),
                                         std::string(error.description()));
    }
}

Diagnostics wrong_with(const Command& command) {
    if (command.rule != "schedule") return {};
    const Result<Request> request = request_of(command);
    return request ? Diagnostics{} : request.error();
}

Result<std::map<std::string, Request>> requests_of(const State& state,
                                                   const std::vector<Request>& others) {
    std::vector<Request> requests;
    Diagnostics problems;
    for (const napkin::Step& step : state.steps) {
        if (step.command.rule != "schedule") continue;
        Result<Request> request = request_of(step.command);
        if (!request) return request.error();
        requests.push_back(std::move(request).value());
    }
    const std::size_t own = requests.size();
    requests.insert(requests.end(), others.begin(), others.end());
    std::map<std::string, Request> by_region;
    std::map<std::string, std::string> tables;  // of the others, by the region that they are for
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const Request& request = requests[i];
        const auto found = find_region(state, request.region);
        if (const NotApplicable* why = std::get_if<NotApplicable>(&found)) {
            problems.add(messages::no_region(request.place, *why));
            continue;
        }
        const std::string name =
            region_name(state.diagram, state.relabelling.regions[std::get<std::size_t>(found)]);
        if (i >= own && !tables.emplace(name, request.region).second) {
            problems.add(messages::two_tables(request.place, name, tables.at(name)));
            continue;
        }
        Request& merged = by_region[name];
        merged.region = name;
        merged.place = request.place;
        for (const Setting& setting : settings_of(request.schedule)) {
            static_cast<void>(set(merged.schedule, setting));
            const auto place = request.places.find(setting.name);
            if (place != request.places.end()) merged.places[setting.name] = place->second;
        }
    }
    if (problems.has_errors()) return problems;
    return by_region;
}

}  // namespace napkin::schedule
