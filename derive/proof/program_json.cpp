#include "derive/proof/program_json.h"

#include <cmath>

#include "diagrams/overloaded.h"

namespace napkin::proof {
namespace {

class RegionWriter {
public:
    explicit RegionWriter(const RegionProgram& region) : region_(region) {}

    Json region() const {
        Json json{{"name", region_.name}};
        for (const Array& array : region_.arrays) {
            Json entry{{"name", array.name}, {"axes", axes(array.axes)}};
            if (array.rounds) entry["rounds"] = name_of(array.type);
            json["arrays"].push_back(std::move(entry));
        }
        for (std::size_t i = 4; i < region_.monoids.size(); ++i) {
            const Monoid& monoid = region_.monoids[i];
            json["monoids"].push_back(Json{{"name", monoid.name},
                                           {"identity", expressions(monoid.identity)},
                                           {"combine", expressions(monoid.combine)}});
        }
        json["variables"] = Json::array();
        for (const Variable& variable : region_.variables)
            json["variables"].push_back(Json{{"name", variable.name},
                                             {"array", array_name(variable.array)},
                                             {"level", name_of(variable.level)},
                                             {"persists", variable.persists}});
        json["body"] = body(region_.body);
        return json;
    }

    Json expression(const Expression& expression) const {
        return std::visit(overloaded{
                              [](const Number& literal) { return number(literal.value); },
                              [&](const AxisIndex& index) {
                                  return Json{"axis", axis_name(index.axis)};
                              },
                              [&](const SizeOf& size) {
                                  return Json{"size", axis_name(size.axis)};
                              },
                              [&](const Read& read) {
                                  Json json{"read", array_name(read.array)};
                                  for (const Expression& index : read.index)
                                      json.push_back(this->expression(index));
                                  return json;
                              },
                              [&](const Apply& call) {
                                  Json json = Json::array({name_of(call.function)});
                                  for (const Expression& argument : call.arguments)
                                      json.push_back(this->expression(argument));
                                  return json;
                              },
                              [&](const Convert& convert) {
                                  return Json{"round", name_of(convert.type),
                                              this->expression(convert.argument[0])};
                              },
                              [](const Operand& operand) {
                                  return Json{"operand", operand.slot};
                              },
                          },
                          expression.node);
    }

private:
    static Json number(double value) {
        if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
        if (value == std::floor(value) && std::abs(value) < 0x1p53)
            return static_cast<std::int64_t>(value);
        return value;
    }
    [[nodiscard]] const std::string& axis_name(AxisId axis) const {
        return region_.axes[axis.index()].name;
    }
    [[nodiscard]] const std::string& array_name(ArrayId array) const {
        return region_.arrays[array.index()].name;
    }
    [[nodiscard]] const std::string& variable_name(VariableId variable) const {
        return region_.variables[variable.index()].name;
    }
    [[nodiscard]] Json axes(const std::vector<AxisId>& axes) const {
        Json json = Json::array();
        for (const AxisId axis : axes) json.push_back(axis_name(axis));
        return json;
    }
    [[nodiscard]] Json expressions(const std::vector<Expression>& list) const {
        Json json = Json::array();
        for (const Expression& each : list) json.push_back(expression(each));
        return json;
    }
    [[nodiscard]] Json variables(const std::vector<VariableId>& list) const {
        Json json = Json::array();
        for (const VariableId each : list) json.push_back(variable_name(each));
        return json;
    }

    [[nodiscard]] Json body(const std::vector<TileStatement>& statements) const {
        Json json = Json::array();
        for (const TileStatement& statement : statements)
            json.push_back(std::visit(overloaded{
                                          [&](const Parallel& node) {
                                              return Json{{"parallel", axis_name(node.axis)},
                                                          {"by", node.size},
                                                          {"level", name_of(node.level)},
                                                          {"body", body(node.body)}};
                                          },
                                          [&](const Loop& node) {
                                              return Json{{"loop", axis_name(node.axis)},
                                                          {"by", node.size},
                                                          {"level", name_of(node.level)},
                                                          {"visible", expressions(node.visible)},
                                                          {"body", body(node.body)}};
                                          },
                                          [&](const Load& node) { return load(node); },
                                          [&](const Compute& node) { return compute(node); },
                                          [&](const Save& node) {
                                              Json save{{"save", array_name(node.array)},
                                                        {"from", variable_name(node.source)}};
                                              if (node.target)
                                                  save["to"] = variable_name(*node.target);
                                              return save;
                                          },
                                      },
                                      statement.node));
        return json;
    }
    [[nodiscard]] Json load(const Load& node) const {
        Json json{{"load", array_name(node.array)}, {"into", variable_name(node.target)}};
        if (node.source) json["from"] = variable_name(*node.source);
        for (const std::vector<Expression>& dimension : node.index)
            json["index"].push_back(expressions(dimension));
        if (!node.gather.empty()) json["gather"] = expressions(node.gather);
        return json;
    }
    [[nodiscard]] Json compute(const Compute& node) const {
        Json json{{"compute", variables(node.targets)}, {"reads", variables(node.reads)}};
        std::visit(overloaded{
                       [&](const Map& map) { json["map"] = expression(map.value); },
                       [&](const Fold& fold) {
                           json["fold"] = region_.monoids[fold.monoid.index()].name;
                           json["over"] = axes(fold.over);
                           json["values"] = expressions(fold.values);
                           if (!fold.seed.empty()) json["seed"] = expressions(fold.seed);
                           if (fold.every_prefix) json["prefixes"] = true;
                       },
                       [&](const Select& select) {
                           json["select"] = axis_name(select.over);
                           if (select.rank) json["rank"] = axis_name(*select.rank);
                           json["value"] = expression(select.value);
                       },
                       [](const Opaque&) {},
                   },
                   node.statement.body);
        return json;
    }

    const RegionProgram& region_;
};

}  // namespace

Json program_json(const TileProgram& program) {
    Json json;
    for (const Axis& axis : program.regions.front().axes) json["axes"][axis.name] = axis.extent;
    for (const RegionProgram& region : program.regions)
        json["regions"].push_back(RegionWriter(region).region());
    return json;
}

Json expression_json(const RegionProgram& region, const Expression& expression) {
    return RegionWriter(region).expression(expression);
}

}  // namespace napkin::proof
