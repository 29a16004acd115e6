/* SPDX-License-Identifier: MIT
 *
 * What the files of plan_build share. Data flows: suites -> expansions (which values) -> cases (bound) -> codes,
 * references, estimates, labels.
 */
#ifndef ROOFTILE_PLAN_INTERNAL_H
#define ROOFTILE_PLAN_INTERNAL_H

#include "resolve_internal.h"
#include "rooftile/plan.h"
#include "rooftile/text.h"

/* ---- plan_values.c: things by hash; the caller says what is equal ---- */

#define LOOKUP_NONE SIZE_MAX
struct lookup {
    struct lookup_slot *slots;
    size_t capacity, count;
};
/* The first value stored under this hash for which equal(context, value) holds, or LOOKUP_NONE. */
size_t lookup_find(const struct lookup *lookup, uint64_t hash, bool (*equal)(const void *context, size_t value),
                   const void *context);
void lookup_add(struct lookup *lookup, uint64_t hash, size_t value);
void lookup_release(struct lookup *lookup);

/* ---- plan_values.c: parameter values ---- */

uint64_t values_hash(uint64_t hash, const struct param_value *value);
bool values_equal(const struct param_value *a, const struct param_value *b, size_t count);
/* Brings a value given by a user to the kind its parameter has, and holds it against the parameter's limits. ERR_CONFIG
 * without a place. */
enum status value_fit(struct param_value *value, const struct param *param, struct arena *arena, struct err *err);
/* A manifest's defaults and the first of its variants that matches the device. */
void values_of_device(struct param_value *values, const struct manifest *manifest, const struct device_facts *device);
/* The parameter's index. ERR_CONFIG with a did-you-mean, without a place. */
enum status param_find(size_t *param, const struct manifest *manifest, const char *name, struct err *err);

/* ---- plan_expand.c: which values a suite case takes ---- */

/* Where a given value comes from; cases made from a result's id have no text behind them. */
struct origin {
    bool given; /* else it is the manifest's */
    const struct json *at;
    const char *set; /* --set's own text */
};

struct expansion {
    const struct manifest *manifest;
    const struct suite *suite;
    const struct suite_case *suite_case;
    struct param_value *values; /* of the current combination, one per parameter */
    const char **texts;         /* their canonical texts, rewritten only when the value changes */
    struct param_value *fitted; /* the same, each of its parameter's kind and within its limits */
    double *slots;              /* and as expressions see them */
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
    const char *const *tags;
    size_t tag_count;
    bool selected; /* a combination passed the filters */
};

/* --set options, parsed once. */
struct set_list {
    struct sweep *sweeps;
    const char **texts;
    size_t count;
};

enum status expansion_init(struct expansion *expansion, const struct suite *suite, const struct suite_case *suite_case,
                           const struct manifest *manifest, const struct set_list *sets,
                           const struct device_facts *device, bool at_check_params, struct arena *arena,
                           struct err *err);
/* To the next combination, the last axis fastest; false behind the last one. */
bool expansion_next(struct expansion *expansion, struct arena *arena);
/* Does an exclude expression hold? `slots` are those of the manifest. ERR_CONFIG when one cannot be evaluated. */
enum status expansion_excludes(bool *excluded, const struct expansion *expansion, const double *slots, struct err *err);
/* "file:line:column: /pointer: text" for what a user gave, "--set name=value: text" from the command line. */
enum status origin_fail(const struct origin *origin, struct err *err, const char *text);

enum status set_list_init(struct set_list *sets, const char *const *texts, size_t count, struct arena *arena,
                          struct err *err);

/* ---- plan.c: the plan being built ---- */

struct planner {
    const struct catalog *catalog;
    const struct machine *machine;
    const struct device_facts *device;
    struct device_facts cpu; /* references run there */
    const struct plan_options *options;
    struct arena *arena; /* of the plan */
    struct plan_case *cases;
    size_t count, capacity;
    struct lookup ids;
    size_t duplicates;
    struct code_set {
        struct build_request *requests;
        size_t count, capacity;
        struct lookup by_content;
        struct code_key {
            const struct manifest *manifest;
            const struct define *defines; /* the manifest's or a launch's own: the array itself tells them apart */
            const struct param_value *values;
            bool for_cpu;
            size_t code;
        } * keys; /* which values ask for which code, so that nothing is rendered twice */
        size_t key_count, key_capacity;
        struct lookup by_values;
        struct code_params {
            const struct manifest *manifest;
            const bool *compiled; /* per parameter */
        } * params;
        size_t param_count, param_capacity;
    } codes;
    struct variant_set {
        struct variant {
            const struct resolved *resolved;
            const struct plan_reference *reference;
        } * items;
        size_t count, capacity;
        struct lookup by_values;
    } variants;
};

/* Room for one more element of a malloc'ed array. */
void *grow(void *items, size_t count, size_t *capacity, size_t size);

/* ---- plan_expand.c: suites against the catalog ---- */

/* One expansion per case of each suite. ERR_USAGE when they have more than SUITE_MAX_CASES combinations: nothing is
 * allocated for cases before that is known. */
enum status expansions_make(struct expansion **expansions, size_t *count, const struct planner *planner,
                            const struct suite *const *suites, size_t suite_count, const struct set_list *sets,
                            struct arena *scratch, struct err *err);
/* A default that no kernel of its suite has, or a --set that no selected kernel has, is a typing error. */
enum status expansions_check_used(const struct expansion *expansions, size_t count, const struct suite *const *suites,
                                  size_t suite_count, const struct set_list *sets, struct err *err);

/* ---- plan_codes.c ---- */

/* The code object that the manifest's source with these defines (its own or a launch's) is at the bound values; equal
 * ones are shared. `id` is the case to name in messages. */
enum status codes_find(size_t *code, struct planner *planner, const struct resolve *resolve,
                       const struct define *defines, size_t define_count, bool for_cpu, const char *id);
/* Per parameter of the manifest: is it compiled into the code? */
const bool *codes_compiled(struct planner *planner, const struct manifest *manifest);
void codes_release(struct code_set *codes);

/* ---- plan_codes.c: of a case ---- */

/* Finds the code of each launch, and sets code, codes and code_count of `bound`. */
enum status codes_add(struct planner *planner, struct resolved *resolved, bool for_cpu, const char *id,
                      struct err *err);

/* ---- plan_verify.c ---- */

/* How the case is verified: sets verify, variant and reference. An error makes the case invalid (or skipped). */
enum status verify_choose(struct planner *planner, struct plan_case *plan_case, struct err *err);
/* Resolves the manifest's reference for `ours`; `every`: for all elements of the output, else for the manifest's
 * samples. */
enum status reference_resolve(const struct plan_reference **reference, struct planner *planner,
                              const struct resolved *ours, bool every, const char *id, struct err *err);
/* Operations and bytes: what a reference costs, about one nanosecond each on the CPU device. */
double reference_cost(const struct plan_reference *reference);

/* ---- plan_estimate.c, plan_label.c, plan_expand.c ---- */

/* forecast_ns, takes and estimate_ns of a ready case whose lower bound and verification are known. */
void case_estimate(struct plan_case *plan_case, const struct machine *machine, const struct device_facts *device);
/* "kernel/param=value;...;mode=hot" from the values' texts. */
void case_id(struct text *id, const struct manifest *manifest, const char *const *texts, enum cache_mode cache);
void label_cases(struct plan_case *cases, size_t count, struct arena *arena);
enum status derives_check(const struct suite *suite, const struct catalog *catalog, struct err *err);

#endif
