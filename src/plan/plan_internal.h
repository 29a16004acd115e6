/* SPDX-License-Identifier: MIT
 *
 * Shared declarations of src/plan. Data flow: suites -> expansions (which values) -> cases (resolved) -> codes,
 * references, estimates, labels.
 */
#ifndef ROOFTILE_PLAN_INTERNAL_H
#define ROOFTILE_PLAN_INTERNAL_H

#include "rooftile/plan.h"
#include "rooftile/record.h"

/* ---- sweep.c ---- */

/* Reads one value in a suite: a string as on the command line, a number, or a list of numbers. */
enum status sweep_value_from_json(struct param_value *value, const cJSON *json, struct arena *arena, struct err *err);

/* ---- suite.c ---- */

extern const struct record suite_params; /* for a "params" object: struct param */
/* Returns the zip group that names the parameter, or SIZE_MAX. */
size_t suite_zip_of(const struct suite_case *suite_case, const char *param);

/* ---- suite_figures.c ---- */

extern const struct record suite_derives, suite_kpis; /* struct suite_derive, struct suite_kpi */

/* ---- plan_values.c: arrays ---- */

/* Concatenates two arrays in new memory. */
void *joined(struct arena *arena, const void *first, size_t first_count, const void *second, size_t second_count,
             size_t size);

/* ---- plan_values.c: lookup by key ---- */

/* Numbers items from 0 on, in the order in which their keys are added. A key may contain any bytes. */
#define INDEX_NONE SIZE_MAX
struct key_index {
    struct key_slot *slots;
    size_t capacity, count;
};
/* Returns the number of the item with this key, or INDEX_NONE. */
size_t index_find(const struct key_index *index, const char *key, size_t length);
/* Adds an item and returns its number. The key must be new and must live as long as the index. */
size_t index_add(struct key_index *index, const char *key, size_t length);
void index_release(struct key_index *index);

/* Appends a text (NULL differs from "") or a value to a key. Equal keys mean equal items. */
void key_add_text(struct text *key, const char *string);
void key_add_value(struct text *key, const struct param_value *value);

/* ---- plan_values.c: parameter values ---- */

/* Converts a value given by a user to its parameter's kind, and checks it against the parameter's limits. ERR_CONFIG
 * without a position. */
enum status value_fit(struct param_value *value, const struct param *param, struct arena *arena, struct err *err);
/* ERR_UNSUPPORTED if a default that depends on the device is outside the parameter's limits on that device. */
enum status values_check_asked(const struct manifest *manifest, const struct param_value *values, struct err *err);
/* Finds the parameter's index. ERR_CONFIG with a did-you-mean, without a position. */
enum status param_find(size_t *param, const struct manifest *manifest, const char *name, struct err *err);

/* ---- plan_expand.c: which values a suite case takes ---- */

/* A suite's case and its kernel. */
struct entry {
    const struct suite *suite;
    const struct suite_case *suite_case;
    const struct manifest *manifest;
    bool selected; /* at least one combination of its values passed the filters */
};

/* The source of a given value. Cases made from a result's id have neither member. */
struct origin {
    bool given; /* otherwise the manifest's default */
    const cJSON *at;
    const char *set; /* the text of --set */
};

struct expansion {
    const struct manifest *manifest; /* the entry's, as is the next */
    const struct suite_case *suite_case;
    struct entry *entry;
    struct param_value *values; /* current combination, one per parameter; converted to its kind when it is used */
    const char **asks;          /* expressions that depend on the device, "{4 * device.last_cache}"; else NULL */
    const char *unknown;        /* why a value of the current combination cannot be known here; NULL: all are known */
    bool undecided;             /* `unknown` concerns an exclude: the values themselves are known */
    const char **texts;         /* canonical texts, rewritten only when the value changes */
    struct origin *origins;
    struct swept {
        size_t param;
        const struct sweep *sweep;
        size_t axis;
    } * swept;
    size_t swept_count;
    size_t *axis_counts;
    size_t *positions; /* of the current combination */
    size_t axis_count;
    size_t combinations;
    const struct expr **excludes;
};

/* The --set options, parsed once. */
struct set_list {
    struct sweep *sweeps;
    size_t count;
};

struct planner;
/* Initializes everything but the texts of the values. */
enum status expansion_init(struct expansion *expansion, struct entry *entry, const struct planner *planner,
                           const struct set_list *sets, struct arena *arena, struct err *err);
/* Moves to the first combination. */
void expansion_start(struct expansion *expansion, struct arena *arena);
/* Moves to the next combination; the last axis varies fastest. False after the last one. */
bool expansion_next(struct expansion *expansion, struct arena *arena);
/* Computes the values that depend on the device: rounded down to whole numbers if the parameter's default is one, and
 * to the next lower limit if the parameter has limits. An unknown device fact makes a value NaN and is reported in
 * `unknown`. Values and texts live until `scratch` is emptied. */
enum status expansion_ask(struct expansion *expansion, const struct device_facts *device, struct arena *scratch,
                          struct err *err);
/* Tells whether an exclude expression holds. One that uses an unknown fact does not hold, and sets `unknown`.
 * ERR_CONFIG if an expression cannot be evaluated. */
enum status expansion_excludes(bool *excluded, struct expansion *expansion, const struct device_facts *device,
                               struct arena *scratch, struct err *err);
/* Fails with "file:line:column: /pointer: text" for a value in a suite, and "--set name=value: text" for the command
 * line. */
enum status origin_fail(const struct origin *origin, struct err *err, const char *text);

enum status set_list_init(struct set_list *sets, const char *const *texts, size_t count, struct arena *arena,
                          struct err *err);

/* ---- plan.c: the plan being built ---- */

struct planner {
    const struct catalog *catalog;
    const struct machine *machine;
    const struct device_facts *device;
    const struct device_facts *cpu; /* references run on it */
    const struct plan_options *options;
    struct arena *arena;  /* lives as long as the plan */
    struct arena scratch; /* lives during planning */
    struct arena once;    /* for one case, emptied before the next */
    struct text key;      /* buffer for building one key */
    struct plan_case *cases;
    size_t combination;             /* number of the current one */
    struct key_index ids;           /* maps ids to case numbers */
    struct build_request *requests; /* the plan's codes ... */
    struct key_index requested;     /* ... by content: different kernels or values may need the same code */
    size_t *codes;                  /* codes by requester, so that nothing is rendered twice */
    struct key_index asked;
    struct variant {
        const struct resolved *resolved;
        const struct plan_reference *reference;
    } * variants;
    struct key_index variant_keys;
    struct planned_kernel *kernels;
    size_t kernel_count;
};

/* What is known about a kernel, independent of its parameters' values. */
struct planned_kernel {
    const struct manifest *manifest;
    bool *compiled; /* per parameter: is it compiled into the code? */
    bool *varies;   /* per parameter: does it differ between the plan's cases? */
    bool mode_varies;
    const struct plan_case *first; /* first of those cases; set when they are labelled */
};
/* The result is valid until the next call. */
struct planned_kernel *kernel_of(struct planner *planner, const struct manifest *manifest);

/* ---- plan_expand.c: suites checked against the catalog ---- */

/* Makes one entry per case of each suite. ERR_USAGE if they have more than SUITE_MAX_CASES combinations; this is
 * checked before memory for cases is allocated. */
enum status entries_make(struct entry **entries, size_t *count, struct planner *planner,
                         const struct suite *const *suites, size_t suite_count, const struct set_list *sets,
                         struct err *err);
/* Fails for a default that no kernel of its suite has, or a --set that no selected kernel has: a typing error. */
enum status entries_check_used(const struct entry *entries, size_t count, const struct suite *const *suites,
                               size_t suite_count, const struct set_list *sets, struct err *err);

/* ---- plan_codes.c ---- */

/* Finds the code of each launch, and sets code, codes and code_count of `resolved`; equal codes are shared. `id` names
 * the case in messages. */
enum status codes_add(struct planner *planner, struct resolved *resolved, bool for_cpu, const char *id,
                      const struct manifest_twin *twin, struct err *err);

/* ---- plan_verify.c ---- */

/* Chooses how the case is verified: sets verify, variant and reference. An error makes the case invalid (or
 * skipped). */
enum status verify_choose(struct planner *planner, struct plan_case *plan_case, struct err *err);
/* Returns the operations and bytes of a reference; each costs about one nanosecond on the CPU device. */
double reference_cost(const struct plan_reference *reference);

/* ---- plan_values.c, suite_figures.c ---- */

/* Writes "kernel/param=value;...;mode=hot" from the values' texts. */
void case_id(struct text *id, const struct manifest *manifest, const char *const *texts, enum cache_mode cache);
void label_cases(struct planner *planner);
enum status derives_check(const struct suite *suite, const struct catalog *catalog, struct err *err);

/* ---- resolve.c: a manifest with given values ---- */

/* Sizes are integers that a double represents exactly. */
#define RESOLVE_MAX_SIZE 0x1p53

struct resolve {
    struct resolved *resolved;
    const struct manifest *manifest;
    const struct device_facts *device;
    double *slots;  /* resolved_slots; indexes of steps change while the steps are resolved */
    size_t *rounds; /* of indexes so far */
    struct arena *arena;
    struct arena *scratch;
    struct err *err;
};

/* Fails at this value of the manifest; NULL: at none. */
enum status resolve_fail(const struct resolve *resolve, const cJSON *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Evaluates an expression; a missing one has the value `absent`. */
enum status resolve_number(double *value, const struct resolve *resolve, const struct expr *expr, double absent);
/* Like resolve_number, for a size, offset or count: a whole number, not negative, below 2^53. */
enum status resolve_size(uint64_t *value, const struct resolve *resolve, const struct expr *expr, uint64_t absent);
enum status resolve_text(char **text, const struct resolve *resolve, const struct text_template *template);
enum status resolve_dtype(enum dtype *dtype, const struct resolve *resolve, const struct text_template *template);

/* Resolves the steps whose repeat count is not zero; needs resolved->buffers. */
enum status resolve_steps(struct resolved_step **steps, size_t *count, const struct resolve *resolve,
                          const struct manifest_step *source, size_t source_count);

/* ---- timing.c ---- */

/* Derives the timing from resolved steps. ERR_CONFIG if they cannot be timed. */
enum status timing_of(struct timing *timing, const struct resolve *resolve);
/* ERR_CONFIG if this timer would not cover what the case times. */
enum status timing_check(const struct resolved *resolved, enum timer_choice timer, struct err *err);

/* Resolves a manifest with `values`. `values` and `device` must live as long as `resolved`; `scratch` is for temporary
 * memory. */
enum status resolve_manifest(struct resolved *resolved, const struct manifest *manifest,
                             const struct param_value *values, const struct device_facts *device, struct arena *arena,
                             struct arena *scratch, struct err *err);

/* ---- predicted_work.c ---- */

/* Returns how long the machine takes to start this many launches back to back. */
double predicted_launches_ns(const struct machine *machine, double launches);

/* ---- work_fit.c ---- */

struct predicted_launch;
/* Adds a note if the manifest states far more bytes than the walked launches request. */
void work_walked(struct prediction *prediction, const struct resolved *resolved,
                 const struct predicted_launch *launches, size_t count);

#endif
