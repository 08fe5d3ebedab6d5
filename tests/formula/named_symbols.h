// Axes with names, and symbols found by theirs.
#pragma once

#include <string>
#include <vector>

#include "diagrams/diagram.h"
#include "diagrams/symbol_names.h"

namespace napkin::test {

/// Sizes of axes, and of their groups and chunks.
struct NamedSymbols {
    explicit NamedSymbols(const std::vector<std::string>& axes) {
        std::vector<Axis> named;
        for (const std::string& axis : axes) {
            const AxisId id{static_cast<std::uint32_t>(named.size())};
            named.push_back({.name = axis, .size = axis_size(id), .span = {}});
            for (const Symbol symbol :
                 {axis_size(id), group_size(id, Level::Block), group_size(id, Level::Warps),
                  stream_size(id, Level::Block)})
                all.push_back(symbol);
        }
        all.push_back({SymbolKind::Memory, Level::Block, {}});
        names = SymbolNames(named);
    }
    Symbol operator()(const std::string& name) const {
        for (const Symbol symbol : all)
            if (names(symbol) == name) return symbol;
        throw InternalError("no symbol `" + name + "`");
    }

    SymbolNames names;
    std::vector<Symbol> all;
};

}  // namespace napkin::test
