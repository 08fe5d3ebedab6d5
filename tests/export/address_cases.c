/* Launches of the export `odd_rows` (tests/export/examples.cpp) with arrays at other addresses: returns
 * how many are refused. */
#include <stdio.h>

#include "odd_rows.h"

int launch_at_addresses(void);

static unsigned char memory[1 << 19];

int launch_at_addresses(void) {
    const int64_t bytes = 3 * 24577 * 2;
    const int64_t apart = bytes + 256 - bytes % 256;
    unsigned char *place = memory + (256 - (uintptr_t)memory % 256) % 256;
    /* A multiple of 16, one row further on, which is none, and one output that is none. */
    const int64_t offsets[][2] = {{0, 0}, {2 * 24577, 0}, {16, 16}, {0, 2}};
    int refused = 0;
    int i;
    for (i = 0; i < 4; ++i) {
        odd_rows_arguments a;
        odd_rows_problem problem;
        odd_rows_defaults(&a);
        a.X = odd_rows_make_X(place + offsets[i][0], 2, 24577);
        a.Y = odd_rows_make_Y(place + apart + offsets[i][1], 2, 24577);
        if (odd_rows_launch(&a, NULL, 0, NULL, &problem) == ODD_ROWS_OK) continue;
        printf("%s\n", problem.message);
        ++refused;
    }
    return refused;
}
