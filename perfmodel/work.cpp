#include "perfmodel/work.h"

#include <utility>

namespace napkin {

UnitWork& UnitWork::operator+=(const UnitWork& other) {
    for (const auto& [type, count] : other.products) products[type] += count;
    for (const auto& [type, count] : other.awaited) awaited[type] += count;
    exponentials += other.exponentials;
    instructions += other.instructions;
    shared += other.shared;
    turns += other.turns;
    steps += other.steps;
    barriers += other.barriers;
    loaded += other.loaded;
    saved += other.saved;
    own_instructions += other.own_instructions;
    own_trips += other.own_trips;
    return *this;
}

UnitWork operator*(double factor, UnitWork work) {
    for (auto& [type, count] : work.products) count *= factor;
    for (auto& [type, count] : work.awaited) count *= factor;
    work.exponentials *= factor;
    work.instructions *= factor;
    work.shared *= factor;
    work.turns *= factor;
    work.steps *= factor;
    work.barriers *= factor;
    work.loaded *= factor;
    work.saved *= factor;
    work.own_instructions *= factor;
    work.own_trips *= factor;
    return work;
}

}  // namespace napkin
