/* SPDX-License-Identifier: MIT
 *
 * Checkup: what scripts/gpu_check did, as one document. Its folder has steps.json, which says what was run, for how
 * long and with which exit code; for each step NAME.log and, where it measured, NAME.json (a result); and
 * machine.json (the ceilings found), noise-learned.json (`rooftile aa --json`) and model-error.json (`rooftile
 * model-error --json`).
 *
 *   { "started_at": "2026-01-31T12:00:00Z", "device": "cuda:0", "budget_s": 480, "seconds": 301,
 *     "steps": [ { "name": "verification", "exit_code": 0, "seconds": 60.2, "budget_s": 120 }, ... ] }
 *
 * A section is `pass` only when all three agree: the exit code is 0, the files are there and whole, and nothing in them
 * is a finding or was skipped for want of time. So a step that was killed, or wrote half a file, never passes.
 */
#ifndef ROOFTILE_CHECKUP_H
#define ROOFTILE_CHECKUP_H

#include "rooftile/json.h"
#include "rooftile/machine.h"
#include "rooftile/result.h"
#include "rooftile/table.h"

/* configs/schema/checkup.schema.json */
#define CHECKUP_SCHEMA_ID "https://rooftile.dev/schemas/checkup/1/checkup.schema.json"

/* In order of severity. */
enum checkup_word { CHECKUP_PASS, CHECKUP_INCOMPLETE, CHECKUP_BROKEN, CHECKUP_FINDINGS, CHECKUP_WORDS };
const char *checkup_name(enum checkup_word word); /* "pass" "incomplete" "broken" "findings" */
int checkup_exit_code(enum checkup_word word);    /* 0, 4, 3, 1 */

/* Index of each step of the script in `sections`. */
enum checkup_step {
    STEP_BUILD,
    STEP_VERIFICATION,
    STEP_CHARACTERISATION,
    STEP_LIBRARIES,
    STEP_QUICK,
    STEP_NOISE,
    STEP_BASELINE, /* `rooftile fleet --baseline`, without a result of its own */
    STEP_COUNT
};

struct checkup_section {
    bool ran;
    const char *name, *title, *about;
    int exit_code;
    double seconds, budget_s;
    enum checkup_word word;
    const char *headline;
    const char *log;             /* its last lines, of a step that did not pass; "" */
    const struct result *result; /* NULL: none */
    const char *result_path;
    struct table *findings; /* what, word ("failed" "impossible" "error" ...), why */
    struct table *skipped;  /* by reason: how many cases, their names, whether for want of time */
    struct table *numbers;  /* name, value, unit */
};

struct checkup {
    enum checkup_word word;
    const char *started_at, *device;
    double seconds, budget_s;
    const struct result *facts;    /* of any step, for device and environment; NULL: none has a result */
    const struct machine *machine; /* NULL: not found */
    const char *machine_path;
    const cJSON *noise; /* NULL: not learned */
    const char *noise_path;
    const cJSON *model_error; /* NULL: nothing was predicted and measured */
    const char *model_error_path;
    struct checkup_section sections[STEP_COUNT];
};

/* Reads the folder and judges. ERR_CONFIG for a steps.json that is missing or not as above; what else is missing or
 * damaged is a matter of its section. */
enum status checkup_read(struct checkup *checkup, const char *folder, struct arena *arena, struct err *err);

/* Compares what was found with the model's data sheet: a smaller share of the memory's bandwidth than a healthy card
 * reaches is a finding, unless time ran out while it was measured. */
void checkup_beside(struct checkup *checkup, const struct machine *model, struct arena *arena);

/* The document: a page (HTML), a few lines for a terminal, and JSON with the results, the machine file and the learned
 * noise embedded unchanged, for which their files are read once more. */
enum status checkup_document(struct document *document, const struct checkup *checkup, struct err *err);

#endif
