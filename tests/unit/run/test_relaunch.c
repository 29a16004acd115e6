/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/run/run_internal.h"

/* ---- a device whose memory the host reads and writes by calls only ---- */

static enum status d_alloc(void **pointer, struct device *device, uint64_t size_bytes, enum device_space space,
                           struct err *err)
{
    (void)device;
    (void)space;
    (void)err;
    *pointer = malloc(size_bytes);
    return STATUS_OK;
}

static void d_free(struct device *device, void *pointer)
{
    (void)device;
    free(pointer);
}

static enum status d_copy(struct device *device, void *to, const void *from, uint64_t size_bytes, struct err *err)
{
    (void)device;
    (void)err;
    memcpy(to, from, size_bytes);
    return STATUS_OK;
}

static const struct device_ops ops = {
    .name = "far", .executes = true, .alloc = d_alloc, .free = d_free, .write = d_copy, .read = d_copy};

static const struct manifest manifest = {.name = "m", .source = "m.hip"};
static const struct device_facts facts;
static const struct manifest_buffer spec = {.name = "x", .role = ROLE_IN, .fill = {.kind = FILL_ZEROS}};

struct world {
    struct device device;
    struct run_options options;
    struct worker worker;
    struct resolved_buffer buffer;
    struct resolved resolved;
    struct ready ready;
    struct verification out;
    struct checking checking;
    struct err err;
};

static void world_init(struct world *world, uint64_t count, uint32_t align_offset)
{
    *world = (struct world){.device = {.ops = &ops}};
    world->buffer = (struct resolved_buffer){
        .spec = &spec, .dtype = DTYPE_U32, .count = count, .size_bytes = 4 * count, .align_offset = align_offset};
    world->resolved =
        (struct resolved){.buffers = &world->buffer, .buffer_count = 1, .manifest = &manifest, .device = &facts};
    assert_int_equal(ready_init(&world->ready, &world->device, &world->resolved, NULL, 1, 1, &world->err), STATUS_OK);
    world->worker = (struct worker){.device = &world->device, .options = &world->options};
    world->checking = (struct checking){.worker = &world->worker, .ready = &world->ready, .out = &world->out};
    assert_int_equal(keep_inputs(&world->checking, &world->err), STATUS_OK);
}

static void world_release(struct world *world)
{
    ready_release(&world->ready);
    free(world->worker.services);
}

/* What is said once `value` stands at element `at`, which may lie outside; 0: nothing. */
static const char *after_writing(struct world *world, int64_t at, uint32_t value)
{
    uint32_t *x = ready_buffer(&world->ready, 0, 0), before = 0;
    memcpy(&before, x + at, sizeof(before));
    memcpy(x + at, &value, sizeof(value));
    world->out.verdict = VERIFY_PASS;
    world->out.reason[0] = '\0';
    assert_int_equal(check_surroundings(&world->checking, "later: ", &world->err), STATUS_OK);
    memcpy(x + at, &before, sizeof(before));
    assert_int_equal(world->out.verdict == VERIFY_FAIL, world->out.reason[0] != '\0');
    return world->out.reason;
}

static void guards_stand_on_both_sides(void **state)
{
    static const struct {
        int64_t at;
        const char *said;
    } cases[] = {
        {1000, "later: it writes outside of its buffers: bytes 0 to 3 behind the end of 'x'"},
        {2023, "later: it writes outside of its buffers: bytes 4092 to 4095 behind the end of 'x'"},
        {-1, "later: it writes outside of its buffers: bytes 1 to 4 before the beginning of 'x'"},
        {-1024, "later: it writes outside of its buffers: bytes 4093 to 4096 before the beginning of 'x'"},
        {0, "later: input x[0] was overwritten: it is 7, and was 0"},
        {999, "later: input x[999] was overwritten: it is 7, and was 0"},
    };
    (void)state;
    for (uint32_t offset = 0; offset <= 12; offset += 4) {
        struct world world;
        world_init(&world, 1000, offset);
        assert_int_equal(check_surroundings(&world.checking, "", &world.err), STATUS_OK);
        assert_int_equal(world.out.verdict, VERIFY_NOT_RUN);
        for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
            assert_string_equal(after_writing(&world, cases[k].at, 7), cases[k].said);
        assert_string_equal(world.out.not_checked, "");
        world_release(&world);
    }
}

/* From the first byte to the last, by a device that does not hash its memory, too. */
static void large_buffers_are_seen_whole(void **state)
{
    const int64_t count = (150 << 18) + 3;
    struct world world;
    (void)state;
    world_init(&world, (uint64_t)count, 0);
    assert_non_null(strstr(after_writing(&world, 0, 9), "input x[0] was overwritten: it is 9"));
    assert_non_null(strstr(after_writing(&world, count / 2, 9), "input x[19660801] was overwritten: it is 9"));
    assert_non_null(strstr(after_writing(&world, count - 1, 9), "input x[39321602] was overwritten: it is 9"));
    assert_string_equal(world.out.not_checked, "");
    world_release(&world);
}

/* ---- inputs that change between samples ---- */

enum { STIRS = 2000, REMEMBERED = 64 };

/* Of launches that each follow a stir, how many find the inputs of one of the last `memory` launches. `between`: stirs
 * that no such launch follows. */
static unsigned met_again(size_t memory, size_t between)
{
    static uint32_t before[STIRS][128];
    struct world world;
    unsigned met = 0;
    world_init(&world, 128, 0);
    uint32_t *x = ready_buffer(&world.ready, 0, 0);
    for (uint32_t k = 0; k < 128; k++)
        x[k] = k;
    assert_int_equal(inputs_choose(&world.ready, 1, &world.err), STATUS_OK);
    for (size_t launch = 0; launch < STIRS; launch++) {
        for (size_t k = 0; k <= between; k++)
            assert_int_equal(inputs_stir(&world.ready, 0, &world.err), STATUS_OK);
        memcpy(before[launch], x, sizeof(before[launch]));
        bool found = false;
        for (size_t k = launch > memory ? launch - memory : 0; k < launch; k++)
            found = found || !memcmp(before[k], x, sizeof(before[k]));
        met += found;
    }
    assert_int_equal(inputs_restore(&world.ready, &world.err), STATUS_OK);
    for (uint32_t k = 0; k < 128; k++)
        assert_int_equal(x[k], k);
    world_release(&world);
    return met;
}

static void stirred_inputs_are_seldom_met_again(void **state)
{
    (void)state;
    assert_int_equal(met_again(2, 0), 0); /* no stir undoes the last */
    assert_in_range(met_again(REMEMBERED, 0), 0, STIRS / 50);
    assert_in_range(met_again(REMEMBERED, 1), 0, STIRS / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stirred_inputs_are_seldom_met_again),
                                       cmocka_unit_test(guards_stand_on_both_sides),
                                       cmocka_unit_test(large_buffers_are_seen_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
