// NVML, NVIDIA's management library, opened at run time: what a device draws and how it is clocked.
#pragma once

#include <optional>
#include <string>
#include <variant>

namespace napkin {

/// One device; what its driver does not tell is nothing.
class Nvml {
public:
    /// The device on this bus (MicrobenchmarkDevice::bus); why not, in words, where there is none.
    [[nodiscard]] static std::variant<Nvml, std::string> open(const std::string& bus);

    [[nodiscard]] std::optional<double> watts() const;
    [[nodiscard]] std::optional<double> limit_watts() const;
    /// Joules since the driver was loaded.
    [[nodiscard]] std::optional<double> joules() const;
    /// The highest of the processors, in hertz.
    [[nodiscard]] std::optional<double> highest_clock() const;

private:
    Nvml() = default;
    template <class Number, class... Arguments>
    [[nodiscard]] std::optional<double> ask(const char* name, double unit,
                                            Arguments... arguments) const;
    void* library_ = nullptr;
    void* device_ = nullptr;
};

}  // namespace napkin
