// wgmma of every width: a warp group's 64 x 8 kAcross results of f32, += left right over 32 bytes
// of either along k. The left operand is in shared memory or, 16 rows a warp laid out as
// Fragment's, in registers; the right one in shared memory. What runs along k in memory is not
// transposed, and operands of 8 bits run along k. Without `add` the results begin at zero. Nothing
// may touch the registers before wait_products and settle.
//
// Of 8 bits the tensor core keeps 13 bits of fraction of every sum and cuts off the others, so
// that prelude/panels.cuh adds up longer ones in f32.
#pragma once

namespace nk {

template <class A, class B>
inline constexpr bool same = false;
template <class A>
inline constexpr bool same<A, A> = true;

// Operands of an instruction, eight columns after eight columns.
#define NK_AT(j) "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
#define NK_ACC_1 NK_AT(0)
#define NK_REG_1 "%0, %1, %2, %3"
#define NK_ACC_2 NK_ACC_1, NK_AT(1)
#define NK_REG_2 NK_REG_1 ", %4, %5, %6, %7"
#define NK_ACC_3 NK_ACC_2, NK_AT(2)
#define NK_REG_3 NK_REG_2 ", %8, %9, %10, %11"
#define NK_ACC_4 NK_ACC_3, NK_AT(3)
#define NK_REG_4 NK_REG_3 ", %12, %13, %14, %15"
#define NK_ACC_5 NK_ACC_4, NK_AT(4)
#define NK_REG_5 NK_REG_4 ", %16, %17, %18, %19"
#define NK_ACC_6 NK_ACC_5, NK_AT(5)
#define NK_REG_6 NK_REG_5 ", %20, %21, %22, %23"
#define NK_ACC_7 NK_ACC_6, NK_AT(6)
#define NK_REG_7 NK_REG_6 ", %24, %25, %26, %27"
#define NK_ACC_8 NK_ACC_7, NK_AT(7)
#define NK_REG_8 NK_REG_7 ", %28, %29, %30, %31"
#define NK_ACC_9 NK_ACC_8, NK_AT(8)
#define NK_REG_9 NK_REG_8 ", %32, %33, %34, %35"
#define NK_ACC_10 NK_ACC_9, NK_AT(9)
#define NK_REG_10 NK_REG_9 ", %36, %37, %38, %39"
#define NK_ACC_11 NK_ACC_10, NK_AT(10)
#define NK_REG_11 NK_REG_10 ", %40, %41, %42, %43"
#define NK_ACC_12 NK_ACC_11, NK_AT(11)
#define NK_REG_12 NK_REG_11 ", %44, %45, %46, %47"
#define NK_ACC_13 NK_ACC_12, NK_AT(12)
#define NK_REG_13 NK_REG_12 ", %48, %49, %50, %51"
#define NK_ACC_14 NK_ACC_13, NK_AT(13)
#define NK_REG_14 NK_REG_13 ", %52, %53, %54, %55"
#define NK_ACC_15 NK_ACC_14, NK_AT(14)
#define NK_REG_15 NK_REG_14 ", %56, %57, %58, %59"
#define NK_ACC_16 NK_ACC_15, NK_AT(15)
#define NK_REG_16 NK_REG_15 ", %60, %61, %62, %63"
#define NK_ACC_17 NK_ACC_16, NK_AT(16)
#define NK_REG_17 NK_REG_16 ", %64, %65, %66, %67"
#define NK_ACC_18 NK_ACC_17, NK_AT(17)
#define NK_REG_18 NK_REG_17 ", %68, %69, %70, %71"
#define NK_ACC_19 NK_ACC_18, NK_AT(18)
#define NK_REG_19 NK_REG_18 ", %72, %73, %74, %75"
#define NK_ACC_20 NK_ACC_19, NK_AT(19)
#define NK_REG_20 NK_REG_19 ", %76, %77, %78, %79"
#define NK_ACC_21 NK_ACC_20, NK_AT(20)
#define NK_REG_21 NK_REG_20 ", %80, %81, %82, %83"
#define NK_ACC_22 NK_ACC_21, NK_AT(21)
#define NK_REG_22 NK_REG_21 ", %84, %85, %86, %87"
#define NK_ACC_23 NK_ACC_22, NK_AT(22)
#define NK_REG_23 NK_REG_22 ", %88, %89, %90, %91"
#define NK_ACC_24 NK_ACC_23, NK_AT(23)
#define NK_REG_24 NK_REG_23 ", %92, %93, %94, %95"
#define NK_ACC_25 NK_ACC_24, NK_AT(24)
#define NK_REG_25 NK_REG_24 ", %96, %97, %98, %99"
#define NK_ACC_26 NK_ACC_25, NK_AT(25)
#define NK_REG_26 NK_REG_25 ", %100, %101, %102, %103"
#define NK_ACC_27 NK_ACC_26, NK_AT(26)
#define NK_REG_27 NK_REG_26 ", %104, %105, %106, %107"
#define NK_ACC_28 NK_ACC_27, NK_AT(27)
#define NK_REG_28 NK_REG_27 ", %108, %109, %110, %111"
#define NK_ACC_29 NK_ACC_28, NK_AT(28)
#define NK_REG_29 NK_REG_28 ", %112, %113, %114, %115"
#define NK_ACC_30 NK_ACC_29, NK_AT(29)
#define NK_REG_30 NK_REG_29 ", %116, %117, %118, %119"
#define NK_ACC_31 NK_ACC_30, NK_AT(30)
#define NK_REG_31 NK_REG_30 ", %120, %121, %122, %123"
#define NK_ACC_32 NK_ACC_31, NK_AT(31)
#define NK_REG_32 NK_REG_31 ", %124, %125, %126, %127"

// A product of each kind: how many numbers stand before a and the others depends on its width.
#define NK_WGMMA(across, columns, kind, a, b, c, d, e, f, g)                           \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" c                            \
                 ", 0;\n"                                                              \
                 "wgmma.mma_async.sync.aligned.m64n" columns kind " {" NK_REG_##across \
                 "}, %" a ", %" b ", add, 1, 1, %" d ", %" e ";\n}"                    \
                 : NK_ACC_##across                                                     \
                 : "l"(left), "l"(right), "r"(int(add)), "n"(int(kLeftTransposed)),    \
                   "n"(int(kRightTransposed)))
#define NK_WGMMA_NARROW(across, columns, kind, a, b, c, d, e, f, g)                    \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" c                            \
                 ", 0;\n"                                                              \
                 "wgmma.mma_async.sync.aligned.m64n" columns kind " {" NK_REG_##across \
                 "}, %" a ", %" b ", add, 1, 1;\n}"                                    \
                 : NK_ACC_##across                                                     \
                 : "l"(left), "l"(right), "r"(int(add)))
#define NK_WGMMA_HELD(across, columns, kind, a, b, c, d, e, f, g)                      \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" f                            \
                 ", 0;\n"                                                              \
                 "wgmma.mma_async.sync.aligned.m64n" columns kind " {" NK_REG_##across \
                 "}, {%" a ", %" b ", %" c ", %" d "}, %" e ", add, 1, 1, %" g ";\n}"  \
                 : NK_ACC_##across                                                     \
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right), \
                   "r"(int(add)), "n"(int(kRightTransposed)))
#define NK_OF_WIDTH(product, kind)                                                 \
    if constexpr (kAcross == 1)                                                    \
        product(1, "8", kind, "4", "5", "6", "7", "8", "9", "10");                 \
    else if constexpr (kAcross == 2)                                               \
        product(2, "16", kind, "8", "9", "10", "11", "12", "13", "14");            \
    else if constexpr (kAcross == 3)                                               \
        product(3, "24", kind, "12", "13", "14", "15", "16", "17", "18");          \
    else if constexpr (kAcross == 4)                                               \
        product(4, "32", kind, "16", "17", "18", "19", "20", "21", "22");          \
    else if constexpr (kAcross == 5)                                               \
        product(5, "40", kind, "20", "21", "22", "23", "24", "25", "26");          \
    else if constexpr (kAcross == 6)                                               \
        product(6, "48", kind, "24", "25", "26", "27", "28", "29", "30");          \
    else if constexpr (kAcross == 7)                                               \
        product(7, "56", kind, "28", "29", "30", "31", "32", "33", "34");          \
    else if constexpr (kAcross == 8)                                               \
        product(8, "64", kind, "32", "33", "34", "35", "36", "37", "38");          \
    else if constexpr (kAcross == 9)                                               \
        product(9, "72", kind, "36", "37", "38", "39", "40", "41", "42");          \
    else if constexpr (kAcross == 10)                                              \
        product(10, "80", kind, "40", "41", "42", "43", "44", "45", "46");         \
    else if constexpr (kAcross == 11)                                              \
        product(11, "88", kind, "44", "45", "46", "47", "48", "49", "50");         \
    else if constexpr (kAcross == 12)                                              \
        product(12, "96", kind, "48", "49", "50", "51", "52", "53", "54");         \
    else if constexpr (kAcross == 13)                                              \
        product(13, "104", kind, "52", "53", "54", "55", "56", "57", "58");        \
    else if constexpr (kAcross == 14)                                              \
        product(14, "112", kind, "56", "57", "58", "59", "60", "61", "62");        \
    else if constexpr (kAcross == 15)                                              \
        product(15, "120", kind, "60", "61", "62", "63", "64", "65", "66");        \
    else if constexpr (kAcross == 16)                                              \
        product(16, "128", kind, "64", "65", "66", "67", "68", "69", "70");        \
    else if constexpr (kAcross == 17)                                              \
        product(17, "136", kind, "68", "69", "70", "71", "72", "73", "74");        \
    else if constexpr (kAcross == 18)                                              \
        product(18, "144", kind, "72", "73", "74", "75", "76", "77", "78");        \
    else if constexpr (kAcross == 19)                                              \
        product(19, "152", kind, "76", "77", "78", "79", "80", "81", "82");        \
    else if constexpr (kAcross == 20)                                              \
        product(20, "160", kind, "80", "81", "82", "83", "84", "85", "86");        \
    else if constexpr (kAcross == 21)                                              \
        product(21, "168", kind, "84", "85", "86", "87", "88", "89", "90");        \
    else if constexpr (kAcross == 22)                                              \
        product(22, "176", kind, "88", "89", "90", "91", "92", "93", "94");        \
    else if constexpr (kAcross == 23)                                              \
        product(23, "184", kind, "92", "93", "94", "95", "96", "97", "98");        \
    else if constexpr (kAcross == 24)                                              \
        product(24, "192", kind, "96", "97", "98", "99", "100", "101", "102");     \
    else if constexpr (kAcross == 25)                                              \
        product(25, "200", kind, "100", "101", "102", "103", "104", "105", "106"); \
    else if constexpr (kAcross == 26)                                              \
        product(26, "208", kind, "104", "105", "106", "107", "108", "109", "110"); \
    else if constexpr (kAcross == 27)                                              \
        product(27, "216", kind, "108", "109", "110", "111", "112", "113", "114"); \
    else if constexpr (kAcross == 28)                                              \
        product(28, "224", kind, "112", "113", "114", "115", "116", "117", "118"); \
    else if constexpr (kAcross == 29)                                              \
        product(29, "232", kind, "116", "117", "118", "119", "120", "121", "122"); \
    else if constexpr (kAcross == 30)                                              \
        product(30, "240", kind, "120", "121", "122", "123", "124", "125", "126"); \
    else if constexpr (kAcross == 31)                                              \
        product(31, "248", kind, "124", "125", "126", "127", "128", "129", "130"); \
    else if constexpr (kAcross == 32)                                              \
        product(32, "256", kind, "128", "129", "130", "131", "132", "133", "134");

template <class Left, bool kLeftTransposed, bool kRightTransposed, class Right = Left, int kAcross>
NK_DEVICE void start_product(float (&acc)[kAcross][4], u64 left, u64 right, bool add) {
    static_assert(kAcross >= 1 && kAcross <= 32);
    if constexpr (sizeof(Left) == 1) {
        static_assert(!kLeftTransposed && !kRightTransposed, "operands of 8 bits run along k");
        if constexpr (same<Left, e4m3> && same<Right, e4m3>) {
            NK_OF_WIDTH(NK_WGMMA_NARROW, "k32.f32.e4m3.e4m3")
        } else if constexpr (same<Left, e4m3>) {
            static_assert(same<Right, e5m2>);
            NK_OF_WIDTH(NK_WGMMA_NARROW, "k32.f32.e4m3.e5m2")
        } else if constexpr (same<Right, e4m3>) {
            static_assert(same<Left, e5m2>);
            NK_OF_WIDTH(NK_WGMMA_NARROW, "k32.f32.e5m2.e4m3")
        } else {
            static_assert(same<Left, e5m2> && same<Right, e5m2>);
            NK_OF_WIDTH(NK_WGMMA_NARROW, "k32.f32.e5m2.e5m2")
        }
    } else if constexpr (same<Left, bf16>) {
        static_assert(same<Right, bf16>);
        NK_OF_WIDTH(NK_WGMMA, "k16.f32.bf16.bf16")
    } else {
        static_assert(same<Left, f16> && same<Right, f16>);
        NK_OF_WIDTH(NK_WGMMA, "k16.f32.f16.f16")
    }
}
template <class T, bool kRightTransposed, int kAcross>
NK_DEVICE void start_product(float (&acc)[kAcross][4], const u32 (&left)[4], u64 right, bool add) {
    static_assert(kAcross >= 1 && kAcross <= 32);
    if constexpr (same<T, bf16>) {
        NK_OF_WIDTH(NK_WGMMA_HELD, "k16.f32.bf16.bf16")
    } else {
        static_assert(same<T, f16>);
        NK_OF_WIDTH(NK_WGMMA_HELD, "k16.f32.f16.f16")
    }
}

#undef NK_OF_WIDTH
#undef NK_WGMMA
#undef NK_WGMMA_NARROW
#undef NK_WGMMA_HELD

}  // namespace nk
