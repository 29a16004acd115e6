/* SPDX-License-Identifier: MIT
 *
 * A/A: measures the same build repeatedly to learn this machine's noise, the detectable shifts of each case, and which
 * cases are too noisy to gate.
 */

#include "cli.h"
#include "rooftile/noise_file.h"
#include "rooftile/units.h"

enum { DEFAULT_TRIALS = 20, COMPARE_TRIALS = 5, MOST_ROWS = 40 };

#define AA_CLASSES 64

struct aa {
    struct arena *arena;
    const struct result *result;
    struct noise_class classes[AA_CLASSES];
    size_t class_count;
    struct noise_case *cases;
    size_t count;
    struct noise_summary summary;
    const char *path; /* path of the noise file; NULL: not written */
};

static enum status learn(struct aa *aa, struct err *err)
{
    const struct result *result = aa->result;
    const struct shift_options options = shift_defaults();
    aa->cases = arena_array(aa->arena, result->case_count + 1, sizeof(*aa->cases));
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (!result_case_counts(c))
            continue;
        double *times = arena_array(aa->arena, SHIFT_MAX_TRIALS, sizeof(*times));
        const char *class = text_or_empty(c->class);
        uint32_t group = 0; /* classes beyond AA_CLASSES - 1 share the last group */
        while (group < aa->class_count && group < AA_CLASSES - 1 && strcmp(aa->classes[group].name, class) != 0)
            group++;
        if (group == aa->class_count)
            aa->classes[aa->class_count++].name = group == AA_CLASSES - 1 ? "other" : class;
        aa->cases[aa->count++] = (struct noise_case){.id = c->id,
                                                     .label = c->label,
                                                     .class = class,
                                                     .group = group,
                                                     .time_ns = result_case_time(c),
                                                     .trial_ns = times,
                                                     .trials = result_trial_times(times, c),
                                                     .floor = result_case_floor(c, result->calibration.timer_tick_ns)};
    }
    return noise_learn(aa->cases, aa->count, aa->classes, aa->class_count, &aa->summary, COMPARE_TRIALS, &options, err);
}

static enum status save(struct aa *aa, struct err *err)
{
    const char *path = NULL;
    const struct noise_file *older = NULL;
    struct noise_file file = {.device = aa->result->device.name, .learned_at = text_or_empty(aa->result->finished_at)};
    struct noise_case *cases = NULL;
    struct noise_class *classes = NULL;
    snprintf(file.fingerprint, sizeof(file.fingerprint), "%s", aa->result->fingerprint);
    for (size_t k = 0; k < aa->count; k++)
        if (aa->cases[k].learned && aa->cases[k].sigma > 0)
            ARENA_PUSH(aa->arena, cases, file.case_count, aa->cases[k]);
    if (!file.case_count)
        return STATUS_OK; /* no case has known noise */
    for (size_t k = 0; k < aa->class_count; k++)
        if (aa->classes[k].sigma > 0)
            ARENA_PUSH(aa->arena, classes, file.class_count, aa->classes[k]);
    file.cases = cases;
    file.classes = classes;
    if (noise_file_path(&path, aa->result, true, aa->arena, err) || noise_file_read(&older, path, aa->arena, err))
        return err->status;
    noise_file_keep(&file, older, aa->arena);
    aa->path = path;
    return noise_file_write(&file, path, err);
}

/* ---- as a document: the noise file's members and the conclusions from them ---- */

/* Sorts by decreasing noise, and equal noise by the order of the run. */
static int by_sigma(const void *a, const void *b)
{
    const struct noise_case *p = *(const struct noise_case *const *)a, *q = *(const struct noise_case *const *)b;
    const double x = isfinite(p->sigma) ? p->sigma : -1, y = isfinite(q->sigma) ? q->sigma : -1;
    return ORDER(y, x) ?: ORDER(p, q);
}

static const struct table *cases_of(const struct aa *aa, bool all)
{
#define OF_CASE(member) FIELD(struct noise_case, member)
    static const struct table_column columns[] = {
        {.title = "case", OF_CASE(label)},
        {.key = "id", OF_CASE(id)},
        {.key = "class", OF_CASE(class)},
        {.title = "time", .unit = UNIT_TIME, OF_CASE(time_ns)},
        {.key = "sigma", .title = "noise", .unit = UNIT_PERCENT, .flags = COLUMN_OPTIONAL, OF_CASE(sigma)},
        {.key = "sd", .title = "sd", .unit = UNIT_PERCENT, OF_CASE(sd)},
        {.key = "mde_compare", .title = "5 v 5", .unit = UNIT_PERCENT, OF_CASE(mde_compare)},
        {.key = "mde_week", .title = "7 runs", .unit = UNIT_PERCENT, OF_CASE(mde_week)},
        {.key = "mde_run", OF_CASE(mde_run)},
        {.key = "trials", OF_CASE(trials)},
        {.key = "too_noisy", OF_CASE(too_noisy)},
        {.title = "", .flags = COLUMN_PROSE},
    };
    const struct noise_case **order = arena_pointers(aa->arena, aa->cases, aa->count, sizeof(*aa->cases));
    struct table *table = TABLE(aa->arena, columns);
    qsort(order, aa->count, sizeof(*order), by_sigma);
    for (size_t k = 0; k < aa->count; k++)
        table_add_object(table, order[k])->cells[COUNT_OF(columns) - 1] =
            cell_text(order[k]->too_noisy ? "too noisy to gate" : "");
    table->most_rows = all ? 0 : MOST_ROWS;
    table->rest = "quieter ones (-v shows them)";
    return table;
}

static const struct table *classes_of(const struct aa *aa)
{
#define OF_CLASS(member) FIELD(struct noise_class, member)
    static const struct table_column columns[] = {
        {.key = "class", .title = "class", OF_CLASS(name)},
        {.key = "sigma", .title = "noise", .unit = UNIT_PERCENT, .flags = COLUMN_OPTIONAL, OF_CLASS(sigma)},
        {.key = "cases", .title = "cases", .unit = UNIT_COUNT, OF_CLASS(cases)}};
    struct table *table = TABLE_OF(aa->arena, columns, aa->classes, aa->class_count);
    table->indent = 2;
    return table;
}

static const struct table *head_of(const struct aa *aa)
{
#define OF_SUMMARY(member)                                                                                             \
    {                                                                                                                  \
        .key = #member, FIELD(struct noise_summary, member)                                                            \
    }
    static const struct table_column quantiles[] = {OF_SUMMARY(min),    OF_SUMMARY(p10), OF_SUMMARY(q1),
                                                    OF_SUMMARY(median), OF_SUMMARY(q3),  OF_SUMMARY(p90),
                                                    OF_SUMMARY(p99),    OF_SUMMARY(max)};
    const struct result *result = aa->result;
    struct table *head = table_record(aa->arena);
    table_member(head, "schema", NULL, cell_text(NOISE_FILE_SCHEMA));
    table_member(head, "fingerprint", NULL, cell_text(result->fingerprint));
    table_member(head, "device", NULL, cell_text(result->device.name));
    table_member(head, "learned_at", NULL, cell_text(text_or_empty(result->finished_at)));
    table_member(head, "trials", NULL, cell_number(result_trials(result)));
    table_member(head, "sigma", NULL, cell_table(RECORD_OF(aa->arena, quantiles, &aa->summary)));
    table_member(head, "quiet_share", NULL, cell_number(aa->summary.quiet_share));
    table_member(head, "too_noisy", NULL, cell_number((double)aa->summary.too_noisy));
    return head;
}

static const char *summary_of(const struct aa *aa)
{
    const struct noise_summary *s = &aa->summary;
    char words[5][UNITS_TEXT];
    const char *head =
        arena_printf(aa->arena,
                     "%zu case%s, %u trials each, on %s\n"
                     "noise: how far one trial's median lies from the next's (robust; sd has the glitches in it); "
                     "5 v 5, 7 runs: the smallest change that shows with so many trials or runs",
                     s->cases, text_s(s->cases), result_trials(aa->result), aa->result->device.name);
    if (!s->learned)
        return arena_printf(aa->arena, "%s\nnothing is learned from fewer than %d trials", head, SHIFT_LEARNED_TRIALS);
    return arena_printf(
        aa->arena,
        "%s\nhalf of the cases below %s, 3 of 4 below %s, 99 of 100 below %s, the noisiest %s\n%s of the cases stay "
        "under %.1f %%; %zu %s too noisy to gate",
        head, units_percent(words[0], s->median), units_percent(words[1], s->q3), units_percent(words[2], s->p99),
        units_percent(words[3], s->max), units_percent(words[4], s->quiet_share), NOISE_QUIET * 100, s->too_noisy,
        s->too_noisy == 1 ? "is" : "are");
}

static enum status show(const struct aa *aa, const struct cli_options *options, struct err *err)
{
    struct document document = {.arena = aa->arena,
                                .title = arena_printf(aa->arena, "The noise of %s", aa->result->device.name)};
    document_add(&document, (struct section){.show = SHOW_DATA, .table = head_of(aa)});
    document_table(&document, "cases", NULL, cases_of(aa, options->verbose > 0));
    document_text(&document, SHOW_PEOPLE, TONE_PLAIN, "%s", summary_of(aa));
    document_add(
        &document,
        (struct section){.show = aa->summary.learned ? 0 : SHOW_DATA, .key = "classes", .table = classes_of(aa)});
    if (aa->path)
        document_text(&document, SHOW_PEOPLE, TONE_PLAIN, "learned: compare and the gate will use %s", aa->path);
    struct cli_options shown = *options;
    shown.json = options->out;
    shown.out = NULL;
    return cli_show_document(&shown, &document, true, err);
}

enum status cmd_aa(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct session session = {.options = options, .arena = call->arena};
    struct trials run = {.session = &session, .title = "A/A", .out = options->out};
    struct result *result = arena_alloc(call->arena, sizeof(*result));
    struct aa *aa = arena_alloc(call->arena, sizeof(*aa));
    *aa = (struct aa){.arena = call->arena, .result = result};
    session_catch_signals(0);
    if (trials_check(options, "aa", call->arena, err) ||
        session_go(&session, SESSION_PREPARE | SESSION_VALID | SESSION_CODE | SESSION_PREDICT, err))
        return err->status;
    if (session.info.emulated[0])
        return err_set(err, ERR_USAGE, "%s is emulated, so it has no noise to learn", session.info.id);
    if (session.info.predicted)
        return err_set(err, ERR_USAGE, "sim predicts and measures nothing: a prediction has no noise");
    if (options->trials && options->trials < SHIFT_LEARNED_TRIALS)
        log_info("aa: %u trial%s will teach nothing: at least %d are needed", options->trials, text_s(options->trials),
                 SHIFT_LEARNED_TRIALS);
    const enum status status = trials_measure(result, &run, options->trials ? options->trials : DEFAULT_TRIALS, err);
    const bool interrupted = status == ERR_INTERRUPTED && run.count;
    if ((status && !interrupted) || (options->result && result_write(result, options->result, err)) || learn(aa, err) ||
        save(aa, err) || show(aa, options, err))
        return execute_journals_kept(&session, err);
    execute_journals_done(&session);
    call->code = interrupted ? 130 : result_exit_code(result, options->strict);
    return STATUS_OK;
}
