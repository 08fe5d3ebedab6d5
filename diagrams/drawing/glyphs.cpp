#include "diagrams/drawing/glyphs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "diagrams/overloaded.h"

namespace napkin::drawing {

namespace {

constexpr std::size_t kLongestLine = 16;  // of a formula in a box
constexpr std::size_t kMostLines = 3;

/// A sum of one value over whole axes.
const Fold* as_sum(const Statement& statement) {
    const Fold* fold = std::get_if<Fold>(&statement.body);
    const bool plain = fold != nullptr && fold->monoid == kSum && !fold->every_prefix &&
                       fold->seed.empty() && fold->values.size() == 1;
    return plain ? fold : nullptr;
}

/// Collects the factors of a product of plain reads and constants; sums that the unit computes on
/// the way, `(sum(k) A * B) * scale`, are factors with what they fold.
class Factors {
public:
    Factors(const Diagram& diagram, const Unit& unit) : diagram_(diagram) {
        for (std::size_t i = 0; i + 1 < unit.statements.size(); ++i) {
            const Statement& inner = diagram[unit.statements[i]];
            if (as_sum(inner) != nullptr) inner_[inner.targets[0]] = &inner;
        }
    }

    /// False where something else is in it.
    [[nodiscard]] bool collect(const Expression& value) {
        if (const Apply* call = std::get_if<Apply>(&value.node);
            call != nullptr && call->function == Function::Multiply)
            return std::all_of(call->arguments.begin(), call->arguments.end(),
                               [&](const Expression& factor) { return collect(factor); });
        const Read* element = std::get_if<Read>(&value.node);
        if (element != nullptr && diagram_[element->array].role != ArrayRole::Parameter)
            return collect(*element);
        bool constant = true;
        walk(value, [&](const Expression& node) {
            if (std::holds_alternative<AxisIndex>(node.node)) constant = false;
            if (const Read* inner = std::get_if<Read>(&node.node))
                constant = constant && diagram_[inner->array].role == ArrayRole::Parameter;
        });
        scaled = scaled || constant;
        return constant;
    }

    Contraction found;
    bool scaled = false;
    std::size_t sums = 0;  ///< factors that are sums

private:
    [[nodiscard]] bool collect(const Read& element) {
        UnitInput input{element.array, {}};
        std::set<AxisId> seen;
        for (const Expression& index : element.index) {
            const AxisIndex* plain = std::get_if<AxisIndex>(&index.node);
            if (plain == nullptr || !seen.insert(plain->axis).second) return false;
            input.index.emplace_back(plain->axis);
        }
        const auto inner = inner_.find(element.array);
        if (inner == inner_.end()) {
            found.inputs.push_back(std::move(input));
            return true;
        }
        const std::vector<AxisId>& axes = diagram_[element.array].axes;
        const bool whole = std::equal(axes.begin(), axes.end(), input.index.begin());
        const Fold* fold = as_sum(*inner->second);
        found.folded.insert(found.folded.end(), fold->over.begin(), fold->over.end());
        ++sums;
        return whole && collect(fold->values[0]);
    }

    const Diagram& diagram_;
    std::map<ArrayId, const Statement*> inner_;
};

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

/// Whether a selection puts zeros where a condition on indices alone does not hold.
bool hides_by_index(const Apply& call) {
    const Number* other =
        call.arguments.size() == 3 ? std::get_if<Number>(&call.arguments[2].node) : nullptr;
    if (call.function != Function::Select || other == nullptr || other->value != 0) return false;
    bool reads = false;
    walk(call.arguments[0],
         [&](const Expression& node) { reads = reads || std::holds_alternative<Read>(node.node); });
    return !reads;
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

/// A call of the library as it was written, with what now stands for its arguments.
struct Spelled {
    std::string name;
    std::vector<const Expression*> arguments;
};

/// Whether an expression has the shape of a call's value, whatever stands for the arguments.
bool has_shape(const NamedCall& call, const Expression& shape, const Expression& expression,
               std::vector<const Expression*>& arguments) {
    const auto is = std::find(call.arguments.begin(), call.arguments.end(), shape);
    if (is != call.arguments.end()) {
        const Expression*& argument =
            arguments[static_cast<std::size_t>(std::distance(call.arguments.begin(), is))];
        if (argument == nullptr) argument = &expression;
        return *argument == expression;
    }
    const auto alike = [&](const std::vector<Expression>& parts,
                           const std::vector<Expression>& others) {
        return std::equal(parts.begin(), parts.end(), others.begin(), others.end(),
                          [&](const Expression& part, const Expression& other) {
                              return has_shape(call, part, other, arguments);
                          });
    };
    const Apply* apply = std::get_if<Apply>(&shape.node);
    const Apply* other = std::get_if<Apply>(&expression.node);
    if (apply != nullptr && other != nullptr)
        return apply->function == other->function && alike(apply->arguments, other->arguments);
    // What a call folds is an array of its own, which weaves may have given more axes.
    const Read* element = std::get_if<Read>(&shape.node);
    const Read* read = std::get_if<Read>(&expression.node);
    if (element != nullptr && read != nullptr) return element->array == read->array;
    return shape == expression;
}

std::optional<Spelled> spelled(const Diagram& diagram, const Expression& expression) {
    for (const NamedCall& call : diagram.spellings.calls) {
        Spelled found{call.name, std::vector<const Expression*>(call.arguments.size())};
        if (!has_shape(call, call.value, expression, found.arguments)) continue;
        // An argument that only folds read, as that of `logsumexp`, is as it was written.
        for (std::size_t i = 0; i < found.arguments.size(); ++i)
            if (found.arguments[i] == nullptr) found.arguments[i] = &call.arguments[i];
        return found;
    }
    return std::nullopt;
}

std::string upright(const std::string& name) {
    return '"' + name + '"';
}

std::string comma_separated(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
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
        if (const std::optional<Spelled> call = spelled(diagram_, expression))
            return write_arguments(call->name, call->arguments);
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
        const std::string sign = sign_of(diagram_, fold->monoid);
        const bool upright_next = !wraps && !text.empty() && text[0] == '"';
        return (columns_in(sign) > 1 ? upright(sign) : sign) + "_{" + joined(diagram_, fold->over) +
               "}" + (upright_next ? upright(" ") : "") + (wraps ? "(" + text + ")" : text);
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
        if (spelled(diagram_, expression)) return 3;
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
    [[nodiscard]] std::string write_arguments(
        const std::string& name, const std::vector<const Expression*>& arguments) const {
        std::vector<std::string> parts;
        for (const Expression* argument : arguments) parts.push_back(write(*argument));
        return upright(name) + "(" + comma_separated(parts) + ")";
    }
    [[nodiscard]] std::string write_call(const Apply& call) const {
        if (is_mask(call)) return upright("mask");
        if (hides_by_index(call)) return upright("mask") + "(" + write(call.arguments[1]) + ")";
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
        return upright(name) + "(" + comma_separated(parts) + ")";
    }

    const Diagram& diagram_;
    std::vector<std::pair<ArrayId, StatementId>> inner_;
};

/// The sign outside most brackets that is nearest to the middle, in no subscript; the text's end
/// where there is none.
std::size_t best_break(const std::string& text) {
    int depth = 0;
    bool lowered = false;
    int least = 100;
    std::size_t best = text.size();
    const auto off_middle = [&](std::size_t at) {
        return at > text.size() / 2 ? at - text.size() / 2 : text.size() / 2 - at;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')') --depth;
        if (text[i] == '{' || text[i] == '}') lowered = text[i] == '{';
        const bool sign = std::string_view("+-*/,").find(text[i]) != std::string_view::npos;
        if (!sign || lowered || i == 0 || text[i - 1] == '(' || depth > least) continue;
        if (depth == least && off_middle(i) >= off_middle(best)) continue;
        least = depth;
        best = text[i] == ',' ? i + 1 : i;
    }
    return best;
}

/// Without blanks, which are narrow.
std::size_t shown_length(const std::string& text) {
    const std::string shown = to_unicode(parse_math(text));
    return columns_in(shown) -
           static_cast<std::size_t>(std::count(shown.begin(), shown.end(), ' '));
}

void break_formula(const std::string& text, std::vector<std::string>& lines) {
    const std::size_t at = shown_length(text) > kLongestLine ? best_break(text) : text.size();
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
                          return shown_length(line) <= kLongestLine;
                      });
    std::vector<MathText> labels;
    for (std::size_t i = 0; fits && i < lines.size(); ++i) labels.push_back(parse_math(lines[i]));
    return labels;
}

/// A map that calls one function on arrays is known by that function's name: `exp`, `+`; a mask
/// by that of the library where it has one.
std::vector<MathText> name_of_map(const Diagram& diagram, const Statement& statement) {
    const Map* map = std::get_if<Map>(&statement.body);
    const Apply* call = map == nullptr ? nullptr : std::get_if<Apply>(&map->value.node);
    if (call == nullptr) return {};
    if (is_mask(*call)) {
        const std::optional<Spelled> kind = spelled(diagram, call->arguments[0]);
        if (kind) return {named(kind->name), plain_text("mask")};
        return {plain_text("mask")};
    }
    const bool plain =
        std::all_of(call->arguments.begin(), call->arguments.end(),
                    [](const Expression& e) { return std::holds_alternative<Read>(e.node); });
    if (plain && !spelled(diagram, map->value)) return {plain_text(name_of(call->function))};
    return {};
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

std::optional<Contraction> as_contraction(const Diagram& diagram, const Unit& unit) {
    const Statement& last = diagram[unit.statements.back()];
    Factors factors(diagram, unit);
    const Fold* fold = as_sum(last);
    const Map* map = std::get_if<Map>(&last.body);
    if (fold == nullptr && map == nullptr) return std::nullopt;
    if (fold != nullptr) factors.found.folded = fold->over;
    if (!factors.collect(fold != nullptr ? fold->values[0] : map->value)) return std::nullopt;
    // A number times an array is a box: there is no wire that would show it.
    if (map != nullptr && factors.sums == 0 && factors.scaled) return std::nullopt;
    if (factors.sums + 1 != unit.statements.size()) return std::nullopt;
    const Contraction& found = factors.found;
    std::set<AxisId> bound(diagram[last.targets[0]].axes.begin(),
                           diagram[last.targets[0]].axes.end());
    for (AxisId axis : found.folded)
        if (!bound.insert(axis).second) return std::nullopt;  // two sums are not one
    if (found.inputs.empty() || !covers(diagram, found, last.targets[0])) return std::nullopt;
    return found;
}

std::vector<MathText> box_label(const Diagram& diagram, const Unit& unit) {
    const Box& box = diagram[unit.box];
    const Statement& last = diagram[unit.statements.back()];
    if (!box.name.empty()) return {named(box.name)};
    const bool alone = unit.statements.size() == 1;
    std::vector<MathText> lines;
    if (alone) lines = name_of_map(diagram, last);
    if (lines.empty()) lines = formula_lines(Schematic(diagram, unit).write(last));
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
