// What a kernel compiled for the CPU and the emulator that runs it share: plain data and function
// pointers, so that the kernel's shared object needs no library.
#pragma once

namespace nk::emulator {

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
    int bytes = 0;
    int valid = 0;
    const char* name = "";  ///< of the array in shared memory
    long long index = 0;    ///< in it
};

/// An array in device memory as bulk copies see it, the contiguous dimension first.
inline constexpr int kMostDimensions = 5;
struct TensorMap {
    unsigned char* base = nullptr;
    const char* name = "";
    int rank = 0;
    int element_bytes = 0;
    int swizzle = 0;  ///< bytes of a row of a tile whose 16-byte units are permuted; 0: none are
    long long extents[kMostDimensions] = {};
    long long strides[kMostDimensions] = {};  ///< bytes; the first is an element's
    int box[kMostDimensions] = {};
};

/// A bulk copy of the box at `at` between an array and shared memory.
struct BulkCopy {
    const TensorMap* map = nullptr;
    int at[kMostDimensions] = {};
    const char* tile = "";
    long long place = 0;     ///< in shared memory
    long long barrier = -1;  ///< where a load's bytes complete; -1 for a store
};

/// Of a product's operands, as its instruction names them.
enum class Format { BF16, F16, E4M3, E5M2 };
/// A thread's part in a product of its warp group: 64 x 8 across results.
struct GroupProduct {
    float* results = nullptr;  ///< 4 of every 8 columns
    int across = 0;
    const unsigned* held = nullptr;  ///< four words of the left operand, or null
    unsigned long long left = 0;     ///< how operands lie in shared memory, as PTX encodes it
    unsigned long long right = 0;
    bool left_transposed = false;
    bool right_transposed = false;
    bool add = false;
    Format left_format = Format::BF16;
    Format right_format = Format::BF16;
};
/// Where shared memory begins for what encodes its addresses.
inline constexpr long long kSharedBase = 1024;

struct Context;
/// What target sm_90a adds: see ../hopper.cuh, whose functions these carry out. Places are bytes
/// from the start of shared memory.
struct HopperCalls {
    void* owner = nullptr;
    void (*start_barrier)(Context*, long long place, int arrivals) = nullptr;
    void (*fence_barriers)(Context*) = nullptr;
    /// Announces `bytes` too.
    void (*arrive)(Context*, long long place, int bytes) = nullptr;
    void (*arrive_after_copies)(Context*, long long place) = nullptr;
    void (*wait_barrier)(Context*, long long place, int parity) = nullptr;
    bool (*test_barrier)(Context*, long long place, int parity) = nullptr;
    void (*named_barrier)(Context*, int number, int threads, bool waits) = nullptr;
    void (*fence_async)(Context*) = nullptr;
    void (*start_bulk_copy)(Context*, const BulkCopy*) = nullptr;
    void (*commit_stores)(Context*) = nullptr;
    void (*wait_stores_read)(Context*, int pending) = nullptr;
    void (*set_registers)(Context*, int registers, bool more) = nullptr;
    void (*fence_products)(Context*) = nullptr;
    void (*start_product)(Context*, const GroupProduct*) = nullptr;
    void (*commit_products)(Context*) = nullptr;
    void (*wait_products)(Context*, int pending) = nullptr;
    /// Registers, so many words, are used from here on.
    void (*settle)(Context*, const void* registers, int words) = nullptr;
};

/// The running thread and its block, as seen by the kernel; the emulator updates it at every
/// switch.
struct Context {
    int thread = 0;
    int threads = 0;
    int resident = 1;  ///< blocks that share the registers of a multiprocessor
    int block = 0;
    int blocks = 0;
    unsigned char* shared = nullptr;
    long long shared_bytes = 0;
    /// The running thread reads or writes bytes from a place in shared memory on, which are
    /// `index` in the array called `name`. Ends the launch where another's access is not ordered.
    void (*note_read)(Context*, long long place, long long bytes, const char* name,
                      long long index) = nullptr;
    void (*note_write)(Context*, long long place, long long bytes, const char* name,
                       long long index) = nullptr;
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
    HopperCalls hopper;
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

/// One kernel argument: a buffer with its extent in elements, a TensorMap, an integer or a real.
struct Argument {
    void* data = nullptr;
    long long integer = 0;  ///< the value, or the extent of `data`
    double real = 0;
    const char* name = "";
};

}  // namespace nk::emulator
