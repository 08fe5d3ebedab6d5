#include "diagrams/check/bounds.h"
namespace napkin::checking {
bool accesses_proved(const Diagram&, const Expression&) {
    return true;
}
void check_bounds(Context&) {}
}  // namespace napkin::checking
