/* SPDX-License-Identifier: MIT */
#include "cpu.h"

#include <pthread.h>
#include <sys/mman.h>

#include "rooftile/rng.h"

/* ---- stacks: one mapping, pages allocated on first use, guard pages between ---- */

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
/* Instrumented frames are several times larger. */
#define STACK_BYTES ((size_t)256 * 1024)
#else
#define STACK_BYTES ((size_t)64 * 1024)
#endif
#define GUARD_BYTES ((size_t)4096)
/* 17 pages, an odd number: tops of stacks 16 pages apart would share the same few sets of L2. */
#define STRIDE_BYTES (STACK_BYTES + GUARD_BYTES)
/* Within their page, stack tops are shifted by this amount, so that they do not all share one set of L1. */
#define COLOUR_BYTES 512u
#define COLOURS 8u
/* A guard page splits a mapping, and Linux allows a process 65530 mappings (vm.max_map_count). */
#define GUARD_BUDGET 24000u

struct stack {
    void *bottom; /* lowest address */
    size_t size;
};

struct stacks {
    char *memory;
    size_t size;
};

/* AddressSanitizer must be notified of every switch, which it would otherwise take for an overflow. Call `leave` before
 * a switch and `arrive` right after it, with the value that `leave` returned on the arriving side, or NULL on the first
 * arrival. */
#ifdef FIBER_ASAN
static void *stack_leave(struct stack to)
{
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, to.bottom, to.size);
    return fake;
}

static void stack_arrive(void *fake)
{
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
}

/* Removes the address sanitizer's remaining poison from the stack. */
static void stack_clear(struct stack stack)
{
    __asan_unpoison_memory_region(stack.bottom, stack.size);
}

static struct stack stack_current(void)
{
    pthread_attr_t attributes;
    struct stack stack = {0};
    if (pthread_getattr_np(pthread_self(), &attributes))
        return stack;
    pthread_attr_getstack(&attributes, &stack.bottom, &stack.size);
    pthread_attr_destroy(&attributes);
    return stack;
}
#else
#define stack_leave(to) ((void)(to), NULL)
#define stack_arrive(fake) ((void)(fake))
#define stack_clear(stack) ((void)(stack))
#define stack_current() ((struct stack){0})
#endif

/* With more than `guard_limit` stacks, only every n-th is guarded. False: no memory. */
static bool stacks_init(struct stacks *stacks, uint32_t count, uint32_t guard_limit)
{
    const size_t size = count * STRIDE_BYTES;
    char *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    madvise(memory, size, MADV_NOHUGEPAGE); /* otherwise 2 MiB are cleared where two pages are used */
    const uint32_t every = guard_limit ? 1 + (count - 1) / guard_limit : count;
    for (uint32_t i = 0; i < count; i += every)
        mprotect(memory + i * STRIDE_BYTES, GUARD_BYTES, PROT_NONE);
    *stacks = (struct stacks){.memory = memory, .size = size};
    return true;
}

static struct stack stack_at(const struct stacks *stacks, uint32_t index)
{
    return (struct stack){.bottom = stacks->memory + index * STRIDE_BYTES + GUARD_BYTES,
                          .size = STACK_BYTES - index % COLOURS * COLOUR_BYTES};
}

/* ---- lanes ---- */

/* One cache line at the top of its own stack: a switch touches few lines, all on one page. */
struct fiber {
    struct simt_lane lane; /* must be first: the kernel module sees it */
    struct fibers *all;
    struct wave *wave;
    void *context; /* saved stack pointer while it does not run */
};
_Static_assert(sizeof(struct fiber) == 64, "a fiber is one cache line");

struct wave {
    uint32_t begin; /* index of its first lane in `live` */
    uint32_t count; /* lanes that have not returned */
    uint32_t turn;  /* which exchange buffer the next operation uses */
    struct simt_exchange exchange[2];
};

enum { PREFETCH_LINES = 6 };

/* The source location where a lane waits; 0: none. */
typedef uint64_t place;
enum { AT_BARRIER = 1, AT_WAVE_OPERATION = 2, AT_MASK = 3, AT_BITS = 2 };

struct fibers {
    uint32_t wave_lanes;
    uint32_t guard_limit; /* maximum number of guard pages: each uses two of the process's limited mappings */
    struct stacks stacks;
    uint32_t capacity;
    struct fiber **fibers; /* lane i of the workgroup is *fibers[i] */
    struct fiber main;     /* the pool thread itself */
    struct stack main_stack;

    /* Set for one workgroup shape and order. */
    uint32_t block[3];
    enum lane_order order;
    uint64_t seed;
    struct fiber **in_order; /* all lanes in execution order, wave by wave */
    struct wave *waves;      /* in execution order */
    uint32_t wave_count;

    /* The running workgroup. */
    struct simt_group group;
    void (*body)(struct simt_lane *lane);
    struct fiber **live; /* in_order without returned lanes, each wave's at its `begin`; one extra at the end */
    uint32_t wave;       /* index of the wave whose pass runs */
    uint32_t at;         /* index of the running lane in live */
    uint32_t end;        /* end of the wave in live */
    uint32_t kept;       /* where the next lane that waits in this pass is stored; lanes that return drop out */
    place pass;          /* where the lanes of this pass wait */
    place barrier;       /* where the previous waves wait */
    struct fiber_finding *finding;
};

/* Used only for the address sanitizer. */
static inline struct stack stack_of(const struct fiber *fiber)
{
    const struct fibers *all = fiber->all;
    const size_t offset = (size_t)((const char *)fiber - all->stacks.memory);
    return fiber == &all->main ? all->main_stack : stack_at(&all->stacks, (uint32_t)(offset / STRIDE_BYTES));
}

/* Waiting code is inlined into one function with a single switch, so that the return is predicted: it has the same
 * target on either stack. */
#define INLINE __attribute__((always_inline)) static inline

INLINE void fiber_jump(struct fiber *from, struct fiber *to)
{
    void *const fake = stack_leave(stack_of(to));
    fiber_switch(&from->context, to->context);
    stack_arrive(fake);
}

static struct fiber *start_pass(struct fibers *all, uint32_t wave)
{
    const struct wave *running = &all->waves[wave];
    all->wave = wave;
    all->at = all->kept = running->begin;
    all->end = running->begin + running->count;
    all->pass = 0;
    return all->live[all->at];
}

/* Records the finding and abandons the workgroup: its fibers keep their state until they are made anew. */
static void found(struct fibers *all, place one, place other)
{
    *all->finding = (struct fiber_finding){
        .found = true,
        .wave_operation = ((one | other) & AT_WAVE_OPERATION) != 0,
        .group = {all->group.index[0], all->group.index[1], all->group.index[2]},
        .line = {(uint32_t)(one >> (AT_BITS + 8)), (uint32_t)(other >> (AT_BITS + 8))},
    };
}

static struct fiber *next_wave(struct fibers *all, uint32_t wave)
{
    while (wave < all->wave_count && !all->waves[wave].count)
        ++wave;
    return wave < all->wave_count ? start_pass(all, wave) : NULL;
}

/* Chooses the next fiber after every lane of the running wave waits or has returned. */
__attribute__((noinline)) static struct fiber *end_pass(struct fibers *all)
{
    struct wave *wave = &all->waves[all->wave];
    wave->count = all->kept - wave->begin;
    if ((all->pass & AT_MASK) == AT_WAVE_OPERATION) {
        /* All lanes have read the results of the previous operation, so its exchange buffer is free for the next
         * one. */
        wave->turn ^= 1;
        wave->exchange[wave->turn].active = wave->exchange[wave->turn].votes = 0;
        return start_pass(all, all->wave);
    }
    if (all->pass && all->barrier && all->pass != all->barrier) {
        found(all, all->barrier, all->pass);
        return &all->main;
    }
    if (all->pass)
        all->barrier = all->pass;
    struct fiber *next = next_wave(all, all->wave + 1);
    if (next)
        return next;
    if (!all->barrier)
        return &all->main; /* the workgroup is finished */
    all->barrier = 0;
    return next_wave(all, 0);
}

/* Lanes of a large workgroup do not stay in L1 between their turns. While one runs, the next one's struct and the
 * frames below it are fetched from L2. */
INLINE void prefetch(const struct fiber *fiber)
{
    const uintptr_t top = (uintptr_t)fiber; /* as an integer: there may be no fiber after the last lane */
    for (uintptr_t line = 0; line < PREFETCH_LINES; ++line)
        __builtin_prefetch((const void *)(top - line * 64), 1);
}

INLINE struct fiber *next_lane(struct fibers *all)
{
    if (++all->at >= all->end)
        return end_pass(all);
    prefetch(all->live[all->at + 1]);
    return all->live[all->at];
}

INLINE void fiber_wait(struct fiber *self, place here)
{
    struct fibers *all = self->all;
    struct fiber *next;
    if (all->pass && all->pass != here) {
        found(all, all->pass, here);
        next = &all->main;
    } else {
        all->pass = here;
        all->live[all->kept++] = self;
        next = next_lane(all);
    }
    if (next != self)
        fiber_jump(self, next);
}

static void lane_barrier(struct simt_lane *lane, uint32_t site)
{
    fiber_wait((struct fiber *)lane, (place)site << AT_BITS | AT_BARRIER);
}

static const struct simt_exchange *lane_wave(struct simt_lane *lane, uint32_t site, uint64_t value)
{
    struct fiber *self = (struct fiber *)lane;
    struct simt_exchange *exchange = &self->wave->exchange[self->wave->turn];
    exchange->slot[lane->index] = value;
    exchange->active |= UINT64_C(1) << lane->index;
    exchange->votes |= (uint64_t)(value != 0) << lane->index;
    fiber_wait(self, (place)site << AT_BITS | AT_WAVE_OPERATION);
    return exchange;
}

/* Runs its lane of one workgroup after another; never returns. */
static void fiber_main(void *argument)
{
    struct fiber *self = argument;
    stack_arrive(NULL);
    for (;;) {
        self->all->body(&self->lane);
        fiber_jump(self, next_lane(self->all));
    }
}

/* Restarts every lane on its stack and discards what was on it. */
static void make_contexts(struct fibers *all)
{
    for (uint32_t i = 0; i < all->capacity; ++i) {
        const struct stack stack = stack_at(&all->stacks, i);
        struct fiber *fiber = all->fibers[i];
        stack_clear(stack);
        fiber->context = fiber_make(fiber, fiber_main, fiber);
    }
}

struct fibers *fibers_new(uint32_t wave, uint32_t pool_threads)
{
    struct fibers *all = new_zeroed(1, sizeof(*all));
    all->wave_lanes = wave;
    all->guard_limit = GUARD_BUDGET / pool_threads;
    all->main.all = all;
    return all;
}

static void release_arrays(struct fibers *all)
{
    /* Later users of these addresses must not find poison that our frames left. */
    stack_clear(((struct stack){.bottom = all->stacks.memory, .size = all->stacks.size}));
    if (all->stacks.memory)
        munmap(all->stacks.memory, all->stacks.size);
    all->stacks = (struct stacks){0};
    free(all->fibers);
    free(all->in_order);
    free(all->live);
    free(all->waves);
}

void fibers_free(struct fibers *all)
{
    if (!all)
        return;
    release_arrays(all);
    free(all);
}

bool fibers_reserve(struct fibers *all, uint32_t lanes)
{
    if (lanes <= all->capacity)
        return true;
    struct stacks stacks = {0};
    if (!stacks_init(&stacks, lanes, all->guard_limit))
        return false;
    release_arrays(all);
    all->stacks = stacks;
    all->capacity = lanes;
    all->fibers = new_zeroed(lanes, sizeof(struct fiber *));
    all->in_order = new_zeroed(lanes, sizeof(struct fiber *));
    all->live = new_zeroed(lanes + 1, sizeof(struct fiber *));
    all->waves = new_zeroed((lanes + all->wave_lanes - 1) / all->wave_lanes, sizeof(*all->waves));
    all->block[0] = 0; /* no shape is set */
    for (uint32_t i = 0; i < lanes; ++i) {
        const struct stack stack = stack_at(&stacks, i);
        all->fibers[i] = (struct fiber *)((char *)stack.bottom + stack.size) - 1;
    }
    make_contexts(all);
    return true;
}

static void set_lanes(struct fibers *all, const uint32_t block[static 3])
{
    const uint32_t lanes = block[0] * block[1] * block[2];
    for (uint32_t i = 0; i < lanes; ++i) {
        struct fiber *fiber = all->fibers[i];
        fiber->all = all;
        fiber->lane = (struct simt_lane){
            .group = &all->group,
            .thread = {i % block[0], i / block[0] % block[1], i / block[0] / block[1]},
            .index = i % all->wave_lanes,
            .barrier = lane_barrier,
            .wave = lane_wave,
        };
    }
    memcpy(all->block, block, sizeof(all->block));
    all->wave_count = (lanes + all->wave_lanes - 1) / all->wave_lanes;
}

/* Writes the numbers 0 .. count - 1 in the requested order. */
static void order_numbers(uint32_t *numbers, uint32_t count, enum lane_order order, struct rng *rng)
{
    for (uint32_t i = 0; i < count; ++i)
        numbers[i] = order == LANES_BACKWARD ? count - 1 - i : i;
    if (order != LANES_SHUFFLED)
        return;
    for (uint32_t i = count; i > 1; --i) {
        const uint32_t other = (uint32_t)rng_below(rng, i);
        const uint32_t kept = numbers[i - 1];
        numbers[i - 1] = numbers[other];
        numbers[other] = kept;
    }
}

/* Puts the waves, and the lanes in each, in the requested order. */
static void set_order(struct fibers *all, enum lane_order order, uint64_t seed)
{
    enum { MOST_WAVES = 1024 / 32 };
    const uint32_t lanes = all->block[0] * all->block[1] * all->block[2];
    uint32_t wave_at[MOST_WAVES], lane_at[SIMT_MAX_WAVE], filled = 0;
    struct rng rng;
    rng_init(&rng, seed);
    order_numbers(wave_at, all->wave_count, order, &rng);
    for (uint32_t i = 0; i < all->wave_count; ++i) {
        const uint32_t first = wave_at[i] * all->wave_lanes;
        const uint32_t count = lanes - first < all->wave_lanes ? lanes - first : all->wave_lanes;
        all->waves[i].begin = filled;
        order_numbers(lane_at, count, order, &rng);
        for (uint32_t k = 0; k < count; ++k) {
            struct fiber *fiber = all->fibers[first + lane_at[k]];
            fiber->wave = &all->waves[i];
            all->in_order[filled++] = fiber;
        }
    }
    all->order = order;
    all->seed = seed;
}

static void run_group(struct fibers *all)
{
    const uint32_t lanes = all->block[0] * all->block[1] * all->block[2];
    memcpy(all->live, all->in_order, lanes * sizeof(struct fiber *));
    for (uint32_t i = 0; i < all->wave_count; ++i) {
        struct wave *wave = &all->waves[i];
        wave->count = (i + 1 < all->wave_count ? all->waves[i + 1].begin : lanes) - wave->begin;
        wave->exchange[0].active = wave->exchange[0].votes = 0;
        wave->exchange[1].active = wave->exchange[1].votes = 0;
    }
    all->barrier = 0;
    fiber_jump(&all->main, start_pass(all, 0));
}

void fibers_run(struct fibers *all, const struct fiber_work *work, uint64_t begin, uint64_t end,
                struct fiber_finding *finding)
{
    const uint32_t *grid = work->launch->grid;
    const bool same = memcmp(all->block, work->launch->block, sizeof(all->block)) == 0;
    if (!same)
        set_lanes(all, work->launch->block);
    if (!same || all->order != work->order || all->seed != work->seed)
        set_order(all, work->order, work->seed);
    all->body = work->body;
    all->finding = finding;
    all->group.launch = work->launch;
    all->main_stack = stack_current();
    for (uint64_t i = begin; i < end && !finding->found; ++i) {
        all->group.index[0] = (uint32_t)(i % grid[0]);
        all->group.index[1] = (uint32_t)(i / grid[0] % grid[1]);
        all->group.index[2] = (uint32_t)(i / grid[0] / grid[1]);
        if (work->before_group)
            work->before_group(work->context);
        run_group(all);
    }
    if (finding->found)
        make_contexts(all);
}
