#include "tests/judged/recorded.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "derive/tile_program.h"
#include "diagrams/check.h"
#include "perfmodel/kernel_choice.h"
#include "schedule/requests.h"

namespace napkin::test {
namespace {

using Json = nlohmann::json;
using SizesByName = std::map<std::string, std::int64_t>;

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    invariant(file.good(), "there is no " + path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A derivation and its diagram: that of the longest name that the derivation's begins with.
struct Files {
    std::filesystem::path diagram;
    std::filesystem::path derivation;
};
Files files_of(const std::string& workload, const std::vector<std::filesystem::path>& folders) {
    for (const std::filesystem::path& folder : folders) {
        const std::filesystem::path derivation = folder / (workload + ".drv");
        if (!std::filesystem::exists(derivation)) continue;
        for (std::string name = workload; !name.empty();
             name.resize(name.rfind('_') == std::string::npos ? 0 : name.rfind('_'))) {
            if (std::filesystem::exists(folder / (name + ".ncd")))
                return {folder / (name + ".ncd"), derivation};
            for (const std::filesystem::path& other : folders)
                if (std::filesystem::exists(other / (name + ".ncd")))
                    return {other / (name + ".ncd"), derivation};
        }
    }
    throw InternalError("there is no derivation " + workload);
}

std::filesystem::path diagram_of(const std::string& name) {
    for (const char* folder : {NAPKIN_BENCHMARKS_DIR, NAPKIN_EXAMPLES_DIR})
        if (const auto path = std::filesystem::path(folder) / (name + ".ncd");
            std::filesystem::exists(path))
            return path;
    throw InternalError("there is no diagram " + name);
}

/// What the model knows of the kernels of a diagram's derivation, made for a target; of one tile a
/// block unless the derivation says otherwise.
std::vector<KernelWork> kernels_of(const std::filesystem::path& diagram,
                                   const std::string& derivation, const SizesByName& sizes,
                                   const std::string& target) {
    SourceMap sources;
    const std::uint32_t file = sources.add("derivation", derivation);
    const Result<std::vector<Command>> commands = parse_derivation(sources, file);
    invariant(commands.has_value(), derivation + " does not parse");
    Sizes all = sizes_in(*commands);
    for (const auto& [name, size] : sizes) all[name] = size;
    const Result<Checked> checked = load_diagram(sources, "diagram", text_of(diagram), all);
    invariant(checked.has_value(), diagram.string() + " is no diagram");
    const Result<State> state = replay(checked->diagram, *commands);
    invariant(state.has_value(), derivation + " does not apply");
    const Result<TileProgram> program = expand(*state);
    invariant(program.has_value(), derivation + " does not expand");
    Result<Cost> cost = cost_of(*program);
    invariant(cost.has_value(), derivation + " has no cost");
    const auto requests = schedule::requests_of(*state);
    invariant(requests.has_value(), derivation + " asks for what there is not");
    std::vector<KernelWork> kernels;
    for (std::size_t i = 0; i < program->regions.size(); ++i) {
        KernelRequest request{target, {}, {}};
        if (const auto asked = requests->find(program->regions[i].name); asked != requests->end())
            request.schedule = asked->second.schedule;
        add_work(program->regions[i], request, cost->regions[i]);
        if (cost->regions[i].work && cost->regions[i].work->choices.persistent.value_or(false) &&
            !request.schedule.persistent) {
            request.schedule.persistent = false;
            add_work(program->regions[i], request, cost->regions[i]);
        }
        invariant(cost->regions[i].work.has_value(),
                  diagram.string() + " has no kernel of " + target + ": " + derivation);
        kernels.push_back(*cost->regions[i].work);
    }
    return kernels;
}

std::string group_of(const std::string& workload, bool is_example, const std::string& target) {
    if (target == "simt") return "simt";
    if (!is_example && (workload == "attention" || workload == "attention_causal"))
        return "attention";
    if (workload == "matmul") return "products";
    if (workload == "softmax" || workload == "rmsnorm" || workload == "layernorm") return "rows";
    return "fused, variants, split";
}

/// FNV-1a, of which one bit decides.
bool is_held_out(const SizesByName& sizes) {
    std::uint64_t hash = 14695981039346656037U;
    std::string text;
    for (const auto& [name, size] : sizes) text += name + "=" + std::to_string(size) + ",";
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return hash % 2 == 0;
}

/// Lines of the newest file whose name ends so.
std::vector<Json> newest(const std::string& ending) {
    std::filesystem::path latest;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_RESULTS_DIR))
        if (entry.path().filename().string().ends_with(ending) && entry.path() > latest)
            latest = entry.path();
    invariant(!latest.empty(), "nothing is recorded as " + ending);
    std::vector<Json> lines;
    std::istringstream text(text_of(latest));
    for (std::string line; std::getline(text, line);)
        if (!line.empty()) lines.push_back(Json::parse(line));
    return lines;
}

/// The cases of bench/examples-on-gpu: `name ragged-sizes sizes`, one a line between quotes.
std::vector<std::pair<std::string, SizesByName>> example_cases() {
    const std::filesystem::path script =
        std::filesystem::path(NAPKIN_RESULTS_DIR).parent_path() / "examples-on-gpu";
    std::istringstream text(text_of(script));
    std::vector<std::pair<std::string, SizesByName>> cases;
    bool inside = false;
    for (std::string line; std::getline(text, line);) {
        if (line == "cases='") {
            inside = true;
            continue;
        }
        if (line == "'") inside = false;
        std::string name;
        std::string ragged;
        std::string sizes;
        if (!inside || !(std::istringstream(line) >> name >> ragged >> sizes)) continue;
        SizesByName by_name;
        std::istringstream parts(sizes);
        for (std::string part; std::getline(parts, part, ',');)
            by_name[part.substr(0, part.find('='))] = std::stoll(part.substr(part.find('=') + 1));
        cases.emplace_back(name, by_name);
    }
    return cases;
}

Recorded recorded(const std::string& workload, const SizesByName& sizes, double microseconds,
                  const Files& files, bool is_example, const std::string& target) {
    return {group_of(workload, is_example, target),
            workload,
            sizes,
            target,
            microseconds,
            kernels_of(files.diagram, text_of(files.derivation), sizes, target),
            is_held_out(sizes)};
}

}  // namespace

std::string Recorded::text() const {
    std::string text = workload;
    for (const auto& [name, size] : sizes) text += " " + name + "=" + std::to_string(size);
    return text;
}

std::vector<Recorded> recorded_on_h200() {
    std::vector<Recorded> all;
    for (const Json& line : newest("-sm_80-h200.jsonl"))
        if (line.contains("napkin_us"))
            all.push_back(
                recorded(line["workload"], line["sizes"].get<SizesByName>(), line["napkin_us"],
                         files_of(line["workload"], {NAPKIN_BENCHMARKS_DIR, NAPKIN_EXAMPLES_DIR}),
                         false, "sm_80"));
    const auto add = [&](const Json& line) {
        if (!line.contains("us")) return;
        const std::string name = line["diagram"];
        const auto sizes = line["sizes"].get<SizesByName>();
        std::string steps;
        std::string made = line["target"];
        for (const std::string step : line["steps"]) {
            steps += step + "\n";
            made += "; " + step;
        }
        all.push_back({group_of(name, false, line["target"]), name, sizes, made, line["us"],
                       kernels_of(diagram_of(name), steps, sizes, line["target"]),
                       is_held_out(sizes)});
    };
    for (const Json& line : newest("-model-h200.jsonl")) add(line);
    for (const Json& line : newest("-tiles-h200.jsonl")) add(line);
    const auto cases = example_cases();
    std::size_t at = 0;
    for (const Json& line : newest("-examples-h200.jsonl")) {
        if (!line.contains("times")) continue;
        const auto& [name, sizes] = cases.at(at++);
        all.push_back(recorded(name, sizes, line["times"][0]["median_us"],
                               files_of(name, {NAPKIN_EXAMPLES_DIR}), true, line["target"]));
        // Whether the derivation is still the one that was measured.
        double moved = 0;
        for (const KernelWork& kernel : all.back().kernels) moved += kernel.values;
        if (moved != line["modelled"]["block"]["H"].get<double>()) all.pop_back();
    }
    return all;
}

}  // namespace napkin::test
