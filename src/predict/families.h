/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_FAMILIES_H
#define ROOFTILE_FAMILIES_H

#include "rooftile/describe.h"
#include "rooftile/expr.h"

#define FAMILY_NAMES 192

/* What words look at. */
enum family_text { TEXT_OP, TEXT_KERNEL, TEXT_FAMILY, TEXT_TARGET };

/* A name that is 1 where the text is like one of these patterns, else 0. */
struct family_word {
    size_t slot;
    enum family_text text;
    const char *const *like;
    size_t count;
};

/* A name's value, or a loop over it: from, from + step (1) ... while it is below, with formulas that are computed in
 * each turn and may change names from before the loop. */
struct family_step {
    size_t slot;
    const struct expr *formula; /* NULL: a loop */
    const struct family_loop {
        const struct expr *from, *below, *step;
        const struct family_step *steps;
        size_t count;
    } * loop;
};

struct family_term {
    enum prediction_term term;
    const struct expr *formula; /* microseconds */
};

struct family {
    const char *const *names;
    size_t name_count;
    const char *source;
    bool is_product; /* on the matrix unit of its type; constants of other machines do better than none */
    bool multiplies; /* its FLOPs are products of its type, whatever unit computes them */
    struct prediction_spread spread; /* of raw predictions */
    const struct family_word *words;
    size_t word_count;
    const struct expr *flops, *bytes; /* that it takes at least */
    const struct family_step *steps;
    size_t step_count;
    const struct family_term *terms;
    size_t term_count;
    const struct expr *time_us, *noted_if; /* `note` where that is true; NULL: never */
    const char *note;
};

/* A machine as the formulas see it. */
struct described_machine {
    const struct machine *machine;
    bool raw;             /* the rates that are to be expected, not the vendor's */
    double peak_us;       /* FLOPs in a microsecond of a product's unit; 0 unknown */
    const double *values; /* CONSTANT_COUNT of them */
};

/* Names (unless NULL) and values (unless NULL) that every formula may use; how many there are. */
struct family_input {
    const struct described *what;
    const struct described_machine *on;
};
size_t family_inputs(const char **names, double *values, const struct family_input *of);

struct families {
    const struct family *items;
    size_t count;
};
enum status families_read(struct families *families, const char *path, struct arena *arena, struct err *err);
const struct family *family_find(const struct families *families, const char *name); /* NULL: there is none */

/* Sets the inputs and words; then flops and bytes have values, NaN where they are not finite. */
void family_start(double slots[FAMILY_NAMES], const struct family *family, const struct described *what,
                  const struct described_machine *on);
double family_value(const struct expr *formula, const double *slots);
/* Sets the terms, time_ns and the note. False: something is not finite. */
bool family_predict(struct prediction *prediction, const struct family *family, double slots[FAMILY_NAMES]);

#endif
