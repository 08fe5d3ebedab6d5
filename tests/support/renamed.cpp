#include "tests/support/renamed.h"

#include <algorithm>
#include <set>

#include "diagrams/contains.h"

namespace napkin::test {
namespace {

template <class Items>
void number(Items& items, const char* kind) {
    for (std::size_t i = 0; i < items.size(); ++i) items[i].name = kind + std::to_string(i);
}

}  // namespace

Renaming::Renaming(const Diagram& diagram, const std::vector<Command>& commands,
                   const std::vector<std::string>& axes, const std::vector<std::string>& arrays,
                   std::size_t first) {
    std::set<std::string> taken;
    for (const Command& command : commands) taken.insert(command.as.begin(), command.as.end());
    const auto give = [&](const std::string& name, const std::vector<std::string>& pool) {
        if (names_.contains(name)) return;
        for (std::size_t i = 0;; ++i) {
            const std::size_t round = i / pool.size();
            const std::string wanted =
                pool[(first + i) % pool.size()] + (round == 0 ? "" : std::to_string(round));
            if (!taken.insert(wanted).second) continue;
            names_[name] = wanted;
            return;
        }
    };
    for (const Axis& axis : diagram.axes) give(axis.name, axes);
    for (const Array& array : diagram.arrays)
        if (array.named) give(array.name, arrays);
}

std::string Renaming::of(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? name : found->second;
}

Diagram Renaming::operator()(Diagram diagram) const {
    for (Axis& axis : diagram.axes) axis.name = of(axis.name);
    for (Array& array : diagram.arrays) {
        // What the checker named after another array: `O.1`.
        const std::size_t dot = array.name.find('.');
        array.name = dot == std::string::npos
                         ? of(array.name)
                         : of(array.name.substr(0, dot)) + array.name.substr(dot);
    }
    return diagram;
}

std::vector<Command> Renaming::operator()(std::vector<Command> commands) const {
    for (Command& command : commands) {
        for (std::string& name : command.names) name = of(name);
        for (std::string& name : command.as) name = of(name);
        command.in = of(command.in);
    }
    return commands;
}

const std::vector<std::string>& hard_axis_names() {
    static const std::vector<std::string> kNames = {
        "q",    "g_q", "s_q",    "i_q",    "j_q",  "M",         "g_g_q",   "at",   "s_g_q",
        "x",    "s_x", "j_x",    "g_s_x",  "lane", "visible",   "row",     "and_", "i",
        "warp", "q0",  "nq",     "iq",     "n",    "group",     "exp",     "max",  "double",
        "sum",  "x0",  "size_q", "load_x", "next", "whole_s_x", "chunk_x", "NAN",  "threadIdx"};
    return kNames;
}

const std::vector<std::string>& hard_array_names() {
    static const std::vector<std::string> kNames = {
        "at",       "exp",      "max",         "load",     "threadIdx",    "compl",    "P",
        "P_max",    "P_sum",    "P_max_new",   "P_weight", "half",         "signed",   "INFINITY",
        "NAN",      "min",      "bitand",      "K_tile",   "O_staging",    "left",     "right",
        "index",    "result",   "stage",       "Rows",     "memory",       "kThreads", "acc",
        "warp",     "warpSize", "static_cast", "wchar_t",  "NK_DEVICE",    "nk",       "std",
        "Fragment", "tested",   "to_f32",      "size_q",   "thread_local", "co_await", "unix",
        "shuffle",  "blockIdx", "q0",          "iq",       "visible_x",    "errno",    "char8_t",
        "convert",  "fmaxf",    "log2f",       "M_PI",     "assert",       "typeid",   "t0"};
    return kNames;
}

TileProgram nameless(TileProgram program) {
    for (RegionProgram& region : program.regions) {
        region.name.clear();
        number(region.axes, "axis");
        number(region.arrays, "array");
        number(region.variables, "variable");
        region.accumulator.reset();
    }
    return program;
}

}  // namespace napkin::test
