#include "derive/proof/checker/program_reader.h"

#include <array>
#include <limits>
#include <map>

namespace napkin::proof::checker {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw MalformedCertificate(what);
}

const Json& member(const Json& json, const char* name) {
    if (!json.is_object() || !json.contains(name)) fail(std::string("no `") + name + "`");
    return json[name];
}

std::string text(const Json& json) {
    if (!json.is_string()) fail("a name is expected");
    return json.get<std::string>();
}

Level level(const Json& json) {
    const std::optional<Level> found = level_named(text(json));
    if (!found) fail("no level `" + text(json) + "`");
    return *found;
}

ElementType type(const Json& json) {
    const std::optional<ElementType> found = element_type_named(text(json));
    if (!found) fail("no type `" + text(json) + "`");
    return *found;
}

/// Functions by name and number of arguments.
std::optional<Function> function_named(const std::string& name, std::size_t arguments) {
    for (int i = 0; i <= static_cast<int>(Function::Guard); ++i) {
        const auto function = static_cast<Function>(i);
        if (name != name_of(function)) continue;
        const bool negates = function == Function::Negate;
        if (name == "-" && negates != (arguments == 1)) continue;
        return function;
    }
    return std::nullopt;
}

class RegionReader {
public:
    RegionReader(const Json& program, const Json& region, const Diagram& plain) : json_(region) {
        out_.name = text(member(region, "name"));
        for (const auto& [name, extent] : member(program, "axes").items()) {
            Axis axis;
            axis.name = name;
            axis.extent = extent.get<std::int64_t>();
            if (axis.extent < 1) fail("axis `" + name + "` has no extent");
            axes_[name] = AxisId{static_cast<std::uint32_t>(out_.scope.axes.size())};
            out_.scope.axes.push_back(std::move(axis));
        }
        read_arrays(plain);
        read_variables();
        read_monoids();
    }

    ReadRegion run() {
        out_.body = body(member(json_, "body"));
        return std::move(out_);
    }

private:
    void read_arrays(const Diagram& plain) {
        for (const Json& json : member(json_, "arrays")) {
            Array array;
            array.name = text(member(json, "name"));
            for (const Json& axis : member(json, "axes")) array.axes.push_back(this->axis(axis));
            if (json.contains("rounds")) {
                array.rounds = true;
                array.type = type(json["rounds"]);
            }
            if (const std::optional<ArrayId> known = find_array(plain, array.name))
                array.role = plain[*known].role;
            const ArrayId id{static_cast<std::uint32_t>(out_.scope.arrays.size())};
            if (!arrays_.emplace(array.name, id).second) fail("two arrays `" + array.name + "`");
            out_.scope.arrays.push_back(std::move(array));
        }
        out_.device_arrays = out_.scope.arrays.size();
    }
    void read_variables() {
        for (const Json& json : member(json_, "variables")) {
            Array variable = out_.scope[array(member(json, "array"))];
            const ArrayId id{static_cast<std::uint32_t>(out_.scope.arrays.size())};
            variable_of_[{array(json["array"]), level(member(json, "level"))}] = id;
            variable.name = text(member(json, "name"));
            if (!variables_.emplace(variable.name, id).second)
                fail("two variables `" + variable.name + "`");
            out_.levels.push_back(level(json["level"]));
            out_.scope.arrays.push_back(std::move(variable));
        }
    }
    void read_monoids() {
        out_.scope.monoids = builtin_monoids();
        if (!json_.contains("monoids")) return;
        for (const Json& json : json_["monoids"]) {
            Monoid monoid;
            monoid.name = text(member(json, "name"));
            monoid.identity = expressions(member(json, "identity"));
            monoid.combine = expressions(member(json, "combine"));
            out_.scope.monoids.push_back(std::move(monoid));
        }
    }

    AxisId axis(const Json& json) const {
        const auto found = axes_.find(text(json));
        if (found == axes_.end()) fail("no axis `" + text(json) + "`");
        return found->second;
    }
    ArrayId array(const Json& json) const {
        const auto found = arrays_.find(text(json));
        if (found == arrays_.end()) fail("no array `" + text(json) + "`");
        return found->second;
    }
    ArrayId variable(const Json& json) const {
        const auto found = variables_.find(text(json));
        if (found == variables_.end()) fail("no variable `" + text(json) + "`");
        return found->second;
    }
    MonoidId monoid(const Json& json) const {
        for (std::uint32_t i = 0; i < out_.scope.monoids.size(); ++i)
            if (out_.scope.monoids[i].name == text(json)) return MonoidId{i};
        fail("no monoid `" + text(json) + "`");
    }

    std::vector<Expression> expressions(const Json& json) const {
        if (!json.is_array()) fail("a list of expressions is expected");
        std::vector<Expression> list;
        for (const Json& each : json) list.push_back(expression(each));
        return list;
    }
    Expression expression(const Json& json) const {
        if (json == "inf") return number(std::numeric_limits<double>::infinity());
        if (json == "-inf") return number(-std::numeric_limits<double>::infinity());
        if (json.is_number()) return number(json.get<double>(), json.is_number_integer());
        if (!json.is_array() || json.empty()) fail("an expression is expected");
        const std::string head = text(json[0]);
        std::vector<Expression> arguments;
        if (head == "axis" && json.size() == 2) return axis_index(axis(json[1]));
        if (head == "size" && json.size() == 2) return size_of(axis(json[1]));
        if (head == "operand" && json.size() == 2)
            return Expression{Operand{json[1].get<std::uint32_t>()}, {}};
        const bool named = head == "read" || head == "round";
        for (std::size_t i = named ? 2 : 1; i < json.size(); ++i)
            arguments.push_back(expression(json[i]));
        if (named && json.size() < 2) fail("`" + head + "` without a name");
        if (head == "read") {
            const auto bound = reads_.find(array(json[1]));
            return read(bound != reads_.end() ? bound->second : array(json[1]),
                        std::move(arguments));
        }
        if (head == "round" && arguments.size() == 1)
            return Expression{Convert{type(json[1]), std::move(arguments)}, {}};
        const std::optional<Function> function = function_named(head, arguments.size());
        if (!function || arguments.empty()) fail("no function `" + head + "`");
        return apply(*function, std::move(arguments));
    }

    std::vector<Step> body(const Json& json) {
        if (!json.is_array()) fail("a list of statements is expected");
        std::vector<Step> steps;
        for (const Json& each : json) steps.push_back(step(each));
        return steps;
    }
    Step step(const Json& json) {
        if (json.contains("parallel") || json.contains("loop")) return {split(json)};
        if (json.contains("load")) return {fetch(json)};
        if (json.contains("compute")) return {calculate(json)};
        if (!json.contains("save")) fail("a statement of no kind");
        const bool inside = json.contains("to");
        return {Put{variable(member(json, "from")),
                    inside ? variable(json["to"]) : array(json["save"])}};
    }
    Split split(const Json& json) {
        Split split;
        split.chunks = json.contains("loop");
        split.axis = axis(json[split.chunks ? "loop" : "parallel"]);
        split.size = member(json, "by").get<std::int64_t>();
        if (split.size < 1) fail("tiles of no size");
        split.level = level(member(json, "level"));
        if (split.chunks) split.visible = expressions(member(json, "visible"));
        split.body = body(member(json, "body"));
        return split;
    }
    Fetch fetch(const Json& json) {
        Fetch fetch;
        fetch.into = variable(member(json, "into"));
        fetch.from = json.contains("from") ? variable(json["from"]) : array(json["load"]);
        if (json.contains("index"))
            for (const Json& dimension : json["index"])
                fetch.index.push_back(expressions(dimension));
        if (!json.contains("gather")) return fetch;
        // What a gather is indexed by lies at the level of its target.
        const Level level = out_.levels[fetch.into.index() - out_.device_arrays];
        for (const auto& [key, id] : variable_of_)
            if (key.second == level) reads_[key.first] = id;
        fetch.gather = expressions(json["gather"]);
        reads_.clear();
        return fetch;
    }
    Calculate calculate(const Json& json) {
        Statement statement;
        for (const Json& target : json["compute"]) statement.targets.push_back(variable(target));
        if (statement.targets.empty()) fail("a computation of nothing");
        for (const Json& name : member(json, "reads")) {
            const ArrayId id = variable(name);
            for (const auto& [key, each] : variable_of_)
                if (each == id) reads_[key.first] = id;
        }
        if (json.contains("map")) {
            statement.body = Map{expression(json["map"])};
        } else if (json.contains("fold")) {
            Fold fold;
            fold.monoid = monoid(json["fold"]);
            for (const Json& each : member(json, "over")) fold.over.push_back(axis(each));
            fold.values = expressions(member(json, "values"));
            if (json.contains("seed")) fold.seed = expressions(json["seed"]);
            fold.every_prefix = json.contains("prefixes") && json["prefixes"] == true;
            statement.body = std::move(fold);
        } else {
            Select select;
            select.over = axis(member(json, "select"));
            if (json.contains("rank")) select.rank = axis(json["rank"]);
            select.value = expression(member(json, "value"));
            statement.body = std::move(select);
        }
        reads_.clear();
        return {std::move(statement)};
    }

    const Json& json_;
    ReadRegion out_;
    std::map<std::string, AxisId> axes_;
    std::map<std::string, ArrayId> arrays_;
    std::map<std::string, ArrayId> variables_;
    std::map<std::pair<ArrayId, Level>, ArrayId> variable_of_;
    std::map<ArrayId, ArrayId> reads_;  // what arrays mean in the statement being read
};

}  // namespace

ReadProgram read_program(const Json& json, const Diagram& plain) {
    ReadProgram program;
    try {
        for (const Json& region : member(json, "regions"))
            program.regions.push_back(RegionReader(json, region, plain).run());
    } catch (const Json::exception& wrong) {
        fail(wrong.what());
    }
    return program;
}

}  // namespace napkin::proof::checker
