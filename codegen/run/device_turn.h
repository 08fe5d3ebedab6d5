// One process of this user at a time on a device.
#pragma once

#include <boost/interprocess/sync/file_lock.hpp>

namespace napkin {

/// While it lives no other process of this user runs kernels on the device through napkin: several
/// may compile and compare at once, and nobody's work is in another's times. Where the cache folder
/// cannot be written nobody waits.
class DeviceTurn {
public:
    explicit DeviceTurn(int device);
    ~DeviceTurn();
    DeviceTurn(const DeviceTurn&) = delete;
    DeviceTurn& operator=(const DeviceTurn&) = delete;

private:
    boost::interprocess::file_lock lock_;
    bool held_ = false;
};

}  // namespace napkin
