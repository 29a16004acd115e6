/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rooftile/clock.h"
#include "rooftile/run.h"

enum { DEVICES = 3, CASES = 4 };

/* When each device began each case. */
struct seen {
    double ready[DEVICES];
    double began[DEVICES][CASES];
    uint32_t apart[DEVICES];
};

static struct plan_case cases[CASES];
static void sleep_ms(unsigned ms)
{
    clock_sleep_ns(ms * UINT64_C(1000000));
}

/* Device 2 skips case 1, which nobody waits for; `dies` ends it before case 2, `hangs` keeps it from there. */
static void device(const struct run_together *together, struct seen *seen, bool dies, bool hangs)
{
    const unsigned own = together->device;
    struct plan_case mine[CASES];
    for (size_t k = 0; k < CASES; k++)
        mine[k] = cases[k];
    mine[1].state = own == 2 ? PLAN_SKIPPED : PLAN_READY;
    sleep_ms(own * 10);
    seen->ready[own] = run_together_ready(together, &(struct plan){.cases = mine, .count = CASES}, 5e9);
    for (size_t k = 0; k < CASES; k++) {
        if (own == 2 && k == 2 && dies)
            return;
        if (own == 2 && k == 2 && hangs)
            sleep_ms(600);
        if (mine[k].state != PLAN_READY)
            continue;
        sleep_ms(own * 10);
        seen->began[own][k] = run_together_case(together, &mine[k]);
    }
    seen->apart[own] = run_together_apart(together);
}

static void all(struct seen *seen, bool dies, bool hangs)
{
    struct run_meeting *shared = run_meeting_new(DEVICES);
    pid_t pids[DEVICES];
    for (unsigned k = 0; k < DEVICES; k++)
        if (!(pids[k] = fork())) {
            device(&(struct run_together){shared, k}, seen, dies, hangs);
            _exit(0);
        }
    for (unsigned left = DEVICES; left; left--) {
        const pid_t pid = wait(NULL);
        for (unsigned k = 0; k < DEVICES; k++)
            if (pids[k] == pid)
                run_together_gone(&(struct run_together){shared, k});
    }
    run_meeting_free(shared);
}

static struct seen *seen_of(bool dies, bool hangs)
{
    struct seen *seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(seen != MAP_FAILED);
    for (size_t k = 0; k < CASES; k++)
        cases[k] = (struct plan_case){.asked = k, .state = PLAN_READY, .measure = {.timeout_ns = 8e8}};
    all(seen, dies, hangs);
    return seen;
}

static void all_begin_at_one_time(void **state)
{
    const struct seen *seen = seen_of(false, false);
    (void)state;
    assert_true(seen->ready[0] > 0 && seen->ready[0] == seen->ready[1] && seen->ready[0] == seen->ready[2]);
    for (size_t k = 0; k < CASES; k++) {
        assert_true(seen->began[0][k] > 0 && seen->began[0][k] == seen->began[1][k]);
        assert_true(seen->began[2][k] == (k == 1 ? 0 : seen->began[0][k]));
    }
    assert_int_equal(seen->apart[0] + seen->apart[1] + seen->apart[2], 0);
}

static void one_that_ended_is_not_waited_for(void **state)
{
    const struct seen *seen = seen_of(true, false);
    (void)state;
    assert_true(seen->began[0][3] > 0 && seen->began[0][3] == seen->began[1][3]);
    assert_int_equal(seen->apart[0], 2);
    assert_int_equal(seen->apart[1], 2);
}

static void one_that_hangs_is_waited_for_once(void **state)
{
    const struct seen *seen = seen_of(false, true);
    (void)state;
    assert_true(seen->began[0][2] - seen->began[0][1] > 1.9e8);
    assert_true(seen->began[0][2] == seen->began[1][2]);
    assert_true(seen->apart[0] >= 1 && seen->apart[1] >= 1);
    assert_true(seen->began[2][3] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_begin_at_one_time),
        cmocka_unit_test(one_that_ended_is_not_waited_for),
        cmocka_unit_test(one_that_hangs_is_waited_for_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
