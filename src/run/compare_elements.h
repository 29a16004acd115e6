/* SPDX-License-Identifier: MIT
 *
 * Comparing outputs with what they should be: |got - want| <= abs + rel * |want|, NaN and infinities always wrong.
 */
#ifndef ROOFTILE_COMPARE_ELEMENTS_H
#define ROOFTILE_COMPARE_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "rooftile/measurement.h"

struct comparison {
    double abs, rel; /* tolerances */
    double epsilon;  /* of the buffer's type; 1 for integers (an ulp is then a whole power of two) */
    uint64_t checked, wrong;
    uint64_t index; /* of the first wrong element */
    double got, want;
    double max_abs, max_rel, max_ulp;
};

/* Element k stands at index[k], or at first + k without an index. */
void comparison_add(struct comparison *comparison, const double *got, const double *want, const uint64_t *index,
                    uint64_t first, size_t count);
void comparison_merge(struct comparison *into, const struct comparison *part);
/* Adds one buffer's comparison to the case's verdict. */
void comparison_report(struct verification *out, const struct comparison *comparison, const char *buffer);

#endif
