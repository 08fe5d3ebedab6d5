#include "tests/language/random_syntax.h"

#include <array>
#include <utility>

namespace napkin::test {

using syntax::Expression;
using syntax::File;
using syntax::Name;

namespace {

Expression make(decltype(Expression::node) node) {
    Expression expression;
    expression.node = std::move(node);
    return expression;
}

}  // namespace

int RandomSyntax::below(int bound) {
    // Not std::uniform_int_distribution: its numbers differ between standard libraries.
    return static_cast<int>(random_() % static_cast<std::uint32_t>(bound));
}

std::string RandomSyntax::word() {
    constexpr std::array<const char*, 16> kWords = {
        "q",        "x",   "d",       "Q",
        "K",        "O",   "sum",     "max",
        "size",     "exp", "softmax", "bf16",
        "e4m3_max", "a_1", "doc",     "a_rather_long_name_of_an_array"};
    return kWords[static_cast<std::size_t>(below(16))];
}

std::vector<Name> RandomSyntax::names(int least, int most) {
    std::vector<Name> list;
    for (int i = least + below(most - least + 1); i > 0; --i) list.push_back(name());
    return list;
}

std::vector<Expression> RandomSyntax::expressions(int least, int most, int depth) {
    std::vector<Expression> list;
    for (int i = least + below(most - least + 1); i > 0; --i) list.push_back(expression(depth));
    return list;
}

syntax::Literal RandomSyntax::literal() {
    constexpr std::array<double, 14> kReals = {0,    1,    0.5,   3.25,    1e-6,   1e20,  5e-324,
                                               1e15, 1e16, 1e300, 1234567, 0.0001, 1e100, 0.1};
    if (chance(50)) {
        if (chance(10)) return {9007199254740992.0, true};
        return {static_cast<double>(below(chance(50) ? 4 : 100000)), true};
    }
    if (chance(50)) return {kReals[static_cast<std::size_t>(below(14))], false};
    return {static_cast<double>(random_()) / (1 + below(1000)), false};
}

syntax::Reduction RandomSyntax::reduction(int depth) {
    const bool tuple = chance(25);
    const bool prefix = chance(30);
    return {name(), names(1, 2), prefix, prefix && chance(30),
            tuple ? expressions(2, 3, depth) : expressions(1, 1, depth)};
}

syntax::Binary RandomSyntax::binary(int depth) {
    constexpr std::array<const char*, 15> kOperators = {
        "+", "-", "*", "/", "//", "%", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or"};
    return {kOperators[static_cast<std::size_t>(below(15))], expressions(2, 2, depth)};
}

Expression RandomSyntax::expression(int depth) {
    const int kind = depth <= 0 ? below(3) : below(12);
    const int inner = depth - 1;
    switch (kind) {
    case 0: return make(literal());
    case 1: return make(syntax::Reference{chance(15) ? Name{"inf", {}} : name()});
    case 2:
    case 3: return make(syntax::Access{name(), expressions(1, 3, inner)});
    case 4: {
        std::vector<Name> axes = names(0, 2);
        const bool has_axes = !axes.empty();
        return make(syntax::Call{name(), std::move(axes), has_axes, expressions(0, 3, inner)});
    }
    case 5:
    case 6: return make(reduction(inner));
    case 7: return make(syntax::Unary{chance(50) ? "-" : "not", expressions(1, 1, inner)});
    case 8: return make(syntax::Conditional{expressions(3, 3, inner)});
    default: return make(binary(inner));
    }
}

syntax::Target RandomSyntax::target(bool with_type) {
    constexpr std::array kTypes = {ElementType::F32, ElementType::TF32, ElementType::BF16,
                                   ElementType::F16, ElementType::E4M3, ElementType::E5M2,
                                   ElementType::I8,  ElementType::I4,   ElementType::I32,
                                   ElementType::I64, ElementType::Bool};
    syntax::Target result;
    result.name = name();
    result.axes = names(0, 3);
    if (with_type && chance(40)) result.type = kTypes[static_cast<std::size_t>(below(11))];
    return result;
}

std::vector<syntax::Target> RandomSyntax::targets(bool with_type) {
    std::vector<syntax::Target> list;
    for (int i = 1 + below(3); i > 0; --i) list.push_back(target(with_type));
    return list;
}

std::vector<syntax::AxisItem> RandomSyntax::axis_items() {
    std::vector<syntax::AxisItem> items;
    for (int i = 1 + below(4); i > 0; --i)
        items.push_back({name(), expression(chance(60) ? 0 : 2), chance(20)});
    return items;
}

/// As the parser leaves it: a type holds for the arrays before it that have none.
syntax::InputLine RandomSyntax::input_line() {
    syntax::InputLine line{targets(true)};
    for (std::size_t i = line.arrays.size(); i-- > 1;)
        if (!line.arrays[i - 1].type) line.arrays[i - 1].type = line.arrays[i].type;
    return line;
}

syntax::LineBody RandomSyntax::body() {
    switch (below(9)) {
    case 0: return syntax::AxisLine{axis_items()};
    case 1: return input_line();
    case 2: {
        syntax::Target param = target(true);
        param.axes.clear();
        return syntax::ParamLine{std::move(param), expression(1)};
    }
    case 3: return syntax::WeaveLine{axis_items(), names(0, 2)};
    case 4: return syntax::LayoutLine{target(false)};
    case 5: return syntax::LetLine{target(false), expression(3)};
    case 6: {
        std::vector<syntax::Target> inputs;
        for (int i = below(3); i > 0; --i) inputs.push_back(target(false));
        return syntax::OpaqueLine{chance(50), name(), std::move(inputs), targets(true)};
    }
    default: return syntax::StatementLine{chance(30), targets(true), expression(5)};
    }
}

std::string RandomSyntax::comment() {
    constexpr std::array<const char*, 4> kTexts = {"# one", "# a = b [ ( # {", "#", "# \xC3\xA9"};
    return kTexts[static_cast<std::size_t>(below(4))];
}

std::vector<std::string> RandomSyntax::comments(bool at_start, bool at_end) {
    std::vector<std::string> list;
    for (int i = below(4); i > 0; --i) {
        const bool blank_allowed = list.empty() ? !at_start : !list.back().empty();
        list.push_back(blank_allowed && chance(50) ? "" : comment());
    }
    while (at_end && !list.empty() && list.back().empty()) list.pop_back();
    return list;
}

syntax::Definition RandomSyntax::definition() {
    syntax::Definition item;
    item.name = name();
    item.axes = names(0, 2);
    item.parameters = names(0, 3);
    item.value = expression(4);
    if (chance(50)) item.glyph = name();
    if (chance(30)) item.comment_after = comment();
    return item;
}

syntax::MonoidDefinition RandomSyntax::monoid() {
    syntax::MonoidDefinition item;
    const int parts = 1 + below(3);
    item.name = name();
    item.left = names(parts, parts);
    item.right = names(parts, parts);
    item.combine = expressions(parts, parts, 3);
    item.identity = expressions(parts, parts, 1);
    item.commutative = chance(70);
    if (chance(30)) item.comment_after = comment();
    return item;
}

File RandomSyntax::file() {
    File result;
    for (int i = below(3); i > 0; --i) {
        const bool at_start = result.definitions.empty();
        if (chance(50)) {
            syntax::Definition item = definition();
            item.comments_before = comments(at_start, false);
            result.definitions.emplace_back(std::move(item));
        } else {
            syntax::MonoidDefinition item = monoid();
            item.comments_before = comments(at_start, false);
            result.definitions.emplace_back(std::move(item));
        }
    }
    if (result.definitions.empty() || chance(80)) {
        result.diagram = name();
        result.comments_before = comments(result.definitions.empty(), false);
        for (int i = below(6); i > 0; --i) {
            syntax::Line line;
            line.comments_before = comments(result.lines.empty(), false);
            line.body = body();
            if (chance(30)) line.comment_after = comment();
            result.lines.push_back(std::move(line));
        }
        result.comments_after = comments(result.lines.empty(), true);
    }
    result.comments_at_end = comments(false, true);
    return result;
}

}  // namespace napkin::test
