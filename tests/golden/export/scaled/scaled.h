/* scaled: B[m, n] of A and w.
 *
 * Written by napkin export 0.0.0 from a diagram, target simt.
 *
 *     input   A[m, n] f32: n contiguous
 *     input   w[n] f32: n contiguous
 *     output  B[m, n] f16: n contiguous
 *     number  eps f32, 9.999999747378752e-06 unless given
 *     size    m at run time
 *     size    n = 8
 *     Outputs share no memory with each other or with inputs.
 *
 * Use:
 *     scaled_arguments arguments;
 *     scaled_problem problem;
 *     size_t bytes;
 *     scaled_defaults(&arguments);
 *     arguments.A = scaled_make_A(A_on_device, m, n);  // or any strides
 *     arguments.w = scaled_make_w(w_on_device, n);
 *     arguments.B = scaled_make_B(B_on_device, m, n);
 *     scaled_workspace(&arguments, &bytes, &problem);
 *     if (scaled_launch(&arguments, workspace, bytes, stream, &problem) != SCALED_OK)
 *         fprintf(stderr, "%s\n", problem.message);
 *
 * Nothing here allocates, copies or falls back to anything: what the contract does not cover is
 * refused with a code and a message. All functions may be called from several threads at once.
 */
#ifndef SCALED_H
#define SCALED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* what cudaStream_t and CUstream point to */

/** What came of a call; everything but OK leaves the outputs as they were, except CUDA_ERROR. */
typedef enum scaled_status {
    SCALED_OK = 0,
    SCALED_NO_DATA = 1,         /**< a null pointer */
    SCALED_WRONG_TYPE = 2,      /**< of an array's elements */
    SCALED_WRONG_RANK = 3,      /**< another number of dimensions */
    SCALED_WRONG_SIZE = 4,      /**< not served, or not that of the other arrays */
    SCALED_WRONG_STRIDE = 5,    /**< not contiguous where it must be, or no multiple */
    SCALED_MISALIGNED = 6,      /**< an address */
    SCALED_OVERLAP = 7,         /**< an output shares memory with another array or itself */
    SCALED_SMALL_WORKSPACE = 8, /**< or one that is not there or misaligned */
    SCALED_TOO_LARGE = 9,       /**< more blocks than a launch has */
    SCALED_WRONG_DEVICE = 10,   /**< the current device cannot run the kernels */
    SCALED_CUDA_ERROR = 11      /**< the runtime's own, in `cuda_error` */
} scaled_status;

/** Why a call was refused. */
typedef struct scaled_problem {
    scaled_status status;
    const char *array; /**< or null */
    int dimension;     /**< of the array, or -1 */
    int64_t expected;  /**< a size, stride, multiple or number of bytes, where there is one */
    int64_t found;
    int cuda_error;
    char message[256]; /**< one line, for people */
} scaled_problem;

/** Element types. */
typedef enum scaled_type {
    SCALED_F32 = 1,
    SCALED_BF16 = 2,
    SCALED_F16 = 3,
    SCALED_E4M3 = 4,
    SCALED_E5M2 = 5,
    SCALED_I8 = 6,
    SCALED_I32 = 7,
    SCALED_I64 = 8,
    SCALED_BOOL = 9 /**< one byte, 0 or 1 */
} scaled_type;

enum { SCALED_MAX_RANK = 2 };

/** An array in device memory: element (i, j, ...) is `data[i * stride[0] + j * stride[1] + ...]`, in
 * elements. */
typedef struct scaled_view {
    void *data;
    scaled_type type;
    int rank;
    int64_t size[SCALED_MAX_RANK];
    int64_t stride[SCALED_MAX_RANK];
} scaled_view;

/** What the kernels read and write. */
typedef struct scaled_arguments {
    scaled_view A; /**< f32 [m, n], read */
    scaled_view w; /**< f32 [n], read */
    scaled_view B; /**< f16 [m, n], written */
    float eps;
} scaled_arguments;

/** Zeros everything and sets the default values of parameters. */
void scaled_defaults(scaled_arguments *arguments);

/* Contiguous views of these sizes, by the layout of the contract. */
scaled_view scaled_make_A(void *data, int64_t m, int64_t n);
scaled_view scaled_make_w(void *data, int64_t n);
scaled_view scaled_make_B(void *data, int64_t m, int64_t n);

/** Whether the arguments keep the contract; needs no device. `problem` may be null here and below. */
scaled_status scaled_check(const scaled_arguments *arguments, scaled_problem *problem);

/** The bytes of device memory, aligned to 256, that a launch needs for intermediate results. */
scaled_status scaled_workspace(const scaled_arguments *arguments, size_t *bytes,
    scaled_problem *problem);

/** Checks, and starts the kernel in the stream (null for the default one) of the current device. */
scaled_status scaled_launch(const scaled_arguments *arguments, void *workspace, size_t bytes,
    struct CUstream_st *stream, scaled_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
