/* SPDX-License-Identifier: MIT */
#include "cpu.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rooftile/clock.h"

/* Long enough to span the host work between two launches of a batch, and short enough not to disturb what runs in
 * between. */
#define SPIN_NS 10000u
#define LINE 64

struct worker {
    struct pool *pool;
    pthread_t thread;
    uint32_t part;
};

struct pool {
    uint32_t parts;
    uint32_t started; /* worker threads that exist */
    cpu_set_t caller_before;
    bool pinned;
    struct worker *workers; /* parts - 1 */
    void (*work)(void *context, uint32_t part, uint32_t parts);
    void *context;
    bool stop;
    _Alignas(LINE) atomic_uint round; /* incremented by each pool_run; sleepers wait for it to change */
    _Alignas(LINE) atomic_uint sleepers;
    _Alignas(LINE) atomic_uint running; /* workers that have not finished the round */
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
}

/* Non-temporal stores are weakly ordered and must be drained before a part is reported as done. */
static void drain_stores(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

/* Returns when the round differs from `seen`. */
static uint32_t await_round(struct pool *pool, uint32_t seen)
{
    const uint64_t until_ns = clock_now_ns() + SPIN_NS;
    do {
        for (int i = 0; i < 16; ++i) {
            const uint32_t round = atomic_load_explicit(&pool->round, memory_order_acquire);
            if (round != seen)
                return round;
            relax();
        }
    } while (clock_now_ns() < until_ns);
    /* Sequentially consistent with pool_run: either it sees the sleeper, or the futex sees the new round. */
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->round) == seen)
        syscall(SYS_futex, &pool->round, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&pool->sleepers, 1);
    return atomic_load_explicit(&pool->round, memory_order_acquire);
}

static void *worker_main(void *context)
{
    const struct worker *worker = context;
    struct pool *pool = worker->pool;
    for (uint32_t seen = 0;;) {
        seen = await_round(pool, seen);
        if (pool->stop)
            return NULL;
        pool->work(pool->context, worker->part, pool->parts);
        drain_stores();
        atomic_fetch_sub_explicit(&pool->running, 1, memory_order_release);
    }
}

static void start_round(struct pool *pool)
{
    atomic_fetch_add(&pool->round, 1);
    if (atomic_load(&pool->sleepers))
        syscall(SYS_futex, &pool->round, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void pool_run(struct pool *pool, void (*work)(void *context, uint32_t part, uint32_t parts), void *context)
{
    pool->work = work;
    pool->context = context;
    atomic_store_explicit(&pool->running, pool->parts - 1, memory_order_relaxed);
    if (pool->parts > 1)
        start_round(pool);
    work(context, 0, pool->parts);
    drain_stores();
    /* The other threads finish at about the same time; if they do not, yields the core to others that need it. */
    for (uint32_t turns = 0; atomic_load_explicit(&pool->running, memory_order_acquire); ++turns) {
        if (turns < 1000)
            relax();
        else
            sched_yield();
    }
}

uint32_t pool_allowed_cores(void)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed))
        return 1;
    return (uint32_t)CPU_COUNT(&allowed);
}

uint32_t pool_threads(const struct pool *pool)
{
    return pool->parts;
}

/* Returns the set that contains only the `index`-th core of `allowed`. */
static cpu_set_t nth_core(const cpu_set_t *allowed, uint32_t index)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (size_t core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, allowed) && index-- == 0) {
            CPU_SET(core, &one);
            break;
        }
    return one;
}

static enum status start_worker(struct pool *pool, struct worker *worker, struct err *err)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    const cpu_set_t core = nth_core(&pool->caller_before, worker->part);
    pthread_attr_setaffinity_np(&attributes, sizeof(core), &core);
    const int failure = pthread_create(&worker->thread, &attributes, worker_main, worker);
    pthread_attr_destroy(&attributes);
    if (failure)
        return err_set(err, ERR_DEVICE, "cannot start thread %u of %u: %s", worker->part + 1, pool->parts,
                       strerror(failure));
    ++pool->started;
    return STATUS_OK;
}

void pool_release_caller(const struct pool *pool)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (uint32_t part = 0; part < pool->parts; ++part) {
        const cpu_set_t core = nth_core(&pool->caller_before, part);
        CPU_OR(&cores, &cores, &core);
    }
    sched_setaffinity(0, sizeof(cores), &cores);
}

bool pool_hold_caller(const struct pool *pool)
{
    const cpu_set_t core = nth_core(&pool->caller_before, 0);
    return sched_setaffinity(0, sizeof(core), &core) == 0;
}

enum status pool_open(struct pool **opened, uint32_t threads, struct err *err)
{
    const uint32_t cores = pool_allowed_cores();
    if (threads > cores)
        return err_set(err, ERR_DEVICE, "%u threads asked for, but this process may use %u cores", threads, cores);
    struct pool *pool = aligned_alloc(LINE, sizeof(*pool)); /* a multiple of LINE, because members are aligned to it */
    if (!pool)
        arena_out_of_memory(sizeof(*pool));
    memset(pool, 0, sizeof(*pool));
    pool->parts = threads ? threads : cores;
    pool->workers = new_zeroed(pool->parts, sizeof(*pool->workers));
    if (sched_getaffinity(0, sizeof(pool->caller_before), &pool->caller_before))
        CPU_SET(0, &pool->caller_before);
    pool->pinned = pool_hold_caller(pool);
    enum status status = pool->pinned ? STATUS_OK : err_set(err, ERR_DEVICE, "cannot pin a thread to its core");
    for (uint32_t i = 0; !status && i + 1 < pool->parts; ++i) {
        pool->workers[i] = (struct worker){.pool = pool, .part = i + 1};
        status = start_worker(pool, &pool->workers[i], err);
    }
    if (status) {
        pool_close(pool);
        return status;
    }
    *opened = pool;
    return STATUS_OK;
}

void pool_close(struct pool *pool)
{
    if (!pool)
        return;
    pool->stop = true;
    start_round(pool);
    for (uint32_t i = 0; i < pool->started; ++i)
        pthread_join(pool->workers[i].thread, NULL);
    if (pool->pinned)
        sched_setaffinity(0, sizeof(pool->caller_before), &pool->caller_before);
    free(pool->workers);
    free(pool);
}
