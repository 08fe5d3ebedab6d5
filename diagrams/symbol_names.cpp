#include "diagrams/symbol_names.h"

#include "diagrams/contains.h"
#include "diagrams/diagram.h"

namespace napkin {
namespace {

const char* prefix_of(SymbolKind kind) {
    switch (kind) {
    case SymbolKind::Axis: return "";
    case SymbolKind::Group: return "g_";
    case SymbolKind::Stream: return "s_";
    case SymbolKind::GroupIndex: return "i_";
    case SymbolKind::ChunkIndex: return "j_";
    case SymbolKind::Memory: return "M";
    case SymbolKind::Part: return "part";
    case SymbolKind::Bits: return "bits";
    }
    return "";
}

}  // namespace

SymbolNames::SymbolNames(const std::vector<Axis>& axes) {
    for (const Axis& axis : axes) axes_.push_back(axis.name);
}

SymbolNames SymbolNames::renamed(const std::map<std::string, std::string>& names) const {
    SymbolNames result = *this;
    for (std::string& axis : result.axes_)
        if (const auto found = names.find(axis); found != names.end()) axis = found->second;
    return result;
}

std::string SymbolNames::operator()(Symbol symbol) const {
    if (symbol.kind == SymbolKind::Bits)
        return "bits(" + std::string(name_of(static_cast<ElementType>(symbol.number))) + ")";
    std::string name = prefix_of(symbol.kind);
    if (symbol.kind != SymbolKind::Memory && symbol.kind != SymbolKind::Part)
        name += symbol.axis.index() < axes_.size() ? axes_[symbol.axis.index()]
                                                   : "#" + std::to_string(symbol.axis.value);
    if (symbol.kind == SymbolKind::Axis) return name;
    // No name that a user writes has an `@`.
    if (symbol.level != Level::Block || symbol.number != 0 || contains(axes_, name))
        name += "@" + std::string(name_of(symbol.level));
    return symbol.number == 0 ? name : name + "." + std::to_string(symbol.number);
}

}  // namespace napkin
