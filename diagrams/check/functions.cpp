#include "diagrams/check/functions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace napkin::checking {

namespace {

// clang-format off
constexpr std::array kFunctions = {
    KnownFunction{"exp", Function::Exp, 1, false},
    KnownFunction{"log", Function::Log, 1, false},
    KnownFunction{"sqrt", Function::Sqrt, 1, false},
    KnownFunction{"rsqrt", Function::Rsqrt, 1, false},
    KnownFunction{"tanh", Function::Tanh, 1, false},
    KnownFunction{"erf", Function::Erf, 1, false},
    KnownFunction{"sin", Function::Sin, 1, false},
    KnownFunction{"cos", Function::Cos, 1, false},
    KnownFunction{"abs", Function::Abs, 1, false},
    KnownFunction{"floor", Function::Floor, 1, false},
    KnownFunction{"bit_and", Function::BitAnd, 2, true},
    KnownFunction{"bit_or", Function::BitOr, 2, true},
    KnownFunction{"bit_xor", Function::BitXor, 2, true},
    KnownFunction{"shift_left", Function::ShiftLeft, 2, false},
    KnownFunction{"shift_right", Function::ShiftRight, 2, false},
    KnownFunction{"min", Function::Min, 2, true},
    KnownFunction{"max", Function::Max, 2, true},
};
constexpr std::array kOperators = {
    std::pair{std::string_view("+"), Function::Add},
    std::pair{std::string_view("-"), Function::Subtract},
    std::pair{std::string_view("*"), Function::Multiply},
    std::pair{std::string_view("/"), Function::Divide},
    std::pair{std::string_view("//"), Function::FloorDivide},
    std::pair{std::string_view("%"), Function::Modulo},
    std::pair{std::string_view("^"), Function::Power},
    std::pair{std::string_view("<"), Function::Less},
    std::pair{std::string_view("<="), Function::LessEqual},
    std::pair{std::string_view(">"), Function::Greater},
    std::pair{std::string_view(">="), Function::GreaterEqual},
    std::pair{std::string_view("=="), Function::Equal},
    std::pair{std::string_view("!="), Function::NotEqual},
    std::pair{std::string_view("and"), Function::And},
    std::pair{std::string_view("or"), Function::Or},
};
// clang-format on

}  // namespace

std::optional<KnownFunction> known_function(std::string_view name) {
    for (const KnownFunction& known : kFunctions)
        if (known.name == name) return known;
    return std::nullopt;
}

std::optional<Function> binary_function(std::string_view op) {
    for (const auto& [text, function] : kOperators)
        if (text == op) return function;
    return std::nullopt;
}

bool is_built_in(std::string_view name) {
    return known_function(name) || element_type_named(name) || name == "size" || name == "topk" ||
           is_selection(name) || name == "scan" || name == "inf";
}

bool is_selection(std::string_view name) {
    return std::find(kSelections.begin(), kSelections.end(), name) != kSelections.end();
}

std::vector<std::string> built_in_names() {
    std::vector<std::string> names = {"size", "topk"};
    for (const KnownFunction& known : kFunctions) names.emplace_back(known.name);
    return names;
}

}  // namespace napkin::checking
