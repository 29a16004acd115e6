/* SPDX-License-Identifier: MIT
 *
 * Makes devices begin each case at the same time. Their processes share a page that records who runs which case, who
 * has arrived, and when all begin. Nobody waits for a process that has ended, nor again for one that failed to arrive.
 */
#include <stdatomic.h>
#include <sys/mman.h>

#include "rooftile/clock.h"
#include "run_internal.h"

enum { SLOTS = 8192 };
/* Delay of the start, so that the last one to arrive does not begin before the others. */
#define LEAD_NS 2000000u
#define PAUSE_NS 200000u

/* Bit k stands for device k. */
struct slot {
    _Atomic uint64_t expected, arrived, start_ns;
};

struct run_meeting {
    _Atomic uint64_t gone, late;
    _Atomic uint32_t apart[RUN_MAX_TOGETHER]; /* cases that a device began without all others */
    struct slot ready, cases[SLOTS];
};

struct run_meeting *run_meeting_new(unsigned devices)
{
    struct run_meeting *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        arena_out_of_memory(sizeof(*shared));
    atomic_store(&shared->ready.expected, devices < 64 ? (UINT64_C(1) << devices) - 1 : UINT64_MAX);
    return shared;
}

void run_meeting_free(struct run_meeting *shared)
{
    if (shared)
        munmap(shared, sizeof(*shared));
}

void run_together_gone(const struct run_together *own)
{
    atomic_fetch_or(&own->shared->gone, UINT64_C(1) << own->device);
}

/* Returns the devices that have yet to arrive. */
static uint64_t awaited(struct run_meeting *shared, struct slot *slot)
{
    return atomic_load(&slot->expected) &
           ~(atomic_load(&slot->arrived) | atomic_load(&shared->gone) | atomic_load(&shared->late));
}

/* Returns the start time, which is the same for all that have arrived. */
static double meet(const struct run_together *own, struct slot *slot, double limit_ns)
{
    struct run_meeting *shared = own->shared;
    const uint64_t bit = UINT64_C(1) << own->device, began_ns = clock_now_ns();
    uint64_t none = 0;
    atomic_fetch_and(&shared->late, ~bit);
    atomic_fetch_or(&slot->arrived, bit);
    while (awaited(shared, slot) && !atomic_load(&slot->start_ns) && (double)(clock_now_ns() - began_ns) < limit_ns)
        clock_sleep_ns(PAUSE_NS);
    if (!atomic_load(&slot->start_ns))
        atomic_fetch_or(&shared->late, awaited(shared, slot));
    atomic_compare_exchange_strong(&slot->start_ns, &none, clock_now_ns() + LEAD_NS);
    const uint64_t start_ns = atomic_load(&slot->start_ns);
    for (uint64_t now_ns; (now_ns = clock_now_ns()) < start_ns;)
        clock_sleep_ns(start_ns - now_ns);
    if (atomic_load(&slot->expected) & ~atomic_load(&slot->arrived))
        atomic_fetch_add(&shared->apart[own->device], 1);
    return (double)start_ns;
}

double run_together_ready(const struct run_together *own, const struct plan *plan, double limit_ns)
{
    for (size_t k = 0; k < plan->count; k++)
        if (plan->cases[k].state == PLAN_READY && plan->cases[k].asked < SLOTS)
            atomic_fetch_or(&own->shared->cases[plan->cases[k].asked].expected, UINT64_C(1) << own->device);
    return meet(own, &own->shared->ready, limit_ns);
}

double run_together_case(const struct run_together *own, const struct plan_case *plan_case)
{
    const double limit_ns = fmin(RUN_TOGETHER_WAIT_NS, plan_case->measure.timeout_ns / 4);
    return plan_case->asked < SLOTS ? meet(own, &own->shared->cases[plan_case->asked], limit_ns) : 0;
}

uint32_t run_together_apart(const struct run_together *own)
{
    return own->shared ? atomic_load(&own->shared->apart[own->device]) : 0;
}
