#include "cli/hypothesis_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "cli/study_messages.h"
#include "diagrams/nearest.h"
#include "diagrams/toml_text.h"
#include "perfmodel/machine.h"

namespace napkin::cli {
namespace {

class HypothesisReader {
public:
    HypothesisReader(const SourceMap& sources, std::uint32_t file)
        : sources_(sources), file_(file) {}

    Result<Hypothesis> read(const toml::table& root) {
        known(root, {"claim", "machine", "threshold", "quantity", "recorded", "if_true", "if_false",
                     "workload"});
        Hypothesis hypothesis;
        hypothesis.claim = required(root, "claim");
        hypothesis.machine = machine_of(required(root, "machine"));
        for (const auto& [key, slot] : {std::pair{"machine", &hypothesis.machine_place},
                                        std::pair{"recorded", &hypothesis.recorded_place}})
            if (const toml::node* named = root.get(key)) *slot = place(*named);
        hypothesis.threshold = share(root);
        if (text(root, "quantity") == "utilisation")
            hypothesis.quantity = Hypothesis::Quantity::Utilisation;
        else if (const std::string other = text(root, "quantity");
                 !other.empty() && other != "time")
            problems_.add(hypothesis_value(place(*root.get("quantity")), "quantity",
                                           "`time` or `utilisation`"));
        for (const std::string& path : texts(root, "recorded"))
            hypothesis.recorded.push_back(beside(path));
        hypothesis.if_true = side(root, "if_true");
        hypothesis.if_false = side(root, "if_false");
        workloads(root, hypothesis);
        if (problems_.has_errors()) return problems_;
        return hypothesis;
    }

private:
    [[nodiscard]] Span place(const toml::source_region& region) const {
        return toml_place(sources_.files[file_].text, region, file_);
    }
    [[nodiscard]] Span place(const toml::node& node) const { return place(node.source()); }

    /// A path from the file's folder.
    [[nodiscard]] std::string beside(const std::string& path) const {
        const std::filesystem::path folder =
            std::filesystem::path(sources_.files[file_].name).parent_path();
        return (folder / path).lexically_normal().string();
    }
    /// A file has a folder or an ending.
    [[nodiscard]] std::string machine_of(const std::string& named) const {
        const std::string first = named.substr(0, named.find(','));
        const bool is_file = first.find('/') != std::string::npos || first.ends_with(".toml");
        return is_file ? beside(first) + named.substr(first.size()) : named;
    }

    void known(const toml::table& table, std::initializer_list<const char*> keys) {
        const std::vector<std::string> names(keys.begin(), keys.end());
        for (const auto& [key, node] : table)
            if (std::find(names.begin(), names.end(), key.str()) == names.end())
                problems_.add(hypothesis_key(place(key.source()), std::string(key.str()), names));
    }

    std::string text(const toml::table& table, const char* key) {
        const toml::node* node = table.get(key);
        if (node == nullptr) return {};
        if (const std::string* line = toml_line(*node)) return *line;
        problems_.add(hypothesis_value(place(*node), key, "a text of one line"));
        return {};
    }
    std::string required(const toml::table& table, const char* key) {
        std::string found = text(table, key);
        if (table.get(key) == nullptr || (found.empty() && table.get(key)->is_string()))
            problems_.add(hypothesis_lacks(place(table), key));
        return found;
    }
    std::vector<std::string> texts(const toml::table& table, const char* key) {
        const toml::node* node = table.get(key);
        if (node == nullptr) return {};
        const toml::array* array = node->as_array();
        std::vector<std::string> found;
        if (array != nullptr)
            for (const toml::node& each : *array)
                if (const std::string* line = toml_line(each)) found.push_back(*line);
        if (array == nullptr || found.size() != array->size())
            problems_.add(hypothesis_value(place(*node), key, "a list of texts of one line"));
        return found;
    }

    double share(const toml::table& root) {
        const toml::node* node = root.get("threshold");
        if (node == nullptr) {
            problems_.add(hypothesis_lacks(place(root), "threshold"));
            return 0;
        }
        if (const auto* string = node->as_string()) {
            const auto figure = parse_figure(string->get(), Dimension::Share);
            const Figure* const good = std::get_if<Figure>(&figure);
            if (good != nullptr && good->value > 0) return good->value;
        }
        problems_.add(
            hypothesis_value(place(*node), "threshold", "a text such as `10 %`, more than 0"));
        return 0;
    }

    HypothesisSide side(const toml::table& root, const char* key) {
        const toml::node* node = root.get(key);
        const toml::table* table = node != nullptr ? node->as_table() : nullptr;
        if (table == nullptr) {
            problems_.add(node == nullptr ? hypothesis_lacks(place(root), key)
                                          : hypothesis_value(place(*node), key, "a table"));
            return {};
        }
        known(*table, {"says", "added", "longest", "figures"});
        HypothesisSide side;
        side.place = place(*table);
        side.says = required(*table, "says");
        side.figures = text(*table, "figures");
        for (const auto& [name, how] : {std::pair{"added", HypothesisSide::How::Added},
                                        std::pair{"longest", HypothesisSide::How::Longest}}) {
            if (table->get(name) == nullptr) continue;
            if (side.how != HypothesisSide::How::Model)
                problems_.add(hypothesis_value(place(*table->get(name)), name,
                                               "beside `added`: a side has one of the two"));
            side.how = how;
            side.pipelines = texts(*table, name);
            if (const toml::array* list = table->get(name)->as_array();
                list != nullptr && list->empty())
                problems_.add(
                    hypothesis_value(place(*list), name, "a list of pipelines: it is empty"));
        }
        return side;
    }

    void workloads(const toml::table& root, Hypothesis& hypothesis) {
        const toml::node* node = root.get("workload");
        const toml::array* array = node != nullptr ? node->as_array() : nullptr;
        if (array == nullptr || array->empty()) {
            problems_.add(hypothesis_lacks(place(root), "[[workload]]"));
            return;
        }
        for (const toml::node& each : *array) {
            const toml::table* table = each.as_table();
            if (table == nullptr) {
                problems_.add(hypothesis_value(place(each), "workload", "a table"));
                continue;
            }
            HypothesisWorkload workload;
            workload.name = required(*table, "name");
            known(*table, {"name", "diagram", "derivation", "steps", "schedule", "target", "row",
                           "sizes", "changed"});
            workload.kernel = kernel(*table, {});
            if (workload.kernel.diagram.empty())
                problems_.add(hypothesis_lacks(place(*table), "diagram"));
            changed(*table, hypothesis, workload);
            hypothesis.workloads.push_back(std::move(workload));
        }
    }

    void changed(const toml::table& table, const Hypothesis& hypothesis,
                 HypothesisWorkload& workload) {
        const toml::node* node = table.get("changed");
        if (node == nullptr) return;
        const toml::table* other = node->as_table();
        if (other == nullptr || other->empty()) {
            problems_.add(hypothesis_value(place(*node), "changed", "a table of what is changed"));
            return;
        }
        known(*other, {"diagram", "derivation", "steps", "schedule", "target", "row", "sizes"});
        if (hypothesis.quantity == Hypothesis::Quantity::Utilisation)
            problems_.add(hypothesis_value(place(*node), "changed",
                                           "of utilisations: what changes is compared by time"));
        workload.changed = kernel(*other, workload.kernel);
    }

    /// What the table says, on top of what was there.
    HypothesisKernel kernel(const toml::table& table, HypothesisKernel from) {
        from.place = place(table);
        for (const auto& [key, slot] :
             {std::pair{"diagram", &from.diagram}, std::pair{"derivation", &from.derivation},
              std::pair{"schedule", &from.schedule}})
            if (table.get(key) != nullptr) *slot = beside(text(table, key));
        for (const auto& [key, slot] :
             {std::pair{"target", &from.target}, std::pair{"row", &from.row}})
            if (table.get(key) != nullptr) *slot = text(table, key);
        for (const char* key : {"diagram", "derivation", "steps"})
            if (const toml::node* node = table.get(key)) from.places[key] = place(*node);
        if (table.get("steps") != nullptr) from.steps = texts(table, "steps");
        const toml::node* sizes = table.get("sizes");
        if (sizes == nullptr) return from;
        const toml::table* each = sizes->as_table();
        if (each == nullptr) {
            problems_.add(hypothesis_value(place(*sizes), "sizes", "a table of numbers"));
            return from;
        }
        for (const auto& [name, value] : *each)
            if (const auto number = value.value<double>(); number && value.is_number())
                from.sizes[std::string(name.str())] = *number;
            else
                problems_.add(hypothesis_value(place(value), std::string(name.str()), "a number"));
        return from;
    }

    const SourceMap& sources_;
    std::uint32_t file_;
    Diagnostics problems_;
};

}  // namespace

Result<Hypothesis> read_hypothesis(const SourceMap& sources, std::uint32_t file) {
    const std::string& text = sources.files[file].text;
    try {
        const toml::table root = toml::parse(text, sources.files[file].name);
        return HypothesisReader(sources, file).read(root);
    } catch (const toml::parse_error& error) {
        return hypothesis_syntax(toml_place(text, error.source(), file),
                                 std::string(error.description()));
    }
}

}  // namespace napkin::cli
