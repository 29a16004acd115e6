/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../near.h"
#include "rooftile/truth.h"

static enum status parse(struct truth *truth, const char *text, struct arena *arena, struct err *err)
{
    return truth_parse(truth, "t.csv", arena_strdup(arena, text), arena, err);
}

static void all_kinds_are_read(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct truth truth;
    struct err err = {0};
    assert_int_equal(parse(&truth,
                           "target,cus,dtype,scales,m,n,k,kernel,split_k,time_us,library,source_file,out_dtype\n"
                           "gfx942,304,fp8,row,16,32,64,\"a,\"\"b\"\"\",3,1.5,ck,x.csv,\n",
                           &arena, &err),
                     STATUS_OK);
    assert_int_equal(truth.count, 1);
    assert_string_equal(truth.rows[0].machine, "mi300x");
    assert_string_equal(truth.rows[0].what.kernel, "a,\"b\"");
    assert_near(truth.rows[0].what.split, 8, 0); /* of Composable Kernel it is a power */
    assert_near(truth.rows[0].time_ns, 1500, 1e-9);
    assert_null(truth.rows[0].problem);
    assert_int_equal(parse(&truth,
                           "gpu,op,dtype,shape,kernel,block,time_us,more\r\nMI100,bmm,f32,2x3x4x5,MT16x32x8,64,7,1\r\n"
                           "MI210,pow,f32,10x20,k,256,8,2\r\n",
                           &arena, &err),
                     STATUS_OK);
    assert_int_equal(truth.count, 2);
    assert_near(truth.rows[0].what.k, 4, 0);
    assert_near(truth.rows[1].what.operands, 3, 0);
    assert_string_equal(truth.rows[1].machine, "mi210");
    assert_int_equal(parse(&truth,
                           "database,direction,dtype,n,c,h,w,k,out_h,out_w,filter,pad,groups,time_us\n"
                           "gfx906_60,W,FP16,1,2,3,4,5,6,7,1x3,0x1,1,9\n",
                           &arena, &err),
                     STATUS_OK);
    assert_string_equal(truth.rows[0].machine, "mi50");
    assert_near(truth.rows[0].what.filter[1], 3, 0);
    assert_near(truth.rows[0].what.pad[0], 0, 0); /* "0x1" is no hexadecimal number */
    assert_near(truth.rows[0].what.pad[1], 1, 0);
    assert_near(truth.rows[0].what.stride[1], 1, 0);
    assert_int_equal(parse(&truth, "kernel_name,problem_size,min_ms\nvectoradd,1024,0.0042\n", &arena, &err),
                     STATUS_OK);
    assert_near(truth.rows[0].time_ns, 4200, 1e-6);
    arena_release(&arena);
}

static const struct {
    const char *text, *message;
} refused[] = {
    {"", "no column tells what its rows are"},
    {"a,b\n1,2\n", "no column tells what its rows are"},
    {"op,gpu,dtype,shape,time_us\n", "has 'op' but no column 'kernel'"},
    {"target,cus,dtype,scales,m,n,k,kernel,time_us\n", "has 'target' but no column 'split_k'"},
};

static void missing_columns_are_named(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(refused) / sizeof(refused[0]); k++) {
        struct arena arena = {0};
        struct truth truth;
        struct err err = {0};
        assert_int_equal(parse(&truth, refused[k].text, &arena, &err), ERR_CONFIG);
        if (!strstr(err.text, refused[k].message))
            fail_msg("%s", err.text);
        arena_release(&arena);
    }
}

static const struct {
    const char *line;
    const char *problem; /* NULL: none */
} lines[] = {
    {"MI100,add,f32,10x20,k,256,8", NULL},
    {"MI100,add,f32,10x20,k,256,0", "time is no positive number"},
    {"MI100,add,f32,10x20,k,256,-1", "time is no positive number"},
    {"MI100,add,f32,10x20,k,256,nan", "time is no positive number"},
    {"MI100,add,f32,10x20,k,256,fast", "time is no positive number"},
    {"MI100,add,f32,10x-20,k,256,8", "size is no positive number"},
    {"MI100,add,f32,10,k,256,8", "not as many numbers"},
    {"MI100,bmm,f32,10x20,k,256,8", "not as many numbers"},
    {"MI100,add,f32,10x20", "not as many fields"},
    {"MI100,add,f32,10x20,k,256,8,9", "not as many fields"},
};

static void rows_that_cannot_be_right_are_kept_with_the_reason(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(lines) / sizeof(lines[0]); k++) {
        struct arena arena = {0};
        struct truth truth;
        struct err err = {0};
        const char *text = arena_printf(&arena, "gpu,op,dtype,shape,kernel,block,time_us\n%s\n", lines[k].line);
        assert_int_equal(parse(&truth, text, &arena, &err), STATUS_OK);
        assert_int_equal(truth.count, 1);
        const char *problem = truth.rows[0].problem;
        if (lines[k].problem ? !problem || !strstr(problem, lines[k].problem) : problem != NULL)
            fail_msg("%s: %s", lines[k].line, problem ? problem : "none");
        arena_release(&arena);
    }
}

/* Errors of -50, 0, +10 and +100 %, and a row that is skipped. */
static void errors_are_figured(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct truth truth;
    struct err err = {0};
    struct error_table table;
    assert_int_equal(parse(&truth,
                           "gpu,op,dtype,shape,kernel,block,time_us\nMI100,add,f32,1x1,k,1,100\n"
                           "MI100,add,f32,1x1,k,1,100\nMI100,add,f32,1x1,k,1,100\nMI100,mul,f32,1x1,k,1,300\n"
                           "MI210,ln,f32,1x1,k,1,0\nMI210,ln,f32,1x1,k,1,5\n",
                           &arena, &err),
                     STATUS_OK);
    const struct truth_guess guesses[6] = {
        {.time_ns = 50e3, .low_ns = 40e3, .high_ns = 60e3, .known = true},
        {.time_ns = 100e3,
         .low_ns = 80e3,
         .high_ns = 120e3,
         .known = true,
         .bound_beyond_doubt = true,
         .bound_right = true},
        {.time_ns = 110e3, .low_ns = 90e3, .high_ns = 130e3, .known = true, .bound_beyond_doubt = true},
        {.time_ns = 600e3, .low_ns = 299e3, .high_ns = 900e3, .known = true},
        {.time_ns = 1, .known = true},
        {.known = false},
    };
    error_table_make(&table, &truth, guesses, guesses, &arena);
    assert_int_equal(table.skipped, 1);
    assert_int_equal(table.without_model, 1);
    assert_int_equal(table.count, 1); /* one family on one machine: nothing to add up */
    const struct error_figures *figures = &table.lines[0].calibrated;
    assert_int_equal(figures->rows, 4);
    assert_near(figures->median, 0.3, 1e-12); /* of 0, 0.1, 0.5, 1 */
    assert_near(figures->p90, 0.85, 1e-12);
    assert_near(figures->within_20, 0.5, 1e-12);
    assert_near(figures->wmape, (50 + 0 + 10 + 300) / 600.0, 1e-12);
    assert_near(figures->coverage, 0.75, 1e-12);
    assert_near(figures->bound_right, 0.5, 1e-12);
    assert_ptr_equal(table.lines[0].worst[0], &truth.rows[3]);
    assert_near(table.lines[0].worst_error[0], 1, 1e-12);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_are_read),
        cmocka_unit_test(missing_columns_are_named),
        cmocka_unit_test(rows_that_cannot_be_right_are_kept_with_the_reason),
        cmocka_unit_test(errors_are_figured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
