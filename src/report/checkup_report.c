/* SPDX-License-Identifier: MIT
 *
 * The checkup as a document: a page, a few lines, and for programs by configs/schema/checkup.schema.json.
 */

#include "report_internal.h"
#include "rooftile/checkup.h"
#include "rooftile/file.h"

enum { NOISIEST = 12, MOST_LINES = 10, MOST_DATA = 32 << 20 };

static const char *const said[CHECKUP_WORDS] = {
    [CHECKUP_PASS] =
        "All is well: every kernel that applies to this device gave right results, and nothing measured is impossible.",
    [CHECKUP_INCOMPLETE] =
        "Nothing is wrong in what was seen, but not everything was seen: the sections below say what is missing.",
    [CHECKUP_BROKEN] = "Something could not be built or measured, so nothing can be said about it.",
    [CHECKUP_FINDINGS] = ("Something is wrong: a wrong result, a crash, a time that physics forbids, or a slow device. "
                          "The sections below say what."),
};

static struct cell verdict(enum checkup_word word)
{
    return cell_toned(checkup_name(word), word == CHECKUP_PASS         ? TONE_GOOD
                                          : word == CHECKUP_INCOMPLETE ? TONE_DOUBT
                                                                       : TONE_BAD);
}

static const char *device_of(const struct checkup *checkup)
{
    return checkup->facts ? checkup->facts->device.name : checkup->device;
}

/* ---- all steps ---- */

/* The first findings, a line each. */
static const char *first_findings(const struct table *findings, struct arena *arena)
{
    const char *lines = findings->row_count ? "" : NULL;
    for (size_t k = 0; k < findings->row_count && k < MOST_LINES; k++)
        lines =
            arena_printf(arena, "%s%s  %s\n", lines, findings->rows[k].cells[1].text, findings->rows[k].cells[0].text);
    return findings->row_count > MOST_LINES
               ? arena_printf(arena, "%s... and %zu more\n", lines, findings->row_count - MOST_LINES)
               : lines;
}

/* As many digits in each row, for people. */
static struct cell seconds(double value, struct arena *arena)
{
    struct cell cell = cell_number(value);
    cell.text = arena_printf(arena, "%.3g s", value);
    return cell;
}

static struct table *steps_of(const struct checkup *checkup, bool notes, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "name", .title = "step", .flags = COLUMN_LINK},
        {.key = "verdict", .title = "verdict"},
        {.key = "exit_code"},
        {.key = "seconds", .title = "time", .unit = "s"},
        {.key = "budget_s", .title = "at most", .unit = "s"},
        {.key = "headline", .title = "what came out", .flags = COLUMN_PROSE},
        {.key = "numbers"},
        {.key = "findings"},
        {.key = "skipped"},
        {.key = "log_tail"},
    };
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct checkup_section, section, checkup->sections, STEP_COUNT) {
        if (!section->ran)
            continue;
        struct table_row *row =
            table_add(table, (struct cell[]){cell_text(section->name), verdict(section->word),
                                             cell_number(section->exit_code), seconds(section->seconds, arena),
                                             seconds(section->budget_s, arena), cell_text(section->headline),
                                             cell_table(section->numbers), cell_table(section->findings),
                                             cell_table(section->skipped), cell_text(section->log)});
        row->note = notes ? first_findings(section->findings, arena) : NULL;
    }
    return table;
}

/* ---- tables of one step ---- */

static void add_verification(struct document *document, const struct result *result)
{
    static const struct table_column columns[] = {{.title = "kernel"},
                                                  {.title = "compared by"},
                                                  {.title = "elements compared", .unit = UNIT_COUNT},
                                                  {.title = "largest error, of what is allowed", .unit = UNIT_PERCENT},
                                                  {.title = "launches", .unit = UNIT_COUNT},
                                                  {.title = "not checked", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(document->arena, columns);
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        struct cell error = cell_number(c->verification.tolerance_used);
        if (c->status != CASE_OK || c->verification.verdict != VERIFY_PASS)
            continue;
        error.text = c->verification.max_abs > 0 ? NULL : "exact";
        table_add(table,
                  (struct cell[]){cell_text(c->kernel), cell_text(c->verification.method),
                                  cell_number((double)c->verification.checked), error,
                                  cell_number(c->verification.launches), cell_text(c->verification.not_checked)});
    }
    document_table(document, NULL, "Every kernel that was verified", table)->folded = true;
}

static int by_noise(const void *a, const void *b)
{
    const double x = member_number(*(const cJSON *const *)a, "sigma"),
                 y = member_number(*(const cJSON *const *)b, "sigma");
    return x == x && y == y ? ORDER(y, x) : (x != x) - (y != y);
}

static void add_noisiest(struct document *document, const cJSON *noise)
{
    static const struct table_column columns[] = {{.title = "the noisiest cases"},
                                                  {.title = "noise", .unit = UNIT_PERCENT},
                                                  {.title = "a change shows from", .unit = UNIT_PERCENT}};
    const cJSON *list = json_member(noise, "cases");
    const cJSON **order = arena_array(document->arena, (list ? json_count(list) : 0) + 1, sizeof(*order));
    struct table *table = TABLE(document->arena, columns);
    size_t count = 0;
    for (const cJSON *c = first_of(list); c; c = c->next)
        order[count++] = c;
    qsort(order, count, sizeof(*order), by_noise);
    for (size_t k = 0; k < count && k < NOISIEST; k++)
        table_add(table, (struct cell[]){cell_text(member_string(order[k], "id")),
                                         cell_number(member_number(order[k], "sigma")),
                                         cell_number(member_number(order[k], "mde_compare"))});
    document_table(document, NULL, NULL, table);
}

static void add_tables(struct document *document, const struct checkup *checkup, enum checkup_step step)
{
    const struct result *result = checkup->sections[step].result;
    if (!result)
        return;
    if (step == STEP_VERIFICATION)
        add_verification(document, result);
    if (step == STEP_CHARACTERISATION && checkup->machine)
        machine_tables(document, checkup->machine);
    if (step == STEP_LIBRARIES) {
        derived_sections(document, result, true);
        library_lines(document, result);
    }
    if (step == STEP_NOISE && checkup->noise)
        add_noisiest(document, checkup->noise);
}

/* ---- the page ---- */

/* As on the page of a result, a level below. */
static void add_pictures(struct document *document, const struct checkup_section *section)
{
    const size_t first = document->count;
    const char *suffix = arena_printf(document->arena, "-%s", section->name);
    result_pictures(document, section->result, NULL, suffix);
    result_case_table(document, section->result, NULL, suffix)->folded = true;
    for (size_t k = first; k < document->count; k++)
        document->sections[k].level = 1;
}

static void add_section(struct document *document, const struct checkup *checkup, enum checkup_step step)
{
    const struct checkup_section *section = &checkup->sections[step];
    document_add(document, (struct section){.key = section->name,
                                            .title = section->title,
                                            .mark = verdict(section->word),
                                            .text = section->about,
                                            .tone = TONE_DIM});
    document_text(document, 0, TONE_PLAIN, "%s.", section->headline);
    document_table(document, NULL, NULL, section->findings);
    if (step != STEP_CHARACTERISATION) /* whose tables have them */
        document_table(document, NULL, NULL, section->numbers);
    add_tables(document, checkup, step);
    if (section->result && step != STEP_VERIFICATION) /* which measures nothing */
        add_pictures(document, section);
    document_add(document,
                 (struct section){.level = 1, .title = "What was skipped, and why", .table = section->skipped});
    if (*section->log)
        document_add(
            document,
            (struct section){.title = "The end of its log", .folded = true, .text = section->log, .verbatim = true});
}

static struct table *facts_of(const struct checkup *checkup, struct arena *arena)
{
    const struct result *result = checkup->facts;
    struct table *facts = table_record(arena);
    const struct {
        const char *name, *value;
    } known[] = {{"Device", device_of(checkup)},
                 {"Architecture", result ? result->device.arch : ""},
                 {"Driver", result ? result->device.driver : ""},
                 {"Kernels compiled by", result ? result->compiler : ""},
                 {"Processor", result ? result->cpu_name : ""},
                 {"System", result ? result->os : ""},
                 {"rooftile", !result                                 ? ""
                              : result->tool_git && *result->tool_git ? result->tool_git
                                                                      : result->tool_version},
                 {"When", checkup->started_at},
                 {"Time", arena_printf(arena, "%.0f s of a budget of %.0f s", checkup->seconds, checkup->budget_s)}};
    for (size_t k = 0; k < COUNT_OF(known); k++)
        if (known[k].value && *known[k].value)
            table_member(facts, NULL, known[k].name, cell_text(known[k].value));
    return facts;
}

/* ---- for programs ---- */

/* A file that was read before and found to be whole, as it is. */
static enum status add_file(struct table *documents, const char *name, const char *path, struct err *err)
{
    char *data = NULL;
    size_t length = 0;
    enum status status = file_read(&data, &length, path, FILE_LIMIT_BYTES, documents->arena, err);
    if (!status)
        table_member(documents, name, NULL, cell_json(data));
    return status;
}

static enum status add_data(struct document *document, const struct checkup *checkup, struct err *err)
{
    struct arena *arena = document->arena;
    struct table *facts = table_record(arena), *documents = table_record(arena);
    enum status status = STATUS_OK;
    table_member(facts, "schema", NULL, cell_text(CHECKUP_SCHEMA_ID));
    table_member(facts, "verdict", NULL, verdict(checkup->word));
    table_member(facts, "exit_code", NULL, cell_number(checkup_exit_code(checkup->word)));
    table_member(facts, "device", NULL, cell_text(checkup->device));
    table_member(facts, "device_name", NULL, cell_text(checkup->facts ? checkup->facts->device.name : NULL));
    table_member(facts, "started_at", NULL, cell_text(checkup->started_at));
    table_member(facts, "seconds", NULL, cell_number(checkup->seconds));
    table_member(facts, "budget_s", NULL, cell_number(checkup->budget_s));
    table_member(facts, "sections", NULL, cell_table(steps_of(checkup, false, arena)));
    document_table(document, NULL, NULL, facts)->show = SHOW_DATA;
    for (size_t k = 0; k < STEP_COUNT && !status; k++)
        if (checkup->sections[k].result)
            status = add_file(documents, checkup->sections[k].name, checkup->sections[k].result_path, err);
    if (!status && checkup->machine)
        status = add_file(documents, "machine", checkup->machine_path, err);
    if (!status && checkup->noise)
        status = add_file(documents, "noise_learned", checkup->noise_path, err);
    if (!status && checkup->model_error)
        status = add_file(documents, "model_error", checkup->model_error_path, err);
    document_table(document, "documents", NULL, documents)->show = SHOW_DATA;
    return status;
}

/* The document for programs, unless it is more than a page should hold. */
static const char *data_of(const struct document *document)
{
    SCOPED(text_release) struct text json = {0};
    render_json(&json, document, &(struct report_options){0});
    return json.length <= MOST_DATA ? text_take(&json, document->arena) : NULL;
}

enum status checkup_document(struct document *document, const struct checkup *checkup, struct err *err)
{
    document->title = device_of(checkup);
    document->mark = verdict(checkup->word);
    document_text(document, SHOW_TEXT, TONE_PLAIN, "%s: %s, %.0f of %.0f s", checkup_name(checkup->word),
                  device_of(checkup), checkup->seconds, checkup->budget_s);
    document_table(document, NULL, NULL, steps_of(checkup, true, document->arena))->show = SHOW_TEXT;
    const size_t first = document->count;
    document_text(document, 0, TONE_PLAIN, "%s", said[checkup->word]);
    document_table(document, NULL, NULL, steps_of(checkup, false, document->arena));
    document_table(document, NULL, NULL, facts_of(checkup, document->arena));
    for (size_t k = 0; k < STEP_COUNT; k++)
        if (checkup->sections[k].ran)
            add_section(document, checkup, (enum checkup_step)k);
    document_add(document, (struct section){.title = "Everything else"});
    document_text(document, 0, TONE_PLAIN,
                  "check.json beside this page, and the JSON in it, have each result with its samples, the machine "
                  "file that --machine takes, and what was learned about noise.");
    for (size_t k = first; k < document->count; k++)
        document->sections[k].show = SHOW_HTML;
    const enum status status = add_data(document, checkup, err);
    if (!status)
        document->data = data_of(document);
    return status;
}
