/* Launches of the export `grouped` (tests/export/examples.cpp), which takes tensor maps: prints what
 * is not as expected and returns how often. */
#include <stdio.h>
#include <string.h>

#include "grouped.h"

/* What the device is, and whether its driver knows tensor maps and makes these. */
int check_maps(int *capability, int *knows_maps, int *makes_maps);

static unsigned char memory[1 << 16];
static int wrong = 0;

static grouped_arguments good(void) {
    unsigned char *place = memory + (256 - (uintptr_t)memory % 256) % 256;
    grouped_arguments a;
    grouped_defaults(&a);
    a.Q = grouped_make_Q(place, 1, 2, 5, 32);
    a.K = grouped_make_K(place + 8192, 1, 2, 7, 32);
    a.V = grouped_make_V(place + 16384, 1, 2, 7, 32);
    a.O = grouped_make_O(place + 24576, 1, 2, 5, 32);
    return a;
}

static void expect(const char *what, const grouped_arguments *a, grouped_status status,
                   const char *array, const char *words) {
    grouped_problem problem;
    const grouped_status found = grouped_launch(a, NULL, 0, NULL, &problem);
    if (found == status && problem.status == status &&
        (array == NULL || (problem.array != NULL && strcmp(problem.array, array) == 0)) &&
        (words == NULL || strstr(problem.message, words) != NULL))
        return;
    ++wrong;
    printf("%s: status %d: %s\n", what, (int)found, problem.message);
}

int check_maps(int *capability, int *knows_maps, int *makes_maps) {
    grouped_arguments a = good();
    *capability = 89;
    expect("an older device", &a, GROUPED_WRONG_DEVICE, NULL,
           "has compute capability 8.9, and the kernels need 9.0 and no other");
    *capability = 100;
    expect("a newer device", &a, GROUPED_WRONG_DEVICE, NULL,
           "has compute capability 10.0, and the kernels need 9.0 and no other");
    *capability = 90;
    *knows_maps = 0;
    expect("an old driver", &a, GROUPED_WRONG_DEVICE, NULL, "no cuTensorMapEncodeTiled");
    *knows_maps = 1;
    *makes_maps = 0;
    expect("a map that is refused", &a, GROUPED_CUDA_ERROR, "Q", "no tensor map of it (CUDA error 1)");
    *makes_maps = 1;
    a.K.stride[2] = 36;
    expect("rows at no units", &a, GROUPED_WRONG_STRIDE, "K", "must be a multiple of 8");
    a = good(), a.V.stride[1] = (int64_t)1 << 39;
    expect("heads too far apart", &a, GROUPED_WRONG_STRIDE, "V", "too large");
    a = good(), a.V.data = (char *)a.V.data + 8;
    expect("half a unit", &a, GROUPED_MISALIGNED, "V", "multiple of 16 bytes");
    /* Batch 0 alone, whose stride may be anything; heads inside positions; one head for all. */
    a = good();
    a.Q.stride[0] = -3;
    a.Q.stride[1] = 32, a.Q.stride[2] = 64;
    a.K.stride[1] = 0;
    expect("as it should be", &a, GROUPED_OK, NULL, NULL);
    return wrong;
}
