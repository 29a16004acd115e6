/* SPDX-License-Identifier: MIT
 *
 * Loads, stores and atomics on global memory, buffers and scratch: values, lines and latencies.
 */
#include <math.h>
#include <string.h>

#include "walk_internal.h"

/* ---- completions ---- */

/* A full queue stalls its wave until the oldest access completes. */
void queue_push(struct wave *wave, enum isa_counter queue, double done)
{
    if (wave->queue_count[queue] == QUEUE_ROOM)
        queue_wait(wave, queue, QUEUE_ROOM - 1);
    wave->queue[queue][(wave->queue_first[queue] + wave->queue_count[queue]++) % QUEUE_ROOM] = done;
}

void queue_wait(struct wave *wave, enum isa_counter queue, unsigned most)
{
    for (; wave->queue_count[queue] > most; wave->queue_count[queue]--) {
        const double done = wave->queue[queue][wave->queue_first[queue]];
        wave->queue_first[queue] = (wave->queue_first[queue] + 1) % QUEUE_ROOM;
        if (wave->time >= done || wave->completed) /* out-of-order memory does not delay the wave */
            continue;
        const bool memory = queue == COUNTER_LOAD || queue == COUNTER_STORE;
        *(memory ? &wave->sums.wait_memory_clocks : &wave->sums.wait_lds_clocks) += done - wave->time;
        wave->time = done;
    }
}

/* ---- addresses ---- */

/* Adds an SGPR or constant to all lanes; an absent operand adds 0. */
static bool add_scalar(struct addresses *at, const struct wave *wave, const struct isa_operand *operand)
{
    uint32_t value, known;
    if (operand->kind != OPERAND_SCALAR && operand->kind != OPERAND_CONSTANT)
        return true;
    scalar_get(wave, operand, 0, &value, &known);
    for (unsigned k = 0; k < LANES; k++)
        at->lanes[k] += value;
    return known == UINT32_MAX;
}

static void global_addresses(struct addresses *at, const struct wave *wave, const struct op *op)
{
    const struct isa_access *access = op->access;
    const struct isa_operand *base = operand_at(op, access->base), *address = operand_at(op, access->address);
    struct values low, high;
    uint64_t from = 0, from_known = UINT64_MAX;
    vector_get(&low, wave, address, 0);
    if (base->kind == OPERAND_SCALAR) {
        scalar_get64(wave, base, &from, &from_known);
        for (unsigned k = 0; k < LANES; k++)
            at->lanes[k] = from + low.lanes[k] + (uint64_t)access->offset;
        at->known = from_known == UINT64_MAX ? low.known : 0;
        at->buffer = from_known == UINT64_MAX ? memory_buffer(&wave->group->walker->memory, from) : NO_BUFFER;
        return;
    }
    vector_get(&high, wave, address, 1);
    for (unsigned k = 0; k < LANES; k++)
        at->lanes[k] = (low.lanes[k] | (uint64_t)high.lanes[k] << 32) + (uint64_t)access->offset;
    at->known = low.known & high.known;
    if (address->kind == OPERAND_VECTOR && address->first < wave->code->vectors && wave->origin[address->first])
        at->buffer = wave->origin[address->first] - 1u;
}

/* Each lane has its own scratch; where it lies does not matter. */
static void scratch_addresses(struct addresses *at, const struct wave *wave, const struct op *op)
{
    const struct isa_access *access = op->access;
    const struct isa_operand *address = operand_at(op, access->address);
    for (unsigned k = 0; k < LANES; k++)
        at->lanes[k] = (uint64_t)access->offset;
    at->known = UINT64_MAX;
    if (address->kind == OPERAND_VECTOR && (access->extra < 0 || access->offset_enable)) {
        struct values values;
        vector_get(&values, wave, address, 0);
        for (unsigned k = 0; k < LANES; k++)
            at->lanes[k] += values.lanes[k];
        at->known = values.known;
    }
    /* A kernel that calls nothing leaves the stack pointer uninitialised. */
    (void)add_scalar(at, wave, operand_at(op, access->extra >= 0 ? access->extra : access->base));
    for (unsigned k = 0; k < LANES; k++)
        at->lanes[k] = SCRATCH_BASE | (uint64_t)wave->number << 40 | (uint64_t)k << 32 | (uint32_t)at->lanes[k];
}

/* The descriptor has four words: base, stride, records. Swizzled buffers (a flag of two bits since gfx11) have
 * another layout, so their addresses are unknown. */
static void buffer_addresses(struct addresses *at, const struct wave *wave, const struct op *op)
{
    const struct isa_access *access = op->access;
    const struct isa_operand *base = operand_at(op, access->base), *address = operand_at(op, access->address);
    uint32_t words[4], known[4];
    struct values index = {.known = UINT64_MAX}, offset = {.known = UINT64_MAX};
    for (unsigned k = 0; k < 4; k++)
        scalar_get(wave, base, k, &words[k], &known[k]);
    const uint64_t from = words[0] | (uint64_t)(words[1] & 0xffff) << 32, stride = words[1] >> 16 & 0x3fff;
    const bool base_known = known[0] == UINT32_MAX && known[1] == UINT32_MAX;
    const bool has_two_bits = text_starts(wave->code->target, "gfx11") || text_starts(wave->code->target, "gfx12");
    const bool swizzles = words[1] >> (has_two_bits ? 30 : 31);
    if (access->index_enable)
        vector_get(&index, wave, address, 0);
    if (access->offset_enable)
        vector_get(&offset, wave, address, access->index_enable);
    at->known = base_known && !swizzles ? index.known & offset.known : 0;
    at->buffer = base_known ? memory_buffer(&wave->group->walker->memory, from) : NO_BUFFER;
    for (unsigned k = 0; k < LANES; k++) {
        const uint64_t inside = (access->offset_enable ? offset.lanes[k] : 0) + (uint64_t)access->offset;
        const uint64_t record = access->index_enable ? index.lanes[k] : 0;
        at->lanes[k] = from + inside + record * stride;
        if (known[2] == UINT32_MAX &&
            (access->index_enable && stride ? record >= words[2] : inside + access->bytes > words[2]))
            at->outside |= UINT64_C(1) << k;
    }
    if (!add_scalar(at, wave, operand_at(op, access->extra)))
        at->known = 0;
}

/* Lanes with an unknown address in a known buffer get a random element of that buffer. */
static void guess_addresses(struct addresses *at, struct wave *wave, const struct op *op)
{
    const struct walk_launch *launch = wave->group->walker->launch;
    const uint64_t missing = wave->exec & ~at->known & ~at->outside;
    if (!missing || at->buffer == NO_BUFFER)
        return;
    const struct walk_buffer *buffer = &launch->buffers[at->buffer];
    const uint64_t elements = buffer->size_bytes / op->access->bytes;
    for (unsigned k = 0; k < LANES && elements; k++) {
        if (!(missing >> k & 1))
            continue;
        (void)coin_toss(wave);
        at->lanes[k] = buffer->base + wave->random % elements * op->access->bytes;
    }
}

/* ---- lines ---- */

#define MOST_LINES (2 * LANES)
struct touched {
    uint64_t lines[MOST_LINES];
    unsigned count;
    uint8_t slots[256]; /* line number + 1 */
};

static void touch(struct touched *touched, uint64_t line)
{
    if (touched->count && touched->lines[touched->count - 1] == line)
        return;
    unsigned at = (unsigned)(line * UINT64_C(0x9E3779B97F4A7C15) >> 56);
    for (; touched->slots[at]; at = (at + 1) & 255)
        if (touched->lines[touched->slots[at] - 1] == line)
            return;
    if (touched->count == MOST_LINES)
        return;
    touched->lines[touched->count++] = line;
    touched->slots[at] = (uint8_t)touched->count;
}

/* Finds the level that holds a line, and its cost. The latency of a load is that of its slowest line. */
static double load_line(struct wave *wave, uint64_t line, struct walk_traffic *traffic)
{
    struct group *group = wave->group;
    const struct walker *walker = group->walker;
    const struct walk_clocks *clocks = &walker->options->clocks;
    const uint64_t way = lines_way(wave, line, traffic);
    traffic->loads++;
    if (lines_touch(&group->l1, line))
        return clocks->l1;
    traffic->l1_miss++;
    lines_step(traffic, way, walker->line_shift);
    const bool in_l2 = lines_touch(&group->l2, line);
    traffic->distinct += !lines_touch(&group->distinct, line);
    if (in_l2)
        return clocks->l2;
    if (walker->has_shared && lines_has(&walker->shared, line)) {
        traffic->shared++;
        return clocks->l2;
    }
    const bool for_all = walker->has_shared && lines_has(&walker->awaited, line);
    *(for_all ? &traffic->shared : &traffic->memory) += 1;
    return walker->options->warm ? clocks->l2 : clocks->memory;
}

static struct walk_traffic *traffic_at(struct wave *wave, uint64_t address)
{
    const struct walker *walker = wave->group->walker;
    const size_t buffer = memory_buffer(&walker->memory, address);
    return &wave->traffic[buffer == NO_BUFFER ? walker->launch->buffer_count : buffer];
}

/* Returns the clocks that an access occupies L1: the largest of one per line, the lanes' bytes, and the lines
 * fetched from L2. */
static double l1_clocks(const struct walk_options *options, double lines, double missed, double bytes)
{
    const double rate = options->clocks.l1_bytes, least = options->coalesced ? 1 : lines;
    const double filled = missed * options->line_bytes;
    return fmax(least, fmax(bytes, options->coalesced ? fmin(filled, bytes) : filled) / rate);
}

/* Waves of the workgroup take turns at L1. A wave that has jumped ahead in a loop does not delay the others. */
#define LONGEST_TURN 4096.0
static void move_lines(struct wave *wave, const struct op *op, const struct addresses *at)
{
    const struct walker *walker = wave->group->walker;
    const struct walk_clocks *clocks = &walker->options->clocks;
    const bool stores = op->access->kind != ACCESS_LOAD;
    const bool found = at->buffer != NO_BUFFER;
    const uint64_t here = wave->exec & ~at->outside & (found ? UINT64_MAX : at->known);
    const unsigned lost = (unsigned)__builtin_popcountll(wave->exec & ~at->outside & ~here);
    struct touched touched;
    double missed = stores ? 0 : lost, worst = here | lost ? stores ? clocks->l2 : clocks->l1 : 0;
    touched.count = 0;
    memset(touched.slots, 0, sizeof(touched.slots));
    for (uint64_t left = here; left; left &= left - 1) {
        const uint64_t address = at->lanes[__builtin_ctzll(left)];
        touch(&touched, address >> walker->line_shift);
        touch(&touched, (address + op->access->bytes - 1) >> walker->line_shift);
    }
    if (walker->only_lines) {
        for (unsigned k = 0; k < touched.count && !stores; k++)
            (void)lines_touch(&wave->group->distinct, touched.lines[k]);
        return;
    }
    for (unsigned k = 0; k < touched.count; k++) {
        const uint64_t line = touched.lines[k];
        struct walk_traffic *traffic = traffic_at(wave, line << walker->line_shift);
        const double latency = stores ? clocks->l2 : load_line(wave, line, traffic);
        /* L1 does not keep stored lines; a line evicted from L2 since its last store is written back again */
        if (stores) {
            traffic->stores++;
            lines_step(traffic, lines_way(wave, line, traffic), walker->line_shift);
            lines_drop(&wave->group->l1, line);
            const bool in_l2 = lines_touch(&wave->group->l2, line);
            traffic->stored += !lines_touch(&wave->group->stored, line) || !in_l2;
        }
        missed += !stores && latency > clocks->l1;
        worst = worst < latency ? latency : worst;
    }
    if (lost) { /* each lane with an unknown address accesses a separate line in memory */
        struct walk_traffic *traffic = &wave->traffic[walker->launch->buffer_count];
        *(stores ? &traffic->stores : &traffic->loads) += lost;
        *(stores ? &traffic->stored : &traffic->memory) += lost;
        traffic->l1_miss += stores ? 0 : lost;
        worst = stores ? clocks->l2 : clocks->memory;
    }
    const double lines = (double)touched.count + lost;
    const double lanes = __builtin_popcountll(wave->exec), bytes = op->access->bytes * lanes;
    const double busy = l1_clocks(walker->options, lines, missed, bytes);
    if (touched.count) {
        struct walk_traffic *traffic = traffic_at(wave, touched.lines[0] << walker->line_shift);
        *(stores ? &traffic->bytes_stored : &traffic->bytes_loaded) += bytes;
        traffic->contended += stores && lines_contend(wave, at->lanes[__builtin_ctzll(here)]);
    }
    wave->sums.l1_clocks += busy;
    wave->sums.accesses++;
    wave->sums.chased += op->is_chased;
    wave->sums.access_lines += lines;
    wave->sums.access_lanes += lanes;
    wave->sums.access_bytes += bytes;
    double *l1_free = &wave->group->l1_free;
    const double begin = *l1_free - wave->time < LONGEST_TURN ? fmax(wave->time, *l1_free) : wave->time;
    *l1_free = fmax(*l1_free, begin + busy);
    queue_push(wave, stores && wave->code->is_gfx10 && !op->access->returns ? COUNTER_STORE : COUNTER_LOAD,
               begin + worst + busy);
}

/* ---- values ---- */

/* Extracts 8 or 16 bits of a dword at an address, and extends them. */
uint32_t part_of(const struct isa_access *access, uint64_t address, uint32_t dword)
{
    const unsigned bits = 8u * access->bytes;
    if (bits >= 32)
        return dword;
    const uint32_t value = dword >> 8 * (address & 3) & ((1u << bits) - 1);
    return access->is_signed && value >> (bits - 1) ? value | UINT32_MAX << bits : value;
}

static bool word_read(const struct wave *wave, const struct op *op, uint64_t address, uint32_t *value)
{
    return op->class == WALK_LDS ? lds_read(wave->group, address / 4, value)
                                 : memory_read(&wave->group->walker->memory, address & ~UINT64_C(3), value);
}

static void word_write(struct wave *wave, const struct op *op, uint64_t address, uint32_t value, bool known)
{
    if (op->class == WALK_LDS)
        lds_write(wave->group, address / 4, value, known);
    else
        memory_write(&wave->group->walker->memory, address & ~UINT64_C(3), value, known);
}

void values_load(struct wave *wave, const struct op *op, const struct addresses *at, uint64_t lanes, unsigned first)
{
    const struct isa_access *access = op->access;
    for (unsigned part = 0; part < access->dwords; part++) {
        uint32_t result[LANES] = {0};
        uint64_t known = at->outside; /* out-of-bounds lanes read 0 */
        for (uint64_t left = lanes & ~at->outside; left; left &= left - 1) {
            const unsigned k = (unsigned)__builtin_ctzll(left);
            const uint64_t address = at->lanes[k] + 4 * part;
            uint32_t value;
            if ((address & 3) + (access->bytes < 4 ? access->bytes : 4u) > 4 || !word_read(wave, op, address, &value))
                continue;
            result[k] = part_of(access, address, value);
            known |= UINT64_C(1) << k;
        }
        if (access->high_half || access->low_half) /* the other half is preserved, which the walk does not model */
            known = 0;
        vector_set(wave, operand_at(op, access->destination), first + part, result, known);
    }
}

void values_store(struct wave *wave, const struct op *op, const struct addresses *at, int data)
{
    const struct isa_access *access = op->access;
    for (unsigned part = 0; part < access->dwords && !op->unneeded; part++) {
        struct values values;
        vector_get(&values, wave, operand_at(op, data), part);
        for (uint64_t left = wave->exec & at->known & ~at->outside; left; left &= left - 1) {
            const unsigned k = (unsigned)__builtin_ctzll(left);
            const uint64_t address = at->lanes[k] + 4 * part;
            uint32_t value = values.lanes[k], before = 0;
            bool known = values.known >> k & 1 && access->kind == ACCESS_STORE;
            if (access->bytes < 4) {
                const unsigned shift = 8u * (address & 3);
                const uint32_t mask = ((1u << 8 * access->bytes) - 1) << shift;
                known &= word_read(wave, op, address, &before);
                value = (before & ~mask) | ((access->high_half ? value >> 16 : value) << shift & mask);
            }
            word_write(wave, op, address, value, known && !(access->bytes >= 4 && address & 3));
        }
    }
}

static void load_values(struct wave *wave, const struct op *op, const struct addresses *at)
{
    const struct memory *memory = &wave->group->walker->memory;
    const uint64_t lanes = wave->exec & at->known;
    if (op->unneeded) {
        vector_forget(wave, operand_at(op, op->access->destination));
        return;
    }
    const unsigned some = lanes ? (unsigned)__builtin_ctzll(lanes) : 0;
    const unsigned other = lanes ? 63u - (unsigned)__builtin_clzll(lanes) : 0;
    const size_t buffer = lanes && op->in->space != ISA_SCRATCH ? memory_buffer(memory, at->lanes[some]) : NO_BUFFER;
    const bool blank = memory_is_blank(memory, buffer) && memory_buffer(memory, at->lanes[other]) == buffer;
    values_load(wave, op, at, blank ? 0 : lanes, 0);
}

static void mark_stored(struct wave *wave, const struct op *op, const struct addresses *at)
{
    struct walker *walker = wave->group->walker;
    for (uint64_t left = op->in->space == ISA_SCRATCH ? 0 : wave->exec & at->known & ~at->outside; left;
         left &= left - 1) {
        const size_t buffer = memory_buffer(&walker->memory, at->lanes[__builtin_ctzll(left)]);
        if (buffer != NO_BUFFER)
            walker->memory.stored[buffer] = walker->result->stored[buffer] = true;
    }
}

static void store_values(struct wave *wave, const struct op *op, const struct addresses *at)
{
    struct walker *walker = wave->group->walker;
    if (at->buffer != NO_BUFFER && (wave->exec & ~at->known))
        walker->memory.unknown[at->buffer] = walker->result->stored[at->buffer] = true;
    values_store(wave, op, at, op->access->data);
    mark_stored(wave, op, at);
}

/* ---- atomics ---- */

static uint32_t atomic_apply(unsigned operation, uint32_t old, uint32_t data, uint32_t other, bool *known)
{
    switch (operation) {
    case ATOMIC_ADD:
        return old + data;
    case ATOMIC_SUB:
        return old - data;
    case ATOMIC_AND:
        return old & data;
    case ATOMIC_OR:
        return old | data;
    case ATOMIC_XOR:
        return old ^ data;
    case ATOMIC_SWAP:
        return data;
    case ATOMIC_CMPSWAP:
        return old == other ? data : old;
    case ATOMIC_SMIN:
        return (int32_t)data < (int32_t)old ? data : old;
    case ATOMIC_SMAX:
        return (int32_t)data > (int32_t)old ? data : old;
    case ATOMIC_UMIN:
        return data < old ? data : old;
    case ATOMIC_UMAX:
        return data > old ? data : old;
    case ATOMIC_INC:
        return old >= data ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > data ? data : old - 1;
    default:
        *known = false;
        return 0;
    }
}

/* Executes the lanes in turn. Effects of other waves appear in the order in which the waves take turns. */
void values_atomic(struct wave *wave, const struct op *op, const struct addresses *at, int data, int other)
{
    const struct isa_access *access = op->access;
    struct values news, compared;
    uint32_t result[LANES] = {0};
    uint64_t result_known = 0;
    vector_get(&news, wave, operand_at(op, data), 0);
    vector_get(&compared, wave, operand_at(op, other), other == data && access->operation == ATOMIC_CMPSWAP);
    for (uint64_t left = wave->exec & at->known & ~at->outside; left; left &= left - 1) {
        const unsigned k = (unsigned)__builtin_ctzll(left);
        uint32_t old;
        bool known = word_read(wave, op, at->lanes[k], &old) && access->bytes == 4;
        result[k] = old;
        result_known |= (uint64_t)known << k;
        known &= news.known >> k & 1 && compared.known >> k & 1;
        const uint32_t value = atomic_apply(access->operation, old, news.lanes[k], compared.lanes[k], &known);
        for (unsigned part = 0; part < access->dwords; part++)
            word_write(wave, op, at->lanes[k] + 4 * part, part ? 0 : value, part ? false : known);
    }
    for (unsigned part = 0; access->returns && part < access->dwords; part++)
        vector_set(wave, operand_at(op, access->destination), part, result, part ? 0 : result_known);
}

/* If other workgroups use the same address, the old value is unknown unless all of them are walked. */
static void atomic_values(struct wave *wave, const struct op *op, const struct addresses *at)
{
    static const uint32_t none[LANES];
    const struct isa_access *access = op->access;
    if (wave->group->walker->options->every_group && access->bytes == 4) {
        values_atomic(wave, op, at, access->data, access->data);
        mark_stored(wave, op, at);
        return;
    }
    store_values(wave, op, at);
    for (unsigned part = 0; access->returns && part < access->dwords; part++)
        vector_set(wave, operand_at(op, access->destination), part, none, 0);
}

/* Counts lanes whose address is also used by other lanes of the wave or by other workgroups. */
static void count_conflicts(struct wave *wave, const struct addresses *at)
{
    const struct walker *walker = wave->group->walker;
    struct touched touched;
    touched.count = 0;
    memset(touched.slots, 0, sizeof(touched.slots));
    for (uint64_t left = wave->exec; left; left &= left - 1) {
        const uint64_t address = at->lanes[__builtin_ctzll(left)];
        const bool shared = lines_has(&walker->atomics, address);
        touch(&touched, address);
        wave->sums.atomic_shared += shared;
        wave->sums.atomic_places += !lines_touch(&wave->group->atomics, address) && shared;
    }
    wave->sums.atomics += (double)__builtin_popcountll(wave->exec);
    wave->sums.atomic_same += (double)__builtin_popcountll(wave->exec) - touched.count;
}

static void touch_scratch(struct wave *wave, const struct op *op)
{
    const struct walk_options *options = wave->group->walker->options;
    const enum isa_counter queue =
        op->access->kind == ACCESS_LOAD || !wave->code->is_gfx10 ? COUNTER_LOAD : COUNTER_STORE;
    const double bytes = (double)op->access->bytes * __builtin_popcountll(wave->exec);
    wave->sums.scratch++;
    if (!options->no_scratch) {
        wave->sums.l1_clocks += bytes / options->clocks.l1_bytes;
        wave->traffic[wave->group->walker->launch->buffer_count].stores +=
            op->access->kind == ACCESS_STORE ? bytes / options->line_bytes : 0;
    }
    queue_push(wave, queue, wave->time + (options->no_scratch ? 0 : options->clocks.l2));
}

void access_execute(struct wave *wave, const struct op *op)
{
    struct addresses at = {.buffer = NO_BUFFER};
    guess_matters(wave);
    if (op->in->space == ISA_SCRATCH)
        scratch_addresses(&at, wave, op);
    else if (op->access->is_buffer)
        buffer_addresses(&at, wave, op);
    else
        global_addresses(&at, wave, op);
    guess_addresses(&at, wave, op);
    if (wave->watching && op->in->space != ISA_SCRATCH)
        loop_accessed(wave, op, at.lanes, at.known, wave->exec & ~at.outside);
    if (op->in->space != ISA_SCRATCH)
        move_lines(wave, op, &at);
    else
        touch_scratch(wave, op);
    if (op->access->to_lds && wave->group->lds_known) /* unknown data goes to LDS from M0 on */
        memset(wave->group->lds_known, 0, (wave->group->lds_dwords / 64 + 1) * sizeof(*wave->group->lds_known));
    else if (op->access->kind == ACCESS_LOAD)
        load_values(wave, op, &at);
    else if (op->access->kind == ACCESS_STORE)
        store_values(wave, op, &at);
    else {
        count_conflicts(wave, &at);
        atomic_values(wave, op, &at);
    }
}
