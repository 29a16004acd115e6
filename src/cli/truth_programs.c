/* SPDX-License-Identifier: MIT
 *
 * Times of whole programs: kernels of the same name, compiled for the machine and walked, at the sizes of the rows.
 */

#include "cli.h"
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
    const char *said; /* why a case has no prediction; the last one */
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
    const struct machine *machine = programs->session.complete;
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

static void say_why(struct programs *programs, const struct plan_case *c, const char *why)
{
    if (!programs->said || strcmp(why, programs->said) != 0)
        log_warn("W019", "%s: not predicted: %s", c->label, why);
    programs->said = arena_strdup(programs->session.arena, why);
}

/* Only from code: what a manifest says of the work is no prediction of the program. */
static void take_case(struct session *session, size_t at, const struct prediction *prediction)
{
    struct programs *programs = session->context;
    const struct plan_case *c = &session->plan->cases[at];
    if (prediction->time_ns > 0 && !strcmp(prediction->method, "walk"))
        take(programs, programs->rows[c->asked], prediction);
    else
        say_why(programs, c, prediction->note_count ? prediction->notes[0] : "it has no code");
}

static enum status predict_programs(struct programs *programs, struct err *err)
{
    struct session *session = &programs->session;
    struct arena *arena = session->arena;
    enum status status = session_go(session, SESSION_SUITES | SESSION_CATALOG, err);
    session->suites = arena_array(arena, 1, sizeof(*session->suites));
    if (!status)
        status = suite_of(&session->suites[session->suite_count++], programs, arena, err);
    if (status || !programs->count)
        return status;
    session->predicted = take_case;
    session->context = programs;
    status = session_go(session, SESSION_DEVICE | SESSION_MACHINE | SESSION_PLAN | SESSION_PREDICT, err);
    FOR_EACH(const struct plan_case, c, session->plan->cases, status ? 0 : session->plan->count)
        if (c->state != PLAN_READY)
            say_why(programs, c, c->reason);
    return status;
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
