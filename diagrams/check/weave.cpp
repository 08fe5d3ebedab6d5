// Weaving: the axes of `weave` lines are added to inputs, and to everything that depends on them.
//
// An array's woven axes come first, in the order declared. Every read of it gets their indices in
// front; a statement that reads a woven array, or uses a woven axis as an index, gets the axis,
// unless it folds it or its target names it already.
#include <algorithm>
#include <utility>

#include "diagrams/check/context.h"
#include "diagrams/check/messages.h"
#include "diagrams/contains.h"
#include "diagrams/overloaded.h"
#include "diagrams/rewrite_statement.h"

namespace napkin::checking {

namespace {

class Weaver {
public:
    explicit Weaver(Context& context) : context_(context), woven_(context.diagram.arrays.size()) {}

    void run() {
        for (const syntax::Line& line : context_.file.lines)
            if (const auto* weave = std::get_if<syntax::WeaveLine>(&line.body))
                weave_inputs(*weave);
        for (Statement& statement : context_.diagram.statements) weave_statement(statement);
        for_each_expression(context_.diagram.spellings, [&](Expression& written) {
            written = rewrite(std::move(written), [&](Expression part) {
                if (Read* element = std::get_if<Read>(&part.node)) weave_read(*element, part.span);
                return part;
            });
        });
        for (std::size_t i = 0; i < woven_.size(); ++i) {
            Array& array = context_.diagram.arrays[i];
            array.axes.insert(array.axes.begin(), woven_[i].begin(), woven_[i].end());
            array.layout.clear();
            for (std::uint32_t k = 0; k < array.axes.size(); ++k) array.layout.push_back(k);
        }
    }

private:
    void weave_inputs(const syntax::WeaveLine& line) {
        std::vector<AxisId> axes;
        for (const syntax::AxisItem& item : line.axes) {
            axes.push_back(context_.axes.at(item.name.text));
            context_.named_axes.insert(axes.back());
        }
        std::vector<ArrayId> inputs;
        for (const syntax::Name& name : line.over) {
            const auto found = context_.arrays.find(name.text);
            if (found != context_.arrays.end() &&
                context_.array(found->second).role == ArrayRole::Input)
                inputs.push_back(found->second);
            else
                context_.report(messages::not_an_input(name.span, name.text,
                                                       suggestion(name.text, input_names())));
        }
        for (std::uint32_t i = 0; i < context_.diagram.arrays.size(); ++i) {
            const Array& array = context_.diagram.arrays[i];
            if (array.role != ArrayRole::Input) continue;
            if (!line.over.empty() && !contains(inputs, ArrayId{i})) continue;
            const bool names_some = std::any_of(
                axes.begin(), axes.end(), [&](AxisId axis) { return contains(array.axes, axis); });
            if (!names_some) woven_[i].insert(axes.begin(), axes.end());
        }
    }

    std::vector<std::string> input_names() const {
        std::vector<std::string> names;
        for (const Array& array : context_.diagram.arrays)
            if (array.role == ArrayRole::Input) names.push_back(array.name);
        return names;
    }

    /// Puts the indices of the array's woven axes in front.
    void weave_read(Read& element, Span span) const {
        std::vector<Expression> full;
        for (AxisId axis : woven_[element.array.index()])
            full.push_back(make(AxisIndex{axis}, span));
        full.insert(full.end(), std::make_move_iterator(element.index.begin()),
                    std::make_move_iterator(element.index.end()));
        element.index = std::move(full);
    }

    void weave_statement(Statement& statement) {
        std::set<AxisId> used;
        const auto add = [&](Expression& expression) {
            expression = rewrite(std::move(expression), [&](Expression part) {
                if (const AxisIndex* index = std::get_if<AxisIndex>(&part.node))
                    if (context_.axis(index->axis).woven) used.insert(index->axis);
                if (Read* element = std::get_if<Read>(&part.node)) {
                    used.merge(std::set<AxisId>(woven_[element->array.index()]));
                    weave_read(*element, part.span);
                }
                return part;
            });
        };
        std::visit(
            overloaded{
                [&](Map& map) { add(map.value); },
                [&](Fold& fold) { std::for_each(fold.values.begin(), fold.values.end(), add); },
                [&](Select& select) { add(select.value); },
                [&](Opaque& opaque) {
                    std::for_each(opaque.reads.begin(), opaque.reads.end(), add);
                },
            },
            statement.body);
        for (AxisId axis : folded_axes(statement)) used.erase(axis);
        for (ArrayId target : statement.targets)
            for (AxisId axis : context_.array(target).axes) used.erase(axis);
        for (ArrayId target : statement.targets) woven_[target.index()] = used;
    }

    Context& context_;
    std::vector<std::set<AxisId>> woven_;  ///< the axes to put in front, by array
};

}  // namespace

void weave(Context& context) {
    Weaver(context).run();
}

void apply_layouts(Context& context) {
    for (const syntax::Line& line : context.file.lines) {
        const auto* layout = std::get_if<syntax::LayoutLine>(&line.body);
        if (layout == nullptr) continue;
        context.unknown_axes.clear();
        const syntax::Name& name = layout->array.name;
        const auto found = context.arrays.find(name.text);
        if (found == context.arrays.end()) {
            context.report(messages::unknown_array(
                name.span, name.text, suggestion(name.text, names_of(context.arrays))));
            continue;
        }
        Array& array = context.array(found->second);
        std::vector<std::uint32_t> order;
        bool good = layout->array.axes.size() == array.axes.size();
        for (const syntax::Name& axis_name : layout->array.axes) {
            const auto place =
                std::find(array.axes.begin(), array.axes.end(), context.find_axis(axis_name));
            const auto position = static_cast<std::uint32_t>(place - array.axes.begin());
            good = good && place != array.axes.end() && !contains(order, position);
            order.push_back(position);
        }
        if (good) {
            array.layout = std::move(order);
            continue;
        }
        std::vector<std::string> names;
        for (AxisId axis : array.axes) names.push_back(context.axis(axis).name);
        if (!context.failed.contains(found->second) && context.unknown_axes.empty())
            context.report(messages::not_a_layout(name.span, name.text, names));
    }
}

}  // namespace napkin::checking
