#include "derive/rewriting/statements.h"

#include <algorithm>

namespace napkin::rules {
namespace {

/// Replaces one node.
auto reading(const std::map<ArrayId, ArrayId>& twins) {
    return [&twins](Expression node) {
        if (Read* element = std::get_if<Read>(&node.node))
            if (const auto twin = twins.find(element->array); twin != twins.end())
                element->array = twin->second;
        return node;
    };
}

}  // namespace

Statement with_arrays(Statement statement, const std::map<ArrayId, ArrayId>& twins) {
    return rewrite_statement(std::move(statement), reading(twins));
}

void spell_copies(Spellings& spellings, const std::map<ArrayId, ArrayId>& twins) {
    Spellings copies;
    for (const NamedCall& call : spellings.calls) {
        const std::set<ArrayId> read = arrays_read(call.value);
        if (std::any_of(read.begin(), read.end(),
                        [&](ArrayId array) { return twins.count(array) != 0; }))
            copies.calls.push_back(call);
    }
    for_each_expression(copies, [&](Expression& written) {
        written = rewrite(std::move(written), reading(twins));
    });
    spellings.calls.insert(spellings.calls.end(), copies.calls.begin(), copies.calls.end());
}

}  // namespace napkin::rules
