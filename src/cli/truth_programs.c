/* SPDX-License-Identifier: MIT
 *
 * Times of whole programs: kernels of the same name, compiled for the machine and walked, at the sizes of the rows.
 */

#include "measure.h"
#include "rooftile/log.h"
#include "rooftile/predictor.h"
#include "rooftile/truth.h"

/* The rows of one machine. */
struct programs {
    const struct truth *truth;
    struct truth_guess *raw, *calibrated;
    const char *machine;
    struct session session;
    size_t *rows; /* of each case of the suite */
    size_t count;
};

/* n; m and n; m, n and k. A parameter that the kernel lacks has to be n: n x n. */
static bool sizes_of(struct suite_case *made, const struct truth_row *row, const struct manifest *manifest,
                     struct arena *arena)
{
    static const char *const names[TRUTH_SIZES][TRUTH_SIZES] = {{"n"}, {"m", "n"}, {"m", "n", "k"}};
    struct param *params = NULL;
    const double n = row->sizes[row->size_count > 1];
    for (size_t k = 0; k < row->size_count; k++) {
        const char *name = names[row->size_count - 1][k];
        const struct param_value value = {.kind = PARAM_NUMBER, .number = row->sizes[k]};
        if (manifest_param(manifest, name) >= 0)
            ARENA_PUSH(arena, params, made->param_count, (struct param){.name = name, .value = value});
        else if (row->sizes[k] != n)
            return false;
    }
    made->params = params;
    return made->param_count > 0;
}

static bool is_repeated(const struct programs *programs, size_t row)
{
    return COUNT_WHERE(one, programs->rows, programs->count,
                       !strcmp(programs->truth->rows[*one].label, programs->truth->rows[row].label)) > 0;
}

/* A case for each size; at SESSION_CATALOG. */
static enum status suite_of(const struct suite **out, struct programs *programs, struct arena *arena, struct err *err)
{
    const struct catalog *catalog = &programs->session.catalog;
    struct suite *suite = arena_alloc(arena, sizeof(*suite));
    struct suite_case *cases = NULL;
    *suite = (struct suite){.name = "truth", .summary = "", .path = ""};
    for (size_t k = 0; k < programs->truth->count; k++) {
        const struct truth_row *row = &programs->truth->rows[k];
        const struct manifest *manifest = NULL;
        struct suite_case made = {.kernel = row->program};
        if (!row->program || row->problem || strcmp(row->machine, programs->machine) != 0 ||
            !catalog_knows(catalog, row->program))
            continue;
        if (catalog_get(&manifest, catalog, row->program, err))
            return err->status;
        if (is_repeated(programs, k) || !sizes_of(&made, row, manifest, arena))
            continue;
        measure_defaults(&made.measure);
        ARENA_PUSH(arena, cases, suite->case_count, made);
        ARENA_PUSH(arena, programs->rows, programs->count, k);
    }
    suite->cases = cases;
    *out = suite;
    return STATUS_OK;
}

static void take(struct programs *programs, size_t from, const struct prediction *prediction)
{
    const struct machine *machine = &programs->session.machine;
    for (size_t k = from; k < programs->truth->count; k++) {
        struct truth_guess *guess = &programs->calibrated[k];
        const struct truth_row *row = &programs->truth->rows[k];
        if (strcmp(row->label, programs->truth->rows[from].label) != 0 || strcmp(row->machine, programs->machine) != 0)
            continue;
        *guess = (struct truth_guess){.time_ns = prediction->time_ns,
                                      .low_ns = prediction->low_ns,
                                      .high_ns = prediction->high_ns,
                                      .known = true};
        memcpy(guess->bound, prediction->bound, sizeof(guess->bound));
        truth_judge_bound(guess, row, prediction, machine);
        programs->raw[k] = *guess; /* no constant is fitted */
    }
}

/* Only from code: what a manifest says of the work is no prediction of the program. */
static enum status walk_cases(struct programs *programs, const struct build_result *builds,
                              const struct machine *machine, struct err *err)
{
    const struct plan *plan = programs->session.plan;
    struct predictor *predictor = predictor_new(programs->session.options->seed);
    enum status status = STATUS_OK;
    const char *said = "";
    for (size_t k = 0; k < plan->count && !status; k++) {
        const struct plan_case *c = &plan->cases[k];
        struct prediction prediction = {.method = ""};
        const char *why = c->reason;
        if (c->state == PLAN_READY)
            status = predictor_case(&prediction, predictor, &c->resolved, builds, c->measure.cache, machine, err);
        if (status)
            break;
        if (prediction.time_ns > 0 && !strcmp(prediction.method, "walk"))
            take(programs, programs->rows[c->asked], &prediction);
        else if (c->state == PLAN_READY)
            why = arena_strdup(programs->session.arena, prediction.note_count ? prediction.notes[0] : "it has no code");
        if (why && strcmp(why, said) != 0)
            log_warn("W019", "%s: not predicted: %s", c->label, why);
        said = why ? why : said;
    }
    predictor_free(predictor);
    return status;
}

static enum status predict_programs(struct programs *programs, struct err *err)
{
    struct session *session = &programs->session;
    struct arena *arena = session->arena;
    struct machine_borrowed borrowed = {0};
    struct build_result *builds = NULL;
    enum status status = session_go(session, SESSION_SUITES | SESSION_CATALOG, err);
    session->suites = arena_array(arena, 1, sizeof(*session->suites));
    if (!status)
        status = suite_of(&session->suites[session->suite_count++], programs, arena, err);
    if (status || !programs->count)
        return status;
    if (session_go(session, SESSION_DEVICE | SESSION_MACHINE | SESSION_PLAN, err) ||
        machine_complete(&session->machine, session_config(arena, "", "machines"), &borrowed, err) ||
        predict_build(&builds, session, err))
        return err->status;
    return walk_cases(programs, builds, &session->machine, err);
}

enum status truth_programs(struct truth_guess *raw, struct truth_guess *calibrated, const struct truth *truth,
                           const struct cli_options *options, struct arena *arena, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < truth->count && !status; k++) {
        const struct truth_row *row = &truth->rows[k];
        bool first = row->program && *row->machine;
        for (size_t before = 0; before < k && first; before++)
            first = !truth->rows[before].program || strcmp(truth->rows[before].machine, row->machine) != 0;
        if (!first)
            continue;
        struct cli_options *wanted = arena_copy(arena, options, sizeof(*options));
        wanted->device = arena_printf(arena, "sim:%s", row->machine);
        struct programs programs = {.truth = truth,
                                    .raw = raw,
                                    .calibrated = calibrated,
                                    .machine = row->machine,
                                    .session = {.options = wanted, .arena = arena}};
        status = predict_programs(&programs, err);
    }
    return status;
}
