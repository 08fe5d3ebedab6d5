/* Numbers by value of the export `narrow` (tests/export/examples.cpp): prints what is not as expected
 * and returns how often. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "narrow.h"

int check_numbers(void);

static int expect(const char *what, narrow_status found, narrow_status status,
                  const narrow_problem *problem, const char *words) {
    if (found == status && (words == NULL || strstr(problem->message, words) != NULL)) return 0;
    printf("%s: status %d: %s\n", what, (int)found, problem->message);
    return 1;
}

int check_numbers(void) {
    float X[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    float Y[8];
    void *on_device[2];
    narrow_arguments a;
    narrow_problem problem;
    int wrong = 0;
    int n;
    narrow_defaults(&a);
    if (cudaMalloc(&on_device[0], sizeof X) != cudaSuccess ||
        cudaMalloc(&on_device[1], sizeof Y) != cudaSuccess ||
        cudaMemcpy(on_device[0], X, sizeof X, cudaMemcpyHostToDevice) != cudaSuccess)
        return 1;
    a.X = narrow_make_X(on_device[0], 8);
    a.Y = narrow_make_Y(on_device[1], 8);
    a.s = 0.3f;     /* no bf16: 0.30078125 is the nearest */
    a.u = 1.00001f; /* no tf32: 1 is */
    a.t = 127;
    wrong += expect("the largest", narrow_launch(&a, NULL, 0, NULL, &problem), NARROW_OK,
                    &problem, NULL);
    if (cudaMemcpy(Y, on_device[1], sizeof Y, cudaMemcpyDeviceToHost) != cudaSuccess) ++wrong;
    for (n = 0; n < 8; ++n)
        if (Y[n] != X[n] * 0.30078125f + 127) {
            printf("Y[%d] is %.9g\n", n, Y[n]);
            ++wrong;
        }
    a.t = 128;
    wrong += expect("too large", narrow_launch(&a, NULL, 0, NULL, &problem), NARROW_WRONG_NUMBER,
                    &problem, "t: 128, and i8 is -128 to 127");
    a.t = -129;
    wrong += expect("too small", narrow_check(&a, &problem), NARROW_WRONG_NUMBER, &problem,
                    "t: -129");
    cudaFree(on_device[0]);
    cudaFree(on_device[1]);
    return wrong;
}
