#include "diagrams/random.h"

#include <cmath>

namespace napkin {

double wide_integer(ElementType type, Random& random) {
    const auto up_to = [&](int bits) {
        return static_cast<double>(random.below(std::int64_t{2} << bits)) - std::exp2(bits);
    };
    const int bits = type == ElementType::I64 ? kWideBits : static_cast<int>(bits_of(type)) - 1;
    if (bits > 25 && random.below(4) == 0) return 0x1p24 + up_to(2);
    return round_to(type, up_to(bits));
}

}  // namespace napkin
