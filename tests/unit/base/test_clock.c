/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <cmocka.h>

#include "rooftile/clock.h"

static void never_goes_back(void **state)
{
    (void)state;
    uint64_t last_ns = clock_now_ns();
    for (int i = 0; i < 10000; i++) {
        const uint64_t now_ns = clock_now_ns();
        assert_true(now_ns >= last_ns);
        last_ns = now_ns;
    }
}

static void on_alarm(int number)
{
    (void)number;
}

/* A signal in between does not shorten the sleep. The raw clock may differ from the sleeping one by a little. */
static void sleeps_to_the_end(void **state)
{
    (void)state;
    const struct sigaction action = {.sa_handler = on_alarm};
    struct sigaction before;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    const struct itimerval soon = {.it_value = {.tv_usec = 5000}};
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    const uint64_t start_ns = clock_now_ns();
    clock_sleep_ns(30000000);
    assert_true(clock_now_ns() - start_ns > 29000000);
    sigaction(SIGALRM, &before, NULL);
}

static void utc_is_rfc3339(void **state)
{
    (void)state;
    char text[32];
    const time_t before = time(NULL);
    clock_utc(text);
    const time_t after = time(NULL);
    struct tm utc = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    assert_true(end && *end == '\0');
    assert_int_equal(strlen(text), 20);
    const time_t seen = timegm(&utc);
    assert_true(seen >= before && seen <= after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_goes_back),
        cmocka_unit_test(sleeps_to_the_end),
        cmocka_unit_test(utc_is_rfc3339),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
