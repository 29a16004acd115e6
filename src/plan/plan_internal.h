/* SPDX-License-Identifier: MIT
 *
 * What the files of src/plan share. Data flows: suites -> expansions (which values) -> cases (resolved) -> codes,
 * references, estimates, labels.
 */
#ifndef ROOFTILE_PLAN_INTERNAL_H
#define ROOFTILE_PLAN_INTERNAL_H

#include "rooftile/plan.h"
#include "rooftile/record.h"

/* ---- sweep.c ---- */

/* One value in a suite: a string as on the command line, or a number, or a list of numbers. */
enum status sweep_value_from_json(struct param_value *value, const cJSON *json, struct arena *arena, struct err *err);

/* ---- suite.c ---- */

extern const struct record suite_params; /* of a "params" object: struct param */
/* The zip group that names the parameter, or SIZE_MAX. */
size_t suite_zip_of(const struct suite_case *suite_case, const char *param);

/* ---- suite_shapes.c ---- */

struct suite_shape {
    const char *name, *summary;
    const struct param *params;
    size_t param_count;
};
/* The shapes that a case's "shapes" names, in their file's order; none when it has no such member. The file's content
 * becomes part of the suite's hash. */
enum status suite_read_shapes(const struct suite_shape **shapes, size_t *count, const cJSON *json, struct suite *suite,
                              struct arena *arena, struct err *err);
/* The case for one shape: with its parameters, and its name among the tags. ERR_CONFIG when the case sets one of them.
 */
enum status suite_apply_shape(struct suite_case *out, const struct suite_case *from, const struct suite_shape *shape,
                              struct arena *arena, struct err *err);

/* ---- suite_figures.c ---- */

extern const struct record suite_derives, suite_kpis; /* struct suite_derive, struct suite_kpi */

/* ---- plan_values.c: arrays ---- */

/* One array behind the other, in new memory. */
void *joined(struct arena *arena, const void *first, size_t first_count, const void *second, size_t second_count,
             size_t size);

/* ---- plan_values.c: things by their keys ---- */

/* Numbers things from 0 on, in the order in which their keys are added. A key is any bytes. */
#define INDEX_NONE SIZE_MAX
struct key_index {
    struct key_slot *slots;
    size_t capacity, count;
};
/* The number of the thing of this key, or INDEX_NONE. */
size_t index_find(const struct key_index *index, const char *key, size_t length);
/* The number of a new one; the key, which is not there yet, must live as long as the index. */
size_t index_add(struct key_index *index, const char *key, size_t length);
void index_release(struct key_index *index);

/* What keys are made of: texts (NULL is distinct from "") and values, so that equal keys mean equal things. */
void key_add_text(struct text *key, const char *string);
void key_add_value(struct text *key, const struct param_value *value);

/* ---- plan_values.c: parameter values ---- */

/* Converts a value given by a user to its parameter's kind, and checks it against the parameter's limits. ERR_CONFIG
 * without a position. */
enum status value_fit(struct param_value *value, const struct param *param, struct arena *arena, struct err *err);
/* ERR_UNSUPPORTED: a default that depends on the device is outside of the parameter's limits there. */
enum status values_check_asked(const struct manifest *manifest, const struct param_value *values, struct err *err);
/* The parameter's index. ERR_CONFIG with a did-you-mean, without a position. */
enum status param_find(size_t *param, const struct manifest *manifest, const char *name, struct err *err);

/* ---- plan_expand.c: which values a suite case takes ---- */

/* A suite's case and its kernel. */
struct entry {
    const struct suite *suite;
    const struct suite_case *suite_case;
    const struct manifest *manifest;
    bool selected; /* a combination of its values passed the filters */
};

/* Where a given value comes from; cases made from a result's id have neither. */
struct origin {
    bool given; /* else it is the manifest's default */
    const cJSON *at;
    const char *set; /* --set's own text */
};

struct expansion {
    const struct manifest *manifest; /* of the entry, as the next */
    const struct suite_case *suite_case;
    struct entry *entry;
    struct param_value *values; /* of the current combination, one per parameter; of its kind once it is looked at */
    const char **asks;          /* the expressions of those that ask the device, "{4 * device.last_cache}"; else NULL */
    const char *unknown;        /* why a value of the current combination cannot be known here; NULL: all are known */
    bool undecided;             /* that is of an exclude: the values are known */
    const char **texts;         /* their canonical texts, rewritten only when the value changes */
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

/* --set options, parsed once. */
struct set_list {
    struct sweep *sweeps;
    size_t count;
};

struct planner;
/* Without the texts of its values. */
enum status expansion_init(struct expansion *expansion, struct entry *entry, const struct planner *planner,
                           const struct set_list *sets, struct arena *arena, struct err *err);
/* To the first combination. */
void expansion_start(struct expansion *expansion, struct arena *arena);
/* To the next combination, the last axis fastest; false behind the last one. */
bool expansion_next(struct expansion *expansion, struct arena *arena);
/* Computes the values that ask the device: whole ones where the parameter's default is one, and the limit below where
 * it has limits. What is unknown of the device makes a value NaN, and is said in `unknown`. Values and texts live until
 * `scratch` is emptied. */
enum status expansion_ask(struct expansion *expansion, const struct device_facts *device, struct arena *scratch,
                          struct err *err);
/* Does an exclude expression hold? One that asks for what is unknown does not, and sets `unknown`. ERR_CONFIG when one
 * cannot be evaluated. */
enum status expansion_excludes(bool *excluded, struct expansion *expansion, const struct device_facts *device,
                               struct arena *scratch, struct err *err);
/* Fails with "file:line:column: /pointer: text" for a value in a suite, "--set name=value: text" for the command line.
 */
enum status origin_fail(const struct origin *origin, struct err *err, const char *text);

enum status set_list_init(struct set_list *sets, const char *const *texts, size_t count, struct arena *arena,
                          struct err *err);

/* ---- plan.c: the plan being built ---- */

struct planner {
    const struct catalog *catalog;
    const struct machine *machine;
    const struct device_facts *device;
    const struct device_facts *cpu; /* references run there */
    const struct plan_options *options;
    struct arena *arena;  /* of the plan */
    struct arena scratch; /* of planning */
    struct arena once;    /* of one case, emptied for the next */
    struct text key;      /* room for one */
    struct plan_case *cases;
    size_t combination;             /* number of the present one */
    struct key_index ids;           /* numbers of the cases */
    struct build_request *requests; /* the plan's codes ... */
    struct key_index requested;     /* ... by their content: kernels or values may ask for the same code */
    size_t *codes;                  /* and by what asks for them, so that nothing is rendered twice */
    struct key_index asked;
    struct variant {
        const struct resolved *resolved;
        const struct plan_reference *reference;
    } * variants;
    struct key_index variant_keys;
    struct planned_kernel *kernels;
    size_t kernel_count;
};

/* What is known about a kernel, whatever its parameters' values. */
struct planned_kernel {
    const struct manifest *manifest;
    bool *compiled; /* per parameter: is it compiled into the code? */
    bool *varies;   /* per parameter: does it differ between the plan's cases? */
    bool mode_varies;
    const struct plan_case *first; /* of those cases; known when they are labelled */
};
/* Until the next call. */
struct planned_kernel *kernel_of(struct planner *planner, const struct manifest *manifest);

/* ---- plan_expand.c: suites against the catalog ---- */

/* One entry per case of each suite. ERR_USAGE when they have more than SUITE_MAX_CASES combinations: nothing is
 * allocated for cases before that is known. */
enum status entries_make(struct entry **entries, size_t *count, struct planner *planner,
                         const struct suite *const *suites, size_t suite_count, const struct set_list *sets,
                         struct err *err);
/* Fails for a default that no kernel of its suite has, or a --set that no selected kernel has: a typing error. */
enum status entries_check_used(const struct entry *entries, size_t count, const struct suite *const *suites,
                               size_t suite_count, const struct set_list *sets, struct err *err);

/* ---- plan_codes.c ---- */

/* Finds the code of each launch, and sets code, codes and code_count of `resolved`; equal ones are shared. `id` is the
 * case to name in messages. */
enum status codes_add(struct planner *planner, struct resolved *resolved, bool for_cpu, const char *id,
                      const struct manifest_twin *twin, struct err *err);

/* ---- plan_verify.c ---- */

/* How the case is verified: sets verify, variant and reference. An error makes the case invalid (or skipped). */
enum status verify_choose(struct planner *planner, struct plan_case *plan_case, struct err *err);
/* Operations and bytes of a reference, which cost about one nanosecond each on the CPU device. */
double reference_cost(const struct plan_reference *reference);

/* ---- plan_estimate.c, plan_values.c, plan_expand.c ---- */

/* Expected wall time of a ready case, predicted or not: its warm-up and samples, and the rest. */
double case_estimate(const struct plan_case *plan_case);
/* "kernel/param=value;...;mode=hot" from the values' texts. */
void case_id(struct text *id, const struct manifest *manifest, const char *const *texts, enum cache_mode cache);
void label_cases(struct planner *planner);
enum status derives_check(const struct suite *suite, const struct catalog *catalog, struct err *err);

/* ---- resolve.c: a manifest at given values ---- */

/* Sizes are whole numbers that a double holds exactly. */
#define RESOLVE_MAX_SIZE 0x1p53

struct resolve {
    struct resolved *resolved;
    const struct manifest *manifest;
    const struct device_facts *device;
    double *slots;  /* resolved_slots; indexes of steps change while these are resolved */
    size_t *rounds; /* of indexes so far */
    struct arena *arena;
    struct arena *scratch;
    struct err *err;
};

/* A position in the manifest, looked up only for an error. */
struct place {
    const cJSON *at;
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

/* Steps whose repeat count is not zero; needs resolved->buffers. */
enum status resolve_steps(struct resolved_step **steps, size_t *count, const struct resolve *resolve,
                          const struct manifest_step *source, size_t source_count);

/* ---- timing.c ---- */

/* Of resolved steps. ERR_CONFIG: they cannot be timed. */
enum status timing_of(struct timing *timing, const struct resolve *resolve);
/* ERR_CONFIG: this timer would not see what the case times. */
enum status timing_check(const struct resolved *resolved, enum timer_choice timer, struct err *err);

/* Resolves a manifest at `values`, which must live as long as `resolved`, and so must `device`. `scratch` is for memory
 * that is not needed afterwards. */
enum status resolve_manifest(struct resolved *resolved, const struct manifest *manifest,
                             const struct param_value *values, const struct device_facts *device, struct arena *arena,
                             struct arena *scratch, struct err *err);

/* ---- predicted_work.c ---- */

/* How long it takes the machine to start so many launches, one behind the other. */
double predicted_launches_ns(const struct machine *machine, double launches);

/* ---- work_fit.c ---- */

struct predicted_launch;
/* Notes when the manifest states far more bytes than the walked launches ask for. */
void work_walked(struct prediction *prediction, const struct resolved *resolved,
                 const struct predicted_launch *launches, size_t count);

#endif
