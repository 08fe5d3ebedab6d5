// Lowerings declare the index of a row or column for whatever they print inside a loop; not
// everything inside needs it.
#include "codegen/drop_unused.h"

#include <algorithm>

#include "codegen/kernel_walk.h"

namespace napkin::kernel {
namespace {

/// Whether anything in the statement means what has the name.
bool mentions(const Statement& statement, const std::string& name) {
    bool found = false;
    walk(statement, [&](const Expression& part) {
        const Variable* variable = std::get_if<Variable>(&part.node);
        const Entity* entity = std::get_if<Entity>(&part.node);
        const Scoped* inner = std::get_if<Scoped>(&part.node);
        found = found || (variable != nullptr && variable->name == name) ||
                (entity != nullptr && entity->name == name) ||
                (inner != nullptr && inner->scope.name == name);
    });
    return found;
}

/// The name of what can go where nothing mentions it.
const std::string* droppable(const Statement& statement) {
    if (const Alias* alias = std::get_if<Alias>(&statement.node)) return &alias->name;
    const Declare* constant = std::get_if<Declare>(&statement.node);
    return constant != nullptr && constant->constant ? &constant->name : nullptr;
}

}  // namespace

void drop_unused(Body& body) {
    const auto inner = [](Body& part) { drop_unused(part); };
    for (Statement& statement : body) {
        for_bodies(statement, inner);
        for_functions(statement, inner);
    }
    // From the end: what only an unused constant mentions is unused too.
    for (std::size_t i = body.size(); i-- > 0;) {
        const std::string* name = droppable(body[i]);
        if (name == nullptr) continue;
        const auto after = body.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (std::none_of(after, body.end(),
                         [&](const Statement& later) { return mentions(later, *name); }))
            body.erase(after - 1);
    }
}

}  // namespace napkin::kernel
