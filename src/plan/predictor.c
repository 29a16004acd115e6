/* SPDX-License-Identifier: MIT
 *
 * Turns cases into launches, and launches into walks and models; caches what was read and walked.
 */
#include "rooftile/predictor.h"

#include "plan_internal.h"
#include "rooftile/cpu_target.h"
#include "rooftile/hash.h"
#include "rooftile/launch_fit.h"
#include "rooftile/targets.h"

/* ---- the cache ---- */

struct kept_code {
    const char *object, *symbol;
    const struct walk_code *code; /* NULL: it cannot be walked */
    const char *why;
};

struct predictor {
    uint64_t seed;
    struct arena arena;  /* for cached data */
    struct arena launch; /* for the current case */
    struct kept_code *codes;
    size_t code_count;
    struct key_index walked; /* numbers of the walks */
    const struct walk_result **walks;
    struct predicted_launch *launches;
    size_t launch_count;
    enum cost without;
};

struct predictor *predictor_new(uint64_t seed)
{
    struct predictor *predictor = new_zeroed(1, sizeof(*predictor));
    predictor->seed = seed;
    return predictor;
}

void predictor_without(struct predictor *predictor, enum cost cause)
{
    predictor->without = cause;
}

void predictor_free(struct predictor *predictor)
{
    if (!predictor)
        return;
    arena_release(&predictor->arena);
    arena_release(&predictor->launch);
    index_release(&predictor->walked);
    free(predictor->walks);
    free(predictor);
}

const struct predicted_launch *predictor_launches(const struct predictor *predictor, size_t *count)
{
    *count = predictor->launch_count;
    return predictor->launches;
}

/* ---- code ---- */

static enum status read_code(struct kept_code *kept, struct arena *arena, struct err *err)
{
    const struct codeobj_file *file = NULL;
    const struct codeobj *object = NULL;
    struct isa *isa = arena_alloc(arena, sizeof(*isa));
    if (codeobj_read(&file, kept->object, arena, err))
        return err->status;
    const struct codeobj_kernel *kernel = codeobj_find_kernel(&object, file, kept->symbol);
    if (!kernel)
        return err_set(err, ERR_CONFIG, "%s has no kernel '%s'", kept->object, kept->symbol);
    if (!kernel->has_descriptor)
        return err_set(err, ERR_UNSUPPORTED, "it is no AMD code");
    enum status status = isa_read(isa, object, kernel, 1, arena, err);
    if (!status)
        kept->code = walk_decode(&isa->kernels[0], object->target, arena);
    return status;
}

const struct walk_code *predictor_code(struct predictor *predictor, const char *object, const char *symbol,
                                       const char **why)
{
    struct err err = {0};
    FOR_EACH(const struct kept_code, kept, predictor->codes, predictor->code_count) {
        if (strcmp(kept->object, object) != 0 || strcmp(kept->symbol, symbol) != 0)
            continue;
        *why = kept->why;
        return kept->code;
    }
    struct kept_code kept = {.object = arena_strdup(&predictor->arena, object),
                             .symbol = arena_strdup(&predictor->arena, symbol)};
    if (read_code(&kept, &predictor->arena, &err))
        kept.why = arena_strdup(&predictor->arena, err.text);
    ARENA_PUSH(&predictor->arena, predictor->codes, predictor->code_count, kept);
    *why = kept.why;
    return kept.code;
}

/* ---- walks ---- */

static uint64_t key_of(const struct walk_launch *launch, const struct walk_options *options)
{
    /* Hashes members one by one, because the structs may have padding; the clocks are all doubles. */
    const double numbers[] = {options->line_bytes,
                              (double)options->l1_lines,
                              (options->no_conflicts * 4) + (options->coalesced * 2) + options->no_scratch,
                              (double)options->l2_lines,
                              options->warm,
                              options->dies,
                              launch->lds_bytes,
                              (double)(uintptr_t)launch->code};
    uint64_t key = hash_u64(numbers, sizeof(numbers));
    key = key * 31 + hash_u64(&options->clocks, sizeof(options->clocks));
    key = key * 31 + hash_u64(launch->grid, sizeof(launch->grid));
    key = key * 31 + hash_u64(launch->block, sizeof(launch->block));
    key = key * 31 + hash_u64(launch->kernarg, launch->kernarg_bytes);
    for (size_t k = 0; k < launch->buffer_count; k++) {
        const struct fill *fill = launch->buffers[k].fill;
        const uint64_t facts[] = {launch->buffers[k].base,
                                  launch->buffers[k].size_bytes,
                                  fill ? (uint64_t)fill->kind : UINT64_MAX,
                                  fill ? (uint64_t)fill->dtype : 0,
                                  fill ? fill->seed : 0,
                                  fill ? (uint64_t)fill->dist : 0,
                                  fill ? fill->poison : 0,
                                  fill ? (uint64_t)(uintptr_t)fill->expr : 0};
        key = key * 31 + hash_u64(facts, sizeof(facts));
        if (fill)
            key = key * 31 + hash_u64(fill->options, sizeof(fill->options));
    }
    return key;
}

static enum status walk_once(const struct walk_result **walk, struct predictor *predictor,
                             const struct walk_launch *launch, const struct walk_options *options, struct err *err)
{
    const uint64_t key = key_of(launch, options);
    size_t number = index_find(&predictor->walked, (const char *)&key, sizeof(key));
    if (number == INDEX_NONE) {
        struct walk_result *result = arena_alloc(&predictor->arena, sizeof(*result));
        if (walk_run(result, launch, options, &predictor->arena, err))
            return err->status;
        size_t count = predictor->walked.count;
        ARRAY_PUSH(predictor->walks, count, result);
        number = index_add(&predictor->walked, arena_copy(&predictor->arena, &key, sizeof(key)), sizeof(key));
    }
    *walk = predictor->walks[number];
    return STATUS_OK;
}

/* ---- one launch ---- */

struct asked {
    struct predictor *predictor;
    const struct resolved *resolved;
    const struct build_result *builds;
    const struct machine *machine;
    struct predicted_buffers buffers;
    bool *cached;       /* per buffer: caches may hold it when the next launch begins */
    double least_bytes; /* required by the work; of a case with one launch */
    struct prediction *prediction;
    struct err *err;
    const char *why; /* why a launch cannot be walked */
    bool on_host;    /* to complete the stated work of a CPU case */
    struct host_walk host;
};

static bool uses(const struct resolved_launch *launch, size_t buffer)
{
    bool used = false;
    for (size_t arg = 0; arg < launch->arg_count; arg++)
        used |= launch->args[arg].buffer == (int)buffer;
    return used;
}

/* Returns the bytes that caches must hold to serve the launch. A buffer that is not cached yet can only come from
 * memory. */
static double footprint_of(const struct resolved_launch *launch, const struct asked *asked)
{
    double bytes = 0;
    for (size_t k = 0; k < asked->buffers.count; k++)
        if (uses(launch, k))
            bytes += asked->cached[k] ? (double)asked->buffers.items[k].size_bytes : INFINITY;
    return bytes;
}

static void note_walk(struct prediction *prediction, const struct walk_result *walk, const struct walk_launch *launch)
{
    const uint32_t lds_bytes = launch->code_object->code.group_segment_bytes + launch->lds_bytes;
    if (walk->lds_beyond)
        prediction_note(prediction, "it touches %llu bytes of LDS, and the launch has %u: \"shared\" of its manifest?",
                        (unsigned long long)walk->lds_beyond, lds_bytes);
    if (walk->over_budget)
        prediction_note(prediction, "the walk ended at its budget of instructions");
    if (walk->unknown_count)
        prediction_note(prediction, "%zu branch%s on data that is not known (first: %s at 0x%llx)", walk->unknown_count,
                        walk->unknown_count == 1 ? "" : "es", walk->unknowns[0].mnemonic,
                        (unsigned long long)walk->unknowns[0].address);
    if (walk->not_executed_count)
        prediction_note(prediction, "%zu instruction%s not executed (%s)", walk->not_executed_count,
                        walk->not_executed_count == 1 ? " is" : "s are", walk->not_executed[0]);
}

/* Returns the unit that takes most of the vector issue, which names a bound. */
static const char *compute_unit(const struct resolved *resolved)
{
    return resolved->work.unit[0] ? resolved->work.unit : "vector_f32";
}

static void predict_launch(struct asked *asked, const struct resolved_launch *launch, double times)
{
    struct predictor *predictor = asked->predictor;
    struct predicted_launch made = {.launch = launch, .times = times};
    struct walk_launch walk;
    struct walk_options options;
    const char *message = asked->builds[launch->code].message;
    const char *why = message && *message ? arena_strndup(&predictor->launch, message, strcspn(message, "\n")) : NULL;
    const char *object = asked->builds[launch->code].object;
    const struct walk_code *code = object && *object ? predictor_code(predictor, object, launch->symbol, &why) : NULL;
    if (!code) {
        asked->why = why ? why : "there is no code";
        return;
    }
    predicted_launch_make(&walk, launch, &asked->buffers, code, &predictor->launch);
    if (asked->on_host)
        host_walk_options(&options, asked->machine);
    else
        device_walk_options(&options, &made.model, asked->machine, &walk, footprint_of(launch, asked),
                            predictor->without);
    made.model.least_bytes = asked->least_bytes;
    made.line_bytes = options.line_bytes;
    if (walk_once(&made.walk, predictor, &walk, &options, asked->err)) {
        asked->why = arena_strdup(&predictor->launch, asked->err->text);
        return;
    }
    if (asked->on_host)
        host_walk_add(&asked->host, &walk, made.walk, times);
    else
        device_predict(&made.prediction, &made.model, asked->machine, &walk, &options, made.walk, predictor->without,
                       compute_unit(asked->resolved));
    made.walked = walk;
    made.core_hz = asked->machine->core_hz;
    if (!asked->on_host)
        note_walk(asked->prediction, made.walk, &walk);
    for (size_t k = 0; k < asked->buffers.count; k++)
        if (made.walk->stored[k])
            asked->buffers.items[k].fill = NULL;
    ARENA_PUSH(&predictor->launch, predictor->launches, predictor->launch_count, made);
}

/* ---- steps ---- */

/* Copies and fills on a device are also launches; they move bytes at the memory's rate. */
static void predict_move(struct asked *asked, const struct resolved_step *step, double times)
{
    struct prediction *prediction = asked->prediction;
    const struct machine *machine = asked->machine;
    const double rate =
        machine->level_count ? ceiling_expected(&machine->levels[machine->level_count - 1].bandwidth) : 0;
    const double bytes = (double)step->bytes * (step->kind == STEP_COPY ? 2 : 1);
    if (step->timed) {
        prediction->term_ns[TERM_MEMORY] += rate > 0 ? times * bytes / rate * 1e9 : 0;
        prediction->time_ns += rate > 0 ? times * bytes / rate * 1e9 : 0;
    }
    const struct resolved_buffer *to = &asked->resolved->buffers[step->to];
    const bool whole = step->bytes >= to->size_bytes;
    if (step->kind == STEP_FILL && whole)
        asked->buffers.items[step->to].fill =
            arena_copy(&asked->predictor->launch,
                       &(struct fill){.kind = FILL_NONE, .dtype = to->dtype, .count = to->count, .poison = step->byte},
                       sizeof(struct fill));
    else if (step->kind == STEP_COPY && whole && to->dtype == asked->resolved->buffers[step->from].dtype)
        asked->buffers.items[step->to].fill = asked->buffers.items[step->from].fill;
    else
        asked->buffers.items[step->to].fill = NULL;
}

static void add_launch(struct asked *asked, const struct resolved_step *step, double times, bool timed)
{
    struct predictor *predictor = asked->predictor;
    const bool first_is_cold = timed && times > 1 && isinf(footprint_of(&step->launch, asked));
    if (first_is_cold)
        add_launch(asked, step, 1, true);
    const double rest = first_is_cold ? times - 1 : times;
    const size_t at = predictor->launch_count;
    predict_launch(asked, &step->launch, timed ? rest : 0);
    if (predictor->launch_count == at || !timed)
        return;
    for (size_t k = 0; k < asked->buffers.count; k++)
        asked->cached[k] |= uses(&step->launch, k);
    const struct predicted_launch *made = &predictor->launches[at];
    for (int term = 0; term < TERM_COUNT; term++) {
        asked->prediction->term_ns[term] += rest * made->prediction.term_ns[term];
        asked->prediction->within_ns[term] += rest * made->prediction.within_ns[term];
    }
    asked->prediction->time_ns += rest * made->prediction.time_ns;
}

static double add_steps(struct asked *asked, const struct resolved_step *steps, size_t count, double times, bool timed)
{
    double launches = 0;
    for (size_t k = 0; k < count && !asked->why; k++) {
        const struct resolved_step *step = &steps[k];
        const double here = times * (double)step->repeat;
        const bool counts = timed || step->timed;
        if (step->kind == STEP_GRAPH || step->kind == STEP_LOOP)
            launches += add_steps(asked, step->steps, step->step_count, here, counts);
        else if (step->kind == STEP_LAUNCH && step->repeat)
            add_launch(asked, step, here, counts);
        else if (step->kind == STEP_COPY || step->kind == STEP_FILL)
            predict_move(asked, step, here);
        const bool starts = step->kind == STEP_LAUNCH || step->kind == STEP_COPY || step->kind == STEP_FILL;
        launches += starts && counts ? here : 0;
    }
    return launches;
}

/* ---- a case ---- */

/* Spread of the launch time: clocks, drivers and packets differ. */
#define LAUNCH_SPREAD 0.15
/* Spread of copies and fills, whose kernels are unknown: the same as for predictions from stated work. */
#define MOVES_LOW 0.7
#define MOVES_HIGH 2.5

/* Computes the interval of the sum. Errors of the launches are correlated, because the same model predicts them all. */
static void finish(struct prediction *prediction, const struct predictor *predictor, const struct resolved *resolved,
                   const struct machine *machine)
{
    double low = prediction->time_ns, high = prediction->time_ns;
    double moves = prediction->time_ns - prediction->term_ns[TERM_LAUNCH];
    FOR_EACH(const struct predicted_launch, launch, predictor->launches, predictor->launch_count) {
        moves -= launch->times * launch->prediction.time_ns;
        low -= launch->times * (launch->prediction.time_ns - launch->prediction.low_ns);
        high += launch->times * (launch->prediction.high_ns - launch->prediction.time_ns);
    }
    const double time_ns = prediction->time_ns > 0 ? prediction->time_ns : 1;
    low -= fmax(moves, 0) * (1 - MOVES_LOW);
    high += fmax(moves, 0) * (MOVES_HIGH - 1);
    low -= prediction->term_ns[TERM_LAUNCH] * LAUNCH_SPREAD;
    high += prediction->term_ns[TERM_LAUNCH] * LAUNCH_SPREAD;
    const struct prediction_spread spread = {low / time_ns, high / time_ns};
    prediction->method = "walk";
    prediction_finish(prediction, machine, compute_unit(resolved), spread);
}

enum status predictor_case(struct prediction *prediction, struct predictor *predictor, const struct resolved *resolved,
                           const struct build_result *builds, enum cache_mode cache, const struct machine *machine,
                           struct err *err)
{
    struct err walked = {0};
    struct asked asked = {.predictor = predictor,
                          .resolved = resolved,
                          .builds = builds,
                          .machine = machine,
                          .prediction = prediction,
                          .err = &walked};
    *prediction = (struct prediction){0};
    arena_reset(&predictor->launch);
    predictor->launches = NULL;
    predictor->launch_count = 0;
    asked.on_host = predicted_on_host(resolved) != HOST_NOT_WALKED;
    /* A walk cannot represent such a path, and the stated bytes of some CPU cases suffice. */
    if (!builds || resolved->work.level[0] || (!asked.on_host && backend_is_cpu(resolved->device->backend))) {
        predicted_by_work(prediction, resolved, cache, machine, NULL, NULL);
        return STATUS_OK;
    }
    if (predicted_buffers_make(&asked.buffers, resolved, predictor->seed, &predictor->launch, err))
        return err->status;
    asked.cached = arena_array(&predictor->launch, asked.buffers.count + 1, sizeof(*asked.cached));
    for (size_t k = 0; k < asked.buffers.count; k++)
        asked.cached[k] = cache == CACHE_HOT;
    if (plan_launches(resolved) < 1.5)
        asked.least_bytes = resolved->work.read_bytes + resolved->work.write_bytes;
    (void)add_steps(&asked, resolved->setup, resolved->setup_count, 0, false);
    const double launches = add_steps(&asked, resolved->steps, resolved->step_count, 1, false);
    if (asked.why || asked.on_host) {
        predictor->launch_count = asked.why ? 0 : predictor->launch_count;
        predicted_by_work(prediction, resolved, cache, machine, asked.why, asked.why ? NULL : &asked.host);
        if (!asked.why)
            work_walked(prediction, resolved, predictor->launches, predictor->launch_count);
        return STATUS_OK;
    }
    work_walked(prediction, resolved, predictor->launches, predictor->launch_count);
    const double launches_ns = launches < 1 ? 0 : predicted_launches_ns(machine, launches);
    prediction->term_ns[TERM_LAUNCH] += launches_ns;
    prediction->time_ns += launches_ns;
    finish(prediction, predictor, resolved, machine);
    /* A walk that misses part of the work would be faster than the machine can be. */
    struct lower_bound least;
    lower_bound_compute(&least, machine, &resolved->work, cache, NAN);
    if (prediction->time_ns < least.time_ns) {
        prediction_scale(prediction, least.time_ns / prediction->time_ns);
        prediction_note(prediction, "the lower bound: its walk would be faster");
    }
    return STATUS_OK;
}

/* ---- a plan ---- */

void plan_case_bound(struct lower_bound *lower_bound, const struct plan_case *plan_case, const struct machine *machine,
                     double time_ns, const char *predicted)
{
    const enum case_class class = plan_case->resolved.manifest->class;
    const struct work *work = &plan_case->resolved.work;
    lower_bound_compute(lower_bound, machine, work, plan_case->measure.cache, time_ns);
    const bool launch = !strcmp(lower_bound->bound, "launch") || !strcmp(predicted, "launch");
    /* A prediction cannot tell how fast a level is, so it cannot tell that the level is a different one. */
    const bool unknown =
        !lower_bound->ceiling_name[0] && *predicted && (!lower_bound->bound[0] || !machine_level(machine, predicted));
    if (class == CLASS_LATENCY || class == CLASS_LAUNCH)
        predicted = case_class_names[class];
    else if (launch)
        predicted = "launch";
    else if (!unknown)
        return;
    if (!work->level[0])
        lower_bound_by(lower_bound, machine, work, predicted);
}

/* Filling buffers, verifying, calibrating and sampling with another timer. This is their combined time in the shipped
 * suites on a CPU with two cores, where the mean over `quick` is 0.45 s. */
#define OVERHEAD_NS 0.4e9

/* Estimates how long a ready case will take, with warm-up, samples and overhead; never used in a result. */
static double case_estimate(const struct plan_case *plan_case)
{
    const struct measure_options *measure = &plan_case->measure;
    const double once_ns = plan_case->prediction ? plan_case->prediction->time_ns : 0;
    const double samples_ns = fmax(measure->min_time_ns, measure->min_samples * once_ns);
    return fmax(measure->warmup_ns, once_ns) + fmax(fmin(samples_ns, measure->max_time_ns), once_ns) + OVERHEAD_NS;
}

enum status predictor_plan(struct plan *plan, struct predictor *predictor, const struct build_result *builds,
                           const struct machine *machine, predictor_take_fn *take, void *context, struct arena *arena,
                           struct err *err)
{
    struct predicted *items = arena_array(arena, plan->count + 1, sizeof(*items));
    const struct predicted *like = NULL;
    plan->estimate_ns = 0;
    for (size_t k = 0; k < plan->count; k++) {
        struct plan_case *c = &plan->cases[k];
        struct prediction prediction;
        if (c->state != PLAN_READY)
            continue;
        if (!predictor)
            predicted_by_work(&prediction, &c->resolved, c->measure.cache, machine, NULL, NULL);
        else if (predictor_case(&prediction, predictor, &c->resolved, builds, c->measure.cache, machine, err))
            return err_within(err, "%s", c->id);
        prediction_keep(&items[k], &prediction, like, arena);
        c->prediction = like = &items[k];
        if (prediction.time_ns > 0)
            plan_case_bound(&c->lower_bound, c, plan->machine, prediction.time_ns, prediction.bound);
        c->estimate_ns = case_estimate(c);
        plan->estimate_ns += c->estimate_ns;
        if (take && take(context, k, &prediction, err))
            return err->status;
    }
    return STATUS_OK;
}
