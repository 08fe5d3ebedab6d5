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
    unsigned char copying = 0;  ///< 1: an asynchronous copy that nobody has waited for writes it
};

/// Warp-wide accesses to shared memory of one kind, and how often banks served one address after
/// another for them.
struct Traffic {
    long long accesses = 0;
    long long conflicts = 0;
};
enum class AccessKind { Matrices, Copies, Vectors, Elements };
inline constexpr int kAccessKinds = 4;

/// An asynchronous copy of `valid` bytes into shared memory; the rest of `bytes` is zeroed.
struct Copy {
    const unsigned char* from = nullptr;
    unsigned char* to = nullptr;
    Shadow* shadow = nullptr;  ///< of `to`
    int bytes = 0;
    int valid = 0;
    bool landed = false;
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
    /// An instruction that the threads of a warp carry out together, called `name`: waits for all
    /// of them at one place of the kernel, and the last performs it on what each has passed in.
    void (*together)(Context*, const char* name, void* mine,
                     void (*perform)(Context*, void* const* all)) = nullptr;
    void (*start_copy)(Context*, const Copy*) = nullptr;
    void (*commit_copies)(Context*) = nullptr;
    /// Waits for all of the thread's groups but the last `pending`.
    void (*wait_copies)(Context*, int pending) = nullptr;
    Traffic traffic[kAccessKinds];
    /// Tells of a thread's access at a place of shared memory, or that the thread takes no part in
    /// its warp's access (-1). Null when nobody counts.
    void (*note_access)(Context*, AccessKind kind, long long place, int bytes) = nullptr;
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
