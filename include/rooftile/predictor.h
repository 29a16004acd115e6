/* SPDX-License-Identifier: MIT
 *
 * Predicts cases of a plan from their code, for `plan`, `run`, `predict`, `explain` and sim devices. A kernel is read
 * and disassembled once, and a launch is walked once, for any number of cases and machines.
 *
 *     struct predictor *predictor = predictor_new(seed);
 *     predictor_case(&prediction, predictor, &plan_case->resolved, builds, cache, &machine, &err);
 *
 * `machine` is complete (machine_complete); the caller reports borrowed values. `builds` are those of the plan. If it
 * is NULL, or the code cannot be walked (a library, no compiler), the prediction is based on the work that the manifest
 * states, and its method says so; if a walk was expected, a note says why there is none.
 */
#ifndef ROOFTILE_PREDICTOR_H
#define ROOFTILE_PREDICTOR_H

#include "rooftile/build.h"
#include "rooftile/device_model.h"
#include "rooftile/host_model.h"
#include "rooftile/plan.h"
#include "rooftile/prediction.h"
#include "rooftile/walk.h"

struct predictor;
/* `seed` is the run's; it determines the buffers' contents. */
struct predictor *predictor_new(uint64_t seed);
void predictor_free(struct predictor *predictor);

/* Makes later predictions as if this cause were gone (cost.h); COST_NONE: unchanged. */
void predictor_without(struct predictor *predictor, enum cost cause);

/* One launch of a case, with its walk and prediction. */
struct predicted_launch {
    const struct resolved_launch *launch;
    double times; /* in one pass over the timed steps */
    struct walk_launch walked;
    double core_hz;                 /* the machine's clock */
    const struct walk_result *walk; /* NULL: not walked */
    struct device_launch_model model;
    double line_bytes;
    struct prediction prediction; /* for one launch */
};

/* Returns all launches of the last predicted case; valid until the next one. */
const struct predicted_launch *predictor_launches(const struct predictor *predictor, size_t *count);

/* Predicts one pass over the timed steps. ERR_CONFIG if a fill has invalid options. */
enum status predictor_case(struct prediction *prediction, struct predictor *predictor, const struct resolved *resolved,
                           const struct build_result *builds, enum cache_mode cache, const struct machine *machine,
                           struct err *err);

/* Sets the prediction and the estimate of the plan's ready cases, and passes each prediction to `take` (NULL: none); a
 * status other than STATUS_OK ends it. ERR_CONFIG as predictor_case. */
typedef enum status predictor_take_fn(void *context, size_t at, const struct prediction *prediction, struct err *err);
enum status predictor_plan(struct plan *plan, struct predictor *predictor, const struct build_result *builds,
                           const struct machine *machine, predictor_take_fn *take, void *context, struct arena *arena,
                           struct err *err);

/* Predicts from the work that the manifest states, at the machine's expected rates. If the machine lacks a required
 * figure, time_ns is 0 and a note says why. `why`: the reason for having no walk, for a note; NULL: no walk was
 * expected. `walk`: for a case that predicted_on_host names; NULL: unknown. */
void predicted_by_work(struct prediction *prediction, const struct resolved *resolved, enum cache_mode cache,
                       const struct machine *machine, const char *why, const struct host_walk *walk);

/* What a walk adds to a case on a CPU, if the stated work is not sufficient. The case's code is compiled once more, for
 * the walk; other cases are not walked on a CPU. */
enum predicted_on_host {
    HOST_NOT_WALKED,
    HOST_LINES, /* the case depends on accesses that are not consecutive */
    HOST_CHAIN, /* arithmetic of single work-items, whose steps may depend on each other */
};
enum predicted_on_host predicted_on_host(const struct resolved *resolved);

/* Converts a `request` for the CPU device into one for a GPU whose code can be walked, with waves of the same size.
 * Lives in the arena. */
struct build_request predicted_request(const struct build_request *request, struct arena *arena);

/* ---- internals, for tests ---- */

/* Returns the decoded kernel of a launch. If it cannot be walked, returns NULL, and *why says why. Lives as long as the
 * predictor. */
const struct walk_code *predictor_code(struct predictor *predictor, const char *object, const char *symbol,
                                       const char **why);

/* The contents and addresses of a case's buffers. */
struct predicted_buffers {
    struct walk_buffer *items; /* one per buffer of the case */
    size_t count;
};
enum status predicted_buffers_make(struct predicted_buffers *buffers, const struct resolved *resolved, uint64_t seed,
                                   struct arena *arena, struct err *err);
/* Makes a launch for walk_run, with its arguments laid out as its kernel takes them. */
void predicted_launch_make(struct walk_launch *walk, const struct resolved_launch *launch,
                           const struct predicted_buffers *buffers, const struct walk_code *code, struct arena *arena);

#endif
