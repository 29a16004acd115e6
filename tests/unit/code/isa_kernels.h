/* SPDX-License-Identifier: MIT
 *
 * What is in the disassemblies of tests/data/isa: counted by regular expressions over the text, loops by dominators
 * (two of them, gemm_lds and fma_peak, are entered at two places; their outer loops were read by eye), by a script that
 * shares nothing with the code under test.
 */
#ifndef ROOFTILE_TEST_ISA_KERNELS_H
#define ROOFTILE_TEST_ISA_KERNELS_H

#include "rooftile/isa.h"

#define MAX_LOOPS 5

struct counted {
    uint64_t instructions;
    uint64_t count[ISA_KINDS];
    uint64_t flops;        /* per lane */
    uint64_t matrix_flops; /* per wave */
    struct {
        uint64_t in, out; /* bytes per lane */
    } global, lds, scratch;
};

struct counted_loop {
    uint64_t first, last;
    unsigned depth;
    struct counted own;
};

static const struct counted_kernel {
    const char *target, *name; /* tests/data/isa/TARGET_NAME.txt */
    uint64_t address, size;
    unsigned wave;
    const char *findings; /* codes, problems first */
    struct counted whole;
    size_t loop_count;
    struct counted_loop loops[MAX_LOOPS];
} counted_kernels[] = {
    /* clang-format off */
    {"gfx942", "stream_triad", 0x4300, 0x4b8, 64, "",
     {216, {[ISA_VECTOR] = 87, [ISA_PACKED] = 7, [ISA_SCALAR] = 70, [ISA_SCALAR_MEMORY] = 5, [ISA_LOAD] = 12,
      [ISA_STORE] = 6,
      [ISA_WAIT] = 7, [ISA_BRANCH] = 13, [ISA_OTHER] = 9}, 30, 0, {120, 60}, {0, 0}, {0, 0}},
     5, {
      {0x441c, 0x47b0, 1, {63, {[ISA_VECTOR] = 34, [ISA_SCALAR] = 20, [ISA_BRANCH] = 7, [ISA_OTHER] = 2}, 0, 0, {0, 0},
       {0, 0},
       {0, 0}}},
      {0x4444, 0x4518, 2, {36, {[ISA_VECTOR] = 14, [ISA_PACKED] = 4, [ISA_SCALAR] = 6, [ISA_LOAD] = 4, [ISA_STORE] = 2,
       [ISA_WAIT]
       = 2, [ISA_BRANCH] = 1, [ISA_OTHER] = 3}, 16, 0, {64, 32}, {0, 0}, {0, 0}}},
      {0x4550, 0x45bc, 2, {18, {[ISA_VECTOR] = 5, [ISA_PACKED] = 2, [ISA_SCALAR] = 6, [ISA_LOAD] = 2, [ISA_STORE] = 1,
       [ISA_WAIT]
       = 1, [ISA_BRANCH] = 1}, 8, 0, {32, 16}, {0, 0}, {0, 0}}},
      {0x4650, 0x4710, 2, {31, {[ISA_VECTOR] = 11, [ISA_PACKED] = 1, [ISA_SCALAR] = 8, [ISA_LOAD] = 4, [ISA_STORE] = 2,
       [ISA_WAIT]
       = 1, [ISA_BRANCH] = 1, [ISA_OTHER] = 3}, 4, 0, {16, 8}, {0, 0}, {0, 0}}},
      {0x4760, 0x47ac, 2, {13, {[ISA_VECTOR] = 6, [ISA_SCALAR] = 2, [ISA_LOAD] = 2, [ISA_STORE] = 1, [ISA_WAIT] = 1,
       [ISA_BRANCH]
       = 1}, 2, 0, {8, 4}, {0, 0}, {0, 0}}},
     }},
    {"gfx1100", "gemm_lds", 0x1700, 0x1aa8, 32, "",
     {1354, {[ISA_VECTOR] = 586, [ISA_DUAL] = 42, [ISA_SCALAR] = 326, [ISA_SCALAR_MEMORY] = 3, [ISA_LDS_READ] = 16,
      [ISA_LDS_WRITE] = 2, [ISA_LOAD] = 10, [ISA_STORE] = 80, [ISA_BARRIER] = 1, [ISA_WAIT] = 21, [ISA_BRANCH] = 141,
       [ISA_OTHER]
      = 126}, 512, 0, {64, 512}, {256, 32}, {0, 0}},
     2, {
      {0x19c0, 0x22b8, 1, {172, {[ISA_VECTOR] = 40, [ISA_DUAL] = 8, [ISA_SCALAR] = 60, [ISA_LDS_WRITE] = 2,
       [ISA_LOAD] = 10,
       [ISA_BARRIER] = 1, [ISA_WAIT] = 5, [ISA_BRANCH] = 23, [ISA_OTHER] = 23}, 0, 0, {64, 0}, {0, 32}, {0, 0}}},
      {0x1c3c, 0x21dc, 2, {295, {[ISA_VECTOR] = 258, [ISA_SCALAR] = 3, [ISA_LDS_READ] = 16, [ISA_WAIT] = 15,
       [ISA_BRANCH] = 1,
       [ISA_OTHER] = 2}, 512, 0, {0, 0}, {256, 0}, {0, 0}}},
     }},
    {"gfx90a", "softmax_row", 0x1900, 0x7a8, 64, "",
     {386, {[ISA_VECTOR] = 247, [ISA_PACKED] = 8, [ISA_TRANSCENDENTAL] = 37, [ISA_CROSS_LANE] = 12, [ISA_SCALAR] = 34,
      [ISA_SCALAR_MEMORY] = 3, [ISA_LDS_READ] = 2, [ISA_LDS_WRITE] = 1, [ISA_LOAD] = 6, [ISA_STORE] = 3,
       [ISA_BARRIER] = 1,
      [ISA_WAIT] = 22, [ISA_BRANCH] = 9, [ISA_OTHER] = 1}, 171, 0, {72, 36}, {32, 8}, {0, 0}},
     4, {
      {0x19c0, 0x1b38, 1, {72, {[ISA_VECTOR] = 47, [ISA_PACKED] = 6, [ISA_TRANSCENDENTAL] = 12, [ISA_SCALAR] = 2,
       [ISA_LOAD] = 2,
       [ISA_WAIT] = 2, [ISA_BRANCH] = 1}, 48, 0, {32, 0}, {0, 0}, {0, 0}}},
      {0x1bf0, 0x1c54, 1, {21, {[ISA_VECTOR] = 14, [ISA_TRANSCENDENTAL] = 2, [ISA_SCALAR] = 2, [ISA_LOAD] = 1,
       [ISA_WAIT] = 1,
       [ISA_BRANCH] = 1}, 8, 0, {4, 0}, {0, 0}, {0, 0}}},
      {0x1f24, 0x2030, 1, {50, {[ISA_VECTOR] = 31, [ISA_PACKED] = 2, [ISA_TRANSCENDENTAL] = 8, [ISA_SCALAR] = 2,
       [ISA_LOAD] = 2,
       [ISA_STORE] = 2, [ISA_WAIT] = 2, [ISA_BRANCH] = 1}, 32, 0, {32, 32}, {0, 0}, {0, 0}}},
      {0x204c, 0x20a0, 1, {17, {[ISA_VECTOR] = 10, [ISA_TRANSCENDENTAL] = 1, [ISA_SCALAR] = 2, [ISA_LOAD] = 1,
       [ISA_STORE] = 1,
       [ISA_WAIT] = 1, [ISA_BRANCH] = 1}, 4, 0, {4, 4}, {0, 0}, {0, 0}}},
     }},
    {"gfx1201", "pointer_chase", 0x1600, 0x27c, 32, "",
     {120, {[ISA_DUAL] = 1, [ISA_SCALAR] = 39, [ISA_SCALAR_MEMORY] = 36, [ISA_STORE] = 1, [ISA_WAIT] = 35,
      [ISA_BRANCH] = 4,
      [ISA_OTHER] = 4}, 0, 0, {0, 4}, {0, 0}, {0, 0}},
     2, {
      {0x1628, 0x1830, 1, {99, {[ISA_SCALAR] = 34, [ISA_SCALAR_MEMORY] = 32, [ISA_WAIT] = 32, [ISA_BRANCH] = 1}, 0, 0,
       {0, 0}, {0,
       0}, {0, 0}}},
      {0x183c, 0x1854, 1, {6, {[ISA_SCALAR] = 3, [ISA_SCALAR_MEMORY] = 1, [ISA_WAIT] = 1, [ISA_BRANCH] = 1}, 0, 0, {0,
       0}, {0, 0},
       {0, 0}}},
     }},
    {"gfx1100", "fma_peak", 0x1700, 0x6f8, 32, "",
     {264, {[ISA_VECTOR] = 53, [ISA_DUAL] = 123, [ISA_SCALAR] = 48, [ISA_SCALAR_MEMORY] = 4, [ISA_LOAD] = 1,
      [ISA_STORE] = 1,
      [ISA_WAIT] = 6, [ISA_BRANCH] = 12, [ISA_OTHER] = 16}, 354, 0, {8, 8}, {0, 0}, {0, 0}},
     3, {
      {0x17e4, 0x1dc4, 1, {100, {[ISA_DUAL] = 65, [ISA_SCALAR] = 17, [ISA_WAIT] = 3, [ISA_BRANCH] = 8,
       [ISA_OTHER] = 7}, 34, 0,
       {0, 0}, {0, 0}, {0, 0}}},
      {0x18a8, 0x1adc, 2, {78, {[ISA_VECTOR] = 16, [ISA_DUAL] = 56, [ISA_SCALAR] = 2, [ISA_BRANCH] = 1,
       [ISA_OTHER] = 3}, 256, 0,
       {0, 0}, {0, 0}, {0, 0}}},
      {0x1c40, 0x1d0c, 2, {36, {[ISA_VECTOR] = 32, [ISA_SCALAR] = 2, [ISA_BRANCH] = 1, [ISA_OTHER] = 1}, 64, 0, {0, 0},
       {0, 0},
       {0, 0}}},
     }},
    {"gfx942", "dot_peak", 0x1700, 0x21c, 64, "",
     {109, {[ISA_VECTOR] = 32, [ISA_PACKED] = 32, [ISA_CONVERSION] = 1, [ISA_SCALAR] = 14, [ISA_SCALAR_MEMORY] = 3,
      [ISA_LOAD] =
      12, [ISA_STORE] = 1, [ISA_WAIT] = 5, [ISA_BRANCH] = 7, [ISA_OTHER] = 2}, 0, 0, {48, 8}, {0, 0}, {0, 0}},
     2, {
      {0x17d8, 0x18ec, 1, {28, {[ISA_VECTOR] = 21, [ISA_SCALAR] = 4, [ISA_BRANCH] = 3}, 0, 0, {0, 0}, {0, 0}, {0, 0}}},
      {0x1854, 0x18e8, 2, {38, {[ISA_PACKED] = 32, [ISA_SCALAR] = 2, [ISA_WAIT] = 3, [ISA_BRANCH] = 1}, 0, 0, {0, 0},
       {0, 0}, {0,
       0}}},
     }},
    {"gfx90a", "mfma_chain", 0x3800, 0xa4, 64, "one-chain",
     {32, {[ISA_VECTOR] = 11, [ISA_MATRIX] = 2, [ISA_SCALAR] = 3, [ISA_SCALAR_MEMORY] = 3, [ISA_LOAD] = 2,
      [ISA_STORE] = 2,
      [ISA_WAIT] = 2, [ISA_BRANCH] = 2, [ISA_OTHER] = 5}, 0, 16384, {16, 32}, {0, 0}, {0, 0}},
     1, {
      {0x3848, 0x3868, 1, {7, {[ISA_MATRIX] = 2, [ISA_SCALAR] = 2, [ISA_WAIT] = 1, [ISA_BRANCH] = 1, [ISA_OTHER] = 1},
       0, 16384,
       {0, 0}, {0, 0}, {0, 0}}},
     }},
    {"gfx942", "mfma_four", 0x3900, 0x2fc, 64, "",
     {166, {[ISA_VECTOR] = 130, [ISA_MATRIX] = 4, [ISA_SCALAR] = 3, [ISA_SCALAR_MEMORY] = 3, [ISA_LOAD] = 2,
      [ISA_STORE] = 16,
      [ISA_WAIT] = 2, [ISA_BRANCH] = 3, [ISA_OTHER] = 3}, 0, 65536, {16, 256}, {0, 0}, {0, 0}},
     1, {
      {0x3a38, 0x3a68, 1, {9, {[ISA_MATRIX] = 4, [ISA_SCALAR] = 2, [ISA_WAIT] = 1, [ISA_BRANCH] = 1, [ISA_OTHER] = 1},
       0, 65536,
       {0, 0}, {0, 0}, {0, 0}}},
     }},
    {"gfx1100", "wmma_two", 0x3300, 0x13c, 32, "",
     {58, {[ISA_VECTOR] = 17, [ISA_DUAL] = 8, [ISA_MATRIX] = 2, [ISA_SCALAR] = 3, [ISA_SCALAR_MEMORY] = 3,
      [ISA_LOAD] = 4,
      [ISA_STORE] = 4, [ISA_WAIT] = 2, [ISA_BRANCH] = 2, [ISA_OTHER] = 13}, 8, 16384, {64, 64}, {0, 0}, {0, 0}},
     1, {
      {0x3394, 0x33b4, 1, {7, {[ISA_MATRIX] = 2, [ISA_SCALAR] = 2, [ISA_WAIT] = 1, [ISA_BRANCH] = 1, [ISA_OTHER] = 1},
       0, 16384,
       {0, 0}, {0, 0}, {0, 0}}},
     }},
    {"gfx1201", "wmma_two", 0x3300, 0x144, 32, "",
     {50, {[ISA_VECTOR] = 5, [ISA_DUAL] = 15, [ISA_MATRIX] = 2, [ISA_SCALAR] = 3, [ISA_SCALAR_MEMORY] = 2,
      [ISA_LOAD] = 2,
      [ISA_STORE] = 4, [ISA_WAIT] = 2, [ISA_BRANCH] = 2, [ISA_OTHER] = 13}, 8, 16384, {32, 64}, {0, 0}, {0, 0}},
     1, {
      {0x3384, 0x33a4, 1, {7, {[ISA_MATRIX] = 2, [ISA_SCALAR] = 2, [ISA_WAIT] = 1, [ISA_BRANCH] = 1, [ISA_OTHER] = 1},
       0, 16384,
       {0, 0}, {0, 0}, {0, 0}}},
     }},
    {"gfx90a", "pk_peak", 0x3c00, 0xb8, 64, "",
     {28, {[ISA_VECTOR] = 1, [ISA_PACKED] = 14, [ISA_SCALAR] = 3, [ISA_SCALAR_MEMORY] = 3, [ISA_STORE] = 1,
      [ISA_WAIT] = 2,
      [ISA_BRANCH] = 3, [ISA_OTHER] = 1}, 26, 0, {0, 8}, {0, 0}, {0, 0}},
     1, {
      {0x3c4c, 0x3c74, 1, {7, {[ISA_PACKED] = 4, [ISA_SCALAR] = 2, [ISA_BRANCH] = 1}, 16, 0, {0, 0}, {0, 0}, {0, 0}}},
     }},
    {"gfx942", "nested", 0x3d00, 0xec, 64, "narrow-loads",
     {46, {[ISA_VECTOR] = 15, [ISA_SCALAR] = 14, [ISA_SCALAR_MEMORY] = 4, [ISA_LOAD] = 2, [ISA_STORE] = 1,
      [ISA_WAIT] = 3,
      [ISA_BRANCH] = 6, [ISA_OTHER] = 1}, 2, 0, {8, 4}, {0, 0}, {0, 0}},
     2, {
      {0x3d54, 0x3dcc, 1, {11, {[ISA_VECTOR] = 1, [ISA_SCALAR] = 7, [ISA_BRANCH] = 3}, 0, 0, {0, 0}, {0, 0}, {0, 0}}},
      {0x3d78, 0x3dc4, 2, {14, {[ISA_VECTOR] = 7, [ISA_SCALAR] = 2, [ISA_LOAD] = 2, [ISA_WAIT] = 2, [ISA_BRANCH] = 1},
       2, 0, {8,
       0}, {0, 0}, {0, 0}}},
     }},
    {"gfx1100", "reduce_tree", 0x3700, 0x124, 32, "barrier-per-step",
     {60, {[ISA_VECTOR] = 6, [ISA_SCALAR] = 14, [ISA_SCALAR_MEMORY] = 2, [ISA_LDS_READ] = 3, [ISA_LDS_WRITE] = 2,
      [ISA_LOAD] = 1,
      [ISA_STORE] = 1, [ISA_BARRIER] = 1, [ISA_WAIT] = 5, [ISA_BRANCH] = 6, [ISA_OTHER] = 19}, 1, 0, {4, 4}, {12, 8},
       {0, 0}},
     1, {
      {0x3780, 0x37dc, 1, {18, {[ISA_VECTOR] = 3, [ISA_SCALAR] = 5, [ISA_LDS_READ] = 2, [ISA_LDS_WRITE] = 1,
       [ISA_BARRIER] = 1,
       [ISA_WAIT] = 2, [ISA_BRANCH] = 3, [ISA_OTHER] = 1}, 1, 0, {0, 0}, {8, 4}, {0, 0}}},
     }},
    {"gfx1201", "histogram", 0x3900, 0x160, 32, "narrow-loads wait-each-load integer-division",
     {64, {[ISA_VECTOR] = 15, [ISA_DUAL] = 1, [ISA_TRANSCENDENTAL] = 1, [ISA_CROSS_LANE] = 1, [ISA_SCALAR] = 12,
      [ISA_SCALAR_MEMORY] = 2, [ISA_LDS_READ] = 1, [ISA_LDS_WRITE] = 1, [ISA_LOAD] = 1, [ISA_ATOMIC] = 2,
       [ISA_BARRIER] = 2,
      [ISA_WAIT] = 7, [ISA_BRANCH] = 2, [ISA_OTHER] = 16}, 1, 0, {1, 0}, {4, 4}, {0, 0}},
     1, {
      {0x39a4, 0x3a10, 1, {22, {[ISA_VECTOR] = 12, [ISA_SCALAR] = 2, [ISA_LOAD] = 1, [ISA_ATOMIC] = 1, [ISA_WAIT] = 1,
       [ISA_BRANCH] = 1, [ISA_OTHER] = 4}, 0, 0, {1, 0}, {0, 0}, {0, 0}}},
     }},
    {"gfx1100", "math", 0x3b00, 0xcc, 32, "narrow-loads wait-each-load transcendentals",
     {42, {[ISA_VECTOR] = 11, [ISA_DUAL] = 1, [ISA_TRANSCENDENTAL] = 3, [ISA_CONVERSION] = 1, [ISA_SCALAR] = 6,
      [ISA_SCALAR_MEMORY] = 2, [ISA_LOAD] = 1, [ISA_STORE] = 1, [ISA_WAIT] = 5, [ISA_BRANCH] = 2, [ISA_OTHER] = 9}, 5,
       0, {2, 4},
      {0, 0}, {0, 0}},
     1, {
      {0x3b40, 0x3ba4, 1, {22, {[ISA_VECTOR] = 7, [ISA_TRANSCENDENTAL] = 3, [ISA_CONVERSION] = 1, [ISA_SCALAR] = 2,
       [ISA_LOAD] =
       1, [ISA_WAIT] = 4, [ISA_BRANCH] = 1, [ISA_OTHER] = 3}, 5, 0, {2, 0}, {0, 0}, {0, 0}}},
     }},
    {"gfx942", "convert", 0x4200, 0xa4, 64, "wait-each-load",
     {31, {[ISA_VECTOR] = 7, [ISA_PACKED] = 2, [ISA_CONVERSION] = 4, [ISA_SCALAR] = 8, [ISA_SCALAR_MEMORY] = 2,
      [ISA_LOAD] = 1,
      [ISA_STORE] = 1, [ISA_WAIT] = 3, [ISA_BRANCH] = 2, [ISA_OTHER] = 1}, 4, 0, {16, 16}, {0, 0}, {0, 0}},
     1, {
      {0x4238, 0x429c, 1, {18, {[ISA_VECTOR] = 5, [ISA_PACKED] = 2, [ISA_CONVERSION] = 4, [ISA_SCALAR] = 2,
       [ISA_LOAD] = 1,
       [ISA_STORE] = 1, [ISA_WAIT] = 2, [ISA_BRANCH] = 1}, 4, 0, {16, 16}, {0, 0}, {0, 0}}},
     }},
    {"gfx942", "one_chain", 0x4300, 0x68, 64, "",
     {19, {[ISA_VECTOR] = 7, [ISA_CONVERSION] = 1, [ISA_SCALAR] = 3, [ISA_SCALAR_MEMORY] = 2, [ISA_STORE] = 1,
      [ISA_WAIT] = 2,
      [ISA_BRANCH] = 2, [ISA_OTHER] = 1}, 8, 0, {0, 4}, {0, 0}, {0, 0}},
     1, {
      {0x4320, 0x4348, 1, {7, {[ISA_VECTOR] = 4, [ISA_SCALAR] = 2, [ISA_BRANCH] = 1}, 8, 0, {0, 0}, {0, 0}, {0, 0}}},
     }},
    {"gfx1100", "one_chain", 0x3d00, 0x70, 32, "one-chain",
     {21, {[ISA_VECTOR] = 5, [ISA_CONVERSION] = 1, [ISA_SCALAR] = 3, [ISA_SCALAR_MEMORY] = 2, [ISA_STORE] = 1,
      [ISA_WAIT] = 2,
      [ISA_BRANCH] = 2, [ISA_OTHER] = 5}, 8, 0, {0, 4}, {0, 0}, {0, 0}},
     1, {
      {0x3d18, 0x3d48, 1, {9, {[ISA_VECTOR] = 4, [ISA_SCALAR] = 2, [ISA_BRANCH] = 1, [ISA_OTHER] = 2}, 8, 0, {0, 0},
       {0, 0}, {0,
       0}}},
     }},
    {"gfx90a", "spill", 0x4400, 0xf44, 64, "scratch-in-loop",
     {585, {[ISA_VECTOR] = 80, [ISA_PACKED] = 44, [ISA_SCALAR] = 7, [ISA_SCALAR_MEMORY] = 2, [ISA_LOAD] = 16,
      [ISA_STORE] = 16,
      [ISA_SCRATCH_LOAD] = 163, [ISA_SCRATCH_STORE] = 143, [ISA_WAIT] = 93, [ISA_BRANCH] = 3, [ISA_OTHER] = 18}, 128,
       0, {256,
      256}, {0, 0}, {652, 572}},
     1, {
      {0x48e4, 0x4db8, 1, {182, {[ISA_VECTOR] = 21, [ISA_PACKED] = 32, [ISA_SCALAR] = 2, [ISA_SCRATCH_LOAD] = 44,
       [ISA_SCRATCH_STORE] = 44, [ISA_WAIT] = 32, [ISA_BRANCH] = 1, [ISA_OTHER] = 6}, 128, 0, {0, 0}, {0, 0}, {176,
        176}}},
     }},
    {"gfx942", "lds_narrow", 0x4c00, 0x178, 64, "narrow-lds",
     {74, {[ISA_VECTOR] = 32, [ISA_CONVERSION] = 5, [ISA_SCALAR] = 14, [ISA_SCALAR_MEMORY] = 3, [ISA_LDS_READ] = 2,
      [ISA_LDS_WRITE] = 3, [ISA_STORE] = 2, [ISA_BARRIER] = 1, [ISA_WAIT] = 5, [ISA_BRANCH] = 5, [ISA_OTHER] = 2}, 4,
       0, {0, 8},
      {16, 20}, {0, 0}},
     3, {
      {0x4c28, 0x4c80, 1, {16, {[ISA_VECTOR] = 7, [ISA_CONVERSION] = 4, [ISA_SCALAR] = 2, [ISA_LDS_WRITE] = 2,
       [ISA_BRANCH] = 1},
       0, 0, {0, 0}, {0, 16}, {0, 0}}},
      {0x4cb4, 0x4ce0, 1, {9, {[ISA_VECTOR] = 4, [ISA_CONVERSION] = 1, [ISA_SCALAR] = 2, [ISA_LDS_WRITE] = 1,
       [ISA_BRANCH] = 1},
       0, 0, {0, 0}, {0, 4}, {0, 0}}},
      {0x4d08, 0x4d38, 1, {11, {[ISA_VECTOR] = 4, [ISA_SCALAR] = 2, [ISA_LDS_READ] = 2, [ISA_WAIT] = 2,
       [ISA_BRANCH] = 1}, 4, 0,
       {0, 0}, {16, 0}, {0, 0}}},
     }},
    {"gfx942", "lds_wide", 0x4e00, 0xec, 64, "",
     {48, {[ISA_VECTOR] = 23, [ISA_PACKED] = 2, [ISA_CONVERSION] = 1, [ISA_SCALAR] = 8, [ISA_SCALAR_MEMORY] = 2,
      [ISA_LDS_READ] =
      2, [ISA_LDS_WRITE] = 1, [ISA_STORE] = 1, [ISA_BARRIER] = 1, [ISA_WAIT] = 3, [ISA_BRANCH] = 3, [ISA_OTHER] = 1},
       11, 0, {0,
      4}, {32, 16}, {0, 0}},
     2, {
      {0x4e10, 0x4e48, 1, {12, {[ISA_VECTOR] = 7, [ISA_CONVERSION] = 1, [ISA_SCALAR] = 2, [ISA_LDS_WRITE] = 1,
       [ISA_BRANCH] = 1},
       0, 0, {0, 0}, {0, 16}, {0, 0}}},
      {0x4e8c, 0x4ec0, 1, {9, {[ISA_VECTOR] = 1, [ISA_PACKED] = 2, [ISA_SCALAR] = 2, [ISA_LDS_READ] = 2, [ISA_WAIT] = 1,
       [ISA_BRANCH] = 1}, 8, 0, {0, 0}, {32, 0}, {0, 0}}},
     }},
    /* clang-format on */
};

#endif
