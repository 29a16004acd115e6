/* SPDX-License-Identifier: MIT
 *
 * Scalar loads: values, and hits in the scalar cache.
 */
#include <math.h>

#include "walk_internal.h"

#define SCALAR_LINE 64u

/* Returns the clocks of a scalar cache miss. Arguments and code hit L2; a line of a buffer hits L2 if the workgroup
 * or a neighbour has read it. An unknown address misses. */
static double miss_clocks(struct wave *wave, uint64_t address, bool is_known)
{
    struct group *group = wave->group;
    const struct walker *walker = group->walker;
    const uint64_t line = address >> walker->line_shift;
    const bool in_l2 =
        is_known && (memory_buffer(&walker->memory, address) == NO_BUFFER || lines_touch(&group->l2, line) ||
                     (walker->has_shared && lines_has(&walker->shared, line)));
    return in_l2 || walker->options->warm ? walker->options->clocks.l2 : walker->options->clocks.memory;
}

/* s_load d, base [, s] [offset]; s_buffer_load has its base in a descriptor. */
void scalar_load_execute(struct wave *wave, const struct op *op)
{
    const struct walk_clocks *clocks = &wave->group->walker->options->clocks;
    struct memory *memory = &wave->group->walker->memory;
    uint64_t base, known, limit = UINT64_MAX;
    uint32_t more = 0, more_known = UINT32_MAX, records, records_known;
    scalar_get64(wave, &op->operands[1], &base, &known);
    if (op->meaning && op->meaning->detail) {
        base &= UINT64_C(0xffffffffffff);
        scalar_get(wave, &op->operands[1], 2, &records, &records_known);
        limit = records_known == UINT32_MAX ? records : limit;
    }
    if (op->operand_count > 2)
        scalar_get(wave, &op->operands[2], 0, &more, &more_known);
    const uint64_t inside = more + (uint64_t)op->access->offset;
    const bool is_known = known == UINT64_MAX && more_known == UINT32_MAX;
    const uint64_t lanes[LANES] = {base + inside};
    if (wave->watching)
        loop_accessed(wave, op, lanes, is_known, 1);
    double latency = is_known ? clocks->scalar_load : miss_clocks(wave, 0, false);
    for (unsigned k = 0; k < op->access->dwords; k++) {
        uint32_t value = 0;
        const uint64_t address = base + inside + 4 * k;
        bool got = is_known && (inside + 4 * k >= limit || memory_read(memory, address & ~UINT64_C(3), &value));
        value = part_of(op->access, address, value);
        scalar_set(wave, &op->operands[0], k, value, got ? UINT32_MAX : 0);
        if (is_known && !lines_touch(&wave->group->scalar, address / SCALAR_LINE))
            latency = fmax(latency, miss_clocks(wave, address, true));
    }
    queue_push(wave, wave->code->is_gfx12 ? COUNTER_SCALAR : COUNTER_LDS, wave->time + latency);
}
