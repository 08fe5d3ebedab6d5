// The machine that the primitives run on: a GPU, or the emulator on the CPU.
#pragma once

#ifdef NAPKIN_EMULATED
#include "emulator/platform.cuh"
#else
#include "platform.cuh"
#endif
