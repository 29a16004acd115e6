/* SPDX-License-Identifier: MIT
 *
 * A/A: the same build again and again, to learn how far this machine's own noise goes, which shifts can be seen in
 * which case, and which cases are too noisy to gate.
 */
#include <stdio.h>
#include <string.h>

#include "aa.h"
#include "trials.h"

enum { DEFAULT_TRIALS = 20, COMPARE_TRIALS = 5 };

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
    in.floor = tick_ns > 0 ? tick_ns / (c->stats.median * (c->batch ? c->batch : 1)) : 0;
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
    const char *path = noise_file_path(aa->result, aa->arena);
    const struct noise_file *older = NULL;
    struct noise_file file = {.device = aa->result->device.name,
                              .learned_at = aa->result->finished_at ? aa->result->finished_at : ""};
    struct noise_file_case *cases = arena_array(aa->arena, aa->count + 1, sizeof(*cases));
    struct noise_file_class *classes = arena_array(aa->arena, aa->class_count + 1, sizeof(*classes));
    snprintf(file.fingerprint, sizeof(file.fingerprint), "%s", aa->result->fingerprint);
    for (size_t k = 0; k < aa->count; k++)
        if (aa->cases[k].learned && aa->cases[k].sigma > 0)
            cases[file.case_count++] = (struct noise_file_case){.id = aa->of[k]->id,
                                                                .class = aa->of[k]->class ? aa->of[k]->class : "",
                                                                .sigma = aa->cases[k].sigma,
                                                                .trials = aa->cases[k].trials};
    if (!file.case_count)
        return STATUS_OK; /* nothing was learned */
    for (size_t k = 0; k < aa->class_count; k++)
        if (aa->classes[k].sigma > 0)
            classes[file.class_count++] = (struct noise_file_class){
                .name = aa->class_names[k], .sigma = aa->classes[k].sigma, .cases = aa->classes[k].cases};
    file.cases = cases;
    file.classes = classes;
    enum status status = noise_file_read(&older, path, aa->arena, err);
    if (status)
        return status;
    noise_file_keep(&file, older, aa->arena);
    aa->path = path;
    return noise_file_write(&file, path, err);
}

int cmd_aa(const struct cli_options *options, struct arena *arena)
{
    struct session session = {.options = options, .arena = arena};
    struct trials run = {.session = &session, .title = "A/A"};
    struct trials *const runs[] = {&run};
    struct result *result = arena_alloc(arena, sizeof(*result));
    struct aa *aa = arena_alloc(arena, sizeof(*aa));
    struct err err = {0};
    session_catch_signals();
    enum status status = trials_check(options, "aa", &err);
    if (!status)
        status = session_prepare(&session, &err);
    if (!status)
        status = session_refuse_invalid(&session, &err);
    if (!status)
        status = session_build(&session, &session_stop, &err);
    if (!status)
        status = trials_run(runs, 1, options->trials ? options->trials : DEFAULT_TRIALS, &err);
    if (status && (status != ERR_INTERRUPTED || !run.count))
        return cli_fail(&err);
    const bool interrupted = status == ERR_INTERRUPTED;
    status = trials_join(result, &run, &err);
    aa->arena = arena;
    aa->result = result;
    if (!status && options->out)
        status = result_write(result, options->out, &err);
    if (!status)
        status = learn(aa, &err);
    if (!status)
        status = save(aa, &err);
    if (!status)
        status = aa_show(aa, options, &err);
    return status ? cli_fail(&err) : interrupted ? 130 : result_exit_code(result);
}
