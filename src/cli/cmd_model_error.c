/* SPDX-License-Identifier: MIT
 *
 * How far predictions are from times that were measured.
 */

#include "cli.h"
#include "rooftile/render.h"
#include "rooftile/truth.h"

struct machine_list {
    struct {
        const char *name;
        struct machine *machine; /* complete; NULL: there is none of that name */
    } * items;
    size_t count;
};

static enum status find_machine(const struct machine **machine, struct machine_list *list, const char *name,
                                struct arena *arena, struct err *err)
{
    size_t k = 0;
    while (k < list->count && strcmp(list->items[k].name, name) != 0)
        k++;
    if (k == list->count) {
        struct machine *read = NULL;
        if (*name && session_known_machine(&read, name, arena, err))
            return err->status;
        list->items = arena_grow(arena, list->items, list->count, sizeof(*list->items));
        list->items[list->count].name = name;
        list->items[list->count++].machine = read;
    }
    *machine = list->items[k].machine;
    return STATUS_OK;
}

static void guess_row(struct truth_guess *guess, const struct truth_row *row, const struct machine *machine,
                      const struct models *models)
{
    struct prediction prediction;
    *guess = (struct truth_guess){.known = describe_predict(&prediction, &row->what, machine, models)};
    if (!guess->known)
        return;
    guess->time_ns = prediction.time_ns;
    guess->low_ns = prediction.low_ns;
    guess->high_ns = prediction.high_ns;
    memcpy(guess->bound, prediction.bound, sizeof(guess->bound));
    truth_judge_bound(guess, row, &prediction, machine);
}

/* Faster than that rows cannot have been; data sheets round, and clocks exceed what they name. */
static const double slack = 0.99;

static enum status guess_all(struct truth *truth, struct truth_guess *raw, struct truth_guess *calibrated,
                             const struct models *models, struct arena *arena, struct err *err)
{
    struct machine_list list = {0};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < truth->count && !status; k++) {
        struct truth_row *row = &truth->rows[k];
        const struct machine *machine = NULL;
        status = find_machine(&machine, &list, row->machine, arena, err);
        if (status || !machine || row->problem)
            continue;
        if (row->time_ns < slack * described_least_ns(&row->what, machine))
            row->problem = "it is faster than the machine's peaks allow";
        guess_row(&raw[k], row, machine, NULL);
        guess_row(&calibrated[k], row, machine, models);
    }
    return status;
}

/* ---- results ---- */

struct judged {
    struct truth truth;
    struct truth_guess *guesses;
};

/* The prediction as it stands beside the measurement: made before it, by whatever version measured. */
static void add_case(struct judged *judged, const struct result *result, const struct result_case *c,
                     struct arena *arena)
{
    const struct predicted *prediction = &c->prediction;
    struct truth_guess guess = {.time_ns = prediction->time_ns,
                                .low_ns = prediction->low_ns,
                                .high_ns = prediction->high_ns,
                                .known = prediction->time_ns > 0};
    snprintf(guess.bound, sizeof(guess.bound), "%s", prediction->bound ? prediction->bound : "");
    const size_t before = judged->truth.count;
    judged->guesses = arena_grow(arena, judged->guesses, before, sizeof(*judged->guesses));
    judged->guesses[before] = guess;
    ARENA_PUSH(arena, judged->truth.rows, judged->truth.count,
               (struct truth_row){.machine = result->machine.name[0] ? result->machine.name : result->device.name,
                                  .family = c->kernel,
                                  .label = c->label ? c->label : c->id,
                                  .source = "",
                                  .what = {.type = "", .scales = "", .family = "", .op = ""},
                                  .time_ns = result_case_time(c),
                                  .line = before + 1});
}

static enum status add_result(struct judged *judged, const char *path, struct arena *arena, struct err *err)
{
    const struct result *result = NULL;
    if (argument_result(&result, path, true, arena, err))
        return err->status;
    if (result->predicted)
        return err_set(err, ERR_CONFIG, "%s is a prediction itself: nothing in it was measured", path);
    for (size_t k = 0; k < result->case_count; k++)
        if (result_case_counts(&result->cases[k]) && !result_case_is_twin(&result->cases[k]))
            add_case(judged, result, &result->cases[k], arena);
    return STATUS_OK;
}

static enum status show(const struct call *call, struct truth *truth, const struct truth_guess *raw,
                        const struct truth_guess *calibrated, struct text *out, struct err *err)
{
    const struct cli_options *options = call->options;
    struct error_table table;
    struct document document = {.arena = call->arena};
    if (options->format && !strcmp(options->format, "csv")) {
        model_error_rows(out, truth, raw, calibrated, call->arena);
        return STATUS_OK;
    }
    error_table_make(&table, truth, raw, calibrated, call->arena);
    model_error_document(&document, truth, &table);
    return cli_show_document(options, &document, false, err);
}

static enum status judge_results(struct call *call, struct err *err)
{
    struct judged judged = {.truth = {.path = call->options->args[0]}};
    enum status status = call->options->truth
                             ? err_set(err, ERR_USAGE, "give results, or --truth with a file of times, not both")
                             : STATUS_OK;
    for (size_t k = 0; k < call->options->arg_count && !status; k++)
        status = add_result(&judged, call->options->args[k], call->arena, err);
    if (!status && !judged.truth.count)
        return err_set(err, ERR_CONFIG, "%s has no case that was measured", call->options->args[0]);
    return status ? status : show(call, &judged.truth, judged.guesses, judged.guesses, &call->out, err);
}

enum status cmd_model_error(struct call *call, struct err *err)
{
    session_catch_signals(1);
    if (call->options->arg_count)
        return judge_results(call, err);
    const struct cli_options *options = call->options;
    struct arena *arena = call->arena;
    struct models models;
    struct truth truth;
    const char *path = options->models ? options->models : session_config(arena, "models", "described.json");
    enum status status =
        options->truth ? STATUS_OK : err_set(err, ERR_USAGE, "give results, or --truth with a file of measured times");
    if (!status)
        status = models_read(&models, path, arena, err);
    if (!status)
        status = truth_read(&truth, options->truth, arena, err);
    if (status)
        return status;
    struct truth_guess *raw = arena_array(arena, truth.count + 1, sizeof(*raw));
    struct truth_guess *calibrated = arena_array(arena, truth.count + 1, sizeof(*calibrated));
    if (guess_all(&truth, raw, calibrated, &models, arena, err) ||
        (options->kernel_dir_count && truth_programs(raw, calibrated, &truth, options, arena, err)))
        return err->status;
    return show(call, &truth, raw, calibrated, &call->out, err);
}
