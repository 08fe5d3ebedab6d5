/* The launcher of scaled: checks the contract of scaled.h, then starts the kernels of scaled.cu.
 *
 * Written by napkin export 0.0.0 from a diagram, target simt.
 *
 * C99 or C++, with the CUDA runtime's C interface. */
#include "scaled.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C"
#endif
/* Defined in scaled.cu. */
const void *scaled_kernel(int number);

typedef scaled_arguments Arguments;
typedef scaled_problem Problem;
typedef scaled_status Status;
typedef scaled_type Type;
typedef scaled_view View;

enum { MAX_RANK = SCALED_MAX_RANK };

/* ---- what the kernels demand ---- */

enum {
    AXIS_m,
    AXIS_n,
    AXES
};

typedef struct Axis {
    const char *name;
    int64_t fixed; /* the only size, or 0 */
    int64_t most;  /* the largest size */
} Axis;

static const Axis kAxes[AXES + 1] = {
    {"m", 0, 1073741824},
    {"n", 8, 1073741824},
    {"", 0, 0},
};

/* The caller's arrays, then those in the workspace. */
enum {
    ARRAY_A,
    ARRAY_w,
    ARRAY_B,
    ARRAYS
};
enum { CALLERS = 3 };

typedef struct Array {
    const char *name;
    Type type;
    int bytes; /* of an element */
    int written;
    int rank;
    int axis[MAX_RANK];
    int order[MAX_RANK]; /* dimensions as they lie in memory, slowest first */
    int64_t alignment;   /* bytes, of the address */
    int64_t multiple;    /* elements, of every stride but the last in memory, which is 1 */
} Array;

static const Array kArrays[ARRAYS] = {
    {"A", SCALED_F32, 4, 0, 2, {AXIS_m, AXIS_n}, {0, 1}, 4, 1},
    {"w", SCALED_F32, 4, 0, 1, {AXIS_n}, {0}, 4, 1},
    {"B", SCALED_F16, 2, 1, 2, {AXIS_m, AXIS_n}, {0, 1}, 2, 1},
};

enum { KERNELS = 1 };

typedef struct Kernel {
    const char *name;
    int threads; /* of a block */
    int shared;  /* bytes of a block */
} Kernel;

static const Kernel kKernels[KERNELS] = {
    {"scaled_B", 32, 272},
};
static const int kLeastCapability = 70; /* ten times compute capability */

/* ---- the contract ---- */

/* No element is further than this many elements from the first, so that nothing overflows. */
static const int64_t kFurthest = (int64_t)1 << 56;

typedef struct Plan {
    int64_t size[AXES + 1];     /* 0: not known yet */
    const char *from[AXES + 1]; /* what gave the size */
    char *data[ARRAYS];
    int64_t stride[ARRAYS][MAX_RANK];
    int64_t bytes[ARRAYS];  /* from the first element to the end of the last */
    int64_t offset[ARRAYS]; /* in the workspace */
    int64_t workspace;      /* bytes */
    int64_t blocks[KERNELS];
} Plan;

static Status fail(Problem *problem, Status status, const char *array, int dimension,
                   int64_t expected, int64_t found, const char *format, ...) {
    va_list words;
    if (problem == NULL) return status;
    memset(problem, 0, sizeof *problem);
    problem->status = status;
    problem->array = array;
    problem->dimension = dimension;
    problem->expected = expected;
    problem->found = found;
    va_start(words, format);
    vsnprintf(problem->message, sizeof problem->message, format, words);
    va_end(words);
    return status;
}

static const char *type_name(Type type) {
    static const char *const kNames[] = {"nothing", "f32", "bf16", "f16", "e4m3",
                                         "e5m2",    "i8",  "i32",  "i64", "bool"};
    return type >= SCALED_F32 && type <= SCALED_BOOL ? kNames[type] : "an unknown type";
}

/* Whether an axis may have a size, and no other was given. */
static Status set_size(Plan *plan, int axis, int64_t size, const char *array, int dimension,
                       Problem *problem) {
    const Axis *demand = &kAxes[axis];
    const char *named = dimension < 0 ? NULL : array;
    if (demand->fixed != 0 && size != demand->fixed)
        return fail(problem, SCALED_WRONG_SIZE, named, dimension, demand->fixed, size,
                    "%s: size %lld along %s, and the kernels were made for %lld", array,
                    (long long)size, demand->name, (long long)demand->fixed);
    if (size < 1 || size > demand->most)
        return fail(problem, SCALED_WRONG_SIZE, named, dimension, size < 1 ? 1 : demand->most, size,
                    "%s: size %lld along %s, and the kernels take 1 to %lld", array,
                    (long long)size, demand->name, (long long)demand->most);
    if (plan->size[axis] != 0 && plan->size[axis] != size)
        return fail(problem, SCALED_WRONG_SIZE, named, dimension, plan->size[axis], size,
                    "%s: size %lld along %s, where %s has %lld", array, (long long)size,
                    demand->name, plan->from[axis], (long long)plan->size[axis]);
    if (plan->size[axis] == 0) plan->from[axis] = array;
    plan->size[axis] = size;
    return SCALED_OK;
}

/* Type, rank and sizes of one of the caller's arrays. */
static Status check_shape(const View *view, int number, Plan *plan, Problem *problem) {
    const Array *array = &kArrays[number];
    const char *name = array->name;
    int d;
    if (view->data == NULL)
        return fail(problem, SCALED_NO_DATA, name, -1, 0, 0, "%s: no data", name);
    if (view->type != array->type)
        return fail(problem, SCALED_WRONG_TYPE, name, -1, array->type, view->type,
                    "%s: holds %s, and the kernels take %s", name, type_name(view->type),
                    type_name(array->type));
    if (view->rank != array->rank)
        return fail(problem, SCALED_WRONG_RANK, name, -1, array->rank, view->rank,
                    "%s: has %d dimensions, and the kernels take %d", name, view->rank,
                    array->rank);
    for (d = 0; d < array->rank; ++d) {
        const Status status = set_size(plan, array->axis[d], view->size[d], name, d, problem);
        if (status != SCALED_OK) return status;
    }
    return SCALED_OK;
}

/* Strides and address of one of the caller's arrays. */
static Status check_place(const View *view, int number, Plan *plan, Problem *problem) {
    const Array *array = &kArrays[number];
    const char *name = array->name;
    const int64_t address = (int64_t)((uintptr_t)view->data % (uintptr_t)array->alignment);
    int64_t last = 0; /* the largest offset of an element */
    int d;
    for (d = 0; d < array->rank; ++d) {
        const int64_t stride = view->stride[d];
        const char *axis = kAxes[array->axis[d]].name;
        const int contiguous = d == array->order[array->rank - 1];
        plan->stride[number][d] = stride;
        if (view->size[d] == 1) continue; /* used with index 0 only */
        if (contiguous && stride != 1)
            return fail(problem, SCALED_WRONG_STRIDE, name, d, 1, stride,
                        "%s: stride %lld along %s, which must be contiguous", name,
                        (long long)stride, axis);
        if (stride < 0 || stride > kFurthest / (view->size[d] - 1))
            return fail(problem, SCALED_WRONG_STRIDE, name, d, 0, stride,
                        "%s: stride %lld along %s is negative or too large", name,
                        (long long)stride, axis);
        if (!contiguous && stride % array->multiple != 0)
            return fail(problem, SCALED_WRONG_STRIDE, name, d, array->multiple, stride,
                        "%s: stride %lld along %s, which must be a multiple of %lld", name,
                        (long long)stride, axis, (long long)array->multiple);
        last += (view->size[d] - 1) * stride;
    }
    if (address != 0)
        return fail(problem, SCALED_MISALIGNED, name, -1, array->alignment, address,
                    "%s: its address must be a multiple of %lld bytes", name,
                    (long long)array->alignment);
    plan->data[number] = (char *)view->data;
    plan->bytes[number] = (last + 1) * array->bytes;
    return SCALED_OK;
}

/* Whether two elements of an output may have one place: taken by increasing strides, a dimension
 * must step over everything that the ones before it reach. */
static Status check_spread(const View *view, int number, Problem *problem) {
    const Array *array = &kArrays[number];
    int64_t reach = 0;
    int used[MAX_RANK] = {0};
    int step;
    for (step = 0; step < array->rank; ++step) {
        int least = -1;
        int d;
        for (d = 0; d < array->rank; ++d)
            if (!used[d] && (least < 0 || view->stride[d] < view->stride[least])) least = d;
        used[least] = 1;
        if (view->size[least] == 1) continue;
        if (view->stride[least] <= reach)
            return fail(problem, SCALED_OVERLAP, array->name, least, reach + 1,
                        view->stride[least],
                        "%s: is written, and stride %lld along %s puts several elements in one "
                        "place",
                        array->name, (long long)view->stride[least],
                        kAxes[array->axis[least]].name);
        reach += (view->size[least] - 1) * view->stride[least];
    }
    return SCALED_OK;
}

static int overlap(const char *a, int64_t a_bytes, const char *b, int64_t b_bytes) {
    const uintptr_t first = (uintptr_t)a;
    const uintptr_t second = (uintptr_t)b;
    return first < second + (uintptr_t)b_bytes && second < first + (uintptr_t)a_bytes;
}

/* Outputs lie apart from every other array: the kernels assume it. */
static Status check_overlap(const Plan *plan, Problem *problem) {
    int a;
    int b;
    for (a = 0; a < CALLERS; ++a)
        for (b = 0; b < CALLERS; ++b)
            if (a != b && kArrays[a].written &&
                overlap(plan->data[a], plan->bytes[a], plan->data[b], plan->bytes[b]))
                return fail(problem, SCALED_OVERLAP, kArrays[a].name, -1, 0, 0,
                            "%s: is written, and shares memory with %s", kArrays[a].name,
                            kArrays[b].name);
    return SCALED_OK;
}

/* Arithmetic on sizes. Products that leave the range of anything useful stay at its end. */
static inline int64_t times(int64_t a, int64_t b) {
    const int64_t most = INT64_MAX / 4;
    const int64_t left = a < 0 ? -a : a;
    const int64_t right = b < 0 ? -b : b;
    if (right != 0 && left > most / right) return (a < 0) == (b < 0) ? most : -most;
    return a * b;
}
static inline int64_t floor_divide(int64_t a, int64_t b) {
    if (b == 0) return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t remainder_of(int64_t a, int64_t b) { return a - b * floor_divide(a, b); }
static inline int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
/* A quotient that must be whole. */
static inline int64_t exact(int64_t a, int64_t b, int *whole) {
    if (b == 0 || a % b != 0) *whole = 0;
    return b == 0 ? 0 : a / b;
}

/* Gives an axis the size that follows from others. */
static inline Status follow(Plan *plan, int axis, int64_t size, const int *whole,
                            const char *formula, Problem *problem) {
    if (!*whole)
        return fail(problem, SCALED_WRONG_SIZE, NULL, -1, 0, 0,
                    "%s is no whole number, and is the size along %s", formula, kAxes[axis].name);
    return set_size(plan, axis, size, formula, -1, problem);
}

/* Sizes that are on no array, or follow from others. */
static Status derive_sizes(const Arguments *arguments, Plan *plan, Problem *problem) {
    int64_t *size = plan->size;
    Status status = SCALED_OK;
    int whole = 1;
    (void)arguments, (void)problem, (void)size, (void)whole;
    return status;
}

/* Arrays in the workspace, contiguous but for rows that are padded to their multiple. */
static Status lay_out_workspace(Plan *plan, Problem *problem) {
    int number;
    for (number = CALLERS; number < ARRAYS; ++number) {
        const Array *array = &kArrays[number];
        int64_t next = 1;
        int at;
        for (at = array->rank - 1; at >= 0; --at) {
            const int d = array->order[at];
            plan->stride[number][d] = next;
            next = times(next, plan->size[array->axis[d]]);
            if (at == array->rank - 1)
                next = (next + array->multiple - 1) / array->multiple * array->multiple;
        }
        if (next >= kFurthest)
            return fail(problem, SCALED_TOO_LARGE, array->name, -1, kFurthest, next,
                        "%s: an intermediate result that no memory holds", array->name);
        plan->offset[number] = plan->workspace;
        plan->workspace += (next * array->bytes + 255) / 256 * 256;
    }
    return SCALED_OK;
}

static Status count_blocks(Plan *plan, Problem *problem) {
    const int64_t *size = plan->size;
    int number;
    (void)size;
    plan->blocks[0] = ceil_divide(size[AXIS_m], 4);
    for (number = 0; number < KERNELS; ++number)
        if (plan->blocks[number] > INT32_MAX)
            return fail(problem, SCALED_TOO_LARGE, NULL, -1, INT32_MAX, plan->blocks[number],
                        "%s: %lld blocks, and a launch has at most 2^31 - 1", kKernels[number].name,
                        (long long)plan->blocks[number]);
    return SCALED_OK;
}

static Status make_plan(const Arguments *arguments, Plan *plan, Problem *problem) {
    const View *views[CALLERS];
    Status status;
    int number;
    if (arguments == NULL)
        return fail(problem, SCALED_NO_DATA, NULL, -1, 0, 0, "no arguments");
    memset(plan, 0, sizeof *plan);
    views[ARRAY_A] = &arguments->A;
    views[ARRAY_w] = &arguments->w;
    views[ARRAY_B] = &arguments->B;
    for (number = 0; number < CALLERS; ++number)
        if ((status = check_shape(views[number], number, plan, problem)) != SCALED_OK)
            return status;
    if ((status = derive_sizes(arguments, plan, problem)) != SCALED_OK) return status;
    for (number = 0; number < CALLERS; ++number) {
        if ((status = check_place(views[number], number, plan, problem)) != SCALED_OK)
            return status;
        if (kArrays[number].written &&
            (status = check_spread(views[number], number, problem)) != SCALED_OK)
            return status;
    }
    if ((status = check_overlap(plan, problem)) != SCALED_OK) return status;
    if ((status = count_blocks(plan, problem)) != SCALED_OK) return status;
    return lay_out_workspace(plan, problem);
}

Status scaled_check(const Arguments *arguments, Problem *problem) {
    Plan plan;
    const Status status = make_plan(arguments, &plan, problem);
    if (status == SCALED_OK && problem != NULL) memset(problem, 0, sizeof *problem);
    return status;
}

Status scaled_workspace(const Arguments *arguments, size_t *bytes, Problem *problem) {
    Plan plan;
    const Status status = make_plan(arguments, &plan, problem);
    if (bytes == NULL) return fail(problem, SCALED_NO_DATA, NULL, -1, 0, 0, "no place for bytes");
    *bytes = status == SCALED_OK ? (size_t)plan.workspace : 0;
    return status;
}

/* ---- launching ---- */

static Status cuda_failed(cudaError_t error, const char *what, Problem *problem) {
    const Status status = fail(problem, SCALED_CUDA_ERROR, NULL, -1, 0, 0, "%s: %s", what,
                               cudaGetErrorString(error));
    if (problem != NULL) problem->cuda_error = (int)error;
    return status;
}

static Status check_device(Problem *problem) {
    int device = 0;
    int major = 0;
    int minor = 0;
    int shared = 0;
    int number;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess) return cuda_failed(error, "asking the device", problem);
    if (10 * major + minor < kLeastCapability)
        return fail(problem, SCALED_WRONG_DEVICE, NULL, -1, kLeastCapability, 10 * major + minor,
                    "the device has compute capability %d.%d, and the kernels need %d.%d", major,
                    minor, kLeastCapability / 10, kLeastCapability % 10);
    for (number = 0; number < KERNELS; ++number)
        if (kKernels[number].shared > shared)
            return fail(problem, SCALED_WRONG_DEVICE, NULL, -1, kKernels[number].shared, shared,
                        "%s needs %d bytes of shared memory a block, and the device has %d",
                        kKernels[number].name, kKernels[number].shared, shared);
    return SCALED_OK;
}

static Status place_workspace(void *workspace, size_t bytes, Plan *plan, Problem *problem) {
    int number;
    if (plan->workspace == 0) return SCALED_OK;
    if (workspace == NULL || bytes < (size_t)plan->workspace)
        return fail(problem, SCALED_SMALL_WORKSPACE, NULL, -1, plan->workspace, (int64_t)bytes,
                    "the workspace must have %lld bytes", (long long)plan->workspace);
    if ((uintptr_t)workspace % 256 != 0)
        return fail(problem, SCALED_SMALL_WORKSPACE, NULL, -1, 256,
                    (int64_t)((uintptr_t)workspace % 256),
                    "the workspace's address must be a multiple of 256 bytes");
    for (number = 0; number < CALLERS; ++number)
        if (overlap((char *)workspace, plan->workspace, plan->data[number], plan->bytes[number]))
            return fail(problem, SCALED_OVERLAP, kArrays[number].name, -1, 0, 0,
                        "the workspace shares memory with %s", kArrays[number].name);
    for (number = CALLERS; number < ARRAYS; ++number)
        plan->data[number] = (char *)workspace + plan->offset[number];
    return SCALED_OK;
}

static Status start(int number, int64_t blocks, void **values, struct CUstream_st *stream,
                    Problem *problem) {
    const Kernel *kernel = &kKernels[number];
    const void *function = scaled_kernel(number);
    cudaError_t error = cudaSuccess;
    dim3 grid;
    dim3 block;
    grid.x = (unsigned)blocks;
    block.x = (unsigned)kernel->threads;
    grid.y = grid.z = block.y = block.z = 1;
    if (kernel->shared > 48 * 1024)
        error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     kernel->shared);
    if (error == cudaSuccess)
        error = cudaLaunchKernel(function, grid, block, values, (size_t)kernel->shared, stream);
    return error == cudaSuccess ? SCALED_OK : cuda_failed(error, kernel->name, problem);
}

Status scaled_launch(const Arguments *arguments, void *workspace, size_t bytes,
                     struct CUstream_st *stream, Problem *problem) {
    Plan plan;
    Status status = make_plan(arguments, &plan, problem);
    if (status == SCALED_OK) status = place_workspace(workspace, bytes, &plan, problem);
    if (status == SCALED_OK) status = check_device(problem);
    if (status != SCALED_OK) return status;
    {
        int size_m = (int)plan.size[AXIS_m];
        void *values[] = {
            &plan.data[ARRAY_A],
            &plan.data[ARRAY_w],
            &plan.data[ARRAY_B],
            &plan.stride[ARRAY_A][0],
            (void *)&arguments->eps,
            &plan.stride[ARRAY_B][0],
            &size_m,
        };
        status = start(0, plan.blocks[0], values, stream, problem);
        if (status != SCALED_OK) return status;
    }
    if (problem != NULL) memset(problem, 0, sizeof *problem);
    return SCALED_OK;
}

/* ---- conveniences ---- */

void scaled_defaults(Arguments *arguments) {
    memset(arguments, 0, sizeof *arguments);
    arguments->eps = 9.999999747378752e-06f;
}

static View contiguous(int number, void *data, const int64_t *sizes) {
    const Array *array = &kArrays[number];
    View view;
    int64_t next = 1;
    int at;
    memset(&view, 0, sizeof view);
    view.data = data;
    view.type = array->type;
    view.rank = array->rank;
    for (at = array->rank - 1; at >= 0; --at) {
        const int d = array->order[at];
        view.size[d] = sizes[d];
        view.stride[d] = next;
        next = times(next, sizes[d]);
    }
    return view;
}

scaled_view scaled_make_A(void *data, int64_t m, int64_t n) {
    const int64_t sizes[] = {m, n};
    return contiguous(ARRAY_A, data, sizes);
}

scaled_view scaled_make_w(void *data, int64_t n) {
    const int64_t sizes[] = {n};
    return contiguous(ARRAY_w, data, sizes);
}

scaled_view scaled_make_B(void *data, int64_t m, int64_t n) {
    const int64_t sizes[] = {m, n};
    return contiguous(ARRAY_B, data, sizes);
}
