/* Launches of the export `unfused` (tests/export/examples.cpp): prints what is not as expected and
 * returns how often. */
#include <stdio.h>
#include <string.h>

#include "unfused.h"

int check_launches(int *capability, int *shared_memory);

static unsigned char memory[1 << 16];

static int expect(const char *what, unfused_status found, unfused_status status,
                  const unfused_problem *problem, const char *words) {
    if (found == status && (words == NULL || strstr(problem->message, words) != NULL)) return 0;
    printf("%s: status %d: %s\n", what, (int)found, problem->message);
    return 1;
}

int check_launches(int *capability, int *shared_memory) {
    unsigned char *place = memory + (256 - (uintptr_t)memory % 256) % 256;
    unsigned char *workspace = place + 32768;
    unfused_arguments a;
    unfused_problem problem;
    size_t bytes = 0;
    int wrong = 0;
    const int had = *shared_memory;
    unfused_defaults(&a);
    a.Q = unfused_make_Q(place, 2, 21, 16);
    a.K = unfused_make_K(place + 4096, 2, 30, 16);
    a.V = unfused_make_V(place + 8192, 2, 30, 16);
    a.O = unfused_make_O(place + 12288, 2, 21, 16);
    wrong += expect("workspace", unfused_workspace(&a, &bytes, &problem), UNFUSED_OK, &problem, NULL);
    /* S and P, f16, in 256 bytes each. */
    if (bytes != 2 * ((2 * 21 * 30 * 2 + 255) / 256 * 256)) {
        printf("workspace of %lu bytes\n", (unsigned long)bytes);
        ++wrong;
    }
    wrong += expect("no workspace", unfused_launch(&a, NULL, bytes, NULL, &problem),
                    UNFUSED_SMALL_WORKSPACE, &problem, "must have");
    wrong += expect("a small one", unfused_launch(&a, workspace, bytes - 1, NULL, &problem),
                    UNFUSED_SMALL_WORKSPACE, &problem, "must have");
    wrong += expect("a misaligned one", unfused_launch(&a, workspace + 16, bytes, NULL, &problem),
                    UNFUSED_SMALL_WORKSPACE, &problem, "multiple of 256");
    wrong += expect("one on an input", unfused_launch(&a, place, bytes, NULL, &problem),
                    UNFUSED_OVERLAP, &problem, "shares memory with");
    *capability = 61;
    wrong += expect("an old device", unfused_launch(&a, workspace, bytes, NULL, &problem),
                    UNFUSED_WRONG_DEVICE, &problem, "compute capability 6.1");
    *capability = 90;
    *shared_memory = 64;
    wrong += expect("a small device", unfused_launch(&a, workspace, bytes, NULL, &problem),
                    UNFUSED_WRONG_DEVICE, &problem, "and the device has 64");
    *shared_memory = had;
    a.Q.type = UNFUSED_BF16;
    wrong += expect("another type", unfused_launch(&a, workspace, bytes, NULL, &problem),
                    UNFUSED_WRONG_TYPE, &problem, "Q");
    a.Q.type = UNFUSED_F16;
    wrong += expect("as it should be", unfused_launch(&a, workspace, bytes, NULL, &problem),
                    UNFUSED_OK, &problem, NULL);
    if (problem.status != UNFUSED_OK || problem.message[0] != '\0') ++wrong;
    return wrong;
}
