/* SPDX-License-Identifier: MIT
 *
 * Predicts cases of a plan from their code, for `plan`, `run`, `predict`, `explain` and sim devices. A kernel is read
 * and disassembled once and a launch walked once, however many cases and machines ask.
 *
 *     struct predictor *predictor = predictor_new(seed);
 *     predictor_case(&prediction, predictor, &plan_case->resolved, builds, cache, &machine, &err);
 *
 * `machine` is complete (machine_complete); the caller reports what was borrowed. `builds` are those of the plan; where
 * it is NULL, or the code cannot be walked (a library, no compiler), the prediction comes from the work that the
 * manifest states, and its method says so; where a walk was expected a note says why there is none.
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
/* `seed` as of the run: what the buffers hold. */
struct predictor *predictor_new(uint64_t seed);
void predictor_free(struct predictor *predictor);

/* From now on, predicts as if this cause were gone (cost.h); COST_NONE: as it is. */
void predictor_without(struct predictor *predictor, enum cost cause);

/* One launch of a case, and what was found out about it. */
struct predicted_launch {
    const struct resolved_launch *launch;
    double times; /* in one pass over the timed steps */
    struct walk_launch walked;
    double core_hz;                 /* of the machine */
    const struct walk_result *walk; /* NULL: not walked */
    struct device_launch_model model;
    double line_bytes;
    struct prediction prediction; /* of one launch */
};

/* All launches of the last case that was predicted; valid until the next one. */
const struct predicted_launch *predictor_launches(const struct predictor *predictor, size_t *count);

/* Of one pass over the timed steps. ERR_CONFIG: a fill whose options make no sense. */
enum status predictor_case(struct prediction *prediction, struct predictor *predictor, const struct resolved *resolved,
                           const struct build_result *builds, enum cache_mode cache, const struct machine *machine,
                           struct err *err);

/* Gives the plan's ready cases their prediction, takes and estimate, and `take` (NULL: nobody) each prediction; what
 * that returns ends it. ERR_CONFIG as of predictor_case. */
typedef enum status predictor_take_fn(void *context, size_t at, const struct prediction *prediction, struct err *err);
enum status predictor_plan(struct plan *plan, struct predictor *predictor, const struct build_result *builds,
                           const struct machine *machine, predictor_take_fn *take, void *context, struct arena *arena,
                           struct err *err);

/* By the work that the manifest states, at what is expected of the machine. Where the machine lacks what this needs,
 * time_ns is 0 and a note says why. `why`: the reason for having no walk, for a note; NULL: no walk was expected.
 * `walk`: of a case that predicted_on_host names; NULL: not known. */
void predicted_by_work(struct prediction *prediction, const struct resolved *resolved, enum cache_mode cache,
                       const struct machine *machine, const char *why, const struct host_walk *walk);

/* What a walk adds to a case on a CPU, where the stated work says too little. The case's code is compiled once more,
 * for the walk; other cases are not walked on a CPU. */
enum predicted_on_host {
    HOST_NOT_WALKED,
    HOST_LINES, /* the case is about its accesses, which do not follow each other */
    HOST_CHAIN, /* arithmetic of single work-items, whose steps may depend on each other */
};
enum predicted_on_host predicted_on_host(const struct resolved *resolved);

/* The CPU device's `request`, turned into one for a GPU whose code can be walked, with waves of the same size. Lives in
 * the arena. */
struct build_request predicted_request(const struct build_request *request, struct arena *arena);

/* ---- parts, for tests ---- */

/* The kernel of a launch, decoded; NULL, and *why says why, when it cannot be walked. Lives as long as the predictor.
 */
const struct walk_code *predictor_code(struct predictor *predictor, const char *object, const char *symbol,
                                       const char **why);

/* What the buffers of a case hold, and where they are. */
struct predicted_buffers {
    struct walk_buffer *items; /* as many as the case has */
    size_t count;
};
enum status predicted_buffers_make(struct predicted_buffers *buffers, const struct resolved *resolved, uint64_t seed,
                                   struct arena *arena, struct err *err);
/* A launch for walk_run, with its arguments laid out as its kernel takes them. */
void predicted_launch_make(struct walk_launch *walk, const struct resolved_launch *launch,
                           const struct predicted_buffers *buffers, const struct walk_code *code, struct arena *arena);

#endif
