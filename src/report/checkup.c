/* SPDX-License-Identifier: MIT */
#include "rooftile/checkup.h"

#include "report_internal.h"
#include "rooftile/file.h"
#include "rooftile/shift.h"
#include "rooftile/units.h"

static const struct {
    const char *name;
    int exit_code;
} words[CHECKUP_WORDS] = {
    [CHECKUP_PASS] = {"pass", 0},
    [CHECKUP_INCOMPLETE] = {"incomplete", 4},
    [CHECKUP_BROKEN] = {"broken", 3},
    [CHECKUP_FINDINGS] = {"findings", 1},
};

static const struct {
    const char *name, *title, *about;
} known[STEP_COUNT] = {
    [STEP_BUILD] = {"build", "Build", "The program is compiled from this checkout."},
    [STEP_VERIFICATION] =
        {"verification", "Verification",
         "Every kernel runs once, at a small size, and what it wrote is compared with a closed form or with a "
         "slow and simple kernel on the processor."},
    [STEP_CHARACTERISATION] =
        {"characterisation", "What the device reaches",
         "Bandwidth and latency of each level of memory, peaks of the arithmetic units, costs of a launch. "
         "Everything below is set against these."},
    [STEP_LIBRARIES] =
        {"libraries", "Beside the libraries",
         "Our kernels and what the vendor's libraries and driver reach with the same work. A share above 100 % means "
         "that ours is faster."},
    [STEP_QUICK] =
        {"quick", "Quick suite",
         "The common kernels once around, each verified before it is timed. \"Of ceiling\": the least time that the "
         "measured ceilings allow, over the time it took."},
    [STEP_NOISE] =
        {"noise", "Noise",
         "The quick suite again and again in fresh processes: how far two measurements of the same thing lie apart "
         "here. A difference smaller than that means nothing."},
    [STEP_BASELINE] = {"baseline", "Beside healthy devices",
                       "The quick suite's times set against those that healthy devices of the model took (rooftile "
                       "fleet --baseline)."},
};

const char *checkup_name(enum checkup_word word)
{
    return words[word].name;
}

int checkup_exit_code(enum checkup_word word)
{
    return words[word].exit_code;
}

/* ---- files ---- */

/* The last lines of a log, for a step that has something to explain. */
static const char *tail_of(const char *path, struct arena *arena)
{
    enum { MOST = 2000 };
    struct err ignored = {0};
    char *data = NULL;
    size_t length = 0;
    if (file_read(&data, &length, path, FILE_LIMIT_BYTES, arena, &ignored))
        return "";
    if (length <= MOST)
        return data;
    const char *from = data + length - MOST, *line = strchr(from, '\n');
    return line ? line + 1 : from;
}

static enum status read_step(struct checkup *checkup, const cJSON *step, struct err *err)
{
    static const char *const keys[] = {"name", "exit_code", "seconds", "budget_s"};
    const char *name = NULL;
    uint64_t exit_code = 0;
    struct checkup_section section = {.ran = true};
    enum status status = json_check_keys(step, keys, COUNT_OF(keys), err);
    if (!status)
        status = json_get_string(&name, step, "name", JSON_REQUIRED, err);
    if (!status)
        status = json_get_u64(&exit_code, step, "exit_code", JSON_REQUIRED, err);
    if (!status)
        status = json_get_number(&section.seconds, step, "seconds", JSON_REQUIRED, err);
    if (!status)
        status = json_get_number(&section.budget_s, step, "budget_s", JSON_REQUIRED, err);
    section.exit_code = exit_code < 256 ? (int)exit_code : 255;
    for (size_t k = 0; k < STEP_COUNT && !status; k++)
        if (!strcmp(known[k].name, name)) {
            checkup->sections[k] = section;
            return STATUS_OK;
        }
    return status ? status : json_fail(json_member(step, "name"), err, "unknown step '%s'", name);
}

static enum status read_steps(struct checkup *checkup, const char *path, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL, *steps = NULL;
    enum status status = json_read(&root, path, arena, err);
    if (!status)
        status = json_get_string(&checkup->started_at, root, "started_at", JSON_REQUIRED, err);
    if (!status)
        status = json_get_string(&checkup->device, root, "device", JSON_REQUIRED, err);
    if (!status)
        status = json_get_number(&checkup->budget_s, root, "budget_s", JSON_REQUIRED, err);
    if (!status)
        status = json_get_number(&checkup->seconds, root, "seconds", JSON_REQUIRED, err);
    if (!status)
        status = json_get_array(&steps, root, "steps", JSON_REQUIRED, err);
    for (const cJSON *step = status ? NULL : steps->child; step && !status; step = step->next)
        status = read_step(checkup, step, err);
    return status;
}

/* What stands beside the results; its absence is told by the step that should have made it. */
static void read_learned(struct checkup *checkup, const char *folder, struct arena *arena)
{
    struct err ignored = {0};
    struct machine *machine = arena_alloc(arena, sizeof(*machine));
    checkup->machine_path = path_join(arena, folder, "machine.json");
    checkup->noise_path = path_join(arena, folder, "noise-learned.json");
    if (!machine_read(machine, checkup->machine_path, &ignored))
        checkup->machine = machine;
    if (json_read(&checkup->noise, checkup->noise_path, arena, &ignored))
        checkup->noise = NULL;
    checkup->model_error_path = path_join(arena, folder, "model-error.json");
    if (json_read(&checkup->model_error, checkup->model_error_path, arena, &ignored))
        checkup->model_error = NULL;
}

/* ---- judging: cases ---- */

static const double most_names = 12; /* of the cases that were skipped for one reason */

struct judging {
    struct arena *arena;
    struct checkup_section *section;
    size_t verified, measured;
    size_t late, unfit, other; /* skipped: for want of time, by a device that lacks something, or else */
};

static void add_finding(struct judging *j, const char *what, const char *word, const char *why)
{
    table_add(j->section->findings, (struct cell[]){cell_text(what), cell_text(word), cell_text(why ? why : "")});
}

enum { SKIP_CASES, SKIP_REASON, SKIP_NAMES };

/* Cases that were skipped for one reason share a row. */
static void add_skip(struct judging *j, const struct result_case *c)
{
    struct table *skipped = j->section->skipped;
    const char *reason = c->reason ? c->reason : "";
    const bool late = text_starts(reason, RESULT_LATE_REASON);
    size_t at = 0;
    while (at < skipped->row_count && strcmp(skipped->rows[at].cells[SKIP_REASON].text, reason) != 0)
        at++;
    if (at == skipped->row_count)
        table_add(skipped, (struct cell[]){cell_number(0), cell_text(reason), cell_text(""), cell_bool(late)});
    struct cell *cells = skipped->rows[at].cells;
    const char *names = cells[SKIP_NAMES].text;
    if (++cells[SKIP_CASES].value <= most_names)
        cells[SKIP_NAMES].text = arena_printf(j->arena, "%s%s%s", names, *names ? ", " : "", case_name(c));
    ++*(late ? &j->late : text_starts(reason, "the device has no ") ? &j->unfit : &j->other);
}

static void judge_cases(struct judging *j)
{
    const struct result *result = j->section->result;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const char *finding = result_case_finding(c);
        if (*finding)
            add_finding(j, case_name(c), finding, c->reason && *c->reason ? c->reason : c->verification.reason);
        else if (c->status == CASE_ERROR)
            add_finding(j, case_name(c), "error", c->reason);
        else if (c->status == CASE_SKIPPED)
            add_skip(j, c);
        j->verified += c->status == CASE_OK && c->verification.verdict == VERIFY_PASS;
        j->measured += result_case_counts(c);
    }
    for (size_t k = 0; k < j->section->skipped->row_count; k++) {
        struct cell *cells = j->section->skipped->rows[k].cells;
        if (cells[SKIP_CASES].value > most_names)
            cells[SKIP_NAMES].text = arena_printf(j->arena, "%s and %.0f more", cells[SKIP_NAMES].text,
                                                  cells[SKIP_CASES].value - most_names);
    }
}

/* ---- judging: numbers ---- */

static void add_number(struct judging *j, const char *name, double value, const char *unit)
{
    if (isfinite(value))
        table_add(j->section->numbers,
                  (struct cell[]){cell_text(name), cell_quantity(value, strcmp(unit, "share") ? unit : UNIT_PERCENT),
                                  cell_text(unit)});
}

static double positive(double value)
{
    return value > 0 ? value : NAN;
}

static void machine_numbers(struct judging *j, const struct machine *machine)
{
    const struct machine_level *last = machine->level_count ? &machine->levels[machine->level_count - 1] : NULL;
    if (last) {
        add_number(j, "memory bandwidth", positive(last->bandwidth.measured), "B/s");
        add_number(j, "memory latency", positive(last->latency_ns), "ns");
    }
    for (uint32_t k = 0; k < machine->unit_count; k++)
        add_number(j, machine->units[k].name, positive(machine->units[k].peak.measured),
                   machine_unit_rate(machine->units[k].name));
}

static void noise_numbers(struct judging *j, const cJSON *noise)
{
    const cJSON *sigma = json_member(noise, "sigma");
    add_number(j, "noise of the middle case", member_number(sigma, "median"), "share");
    add_number(j, "noise that 9 of 10 cases stay under", member_number(sigma, "p90"), "share");
    add_number(j, "noise of the worst case", member_number(sigma, "max"), "share");
    add_number(j, "cases with a noise under 0.5 %", member_number(noise, "quiet_share"), "share");
}

static void kpi_numbers(struct judging *j)
{
    const struct result *result = j->section->result;
    FOR_EACH(const struct result_kpi, kpi, result->kpis, result->kpi_count)
        add_number(j, kpi->name, kpi->value, strcmp(kpi->of, "fraction") ? kpi->unit : "share");
}

/* ---- judging: words ---- */

static enum checkup_word word_of_exit(int code)
{
    return code == 0 ? CHECKUP_PASS : code == 1 ? CHECKUP_FINDINGS : code == 4 ? CHECKUP_INCOMPLETE : CHECKUP_BROKEN;
}

static const char *exit_words(int code)
{
    switch (code) {
    case 124:
        return "it did not end in time and was stopped";
    case 137:
        return "it did not end in time and was killed, or the system ran out of memory";
    default:
        return NULL;
    }
}

static const char *headline(const struct judging *j, enum checkup_step step)
{
    const struct checkup_section *section = j->section;
    struct text line = {0};
    const size_t cases = section->result ? section->result->case_count : 0;
    if (section->findings->row_count)
        text_addf(&line, "%zu finding%s; ", section->findings->row_count, text_s(section->findings->row_count));
    if (step == STEP_VERIFICATION)
        text_addf(&line, "%zu of %zu kernels verified", j->verified, cases);
    else if (step == STEP_NOISE)
        text_addf(&line, "%zu of %zu cases measured, in %u fresh process%s", j->measured, cases,
                  section->result->trials, section->result->trials == 1 ? "" : "es");
    else
        text_addf(&line, "%zu of %zu cases measured", j->measured, cases);
    if (j->unfit)
        text_addf(&line, ", %zu do not apply to this device", j->unfit);
    if (j->other)
        text_addf(&line, ", %zu skipped for the reasons below", j->other);
    if (j->late)
        text_addf(&line, "; TIME RAN OUT before %zu more", j->late);
    return text_take(&line, j->arena);
}

static void raise_to(struct checkup_section *section, enum checkup_word word)
{
    if (word > section->word)
        section->word = word;
}

/* Nothing was seen: then nothing is good either. */
static bool is_empty(const struct judging *j, enum checkup_step step)
{
    return step == STEP_VERIFICATION ? !j->verified : !j->measured;
}

static void judge_result(struct judging *j, const struct checkup *checkup, enum checkup_step step)
{
    struct checkup_section *section = j->section;
    judge_cases(j);
    if (step == STEP_CHARACTERISATION && checkup->machine)
        machine_numbers(j, checkup->machine);
    else if (step == STEP_NOISE && checkup->noise)
        noise_numbers(j, checkup->noise);
    else if (step == STEP_QUICK)
        kpi_numbers(j);
    section->headline = headline(j, step);
    if (section->findings->row_count)
        raise_to(section, CHECKUP_FINDINGS);
    if (j->late || is_empty(j, step) || strcmp(section->result->status, "complete") != 0)
        raise_to(section, CHECKUP_INCOMPLETE);
    if (step == STEP_NOISE && section->result->trials < SHIFT_LEARNED_TRIALS) {
        section->headline = arena_printf(j->arena, "%s; fewer than %d processes teach nothing about noise",
                                         section->headline, SHIFT_LEARNED_TRIALS);
        raise_to(section, CHECKUP_INCOMPLETE);
    }
}

/* Reads the step's result, if it has one, and fills in everything from `word` on. */
static void judge(struct checkup *checkup, enum checkup_step step, const char *path, struct arena *arena)
{
    static const struct table_column findings[] = {{.key = "what", .title = "what is wrong"},
                                                   {.key = "word", .title = "kind"},
                                                   {.key = "why", .title = "why", .flags = COLUMN_PROSE}};
    static const struct table_column numbers[] = {
        {.key = "name", .title = ""}, {.key = "value", .title = "", .unit = UNIT_NUMBER}, {.key = "unit"}};
    static const struct table_column skipped[] = {
        [SKIP_CASES] = {.key = "cases", .title = "cases", .unit = UNIT_COUNT},
        [SKIP_REASON] = {.key = "reason", .title = "why"},
        [SKIP_NAMES] = {.key = "names", .title = "which", .flags = COLUMN_PROSE},
        {.key = "out_of_time"}};
    struct checkup_section *section = &checkup->sections[step];
    struct judging j = {.arena = arena, .section = section};
    struct err err = {0};
    section->findings = TABLE(arena, findings);
    section->numbers = TABLE(arena, numbers);
    section->skipped = TABLE(arena, skipped);
    const char *stopped = exit_words(section->exit_code);
    section->word = word_of_exit(section->exit_code);
    section->headline = stopped              ? stopped
                        : section->exit_code ? arena_printf(arena, "it ended with exit code %d", section->exit_code)
                                             : "done";
    if (step == STEP_BASELINE && section->word == CHECKUP_FINDINGS)
        add_finding(&j, "times", "slow", "this device is slower than the baseline's; the log says in what");
    if (step == STEP_BUILD || step == STEP_BASELINE)
        return;
    if (section->exit_code > 1 && !file_exists(path)) {
        raise_to(section, CHECKUP_BROKEN);
        return;
    }
    section->result_path = path;
    if (result_read(&section->result, path, arena, &err)) {
        section->result = NULL;
        section->headline = arena_strdup(arena, err.text);
        raise_to(section, CHECKUP_BROKEN);
        return;
    }
    judge_result(&j, checkup, step);
    if (section->exit_code == 3 && j.late && !section->findings->row_count)
        section->word = CHECKUP_INCOMPLETE; /* nothing was measured, for want of time */
    if (stopped)
        section->headline = arena_printf(arena, "%s: %s", stopped, section->headline);
    if (step == STEP_CHARACTERISATION && !checkup->machine) {
        section->headline = arena_printf(arena, "%s; no ceilings were found", section->headline);
        raise_to(section, CHECKUP_BROKEN);
    }
}

/* ---- beside the data sheet ---- */

void checkup_beside(struct checkup *checkup, const struct machine *model, struct arena *arena)
{
    struct checkup_section *section = &checkup->sections[STEP_CHARACTERISATION];
    const struct machine *machine = checkup->machine;
    if (!machine || !machine->level_count || !model->level_count || !section->result ||
        (section->word != CHECKUP_PASS && section->word != CHECKUP_FINDINGS))
        return;
    struct judging j = {.arena = arena, .section = section};
    const double own = machine->levels[machine->level_count - 1].bandwidth.measured;
    const struct ceiling *sheet = &model->levels[model->level_count - 1].bandwidth;
    const double share = sheet->vendor > 0 && own > 0 ? own / sheet->vendor : NAN;
    char measured[UNITS_TEXT], named[UNITS_TEXT];
    add_number(&j, "memory bandwidth, of the data sheet's", share, "share");
    if (!(share < sheet->least))
        return;
    add_finding(&j, "memory bandwidth", "slow",
                arena_printf(arena, "%s is %.0f %% of the data sheet's %s; a healthy %s reaches %.0f %% or more",
                             units_rate(measured, own, "B/s"), share * 100, units_rate(named, sheet->vendor, "B/s"),
                             model->title, sheet->least * 100));
    section->headline = arena_printf(arena, "the memory is slow; %s", section->headline);
    raise_to(section, CHECKUP_FINDINGS);
    checkup->word = section->word > checkup->word ? section->word : checkup->word;
}

/* ---- all of it ---- */

enum status checkup_read(struct checkup *checkup, const char *folder, struct arena *arena, struct err *err)
{
    *checkup = (struct checkup){0};
    if (read_steps(checkup, path_join(arena, folder, "steps.json"), arena, err))
        return err->status;
    read_learned(checkup, folder, arena);
    for (size_t k = 0; k < STEP_COUNT; k++) {
        struct checkup_section *section = &checkup->sections[k];
        section->name = known[k].name;
        section->title = known[k].title;
        section->about = known[k].about;
        section->log = "";
        if (!section->ran)
            continue;
        judge(checkup, (enum checkup_step)k, path_join(arena, folder, arena_printf(arena, "%s.json", section->name)),
              arena);
        if (section->word != CHECKUP_PASS)
            section->log = tail_of(path_join(arena, folder, arena_printf(arena, "%s.log", section->name)), arena);
        if (section->word > checkup->word)
            checkup->word = section->word;
        if (section->result)
            checkup->facts = section->result;
    }
    if (!checkup->facts && checkup->word < CHECKUP_BROKEN)
        checkup->word = CHECKUP_BROKEN; /* nothing was measured, so nothing is good */
    return STATUS_OK;
}
