#include "diagrams/recent.h"

#include <doctest/doctest.h>

#include <string>

namespace napkin {

TEST_CASE("the last answers are kept, and the one that was asked for longest ago goes first") {
    Recent<std::string, int> kept(2);
    CHECK_EQ(kept.find("a"), nullptr);
    CHECK_EQ(kept.keep("a", 1), 1);
    kept.keep("b", 2);
    REQUIRE_NE(kept.find("a"), nullptr);
    kept.keep("c", 3);
    CHECK_EQ(kept.find("b"), nullptr);
    CHECK_EQ(*kept.find("a"), 1);
    CHECK_EQ(*kept.find("c"), 3);
}

}  // namespace napkin
