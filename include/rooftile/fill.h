/* SPDX-License-Identifier: MIT
 *
 * Fills: the contents of a buffer before a launch. The same seed gives the same contents on every device and machine,
 * with any number of threads. Element k does not depend on how the buffer is split, so parts are filled in parallel,
 * and single elements can be computed for verification and predictions.
 */
#ifndef ROOFTILE_FILL_H
#define ROOFTILE_FILL_H

#include "rooftile/dtype.h"
#include "rooftile/expr.h"
#include "rooftile/manifest.h"

#define FILL_POISON 0xcd

/* Elements whose values were changed afterwards. */
enum { FILL_PATCHES = 8 };
struct fill_patch {
    uint64_t index;
    uint8_t raw[8];
};

/* A fill spec with its options evaluated, ready to produce elements. */
struct fill {
    enum fill_kind kind;
    enum dtype dtype;
    uint8_t poison; /* FILL_NONE: value of every byte */
    uint64_t count;
    uint64_t first; /* number of the first element, for expressions and distributions; 0 unless a later part */
    uint64_t seed;
    double options[FILL_MAX_OPTIONS];
    enum fill_dist dist;
    const struct expr *expr;
    const double *slots;
    const struct expr_arrays *arrays; /* of the case's buffers; NULL: the expression reads no arrays */
    const double *values;
    uint64_t value_count;
    const uint8_t *whole; /* the contents, for kinds that are generated as a whole (offsets, file) */
    struct fill_patch patches[FILL_PATCHES];
    size_t patch_count;
};

/* `spec` with FILL_NONE fills bytes of FILL_POISON. Errors: options out of range, expressions that fail,
 * values that do not fit the type, a file of the wrong size. Memory for sequential kinds comes from `arena`. */
enum status fill_init(struct fill *fill, const struct fill_spec *spec, enum dtype dtype, uint64_t count,
                      const double *slots, const struct expr_arrays *arrays, uint64_t seed, struct arena *arena,
                      struct err *err);

/* Writes elements [first, first + count) to `out`. Thread-safe. */
enum status fill_range(const struct fill *fill, void *out, uint64_t first, uint64_t count, struct err *err);

/* Replaces the element numbers in values[0 .. count), all below the fill's count, with the elements; NaN if one cannot
 * be computed. */
void fill_elements(double *values, const struct fill *fill, size_t count);

#endif
