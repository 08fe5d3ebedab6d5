/* The contract of the export `attention` (tests/export/examples.cpp), kept and broken in every way:
 * prints the cases whose answer is not the expected one and returns their number. */
#include <stdio.h>
#include <string.h>

#include "attention.h"

int check_contract(void);
int count_cases(void);

static unsigned char memory[1 << 16];
static int cases = 0;
static int failures = 0;

static attention_arguments good(void) {
    attention_arguments arguments;
    unsigned char *place = memory + (256 - (uintptr_t)memory % 256) % 256;
    attention_defaults(&arguments);
    arguments.Q = attention_make_Q(place, 2, 3, 5, 32);
    arguments.K = attention_make_K(place + 8192, 2, 3, 7, 32);
    arguments.V = attention_make_V(place + 16384, 2, 3, 7, 32);
    arguments.O = attention_make_O(place + 24576, 2, 3, 5, 32);
    arguments.L = attention_make_L(place + 32768, 2, 3, 5);
    return arguments;
}

/* `array` and `words` may be null; the message has the words. */
static void expect(const char *what, const attention_arguments *arguments, attention_status status,
                   const char *array, int dimension, const char *words) {
    attention_problem problem;
    const attention_status found = attention_check(arguments, &problem);
    size_t bytes = 0;
    int right = found == status && problem.status == status &&
                attention_check(arguments, NULL) == status &&
                attention_workspace(arguments, &bytes, NULL) == status;
    ++cases;
    if (status != ATTENTION_OK) {
        if (array != NULL && (problem.array == NULL || strcmp(problem.array, array) != 0)) right = 0;
        if (problem.dimension != dimension) right = 0;
        if (words != NULL && strstr(problem.message, words) == NULL) right = 0;
    }
    if (right) return;
    ++failures;
    printf("%s: status %d, array %s, dimension %d: %s\n", what, (int)found,
           problem.array != NULL ? problem.array : "none", problem.dimension, problem.message);
}

static void check_shapes(void) {
    attention_arguments a = good();
    expect("as it should be", &a, ATTENTION_OK, NULL, -1, NULL);
    expect("no arguments", NULL, ATTENTION_NO_DATA, NULL, -1, "no arguments");
    a = good(), a.K.data = NULL;
    expect("no data", &a, ATTENTION_NO_DATA, "K", -1, "no data");
    a = good(), a.Q.type = ATTENTION_F16;
    expect("another type", &a, ATTENTION_WRONG_TYPE, "Q", -1, "holds f16, and the kernels take bf16");
    a = good(), a.L.type = (attention_type)77;
    expect("no type", &a, ATTENTION_WRONG_TYPE, "L", -1, "unknown type");
    a = good(), a.V.rank = 3;
    expect("another rank", &a, ATTENTION_WRONG_RANK, "V", -1, "has 3 dimensions");
    a = good(), a.Q.size[3] = 64;
    expect("a fixed size", &a, ATTENTION_WRONG_SIZE, "Q", 3, "the kernels were made for 32");
    a = good(), a.V.size[2] = 6;
    expect("sizes that differ", &a, ATTENTION_WRONG_SIZE, "V", 2, "size 6 along x, where K has 7");
    a = good(), a.O.size[0] = 1;
    expect("an output that is too small", &a, ATTENTION_WRONG_SIZE, "O", 0, "where Q has 2");
    a = good(), a.Q.size[2] = a.O.size[2] = a.L.size[2] = 0;
    expect("nothing", &a, ATTENTION_WRONG_SIZE, "Q", 2, "1 to");
    a = good(), a.Q.size[2] = -4;
    expect("less than nothing", &a, ATTENTION_WRONG_SIZE, "Q", 2, "1 to");
    a = good(), a.Q.size[2] = (int64_t)1 << 31;
    expect("more than 32 bits", &a, ATTENTION_WRONG_SIZE, "Q", 2, "1 to 536870912");
}

static void check_strides(void) {
    attention_arguments a = good();
    a.Q.stride[0] = 8 * 1024, a.Q.stride[1] = 32, a.Q.stride[2] = 3 * 32;
    expect("heads inside positions", &a, ATTENTION_OK, NULL, -1, NULL);
    a = good(), a.K.stride[0] = a.K.stride[1] = 0;
    expect("an input for all", &a, ATTENTION_OK, NULL, -1, NULL);
    a = good(), a.K.stride[3] = 2;
    expect("not contiguous", &a, ATTENTION_WRONG_STRIDE, "K", 3, "must be contiguous");
    a = good(), a.Q.stride[2] = 36;
    expect("no multiple", &a, ATTENTION_WRONG_STRIDE, "Q", 2, "must be a multiple of 8");
    a = good(), a.Q.stride[1] = -160;
    expect("backwards", &a, ATTENTION_WRONG_STRIDE, "Q", 1, "negative");
    a = good(), a.Q.stride[1] = INT64_MAX / 2;
    expect("beyond all memory", &a, ATTENTION_WRONG_STRIDE, "Q", 1, "too large");
    a = good(), a.Q.size[0] = a.K.size[0] = a.V.size[0] = a.O.size[0] = a.L.size[0] = 1;
    a.Q.stride[0] = a.O.stride[0] = a.L.stride[0] = 3;
    expect("any stride of a single index", &a, ATTENTION_OK, NULL, -1, NULL);
    a = good(), a.L.stride[2] = 3;
    expect("rows of an output apart", &a, ATTENTION_WRONG_STRIDE, "L", 2, "must be contiguous");
    a = good(), a.O.stride[1] = 0;
    expect("heads in one place", &a, ATTENTION_OVERLAP, "O", 1, "several elements in one place");
    a = good(), a.O.stride[1] = 32;
    expect("heads over positions", &a, ATTENTION_OVERLAP, "O", 2, "several elements in one place");
    a = good(), a.O.stride[0] = 480, a.O.stride[1] = 32, a.O.stride[2] = 96;
    expect("an output with heads inside positions", &a, ATTENTION_OK, NULL, -1, NULL);
}

static void check_addresses(void) {
    attention_arguments a = good();
    a.Q.data = (char *)a.Q.data + 8;
    expect("half a vector", &a, ATTENTION_MISALIGNED, "Q", -1, "multiple of 16 bytes");
    a = good(), a.L.data = (char *)a.L.data + 2;
    expect("half an element", &a, ATTENTION_MISALIGNED, "L", -1, "multiple of 4 bytes");
    a = good(), a.L.data = (char *)a.L.data + 4;
    expect("an element further", &a, ATTENTION_OK, NULL, -1, NULL);
    a = good(), a.K = a.V;
    expect("one input twice", &a, ATTENTION_OK, NULL, -1, NULL);
    a = good(), a.O.data = a.Q.data;
    expect("in place", &a, ATTENTION_OVERLAP, "O", -1, "shares memory with Q");
    a = good(), a.L.data = (char *)a.O.data + 2 * 3 * 5 * 32 * 2 - 4;
    expect("outputs that touch", &a, ATTENTION_OVERLAP, "O", -1, "shares memory with L");
    a = good(), a.L.data = (char *)a.O.data + 2 * 3 * 5 * 32 * 2;
    expect("outputs side by side", &a, ATTENTION_OK, NULL, -1, NULL);
}

int check_contract(void) {
    check_shapes();
    check_strides();
    check_addresses();
    return failures;
}

int count_cases(void) { return cases; }
