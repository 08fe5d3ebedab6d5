#include "diagrams/syntax/expression_parser.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "diagrams/messages.h"

namespace napkin::syntax {

namespace {

constexpr std::uint64_t kLargestInteger = std::uint64_t{1} << 53U;  // exact as a double up to here

/// `digits`, `digits.digits`, either with an exponent.
bool is_well_formed_number(std::string_view text) {
    std::size_t at = 0;
    const auto digits = [&] {
        const std::size_t begin = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
        return at > begin;
    };
    if (!digits()) return false;
    if (at < text.size() && text[at] == '.') {
        ++at;
        if (!digits()) return false;
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        if (!digits()) return false;
    }
    return at == text.size();
}

bool is_exact_integer(std::string_view digits) {
    std::uint64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return read.ec == std::errc() && value <= kLargestInteger;
}

/// Whether a well-formed number that no double can hold is above one rather than close to zero.
bool is_above_one(std::string_view text) {
    const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
    const std::string_view mantissa = text.substr(0, exponent_at);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    const std::size_t first = mantissa.find_first_not_of("0.");
    if (first == std::string_view::npos) return false;
    std::string_view exponent = text.substr(std::min(exponent_at + 1, text.size()));
    const bool negative = exponent.starts_with('-');
    if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
    std::int64_t power = 0;
    const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
    if (read.ec == std::errc::result_out_of_range) return !negative;
    return static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) +
               (negative ? -power : power) >
           0;
}

/// Terms that operators join from left to right without brackets.
std::size_t terms_in_a_row(const Expression& expression) {
    std::size_t terms = 1;
    const Expression* left = &expression;
    while (const Binary* joined = std::get_if<Binary>(&left->node)) {
        if (left->parenthesised) break;
        left = &joined->operands[0];
        ++terms;
    }
    return terms;
}

/// What makes an expression too high: its brackets, or a row of terms, one fewer of which would do.
Diagnostic too_high(const Expression& expression) {
    const std::size_t terms = terms_in_a_row(expression);
    return terms > kDeepest / 2 ? messages::too_many_in_a_row(expression.span, terms - 1)
                                : messages::nested_too_deep(expression.span, kDeepest);
}

}  // namespace

Precedence precedence_of(std::string_view op) {
    if (op == "or") return Precedence::Or;
    if (op == "and") return Precedence::And;
    if (op == "+" || op == "-") return Precedence::Sum;
    if (op == "*" || op == "/" || op == "//" || op == "%") return Precedence::Product;
    if (op == "^") return Precedence::Power;
    const bool compares =
        op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
    return compares ? Precedence::Comparison : Precedence::Loosest;
}

Expression ExpressionParser::parse() {
    return binary(Precedence::Loosest).expression;
}

std::vector<Expression> ExpressionParser::parse_tuple() {
    if (cursor_.at(TokenKind::LeftParen) && cursor_.peek().has_comma)
        return list_until(cursor_.take()).items;
    std::vector<Expression> one;
    one.push_back(parse());
    return one;
}

ExpressionParser::Tree ExpressionParser::finish(Tree tree, Span begin) {
    tree.expression.span = cover(begin, cursor_.span(cursor_.previous()));
    if (tree.height > kDeepest) cursor_.fail(too_high(tree.expression));
    return tree;
}

ExpressionParser::Tree ExpressionParser::binary(Precedence least) {
    if (depth_ >= kDeepestText) {
        cursor_.fail(messages::nested_too_deep(cursor_.here(), kDeepest));
        return {};
    }
    ++depth_;
    Tree left = prefix(least);
    while (!cursor_.failed() && is_binary_operator(cursor_.peek().kind)) {
        const Token& op = cursor_.peek();
        const Precedence level = precedence_of(spelling(op.kind));
        if (level < least) break;
        cursor_.take();
        // A power groups to the right and takes a sign, `2^-x^2`; the others group to the left.
        Tree right = binary(level == Precedence::Power ? Precedence::Unary : tighter(level));
        if (cursor_.failed()) break;
        left = join(std::move(left), op, std::move(right));
    }
    --depth_;
    return left;
}

ExpressionParser::Tree ExpressionParser::join(Tree left, const Token& op, Tree right) {
    const bool compares = precedence_of(spelling(op.kind)) == Precedence::Comparison;
    const Span begin = left.expression.span;
    const Binary* inner = std::get_if<Binary>(&left.expression.node);
    const bool chains = compares && inner != nullptr && !left.expression.parenthesised &&
                        precedence_of(inner->op) == Precedence::Comparison;
    if (chains) {
        const Expression& middle = inner->operands[1];
        std::string help = "write ";
        help += "`" + std::string(cursor_.text(left.expression.span)) + " and " +
                std::string(cursor_.text(middle.span)) + " " + std::string(spelling(op.kind)) +
                " " + std::string(cursor_.text(right.expression.span)) + "`";
        if (help.size() > 160 || help.find('\n') != std::string::npos)
            help = "join two comparisons with `and`";
        cursor_.report(
            messages::chained_comparison(cursor_.span(op), left.expression.span, std::move(help)));
    }
    Tree tree;
    tree.height = std::max(left.height, right.height) + 1;
    Binary node{std::string(spelling(op.kind)), {}};
    node.operands.reserve(2);
    node.operands.push_back(std::move(left.expression));
    node.operands.push_back(std::move(right.expression));
    tree.expression.node = std::move(node);
    return finish(std::move(tree), begin);
}

ExpressionParser::Tree ExpressionParser::prefix(Precedence least) {
    const Token& token = cursor_.peek();
    const bool minus = token.kind == TokenKind::Minus;
    const bool negation = token.kind == TokenKind::Not;
    if (!minus && !negation) return primary();
    if (negation && least > Precedence::Not) return missing();
    cursor_.take();
    Tree operand = binary(minus ? Precedence::Unary : Precedence::Not);
    Tree tree;
    tree.height = operand.height + 1;
    Unary node{std::string(spelling(token.kind)), {}};
    node.operand.push_back(std::move(operand.expression));
    tree.expression.node = std::move(node);
    return finish(std::move(tree), cursor_.span(token));
}

ExpressionParser::Tree ExpressionParser::primary() {
    switch (cursor_.peek().kind) {
    case TokenKind::Number: return number();
    case TokenKind::Inf: {
        const Token& token = cursor_.take();
        Tree tree;
        tree.expression = {Reference{{"inf", cursor_.span(token)}}, cursor_.span(token)};
        return tree;
    }
    case TokenKind::Identifier: return named();
    case TokenKind::Scan:
    case TokenKind::ExclusiveScan: return scan();
    case TokenKind::If: return conditional();
    case TokenKind::LeftParen: return parenthesised();
    default: return missing();
    }
}

ExpressionParser::Tree ExpressionParser::missing() {
    const TokenKind before = cursor_.previous().kind;
    const TokenKind kind = cursor_.peek().kind;
    std::string help;
    if (before == TokenKind::Star && kind == TokenKind::Star) help = "a power is written `x ^ 2`";
    if (before == kind && kind == TokenKind::Less) help = "of bits, write `shift_left(u, n)`";
    if (before == kind && kind == TokenKind::Greater) help = "of bits, write `shift_right(u, n)`";
    if (kind == TokenKind::Assign) help = "`==` compares";
    if (kind == TokenKind::Not) help = "put parentheses around `not ...`";
    if (kind == TokenKind::LeftBracket) help = "an index follows the name of an array: `X[i, j]`";
    const bool stray_closer = (kind == TokenKind::RightParen || kind == TokenKind::RightBracket) &&
                              before == TokenKind::Assign;
    if (stray_closer) {
        cursor_.fail(messages::unopened_bracket(cursor_.here(), spelling(kind)));
    } else if (is_reserved(kind) && kind != TokenKind::Not && kind != TokenKind::Then &&
               kind != TokenKind::Else && kind != TokenKind::And && kind != TokenKind::Or &&
               kind != TokenKind::Glyph && kind != TokenKind::Identity) {
        cursor_.fail(messages::reserved_word(cursor_.here(), spelling(kind)));
    } else {
        cursor_.fail(
            messages::expected_expression(cursor_.here(), cursor_.found(), std::move(help)));
    }
    return {};
}

ExpressionParser::Tree ExpressionParser::number() {
    const Token& token = cursor_.take();
    const std::string_view text = cursor_.text(token);
    const Span place = cursor_.span(token);
    Literal literal;
    literal.is_integer = text.find_first_of(".eE") == std::string_view::npos;
    if (!is_well_formed_number(text)) {
        cursor_.report(messages::malformed_number(place, text));
    } else {
        const std::from_chars_result read =
            std::from_chars(text.data(), text.data() + text.size(), literal.value);
        // Out of range is also said of numbers too small to hold; they are as good as zero.
        const bool out_of_range = read.ec != std::errc();
        if (literal.is_integer ? !is_exact_integer(text) : out_of_range && is_above_one(text))
            cursor_.report(messages::number_too_large(place, text));
    }
    Tree tree;
    tree.expression = {literal, place};
    return tree;
}

ExpressionParser::Tree ExpressionParser::named() {
    const Token& token = cursor_.peek();
    Name name{std::string(cursor_.text(token)), cursor_.span(token)};
    const Token& next = cursor_.peek_second();
    if (next.kind == TokenKind::LeftParen) {
        if (!at_reduction()) {
            cursor_.take();
            return call(std::move(name), {}, false);
        }
        cursor_.take();
        std::vector<Name> over = cursor_.expect_axes(name.text, "to reduce over");
        if (cursor_.failed()) return {};
        const Span begin = name.span;
        return reduction(std::move(name), std::move(over), false, begin);
    }
    cursor_.take();
    if (next.kind == TokenKind::LeftBracket) {
        const bool is_call =
            next.match != kNoMatch && cursor_.token_at(next.match + 1).kind == TokenKind::LeftParen;
        if (!is_call) return access(std::move(name));
        std::vector<Name> axes =
            cursor_.expect_axes(name.text, "in the brackets of a named operation");
        if (cursor_.failed()) return {};
        return call(std::move(name), std::move(axes), true);
    }
    Tree tree;
    const Span place = name.span;
    tree.expression = {Reference{std::move(name)}, place};
    return tree;
}

/// `name(a, b)` with nothing but names inside and an operand after it.
bool ExpressionParser::at_reduction() const {
    const std::size_t open = cursor_.index() + 1;
    const std::uint32_t close = cursor_.token_at(open).match;
    if (close == kNoMatch || close == open + 1) return false;
    if (!Cursor::begins_operand(cursor_.token_at(close + 1).kind)) return false;
    for (std::size_t i = open + 1; i < close; ++i) {
        const bool name_here = (i - open) % 2 == 1;
        const TokenKind wanted = name_here ? TokenKind::Identifier : TokenKind::Comma;
        if (cursor_.token_at(i).kind != wanted) return false;
    }
    return (close - open) % 2 == 0;
}

ExpressionParser::List ExpressionParser::list_until(const Token& open) {
    List list;
    const TokenKind close =
        open.kind == TokenKind::LeftParen ? TokenKind::RightParen : TokenKind::RightBracket;
    if (cursor_.accept(close)) return list;
    do {
        Tree item = binary(Precedence::Loosest);
        if (cursor_.failed()) return list;
        list.height = std::max(list.height, item.height);
        list.items.push_back(std::move(item.expression));
    } while (cursor_.accept(TokenKind::Comma));
    cursor_.expect_close(open, "`,` or ");
    return list;
}

ExpressionParser::Tree ExpressionParser::access(Name name) {
    const Span begin = name.span;
    const Token& open = cursor_.take();
    List index = list_until(open);
    if (index.items.empty()) cursor_.fail(messages::empty_brackets(cursor_.span(open), name.text));
    Tree tree;
    tree.height = index.height + 1;
    tree.expression.node = Access{std::move(name), std::move(index.items)};
    return finish(std::move(tree), begin);
}

ExpressionParser::Tree ExpressionParser::call(Name name, std::vector<Name> axes, bool has_axes) {
    const Span begin = name.span;
    List arguments = list_until(cursor_.take());
    Tree tree;
    tree.height = arguments.height + 1;
    tree.expression.node =
        Call{std::move(name), std::move(axes), has_axes, std::move(arguments.items)};
    return finish(std::move(tree), begin);
}

ExpressionParser::Tree ExpressionParser::reduction(Name monoid, std::vector<Name> over,
                                                   bool every_prefix, Span begin) {
    Tree tree;
    Reduction node{std::move(monoid), std::move(over), every_prefix, false, {}};
    if (cursor_.at(TokenKind::LeftParen) && cursor_.peek().has_comma) {
        List operands = list_until(cursor_.take());
        node.operands = std::move(operands.items);
        tree.height = operands.height + 1;
    } else {
        Tree operand = binary(Precedence::Product);
        tree.height = operand.height + 1;
        node.operands.push_back(std::move(operand.expression));
    }
    tree.expression.node = std::move(node);
    return finish(std::move(tree), begin);
}

/// `scan[t] sum X[t]`: every prefix of the fold; `exclusive_scan` leaves the element itself out.
ExpressionParser::Tree ExpressionParser::scan() {
    constexpr const char* kForm = "a scan is written `scan[t] sum X[t]`";
    constexpr const char* kMonoid = "`sum` or another monoid";
    const bool exclusive = cursor_.peek().kind == TokenKind::ExclusiveScan;
    const Span begin = cursor_.span(cursor_.take());
    if (!cursor_.at(TokenKind::LeftBracket)) {
        cursor_.fail(messages::expected(cursor_.here(), "`[`", cursor_.found(), kForm));
        return {};
    }
    std::vector<Name> over = cursor_.expect_axes("scan", "to scan along");
    if (cursor_.failed()) return {};
    if (cursor_.at(TokenKind::Identifier) && cursor_.peek_second().kind == TokenKind::LeftBracket)
        cursor_.fail(messages::expected(cursor_.here(), kMonoid, cursor_.found(), kForm));
    if (cursor_.failed()) return {};
    Name monoid = cursor_.expect_name(kMonoid);
    if (cursor_.failed()) return {};
    Tree tree = reduction(std::move(monoid), std::move(over), true, begin);
    if (Reduction* made = std::get_if<Reduction>(&tree.expression.node))
        made->exclusive = exclusive;
    return tree;
}

ExpressionParser::Tree ExpressionParser::conditional() {
    const Token& opened = cursor_.take();
    Tree tree;
    Conditional node;
    node.parts.reserve(3);
    for (const TokenKind next : {TokenKind::Then, TokenKind::Else, TokenKind::End}) {
        Tree part = binary(Precedence::Loosest);
        if (cursor_.failed()) return {};
        tree.height = std::max(tree.height, part.height + 1);
        node.parts.push_back(std::move(part.expression));
        if (next == TokenKind::End || cursor_.accept(next)) continue;
        if (cursor_.begins_operand(cursor_.peek().kind)) {
            cursor_.fail(cursor_.stray_token(""));
        } else {
            cursor_.fail(messages::missing_branch(cursor_.here(), spelling(next),
                                                  cursor_.span(opened), cursor_.found()));
        }
        return {};
    }
    tree.expression.node = std::move(node);
    return finish(std::move(tree), cursor_.span(opened));
}

ExpressionParser::Tree ExpressionParser::parenthesised() {
    const Token& open = cursor_.take();
    Tree tree = binary(Precedence::Loosest);
    if (cursor_.failed()) return {};
    if (cursor_.at(TokenKind::Comma) && open.match != kNoMatch) {
        cursor_.fail(messages::expected(cursor_.here(), "`)`", "`,`",
                                        "several values in parentheses are the operands of a "
                                        "monoid: `affine(t) (A[t], B[t])`"));
        return {};
    }
    if (!cursor_.expect_close(open, "")) return {};
    tree.expression.parenthesised = true;
    tree.expression.span = cover(cursor_.span(open), cursor_.span(cursor_.previous()));
    return tree;
}

}  // namespace napkin::syntax
