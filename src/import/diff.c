/* SPDX-License-Identifier: MIT
 *
 * What changed from one import to the other: rows of one operator, shape, types and layout are the same row.
 */

#include "trace.h"

static uint32_t key_of(struct texts *keys, const struct import_row *row)
{
    SCOPED(text_release) struct text key = {0};
    text_addf(&key, "%s|%s|%s|%s|%s", row->operator, row->shape, row->dtype, row->total, row->layout);
    return texts_add(keys, key.data, key.length);
}

static double time_of(const struct import_row *row)
{
    return row && isfinite(row->total_ns) ? row->total_ns : 0;
}

static int by_difference(const void *a, const void *b)
{
    const struct import_change *x = a, *y = b;
    const double size_x = fabs(x->difference_ns), size_y = fabs(y->difference_ns);
    const struct import_row *row_x = x->after ? x->after : x->before, *row_y = y->after ? y->after : y->before;
    return ORDER(size_y, size_x) ?: strcmp(row_x->operator, row_y->operator) ?: strcmp(row_x->shape, row_y->shape);
}

void import_diff(struct import_change **out, size_t *count, const struct import *before, const struct import *after,
                 struct arena *arena)
{
    struct texts keys = {0};
    struct import_change *changes = arena_array(arena, before->row_count + after->row_count + 1, sizeof(*changes));
    for (size_t k = 0; k < before->row_count; k++)
        changes[key_of(&keys, &before->rows[k])].before = &before->rows[k];
    for (size_t k = 0; k < after->row_count; k++)
        changes[key_of(&keys, &after->rows[k])].after = &after->rows[k];
    FOR_EACH(struct import_change, c, changes, keys.count) {
        c->difference_ns = time_of(c->after) - time_of(c->before);
        c->change = c->before && c->after && time_of(c->before) > 0 ? c->difference_ns / time_of(c->before) : NAN;
    }
    *count = keys.count;
    qsort(changes, *count, sizeof(*changes), by_difference);
    *out = changes;
    texts_release(&keys);
}
