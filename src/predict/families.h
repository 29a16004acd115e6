/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_FAMILIES_H
#define ROOFTILE_FAMILIES_H

#include "rooftile/describe.h"
#include "rooftile/expr.h"

#define FAMILY_NAMES 192

/* The text that a word is matched against. */
enum family_text { TEXT_OP, TEXT_KERNEL, TEXT_FAMILY, TEXT_TARGET };

/* A name whose value is 1 if the text matches one of these patterns, else 0. */
struct family_word {
    size_t slot;
    enum family_text text;
    const char *const *like;
    size_t count;
};

/* Either a name's value, or a loop over it: from `from`, by `step` (1), while it is below the limit. The loop
 * evaluates its formulas in each iteration, and they may change names defined before it. */
struct family_step {
    size_t slot;
    const struct expr *formula; /* NULL for a loop */
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
    bool is_product; /* runs on the matrix unit of its type; constants of other machines are better than none */
    bool multiplies; /* its FLOPs are products of its type, whichever unit executes them */
    struct prediction_spread spread; /* of raw predictions */
    const struct family_word *words;
    size_t word_count;
    const struct expr *flops, *bytes; /* lower bounds */
    const struct family_step *steps;
    size_t step_count;
    const struct family_term *terms;
    size_t term_count;
    const struct expr *time_us, *noted_if; /* `note` is added if `noted_if` is true; NULL: never */
    const char *note;
};

/* A machine as seen by the formulas. */
struct described_machine {
    const struct machine *machine;
    bool raw;             /* use the expected rates, not the vendor's */
    double peak_us;       /* FLOPs per microsecond of the unit for products; 0 unknown */
    const double *values; /* CONSTANT_COUNT values */
};

/* Stores the names and values that every formula may use (each unless NULL), and returns their number. */
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
const struct family *family_find(const struct families *families, const char *name); /* NULL if there is none */

/* Sets the inputs and words, after which flops and bytes can be evaluated; a value that is not finite is NaN. */
void family_start(double slots[FAMILY_NAMES], const struct family *family, const struct described *what,
                  const struct described_machine *on);
double family_value(const struct expr *formula, const double *slots);
/* Sets the terms, time_ns and the note. Returns false if a value is not finite. */
bool family_predict(struct prediction *prediction, const struct family *family, double slots[FAMILY_NAMES]);

#endif
