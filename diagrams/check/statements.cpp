// Statement lines: each becomes a box with one statement a reduction, and one for its target.
#include <algorithm>
#include <utility>

#include "diagrams/check/constants.h"
#include "diagrams/check/messages.h"
#include "diagrams/check/resolve.h"
#include "diagrams/check/types.h"
#include "diagrams/contains.h"
#include "diagrams/overloaded.h"

namespace napkin::checking {

namespace {

const std::vector<syntax::Target>* targets_of(const syntax::Line& line) {
    if (const auto* statement = std::get_if<syntax::StatementLine>(&line.body))
        return &statement->targets;
    if (const auto* opaque = std::get_if<syntax::OpaqueLine>(&line.body)) return &opaque->outputs;
    return nullptr;
}

class LineChecker {
public:
    LineChecker(Context& context, const syntax::Line& line)
        : context_(context),
          line_(line),
          box_{static_cast<std::uint32_t>(context.diagram.boxes.size())},
          first_(context.diagram.statements.size()) {}

    void run() {
        context_.unknown_axes.clear();
        if (const auto* statement = std::get_if<syntax::StatementLine>(&line_.body))
            run_statement(*statement);
        if (const auto* opaque = std::get_if<syntax::OpaqueLine>(&line_.body)) run_opaque(*opaque);
    }

private:
    /// Adds the arrays that the line defines; they get their names only when it is done.
    void add_targets(const std::vector<syntax::Target>& targets, bool output) {
        for (const syntax::Target& target : targets) {
            const bool fresh = context_.places.at(target.name.text).begin == target.name.span.begin;
            const std::size_t before = context_.errors.list.size();
            const ArrayRole role = output ? ArrayRole::Output : ArrayRole::Intermediate;
            Array array = context_.declare(target, role);
            const ArrayId id = context_.add_array(std::move(array));
            if (!fresh || context_.errors.list.size() > before || !context_.unknown_axes.empty())
                context_.failed.insert(id);
            targets_.push_back(id);
        }
        const std::vector<AxisId>& axes = context_.array(targets_.front()).axes;
        for (ArrayId id : targets_)
            if (context_.array(id).axes != axes)
                context_.report(messages::targets_disagree(context_.array(id).span,
                                                           context_.array(targets_.front()).name,
                                                           context_.array(id).name));
    }

    void finish() {
        for (ArrayId id : targets_) {
            context_.arrays.emplace(context_.array(id).name, id);
            context_.later.erase(context_.array(id).name);
        }
        Box box = std::move(drawn_);
        box.span = line_.span;
        for (std::size_t i = first_; i < context_.diagram.statements.size(); ++i)
            box.statements.push_back(StatementId{static_cast<std::uint32_t>(i)});
        if (!box.statements.empty()) context_.diagram.boxes.push_back(std::move(box));
    }

    void run_statement(const syntax::StatementLine& source) {
        add_targets(source.targets, source.output);
        const Array first = context_.array(targets_.front());
        Resolver resolver(context_, first.name, first.axes, box_, line_.span);
        std::optional<Whole> whole = resolver.whole(source.value, Scope());
        if (whole && context_.unknown_axes.empty()) {
            draw_as(source.value);
            std::visit(overloaded{
                           [&](Expression& value) { emit_map(std::move(value)); },
                           [&](Reduction& made) { emit_reduction(resolver, std::move(made)); },
                       },
                       *whole);
        } else {
            context_.failed.insert(targets_.begin(), targets_.end());
        }
        finish();
    }

    /// A call that is the whole right side gives the box its name and glyph.
    void draw_as(const syntax::Expression& source) {
        const auto* call = std::get_if<syntax::Call>(&source.node);
        if (call == nullptr) return;
        const auto operation = context_.operations.find(call->function.text);
        if (operation == context_.operations.end()) return;
        drawn_.name = call->function.text;
        drawn_.glyph = operation->second.definition->glyph.text;
        for (const syntax::Name& name : call->axes)
            drawn_.glyph_axes.push_back(context_.axes.at(name.text));
        const std::vector<syntax::Name>& parameters = operation->second.definition->parameters;
        for (std::size_t i = 0; i < parameters.size(); ++i)
            if (const std::optional<double> number = number_of(call->arguments[i]))
                drawn_.numbers.push_back({parameters[i].text, *number});
            else if (!is_array(call->arguments[i]))
                drawn_.of_arrays = false;
    }

    /// Whether it is an array at indices that are axes alone.
    static bool is_array(const syntax::Expression& argument) {
        const auto* access = std::get_if<syntax::Access>(&argument.node);
        if (access == nullptr) return std::holds_alternative<syntax::Reference>(argument.node);
        return std::all_of(access->index.begin(), access->index.end(), [](const auto& index) {
            return std::holds_alternative<syntax::Reference>(index.node);
        });
    }

    [[nodiscard]] std::optional<double> number_of(const syntax::Expression& argument) const {
        if (const auto* reference = std::get_if<syntax::Reference>(&argument.node))
            if (const auto array = context_.arrays.find(reference->name.text);
                array != context_.arrays.end())
                return context_.array(array->second).value;
        const std::optional<Number> constant = constant_value(argument);
        return constant ? std::optional(constant->value) : std::nullopt;
    }

    void emit(std::variant<Map, Fold, Select, Opaque> body) {
        Statement statement{targets_, std::move(body), box_, line_.span};
        for (const Expression* expression : expressions_of(statement))
            check_bound(*expression, statement);
        assign_types(context_, statement);
        context_.diagram.statements.push_back(std::move(statement));
    }

    /// Reports axes that neither the target nor a fold binds.
    void check_bound(const Expression& expression, const Statement& statement) {
        const std::vector<AxisId> bound = axes_of(context_.diagram, statement);
        std::set<AxisId> reported;
        walk(expression, [&](const Expression& part) {
            const AxisIndex* index = std::get_if<AxisIndex>(&part.node);
            if (index == nullptr || contains(bound, index->axis)) return;
            const Axis& axis = context_.axis(index->axis);
            if (axis.woven || !reported.insert(index->axis).second) return;
            if (context_.failed.contains(targets_.front())) return;
            context_.report(messages::unbound_axis(part.span, axis.name,
                                                   context_.array(targets_.front()).name));
        });
    }

    void emit_map(Expression value) {
        if (targets_.size() != 1) {
            context_.report(messages::target_count(line_.span, "this expression", targets_.size(),
                                                   "one array"));
            context_.failed.insert(targets_.begin(), targets_.end());
            return;
        }
        emit(Map{std::move(value)});
    }

    /// The target takes the reduction over when it has exactly the axes that the value needs;
    /// otherwise the reduction gets a target of its own, which is then spread over the axes.
    void emit_reduction(Resolver& resolver, Reduction made) {
        if (made.ranked && !add_rank(made)) return;
        const bool selects = std::holds_alternative<Select>(made.body);
        const Fold* fold = std::get_if<Fold>(&made.body);
        const std::size_t components = fold != nullptr ? fold->values.size() : 2;
        const bool one_of_two = selects && targets_.size() == 1;
        if (targets_.size() != components && !one_of_two) {
            const std::string wanted =
                selects ? "values and indices" : std::to_string(components) + " arrays";
            context_.report(messages::target_count(line_.span, "this reduction", targets_.size(),
                                                   components == 1 ? "one array" : wanted));
            context_.failed.insert(targets_.begin(), targets_.end());
            return;
        }
        if (!check_scan(made)) return;
        const std::vector<AxisId> plain =
            without_woven(context_.array(targets_.front()).axes, made);
        std::vector<AxisId> needed = made.free;
        std::vector<AxisId> given = plain;
        std::sort(needed.begin(), needed.end());
        std::sort(given.begin(), given.end());
        if (!check_free(made)) return;
        if (needed == given) {
            if (one_of_two) add_other_target(made.ranked);
            std::visit([&](auto& body) { emit(std::move(body)); }, made.body);
            return;
        }
        spread(resolver, std::move(made), one_of_two);
    }

    /// Reports axes that the reduction's value needs and the target lacks.
    bool check_free(const Reduction& made) {
        const Array target = context_.array(targets_.front());
        std::vector<const Expression*> values;
        if (const Fold* fold = std::get_if<Fold>(&made.body))
            for (const Expression& value : fold->values) values.push_back(&value);
        else
            values.push_back(&std::get<Select>(made.body).value);
        bool good = true;
        for (AxisId axis : made.free) {
            if (contains(target.axes, axis)) continue;
            good = false;
            Span place = made.span;
            for (const Expression* value : values)
                walk(*value, [&](const Expression& part) {
                    const AxisIndex* index = std::get_if<AxisIndex>(&part.node);
                    if (index != nullptr && index->axis == axis) place = part.span;
                });
            context_.report(messages::unbound_axis(place, context_.axis(axis).name, target.name));
        }
        if (!good) context_.failed.insert(targets_.begin(), targets_.end());
        return good;
    }

    /// The axes that a reduction's target must name: woven ones come by themselves.
    std::vector<AxisId> without_woven(std::vector<AxisId> axes, const Reduction& made) const {
        std::erase_if(axes, [&](AxisId axis) {
            return context_.axis(axis).woven && !contains(made.free, axis) && !folds(made, axis);
        });
        return axes;
    }

    static bool folds(const Reduction& made, AxisId axis) {
        if (const Fold* fold = std::get_if<Fold>(&made.body)) return contains(fold->over, axis);
        return std::get<Select>(made.body).over == axis;
    }

    bool check_scan(const Reduction& made) {
        const Fold* fold = std::get_if<Fold>(&made.body);
        if (fold == nullptr || !fold->every_prefix) return true;
        const Array& target = context_.array(targets_.front());
        if (contains(target.axes, fold->over.front())) return true;
        context_.report(messages::scan_axis_missing(
            made.span, context_.axis(fold->over.front()).name, target.name));
        context_.failed.insert(targets_.begin(), targets_.end());
        return false;
    }

    /// The one axis of the target that the value of a top-k does not use ranks its results.
    bool add_rank(Reduction& made) {
        Select& select = std::get<Select>(made.body);
        std::vector<AxisId> ranks;
        for (AxisId axis : context_.array(targets_.front()).axes)
            if (!contains(made.free, axis) && !context_.axis(axis).woven) ranks.push_back(axis);
        if (ranks.size() != 1 || ranks.front() == select.over) {
            context_.report(
                messages::no_rank_axis(made.span, context_.array(targets_.front()).name));
            context_.failed.insert(targets_.begin(), targets_.end());
            return false;
        }
        select.rank = ranks.front();
        const Axis& rank = context_.axis(ranks.front());
        const Axis& over = context_.axis(select.over);
        if (rank.dynamic)
            context_.report(messages::rank_at_run_time(made.span, rank.name, over.name));
        else if (context_.sizes_known && rank.extent > over.extent)
            context_.report(messages::rank_too_large(made.span, rank.name, rank.extent, over.name,
                                                     over.extent));
        made.free.push_back(ranks.front());
        return true;
    }

    /// A selection whose values or indices nobody named.
    void add_other_target(bool ranked) {
        const Array& given = context_.array(targets_.front());
        Array other;
        other.name = given.name + ".0";
        other.named = false;
        other.axes = given.axes;
        other.span = given.span;
        const ArrayId id = context_.add_array(std::move(other));
        targets_.insert(ranked ? targets_.end() : targets_.begin(), id);
    }

    void spread(Resolver& resolver, Reduction made, bool one_of_two) {
        const bool ranked = made.ranked;
        std::vector<ArrayId> arrays = resolver.hoist(std::move(made), {});
        if (one_of_two) arrays = {ranked ? arrays[0] : arrays[1]};
        const std::vector<ArrayId> targets = targets_;
        for (std::size_t i = 0; i < targets.size(); ++i) {
            targets_ = {targets[i]};
            Expression value = read_axes(arrays[i], context_.array(arrays[i]).axes);
            value.span = line_.span;
            emit(Map{std::move(value)});
        }
        targets_ = targets;
    }

    void run_opaque(const syntax::OpaqueLine& source) {
        Opaque body;
        body.name = source.function.text;
        bool good = true;
        for (const syntax::Target& input : source.inputs) {
            const auto found = context_.arrays.find(input.name.text);
            if (found == context_.arrays.end()) {
                good = false;
                const auto later = context_.later.find(input.name.text);
                if (later != context_.later.end())
                    context_.report(
                        messages::used_before(input.name.span, input.name.text, later->second));
                else
                    context_.report(messages::unknown_array(
                        input.name.span, input.name.text,
                        suggestion(input.name.text, names_of(context_.arrays))));
                continue;
            }
            const Array used = context_.declare(input, ArrayRole::Input);
            if (used.axes.size() != context_.array(found->second).axes.size()) {
                good = false;
                std::vector<std::string> names;
                for (AxisId axis : context_.array(found->second).axes)
                    names.push_back(context_.axis(axis).name);
                context_.report(messages::wrong_index_count(input.name.span, input.name.text,
                                                            used.axes.size(), names));
            }
            body.reads.push_back(read_axes(found->second, used.axes));
            for (Expression* part : {&body.reads.back()}) part->span = input.name.span;
        }
        add_targets(source.outputs, source.output);
        if (good) {
            drawn_.name = source.function.text;
            Statement statement{targets_, std::move(body), box_, line_.span};
            context_.diagram.statements.push_back(std::move(statement));
        } else {
            context_.failed.insert(targets_.begin(), targets_.end());
        }
        finish();
    }

    Context& context_;
    const syntax::Line& line_;
    BoxId box_;
    std::size_t first_;
    Box drawn_;
    std::vector<ArrayId> targets_;
};

}  // namespace

void resolve_statements(Context& context) {
    for (const syntax::Line& line : context.file.lines)
        if (const std::vector<syntax::Target>* targets = targets_of(line))
            for (const syntax::Target& target : *targets)
                if (context.claim(target.name))
                    context.later.emplace(target.name.text, target.name.span);
    for (const syntax::Line& line : context.file.lines) LineChecker(context, line).run();
}

}  // namespace napkin::checking
