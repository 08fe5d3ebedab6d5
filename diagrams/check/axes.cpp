// Axis and weave lines: sizes as formulas over base axes, and in numbers.
#include <algorithm>
#include <cmath>
#include <utility>

#include "diagrams/check/context.h"
#include "diagrams/check/messages.h"
#include "diagrams/overloaded.h"
#include "diagrams/symbol_names.h"

namespace napkin::checking {

namespace {

struct Item {
    const syntax::AxisItem* source = nullptr;
    AxisId id;
    enum class State { New, Open, Done } state = State::New;
    std::set<AxisId> bases;  ///< axes that its size follows from
};

class AxisResolver {
public:
    AxisResolver(Context& context, const Sizes& overrides)
        : context_(context), overrides_(overrides) {}

    void run() {
        for (const syntax::Line& line : context_.file.lines) {
            if (const auto* axes = std::get_if<syntax::AxisLine>(&line.body))
                for (const syntax::AxisItem& item : axes->axes) add(item, false);
            if (const auto* weave = std::get_if<syntax::WeaveLine>(&line.body))
                for (const syntax::AxisItem& item : weave->axes) add(item, true);
        }
        for (Item& item : items_) resolve(item);
        for (const auto& [name, size] : overrides_)
            if (!context_.axes.contains(name))
                context_.report(
                    messages::unknown_size(name, suggestion(name, names_of(context_.axes))));
    }

private:
    void add(const syntax::AxisItem& item, bool woven) {
        if (!context_.claim(item.name)) return;
        const AxisId id = context_.add_axis(item.name);
        context_.axis(id).dynamic = item.dynamic;
        context_.axis(id).woven = woven;
        context_.axes[item.name.text] = id;
        items_.push_back({&item, id, Item::State::New, {}});
    }

    /// Gives an axis its formula and extent, after the axes that its size names.
    void resolve(Item& item) {
        if (item.state == Item::State::Done) return;
        if (item.state == Item::State::Open) {
            context_.report(messages::cyclic_size(item.source->name.span, item.source->name.text));
            return;
        }
        item.state = Item::State::Open;
        const std::optional<Formula> size = checked_formula(item);
        item.state = Item::State::Done;
        if (!size) return;
        const std::string& name = item.source->name.text;
        Axis& axis = context_.axis(item.id);
        const auto chosen = overrides_.find(name);
        const bool base = item.bases.empty();
        if (!base) axis.size = *size;
        for (const AxisId part : item.bases)
            axis.dynamic = axis.dynamic || context_.axis(part).dynamic;
        if (chosen != overrides_.end() && !base) {
            context_.report(
                messages::derived_size(item.source->name.span, name,
                                       napkin::print(*size, SymbolNames(context_.diagram.axes))));
        } else if (chosen != overrides_.end()) {
            if (chosen->second < 1) context_.report(messages::set_below_one(name, chosen->second));
            axis.extent = std::max<std::int64_t>(chosen->second, 1);
            return;
        }
        axis.extent = extent_of(*size, item);
    }

    std::int64_t extent_of(const Formula& size, const Item& item) {
        const Span place = item.source->size.span;
        const std::string& name = item.source->name.text;
        const std::optional<Rational> value = evaluate(size, extents_of(context_.diagram.axes));
        if (!value) {
            context_.report(messages::size_overflow(place, name));
        } else if (value->denominator != 1) {
            context_.report(messages::size_not_whole(
                place, name,
                std::to_string(value->numerator) + "/" + std::to_string(value->denominator),
                false));
        } else if (value->numerator < 1) {
            context_.report(
                messages::size_below_one(place, name, std::to_string(value->numerator)));
        } else {
            return value->numerator;
        }
        return 1;
    }

    /// Formulas are exact and throw where a constant leaves 64 bits: here that is the user's doing.
    std::optional<Formula> checked_formula(Item& item) {
        try {
            return formula(item.source->size, item);
        } catch (const InternalError&) {
            context_.report(
                messages::size_overflow(item.source->size.span, item.source->name.text));
            return std::nullopt;
        }
    }

    std::optional<Formula> formula(const syntax::Expression& expression, Item& item) {
        if (const auto* literal = std::get_if<syntax::Literal>(&expression.node)) {
            // `1e3` is whole too.
            const bool is_whole = literal->value == std::floor(literal->value);
            if (is_whole && std::abs(literal->value) < 0x1p53)
                return Formula(static_cast<std::int64_t>(literal->value));
            const std::string& name = item.source->name.text;
            const std::string size = napkin::print(context_.diagram, number(literal->value));
            context_.report(is_whole ? messages::size_too_large(expression.span, name, size)
                                     : messages::size_not_whole(expression.span, name, size, true));
            return std::nullopt;
        }
        if (const auto* name = std::get_if<syntax::Reference>(&expression.node))
            return size_named(name->name, item);
        if (const auto* unary = std::get_if<syntax::Unary>(&expression.node);
            unary != nullptr && unary->op == "-") {
            const std::optional<Formula> inner = formula(unary->operand.front(), item);
            return inner ? std::optional<Formula>(Formula(0) - *inner) : std::nullopt;
        }
        if (const auto* binary = std::get_if<syntax::Binary>(&expression.node))
            return binary_formula(*binary, expression.span, item);
        if (const auto* call = std::get_if<syntax::Call>(&expression.node))
            return call_formula(*call, expression.span, item);
        context_.report(messages::not_a_size(expression.span));
        return std::nullopt;
    }

    std::optional<Formula> size_named(const syntax::Name& name, Item& item) {
        const AxisId axis = context_.find_axis(name);
        if (context_.invented.contains(name.text)) return std::nullopt;
        Item& other = *std::find_if(items_.begin(), items_.end(),
                                    [&](const Item& known) { return known.id == axis; });
        resolve(other);
        if (other.state != Item::State::Done) return std::nullopt;
        if (other.bases.empty())
            item.bases.insert(axis);
        else
            item.bases.insert(other.bases.begin(), other.bases.end());
        return context_.axis(axis).size;
    }

    std::optional<Formula> binary_formula(const syntax::Binary& binary, Span span, Item& item) {
        const std::optional<Formula> left = formula(binary.operands[0], item);
        const std::optional<Formula> right = formula(binary.operands[1], item);
        if (!left || !right) return std::nullopt;
        if (binary.op == "+") return *left + *right;
        if (binary.op == "-") return *left - *right;
        if (binary.op == "*") return *left * *right;
        if (binary.op == "/") return divide(*left, *right);
        if (binary.op == "//") return floor_divide(*left, *right);
        if (binary.op == "%") return modulo(*left, *right);
        context_.report(messages::not_a_size(span));
        return std::nullopt;
    }

    std::optional<Formula> call_formula(const syntax::Call& call, Span span, Item& item) {
        std::vector<Formula> arguments;
        for (const syntax::Expression& argument : call.arguments) {
            const std::optional<Formula> value = formula(argument, item);
            if (!value) return std::nullopt;
            arguments.push_back(*value);
        }
        const std::string& name = call.function.text;
        if (name == "size" && arguments.size() == 1) return arguments[0];
        if (name == "min" && arguments.size() == 2) return min_of(arguments[0], arguments[1]);
        if (name == "max" && arguments.size() == 2) return max_of(arguments[0], arguments[1]);
        context_.report(messages::not_a_size(span));
        return std::nullopt;
    }

    Context& context_;
    const Sizes& overrides_;
    std::vector<Item> items_;
};

}  // namespace

void resolve_axes(Context& context, const Sizes& sizes) {
    const std::size_t before = context.errors.list.size();
    AxisResolver(context, sizes).run();
    if (context.errors.list.size() > before) context.sizes_known = false;
}

}  // namespace napkin::checking
