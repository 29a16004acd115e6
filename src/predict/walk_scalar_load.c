/* SPDX-License-Identifier: MIT
 *
 * Scalar loads: values, and hits in the scalar cache.
 */
#include "walk_internal.h"

#define SCALAR_LINE 64u

/* s_load d, base [, s] [offset]; of s_buffer_load the base is in a descriptor. */
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
    bool hit = true;
    for (unsigned k = 0; k < op->access->dwords; k++) {
        uint32_t value = 0;
        const uint64_t address = base + inside + 4 * k;
        bool got = is_known && (inside + 4 * k >= limit || memory_read(memory, address & ~UINT64_C(3), &value));
        value = part_of(op->access, address, value);
        scalar_set(wave, &op->operands[0], k, value, got ? UINT32_MAX : 0);
        if (is_known)
            hit &= lines_touch(&wave->group->scalar, address / SCALAR_LINE);
    }
    queue_push(wave, wave->code->is_gfx12 ? QUEUE_SCALAR : QUEUE_LDS,
               wave->time + (hit ? clocks->scalar_load : clocks->l2));
}
