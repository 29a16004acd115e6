/* SPDX-License-Identifier: MIT */
#include <sys/random.h>

#include "rooftile/clock.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/journal.h"
#include "rooftile/measure.h"
#include "rooftile/units.h"

struct progress {
    struct session *session;
    const struct execution *what;
    struct result_case *cases; /* by plan index */
    bool *have, *skip;
    const struct result_code *facts; /* by plan index; NULL: not recorded */
    struct journal *journal;         /* NULL: no journal */
    uint64_t start_ns;
    double planned_ns, spent_ns; /* sums of the estimates of all cases to run, and of the finished ones */
};

/* ---- progress ---- */

static void on_tick(void *context, const struct plan_case *plan_case, const char *phase, size_t done, size_t total)
{
    const struct progress *progress = context;
    char left[UNITS_TEXT];
    const double wall_ns = (double)(clock_now_ns() - progress->start_ns);
    /* Corrects the plan's estimate by its error so far, once that is known. */
    const double scale = progress->spent_ns > 1e9 ? wall_ns / progress->spent_ns : 1;
    progress_show(progress->session->options, "%s %zu/%zu  %s left  %s  %s", progress->what->title, done + 1, total,
                  units_time(left, (progress->planned_ns - progress->spent_ns) * scale), phase, plan_case->label);
}

static void on_case(void *context, const struct plan_case *plan_case, const struct measurement *measured,
                    const struct machine *machine, size_t done, size_t total)
{
    struct progress *progress = context;
    struct session *session = progress->session;
    char sha256[HASH_TEXT];
    struct result_case *out = &progress->cases[plan_case->index];
    identity_object(sha256, plan_case, session->builds);
    result_case_build(out, plan_case, measured, sha256, machine, session->arena);
    identity_of(&out->identity, plan_case, session->builds, &session->info);
    identity_take_object(&out->identity, out->object_sha256); /* a library's code is known only now */
    if (progress->facts)
        out->code = progress->facts[plan_case->index];
    if (progress->journal)
        journal_add(progress->journal, out);
    progress->have[plan_case->index] = true;
    progress->spent_ns += plan_case->estimate_ns;
    if (log_level() >= LOG_DEBUG && plan_case->state == PLAN_READY) {
        /* With -vv, shows where the time went and how far the plan was off. */
        SCOPED(text_release) struct text line = {0};
        for (enum case_phase phase = 0; phase < SPENT_COUNT; phase++)
            text_addf(&line, ", %s %.1f", case_phase_names[phase], measured->spent_ns[phase] / 1e6);
        log_debug("%s: took %.1f ms (planned %.1f)%s", plan_case->id, measured->wall_ns / 1e6,
                  plan_case->estimate_ns / 1e6, line.data);
    }
    if (measured->profile_note[0])
        log_warn("W009", "no ranges are marked for the profiler: %s; its kernel trace has no case names",
                 measured->profile_note);
    const struct session_host *host = session->options->host;
    if (!progress->what->verify_only && host && host->case_done)
        host->case_done(session, out, done, total);
}

static void on_opened(void *context, const struct device_info *info, const struct calibration *calibration)
{
    const struct progress *progress = context;
    services_warn(progress->session, info, calibration);
}

/* ---- before and after ---- */

/* Records the cases that the time budget skipped, which marks the result as one to --resume. */
static void skip_rest(struct progress *progress, struct result *result)
{
    struct session *session = progress->session;
    size_t count = 0;
    for (size_t k = 0; k < session->plan->count; k++) {
        if (progress->have[k] || progress->skip[k])
            continue;
        const struct plan_case *c = &session->plan->cases[k];
        struct measurement *measured = arena_alloc(session->arena, sizeof(*measured));
        *measured = (struct measurement){
            .status = CASE_SKIPPED, .overhead_ns = NAN, .cross_ns = NAN, .core_hz_before = NAN, .core_hz_after = NAN};
        for (size_t m = 0; m < MEASUREMENT_MAX_METRICS; m++)
            measured->metrics[m] = NAN;
        snprintf(measured->reason, sizeof(measured->reason), "%s",
                 c->state == PLAN_SKIPPED ? c->reason : session_late_reason(session, "run"));
        result_case_build(&progress->cases[k], c, measured, "", &session->machine, session->arena);
        progress->have[k] = true;
        count += c->state == PLAN_READY;
    }
    result->status = "interrupted";
    log_warn("W015", "the time budget of %s ran out: %zu of %zu case%s were not run", session->options->budget.text,
             count, session->plan->count, text_s(session->plan->count));
}

static void carry_over(struct progress *progress)
{
    const struct plan *plan = progress->session->plan;
    size_t next = 0;
    for (size_t k = 0; k < plan->count; k++) {
        const struct plan_case *plan_case = &plan->cases[k];
        const struct result_case *old = execute_find(progress->what->resumed, plan_case->id, &next);
        const bool rest = progress->what->rest;
        progress->skip[k] = old && (!rest || execute_has_trial(old, progress->what->trial));
        progress->have[k] = progress->skip[k] && !rest;
        if (progress->have[k]) {
            progress->cases[k] = *old;
            progress->cases[k].label = plan_case->label;
        } else if (!progress->skip[k] && plan_case->state == PLAN_READY) {
            progress->planned_ns += plan_case->estimate_ns;
        }
    }
}

static const char *config_hash(const struct session *session)
{
    SCOPED(text_release) struct text all = {0};
    char hex[HASH_TEXT];
    if (session->suite_count == 1)
        return session->suites[0]->sha256;
    for (size_t k = 0; k < session->suite_count; k++)
        text_add(&all, session->suites[k]->sha256);
    hash_sha256(hex, all.data ? all.data : "", all.length);
    return arena_strdup(session->arena, hex);
}

static const char *utc_now(struct arena *arena)
{
    char now[32];
    clock_utc(now);
    return arena_strdup(arena, now);
}

/* Copies the suites' KPIs. If two suites use a name for different figures, the second one is prefixed by its suite's
 * name. */
static void take_kpis(struct result *result, const struct session *session)
{
    struct result_kpi *kpis = NULL;
    size_t count = 0;
    for (size_t k = 0; k < session->suite_count; k++)
        FOR_EACH(const struct suite_kpi, from, session->suites[k]->kpis, session->suites[k]->kpi_count) {
            const char *name = from->name;
            for (size_t m = 0; m < count; m++)
                if (!strcmp(kpis[m].name, from->name))
                    name = arena_printf(session->arena, "%s/%s", session->suites[k]->name, from->name);
            ARENA_PUSH(session->arena, kpis, count,
                       (struct result_kpi){.name = name,
                                           .method = from->method,
                                           .of = from->of,
                                           .unit = from->unit,
                                           .filters = from->filters,
                                           .filter_count = from->filter_count,
                                           .higher_is_better = from->higher_is_better,
                                           .value = NAN,
                                           .reason = ""});
        }
    result->kpis = kpis;
    result->kpi_count = count;
}

/* Returns the version of the compiler that made the code, for the environment; "" if unknown. */
static const char *compiler_version(const struct session *session)
{
    const bool built = !session->info.predicted && session->plan->code_count && session->builds;
    const struct compiler *compiler = built ? session->builds[0].compiler : NULL;
    return compiler ? compiler->version : "";
}

static void begin_result(struct result *result, const struct session *session)
{
    const struct cli_options *options = session->options;
    *result = (struct result){.seed = options->seed,
                              .trials = 1,
                              .status = "complete",
                              .argc = (size_t)options->argc,
                              .argv = (const char *const *)options->argv,
                              .config_sha256 = config_hash(session),
                              .predicted = session->info.predicted,
                              .raw_samples = options->samples,
                              .compiler = compiler_version(session),
                              .job = session->job};
    if (!result->predicted) /* sim's results must not depend on when they were made */
        result->started_at = utc_now(session->arena);
    result_environment(result, &session->info, options->argc, options->argv, session->arena);
    struct result_label *labels = NULL;
    for (size_t k = 0; k < options->label_count; k++) {
        const char *label = options->labels[k];
        const size_t length = strcspn(label, "=");
        ARENA_PUSH(session->arena, labels, result->label_count,
                   (struct result_label){arena_strndup(session->arena, label, length), label + length + 1});
    }
    if (options->profile)
        ARENA_PUSH(session->arena, labels, result->label_count, (struct result_label){"profile", "not a measurement"});
    result->labels = labels;
}

/* Copies the cases in plan order, whatever the order of measuring. */
static void take_cases(struct result *result, const struct progress *progress)
{
    const size_t count = progress->session->plan->count;
    struct result_case *cases = arena_array(progress->session->arena, count + 1, sizeof(*cases));
    result->case_count = 0;
    for (size_t k = 0; k < count; k++)
        if (progress->have[k])
            cases[result->case_count++] = progress->cases[k];
    result->cases = cases;
}

/* Stays below 2^32, which is short enough to be typed in again. */
static uint64_t sample_seed(const struct cli_options *options)
{
    uint32_t drawn = 0;
    if (options->sample_seed || getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) != sizeof(drawn))
        return options->sample_seed;
    return drawn ? drawn : 1;
}

/* ---- the journal ---- */

/* Chooses the journal's path: in the data folder if there is no result file. Predictions have no journal because they
 * are quickly repeated. */
static enum status journal_place(const char **path, const struct progress *progress, struct err *err)
{
    struct session *session = progress->session;
    const char *base = progress->what->journal;
    char *folder = NULL;
    *path = NULL;
    if (base && *base)
        *path = journal_of(base, session->arena);
    if (!base || *base || session->info.predicted)
        return STATUS_OK;
    if (path_data_dir(&folder, true, session->arena, err) ||
        file_make_dirs(path_join(session->arena, folder, "journals"), err))
        return err->status;
    *path = path_new(session->arena, path_join(session->arena, folder, "journals/"), JOURNAL_SUFFIX);
    return STATUS_OK;
}

/* If the journal cannot be written, the run continues without one. */
static enum status open_journal(struct progress *progress, const struct result *result, struct err *err)
{
    struct session *session = progress->session;
    const char *path = NULL, *resumed = session->options->resume;
    const struct execution *what = progress->what;
    struct result begun = *result;
    begun.machine = session->machine;
    take_cases(&begun, progress);
    if (what->rest && session->journal_count) {
        progress->journal = session->journals[session->journal_count - 1];
        journal_next_trial(progress->journal, &begun);
        return STATUS_OK;
    }
    const bool continues = what->rest && what->resumed; /* the resumed result's trials come first */
    enum status status = journal_place(&path, progress, err);
    if (!status && path) {
        const bool goes_on = resumed && (!strcmp(path, resumed) || !strcmp(path, journal_of(resumed, session->arena)));
        status = journal_begin(&progress->journal, path, continues ? what->resumed : &begun, goes_on, err);
        if (!status && continues)
            journal_next_trial(progress->journal, &begun);
    }
    if (status && !*progress->what->journal) {
        log_warn("W018", "%s: what this run measures is lost if it is killed", err->text);
        *err = (struct err){0};
        return STATUS_OK;
    }
    if (progress->journal) {
        ARENA_PUSH(session->arena, session->journals, session->journal_count, progress->journal);
        log_verbose("what is measured is kept in %s", path);
        session_last_words = arena_printf(session->arena, "\nrooftile: what was measured is in %s\n", path);
    }
    return status;
}

void execute_journals_done(struct session *session)
{
    for (size_t k = 0; k < session->journal_count; k++)
        journal_end(session->journals[k], true);
    session->journal_count = 0;
    session_last_words = NULL;
}

enum status execute_journals_kept(struct session *session, struct err *err)
{
    const char *before = "; what was measured is in ";
    for (size_t k = 0; k < session->journal_count; k++) {
        struct journal *journal = session->journals[k];
        const size_t kept = journal_kept(journal), cases = journal_cases(journal);
        if (kept)
            err_set(err, err->status, "%s%s%s (%zu of %zu cases)", err->text, before, journal_path(journal), kept,
                    cases);
        before = kept ? ", " : before;
        journal_end(journal, !kept);
    }
    session->journal_count = 0;
    session_last_words = NULL;
    return err->status;
}

static enum status run_cases(struct progress *progress, struct err *err)
{
    struct session *session = progress->session;
    const struct cli_options *options = session->options;
    const bool measures = !progress->what->verify_only;
    struct codes codes = {0};
    struct run_options run = {.device = session->request,
                              .arch = session->info.arch,
                              .together = session->together,
                              .seed = options->seed,
                              .sample_seed = sample_seed(options),
                              .order_seed = session->trial_seed,
                              .verify_only = progress->what->verify_only,
                              .inject = progress->what->inject,
                              .lane_order = progress->what->lane_order,
                              .profile = options->profile,
                              .patient = session->info.emulated[0] && !options->timeout.text,
                              .keep_order = options->keep_order || options->profile || !measures,
                              .skip = progress->skip,
                              .stop = &session_stop,
                              .opened = measures ? on_opened : NULL,
                              .case_done = on_case,
                              .tick = on_tick,
                              .context = progress};
    enum status status = options->profile || !measures ? STATUS_OK : services_add(&run, session, err);
    if (status && !session_late(status))
        return status;
    codes_open(&codes, session);
    progress->facts = measures ? codes_facts(&codes) : NULL;
    run.refused = codes_refused(&codes);
    progress->start_ns = clock_now_ns();
    status = run_plan(session->plan, session->builds, &session->machine, &session->calibration, &run, err);
    progress_clear();
    return status;
}

/* ---- resuming an earlier result ---- */

const struct result_case *execute_find(const struct result *result, const char *id, size_t *next)
{
    const size_t length = strlen(id), count = result ? result->case_count : 0;
    for (size_t tried = 0; tried < count; tried++) {
        const size_t at = (*next + tried) % count;
        const struct result_case *old = &result->cases[at];
        if (strncmp(old->id, id, length) || result_id_length(old->id) != length)
            continue;
        *next = at + 1;
        return old;
    }
    return NULL;
}

bool execute_has_trial(const struct result_case *c, uint32_t trial)
{
    for (size_t k = 0; k < c->trial_count; k++)
        if (c->trials[k].index == trial)
            return true;
    return !c->trial_count && !trial;
}

/* Whether an old case is final: measured correctly, or impossible to run here. Results of different code, launches etc.
 * must not be mixed with new ones, so a case is repeated if any part of its identity differs or is unknown. */
static bool stays(unsigned *changed, const struct result_case *old, const struct plan_case *plan_case,
                  const struct session *session)
{
    struct identity now;
    if (plan_case->state != PLAN_READY)
        return old->status == CASE_SKIPPED;
    if (old->status != CASE_OK)
        return false;
    identity_of(&now, plan_case, session->builds, &session->info);
    for (size_t part = 0; part < IDENTITY_PARTS; part++)
        if (strcmp(now.parts[part], old->identity.parts[part]) != 0) {
            *changed |= IDENTITY_BIT(part);
            return false;
        }
    return true;
}

enum status execute_check_place(const struct result *old, const struct session *session, struct err *err)
{
    const char *const names[] = {session->options->resume, "this run"};
    struct result here;
    begin_result(&here, session);
    return result_same_place(old, &here, names, err);
}

void execute_resume(struct result *kept, const struct result *old, const struct session *session)
{
    const struct plan *plan = session->plan;
    struct result_case *cases = arena_array(session->arena, plan->count + 1, sizeof(*cases));
    size_t next = 0, again = 0;
    unsigned changed = 0;
    begin_result(kept, session);
    for (size_t k = 0; k < plan->count; k++) {
        const struct result_case *c = execute_find(old, plan->cases[k].id, &next);
        unsigned parts = 0;
        if (c && stays(&parts, c, &plan->cases[k], session)) {
            cases[kept->case_count] = *c;
            cases[kept->case_count++].label = plan->cases[k].label;
        }
        again += parts != 0;
        changed |= parts;
    }
    kept->cases = cases;
    kept->run_id = old->run_id;
    kept->started_at = old->started_at;
    kept->finished_at = old->finished_at;
    kept->warnings = old->warnings;
    kept->warning_count = old->warning_count;
    kept->trial_index = old->trial_index;
    kept->trials = old->trials;
    kept->parts = old->parts;
    kept->part_count = old->part_count;
    kept->machine = old->machine;
    kept->calibration = old->calibration;
    take_kpis(kept, session);
    if (again)
        log_warn("W016", "%zu case%s of %s must be measured again, not the same any more: %s", again, text_s(again),
                 session->options->resume, identity_words(changed, session->arena));
}

enum status execute_plan(struct result *result, struct session *session, const struct execution *what, struct err *err)
{
    const size_t room = session->plan->count + 1;
    struct progress progress = {.session = session,
                                .what = what,
                                .cases = arena_array(session->arena, room, sizeof(*progress.cases)),
                                .have = arena_array(session->arena, room, sizeof(*progress.have)),
                                .skip = arena_array(session->arena, room, sizeof(*progress.skip))};
    carry_over(&progress);
    begin_result(result, session);
    result->trial_index = what->part.trial_index;
    result->run_id = what->part.run_id ? what->part.run_id : result->run_id;
    result->started_at = what->part.started_at ? what->part.started_at : result->started_at;
    enum status status = open_journal(&progress, result, err);
    if (!status)
        status = run_cases(&progress, err);
    if (session_late(status)) {
        skip_rest(&progress, result);
        status = STATUS_OK;
    }
    if (status == ERR_INTERRUPTED || status == ERR_DEVICE_LOST)
        result->status = "interrupted";
    if (status && status != ERR_INTERRUPTED && status != ERR_DEVICE_LOST)
        return status;
    take_cases(result, &progress);
    result->machine = session->machine;
    result->calibration = session->calibration;
    result_take_warnings(result, session->arena);
    if (!result->predicted)
        result->finished_at = utc_now(session->arena);
    result_derive(result, session->plan, session->options->seed, session->arena);
    take_kpis(result, session);
    result_kpis_evaluate(result, session->arena);
    return status;
}
