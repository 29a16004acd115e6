/* SPDX-License-Identifier: MIT
 *
 * What bind.c and resolve_steps.c share: the case being bound, and where a complaint about it points.
 */
#ifndef ROOFTILE_RESOLVE_INTERNAL_H
#define ROOFTILE_RESOLVE_INTERNAL_H

#include "rooftile/plan.h"

/* Sizes are whole numbers that a double holds exactly. */
#define RESOLVE_MAX_SIZE 0x1p53

struct resolve {
    struct resolved *resolved;
    const struct manifest *manifest;
    const struct device_facts *device;
    struct arena *arena;
    struct err *err;
};

/* A place in the manifest. Looked up only when something is wrong with it. */
struct place {
    const struct json *at;
    const char *key; /* member of `at`; NULL: `at` itself */
    int element;     /* of that member when it is an array; -1: the member itself */
};

enum status resolve_fail(const struct resolve *resolve, const struct place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The value of an expression that may be absent. */
enum status resolve_number(double *value, const struct resolve *resolve, const struct expr *expr, double absent,
                           const struct place *place);
/* The same for a size, offset or count: whole, not negative, below 2^53. */
enum status resolve_size(uint64_t *value, const struct resolve *resolve, const struct expr *expr, uint64_t absent,
                         const struct place *place);
enum status resolve_text(char **text, const struct resolve *resolve, const struct text_template *template,
                         const struct place *place);
enum status resolve_dtype(enum dtype *dtype, const struct resolve *resolve, const struct text_template *template,
                          const struct place *place);

/* Steps whose repeat count is not zero; needs bound->buffers. */
enum status resolve_steps(struct resolved_step **steps, size_t *count, const struct resolve *resolve,
                          const struct manifest_step *source, size_t source_count);

/* ---- timing.c ---- */

/* Of steps that are bound. */
struct timing timing_of(const struct resolved *resolved);
/* ERR_CONFIG: this timer would not see what the case times. */
enum status timing_check(const struct resolved *resolved, enum timer_choice timer, struct err *err);

/* resolve_manifest with slots that the caller has filled; `values` and `slots` must live as long as `bound`. */
enum status resolve_slots(struct resolved *resolved, const struct manifest *manifest, const struct param_value *values,
                          const double *slots, const struct device_facts *device, struct arena *arena, struct err *err);

#endif
