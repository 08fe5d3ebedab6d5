#include "diagrams/drawing/glyphs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

constexpr std::size_t kLongestLine = 16;  // of a formula in a box
constexpr std::size_t kMostLines = 3;

/// Collects the factors of a product; false where something is no product of plain reads and
/// constants.
bool collect_factors(const Diagram& diagram, const Expression& value, Contraction& found,
                     bool& scaled) {
    if (const Apply* call = std::get_if<Apply>(&value.node);
        call != nullptr && call->function == Function::Multiply) {
        return std::all_of(call->arguments.begin(), call->arguments.end(),
                           [&](const Expression& factor) {
                               return collect_factors(diagram, factor, found, scaled);
                           });
    }
    const Read* element = std::get_if<Read>(&value.node);
    if (element != nullptr && diagram[element->array].role != ArrayRole::Parameter) {
        UnitInput input{element->array, {}};
        std::set<AxisId> seen;
        for (const Expression& index : element->index) {
            const AxisIndex* plain = std::get_if<AxisIndex>(&index.node);
            if (plain == nullptr || !seen.insert(plain->axis).second) return false;
            input.index.emplace_back(plain->axis);
        }
        found.inputs.push_back(std::move(input));
        return true;
    }
    bool constant = true;
    walk(value, [&](const Expression& node) {
        if (std::holds_alternative<AxisIndex>(node.node)) constant = false;
        if (const Read* inner = std::get_if<Read>(&node.node))
            constant = constant && diagram[inner->array].role == ArrayRole::Parameter;
    });
    scaled = scaled || constant;
    return constant;
}

/// Whether each axis of a target comes from some factor, so that every wire has a source.
bool covers(const Diagram& diagram, const Contraction& found, ArrayId target) {
    return std::all_of(diagram[target].axes.begin(), diagram[target].axes.end(), [&](AxisId axis) {
        return std::any_of(found.inputs.begin(), found.inputs.end(), [&](const UnitInput& input) {
            return std::find(input.index.begin(), input.index.end(), std::optional(axis)) !=
                   input.index.end();
        });
    });
}

std::string joined(const Diagram& diagram, const std::vector<AxisId>& axes) {
    std::string names;
    for (AxisId axis : axes) names += (names.empty() ? "" : ",") + diagram[axis].name;
    return names;
}

std::string sign_of(const Diagram& diagram, MonoidId monoid) {
    if (monoid == kSum) return "Σ";
    if (monoid == kProduct) return "∏";
    return diagram[monoid].name;
}

MathText named(const std::string& name) {
    return columns_in(name) == 1 ? parse_math(name) : plain_text(name);
}

/// How tightly an expression binds: 3 names and calls, 2 products, 1 sums, 0 the rest.
int binding_of(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return 3;
    switch (call->function) {
    case Function::Add:
    case Function::Subtract:
    case Function::Negate: return 1;
    case Function::Multiply:
    case Function::Divide: return 2;
    default: break;
    }
    const char first = name_of(call->function)[0];
    return first >= 'a' && first <= 'z' ? 3 : 0;
}

/// Whether a selection hides what is not chosen: its other value is the least of all.
bool is_mask(const Apply& call) {
    const Number* other =
        call.arguments.size() == 3 ? std::get_if<Number>(&call.arguments[2].node) : nullptr;
    return call.function == Function::Select && other != nullptr && std::isinf(other->value);
}

std::string schematic_number(double value) {
    if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
    std::string text = std::to_string(value);
    while (text.find('.') != std::string::npos && (text.back() == '0' || text.back() == '.')) {
        const bool point = text.back() == '.';
        text.pop_back();
        if (point) break;
    }
    return text;
}

/// Writes what a unit computes with arrays by name alone: `max(H,0)`. What has no name of its own
/// stands as the expression that it is.
class Schematic {
public:
    Schematic(const Diagram& diagram, const Unit& unit) : diagram_(diagram) {
        for (StatementId id : unit.statements)
            for (ArrayId target : diagram[id].targets)
                if (!diagram[target].named) inner_.emplace_back(target, id);
    }

    [[nodiscard]] std::string write(const Expression& expression) const {
        return std::visit(
            overloaded{
                [](const Number& literal) { return schematic_number(literal.value); },
                [&](const AxisIndex& index) { return diagram_[index.axis].name; },
                [&](const SizeOf& size) { return diagram_[size.axis].name; },
                [&](const Read& element) { return write_read(element); },
                [&](const Apply& call) { return write_call(call); },
                [&](const Convert& convert) { return write(convert.argument[0]); },
                [](const Operand& operand) { return "#" + std::to_string(operand.slot); },
            },
            expression.node);
    }
    /// Empty for what is no expression of one value.
    [[nodiscard]] std::string write(const Statement& statement) const {
        if (const Map* map = std::get_if<Map>(&statement.body)) return write(map->value);
        const Fold* fold = std::get_if<Fold>(&statement.body);
        if (fold == nullptr || fold->values.size() != 1 || fold->every_prefix ||
            !fold->seed.empty())
            return "";
        const Expression& value = fold->values[0];
        const std::string text = write(value);
        const bool wraps = binding(value) < 2 || (fold->monoid != kSum && binding(value) < 3);
        return sign_of(diagram_, fold->monoid) + "_{" + joined(diagram_, fold->over) + "}" +
               (wraps ? "(" + text + ")" : text);
    }

private:
    [[nodiscard]] const Statement* definition(const Expression& expression) const {
        const Read* element = std::get_if<Read>(&expression.node);
        if (element == nullptr) return nullptr;
        for (const auto& [array, id] : inner_)
            if (array == element->array) return &diagram_[id];
        return nullptr;
    }
    [[nodiscard]] int binding(const Expression& expression) const {
        const Statement* inner = definition(expression);
        if (inner == nullptr) return binding_of(expression);
        const Map* map = std::get_if<Map>(&inner->body);
        return map == nullptr ? 1 : binding(map->value);
    }
    [[nodiscard]] std::string write_read(const Read& element) const {
        for (const auto& [array, id] : inner_)
            if (array == element.array)
                if (const std::string text = write(diagram_[id]); !text.empty()) return text;
        return diagram_[element.array].name;
    }
    [[nodiscard]] std::string write_call(const Apply& call) const {
        if (is_mask(call)) return "mask";
        if (call.function == Function::Guard) return write(call.arguments[0]);
        const int own = binding_of({call, {}});
        const std::string name = call.function == Function::Select ? "if" : name_of(call.function);
        std::vector<std::string> parts;
        for (std::size_t i = 0; i < call.arguments.size(); ++i) {
            const bool right = i > 0 && (call.function == Function::Subtract ||
                                         call.function == Function::Divide || own == 0);
            const int inner = binding(call.arguments[i]);
            const bool wrap = own < 3 && (inner < own || (right && inner == own));
            const std::string text = write(call.arguments[i]);
            parts.push_back(wrap ? "(" + text + ")" : text);
        }
        if (call.function == Function::Negate) return "-" + parts[0];
        if (own < 3 && parts.size() == 2) return parts[0] + name + parts[1];
        std::string text = name + "(";
        for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : ",") + parts[i];
        return text + ")";
    }

    const Diagram& diagram_;
    std::vector<std::pair<ArrayId, StatementId>> inner_;
};

/// The sign outside most brackets that is nearest to the middle; the text's end where there is
/// none.
std::size_t best_break(const std::string& text) {
    int depth = 0;
    int least = 100;
    std::size_t best = text.size();
    const auto off_middle = [&](std::size_t at) {
        return at > text.size() / 2 ? at - text.size() / 2 : text.size() / 2 - at;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(' || text[i] == '{') ++depth;
        if (text[i] == ')' || text[i] == '}') --depth;
        const bool sign = std::string_view("+-*/,").find(text[i]) != std::string_view::npos;
        if (!sign || i == 0 || text[i - 1] == '(' || depth > least) continue;
        if (depth == least && off_middle(i) >= off_middle(best)) continue;
        least = depth;
        best = text[i] == ',' ? i + 1 : i;
    }
    return best;
}

void break_formula(const std::string& text, std::vector<std::string>& lines) {
    const std::size_t at = columns_in(text) > kLongestLine ? best_break(text) : text.size();
    if (at == text.size()) {
        lines.push_back(text);
        return;
    }
    break_formula(text.substr(0, at), lines);
    break_formula(text.substr(at), lines);
}

/// A formula in a few lines; none where it is too long for a box.
std::vector<MathText> formula_lines(const std::string& text) {
    std::vector<std::string> lines;
    if (!text.empty()) break_formula(text, lines);
    const bool fits = lines.size() <= kMostLines &&
                      std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
                          return columns_in(line) <= kLongestLine;
                      });
    std::vector<MathText> labels;
    for (std::size_t i = 0; fits && i < lines.size(); ++i) labels.push_back(parse_math(lines[i]));
    return labels;
}

/// A map that calls one function on arrays is known by that function's name: `exp`, `+`.
std::optional<MathText> name_of_map(const Statement& statement) {
    const Map* map = std::get_if<Map>(&statement.body);
    const Apply* call = map == nullptr ? nullptr : std::get_if<Apply>(&map->value.node);
    if (call == nullptr) return std::nullopt;
    if (is_mask(*call)) return plain_text("mask");
    const bool plain =
        std::all_of(call->arguments.begin(), call->arguments.end(),
                    [](const Expression& e) { return std::holds_alternative<Read>(e.node); });
    return plain ? std::optional(plain_text(name_of(call->function))) : std::nullopt;
}

/// What stands for a statement whose formula is too long: a fold's sign, a selection, a name.
MathText short_label(const Diagram& diagram, const Statement& statement) {
    return std::visit(
        overloaded{
            [&](const Map&) { return parse_math(diagram[statement.targets[0]].name); },
            [&](const Fold& fold) {
                const MathText sign = fold.every_prefix
                                          ? plain_text("scan " + sign_of(diagram, fold.monoid))
                                          : plain_text(sign_of(diagram, fold.monoid));
                return sign + parse_math("_{" + joined(diagram, fold.over) + "}");
            },
            [&](const Select& select) {
                return plain_text(select.rank ? "top-k" : "argmax") +
                       parse_math("_" + diagram[select.over].name);
            },
            [](const Opaque& opaque) { return named(opaque.name); },
        },
        statement.body);
}

}  // namespace

std::optional<Contraction> as_contraction(const Diagram& diagram, const Statement& statement) {
    Contraction found;
    bool scaled = false;
    if (const Fold* fold = std::get_if<Fold>(&statement.body)) {
        if (fold->monoid != kSum || fold->every_prefix || !fold->seed.empty() ||
            fold->values.size() != 1 || !collect_factors(diagram, fold->values[0], found, scaled))
            return std::nullopt;
        found.folded = fold->over;
    } else if (const Map* map = std::get_if<Map>(&statement.body)) {
        if (!collect_factors(diagram, map->value, found, scaled) || scaled) return std::nullopt;
    } else {
        return std::nullopt;
    }
    if (found.inputs.empty() || !covers(diagram, found, statement.targets[0])) return std::nullopt;
    return found;
}

std::vector<MathText> box_label(const Diagram& diagram, const Unit& unit) {
    const Box& box = diagram[unit.box];
    const Statement& last = diagram[unit.statements.back()];
    if (!box.name.empty()) return {named(box.name)};
    const bool alone = unit.statements.size() == 1;
    if (const std::optional<MathText> name = name_of_map(last); alone && name) return {*name};
    std::vector<MathText> lines = formula_lines(Schematic(diagram, unit).write(last));
    if (!lines.empty()) return lines;
    return {alone ? short_label(diagram, last) : parse_math(diagram[last.targets.front()].name)};
}

std::vector<Level> levels_of(const Region& region) {
    std::set<Level> levels;
    for (const Group& group : region.groups) levels.insert(group.level);
    for (const Stream& stream : region.streams) levels.insert(stream.level);
    if (levels.empty()) levels.insert(Level::Block);
    return {levels.begin(), levels.end()};
}

}  // namespace napkin::drawing
