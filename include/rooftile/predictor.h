/* SPDX-License-Identifier: MIT
 *
 * Predicts cases of a plan from their code: what `plan`, `sim`, `run`, `predict` and `explain` ask. A kernel is read
 * and disassembled once, a launch is walked once, however many cases and machines ask.
 *
 *     struct predictor *predictor = predictor_new(seed);
 *     predictor_case(&prediction, predictor, &plan_case->resolved, builds, cache, &machine, arena, &err);
 *
 * `machine` is complete (machine_complete); what was borrowed is the caller's to say. `builds` are those of the plan;
 * NULL, or code that cannot be walked (no AMD code, a library): predicted from the work that the manifest states, and
 * said so in the method and in a note.
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

/* What is predicted from now on is as if this cause were gone (cost.h); COST_NONE: as it is. */
void predictor_without(struct predictor *predictor, enum cost cause);

/* One launch of a case, and what was found. */
struct predicted_launch {
    const struct resolved_launch *launch;
    double times; /* in one pass over the timed steps */
    struct walk_launch walked;
    double core_hz;                 /* of the machine */
    const struct walk_result *walk; /* NULL: not walked */
    struct device_launch_model model;
    double line_bytes;
    uint64_t place;               /* which level has its data when it begins, and a workgroup's share of L1 */
    struct prediction prediction; /* of one launch */
};

/* All launches of the last case that was predicted; valid until the next one. */
const struct predicted_launch *predictor_launches(const struct predictor *predictor, size_t *count);

/* Of one pass over the timed steps. ERR_CONFIG: a fill whose options make no sense. */
enum status predictor_case(struct prediction *prediction, struct predictor *predictor, const struct resolved *resolved,
                           const struct build_result *builds, enum cache_mode cache, const struct machine *machine,
                           struct err *err);

/* Gives `take` the prediction of each ready case of the plan, in any order. Of many cases of a kernel that differ in
 * numbers not all are walked: where the walks of the outermost and of those half way say the same, within 3 % of the
 * time, what was walked is interpolated for the rest, and each has its own launch and occupancy. */
typedef void predictor_take_fn(void *context, size_t at, const struct prediction *prediction);
enum status predictor_cases(struct predictor *predictor, const struct plan *plan, const struct build_result *builds,
                            const struct machine *machine, predictor_take_fn *take, void *context, struct err *err);

/* Gives the plan's ready cases their prediction, takes and estimate. `builds` NULL: by the work that manifests state,
 * in microseconds a case. `machine` is complete, as above. ERR_CONFIG as of predictor_case. */
enum status predictor_plan(struct plan *plan, struct predictor *predictor, const struct build_result *builds,
                           const struct machine *machine, struct arena *arena, struct err *err);

/* By the work that the manifest states, at what is expected of the machine; time_ns 0, and a note says why, where the
 * machine lacks what this needs. `why`: there is no walk, for a note; NULL: none is expected. `walk`: how the accesses
 * of a case on a CPU lie; NULL: not known. */
void predicted_by_work(struct prediction *prediction, const struct resolved *resolved, enum cache_mode cache,
                       const struct machine *machine, const char *why, const struct host_walk *walk);

/* On a CPU: bytes say too little of this case's accesses, which are its subject. Its code is compiled once more, for
 * the walk; other cases are not walked there. */
bool predicted_by_lines(const struct resolved *resolved);

/* `request` of the CPU device's code for a GPU whose code is walked, in waves of the same size. Lives in the arena. */
struct build_request predicted_request(const struct build_request *request, struct arena *arena);

/* ---- parts, for tests ---- */

/* The kernel of a launch, decoded; NULL, and why: it cannot be walked. Lives as long as the predictor. */
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
