/* SPDX-License-Identifier: MIT */
#include "execute.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codes.h"
#include "idle.h"
#include "progress.h"
#include "rooftile/clock.h"
#include "rooftile/units.h"
#include "services.h"

struct execution {
    struct session *session;
    struct codes codes;
    struct result_case *cases; /* by plan index */
    bool *have, *skip;
    const char *title;
    struct report_options report;
    uint64_t start_ns;
    double planned_ns, spent_ns; /* estimates of all cases to run, and of those done */
    bool stream;                 /* --format jsonl: events on standard output */
};

/* ---- progress ---- */

static double remaining_ns(const struct execution *execution)
{
    const double wall_ns = (double)(clock_now_ns() - execution->start_ns);
    const double left_ns = execution->planned_ns - execution->spent_ns;
    /* What was planned, corrected by how the plan has held so far (once there is something to correct by). */
    const double scale = execution->spent_ns > 1e9 ? wall_ns / execution->spent_ns : 1;
    return left_ns * scale;
}

static void on_tick(void *context, const struct plan_case *plan_case, const char *phase, size_t done, size_t total)
{
    struct execution *execution = context;
    char left[UNITS_TEXT];
    if (!cli_progress(execution->session->options))
        return;
    progress_show("%s %zu/%zu  %s left  %s  %s", execution->title, done + 1, total,
                  units_time(left, remaining_ns(execution)), phase, plan_case->label);
}

static void say_case(struct execution *execution, const struct result_case *result_case, size_t done, size_t total)
{
    const struct cli_options *options = execution->session->options;
    struct text line = {0};
    if (execution->stream) {
        text_addf(&line,
                  "{\"event\":\"case\",%s\"case\":", execution->session->info.predicted ? "\"predicted\":true," : "");
        result_case_json(&line, result_case);
        text_add(&line, "}\n");
        fputs(line.data, stdout);
        fflush(stdout);
    } else if (!cli_progress(options) && !options->quiet) {
        report_case_line(&line, result_case, done, total);
        fputs(line.data ? line.data : "", stderr);
    }
    text_release(&line);
}

void execute_code_hash(char out[static HASH_TEXT], const struct plan_case *plan_case, const struct build_result *builds)
{
    const struct resolved *resolved = &plan_case->resolved;
    struct text all = {0};
    text_add(&all, "");
    for (size_t k = 0; plan_case->state == PLAN_READY && k < resolved->code_count; k++)
        text_add(&all, builds[resolved->codes[k]].sha256);
    if (resolved->code_count == 1 || !all.length)
        snprintf(out, HASH_TEXT, "%s", all.data);
    else
        hash_sha256(out, all.data, all.length);
    text_release(&all);
}

/* For those who ask where the time goes (-vv), and what the plan got wrong. */
static void say_phases(const struct plan_case *plan_case, const struct measurement *measured)
{
    const struct plan_takes *takes = &plan_case->takes;
    const double planned_ns[SPENT_COUNT] = {
        [SPENT_FILLING] = takes->fill_ns,   [SPENT_VERIFYING] = takes->verify_ns,  [SPENT_SENSING] = takes->sense_ns,
        [SPENT_WARMING] = takes->warmup_ns, [SPENT_MEASURING] = takes->measure_ns,
    };
    struct text line = {0};
    if (log_level() < LOG_DEBUG || plan_case->state != PLAN_READY)
        return;
    for (enum case_phase phase = 0; phase < SPENT_COUNT; phase++)
        text_addf(&line, ", %s %.1f (%.1f)", case_phase_name(phase), measured->spent_ns[phase] / 1e6,
                  planned_ns[phase] / 1e6);
    log_debug("%s: took %.1f ms (planned %.1f)%s", plan_case->id, measured->wall_ns / 1e6, plan_case->estimate_ns / 1e6,
              line.data);
    text_release(&line);
}

static void on_case(void *context, const struct plan_case *plan_case, const struct measurement *measured,
                    const struct machine *machine, size_t done, size_t total)
{
    struct execution *execution = context;
    struct session *session = execution->session;
    char sha256[HASH_TEXT];
    struct result_case *out = &execution->cases[plan_case->index];
    execute_code_hash(sha256, plan_case, session->builds);
    result_case_build(out, plan_case, measured, sha256, machine, session->arena);
    out->code = codes_facts(&execution->codes, plan_case);
    execution->have[plan_case->index] = true;
    execution->spent_ns += plan_case->estimate_ns;
    say_phases(plan_case, measured);
    if (measured->profile_note[0])
        log_warn("W009", "no ranges are marked for the profiler: %s; its kernel trace has no case names",
                 measured->profile_note);
    say_case(execution, out, done, total);
}

static void on_opened(void *context, const struct device_info *info, const struct calibration *calibration)
{
    const struct execution *execution = context;
    idle_warn(info, &calibration->quiet_rates);
    services_warn(execution->session, calibration);
}

/* ---- before and after ---- */

void execute_skipped(struct result_case *out, const struct plan_case *plan_case, const struct session *session)
{
    struct measurement *measured = arena_alloc(session->arena, sizeof(*measured));
    *measured = (struct measurement){
        .status = CASE_SKIPPED, .overhead_ns = NAN, .cross_ns = NAN, .core_hz_before = NAN, .core_hz_after = NAN};
    for (size_t k = 0; k < MEASUREMENT_MAX_METRICS; k++)
        measured->metrics[k] = NAN;
    const char *reason = plan_case->state == PLAN_SKIPPED ? plan_case->reason : session_late_reason(session, "run");
    snprintf(measured->reason, sizeof(measured->reason), "%s", reason);
    result_case_build(out, plan_case, measured, "", &session->machine, session->arena);
}

/* What the budget left no time for is in the result too; a run with such cases is one to --resume. */
static void leave_out(struct execution *execution, struct result *result)
{
    struct session *session = execution->session;
    size_t count = 0;
    for (size_t k = 0; k < session->plan->count; k++) {
        if (execution->have[k])
            continue;
        execute_skipped(&execution->cases[k], &session->plan->cases[k], session);
        execution->have[k] = true;
        count += session->plan->cases[k].state == PLAN_READY;
    }
    result->status = "interrupted";
    log_warn("W015", "the time budget of %s ran out: %zu of %zu cases were not run", session->options->budget, count,
             session->plan->count);
}

const struct result_case *execute_find_ok(const struct result *result, const char *id, size_t *next)
{
    const size_t length = strlen(id), count = result ? result->case_count : 0;
    for (size_t tried = 0; tried < count; tried++) {
        const size_t at = (*next + tried) % count;
        const struct result_case *old = &result->cases[at];
        if (old->status != CASE_OK || strncmp(old->id, id, length) || result_id_length(old->id) != length)
            continue;
        *next = at + 1;
        return old;
    }
    return NULL;
}

static void carry_over(struct execution *execution, const struct result *resumed)
{
    const struct plan *plan = execution->session->plan;
    size_t next = 0;
    for (size_t k = 0; k < plan->count; k++) {
        const struct plan_case *plan_case = &plan->cases[k];
        const struct result_case *old = execute_find_ok(resumed, plan_case->id, &next);
        if (old) {
            execution->cases[k] = *old;
            execution->cases[k].label = plan_case->label;
            execution->have[k] = execution->skip[k] = true;
        } else if (plan_case->state == PLAN_READY) {
            execution->planned_ns += plan_case->estimate_ns;
        }
    }
}

static const char *config_hash(const struct session *session)
{
    if (session->suite_count == 1)
        return session->suites[0]->sha256;
    struct text all = {0};
    char hex[HASH_TEXT];
    for (size_t k = 0; k < session->suite_count; k++)
        text_add(&all, session->suites[k]->sha256);
    hash_sha256(hex, all.data ? all.data : "", all.length);
    text_release(&all);
    return arena_strdup(session->arena, hex);
}

static void take_labels(struct result *result, const struct cli_options *options, struct arena *arena)
{
    struct result_label *labels = arena_array(arena, options->label_count + 2, sizeof(*labels));
    for (size_t k = 0; k < options->label_count; k++) {
        const char *equals = strchr(options->labels[k], '=');
        labels[k].key = equals ? arena_strndup(arena, options->labels[k], (size_t)(equals - options->labels[k]))
                               : options->labels[k];
        labels[k].value = equals ? equals + 1 : "";
    }
    result->labels = labels;
    result->label_count = options->label_count;
    if (options->profile)
        labels[result->label_count++] = (struct result_label){"profile", "not a measurement"};
}

static const char *utc_now(struct arena *arena)
{
    char now[32];
    clock_utc(now);
    return arena_strdup(arena, now);
}

/* What the suites declare; two suites may use a name for different figures, so the second gets its suite's name too. */
static void take_kpis(struct result *result, const struct session *session)
{
    size_t total = 0;
    for (size_t k = 0; k < session->suite_count; k++)
        total += session->suites[k]->kpi_count;
    struct result_kpi *kpis = arena_array(session->arena, total + 1, sizeof(*kpis));
    size_t count = 0;
    for (size_t k = 0; k < session->suite_count; k++)
        for (size_t n = 0; n < session->suites[k]->kpi_count; n++) {
            const struct suite_kpi *from = &session->suites[k]->kpis[n];
            kpis[count] = (struct result_kpi){.name = from->name,
                                              .method = from->method,
                                              .of = from->of,
                                              .unit = from->unit,
                                              .filters = from->filters,
                                              .filter_count = from->filter_count,
                                              .higher_is_better = from->higher_is_better,
                                              .value = NAN,
                                              .reason = ""};
            for (size_t m = 0; m < count; m++)
                if (!strcmp(kpis[m].name, from->name))
                    kpis[count].name = arena_printf(session->arena, "%s/%s", session->suites[k]->name, from->name);
            count++;
        }
    result->kpis = kpis;
    result->kpi_count = count;
}

static void assemble(struct result *result, struct execution *execution)
{
    struct session *session = execution->session;
    const struct plan *plan = session->plan;
    size_t count = 0;
    for (size_t k = 0; k < plan->count; k++) /* results stand in plan order, whatever the order of measuring */
        if (execution->have[k])
            execution->cases[count++] = execution->cases[k];
    result->cases = execution->cases;
    result->case_count = count;
    result->machine = session->machine;
    result->calibration = session->calibration;
    result_take_warnings(result, session->arena);
    if (!result->predicted)
        result->finished_at = utc_now(session->arena);
    result_derive(result, plan, session->options->seed, session->arena);
    take_kpis(result, session);
    result_kpis_evaluate(result, session->arena);
}

/* The version of the compiler that made the code, for the environment; unknown is no error. */
static const char *compiler_version(const struct session *session)
{
    const bool built = !session->info.predicted && session->plan->code_count && session->builds;
    const struct compiler *compiler = built ? session->builds[0].compiler : NULL;
    return compiler ? compiler->version : "";
}

enum status execute_plan(struct result *result, struct session *session, const struct result *resumed,
                         const char *title, struct err *err)
{
    const struct cli_options *options = session->options;
    const size_t count = session->plan->count;
    struct execution execution = {.session = session, .title = title, .start_ns = clock_now_ns()};
    struct ceilings ceilings = {0};
    execution.cases = arena_array(session->arena, count + 1, sizeof(*execution.cases));
    execution.have = arena_array(session->arena, count + 1, sizeof(*execution.have));
    execution.skip = arena_array(session->arena, count + 1, sizeof(*execution.skip));
    execution.report =
        (struct report_options){.color = log_use_color(STDERR_FILENO), .columns = cli_columns(STDERR_FILENO)};
    execution.stream = options->format && !strcmp(options->format, "jsonl");
    carry_over(&execution, resumed);
    *result = (struct result){.seed = options->seed,
                              .trials = 1,
                              .status = "complete",
                              .argc = (size_t)options->argc,
                              .argv = (const char *const *)options->argv,
                              .config_sha256 = config_hash(session),
                              .predicted = session->info.predicted,
                              .raw_samples = options->samples};
    if (!result->predicted) /* nothing of sim's results depends on when they were made */
        result->started_at = utc_now(session->arena);
    result_environment(result, &session->info, options->argc, options->argv, session->arena);
    take_labels(result, options, session->arena);
    result->compiler = compiler_version(session);
    enum status status = options->profile ? STATUS_OK : ceilings_prepare(&ceilings, session, &session_stop, err);
    if (status && !session_late(status))
        return status;
    codes_open(&execution.codes, session);
    codes_disassemble(&execution.codes);
    struct run_options run = {.device = session->request,
                              .seed = options->seed,
                              .order_seed = session->trial_seed,
                              .profile = options->profile,
                              .keep_order = options->keep_order || options->profile,
                              .skip = execution.skip,
                              .refused = codes_refused(&execution.codes),
                              .stop = &session_stop,
                              .opened = on_opened,
                              .case_done = on_case,
                              .tick = on_tick,
                              .context = &execution};
    ceilings_apply(&run, &ceilings);
    execution.start_ns = clock_now_ns();
    status = run_plan(session->plan, session->builds, &session->machine, &session->calibration, &run, err);
    progress_clear();
    if (session_late(status)) {
        leave_out(&execution, result);
        status = STATUS_OK;
    }
    if (status == ERR_INTERRUPTED || status == ERR_DEVICE_LOST)
        result->status = "interrupted";
    if (!status || status == ERR_INTERRUPTED || status == ERR_DEVICE_LOST)
        assemble(result, &execution);
    return status;
}
