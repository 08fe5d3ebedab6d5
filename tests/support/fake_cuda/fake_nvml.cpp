// NVML of the device that is none: it draws 100 W, and the counter of energy moves 400 J whenever
// it is asked.
extern "C" {

int nvmlInit_v2() {
    return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
    *device = nullptr;
    return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
    *milliwatts = 100000;
    return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
    *milliwatts = 700000;
    return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
    static unsigned long long counted = 0;
    *millijoules = counted += 400000;
    return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int, unsigned* megahertz) {
    *megahertz = 1980;
    return 0;
}

}  // extern "C"
