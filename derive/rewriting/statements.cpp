#include "derive/rewriting/statements.h"

namespace napkin::rules {

Statement with_arrays(Statement statement, const std::map<ArrayId, ArrayId>& twins) {
    return rewrite_statement(std::move(statement), [&](Expression node) {
        if (Read* element = std::get_if<Read>(&node.node))
            if (const auto twin = twins.find(element->array); twin != twins.end())
                element->array = twin->second;
        return node;
    });
}

}  // namespace napkin::rules
