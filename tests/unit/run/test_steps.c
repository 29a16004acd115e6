/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/run/run_internal.h"
#include "rooftile/text.h"

/* A device that writes down what it is asked for: L launch of the n-th loaded module, f fill, M event, w wait for a
 * event, S wait for all, + load, - unload, a alloc, x free. */
struct diary {
    struct device device;
    struct text said;
    unsigned modules;
};
struct device_module {
    unsigned number;
};
struct device_kernel {
    unsigned module;
};

static void say(struct device *device, const char *what, unsigned number)
{
    text_addf(&((struct diary *)device)->said, "%s%u ", what, number);
}

static enum status d_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                           struct err *err)
{
    (void)space;
    (void)err;
    say(device, "a", 0);
    *pointer = calloc(1, size_bytes);
    return STATUS_OK;
}

static void d_free(struct device *device, void *pointer)
{
    say(device, "x", 0);
    free(pointer);
}

static enum status d_load(struct device_module **module, struct device *device, const char *path, struct err *err)
{
    (void)path;
    (void)err;
    *module = calloc(1, sizeof(**module));
    (*module)->number = ++((struct diary *)device)->modules;
    say(device, "+", (*module)->number);
    return STATUS_OK;
}

static void d_unload(struct device *device, struct device_module *module)
{
    say(device, "-", module->number);
    free(module);
}

static enum status d_kernel(const struct device_kernel **kernel, struct kernel_info *info, struct device *device,
                            struct device_module *module, const char *symbol, struct err *err)
{
    static struct device_kernel kernels[16];
    (void)device;
    (void)symbol;
    (void)err;
    *info = (struct kernel_info){0};
    kernels[module->number].module = module->number;
    *kernel = &kernels[module->number];
    return STATUS_OK;
}

static enum status d_launch(struct device *device, const struct device_launch *launch, struct err *err)
{
    (void)err;
    say(device, launch->cooperative ? "C" : "L", launch->kernel->module);
    return STATUS_OK;
}

static enum status d_fill(struct device *device, void *to, uint8_t byte, uint64_t size_bytes, uint32_t stream,
                          struct err *err)
{
    (void)err;
    (void)stream;
    memset(to, byte, size_bytes);
    say(device, "f", byte);
    return STATUS_OK;
}

static enum status d_event(struct device *device, uint32_t event, uint32_t stream, struct err *err)
{
    (void)err;
    (void)stream;
    say(device, "M", event);
    return STATUS_OK;
}

static enum status d_wait_event(struct device *device, uint32_t stream, uint32_t event, struct err *err)
{
    (void)err;
    (void)stream;
    say(device, "w", event);
    return STATUS_OK;
}

static enum status d_wait(struct device *device, struct err *err)
{
    (void)err;
    say(device, "S", 0);
    return STATUS_OK;
}

static const struct device_ops ops = {
    .name = "diary",
    .alloc = d_alloc,
    .free = d_free,
    .load = d_load,
    .unload = d_unload,
    .kernel = d_kernel,
    .launch = d_launch,
    .fill = d_fill,
    .event = d_event,
    .wait = d_wait,
    .wait_event = d_wait_event,
};

/* ---- cases ---- */

enum { MOST_STEPS = 4 };
static const struct manifest_launch plain = {.cooperative = false}, together = {.cooperative = true};
#define LAUNCH(times, in_time)                                                                                         \
    {                                                                                                                  \
        .kind = STEP_LAUNCH, .timed = in_time, .repeat = times, .launch = {.spec = &plain }                            \
    }

static struct resolved_step looped[] = {LAUNCH(1, true), {.kind = STEP_SYNC, .timed = true, .repeat = 1}};
static struct resolved_step relay[] = {LAUNCH(1, true),
                                       {.kind = STEP_RECORD, .timed = true, .repeat = 1, .event = 2},
                                       {.kind = STEP_WAIT, .timed = true, .repeat = 1, .event = 2, .stream = 1}};

/* What two runs under each kind of events ask the device for. Marks 0 and 1 are the measurement's, 4 is the first of a
 * manifest. */
static const struct {
    const char *what;
    struct resolved_step steps[MOST_STEPS];
    size_t count;
    enum run_events events;
    const char *first, *second;
} cases[] = {
    {"plain", {LAUNCH(2, true)}, 1, EVENTS_NONE, "L1 L1 ", "L1 L1 "},
    {"marked", {LAUNCH(2, true)}, 1, EVENTS_AROUND, "M0 L1 L1 M1 ", "M0 L1 L1 M1 "},
    {"host", {LAUNCH(1, true)}, 1, EVENTS_HOST, "S0 L1 S0 ", "S0 L1 S0 "},
    {"cooperative",
     {{.kind = STEP_LAUNCH, .timed = true, .repeat = 1, .launch = {.spec = &together}}},
     1,
     EVENTS_NONE,
     "C1 ",
     "C1 "},
    {"untimed around",
     {{.kind = STEP_FILL, .repeat = 1, .byte = 9, .bytes = 4}, LAUNCH(1, true), LAUNCH(1, false)},
     3,
     EVENTS_AROUND,
     "f9 M0 L1 M1 L1 ",
     "f9 M0 L1 M1 L1 "},
    {"host, untimed around",
     {{.kind = STEP_FILL, .repeat = 1, .byte = 9, .bytes = 4}, LAUNCH(1, true), LAUNCH(1, false)},
     3,
     EVENTS_HOST,
     "f9 S0 L1 S0 L1 ",
     "f9 S0 L1 S0 L1 "},
    {"loop",
     {{.kind = STEP_LOOP, .timed = true, .repeat = 3, .steps = looped, .step_count = 2}},
     1,
     EVENTS_AROUND,
     "M0 L1 S0 L1 S0 L1 S0 M1 ",
     "M0 L1 S0 L1 S0 L1 S0 M1 "},
    {"loop of events",
     {{.kind = STEP_LOOP, .timed = true, .repeat = 2, .steps = relay, .step_count = 3}},
     1,
     EVENTS_NONE,
     "L1 M6 w6 L1 M6 w6 ",
     "L1 M6 w6 L1 M6 w6 "},
    {"load is timed, unload is not",
     {{.kind = STEP_LOAD, .timed = true, .repeat = 1}, LAUNCH(1, false)},
     2,
     EVENTS_HOST,
     "S0 -1 S0 +2 S0 L2 ",
     "S0 -2 S0 +3 S0 L3 "},
    {"the first launch of fresh code",
     {{.kind = STEP_LOAD, .repeat = 1}, LAUNCH(1, true)},
     2,
     EVENTS_HOST,
     "S0 -1 +2 S0 L2 S0 ",
     "S0 -2 +3 S0 L3 S0 "},
    {"fresh memory",
     {{.kind = STEP_ALLOC, .repeat = 1}, LAUNCH(1, true)},
     2,
     EVENTS_HOST,
     "S0 x0 a0 S0 L1 S0 ",
     "S0 x0 a0 S0 L1 S0 "},
};

static const struct manifest manifest = {.name = "steps", .source = "steps.hip"};

static const struct device_facts facts;

static struct resolved bound_of(size_t k, struct resolved_step *steps, const struct resolved_buffer *buffers)
{
    static const size_t codes[] = {0};
    bool loads = false;
    memcpy(steps, cases[k].steps, sizeof(cases[k].steps));
    for (size_t s = 0; s < cases[k].count; s++)
        loads = loads || steps[s].kind == STEP_LOAD;
    return (struct resolved){.buffers = buffers,
                             .buffer_count = 1,
                             .steps = steps,
                             .step_count = cases[k].count,
                             .timing = {.loads = loads},
                             .codes = codes,
                             .code_count = 1,
                             .manifest = &manifest,
                             .device = &facts};
}

static void asks_in_order(void **state)
{
    static const struct manifest_buffer spec = {.name = "b", .role = ROLE_OUT, .reset = RESET_NONE};
    static const struct resolved_buffer buffers[] = {{.spec = &spec, .dtype = DTYPE_U32, .count = 4, .size_bytes = 16}};
    static const struct build_result builds[] = {{.object = "x"}};
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct resolved_step steps[MOST_STEPS];
        const struct resolved resolved = bound_of(k, steps, buffers);
        struct diary diary = {.device = {.ops = &ops}};
        struct ready ready = {0};
        struct err err = {0};
        assert_int_equal(ready_init(&ready, &diary.device, &resolved, builds, 1, 1, &err), STATUS_OK);
        for (unsigned run = 0; run < 2; run++) {
            const char *want = run ? cases[k].second : cases[k].first;
            text_release(&diary.said);
            if (ready_run(&ready, 0, cases[k].events, &err))
                fail_msg("%s: %s", cases[k].what, err.text);
            if (strcmp(diary.said.data, want))
                fail_msg("%s, run %u: '%s', expected '%s'", cases[k].what, run, diary.said.data, want);
            assert_int_equal(ready.runs, run + 1);
        }
        ready_release(&ready);
        text_release(&diary.said);
    }
}

/* The counter of runs starts again with the buffers. */
static void counts_runs(void **state)
{
    static const struct manifest_buffer kept = {.name = "b", .role = ROLE_OUT};
    static const struct manifest_buffer cleared = {.name = "b", .role = ROLE_OUT, .reset = RESET_ZERO};
    static const struct build_result builds[] = {{.object = "x"}};
    (void)state;
    for (unsigned reset = 0; reset < 2; reset++) {
        const struct resolved_buffer buffers[] = {
            {.spec = reset ? &cleared : &kept, .dtype = DTYPE_U32, .count = 4, .size_bytes = 16}};
        struct resolved_step steps[MOST_STEPS];
        const struct resolved resolved = bound_of(0, steps, buffers);
        struct diary diary = {.device = {.ops = &ops}};
        struct ready ready = {0};
        struct err err = {0};
        assert_int_equal(ready_init(&ready, &diary.device, &resolved, builds, 1, 1, &err), STATUS_OK);
        for (unsigned run = 0; run < 3; run++) {
            assert_int_equal(ready_reset(&ready, 0, &err), STATUS_OK);
            assert_int_equal(ready_run(&ready, 0, EVENTS_NONE, &err), STATUS_OK);
        }
        assert_int_equal(ready.runs, reset ? 1 : 3);
        assert_int_equal(ready_restore(&ready, &err), STATUS_OK);
        assert_int_equal(ready.runs, 0);
        ready_release(&ready);
        text_release(&diary.said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(asks_in_order), cmocka_unit_test(counts_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
