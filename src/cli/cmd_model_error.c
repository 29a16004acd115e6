/* SPDX-License-Identifier: MIT
 *
 * How far predictions are from times that were measured.
 */
#include <string.h>

#include "rooftile/render.h"
#include "rooftile/truth.h"
#include "session.h"

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

enum status cmd_model_error(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct arena *arena = call->arena;
    struct models models;
    struct truth truth;
    struct error_table table;
    const char *path = options->models ? options->models : session_config(arena, "models", "described.json");
    enum status status =
        options->truth ? STATUS_OK : err_set(err, ERR_USAGE, "--truth names the file of measured times");
    if (!status)
        status = models_read(&models, path, arena, err);
    if (!status)
        status = truth_read(&truth, options->truth, arena, err);
    if (status)
        return status;
    struct truth_guess *raw = arena_array(arena, truth.count + 1, sizeof(*raw));
    struct truth_guess *calibrated = arena_array(arena, truth.count + 1, sizeof(*calibrated));
    status = guess_all(&truth, raw, calibrated, &models, arena, err);
    if (status)
        return status;
    if (options->format && !strcmp(options->format, "csv")) {
        model_error_rows(&call->out, &truth, raw, calibrated, arena);
        return STATUS_OK;
    }
    struct document document = {.arena = arena};
    error_table_make(&table, &truth, raw, calibrated, arena);
    model_error_document(&document, &truth, &table);
    return cli_show_document(options, &document, false, err);
}
