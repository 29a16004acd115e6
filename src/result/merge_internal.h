/* SPDX-License-Identifier: MIT
 *
 * Shared by merge.c and merge_case.c only.
 */
#ifndef ROOFTILE_RESULT_MERGE_INTERNAL_H
#define ROOFTILE_RESULT_MERGE_INTERNAL_H

#include "rooftile/result.h"

/* What one part says about one case. */
struct merge_entry {
    const struct result_case *c;
    const struct result *part;
    const char *name;          /* of the part, for messages */
    const uint32_t *new_index; /* of the part's trials, in order */
    uint32_t trial;            /* new index of the part's first trial: entries are in this order */
    size_t position;           /* of the case in its part */
};

/* One case of all its entries (at least one). `trials` is of the whole run. */
enum status merge_case(struct result_case *out, const struct merge_entry *entries, size_t count, uint32_t trials,
                       struct arena *arena, struct err *err);

#endif
