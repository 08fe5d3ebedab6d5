#include "tests/judged/recorded.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
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

/// A derivation and its diagram.
struct Files {
    std::filesystem::path diagram;
    std::filesystem::path derivation;
};

/// The diagram of the longest name that the workload's begins with.
std::filesystem::path diagram_of(std::string name,
                                 const std::vector<std::filesystem::path>& folders) {
    for (; !name.empty(); name.resize(name.rfind('_') == std::string::npos ? 0 : name.rfind('_')))
        for (const std::filesystem::path& folder : folders)
            if (std::filesystem::exists(folder / (name + ".ncd"))) return folder / (name + ".ncd");
    throw InternalError("there is no diagram " + name);
}

/// As bench/peers.py chooses: a target's own derivation first, and of those the one for these heads
/// and this many queries; of another type or with run-time sizes, that of the plain workload.
Files files_of(const std::string& workload, const SizesByName& sizes, const std::string& target) {
    const std::filesystem::path workloads = NAPKIN_BENCHMARKS_DIR;
    const std::filesystem::path examples = NAPKIN_EXAMPLES_DIR;
    const std::filesystem::path own = workloads / target;
    const auto size = [&](const char* axis, std::int64_t otherwise) {
        const auto found = sizes.find(axis);
        return found == sizes.end() ? otherwise : found->second;
    };
    const std::string heads = workload + "_d" + std::to_string(size("d", 0));
    std::map<std::int64_t, std::filesystem::path> found;
    const std::string prefix = heads + "_to_";
    if (std::filesystem::exists(own))
        for (const auto& entry : std::filesystem::directory_iterator(own))
            if (const std::string name = entry.path().stem(); name.starts_with(prefix))
                found[std::stoll(name.substr(prefix.size()))] = entry.path();
    std::vector<std::filesystem::path> derivations;
    for (const auto& [most, path] : found)
        if (size("q", 8192) <= most) derivations.push_back(path);
    const auto has_own = [&](const std::filesystem::path& folder) {
        return std::filesystem::exists(folder / (workload + ".drv"));
    };
    const auto folders = has_own(examples) && !has_own(workloads)
                             ? std::vector{examples, workloads}
                             : std::vector{workloads, examples};
    derivations.push_back(own / (heads + ".drv"));
    derivations.push_back(own / (workload + ".drv"));
    derivations.push_back(folders.front() / (workload + ".drv"));
    derivations.push_back(own / (workload.substr(0, workload.rfind('_')) + ".drv"));
    for (const std::filesystem::path& derivation : derivations)
        if (std::filesystem::exists(derivation)) return {diagram_of(workload, folders), derivation};
    throw InternalError("there is no derivation " + workload);
}

/// What the planner did not choose yet when a file was recorded: that blocks take several tiles,
/// share a multiprocessor, or save results under the products of their next tile.
struct Before {
    bool several_tiles = false;
    bool sharing = false;
    bool deferring = false;
};

/// What the model knows of the kernels of a diagram's derivation, made for a target, or each for
/// the best one where that is empty, as they were when that was recorded.
std::vector<KernelWork> kernels_of(const std::filesystem::path& diagram,
                                   const std::string& derivation, const SizesByName& sizes,
                                   const std::string& target, Before before) {
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
        KernelRequest request =
            target.empty() ? best_request("sm_90a", {}) : KernelRequest{target, {}, {}};
        if (const auto asked = requests->find(program->regions[i].name); asked != requests->end())
            request.schedule = asked->second.schedule;
        add_work(program->regions[i], request, cost->regions[i]);
        if (const std::optional<KernelWork> work = cost->regions[i].work) {
            if (before.several_tiles && work->choices.persistent.value_or(false) &&
                !request.schedule.persistent)
                request.schedule.persistent = false;
            if (before.sharing && work->choices.resident && !request.schedule.resident)
                request.schedule.resident = 1;
            if (before.deferring && !work->choices.deferred.empty() &&
                request.schedule.deferred.empty())
                request.schedule.deferred[""] = false;
            add_work(program->regions[i], request, cost->regions[i]);
        }
        invariant(!cost->regions[i].refused,
                  diagram.string() + " has no kernel of `" + target + "`: " + derivation);
        kernels.push_back(cost->regions[i].work ? *cost->regions[i].work
                                                : general_work(cost->regions[i]));
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

std::vector<Json> lines_of(const std::filesystem::path& path) {
    std::vector<Json> lines;
    std::istringstream text(text_of(path));
    for (std::string line; std::getline(text, line);)
        if (!line.empty()) lines.push_back(Json::parse(line));
    return lines;
}

/// Files whose names end so, the newest last.
std::vector<std::filesystem::path> files_ending(const std::string& ending) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_RESULTS_DIR))
        if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

/// The rules of struck.jsonl: a row is struck where its file, its workload, its target, its sizes
/// and its steps are those of a rule; what a rule does not say may be anything.
class Strikes {
public:
    Strikes() : rules_(lines_of(std::filesystem::path(NAPKIN_RESULTS_DIR) / "struck.jsonl")) {
        for (std::size_t i = 0; i < rules_.size(); ++i) idle_.insert(i);
    }

    bool strike(const std::string& file, const std::string& workload, const std::string& target,
                const SizesByName& sizes, const Json& steps) {
        const auto holds = [](const Json& rule, const char* key, const std::string& value) {
            if (!rule.contains(key)) return true;
            const auto values = rule[key].get<std::vector<std::string>>();
            return std::find(values.begin(), values.end(), value) != values.end();
        };
        const auto has_sizes = [&](const Json& rule) {
            for (const auto& [axis, size] : rule.value("sizes", SizesByName()))
                if (const auto found = sizes.find(axis);
                    found == sizes.end() || found->second != size)
                    return false;
            return true;
        };
        bool struck = false;
        for (std::size_t i = 0; i < rules_.size(); ++i)
            if (holds(rules_[i], "files", file) && holds(rules_[i], "targets", target) &&
                holds(rules_[i], "workloads", workload) && has_sizes(rules_[i]) &&
                (!rules_[i].contains("steps") || rules_[i]["steps"] == steps)) {
                idle_.erase(i);
                struck = true;
            }
        return struck;
    }

    [[nodiscard]] std::vector<std::string> idle() const {
        std::vector<std::string> reasons;
        for (const std::size_t rule : idle_) reasons.push_back(rules_[rule]["reason"]);
        return reasons;
    }

private:
    std::vector<Json> rules_;
    std::set<std::size_t> idle_;  ///< that have struck nothing yet
};

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

class RecordReader {
public:
    /// Rows of bench/model-on-gpu and of bench/operations, which have their steps, and of
    /// bench/peers.py.
    void read(const std::filesystem::path& path) {
        std::string target;
        Before before{false, were_alone(path.filename()), saved_at_once(path.filename())};
        for (const Json& line : lines_of(path)) {
            if (line.contains("commit")) {
                target = line.value("target", "");
                before.several_tiles = line["commit"] == kBeforeSeveralTiles;
            }
            if (!line.contains("sizes") || line.contains("failed")) continue;
            if (line.contains("us"))
                add_steps(path.filename(), line, before);
            else if (line.contains("workload") && line.contains("napkin_us"))
                add(path.filename(), line["workload"], line["sizes"].get<SizesByName>(), target,
                    line["napkin_us"], before);
        }
    }

    /// Rows of bench/examples-on-gpu, of cases in their order; a plain kernel stays one, whatever
    /// other targets take since.
    void read_examples(const std::filesystem::path& path) {
        const auto cases = example_cases();
        const bool earlier = were_alone(path.filename());
        std::size_t at = 0;
        for (const Json& line : lines_of(path)) {
            if (!line.contains("times")) continue;
            const auto& [name, sizes] = cases.at(at++);
            const std::string target = line["target"];
            if (is_struck(path.filename(), name, target, sizes)) continue;
            const std::filesystem::path folder = NAPKIN_EXAMPLES_DIR;
            records_.rows.push_back(
                {path.filename(), group_of(name, true, target), name, sizes, target,
                 line["times"][0]["median_us"],
                 kernels_of(diagram_of(name, {folder}), text_of(folder / (name + ".drv")), sizes,
                            target == "simt" ? target : "",
                            {earlier, earlier, saved_at_once(path.filename())}),
                 is_held_out(sizes)});
        }
    }

    [[nodiscard]] Records take() { return std::move(records_); }
    [[nodiscard]] const Strikes& strikes() const { return strikes_; }

private:
    /// The last commit after which rows were timed with one tile a block where nothing asks for
    /// more.
    static constexpr const char* kBeforeSeveralTiles = "753cda4";

    /// Whether blocks shared a multiprocessor only where that was asked for, when a file's rows
    /// were timed.
    static bool were_alone(const std::string& file) {
        return file < "2026-11-27" || file == "2026-11-27-peers-h100.jsonl";
    }

    /// Whether a block's results were saved before its next tile, when a file's rows were timed.
    static bool saved_at_once(const std::string& file) { return file < "2026-11-29-deferred"; }

    bool is_struck(const std::string& file, const std::string& workload, const std::string& target,
                   const SizesByName& sizes, const Json& steps = {}) {
        const bool is = strikes_.strike(file, workload, target, sizes, steps);
        records_.struck += is ? 1 : 0;
        return is;
    }

    void add_steps(const std::string& file, const Json& line, Before before) {
        const bool is_operation = line.contains("operation");
        const std::string name = line[is_operation ? "operation" : "diagram"];
        const std::string target = line["target"];
        const auto sizes = line["sizes"].get<SizesByName>();
        if (is_struck(file, name, target, sizes, line["steps"])) return;
        std::string steps;
        std::string made = target;
        for (const std::string step : line["steps"]) {
            steps += step + "\n";
            made += "; " + step;
        }
        const std::filesystem::path workloads = NAPKIN_BENCHMARKS_DIR;
        const auto diagram = is_operation ? workloads.parent_path() / "operations" / (name + ".ncd")
                                          : diagram_of(name, {workloads, NAPKIN_EXAMPLES_DIR,
                                                              workloads.parent_path() / "masks"});
        const std::string group = is_operation ? "operations" : group_of(name, false, target);
        records_.rows.push_back({file, group, name, sizes, made, line["us"],
                                 kernels_of(diagram, steps, sizes, target, before),
                                 is_held_out(sizes)});
    }

    void add(const std::string& file, const std::string& name, const SizesByName& sizes,
             const std::string& target, double microseconds, Before before) {
        if (is_struck(file, name, target, sizes)) return;
        const Files files = files_of(name, sizes, target);
        records_.rows.push_back(
            {file, group_of(name, false, target), name, sizes, target, microseconds,
             kernels_of(files.diagram, text_of(files.derivation), sizes, target, before),
             is_held_out(sizes)});
    }

    Strikes strikes_;
    Records records_;
};

}  // namespace

std::string Recorded::text() const {
    std::string text = workload;
    for (const auto& [name, size] : sizes) text += " " + name + "=" + std::to_string(size);
    return text;
}

namespace {

RecordReader read_all(const std::string& machine) {
    RecordReader reader;
    const std::string examples = "-examples-" + machine + ".jsonl";
    for (const std::filesystem::path& path : files_ending("-" + machine + ".jsonl"))
        if (!path.string().ends_with(examples)) reader.read(path);
    if (const auto files = files_ending(examples); !files.empty())
        reader.read_examples(files.back());
    return reader;
}

}  // namespace

Records recorded_on(const std::string& machine) {
    return read_all(machine).take();
}

std::vector<std::string> idle_strikes() {
    return read_all("h200").strikes().idle();
}

}  // namespace napkin::test
