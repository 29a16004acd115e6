/* SPDX-License-Identifier: MIT
 *
 * Models one wave in one iteration of a loop on AMD: issue time, dependences, waits, and the accesses in flight at each
 * wait. Follows three iterations in address order, of which the last counts, and called functions that are known.
 * Without a loop it is one pass through the whole kernel.
 *
 * Clocks of one SIMD: a wave issues an instruction every 4 on CDNA (64 lanes, 16 at a time), on RDNA every clock, for
 * 64 lanes in 2; a transcendental takes four times as long; matrix instructions are as in isa_matrix.c. On CDNA other
 * instructions issue while the matrix unit is busy, on RDNA they wait for it. Waits, and instructions that only control
 * the issue (s_nop, s_delay_alu, s_clause), take no issue slot.
 */

#include "isa_internal.h"

#define CDNA_CLOCKS 4.0
#define RDNA_LATENCY 5.0   /* until a result is available; on CDNA that is when the wave issues again */
#define MATRIX_PASSES 4.0  /* CDNA: after a matrix instruction's own time, in clocks of 4 (LLVM's scheduling model) */
#define MAX_IN_FLIGHT 256u /* accesses of a wave; counters have at most 6 bits */

/* ---- accesses in flight ---- */

struct flight {
    enum isa_counter counter;
    enum isa_kind kind;
    bool is_load;   /* or an atomic that returns a value */
    uint64_t bytes; /* of global memory, per lane */
    double at;      /* clock of issue */
    double trip;    /* round trips to memory completed by then */
};

struct machine {
    bool is_cdna;
    bool counts_stores; /* separately from loads: gfx10 and later */
    unsigned wave;
    double clock;
    double unit_free; /* when the matrix unit is free; negative: it has not been used yet */
    struct flight flying[MAX_IN_FLIGHT];
    size_t count;
    double trips; /* completed round trips to memory */
};

static void fly(struct machine *machine, const struct isa_instruction *in)
{
    const bool is_load = in->kind == ISA_LOAD || in->kind == ISA_SCALAR_MEMORY ||
                         (in->kind == ISA_ATOMIC && in->access && in->access->returns);
    const bool stores = machine->counts_stores && (in->kind == ISA_STORE || in->kind == ISA_SCRATCH_STORE);
    enum isa_counter counter = stores ? COUNTER_STORE : COUNTER_LOAD;
    if (in->space == ISA_LDS && text_starts(in->mnemonic, "ds_"))
        counter = COUNTER_LDS;
    else if (in->space == ISA_CONSTANT)
        counter = COUNTER_SCALAR;
    else if (in->space != ISA_GLOBAL && in->space != ISA_SCRATCH)
        return;
    if (machine->count == MAX_IN_FLIGHT)
        memmove(machine->flying, machine->flying + 1, --machine->count * sizeof(*machine->flying));
    machine->flying[machine->count++] = (struct flight){
        counter, in->kind, is_load, in->space == ISA_GLOBAL ? in->bytes : 0, machine->clock, machine->trips};
}

static void count_awaited(struct isa_wait *wait, const struct flight *access)
{
    const bool stores = access->kind == ISA_STORE || access->kind == ISA_SCRATCH_STORE;
    ++*(access->counter == COUNTER_LDS      ? &wait->lds
        : access->kind == ISA_SCALAR_MEMORY ? &wait->scalar
        : stores                            ? &wait->stores
                                            : &wait->loads);
    wait->bytes += access->bytes;
}

/* Scalar loads complete in any order, so only a wait for all of them has a known effect; LDS and vector memory complete
 * in order. */
static struct isa_wait land(struct machine *machine, const struct isa_instruction *in)
{
    struct isa_wait wait = {.address = in->address, .instruction = in, .clocks_since_issue = NAN};
    unsigned behind[COUNTERS] = {0};
    bool lands[MAX_IN_FLIGHT] = {false}, has_memory = false;
    for (size_t k = machine->count; k-- > 0;) {
        const struct flight *access = &machine->flying[k];
        const uint8_t allowed = in->wait[access->counter];
        lands[k] = behind[access->counter]++ >= allowed && allowed != NO_WAIT;
        wait.in_flight_bytes += access->bytes * machine->wave;
        const bool is_memory = access->counter == COUNTER_LOAD || access->counter == COUNTER_STORE;
        if (lands[k] && (isnan(wait.clocks_since_issue) || (is_memory && !has_memory)))
            wait.clocks_since_issue = machine->clock - access->at;
        has_memory |= lands[k] && is_memory;
        wait.ends_trip |= lands[k] && access->is_load && access->trip >= machine->trips;
    }
    machine->trips += wait.ends_trip;
    size_t kept = 0;
    for (size_t k = 0; k < machine->count; k++) {
        if (lands[k])
            count_awaited(&wait, &machine->flying[k]);
        else
            machine->flying[kept++] = machine->flying[k];
    }
    machine->count = kept;
    wait.drains = wait.bytes && wait.bytes * machine->wave == wait.in_flight_bytes;
    return wait;
}

/* ---- issue ---- */

static double vector_clocks(const struct machine *machine, const struct isa_instruction *in)
{
    const double each = machine->is_cdna ? CDNA_CLOCKS : machine->wave / 32.0;
    if (!isa_is_vector(in->kind) || in->space == ISA_LDS)
        return 0;
    return in->kind == ISA_TRANSCENDENTAL ? 4 * each : each;
}

/* ---- one loop ---- */

struct walk {
    struct isa_schedule *schedule;
    struct machine machine;
    struct isa_flow *depths;
    double deepest; /* clocks of the longest chain so far */
    struct arena *arena;
};

static void issue(struct walk *walk, const struct isa_instruction *in, bool counts)
{
    struct machine *machine = &walk->machine;
    fly(machine, in);
    if (in->kind == ISA_MATRIX) {
        /* A matrix instruction waits until the unit is free; idle time of the unit is a gap. */
        struct isa_schedule *schedule = walk->schedule;
        const double gap = machine->unit_free < 0 ? 0 : machine->clock - machine->unit_free;
        if (gap < 0)
            machine->clock = machine->unit_free;
        if (counts && gap > 0) {
            schedule->gap_clocks += gap;
            if (gap > schedule->largest_gap_clocks) {
                schedule->largest_gap_clocks = gap;
                schedule->largest_gap_address = in->address;
            }
        }
        machine->unit_free = machine->clock + in->matrix_cycles;
        machine->clock += machine->is_cdna ? CDNA_CLOCKS : fmax(in->matrix_cycles, 1);
    }
    const double vector = vector_clocks(machine, in);
    const bool is_scalar =
        in->kind == ISA_SCALAR || in->kind == ISA_SCALAR_MEMORY || in->kind == ISA_BRANCH || in->kind == ISA_BARRIER;
    if (in->kind != ISA_WAIT && in->kind != ISA_OTHER && in->kind != ISA_MATRIX)
        machine->clock += vector > 0 ? vector : machine->is_cdna ? CDNA_CLOCKS : is_scalar ? 1 : machine->wave / 32.0;
    walk->schedule->vector_clocks += counts ? vector : 0;
    walk->schedule->matrix_clocks += counts && in->kind == ISA_MATRIX ? in->matrix_cycles : 0;
}

/* Returns the index of the loop's next own instruction from i on, or with ISA_NO_LOOP of any; the count if there is
 * none. */
static size_t next_of(const struct isa_kernel *kernel, size_t loop, size_t i)
{
    while (loop != ISA_NO_LOOP && i < kernel->instruction_count && kernel->instructions[i].loop != loop)
        if (kernel->instructions[i++].address > kernel->loops[loop].last_address)
            return kernel->instruction_count;
    return i;
}

static size_t first_of(const struct isa_kernel *kernel, size_t loop)
{
    if (loop == ISA_NO_LOOP)
        return 0;
    return next_of(kernel, loop,
                   isa_find(kernel->instructions, kernel->instruction_count, kernel->loops[loop].first_address));
}

static void step(struct walk *walk, const struct isa_instruction *in, bool counts)
{
    const bool is_cdna = walk->machine.is_cdna;
    double own = in->kind == ISA_MATRIX ? in->matrix_cycles + (is_cdna ? MATRIX_PASSES * CDNA_CLOCKS : 0)
                                        : vector_clocks(&walk->machine, in);
    own = own > 0 && !is_cdna && in->kind != ISA_MATRIX ? fmax(own, RDNA_LATENCY) : own;
    walk->deepest = fmax(walk->deepest, isa_flow_step(walk->depths, in, own, true) + own);
    if (in->kind == ISA_WAIT) {
        const struct isa_wait wait = land(&walk->machine, in);
        if (counts && wait.loads + wait.stores + wait.lds + wait.scalar)
            ARENA_PUSH(walk->arena, walk->schedule->waits, walk->schedule->wait_count, wait);
    }
    issue(walk, in, counts);
}

static void follow_call(struct walk *walk, const struct isa_kernel *kernel, uint64_t target, bool counts,
                        unsigned depth)
{
    const struct isa_function *function = depth < ISA_CALL_DEPTH ? isa_function_at(kernel, target) : NULL;
    for (size_t i = 0; function && i < function->count; i++) {
        const struct isa_instruction *in = &kernel->instructions[function->first + i];
        step(walk, in, counts);
        if (in->is_call)
            follow_call(walk, kernel, in->target, counts, depth + 1);
    }
}

static void turn(struct walk *walk, const struct isa_kernel *kernel, size_t loop, bool counts)
{
    for (size_t i = first_of(kernel, loop); i < kernel->instruction_count; i = next_of(kernel, loop, i + 1)) {
        step(walk, &kernel->instructions[i], counts);
        if (kernel->instructions[i].is_call && loop != ISA_NO_LOOP) /* otherwise its code is in the pass */
            follow_call(walk, kernel, kernel->instructions[i].target, counts, 0);
    }
}

/* Returns the share of vector instructions after a comparison or mask that turns lanes off, until EXEC is set again. In
 * a loop that lanes leave one by one, all of them. */
static double masked_share(const struct isa_kernel *kernel, size_t loop)
{
    const uint64_t last = loop == ISA_NO_LOOP ? UINT64_MAX : kernel->loops[loop].last_address;
    uint64_t all = 0, masked = 0;
    bool is_masked = false;
    const bool narrows = loop != ISA_NO_LOOP && isa_loop_narrows(kernel, loop);
    for (size_t i = first_of(kernel, loop); i < kernel->instruction_count && kernel->instructions[i].address <= last;
         i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        const enum isa_exec exec = isa_exec_of(in);
        if (exec != ISA_EXEC_KEPT)
            is_masked = exec == ISA_EXEC_NARROWED;
        const bool is_own = loop == ISA_NO_LOOP || in->loop == loop;
        const bool counts = is_own && (isa_is_vector(in->kind) || in->space == ISA_GLOBAL);
        all += counts;
        masked += counts && (is_masked || narrows);
    }
    return all ? (double)masked / (double)all : 0;
}

void isa_schedule_find(struct isa_schedule *schedule, const struct isa_kernel *kernel, size_t loop, const char *target,
                       struct arena *arena)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct walk *walk = arena_alloc(&scratch, sizeof(*walk));
    *schedule = (struct isa_schedule){.masked_share = masked_share(kernel, loop), .ahead_share = NAN};
    *walk = (struct walk){.schedule = schedule, .machine.unit_free = -1, .arena = arena};
    walk->machine.is_cdna = text_starts(target, "gfx9");
    walk->machine.counts_stores = !walk->machine.is_cdna;
    walk->machine.wave = kernel->code.wave ? kernel->code.wave : 64;
    walk->depths = arena_alloc(&scratch, sizeof(*walk->depths));
    for (int before = 0; before < 2 && loop != ISA_NO_LOOP; before++)
        turn(walk, kernel, loop, false);
    const double deepest = walk->deepest, clock = walk->machine.clock, trips = walk->machine.trips;
    turn(walk, kernel, loop, true);
    schedule->chain_clocks = walk->deepest - deepest;
    schedule->issue_clocks = walk->machine.clock - clock;
    schedule->round_trips = walk->machine.trips - trips;
    if ((loop == ISA_NO_LOOP ? &kernel->mix : &kernel->loops[loop].own)->matrix_unknown)
        schedule->issue_clocks = schedule->matrix_clocks = schedule->chain_clocks = schedule->gap_clocks =
            schedule->largest_gap_clocks = NAN;
    FOR_EACH(struct isa_wait, wait, schedule->waits, schedule->wait_count) {
        if (wait->ends_trip && wait->loads)
            schedule->ahead_share = fmin(schedule->ahead_share, wait->clocks_since_issue / schedule->issue_clocks);
        if (isnan(schedule->issue_clocks))
            wait->clocks_since_issue = NAN;
    }
}
