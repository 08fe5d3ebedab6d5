// What a kernel compiled for the CPU and the emulator that runs it share: plain data and function
// pointers, so that the kernel's shared object needs no library.
#pragma once

namespace nk::emulator {

/// What the emulator knows of one byte of shared memory: who wrote and read it last, and when.
struct Shadow {
    unsigned write_epoch = 0;  ///< 0: never written
    unsigned write_warp_epoch = 0;
    unsigned read_epoch = 0;
    unsigned read_warp_epoch = 0;
    unsigned short writer = 0;
    unsigned short reader = 0;
    /// Who has read it in `read_epoch`: 0 `reader` alone, 1 several of its warp, 2 several warps.
    unsigned char readers = 0;
};

/// The running thread and its block, as seen by the kernel; the emulator updates it at every
/// switch.
struct Context {
    int thread = 0;
    int threads = 0;
    int block = 0;
    int blocks = 0;
    unsigned epoch = 1;       ///< counts the barriers that the block has passed
    unsigned warp_epoch = 1;  ///< counts the warp barriers that this thread's warp has passed
    unsigned char* shared = nullptr;
    long long shared_bytes = 0;
    Shadow* shadow = nullptr;  ///< one for each byte of `shared`
    /// Waits for every thread of the block; `line` is the caller's, so that threads which wait at
    /// different barriers are found.
    void (*barrier)(Context*, int line) = nullptr;
    /// Waits for every thread of the warp.
    void (*warp_barrier)(Context*, int line) = nullptr;
    /// One slot a thread, for exchanges inside a warp.
    unsigned long long* slots = nullptr;
    /// Ends the launch with a message; does not return.
    void (*fail)(Context*, const char* message) = nullptr;
    void (*fail_access)(Context*, const char* what, const char* name, long long index,
                        long long extent) = nullptr;
    void* owner = nullptr;
};

/// One kernel argument: a buffer with its extent in elements, an integer or a real.
struct Argument {
    void* data = nullptr;
    long long integer = 0;  ///< the value, or the extent of `data`
    double real = 0;
    const char* name = "";
};

}  // namespace nk::emulator
