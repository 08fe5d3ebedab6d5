#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

namespace napkin {

template <class Item>
bool contains(const std::vector<Item>& items, const std::type_identity_t<Item>& item) {
    return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace napkin
