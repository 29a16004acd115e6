/* SPDX-License-Identifier: MIT */
#include "cpu_fiber.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_stacks.h"
#include "rooftile/arena.h"
#include "rooftile/rng.h"

/* The C entry points of Boost.Context, which has no C header (boost/context/detail/fcontext.hpp). */
struct transfer {
    void *context; /* of the fiber that jumped here */
    void *data;
};
extern struct transfer jump_fcontext(void *to, void *data);
extern void *make_fcontext(void *stack_top, size_t size, void (*function)(struct transfer));

/* One cache line at the top of its own stack: a switch touches few lines, all on one page. */
struct fiber {
    struct simt_lane lane; /* first: what the kernel module sees */
    struct fibers *all;
    struct wave *wave;
    void *context; /* where it stands while it does not run */
};
_Static_assert(sizeof(struct fiber) == 64, "a fiber is one cache line");

struct wave {
    uint32_t begin; /* first of its lanes in `live` */
    uint32_t count; /* lanes that have not returned */
    uint32_t turn;  /* which exchange the next operation uses */
    struct simt_exchange exchange[2];
};

enum { PREFETCH_LINES = 6 };

/* A place in the source where a lane waits; 0 is none. */
typedef uint64_t place;
enum { AT_BARRIER = 1, AT_WAVE_OPERATION = 2, AT_MASK = 3, AT_BITS = 2 };

struct fibers {
    uint32_t wave_lanes;
    uint32_t guard_limit; /* most guard pages: each costs the process two of its limited mappings */
    struct stacks stacks;
    uint32_t capacity;
    struct fiber **fibers; /* lane i of the workgroup is *fibers[i] */
    struct fiber main;     /* the pool thread itself */
    struct stack main_stack;

    /* Set for one workgroup shape and order. */
    uint32_t block[3];
    enum lane_order order;
    uint64_t seed;
    struct fiber **in_order; /* all lanes as they run: wave by wave */
    struct wave *waves;      /* as they run */
    uint32_t wave_count;

    /* The running workgroup. */
    struct simt_group group;
    void (*body)(struct simt_lane *lane);
    struct fiber **live; /* in_order without those that returned, each wave's at its own `begin`; one more at the end */
    uint32_t wave;       /* the one whose pass it is */
    uint32_t at;         /* the running lane's position in live */
    uint32_t end;        /* of the wave in live */
    uint32_t kept;       /* where the next lane that waits in this pass is put: lanes that return vanish */
    place pass;          /* where the lanes of this pass wait */
    place barrier;       /* where the waves before wait */
    struct fiber_finding *finding;
};

/* The address sanitizer wants to know; nobody else asks. */
static inline struct stack stack_of(const struct fiber *fiber)
{
    const struct fibers *all = fiber->all;
    return fiber == &all->main ? all->main_stack : stacks_holding(&all->stacks, fiber);
}

/* What waits is inlined into one function with one return: the first returns on another stack are mispredicted. */
#define INLINE __attribute__((always_inline)) static inline

#if defined(__AVX512F__) /* only in a build that asks for it */
#define CLOBBERS_AVX512                                                                                                \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",      \
        "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define CLOBBERS_AVX512
#endif

/* jump_fcontext leaves by a jump, not by a return, so after a call to it the processor predicts one return too few and
 * every return on the other stack is mispredicted (about 6 ns each). Entered by a jump, with its return address pushed
 * by hand, it keeps calls and returns paired: the other fiber returns to the same code as this one would. */
INLINE struct transfer enter_context(void *to, void *data)
{
#if defined(__x86_64__)
    struct transfer arrival;
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\t" /* the red zone may be in use */
                     "leaq 1f(%%rip), %%rax\n\t"
                     "pushq %%rax\n\t"
                     "jmp jump_fcontext@PLT\n"
                     "1:\tleaq 128(%%rsp), %%rsp"
                     : "=a"(arrival.context), "=d"(arrival.data), "+D"(to), "+S"(data)
                     :
                     : "rcx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
                       "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15" CLOBBERS_AVX512);
    return arrival;
#else
    return jump_fcontext(to, data);
#endif
}

INLINE void fiber_jump(struct fiber *from, struct fiber *to)
{
    void *const fake = stack_leave(stack_of(to));
    const struct transfer arrival = enter_context(to->context, from);
    ((struct fiber *)arrival.data)->context = arrival.context;
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

/* Records that the workgroup is given up: its fibers stay where they stand, until they are made anew. */
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

/* Every lane of the running wave waits or has returned: who runs now? */
__attribute__((noinline)) static struct fiber *end_pass(struct fibers *all)
{
    struct wave *wave = &all->waves[all->wave];
    wave->count = all->kept - wave->begin;
    if ((all->pass & AT_MASK) == AT_WAVE_OPERATION) {
        /* All have read what came before this operation: its exchange is free for the next one. */
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

/* Lanes of a large workgroup do not stay in L1 between their turns: while one runs, the next one's struct and the
 * frames below it come from L2. */
INLINE void prefetch(const struct fiber *fiber)
{
    const uintptr_t top = (uintptr_t)fiber; /* a number: behind the last lane there may be none */
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

/* Runs its lane of one workgroup after the other; is never left. */
static void fiber_main(struct transfer arrival)
{
    struct fiber *from = arrival.data;
    struct fibers *all = from->all;
    from->context = arrival.context;
    stack_arrive(NULL);
    struct fiber *self = all->live[all->at];
    for (;;) {
        all->body(&self->lane);
        fiber_jump(self, next_lane(all));
    }
}

/* Every lane starts anew on its stack, whatever stood there. */
static void make_contexts(struct fibers *all)
{
    for (uint32_t i = 0; i < all->capacity; ++i) {
        const struct stack stack = stacks_at(&all->stacks, i);
        struct fiber *fiber = all->fibers[i];
        stack_clear(stack);
        fiber->context = make_fcontext(fiber, (size_t)((char *)fiber - (char *)stack.bottom), fiber_main);
    }
}

static void *new_array(size_t count, size_t size)
{
    void *array = calloc(count, size);
    if (!array)
        arena_out_of_memory(count * size);
    return array;
}

/* jump_fcontext saves and restores MXCSR, and restoring another value than the current one costs 50 ns on Intel cores.
 * The lanes' values would differ in the sticky exception flags, which nobody reads: with all of them set they cannot.
 */
static uint32_t hold_float_flags(void)
{
#if defined(__x86_64__)
    const uint32_t before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x3f);
    return before;
#else
    return 0;
#endif
}

static void release_float_flags(uint32_t before)
{
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(before);
#else
    (void)before;
#endif
}

struct fibers *fibers_new(uint32_t wave, uint32_t pool_threads)
{
    struct fibers *all = new_array(1, sizeof(*all));
    all->wave_lanes = wave;
    all->guard_limit = STACKS_GUARD_BUDGET / pool_threads;
    all->main.all = all;
    return all;
}

static void release_arrays(struct fibers *all)
{
    stacks_release(&all->stacks);
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
    all->fibers = new_array(lanes, sizeof(struct fiber *));
    all->in_order = new_array(lanes, sizeof(struct fiber *));
    all->live = new_array(lanes + 1, sizeof(struct fiber *));
    all->waves = new_array((lanes + all->wave_lanes - 1) / all->wave_lanes, sizeof(*all->waves));
    all->block[0] = 0; /* no shape is set */
    for (uint32_t i = 0; i < lanes; ++i) {
        const struct stack stack = stacks_at(&stacks, i);
        all->fibers[i] = (struct fiber *)((char *)stack.bottom + stack.size) - 1;
    }
    const uint32_t flags = hold_float_flags(); /* new contexts inherit them */
    make_contexts(all);
    release_float_flags(flags);
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

/* Writes the numbers 0 .. count - 1 in the order asked for. */
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

/* Waves in the order asked for, and in each its lanes. */
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

static void set_shape(struct fibers *all, const struct fiber_work *work)
{
    const bool same = memcmp(all->block, work->launch->block, sizeof(all->block)) == 0;
    if (!same)
        set_lanes(all, work->launch->block);
    if (!same || all->order != work->order || all->seed != work->seed)
        set_order(all, work->order, work->seed);
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
    set_shape(all, work);
    all->body = work->body;
    all->finding = finding;
    all->group.launch = work->launch;
    all->main_stack = stack_current();
    const uint32_t flags = hold_float_flags();
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
    release_float_flags(flags);
}
