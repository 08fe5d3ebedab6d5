// Lowerings declare the index of a row or column for whatever they print inside a loop; not
// everything inside needs it.
#include "codegen/drop_unused.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "diagrams/overloaded.h"

namespace napkin::kernel {
namespace {

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool mentions(std::string_view text, std::string_view name) {
    for (std::size_t at = text.find(name); at != std::string_view::npos;
         at = text.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end])))
            return true;
    }
    return false;
}

/// Whether any text of the statement has the name; a comment does not count.
bool mentions(const Statement& statement, std::string_view name) {
    const auto any = [&](const Body& body) {
        return std::any_of(body.begin(), body.end(),
                           [&](const Statement& part) { return mentions(part, name); });
    };
    return std::visit(
        overloaded{
            [&](const Declare& s) {
                return mentions(s.type, name) || mentions(s.name, name) || mentions(s.value, name);
            },
            [&](const Assign& s) { return mentions(s.target, name) || mentions(s.value, name); },
            [&](const Call& s) { return mentions(s.text, name); },
            [&](const For& s) {
                return mentions(s.begin, name) || mentions(s.end, name) || mentions(s.step, name) ||
                       any(s.body);
            },
            [&](const If& s) {
                return mentions(s.condition, name) || any(s.then) || any(s.otherwise);
            },
            [&](const Enclose& s) {
                return mentions(s.open, name) || mentions(s.close, name) || any(s.body);
            },
            [&](const SkipUnless& s) { return mentions(s.condition, name); },
            [&](const LeaveIf& s) { return mentions(s.condition, name); },
            [](const Barrier&) { return false; }, [](const Comment&) { return false; },
            [&](const Phase& s) { return any(s.body); }},
        statement.node);
}

}  // namespace

void drop_unused(Body& body) {
    for (Statement& statement : body)
        std::visit(overloaded{[](For& s) { drop_unused(s.body); },
                              [](If& s) {
                                  drop_unused(s.then);
                                  drop_unused(s.otherwise);
                              },
                              [](Enclose& s) { drop_unused(s.body); },
                              [](Phase& s) { drop_unused(s.body); }, [](auto&) {}},
                   statement.node);
    // From the end: what only an unused constant mentions is unused too.
    for (std::size_t i = body.size(); i-- > 0;) {
        const Declare* constant = std::get_if<Declare>(&body[i].node);
        if (constant == nullptr || !constant->constant) continue;
        const auto after = body.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (std::none_of(after, body.end(),
                         [&](const Statement& later) { return mentions(later, constant->name); }))
            body.erase(after - 1);
    }
}

}  // namespace napkin::kernel
