/* Runs scaled on the current device and compares with stored results of the reference.
 *
 * Written by napkin export 0.0.0 from a diagram, target simt.
 *
 *     selftest scaled_selftest.txt
 *
 * Every case is run with contiguous arrays and with strided ones. Inputs are made here from keys,
 * as the exporter made them; the file has what the reference, in double precision, computes from
 * them at some elements, and how far a correct kernel may be from it. Everything that a kernel has
 * no business to write must stay as it was. Exits with 0, 1 for a wrong result, 77 without a device.
 */
#include "scaled.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = SCALED_MAX_RANK, MAX_SIZES = 64, GUARD = 256, POISON = 0xff };

typedef struct Slot {
    const char *name;
    int input;
    scaled_type type;
    int bytes;
    int rank;
    const char *axis[MAX_RANK];
    int order[MAX_RANK]; /* dimensions as they lie in memory, slowest first */
    size_t view;         /* where scaled_arguments has it */
} Slot;

static const Slot kSlots[] = {
    {"A", 1, SCALED_F32, 4, 2, {"m", "n"}, {0, 1}, offsetof(scaled_arguments, A)},
    {"w", 1, SCALED_F32, 4, 1, {"n"}, {0}, offsetof(scaled_arguments, w)},
    {"B", 0, SCALED_F16, 2, 2, {"m", "n"}, {0, 1}, offsetof(scaled_arguments, B)},
};
enum { SLOTS = sizeof kSlots / sizeof kSlots[0] };

/* How an input is made, from the file. */
typedef struct Recipe {
    char kind[16];
    uint64_t key;
    int64_t low, count; /* of integers */
    int bits;           /* of a real number's significand */
} Recipe;

typedef struct Expected {
    int64_t count;
    int64_t *at;
    double *value;
    double *tolerance;
} Expected;

typedef struct Case {
    int sizes;
    char axis[MAX_SIZES][64];
    int64_t size[MAX_SIZES];
    scaled_arguments arguments; /* scalars and sizes; arrays are filled in per run */
    Recipe recipe[SLOTS];
    Expected expected[SLOTS];
} Case;

/* ---- values ---- */

static uint64_t draw(uint64_t key, int64_t index) {
    uint64_t mixed = key + ((uint64_t)index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* A sum of four uniform numbers, cut to a significand of so many bits: exact in the array's type. */
static double real_value(const Recipe *recipe, int64_t index) {
    const uint64_t bits = draw(recipe->key, index);
    int32_t sum = (int32_t)(bits & 0xffff) + (int32_t)(bits >> 16 & 0xffff) +
                  (int32_t)(bits >> 32 & 0xffff) + (int32_t)(bits >> 48) - 131070;
    float value;
    uint32_t word;
    if (recipe->bits <= 4) sum = sum / 64 * 64; /* subnormal numbers of 8 bits */
    value = (float)sum / 32768.0f;
    memcpy(&word, &value, sizeof word);
    word &= ~((UINT32_C(1) << (24 - recipe->bits)) - 1);
    memcpy(&value, &word, sizeof value);
    if (strcmp(recipe->kind, "positive") != 0) return value;
    return fabsf(value) < 0.015625f ? 0.015625 : fabsf(value);
}

static double value_at(const Recipe *recipe, int64_t index, int64_t row_length) {
    if (strcmp(recipe->kind, "range") == 0)
        return (double)(recipe->low +
                        (int64_t)(draw(recipe->key, index) % (uint64_t)recipe->count));
    if (strcmp(recipe->kind, "documents") == 0) {
        /* Up to four in a row, each end drawn by the row's number. */
        const int64_t row = index / row_length;
        int number = 0;
        int end;
        for (end = 0; end < 3; ++end)
            number += index % row_length >=
                      1 + (int64_t)(draw(recipe->key, 3 * row + end) % (uint64_t)row_length);
        return number;
    }
    return real_value(recipe, index);
}

/* A value that the small floating type has: its fields from those of a float. */
static uint32_t encode_small(double value, int exponent_bits, int fraction_bits) {
    const uint32_t sign = signbit(value) ? 1u << (exponent_bits + fraction_bits) : 0;
    const int least = 2 - (1 << (exponent_bits - 1)); /* exponent of normal numbers */
    int exponent;
    double units;
    if (value == 0) return sign;
    exponent = ilogb(value) > least ? ilogb(value) : least;
    units = ldexp(fabs(value), fraction_bits - exponent);
    return sign | ((uint32_t)units + ((uint32_t)(exponent - least) << fraction_bits));
}

static double decode_small(uint32_t word, int exponent_bits, int fraction_bits, int infinite) {
    const uint32_t magnitude = word & ((1u << (exponent_bits + fraction_bits)) - 1);
    const double sign = word >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    const uint32_t top = ((1u << exponent_bits) - 1) << fraction_bits;
    const int least = 2 - (1 << (exponent_bits - 1));
    const int field = (int)(magnitude >> fraction_bits);
    const uint32_t fraction = magnitude & ((1u << fraction_bits) - 1);
    const uint32_t units = field == 0 ? fraction : fraction + (1u << fraction_bits);
    if (infinite && magnitude == top) return sign * (double)INFINITY;
    if (infinite ? magnitude > top : magnitude == top + (1u << fraction_bits) - 1)
        return (double)NAN;
    return sign * ldexp(units, least + (field > 0 ? field - 1 : 0) - fraction_bits);
}

static void encode(scaled_type type, double value, unsigned char *place) {
    const float single = (float)value;
    const int64_t integer = type >= SCALED_I8 ? (int64_t)value : 0;
    const int32_t word = (int32_t)integer;
    uint16_t half;
    switch (type) {
    case SCALED_F32: memcpy(place, &single, 4); return;
    case SCALED_BF16: half = (uint16_t)encode_small(value, 8, 7); memcpy(place, &half, 2); return;
    case SCALED_F16: half = (uint16_t)encode_small(value, 5, 10); memcpy(place, &half, 2); return;
    case SCALED_E4M3: *place = (unsigned char)encode_small(value, 4, 3); return;
    case SCALED_E5M2: *place = (unsigned char)encode_small(value, 5, 2); return;
    case SCALED_I8: *place = (unsigned char)(signed char)integer; return;
    case SCALED_I32: memcpy(place, &word, 4); return;
    case SCALED_I64: memcpy(place, &integer, 8); return;
    case SCALED_BOOL: *place = integer != 0; return;
    }
}

static double decode(scaled_type type, const unsigned char *place) {
    float single;
    uint16_t half;
    int32_t word;
    int64_t integer;
    switch (type) {
    case SCALED_F32: memcpy(&single, place, 4); return single;
    case SCALED_BF16: memcpy(&half, place, 2); return decode_small(half, 8, 7, 1);
    case SCALED_F16: memcpy(&half, place, 2); return decode_small(half, 5, 10, 1);
    case SCALED_E4M3: return decode_small(*place, 4, 3, 0);
    case SCALED_E5M2: return decode_small(*place, 5, 2, 1);
    case SCALED_I8: return (signed char)*place;
    case SCALED_I32: memcpy(&word, place, 4); return word;
    case SCALED_I64: memcpy(&integer, place, 8); return (double)integer;
    case SCALED_BOOL: return *place;
    }
    return NAN;
}

/* ---- the file ---- */

static void stop(const char *what) {
    fprintf(stderr, "selftest: %s\n", what);
    exit(2);
}

static void *reserve(size_t bytes) {
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) stop("out of memory");
    return memory;
}

static int slot_named(const char *name) {
    int slot;
    for (slot = 0; slot < SLOTS; ++slot)
        if (strcmp(kSlots[slot].name, name) == 0) return slot;
    stop("the file names an array that there is not");
    return 0;
}

static void set_value(scaled_arguments *arguments, const char *name, double value) {
    if (strcmp(name, "eps") == 0) arguments->eps = (float)value;
    (void)arguments;
    (void)name;
    (void)value;
}

static void read_input(FILE *file, Case *test) {
    char name[64];
    Recipe recipe;
    memset(&recipe, 0, sizeof recipe);
    if (fscanf(file, "%63s %15s %" SCNx64, name, recipe.kind, &recipe.key) != 3)
        stop("an input's line is wrong");
    if (strcmp(recipe.kind, "range") == 0) {
        if (fscanf(file, "%" SCNd64 " %" SCNd64, &recipe.low, &recipe.count) != 2)
            stop("an input's line is wrong");
    } else if (strcmp(recipe.kind, "documents") != 0) {
        if (fscanf(file, "%d", &recipe.bits) != 1) stop("an input's line is wrong");
    }
    test->recipe[slot_named(name)] = recipe;
}

static void read_output(FILE *file, Case *test) {
    char name[64];
    Expected expected;
    int64_t i;
    if (fscanf(file, "%63s %" SCNd64, name, &expected.count) != 2)
        stop("an output's line is wrong");
    expected.at = (int64_t *)reserve((size_t)expected.count * sizeof *expected.at);
    expected.value = (double *)reserve((size_t)expected.count * sizeof *expected.value);
    expected.tolerance = (double *)reserve((size_t)expected.count * sizeof *expected.tolerance);
    for (i = 0; i < expected.count; ++i)
        if (fscanf(file, "%" SCNd64 " %lf %lf", &expected.at[i], &expected.value[i],
                   &expected.tolerance[i]) != 3)
            stop("a result's line is wrong");
    test->expected[slot_named(name)] = expected;
}

/* The next case; 0 where there is none. */
static int read_case(FILE *file, Case *test) {
    char word[64];
    double value;
    int slot;
    if (fscanf(file, "%63s", word) != 1) return 0;
    if (strcmp(word, "case") != 0) stop("a case is expected");
    memset(test, 0, sizeof *test);
    for (slot = 0; slot < SLOTS; ++slot) test->expected[slot].count = 0;
    scaled_defaults(&test->arguments);
    while (fscanf(file, "%63s", word) == 1 && strcmp(word, "end") != 0) {
        if (strcmp(word, "size") == 0) {
            const int at = test->sizes++;
            if (at == MAX_SIZES ||
                fscanf(file, "%63s %" SCNd64, test->axis[at], &test->size[at]) != 2)
                stop("a size's line is wrong");
            set_value(&test->arguments, test->axis[at], (double)test->size[at]);
        } else if (strcmp(word, "scalar") == 0) {
            if (fscanf(file, "%63s %lf", word, &value) != 2) stop("a scalar's line is wrong");
            set_value(&test->arguments, word, value);
        } else if (strcmp(word, "input") == 0) {
            read_input(file, test);
        } else if (strcmp(word, "output") == 0) {
            read_output(file, test);
        } else {
            stop("an unknown line");
        }
    }
    return 1;
}

static void skip_comments(FILE *file) {
    int letter;
    while ((letter = fgetc(file)) == '#')
        while ((letter = fgetc(file)) != '\n' && letter != EOF) {
        }
    ungetc(letter, file);
}

/* ---- a run ---- */

typedef struct Memory {
    unsigned char *host; /* GUARD bytes on both sides of the values */
    unsigned char *before;
    unsigned char *device;
    size_t bytes;
} Memory;

static scaled_view *view_of(scaled_arguments *arguments, int slot) {
    return (scaled_view *)((char *)arguments + kSlots[slot].view);
}

/* Sizes, and strides of an array that is contiguous, or whose rows and planes are longer than what
 * they hold; returns the elements from the first to the end of the last. */
static int64_t lay_out(const Case *test, int slot, int strided, scaled_view *view) {
    const Slot *info = &kSlots[slot];
    int64_t next = 1;
    int at;
    view->type = info->type;
    view->rank = info->rank;
    for (at = info->rank - 1; at >= 0; --at) {
        const int d = info->order[at];
        int number = 0;
        while (number < test->sizes && strcmp(test->axis[number], info->axis[d]) != 0) ++number;
        if (number == test->sizes) stop("the file lacks a size");
        view->size[d] = test->size[number];
        view->stride[d] = next;
        next *= view->size[d];
        if (strided && at == info->rank - 1) next = (next + 31) / 16 * 16;
        if (strided && at != info->rank - 1) next += view->stride[d];
    }
    return next;
}

static int64_t elements_of(const scaled_view *view) {
    int64_t count = 1;
    int d;
    for (d = 0; d < view->rank; ++d) count *= view->size[d];
    return count;
}

/* The byte at which an element starts, by its row-major number. */
static size_t place_of(const scaled_view *view, int slot, int64_t index) {
    int64_t offset = 0;
    int d;
    for (d = view->rank - 1; d >= 0; --d) {
        offset += index % view->size[d] * view->stride[d];
        index /= view->size[d];
    }
    return (size_t)(GUARD + offset * kSlots[slot].bytes);
}

static void check_cuda(cudaError_t error) {
    if (error != cudaSuccess) stop(cudaGetErrorString(error));
}

static void fill(const Case *test, int slot, const scaled_view *view, Memory *memory) {
    const int64_t count = elements_of(view);
    int64_t row_length = view->rank > 0 ? view->size[view->rank - 1] : 1;
    int64_t index;
    memset(memory->host, POISON, memory->bytes);
    if (!kSlots[slot].input) return;
    for (index = 0; index < count; ++index)
        encode(view->type, value_at(&test->recipe[slot], index, row_length),
               memory->host + place_of(view, slot, index));
}

/* Whether the elements are right, and everything else is as before. */
static int judge(const Case *test, int slot, const scaled_view *view, Memory *memory,
                 const char *how) {
    const Expected *expected = &test->expected[slot];
    const int64_t count = elements_of(view);
    int64_t wrong = 0;
    int64_t touched = 0;
    double worst = 0;
    int64_t i;
    size_t byte;
    for (i = 0; i < expected->count; ++i) {
        const double got = decode(view->type, memory->host + place_of(view, slot, expected->at[i]));
        const double error = got == expected->value[i] ? 0 : fabs(got - expected->value[i]);
        if (isinf(expected->tolerance[i])) continue; /* within rounding of a choice */
        if (!(error <= expected->tolerance[i])) ++wrong;
        if (!(error <= worst * expected->tolerance[i])) worst = error / expected->tolerance[i];
    }
    for (i = 0; i < count; ++i) /* what may be written counts as untouched */
        memcpy(memory->host + place_of(view, slot, i), memory->before + place_of(view, slot, i),
               (size_t)kSlots[slot].bytes);
    for (byte = 0; byte < memory->bytes; ++byte) touched += memory->host[byte] != memory->before[byte];
    printf("  %s, %s: %" PRId64 " of %" PRId64 " elements, largest error %.2g of its tolerance",
           kSlots[slot].name, how, expected->count, count, worst);
    if (wrong > 0) printf(", %" PRId64 " WRONG", wrong);
    if (touched > 0) printf(", %" PRId64 " bytes WRITTEN OUTSIDE", touched);
    printf("\n");
    return wrong == 0 && touched == 0;
}

static int run_case(Case *test, int strided) {
    const char *how = strided ? "strided" : "contiguous";
    Memory memory[SLOTS];
    scaled_problem problem;
    void *workspace = NULL;
    size_t bytes = 0;
    int right = 1;
    int slot;
    for (slot = 0; slot < SLOTS; ++slot) {
        scaled_view *view = view_of(&test->arguments, slot);
        const int64_t elements = lay_out(test, slot, strided, view);
        Memory *place = &memory[slot];
        place->bytes = (size_t)(2 * GUARD + elements * kSlots[slot].bytes);
        place->host = (unsigned char *)reserve(place->bytes);
        place->before = (unsigned char *)reserve(place->bytes);
        fill(test, slot, view, place);
        memcpy(place->before, place->host, place->bytes);
        check_cuda(cudaMalloc((void **)&place->device, place->bytes));
        check_cuda(cudaMemcpy(place->device, place->host, place->bytes, cudaMemcpyHostToDevice));
        view->data = place->device + GUARD;
    }
    if (scaled_workspace(&test->arguments, &bytes, &problem) != SCALED_OK) stop(problem.message);
    if (bytes > 0) check_cuda(cudaMalloc(&workspace, bytes));
    if (scaled_launch(&test->arguments, workspace, bytes, NULL, &problem) != SCALED_OK)
        stop(problem.message);
    check_cuda(cudaDeviceSynchronize());
    for (slot = 0; slot < SLOTS; ++slot) {
        Memory *place = &memory[slot];
        check_cuda(cudaMemcpy(place->host, place->device, place->bytes, cudaMemcpyDeviceToHost));
        if (!kSlots[slot].input)
            right &= judge(test, slot, view_of(&test->arguments, slot), place, how);
        else if (memcmp(place->host, place->before, place->bytes) != 0)
            right = 0, printf("  %s, %s: an input was WRITTEN\n", kSlots[slot].name, how);
        check_cuda(cudaFree(place->device));
        free(place->host);
        free(place->before);
    }
    check_cuda(cudaFree(workspace));
    return right;
}

int main(int count, char **words) {
    static Case test;
    FILE *file = count == 2 ? fopen(words[1], "r") : NULL;
    int devices = 0;
    int number = 0;
    int right = 1;
    int slot;
    if (file == NULL) stop("usage: selftest scaled_selftest.txt");
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("skipped: there is no CUDA device\n");
        return 77;
    }
    skip_comments(file);
    while (read_case(file, &test)) {
        printf("case %d:", ++number);
        for (slot = 0; slot < test.sizes; ++slot)
            printf(" %s=%" PRId64, test.axis[slot], test.size[slot]);
        printf("\n");
        right &= run_case(&test, 0);
        right &= run_case(&test, 1);
        for (slot = 0; slot < SLOTS; ++slot) {
            free(test.expected[slot].at);
            free(test.expected[slot].value);
            free(test.expected[slot].tolerance);
        }
    }
    fclose(file);
    printf(right && number > 0 ? "ok\n" : "WRONG\n");
    return right && number > 0 ? 0 : 1;
}
