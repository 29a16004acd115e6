/* SPDX-License-Identifier: MIT
 *
 * Fills: the contents of a buffer before the first launch, and the expected contents of an output, as written in
 * manifests.
 */
#ifndef ROOFTILE_FILL_SPEC_H
#define ROOFTILE_FILL_SPEC_H

#include "rooftile/expr.h"

struct text_template;

/* Generators are rows of one C table: generator_table in src/manifest/buffers.c has names and options, fill.c makes
 * the elements.
 *   expr                     a value per element, expression in i
 *   zeros
 *   uniform  low high pairs  [low, high), float or integer
 *   normal   mean sd pairs   for both: with pairs 1 an odd element equals the even one before it, with -1 it is its
 *                            negative, so that sums of products cancel; with 0 all are drawn
 *   ring     stride          one random cycle through all slots of `stride` bytes (pointer chase). The element at slot
 *                            s holds the ELEMENT index of the next slot; elements between slots are 0
 *   permutation              0..count-1 shuffled
 *   index    bound dist ...  indices below `bound`: dist uniform | zipf (s) | blocked (block) | permutation (each once;
 *                            count <= bound)
 *   offsets  total dist ...  count values: 0, then prefix sums of count-1 lengths that add to `total`
 *   values   values          a list, repeated
 *   file     path            raw bytes relative to the manifest, exactly the buffer's size
 * All take an optional "seed"; the run's --seed and the buffer's name give the default. A buffer's "dist" may be a
 * template, "{dist}" with a parameter of that name, so that it can be swept; then options of every possible
 * distribution are allowed. */
enum fill_kind {
    FILL_NONE,
    FILL_EXPR,
    FILL_ZEROS,
    FILL_UNIFORM,
    FILL_NORMAL,
    FILL_RING,
    FILL_PERMUTATION,
    FILL_INDEX,
    FILL_OFFSETS,
    FILL_VALUES,
    FILL_FILE
};
enum fill_dist { DIST_UNIFORM, DIST_ZIPF, DIST_BLOCKED, DIST_EQUAL, DIST_SKEWED, DIST_PERMUTATION };
#define FILL_MAX_OPTIONS 4
/* Indexes of a generator's options in fill_spec.options. */
enum {
    FILL_LOW = 0,
    FILL_HIGH = 1, /* uniform */
    FILL_MEAN = 0,
    FILL_SD = 1,     /* normal */
    FILL_PAIRS = 2,  /* uniform, normal */
    FILL_STRIDE = 0, /* ring */
    FILL_BOUND = 0,
    FILL_S = 1,
    FILL_BLOCK = 2, /* index */
    FILL_TOTAL = 0,
    FILL_SKEW = 1 /* offsets: lengths fall as rank^-skew with dist skewed */
};
struct fill_option {
    const char *name;
    bool required;
    double fallback; /* value if absent */
    unsigned dists;  /* the distributions that have the option (bits as in struct generator); 0: all */
};
struct generator {
    const char *name;
    enum fill_kind kind;
    struct fill_option options[FILL_MAX_OPTIONS]; /* ends at the first without a name */
    unsigned dists;                               /* bit 1 << enum fill_dist for each supported; 0: no "dist" */
    enum fill_dist dist;                          /* value if "dist" is absent */
};
const struct generator *generator_of(enum fill_kind kind); /* NULL for FILL_NONE and FILL_EXPR */
/* Finds the generator's distribution with this name. ERR_CONFIG lists the known ones. */
enum status generator_dist(enum fill_dist *dist, const struct generator *generator, const char *name, struct err *err);
struct fill_spec {
    enum fill_kind kind;
    const struct expr *expr;                      /* FILL_EXPR */
    const struct expr *options[FILL_MAX_OPTIONS]; /* in the order of the generator's row; NULL = default */
    enum fill_dist dist;
    const struct text_template *dist_text; /* computes the case's dist, see resolved_buffer; NULL: `dist` applies */
    const double *values;                  /* FILL_VALUES */
    size_t value_count;
    const char *path; /* FILL_FILE, resolved */
    uint64_t seed;    /* 0: derived */
};

#endif
