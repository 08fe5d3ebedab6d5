// What the passes of the checker share while one file is checked.
//
// Passes run in the order of check.cpp. Until the weave pass, Array::axes hold the axes that the
// user wrote (or that a hoisted reduction needs), without the woven ones.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/integer_range.h"
#include "diagrams/syntax.h"

namespace napkin::checking {

/// A named operation: its text, and whether it is the library's own.
struct Operation {
    const syntax::Definition* definition = nullptr;
    bool library = false;
};

struct Context {
    const syntax::File& file;
    Diagnostics errors;
    Diagnostics warnings;
    Diagram diagram;

    std::map<std::string, AxisId> axes;
    std::map<std::string, AxisId> invented;  ///< axes put in place of unknown ones
    std::map<std::string, ArrayId> arrays;   ///< defined so far
    std::map<std::string, Span> later;       ///< targets of statements that are still to come
    std::map<std::string, const syntax::LetLine*> lets;
    std::map<std::string, Operation> operations;
    std::map<std::string, MonoidId> monoids;
    std::map<std::string, Span> places;  ///< where each name of the diagram was first defined

    std::set<ArrayId> failed;  ///< arrays whose definition has errors: nothing more is said of them
    std::map<ArrayId, Interval> integers;  ///< ranges of computed integers that sizes alone give
    std::map<ArrayId, Interval> integers_at_run_time;  ///< the same at every size of a run
    std::set<AxisId> named_axes;                       ///< axes that something names
    std::set<std::string> unknown_axes;                ///< which the line being checked names
    bool sizes_known = true;  ///< whether every axis has the size that is meant; else nothing is
                              ///< said of bounds
    std::set<std::string> used_lets;
    std::set<std::string> used_operations;

    explicit Context(const syntax::File& source) : file(source) {}

    /// Adds an error unless the same one was reported at the same place.
    void report(Diagnostic diagnostic);
    /// Adds a warning once at a place: a library's definition has its argument several times.
    void warn(Diagnostic warning);
    [[nodiscard]] Axis& axis(AxisId id) { return diagram.axes[id.index()]; }
    [[nodiscard]] Array& array(ArrayId id) { return diagram.arrays[id.index()]; }
    /// Records a name of the diagram; reports a second definition and returns false.
    bool claim(const syntax::Name& name);
    /// The axis of that name, marked as used. An unknown one is reported, once with all its places,
    /// and invented: whatever is made with it is then said nothing more of.
    AxisId find_axis(const syntax::Name& name);
    /// Adds an axis of size 1.
    AxisId add_axis(const syntax::Name& name);
    /// Adds an array; its layout is the order of its axes.
    ArrayId add_array(Array array);
    /// The array that an input, a statement or an opaque box declares; reports repeated and unknown
    /// axes.
    Array declare(const syntax::Target& target, ArrayRole role);

private:
    /// One error for every place of an axis that is missing.
    struct Missing {
        std::size_t error = 0;                 ///< in the list of errors
        std::map<std::uint32_t, Span> places;  ///< by where they begin
    };
    std::map<std::string, Missing> missing_;

    void report_missing(const syntax::Name& name);
};

/// Every name of a map, for suggestions.
template <class Value>
[[nodiscard]] std::vector<std::string> names_of(const std::map<std::string, Value>& map) {
    std::vector<std::string> names;
    names.reserve(map.size());
    for (const auto& entry : map) names.push_back(entry.first);
    return names;
}
/// The nearest known name, or an empty text.
[[nodiscard]] std::string suggestion(const std::string& name,
                                     const std::vector<std::string>& known);
/// Reports a reduction or scan that there is none of, with what was probably meant.
void report_unknown(Context& context, const syntax::Reduction& reduction, Span place);
template <class Node>
[[nodiscard]] Expression make(Node node, Span span) {
    Expression expression;
    expression.node = std::move(node);
    expression.span = span;
    return expression;
}

// The passes, one file each.
void collect_definitions(Context& context, const syntax::File& library);
void resolve_axes(Context& context, const Sizes& sizes);
void declare_inputs(Context& context);
void resolve_statements(Context& context);
void weave(Context& context);
void apply_layouts(Context& context);
void check_bounds(Context& context);
void check_sizes(Context& context);
void warn_unused(Context& context);

}  // namespace napkin::checking
