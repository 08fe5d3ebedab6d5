#include "schedule/past_end.h"

#include <algorithm>
#include <cmath>

#include "schedule/statements.h"

namespace napkin::schedule {

namespace {

/// What an expression is where the condition fails.
enum class Outside { Zero, MinusInfinity, Any };

class PastEnd {
public:
    PastEnd(const RegionProgram& region, const Expression& inside)
        : region_(region), inside_(inside), place_(axes_used(inside)) {
        for_statements(region.body, [&](const TileStatement& statement, const Loop*) {
            if (const Compute* compute = std::get_if<Compute>(&statement.node))
                statements_.push_back(&compute->statement);
            else if (const Save* save = std::get_if<Save>(&statement.node))
                saved_.insert(region_.variables[save->source.index()].array);
        });
    }

    /// Of an array whose elements outside are finite, or may be infinite. While it is asked, the
    /// same array is taken to be so: a sum that adds to itself.
    bool is_unneeded(ArrayId array, bool finite = true) {
        if (!asked_.insert({array, finite}).second) return true;
        if (saved_.contains(array) || !at_one_place(array)) return false;
        for (const Statement* statement : statements_) {
            if (!reaches(*statement, array, finite)) continue;
            if (!has_place(*statement)) return false;
            for (const ArrayId target : statement->targets)
                if (!is_unneeded(target, finite && stays_finite(*statement, array))) return false;
        }
        return true;
    }

private:
    /// Whether the array is read at one index alone, which of what is computed is its own.
    [[nodiscard]] bool at_one_place(ArrayId array) const {
        std::optional<Expression> index;
        if (const Array& made = region_.arrays[array.index()]; is_computed(array))
            index = read_axes(array, made.axes);
        bool alike = true;
        for (const Statement* statement : statements_)
            for (const Expression* value : expressions_of(*statement))
                walk(*value, [&](const Expression& node) {
                    const Read* element = std::get_if<Read>(&node.node);
                    if (element == nullptr || element->array != array) return;
                    alike = alike && (!index || *index == node);
                    index = node;
                });
        return alike;
    }
    [[nodiscard]] bool is_computed(ArrayId array) const {
        return std::any_of(statements_.begin(), statements_.end(), [&](const Statement* statement) {
            const std::vector<ArrayId>& made = statement->targets;
            return std::find(made.begin(), made.end(), array) != made.end();
        });
    }

    /// Whether the statement has results of every place apart.
    [[nodiscard]] bool has_place(const Statement& statement) const {
        const std::vector<AxisId>& axes = region_.arrays[statement.targets.front().index()].axes;
        return std::all_of(place_.begin(), place_.end(), [&](AxisId axis) {
            return std::find(axes.begin(), axes.end(), axis) != axes.end();
        });
    }

    /// Whether it is finite where elements of the array are, whatever these are.
    static bool stays_finite(const Expression& value, ArrayId array) {
        return !any_part(value, [&](const Expression& part) {
            const Apply* call = std::get_if<Apply>(&part.node);
            if (call == nullptr || !arrays_read(part).contains(array)) return false;
            switch (call->function) {
            case Function::Negate:
            case Function::Add:
            case Function::Subtract:
            case Function::Multiply:
            case Function::Min:
            case Function::Max:
            case Function::Tanh:
            case Function::Select: return false;
            case Function::Divide: return arrays_read(call->arguments[1]).contains(array);
            default: return true;
            }
        });
    }
    static bool stays_finite(const Statement& statement, ArrayId array) {
        const std::vector<const Expression*> expressions = expressions_of(statement);
        return std::all_of(expressions.begin(), expressions.end(),
                           [&](const Expression* value) { return stays_finite(*value, array); });
    }

    /// Whether an element of the array that is read outside may change what the statement makes. A
    /// sum of products may come without its condition, by a factor that is zero: all others have to
    /// be finite then.
    bool reaches(const Statement& statement, ArrayId array, bool finite) {
        if (std::holds_alternative<Opaque>(statement.body)) return true;
        const bool chosen = !std::holds_alternative<Fold>(statement.body);
        const std::vector<const Expression*> expressions = expressions_of(statement);
        return std::any_of(expressions.begin(), expressions.end(), [&](const Expression* value) {
            return reaches(*value, array, finite, chosen);
        });
    }
    bool reaches(const Expression& value, ArrayId array, bool finite, bool chosen) {
        if (!arrays_read(value).contains(array)) return false;
        if (const Convert* convert = std::get_if<Convert>(&value.node))
            return reaches(convert->argument.front(), array, finite, chosen);
        const Apply* call = std::get_if<Apply>(&value.node);
        if (call == nullptr) return true;
        const auto harmless = [&](const Expression& part) {
            return finite && stays_finite(part, array);
        };
        if (call->function == Function::Select && tests(call->arguments[0]) &&
            (chosen || harmless(call->arguments[1])))
            return reaches(call->arguments[2], array, finite, chosen);
        if (call->function == Function::Multiply)
            for (const std::size_t side : {0, 1})
                if (!arrays_read(call->arguments[side]).contains(array) &&
                    outside(call->arguments[side]) == Outside::Zero &&
                    harmless(call->arguments[1 - side]))
                    return false;
        return std::any_of(
            call->arguments.begin(), call->arguments.end(),
            [&](const Expression& argument) { return reaches(argument, array, finite, chosen); });
    }

    [[nodiscard]] bool tests(const Expression& condition) const {
        const std::vector<Expression> all = conjuncts_of(condition);
        return std::find(all.begin(), all.end(), inside_) != all.end();
    }

    Outside outside(const Expression& value) {
        if (const double* known = literal(value))
            return *known == 0           ? Outside::Zero
                   : *known == -HUGE_VAL ? Outside::MinusInfinity
                                         : Outside::Any;
        if (const Read* element = std::get_if<Read>(&value.node)) return outside(*element);
        if (const Convert* convert = std::get_if<Convert>(&value.node))
            return outside(convert->argument.front());
        const Apply* call = std::get_if<Apply>(&value.node);
        if (call == nullptr) return Outside::Any;
        const auto of = [&](std::size_t i) { return outside(call->arguments[i]); };
        switch (call->function) {
        case Function::Select: return tests(call->arguments[0]) ? of(2) : Outside::Any;
        case Function::Exp: return of(0) == Outside::MinusInfinity ? Outside::Zero : Outside::Any;
        case Function::Subtract:
            return of(0) == Outside::MinusInfinity && is_guard(call->arguments[1])
                       ? Outside::MinusInfinity
                       : Outside::Any;
        default: return Outside::Any;
        }
    }
    /// An element of its own place, of what is made by one statement.
    Outside outside(const Read& element) {
        const Expression* value = nullptr;
        for (const Statement* statement : statements_) {
            if (std::find(statement->targets.begin(), statement->targets.end(), element.array) ==
                statement->targets.end())
                continue;
            const Map* map = std::get_if<Map>(&statement->body);
            if (value != nullptr || map == nullptr) return Outside::Any;
            value = &map->value;
        }
        if (value == nullptr ||
            Expression{element, {}} !=
                read_axes(element.array, region_.arrays[element.array.index()].axes))
            return Outside::Any;
        return outside(*value);
    }
    static bool is_guard(const Expression& value) {
        const Apply* call = std::get_if<Apply>(&value.node);
        return call != nullptr && call->function == Function::Guard;
    }

    const RegionProgram& region_;
    const Expression& inside_;
    const std::set<AxisId> place_;
    std::vector<const Statement*> statements_;
    std::set<ArrayId> saved_;
    std::set<std::pair<ArrayId, bool>> asked_;
};

}  // namespace

bool is_unneeded_outside(const RegionProgram& region, ArrayId array, const Expression& inside) {
    return PastEnd(region, inside).is_unneeded(array);
}

}  // namespace napkin::schedule
