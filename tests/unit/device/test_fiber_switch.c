/* SPDX-License-Identifier: MIT
 *
 * Switching between stacks, which is assembly.
 */
#include <execinfo.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void *fiber_make(void *top, void (*function)(void *argument), void *argument);
void fiber_switch(void **from, void *to);

#if defined(__SANITIZE_ADDRESS__)
#define ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN
#endif
#endif
#ifdef ASAN
#include <sanitizer/common_interface_defs.h>
#endif

enum { FIBERS = 3, STACK_BYTES = 256 * 1024, ROUNDS = 1000 };

static struct fiber {
    char *stack;
    void *context;
    uint64_t seed;
    unsigned rounds;
    int depth;
    bool aligned;
} fibers[FIBERS];
static void *home;
#ifdef ASAN
static const void *home_stack;
static size_t home_bytes;
#endif

/* There and back; AddressSanitizer wants to know of both. */
static void enter(struct fiber *fiber)
{
#ifdef ASAN
    void *fake;
    __sanitizer_start_switch_fiber(&fake, fiber->stack, STACK_BYTES);
#endif
    fiber_switch(&home, fiber->context);
#ifdef ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static void leave(struct fiber *fiber)
{
    if (!fiber->stack)
        return;
#ifdef ASAN
    void *fake;
    __sanitizer_start_switch_fiber(&fake, home_stack, home_bytes);
#endif
    fiber_switch(&fiber->context, home);
#ifdef ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static void arrive(void)
{
#ifdef ASAN
    __sanitizer_finish_switch_fiber(NULL, &home_stack, &home_bytes);
#endif
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    return x ^ x >> 29;
}

/* More values than there are registers, whole ones and floating ones, must survive every switch. */
static void keep_values(struct fiber *fiber)
{
    uint64_t a = mix(fiber->seed), b = mix(a), c = mix(b), d = mix(c), e = mix(d), f = mix(e), g = mix(f), h = mix(g);
    double x = (double)(a >> 12), y = (double)(b >> 12), z = (double)(c >> 12), w = (double)(d >> 12);
    for (unsigned k = 0; k < ROUNDS; ++k) {
        leave(fiber);
        a = mix(a + h), b = mix(b + a), c = mix(c + b), d = mix(d + c);
        e = mix(e + d), f = mix(f + e), g = mix(g + f), h = mix(h + g);
        x = x * 0.5 + y, y = y * 0.25 + z, z = z * 0.125 + w, w = w * 0.5 + (double)(a >> 40);
    }
    fiber->seed = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ (uint64_t)(x + y + z + w);
}

static void run_values(void *argument)
{
    struct fiber *fiber = argument;
    _Alignas(16) volatile char aligned[16] = {0};
    arrive();
    fiber->aligned = (uintptr_t)aligned % 16 == 0;
    keep_values(fiber);
    for (;;) {
        fiber->rounds = ROUNDS;
        leave(fiber);
    }
}

static void run_backtrace(void *argument)
{
    struct fiber *fiber = argument;
    void *frames[64];
    arrive();
    fiber->depth = backtrace(frames, 64);
    for (;;)
        leave(fiber);
}

static void make_fibers(void (*function)(void *))
{
    for (size_t i = 0; i < FIBERS; ++i) {
        fibers[i] = (struct fiber){.stack = aligned_alloc(4096, STACK_BYTES), .seed = i + 1};
        memset(fibers[i].stack, 0xa5, STACK_BYTES);
        fibers[i].context = fiber_make(fibers[i].stack + STACK_BYTES, function, &fibers[i]);
    }
}

static void free_fibers(void)
{
    for (size_t i = 0; i < FIBERS; ++i)
        free(fibers[i].stack);
}

/* What the values become when nobody switches. */
static uint64_t expected(uint64_t seed)
{
    struct fiber alone = {.seed = seed};
    keep_values(&alone);
    return alone.seed;
}

static void values_survive(void **state)
{
    (void)state;
    make_fibers(run_values);
    for (unsigned k = 0; k <= ROUNDS; ++k)
        for (size_t i = 0; i < FIBERS; ++i)
            enter(&fibers[(i + k) % FIBERS]);
    for (size_t i = 0; i < FIBERS; ++i) {
        assert_true(fibers[i].aligned);
        assert_int_equal(fibers[i].rounds, ROUNDS);
        assert_int_equal(fibers[i].seed, expected(i + 1));
    }
    free_fibers();
}

/* Debuggers and unwinders find the end of a fiber's stack, which has a handful of frames. */
static void unwinding_ends(void **state)
{
    (void)state;
    make_fibers(run_backtrace);
    enter(&fibers[0]);
    assert_in_range(fibers[0].depth, 1, 8);
    free_fibers();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_survive),
        cmocka_unit_test(unwinding_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
