#include "codegen/run/nvml.h"

#include <dlfcn.h>

namespace napkin {
namespace {

constexpr int kProcessorClock = 1;

}  // namespace

std::variant<Nvml, std::string> Nvml::open(const std::string& bus) {
    Nvml nvml;
    nvml.library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (nvml.library_ == nullptr) return "NVML's library `libnvidia-ml.so.1` is not installed";
    const auto start = reinterpret_cast<int (*)()>(dlsym(nvml.library_, "nvmlInit_v2"));
    const auto find = reinterpret_cast<int (*)(const char*, void**)>(
        dlsym(nvml.library_, "nvmlDeviceGetHandleByPciBusId_v2"));
    if (start == nullptr || find == nullptr || start() != 0) return "NVML does not start";
    if (find(bus.c_str(), &nvml.device_) != 0) return "NVML knows no device at " + bus;
    return nvml;
}

template <class Number, class... Arguments>
std::optional<double> Nvml::ask(const char* name, double unit, Arguments... arguments) const {
    using Question = int (*)(void*, Arguments..., Number*);
    const auto question = reinterpret_cast<Question>(dlsym(library_, name));
    Number answer = 0;
    if (question == nullptr || question(device_, arguments..., &answer) != 0) return std::nullopt;
    return static_cast<double>(answer) * unit;
}

std::optional<double> Nvml::watts() const {
    return ask<unsigned>("nvmlDeviceGetPowerUsage", 1e-3);
}
std::optional<double> Nvml::limit_watts() const {
    return ask<unsigned>("nvmlDeviceGetEnforcedPowerLimit", 1e-3);
}
std::optional<double> Nvml::joules() const {
    return ask<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", 1e-3);
}
std::optional<double> Nvml::highest_clock() const {
    return ask<unsigned>("nvmlDeviceGetMaxClockInfo", 1e6, kProcessorClock);
}

}  // namespace napkin
