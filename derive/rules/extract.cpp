// extract: a part of what a statement computes becomes an array of its own.
//
//   Y = sum(k) relu(X[m,k] + s[k]) * W[n,k]
//                              ==>     A[m,k] = relu(X[m,k] + s[k]),  Y = sum(k) A[m,k] * W[n,k]
//
// The part is the largest that reads the named arrays, all of them and no others; where the
// statement has it several times, all of them read the array. It stands in the statement's region,
// from which `unfuse` takes it: an element that many blocks would compute is then computed once.
//
// Side conditions: there is such a part, which computes a number; what a condition keeps inside an
// array does not leave it. Citation: a box of composed functions is their composition; arXiv
// 2412.03317, section 2.1.
#include <algorithm>

#include "derive/rules/draft.h"
#include "diagrams/contains.h"
#include "diagrams/value_kind.h"

namespace napkin::rules {

namespace {

/// A part of an expression, and whether a condition decides if it is evaluated.
struct Part {
    Expression value;
    bool is_guarded = false;
};

bool is_truth(const Expression& expression) {
    const Apply* call = std::get_if<Apply>(&expression.node);
    return call != nullptr && is_comparison_or_logic(call->function);
}

/// Parameters are numbers, which stand anywhere.
std::set<ArrayId> elements_read(const Diagram& diagram, const Expression& expression) {
    std::set<ArrayId> read = arrays_read(expression);
    std::erase_if(read, [&](ArrayId array) { return diagram[array].role == ArrayRole::Parameter; });
    return read;
}

/// The largest numbers in an expression that read these arrays and no others, in its order.
/// Indices are not looked into: what they are is known to be in range as it stands.
void collect_parts(const Diagram& diagram, const Expression& expression,
                   const std::set<ArrayId>& wanted, bool is_guarded, std::vector<Part>& parts) {
    if (elements_read(diagram, expression) == wanted && !is_truth(expression)) {
        parts.push_back({expression, is_guarded});
        return;
    }
    if (const Convert* convert = std::get_if<Convert>(&expression.node))
        return collect_parts(diagram, convert->argument.front(), wanted, is_guarded, parts);
    const Apply* call = std::get_if<Apply>(&expression.node);
    if (call == nullptr) return;
    const bool decides = call->function == Function::Select || call->function == Function::And ||
                         call->function == Function::Or;
    for (std::size_t i = 0; i < call->arguments.size(); ++i)
        collect_parts(diagram, call->arguments[i], wanted, is_guarded || (decides && i > 0), parts);
}

/// Whether the element is one of its array wherever the axes that it uses go.
bool is_always_inside(const Diagram& diagram, const Read& element) {
    const Array& array = diagram[element.array];
    for (std::size_t k = 0; k < element.index.size(); ++k) {
        const AxisIndex* index = std::get_if<AxisIndex>(&element.index[k].node);
        if (index == nullptr || diagram[index->axis].size != diagram[array.axes[k]].size)
            return false;
    }
    return true;
}

/// An element of the part that only a condition keeps inside its array.
std::optional<ArrayId> kept_inside(const Diagram& diagram, const Part& part) {
    std::optional<ArrayId> found;
    const auto look = [&](const Expression& node) {
        const Read* element = std::get_if<Read>(&node.node);
        if (element != nullptr && !is_always_inside(diagram, *element)) found = element->array;
    };
    if (part.is_guarded) walk(part.value, look);
    return found;
}

/// The axes of an array of such values: woven ones outermost, then as they are met.
std::vector<AxisId> axes_of(const Diagram& diagram, const Expression& value) {
    std::vector<AxisId> axes;
    walk(value, [&](const Expression& node) {
        const AxisIndex* index = std::get_if<AxisIndex>(&node.node);
        if (index != nullptr && !contains(axes, index->axis)) axes.push_back(index->axis);
    });
    std::stable_partition(axes.begin(), axes.end(),
                          [&](AxisId axis) { return diagram[axis].woven; });
    return axes;
}

/// What a statement's elements are computed by, one expression a component.
std::vector<Expression*> values_of(Statement& statement) {
    std::vector<Expression*> values;
    if (Map* map = std::get_if<Map>(&statement.body)) values.push_back(&map->value);
    if (Select* select = std::get_if<Select>(&statement.body)) values.push_back(&select->value);
    if (Fold* fold = std::get_if<Fold>(&statement.body))
        for (Expression& value : fold->values) values.push_back(&value);
    return values;
}

/// Puts the element in place of the part, wherever it is met but in indices.
void replace_part(Expression& expression, const Expression& part, const Expression& element) {
    if (expression == part) {
        expression = element;
        return;
    }
    if (Convert* convert = std::get_if<Convert>(&expression.node))
        replace_part(convert->argument.front(), part, element);
    if (Apply* call = std::get_if<Apply>(&expression.node))
        for (Expression& argument : call->arguments) replace_part(argument, part, element);
}

/// The part of the statement that the command names, or why there is none.
std::variant<Expression, NotApplicable> named_part(const Diagram& diagram, const Command& command,
                                                   Statement statement) {
    std::set<ArrayId> wanted;
    for (const std::string& name : command.names) {
        const std::optional<ArrayId> array = find_array(diagram, name);
        if (!array) return out_of_place("there is no array `" + name + "`", "");
        wanted.insert(*array);
    }
    std::vector<Part> parts;
    for (const Expression* value : values_of(statement))
        collect_parts(diagram, *value, wanted, false, parts);
    const std::string names = list_names(command.names);
    if (parts.empty())
        return NotApplicable{
            "no part of `" + command.in + "` reads " + names + " and nothing else",
            "name all that one part reads; `commute A, B in ARRAY` exchanges factors"};
    const Map* map = std::get_if<Map>(&statement.body);
    std::erase_if(parts, [&](const Part& part) {
        return std::holds_alternative<Read>(part.value.node) ||
               (map != nullptr && part.value == map->value);
    });
    if (parts.empty())
        return NotApplicable{"what `" + command.in + "` computes of " + names + " alone is " +
                                 (map != nullptr && elements_read(diagram, map->value) == wanted
                                      ? "all of it"
                                      : "an element as it is"),
                             ""};
    Part part = parts.front();
    for (const Part& each : parts)
        if (each.value == part.value && !each.is_guarded) part.is_guarded = false;
    if (const std::optional<ArrayId> array = kept_inside(diagram, part))
        return NotApplicable{"a condition keeps what is read of `" + diagram[*array].name +
                                 "` inside of it, which an array without it would not",
                             "name what the condition reads too"};
    return part.value;
}

}  // namespace

Outcome extract(const State& state, const Command& command) {
    if (command.names.empty() || command.as.size() != 1 || command.in.empty())
        return out_of_place(
            "it takes what the part reads, a name for it and the array that it is in",
            "write `extract A, B as PART in ARRAY`");
    const Diagram& diagram = state.diagram;
    const std::string& name = command.as.front();
    const std::optional<ArrayId> array = find_array(diagram, command.in);
    if (!array) return out_of_place("there is no array `" + command.in + "`", "");
    std::optional<StatementId> source = producer(diagram, *array);
    if (!source) return out_of_place("`" + command.in + "` is an input: no box computes it", "");
    if (find_array(diagram, name) || find_axis(diagram, name))
        return out_of_place("there is `" + name + "` already", "choose another name");
    // A sum inside of an expression is a statement of its own, which has no name.
    auto part = named_part(diagram, command, diagram[*source]);
    const NotApplicable* refusal = std::get_if<NotApplicable>(&part);
    for (const StatementId id : diagram[diagram[*source].box].statements) {
        if (refusal == nullptr || diagram[diagram[id].targets.front()].named) continue;
        auto inside = named_part(diagram, command, diagram[id]);
        if (!std::holds_alternative<Expression>(inside)) continue;
        part = std::move(inside);
        refusal = nullptr;
        source = id;
    }
    if (refusal != nullptr) return *refusal;
    const Expression& value = std::get<Expression>(part);

    const Array& target = diagram[diagram[*source].targets.front()];
    const bool is_whole = !computes_reals(diagram, {{}, Map{value}, {}, {}});
    if (is_whole && !is_floating(target.type) && kind_of(diagram, value) == ValueKind::Real)
        return NotApplicable{"the part is an integer or infinite: no type holds both",
                             "an integer beside the condition is a part of its own"};

    Draft draft(state);
    const std::vector<AxisId> axes = axes_of(diagram, value);
    const Span span = diagram[*source].span;
    const ArrayId made = draft.add_array(name, axes, span);
    draft.add({{made}, Map{value}, draft.add_box(diagram[*source].box), span}, draft.home(*source),
              *source);
    for (Expression* each : values_of(draft.diagram.statements[source->index()]))
        replace_part(*each, value, read_axes(made, axes));
    return draft.finish(command, {"a part of " + command.in + " reads " +
                                  list_names(command.names) + " and nothing else"});
}

}  // namespace napkin::rules
