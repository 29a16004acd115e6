/* SPDX-License-Identifier: MIT
 *
 * Which kernel of ours measures an operator, and that each exists and has the parameters that it is given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/import/aggregate.h"

/* Kernel, a part of its parameters, what stands for it on the CPU device; or why there is none. */
static const struct {
    struct trace_operator o;
    const char *kernel, *params, *cpu;
} cases[] = {
    {{.name = "g", .kind = IMPORT_GEMM, .dims = {1, 64, 512, 256}, .dtype = "bf16", .total = "bf16", .tb = true},
     "gemm_matrix",
     "\"m\": 64, \"n\": 512, \"k\": 256, \"batch\": 1, \"TA\": 0, \"TB\": 1, \"BM\": 64",
     "gemm_register"},
    {{.name = "g", .kind = IMPORT_GEMM, .dims = {4, 64, 512, 256}, .dtype = "f32", .total = "f32"},
     "gemm_register",
     "\"batch\": 4",
     NULL},
    {{.name = "g", .kind = IMPORT_GEMM, .dims = {1, 1, 512, 256}, .dtype = "bf16", .total = "bf16", .tb = true},
     "gemv",
     "\"m\": 512, \"k\": 256",
     NULL},
    {{.name = "g", .kind = IMPORT_GEMM, .dims = {1, 64, 512, 256}, .dtype = "c64"},
     NULL,
     "dtype=c64 is not among its limits",
     NULL},
    {{.name = "g", .kind = IMPORT_GEMM, .dims = {1, 64, 512, 256}, .dtype = "e4m3", .total = "e4m3"},
     NULL,
     "gemm_matrix: total=e4m3 is not among its limits",
     NULL},
    {{.name = "g", .kind = IMPORT_GEMM, .dims = {1, 64, 512, 256}, .dtype = ""}, NULL, "its type is not known", NULL},
    {{.name = "g", .kind = IMPORT_GEMM, .dtype = "f16"}, NULL, "its shape is not known", NULL},
    {{.name = "a", .kind = IMPORT_ATTENTION, .dims = {2, 8, 2, 512, 512, 128, 128}, .dtype = "bf16", .causal = true},
     "attention_prefill",
     "\"past\": 0, \"causal\": 1",
     NULL},
    {{.name = "a", .kind = IMPORT_ATTENTION, .dims = {2, 8, 2, 1, 512, 128, 128}, .dtype = "bf16"},
     "attention_decode",
     "\"n\": 512",
     NULL},
    {{.name = "a", .kind = IMPORT_ATTENTION, .dims = {2, 8, 8, 9, 9, 96, 96}, .dtype = "bf16"},
     NULL,
     "no heads of 96",
     NULL},
    {{.name = "a", .kind = IMPORT_ATTENTION, .dims = {2, 8, 8, 9, 9, 192, 128}, .dtype = "bf16"},
     NULL,
     "no heads of 192",
     NULL},
    {{.name = "broadcast", .kind = IMPORT_COMMUNICATION, .dims = {256, 1024, 8, 3}, .dtype = "f32"},
     "broadcast",
     "\"size\": 1024, \"devices\": 8, \"root\": 3",
     NULL},
    {{.name = "reduce_scatter",
      .kind = IMPORT_COMMUNICATION,
      .dims = {256, 1024, 8},
      .dtype = "bf16",
      .layout = "in-place"},
     "reduce_scatter_in_place",
     "\"size\": 1024, \"devices\": 8",
     NULL},
    {{.name = "all_gather", .kind = IMPORT_COMMUNICATION, .dims = {256, 1024, 8}, .dtype = "u8"},
     NULL,
     "all_gather: dtype=u8 is not among its limits",
     NULL},
    {{.name = "add_rms_norm", .kind = IMPORT_NORM, .dims = {7, 4096}, .dtype = "bf16"}, "add_rmsnorm", "4096", NULL},
    {{.name = "aten::rms_norm", .kind = IMPORT_NORM, .dims = {7, 4096}, .dtype = "f16"}, "rmsnorm", "4096", NULL},
    {{.name = "layer_norm", .kind = IMPORT_NORM, .dims = {7, 30000}, .dtype = "f32"}, "layernorm", "\"HOLD\": 0", NULL},
    {{.name = "s", .kind = IMPORT_SOFTMAX, .dims = {7, 512}, .dtype = "f32"}, "softmax_short", "512", NULL},
    {{.name = "s", .kind = IMPORT_SOFTMAX, .dims = {7, 5000}, .dtype = "f32"}, "softmax_long", "5000", NULL},
    {{.name = "aten::convolution",
      .kind = IMPORT_CONV,
      .dims = {1, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1},
      .dtype = "f16",
      .extra = " pad_w=2"},
     NULL,
     "one padding for both axes",
     NULL},
    {{.name = "aten::convolution",
      .kind = IMPORT_CONV,
      .dims = {1, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1},
      .dtype = "f16",
      .extra = " transposed"},
     NULL,
     "transposed",
     NULL},
    {{.name = "fwd", .kind = IMPORT_ATTENTION, .dims = {1, 8, 8, 64, 64, 64, 64}, .dtype = "f16", .extra = " causal=?"},
     NULL,
     "whether it is causal",
     NULL},
    {{.name = "aten::add", .kind = IMPORT_ELEMENTWISE, .dims = {64, 2}, .dtype = "f16"},
     "stream_add",
     "{\"n\": 32}",
     NULL},
    {{.name = "aten::copy_", .kind = IMPORT_ELEMENTWISE, .dims = {64, 1}, .dtype = "f32"}, "stream_copy", "64", NULL},
    {{.name = "aten::copy_", .kind = IMPORT_ELEMENTWISE, .dims = {64, 1}, .dtype = "f32", .total = "bf16"},
     "stream_copy",
     "48",
     NULL},
    {{.name = "aten::zero_", .kind = IMPORT_ELEMENTWISE, .dims = {64, 1}, .dtype = "bool"}, "stream_init", "16", NULL},
    {{.name = "silu_and_mul", .kind = IMPORT_ELEMENTWISE, .dims = {128, 1, 4}, .dtype = "bf16"},
     "silu_mul",
     "\"rows\": 4, \"columns\": 16",
     NULL},
    {{.name = "r", .kind = IMPORT_REDUCTION, .dims = {64}, .dtype = "f32"}, "reduction", "64", NULL},
    {{.name = "r", .kind = IMPORT_ROPE, .dims = {4, 8, 128}, .dtype = "bf16"}, "rope", "\"heads\": 8", NULL},
    {{.name = "e", .kind = IMPORT_MOE_GEMM, .dims = {64, 256, 128, 8}, .dtype = "bf16", .total = "bf16"},
     "moe_gemm",
     "\"experts\": 8, \"BM\": 32",
     "moe_gemm"},
    {{.name = "c", .kind = IMPORT_CONV, .dims = {2, 3, 9, 9, 8, 7, 7, 2, 3, 1, 1}, .dtype = "bf16", .total = "bf16"},
     "conv_direct",
     "\"dtype\": \"f16\"",
     NULL},
    {{.name = "g", .kind = IMPORT_GEMM, .dims = {1, 300, 96, 128}, .dtype = "e4m3", .total = "bf16", .tb = true},
     "gemm_matrix",
     "\"BK\": 64",
     "gemm_register"},
    {{.name = "e", .kind = IMPORT_MOE_GATE, .dims = {64, 256, 8}, .dtype = "f32"}, "moe_gate", "\"TOP\": 8", NULL},
    {{.name = "e", .kind = IMPORT_MOE_GATE, .dims = {64, 256, 9}, .dtype = "f32"}, NULL, "up to 8 experts", NULL},
    {{.name = "grouped_topk", .kind = IMPORT_MOE_GATE, .dims = {64, 256, 8}, .dtype = "f32"}, NULL, "no groups", NULL},
    {{.name = "moe_align_block_size", .kind = IMPORT_MOE_GATE, .dims = {64, 256, 8}, .dtype = "i32"},
     "moe_plan",
     "\"EXPERTS\": 256",
     NULL},
    {{.name = "aten::native_group_norm", .kind = IMPORT_NORM, .dims = {64, 4096}, .dtype = "f16"},
     "layernorm",
     "\"rows\": 64",
     NULL},
    {{.name = "aten::native_batch_norm", .kind = IMPORT_NORM, .dims = {64, 4096}, .dtype = "f16"},
     NULL,
     "channel of all images",
     NULL},
    {{.name = "c", .kind = IMPORT_CONV, .dims = {2, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1}, .dtype = "f16", .total = "f16"},
     "conv_implicit",
     "\"images\": 2",
     "conv_direct"},
    {{.name = "c", .kind = IMPORT_CONV, .dims = {2, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1}, .dtype = "f32", .total = "f32"},
     "conv_direct",
     "\"pad\": 1",
     NULL},
    {{.name = "c", .kind = IMPORT_CONV, .dims = {2, 3, 9, 9, 8, 3, 3, 1, 1, 2, 1}, .dtype = "f16"},
     NULL,
     "no dilation and no groups",
     NULL},
    {{.name = "convolution_backward", .kind = IMPORT_CONV, .dims = {2, 3, 9, 9, 8, 3, 3, 1, 1, 1, 1}, .dtype = "f16"},
     NULL,
     "gradients",
     NULL},
    {{.name = "n", .kind = IMPORT_COMMUNICATION, .dims = {64}, .dtype = "f16"}, NULL, "no kernel of ours", NULL},
};

static struct arena catalog_arena;
static struct catalog kernels;

static int read_kernels(void **state)
{
    static const char *const folders[] = {ROOFTILE_SOURCE_DIR "/kernels"};
    struct err err = {0};
    (void)state;
    return (int)catalog_read(&kernels, folders, 1, &catalog_arena, &err);
}

static int forget_kernels(void **state)
{
    (void)state;
    arena_release(&catalog_arena);
    return 0;
}

/* Multiplications and additions count twice; a transposed convolution goes over its small image. */
static void work_is_counted(void **state)
{
    static const struct {
        struct trace_operator o;
        double flops, in, out;
    } rows[] = {
        {{.kind = IMPORT_GEMM, .dims = {3, 64, 512, 256}}, 2.0 * 3 * 64 * 512 * 256, 0, 0},
        {{.kind = IMPORT_MOE_GEMM, .dims = {100, 512, 256, 8}}, 2.0 * 100 * 512 * 256, 0, 0},
        {{.kind = IMPORT_ATTENTION, .dims = {2, 8, 2, 64, 128, 32, 16}}, 2.0 * 2 * 8 * 64 * 128 * 48, 0, 0},
        {{.kind = IMPORT_CONV, .dims = {4, 64, 9, 9, 32, 3, 3, 2, 1, 1, 2}}, 2.0 * 4 * 32 * 5 * 5 * 32 * 9, 9, 5},
        {{.kind = IMPORT_CONV, .dims = {4, 64, 9, 9, 32, 3, 3, 2, 1, 1, 2}, .extra = " transposed"},
         2.0 * 4 * 64 * 9 * 9 * 16 * 9,
         17,
         9},
    };
    struct arena arena = {0};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(rows); k++) {
        struct trace_operator o = rows[k].o;
        o.name = "";
        o.dtype = o.total = "f16";
        const struct described *what = row_described(&o, &arena);
        assert_true(row_flops(&o, what) == rows[k].flops);
        assert_true(rows[k].in <= 0 || (what->in[1] == rows[k].in && what->out[1] == rows[k].out));
    }
    arena_release(&arena);
}

/* Devices have one of the two formats of 8-bit floats: the other one is for the others. */
static void formats_of_8_bits(void **state)
{
    (void)state;
    struct arena arena = {0};
    static const char *const formats[][2] = {{"e4m3", "e4m3fnuz"}, {"e5m2fnuz", "e5m2"}};
    for (size_t k = 0; k < 2; k++) {
        struct import_row row = {.why = ""};
        const struct trace_operator o = {.name = "g",
                                         .kind = IMPORT_GEMM,
                                         .dims = {1, 64, 96, 128},
                                         .dtype = formats[k][0],
                                         .total = "bf16",
                                         .tb = true};
        row_map(&row, &o, &kernels, &arena);
        assert_non_null(strstr(row.params, arena_printf(&arena, "\"dtype\": \"%s\"", formats[k][0])));
        assert_non_null(strstr(row.other_params, arena_printf(&arena, "\"dtype\": \"%s\"", formats[k][1])));
        assert_int_equal(row.is_fnuz, k);
    }
    arena_release(&arena);
}

static void operators_have_kernels(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct import_row row = {.why = ""};
        struct trace_operator o = cases[k].o;
        o.total = o.total ? o.total : o.dtype;
        row_map(&row, &o, &kernels, &arena);
        const char *found = row.kernel ? row.params : row.why;
        if (!row.kernel != !cases[k].kernel || !strstr(found, cases[k].params) || (row.kernel && row.why[0]))
            fail_msg("case %zu: %s %s", k, row.kernel ? row.kernel : "none", found);
        if (row.kernel)
            assert_string_equal(row.kernel, cases[k].kernel);
        assert_true(!row.cpu_kernel == !cases[k].cpu && (!cases[k].cpu || !strcmp(row.cpu_kernel, cases[k].cpu)));
        /* products also have the library's */
        assert_true(!row.kernel || (row.kernel && cases[k].o.kind == IMPORT_GEMM) == (row.library != NULL));
    }
    arena_release(&arena);
}

/* Products with their batch; NULL: there is no model of a tuned kernel. Bytes are those that the kernel moves. */
static void tuned_kernels(void **state)
{
    static const struct {
        struct trace_operator o;
        const char *family, *type, *scales;
        double batch, m, n, k, rows, arrays;
    } tuned[] = {
        {{.kind = IMPORT_GEMM, .dims = {3, 64, 512, 256}, .dtype = "bf16", .total = "f32"},
         "gemm",
         "bf16",
         "none",
         3,
         64,
         512,
         256,
         0,
         0},
        {{.kind = IMPORT_GEMM, .dims = {1, 9, 8, 7}, .dtype = "e4m3fnuz", .total = "bf16"},
         "gemm",
         "fp8",
         "row",
         1,
         9,
         8,
         7,
         0,
         0},
        {{.kind = IMPORT_MOE_GEMM, .dims = {100, 512, 256, 8}, .dtype = "bf16", .total = "bf16"},
         "gemm",
         "bf16",
         "none",
         8,
         13,
         512,
         256,
         0,
         0},
        {{.kind = IMPORT_MOE_GEMM, .dims = {2, 512, 256, 8}, .dtype = "bf16", .total = "bf16"},
         "gemm",
         "bf16",
         "none",
         2,
         1,
         512,
         256,
         0,
         0},
        {{.kind = IMPORT_CONV, .dims = {4, 64, 9, 9, 32, 1, 1, 2, 0, 1, 1}, .dtype = "f16", .total = "f16"},
         "gemm",
         "f16",
         "none",
         1,
         100,
         32,
         64,
         0,
         0},
        {{.kind = IMPORT_CONV, .dims = {4, 64, 9, 9, 32, 3, 3, 1, 1, 1, 1}, .dtype = "f16"},
         "convolution",
         "f16",
         "",
         0,
         0,
         0,
         0,
         0,
         0},
        {{.kind = IMPORT_GEMM, .dims = {2, 1, 9, 7}, .dtype = "f32"}, "elementwise", "f32", "", 0, 0, 0, 0, 126, 1},
        {{.kind = IMPORT_ATTENTION, .dims = {1, 8, 8, 9, 9, 64, 64}, .dtype = "f16"}, .family = NULL},
        {{.kind = IMPORT_GEMM, .dims = {1, 9, 8, 7}, .dtype = "c64"}, .family = NULL},
        {{.kind = IMPORT_NORM, .dims = {5, 512}, .dtype = "bf16"}, "layer_norm", "bf16", "", 0, 0, 0, 0, 5, 0},
        {{.kind = IMPORT_SOFTMAX, .dims = {5, 512}, .dtype = "f32"}, "softmax", "f32", "", 0, 0, 0, 0, 5, 0},
        {{.name = "aten::add", .kind = IMPORT_ELEMENTWISE, .dims = {9, 2}, .dtype = "f32"},
         "elementwise",
         "f32",
         "",
         0,
         0,
         0,
         0,
         9,
         3},
        {{.name = "aten::copy_", .kind = IMPORT_ELEMENTWISE, .dims = {9, 1}, .dtype = "f32"},
         "elementwise",
         "f32",
         "",
         0,
         0,
         0,
         0,
         9,
         2},
        {{.name = "aten::fill_", .kind = IMPORT_ELEMENTWISE, .dims = {9, 1}, .dtype = "bool"},
         "elementwise",
         "bool",
         "",
         0,
         0,
         0,
         0,
         9,
         1},
        {{.name = "silu_and_mul", .kind = IMPORT_ELEMENTWISE, .dims = {8, 1, 2}, .dtype = "f16"},
         "elementwise",
         "f16",
         "",
         0,
         0,
         0,
         0,
         8,
         1.5},
    };
    struct arena arena = {0};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(tuned); k++) {
        struct trace_operator o = tuned[k].o;
        o.name = o.name ? o.name : "";
        o.total = o.total ? o.total : o.dtype;
        const struct described *what = row_described(&o, &arena);
        if (!what || !tuned[k].family) {
            if (what || tuned[k].family)
                fail_msg("%zu: %s", k, what ? "a model" : "no model");
            continue;
        }
        assert_string_equal(what->family, tuned[k].family);
        assert_string_equal(what->type, tuned[k].type);
        assert_string_equal(what->scales, tuned[k].scales);
        const double found[] = {what->batch, what->m, what->n, what->k, what->rows, what->operands};
        const double wanted[] = {tuned[k].batch, tuned[k].m, tuned[k].n, tuned[k].k, tuned[k].rows, tuned[k].arrays};
        for (size_t m = 0; m < COUNT_OF(found); m++)
            if (found[m] != wanted[m])
                fail_msg("%zu: number %zu is %g, not %g", k, m, found[m], wanted[m]);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators_have_kernels), cmocka_unit_test(formats_of_8_bits),
                                       cmocka_unit_test(tuned_kernels), cmocka_unit_test(work_is_counted)};
    return cmocka_run_group_tests(tests, read_kernels, forget_kernels);
}
