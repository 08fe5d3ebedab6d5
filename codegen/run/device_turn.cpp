#include "codegen/run/device_turn.h"

#include <fmt/format.h>

#include <fstream>

#include "codegen/run/folders.h"

namespace napkin {

DeviceTurn::DeviceTurn(int device) {
    const std::filesystem::path file = cache_folder() / fmt::format("device-{}", device);
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    if (!std::ofstream(file, std::ios::app).good()) return;
    lock_ = boost::interprocess::file_lock(file.c_str());
    lock_.lock();
    held_ = true;
}

DeviceTurn::~DeviceTurn() {
    if (held_) lock_.unlock();
}

}  // namespace napkin
