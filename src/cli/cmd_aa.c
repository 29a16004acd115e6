/* SPDX-License-Identifier: MIT
 *
 * A/A: the same build again and again, to learn how far this machine's own noise goes, which shifts can be seen in
 * which case, and which cases are too noisy to gate.
 */

#include "cli.h"
#include "rooftile/noise_file.h"
#include "rooftile/units.h"

enum { DEFAULT_TRIALS = 20, COMPARE_TRIALS = 5, MOST_ROWS = 40 };

#define AA_CLASSES 64

struct aa {
    struct arena *arena;
    const struct result *result;
    const char *class_names[AA_CLASSES];
    struct noise_class classes[AA_CLASSES];
    size_t class_count;
    const struct result_case **of; /* the result's case of each row */
    struct noise_case *cases;
    size_t count;
    struct noise_summary summary;
    const char *path; /* of the noise file; NULL: nothing was learned */
};

/* More classes than AA_CLASSES are one class together. */
static uint32_t class_of(struct aa *aa, const char *name)
{
    uint32_t k = 0;
    name = name ? name : "";
    while (k < aa->class_count && k < AA_CLASSES - 1 && strcmp(aa->class_names[k], name) != 0)
        k++;
    if (k == aa->class_count)
        aa->class_names[aa->class_count++] = k == AA_CLASSES - 1 ? "other" : name;
    return k;
}

static struct noise_input input_of(struct aa *aa, const struct result_case *c)
{
    struct noise_input in = {.group = class_of(aa, c->class)};
    double *times = arena_array(aa->arena, c->trial_count + 1, sizeof(*times));
    for (size_t k = 0; k < c->trial_count; k++)
        if (c->trials[k].status == CASE_OK && c->trials[k].median_ns > 0)
            times[in.trials++] = c->trials[k].median_ns;
    const double tick_ns = aa->result->calibration.timer_tick_ns;
    in.trial_ns = times;
    in.floor = tick_ns > 0 ? tick_ns / (result_case_time(c) * (c->batch ? c->batch : 1)) : 0;
    return in;
}

static enum status learn(struct aa *aa, struct err *err)
{
    const struct result *result = aa->result;
    const struct shift_options options = shift_defaults();
    struct noise_input *inputs = arena_array(aa->arena, result->case_count + 1, sizeof(*inputs));
    aa->of = arena_array(aa->arena, result->case_count + 1, sizeof(const struct result_case *));
    aa->cases = arena_array(aa->arena, result->case_count + 1, sizeof(*aa->cases));
    for (size_t k = 0; k < result->case_count; k++) {
        if (!result_case_counts(&result->cases[k]))
            continue;
        aa->of[aa->count] = &result->cases[k];
        inputs[aa->count++] = input_of(aa, &result->cases[k]);
    }
    return noise_learn(aa->cases, aa->classes, aa->class_count, &aa->summary, inputs, aa->count, COMPARE_TRIALS,
                       &options, err);
}

static enum status save(struct aa *aa, struct err *err)
{
    const char *path = NULL;
    const struct noise_file *older = NULL;
    struct noise_file file = {.device = aa->result->device.name,
                              .learned_at = aa->result->finished_at ? aa->result->finished_at : ""};
    struct noise_file_case *cases = NULL;
    struct noise_file_class *classes = NULL;
    snprintf(file.fingerprint, sizeof(file.fingerprint), "%s", aa->result->fingerprint);
    for (size_t k = 0; k < aa->count; k++)
        if (aa->cases[k].learned && aa->cases[k].sigma > 0)
            ARENA_PUSH(aa->arena, cases, file.case_count,
                       (struct noise_file_case){.id = aa->of[k]->id,
                                                .class = aa->of[k]->class ? aa->of[k]->class : "",
                                                .sigma = aa->cases[k].sigma,
                                                .trials = aa->cases[k].trials});
    if (!file.case_count)
        return STATUS_OK; /* nothing was learned */
    for (size_t k = 0; k < aa->class_count; k++)
        if (aa->classes[k].sigma > 0)
            ARENA_PUSH(aa->arena, classes, file.class_count,
                       (struct noise_file_class){
                           .name = aa->class_names[k], .sigma = aa->classes[k].sigma, .cases = aa->classes[k].cases});
    file.cases = cases;
    file.classes = classes;
    if (noise_file_path(&path, aa->result, true, aa->arena, err) || noise_file_read(&older, path, aa->arena, err))
        return err->status;
    noise_file_keep(&file, older, aa->arena);
    aa->path = path;
    return noise_file_write(&file, path, err);
}

/* ---- as a document: the noise file's members, and what follows from them ---- */

static const struct table_column case_columns[] = {
    {.title = "case"},
    {.key = "id"},
    {.key = "class"},
    {.title = "time", .unit = UNIT_TIME},
    {.key = "sigma", .title = "noise", .unit = UNIT_PERCENT},
    {.key = "sd", .title = "sd", .unit = UNIT_PERCENT},
    {.key = "mde_compare", .title = "5 v 5", .unit = UNIT_PERCENT},
    {.key = "mde_week", .title = "7 runs", .unit = UNIT_PERCENT},
    {.key = "mde_run"},
    {.key = "trials"},
    {.key = "too_noisy"},
    {.title = "", .flags = COLUMN_PROSE},
};

/* The noisiest first; what is as noisy as another in the order of the run. */
static int by_sigma(const void *a, const void *b)
{
    const struct noise_case *p = *(const struct noise_case *const *)a, *q = *(const struct noise_case *const *)b;
    const double x = isfinite(p->sigma) ? p->sigma : -1, y = isfinite(q->sigma) ? q->sigma : -1;
    return ORDER(y, x) ?: ORDER(p, q);
}

static const struct table *cases_of(const struct aa *aa, bool all)
{
    const struct noise_case **order = arena_array(aa->arena, aa->count + 1, sizeof(const struct noise_case *));
    struct table *table = TABLE(aa->arena, case_columns);
    for (size_t k = 0; k < aa->count; k++)
        order[k] = &aa->cases[k];
    qsort(order, aa->count, sizeof(*order), by_sigma);
    for (size_t k = 0; k < aa->count; k++) {
        const struct noise_case *noise = order[k];
        const struct result_case *c = aa->of[noise - aa->cases];
        table_add(table,
                  (struct cell[]){cell_text(c->label), cell_text(c->id), cell_text(c->class ? c->class : ""),
                                  cell_number(result_case_time(c)), cell_positive(noise->sigma), cell_number(noise->sd),
                                  cell_number(noise->mde_compare), cell_number(noise->mde_week),
                                  cell_number(noise->mde_run), cell_number((double)noise->trials),
                                  cell_bool(noise->too_noisy), cell_text(noise->too_noisy ? "too noisy to gate" : "")});
    }
    table->most_rows = all ? 0 : MOST_ROWS;
    table->rest = "quieter ones (-v shows them)";
    return table;
}

static const struct table *classes_of(const struct aa *aa)
{
    static const struct table_column columns[] = {{.key = "class", .title = "class"},
                                                  {.key = "sigma", .title = "noise", .unit = UNIT_PERCENT},
                                                  {.key = "cases", .title = "cases", .unit = UNIT_COUNT}};
    struct table *table = TABLE(aa->arena, columns);
    for (size_t k = 0; k < aa->class_count; k++)
        table_add(table, (struct cell[]){cell_text(aa->class_names[k]), cell_positive(aa->classes[k].sigma),
                                         cell_number((double)aa->classes[k].cases)});
    table->indent = 2;
    return table;
}

static const struct table *head_of(const struct aa *aa)
{
    const struct result *result = aa->result;
    const struct noise_summary *s = &aa->summary;
    const struct {
        const char *key;
        double value;
    } quantiles[] = {{"min", s->min}, {"p10", s->p10}, {"q1", s->q1},   {"median", s->median},
                     {"q3", s->q3},   {"p90", s->p90}, {"p99", s->p99}, {"max", s->max}};
    struct table *head = table_record(aa->arena), *sigma = table_record(aa->arena);
    for (size_t k = 0; k < sizeof(quantiles) / sizeof(*quantiles); k++)
        table_member(sigma, quantiles[k].key, NULL, cell_number(quantiles[k].value));
    table_member(head, "schema", NULL, cell_text(NOISE_FILE_SCHEMA));
    table_member(head, "fingerprint", NULL, cell_text(result->fingerprint));
    table_member(head, "device", NULL, cell_text(result->device.name));
    table_member(head, "learned_at", NULL, cell_text(result->finished_at ? result->finished_at : ""));
    table_member(head, "trials", NULL, cell_number(result_trials(result)));
    table_member(head, "sigma", NULL, cell_table(sigma));
    table_member(head, "quiet_share", NULL, cell_number(s->quiet_share));
    table_member(head, "too_noisy", NULL, cell_number((double)s->too_noisy));
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
