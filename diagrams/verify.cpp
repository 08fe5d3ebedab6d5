#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "diagrams/diagram.h"
#include "diagrams/overloaded.h"
#include "diagrams/value_kind.h"

namespace napkin {

namespace {

/// Checks one diagram, statement by statement, remembering what is defined so far.
class Verifier {
public:
    explicit Verifier(const Diagram& diagram)
        : diagram_(diagram), defined_(diagram.arrays.size(), false) {}

    void run() {
        check_monoids();
        check_axes();
        check_arrays();
        for (std::size_t i = 0; i < diagram_.statements.size(); ++i) check_statement(i);
        for (std::size_t i = 0; i < diagram_.arrays.size(); ++i)
            invariant(defined_[i], "array `", diagram_.arrays[i].name, "` is never defined");
        check_boxes();
        check_spellings();
    }

private:
    void check_monoids() const {
        const std::vector<Monoid> builtins = builtin_monoids();
        invariant(diagram_.monoids.size() >= builtins.size(), "built-in monoids are missing");
        for (std::size_t i = 0; i < builtins.size(); ++i)
            invariant(diagram_.monoids[i] == builtins[i], "built-in monoids come first");
        for (const Monoid& monoid : diagram_.monoids)
            invariant(!monoid.identity.empty() && monoid.identity.size() == monoid.combine.size(),
                      "monoid `", monoid.name, "` has components of different number");
    }

    void check_axes() const {
        std::set<std::string> names;
        for (const Axis& axis : diagram_.axes) {
            invariant(names.insert(axis.name).second, "two axes named `", axis.name, "`");
            invariant(axis.extent >= 1, "axis `", axis.name, "` is empty");
            for (const Symbol symbol : symbols_of(axis.size))
                invariant(
                    symbol.kind == SymbolKind::Axis && symbol.axis.index() < diagram_.axes.size(),
                    "the size of `", axis.name, "` is made of no axes");
        }
    }

    void check_arrays() {
        std::set<std::string> names;
        for (std::size_t i = 0; i < diagram_.arrays.size(); ++i) {
            const Array& array = diagram_.arrays[i];
            invariant(names.insert(array.name).second, "two arrays named `", array.name, "`");
            std::set<AxisId> axes;
            for (AxisId axis : array.axes) {
                invariant(axis.index() < diagram_.axes.size(), "axis id out of range");
                invariant(axes.insert(axis).second, "array `", array.name, "` repeats an axis");
            }
            std::vector<std::uint32_t> order = array.layout;
            std::sort(order.begin(), order.end());
            invariant(order.size() == array.axes.size(), "layout of `", array.name, "`");
            for (std::size_t k = 0; k < order.size(); ++k)
                invariant(order[k] == k, "layout of `", array.name, "` is no permutation");
            const bool given = array.role == ArrayRole::Input || array.role == ArrayRole::Parameter;
            invariant(array.role != ArrayRole::Parameter || array.value.has_value(), "parameter `",
                      array.name, "` has no value");
            defined_[i] = given;
        }
    }

    void check_statement(std::size_t index) {
        const Statement& statement = diagram_.statements[index];
        invariant(!statement.targets.empty(), "a statement without a target");
        invariant(statement.box.index() < diagram_.boxes.size(), "box id out of range");
        const std::string& name = target(statement, 0).name;
        for (ArrayId id : statement.targets) {
            invariant(id.index() < diagram_.arrays.size(), "array id out of range");
            invariant(!defined_[id.index()], "`", diagram_[id].name, "` is defined twice");
        }
        std::visit(overloaded{
                       [&](const Map&) {
                           invariant(statement.targets.size() == 1, "a map has one target");
                       },
                       [&](const Fold& fold) { check_fold(statement, fold); },
                       [&](const Select& select) { check_select(statement, select); },
                       [](const Opaque&) {},
                   },
                   statement.body);
        check_expressions(statement, name);
        invariant(!inexact_target(diagram_, statement), "`", name,
                  "` is made of integers, and computed from reals");
        for (ArrayId id : statement.targets) defined_[id.index()] = true;
    }

    void check_fold(const Statement& statement, const Fold& fold) const {
        const std::string& name = target(statement, 0).name;
        invariant(fold.monoid.index() < diagram_.monoids.size(), "monoid id out of range");
        const std::size_t components = diagram_[fold.monoid].identity.size();
        invariant(fold.values.size() == components && statement.targets.size() == components,
                  "fold `", name, "` has the wrong number of components");
        invariant(fold.seed.empty() || fold.seed.size() == components, "fold `", name,
                  "` has the wrong number of seeds");
        invariant(!fold.over.empty(), "fold `", name, "` folds nothing");
        invariant(!fold.every_prefix || fold.over.size() == 1, "a scan has one axis");
        for (std::size_t i = 0; i < components; ++i) {
            invariant(target(statement, i).axes == target(statement, 0).axes, "targets of `", name,
                      "` have different axes");
            for (AxisId axis : fold.over)
                invariant(has_axis(target(statement, i), axis) == fold.every_prefix, "target `",
                          name, "` and its folded axis");
        }
    }

    void check_select(const Statement& statement, const Select& select) const {
        invariant(statement.targets.size() == 2, "a selection has values and indices");
        for (std::size_t i = 0; i < 2; ++i) {
            const Array& array = target(statement, i);
            invariant(array.axes == target(statement, 0).axes,
                      "targets of a selection have different axes");
            invariant(!has_axis(array, select.over), "`", array.name, "` has the selected axis");
            invariant(!select.rank || has_axis(array, *select.rank), "`", array.name,
                      "` lacks the rank axis");
        }
    }

    void check_expressions(const Statement& statement, const std::string& name) const {
        const std::vector<AxisId> loops = axes_of(diagram_, statement);
        const Fold* fold = std::get_if<Fold>(&statement.body);
        const bool has_seed = fold != nullptr && !fold->seed.empty();
        const bool opaque = std::holds_alternative<Opaque>(statement.body);
        for (const Expression* expression : expressions_of(statement)) {
            walk(*expression,
                 [&](const Expression& part) { check_node(part, statement, has_seed); });
            if (opaque) continue;
            for (AxisId axis : axes_used(*expression))
                invariant(std::find(loops.begin(), loops.end(), axis) != loops.end(), "`", name,
                          "` uses axis `", diagram_[axis].name, "` unbound");
        }
    }

    void check_node(const Expression& part, const Statement& statement, bool has_seed) const {
        check_names(part);
        if (const Read* element = std::get_if<Read>(&part.node)) {
            const bool own =
                has_seed && std::find(statement.targets.begin(), statement.targets.end(),
                                      element->array) != statement.targets.end();
            invariant(own || defined_[element->array.index()], "`", diagram_[element->array].name,
                      "` is read before it is defined");
        }
        if (const Convert* convert = std::get_if<Convert>(&part.node))
            invariant(convert->argument.size() == 1, "a conversion has one argument");
        invariant(!std::holds_alternative<Operand>(part.node), "a monoid's operand in a statement");
    }

    /// Arrays and axes are the diagram's.
    void check_names(const Expression& part) const {
        if (const Read* element = std::get_if<Read>(&part.node)) {
            invariant(element->array.index() < diagram_.arrays.size(), "array id out of range");
            const Array& array = diagram_[element->array];
            invariant(element->index.size() == array.axes.size(), "`", array.name,
                      "` is read with the wrong number of indices");
        }
        if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
            invariant(index->axis.index() < diagram_.axes.size(), "axis id out of range");
        if (const SizeOf* size = std::get_if<SizeOf>(&part.node))
            invariant(size->axis.index() < diagram_.axes.size(), "axis id out of range");
    }

    /// Who changes the axes of arrays or the numbers of either changes what calls were written with
    /// too, for pictures read it.
    void check_spellings() const {
        const auto check = [&](const Expression& written) {
            walk(written, [&](const Expression& part) { check_names(part); });
        };
        for (const NamedCall& call : diagram_.spellings.calls) {
            check(call.value);
            for (const Expression& argument : call.arguments) check(argument);
        }
    }

    void check_boxes() const {
        std::vector<int> owners(diagram_.statements.size(), 0);
        for (std::size_t i = 0; i < diagram_.boxes.size(); ++i) {
            invariant(!diagram_.boxes[i].statements.empty(), "a box without statements");
            for (StatementId id : diagram_.boxes[i].statements) {
                invariant(id.index() < owners.size(), "statement id out of range");
                invariant(diagram_[id].box.index() == i, "a statement and its box disagree");
                ++owners[id.index()];
            }
        }
        for (int count : owners) invariant(count == 1, "a statement in no box, or in two");
    }

    const Array& target(const Statement& statement, std::size_t index) const {
        return diagram_[statement.targets.at(index)];
    }
    static bool has_axis(const Array& array, AxisId axis) {
        return std::find(array.axes.begin(), array.axes.end(), axis) != array.axes.end();
    }

    const Diagram& diagram_;
    std::vector<bool> defined_;
};

}  // namespace

void verify(const Diagram& diagram) {
    Verifier(diagram).run();
}

}  // namespace napkin
