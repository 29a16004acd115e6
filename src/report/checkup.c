/* SPDX-License-Identifier: MIT */
#include "rooftile/checkup.h"

#include <string.h>

#include "checkup_internal.h"
#include "rooftile/file.h"
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
         "The common kernels once around, each verified before it is timed. \"Of roof\": the least time that the "
         "measured roofs allow, over the time it took."},
    [STEP_NOISE] =
        {"noise", "Noise",
         "The quick suite again and again in fresh processes: how far two measurements of the same thing lie apart "
         "here. A difference smaller than that means nothing."},
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

static enum status read_step(struct checkup *checkup, const struct json *step, struct err *err)
{
    static const char *const keys[] = {"name", "exit_code", "seconds", "budget_s"};
    const char *name = NULL;
    uint64_t exit_code = 0;
    struct checkup_section section = {.ran = true};
    enum status status = json_check_keys(step, keys, sizeof(keys) / sizeof(*keys), err);
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
    const struct json *root = NULL, *steps = NULL;
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
    for (const struct json *step = status ? NULL : steps->first; step && !status; step = step->next)
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
}

enum status checkup_read(struct checkup *checkup, const char *folder, struct arena *arena, struct err *err)
{
    *checkup = (struct checkup){0};
    enum status status = read_steps(checkup, path_join(arena, folder, "steps.json"), arena, err);
    if (status)
        return status;
    read_learned(checkup, folder, arena);
    for (size_t k = 0; k < STEP_COUNT; k++) {
        struct checkup_section *section = &checkup->sections[k];
        section->name = known[k].name;
        section->title = known[k].title;
        section->about = known[k].about;
        section->log = "";
        if (!section->ran)
            continue;
        checkup_judge(checkup, (enum checkup_step)k,
                      path_join(arena, folder, arena_printf(arena, "%s.json", section->name)), arena);
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

/* ---- a few lines ---- */

void checkup_text(struct text *out, const struct checkup *checkup)
{
    const char *device = checkup->facts ? checkup->facts->device.name : checkup->device;
    text_addf(out, "%s: ", checkup_name(checkup->word));
    text_add_printable(out, device);
    text_addf(out, ", %.0f of %.0f s\n", checkup->seconds, checkup->budget_s);
    for (size_t k = 0; k < STEP_COUNT; k++) {
        const struct checkup_section *section = &checkup->sections[k];
        if (!section->ran)
            continue;
        text_addf(out, "  %-10s  %-24s  ", checkup_name(section->word), section->title);
        text_add_printable(out, section->headline);
        text_add(out, "\n");
        for (size_t n = 0; n < section->finding_count && n < 10; n++) {
            text_addf(out, "              %s  ", section->findings[n].word);
            text_add_printable(out, section->findings[n].what);
            text_add(out, "\n");
        }
        if (section->finding_count > 10)
            text_addf(out, "              ... and %zu more\n", section->finding_count - 10);
    }
}
