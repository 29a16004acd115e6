/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "checkup_internal.h"
#include "report_internal.h"
#include "rooftile/file.h"
#include "rooftile/shift.h"

enum { MOST_NAMES = 12, MOST_NUMBERS = 64 };

struct judging {
    struct arena *arena;
    struct checkup_section *section;
    struct checkup_finding *findings;
    struct checkup_skip *skips;
    struct checkup_number *numbers;
    size_t verified, measured, late; /* of its cases */
};

/* ---- cases ---- */

static void add_finding(struct judging *j, const char *what, const char *word, const char *why)
{
    j->findings[j->section->finding_count++] = (struct checkup_finding){what, word, why ? why : ""};
}

static void add_skip(struct judging *j, const struct result_case *c)
{
    const char *reason = c->reason ? c->reason : "";
    size_t at = 0;
    while (at < j->section->skip_count && strcmp(j->skips[at].reason, reason) != 0)
        at++;
    struct checkup_skip *skip = &j->skips[at];
    if (at == j->section->skip_count) {
        j->section->skip_count++;
        *skip = (struct checkup_skip){.reason = reason, .names = "", .late = text_starts(reason, RESULT_LATE_REASON)};
    }
    if (skip->count++ < MOST_NAMES)
        skip->names =
            arena_printf(j->arena, "%s%s%s", skip->names, *skip->names ? ", " : "", c->label ? c->label : c->id);
    j->late += skip->late;
}

static void judge_cases(struct judging *j)
{
    const struct result *result = j->section->result;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const char *finding = result_case_finding(c);
        const char *name = c->label && *c->label ? c->label : c->id;
        if (*finding)
            add_finding(j, name, finding, c->reason && *c->reason ? c->reason : c->verification.reason);
        else if (c->status == CASE_ERROR)
            add_finding(j, name, "error", c->reason);
        else if (c->status == CASE_SKIPPED)
            add_skip(j, c);
        j->verified += c->status == CASE_OK && c->verification.verdict == VERIFY_PASS;
        j->measured += result_case_counts(c) && c->sample_count > 0;
    }
    for (size_t k = 0; k < j->section->skip_count; k++)
        if (j->skips[k].count > MOST_NAMES)
            j->skips[k].names =
                arena_printf(j->arena, "%s and %zu more", j->skips[k].names, j->skips[k].count - MOST_NAMES);
}

/* ---- numbers ---- */

static void add_number(struct judging *j, const char *name, double value, const char *unit)
{
    if (isfinite(value) && j->section->number_count < MOST_NUMBERS)
        j->numbers[j->section->number_count++] = (struct checkup_number){name, unit, value};
}

static void machine_numbers(struct judging *j, const struct machine *machine)
{
    const struct machine_level *last = machine->level_count ? &machine->levels[machine->level_count - 1] : NULL;
    if (last) {
        add_number(j, "memory bandwidth", last->bandwidth.measured > 0 ? last->bandwidth.measured : NAN, "B/s");
        add_number(j, "memory latency", last->latency_ns > 0 ? last->latency_ns : NAN, "ns");
    }
    for (uint32_t k = 0; k < machine->unit_count; k++)
        add_number(j, machine->units[k].name,
                   machine->units[k].peak.measured > 0 ? machine->units[k].peak.measured : NAN,
                   machine_unit_rate(machine->units[k].name));
}

static void noise_numbers(struct judging *j, const struct json *noise)
{
    static const struct {
        const char *key, *name;
    } wanted[] = {{"median", "noise of the middle case"},
                  {"p90", "noise that 9 of 10 cases stay under"},
                  {"max", "noise of the worst case"}};
    double value = NAN;
    struct err ignored = {0};
    const struct json *sigma = json_member(noise, "sigma");
    for (size_t k = 0; sigma && k < sizeof(wanted) / sizeof(*wanted); k++) {
        const struct json *member = json_member(sigma, wanted[k].key);
        add_number(j, wanted[k].name, member && member->type == JSON_NUMBER ? member->number : NAN, "share");
    }
    if (json_member(noise, "quiet_share") && !json_get_number(&value, noise, "quiet_share", JSON_OPTIONAL, &ignored))
        add_number(j, "cases with a noise under 0.5 %", value, "share");
}

static void kpi_numbers(struct judging *j)
{
    const struct result *result = j->section->result;
    for (size_t k = 0; k < result->kpi_count; k++)
        add_number(j, result->kpis[k].name, result->kpis[k].value, result->kpis[k].unit);
}

/* ---- words ---- */

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

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static const char *headline(const struct judging *j, enum checkup_step step)
{
    const struct checkup_section *section = j->section;
    struct text line = {0};
    const size_t cases = section->result ? section->result->case_count : 0;
    if (section->finding_count)
        text_addf(&line, "%zu finding%s; ", section->finding_count, plural(section->finding_count));
    if (step == STEP_VERIFICATION)
        text_addf(&line, "%zu of %zu kernels verified", j->verified, cases);
    else if (step == STEP_NOISE)
        text_addf(&line, "%zu of %zu cases measured, in %u fresh process%s", j->measured, cases,
                  section->result->trials, section->result->trials == 1 ? "" : "es");
    else
        text_addf(&line, "%zu of %zu cases measured", j->measured, cases);
    size_t unfit = 0, other = 0;
    for (size_t k = 0; k < section->skip_count; k++)
        *(text_starts(section->skips[k].reason, "the device has no ") ? &unfit : &other) +=
            section->skips[k].late ? 0 : section->skips[k].count;
    if (unfit)
        text_addf(&line, ", %zu do not apply to this device", unfit);
    if (other)
        text_addf(&line, ", %zu skipped for the reasons below", other);
    if (j->late)
        text_addf(&line, "; TIME RAN OUT before %zu more", j->late);
    const char *copy = arena_strdup(j->arena, line.data);
    text_release(&line);
    return copy;
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
    const size_t most = section->result->case_count + 1;
    j->findings = arena_array(j->arena, most, sizeof(*j->findings));
    j->skips = arena_array(j->arena, most, sizeof(*j->skips));
    j->numbers = arena_array(j->arena, MOST_NUMBERS, sizeof(*j->numbers));
    section->findings = j->findings;
    section->skips = j->skips;
    section->numbers = j->numbers;
    judge_cases(j);
    if (step == STEP_CHARACTERISATION && checkup->machine)
        machine_numbers(j, checkup->machine);
    else if (step == STEP_NOISE && checkup->noise)
        noise_numbers(j, checkup->noise);
    else if (step == STEP_QUICK)
        kpi_numbers(j);
    section->headline = headline(j, step);
    if (section->finding_count)
        raise_to(section, CHECKUP_FINDINGS);
    if (j->late || is_empty(j, step) || strcmp(section->result->status, "complete") != 0)
        raise_to(section, CHECKUP_INCOMPLETE);
    if (step == STEP_NOISE && section->result->trials < SHIFT_LEARNED_TRIALS) {
        section->headline = arena_printf(j->arena, "%s; fewer than %d processes teach nothing about noise",
                                         section->headline, SHIFT_LEARNED_TRIALS);
        raise_to(section, CHECKUP_INCOMPLETE);
    }
}

void checkup_judge(struct checkup *checkup, enum checkup_step step, const char *path, struct arena *arena)
{
    struct checkup_section *section = &checkup->sections[step];
    struct judging j = {.arena = arena, .section = section};
    struct err err = {0};
    const char *stopped = exit_words(section->exit_code);
    section->word = word_of_exit(section->exit_code);
    section->headline = stopped              ? stopped
                        : section->exit_code ? arena_printf(arena, "it ended with exit code %d", section->exit_code)
                                             : "done";
    if (step == STEP_BUILD)
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
    if (stopped)
        section->headline = arena_printf(arena, "%s: %s", stopped, section->headline);
    if (step == STEP_CHARACTERISATION && !checkup->machine) {
        section->headline = arena_printf(arena, "%s; no roofs were found", section->headline);
        raise_to(section, CHECKUP_BROKEN);
    }
}
