#include "derive/proof/renamed_grids.h"

namespace napkin::proof {

std::vector<std::int64_t> index_at(std::vector<std::int64_t> extents, std::size_t offset) {
    auto rest = static_cast<std::int64_t>(offset);
    for (std::size_t k = extents.size(); k-- > 0;) {
        const std::int64_t extent = extents[k];
        extents[k] = rest % extent;
        rest /= extent;
    }
    return extents;
}

std::string element_name(const std::string& array, const std::vector<std::int64_t>& index) {
    std::string text;
    for (const std::int64_t each : index) text += (text.empty() ? "" : ", ") + std::to_string(each);
    return text.empty() ? array : array + "[" + text + "]";
}

std::string element_name(const std::string& array, const std::vector<std::int64_t>& extents,
                         std::size_t offset) {
    return element_name(array, index_at(extents, offset));
}

}  // namespace napkin::proof
