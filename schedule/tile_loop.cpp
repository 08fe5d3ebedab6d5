#include "schedule/tile_loop.h"

namespace napkin::schedule {

std::vector<BufferId> tile_rings(const Program& program) {
    std::vector<BufferId> rings;
    if (!program.persistent) return rings;
    for (const Item& item : program.body)
        if (const OpId* id = std::get_if<OpId>(&item.node); id != nullptr && program.apart(*id))
            rings.push_back(program[*id].writes.front());
    return rings;
}

void set_tile_stages(Program& program, std::int64_t stages,
                     const std::map<std::string, std::int64_t>& chosen) {
    const std::vector<BufferId> rings = tile_rings(program);
    if (rings.empty()) return;
    const std::vector<std::string> names = buffer_names_of(program);
    for (const BufferId ring : rings) {
        const auto own = chosen.find(names[ring.index()]);
        program[ring].stages = own == chosen.end() ? stages : own->second;
    }
}

}  // namespace napkin::schedule
