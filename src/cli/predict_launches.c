/* SPDX-License-Identifier: MIT
 *
 * Predicts launches that are described rather than compiled, each on its own machine: reads rows, writes them with
 * their times.
 */

#include "cli.h"
#include "rooftile/describe.h"
#include "rooftile/file.h"
#include "rooftile/json.h"
#include "rooftile/render.h"

bool launches_is_file(const char *word, struct arena *arena)
{
    struct err ignored = {0};
    const cJSON *root = NULL;
    return file_exists(word) && text_ends(word, ".json") && !json_read(&root, word, arena, &ignored) &&
           json_member(root, "launches");
}

struct machine_list {
    struct known_machine {
        const char *name;
        struct machine *machine; /* complete; NULL: no machine of that name */
    } * items;
    size_t count;
};

static enum status find_machine(const struct machine **machine, struct machine_list *list, const char *name,
                                struct arena *arena, struct err *err)
{
    FOR_EACH(const struct known_machine, known, list->items, list->count)
        if (!strcmp(known->name, name)) {
            *machine = known->machine;
            return STATUS_OK;
        }
    struct machine *read = NULL;
    if (session_known_machine(&read, name, arena, err))
        return err->status;
    ARENA_PUSH(arena, list->items, list->count, (struct known_machine){name, read});
    *machine = read;
    return STATUS_OK;
}

static double last_cache(const struct machine *machine)
{
    double largest = 0;
    for (uint32_t k = 0; k + 1 < machine->level_count; k++)
        largest = fmax(largest, machine->levels[k].capacity_bytes);
    return largest;
}

/* Raw: uses only data sheets and documented figures. */
static void add_row(struct table *table, const struct described_launch *launch, const struct machine *machine,
                    const struct models *models)
{
    struct prediction calibrated = {0}, raw = {0};
    const bool known = machine && describe_predict(&calibrated, &launch->what, machine, models, false);
    if (known)
        describe_predict(&raw, &launch->what, machine, models, true);
    else
        calibrated.time_ns = 0;
    const struct cell cells[] = {cell_text(launch->what.family),
                                 cell_text(launch->machine),
                                 cell_positive(calibrated.time_ns),
                                 known ? cell_number(calibrated.low_ns) : cell_absent(),
                                 known ? cell_number(calibrated.high_ns) : cell_absent(),
                                 cell_positive(raw.time_ns),
                                 known ? cell_text(arena_strdup(table->arena, calibrated.bound)) : cell_absent(),
                                 machine ? cell_number(described_least_ns(&launch->what, machine, models))
                                         : cell_absent(),
                                 machine ? cell_text(machine->levels[machine->level_count - 1].name) : cell_absent(),
                                 machine ? cell_number(last_cache(machine)) : cell_absent(),
                                 machine ? cell_number(machine->launch_ns) : cell_absent()};
    table_add(table, cells);
}

enum status predict_launches(struct call *call, struct err *err)
{
    static const struct table_column columns[] = {{.key = "family", .title = "family"},
                                                  {.key = "machine", .title = "machine"},
                                                  {.key = "time_ns", .title = "time", .unit = UNIT_TIME},
                                                  {.key = "low_ns", .title = "from", .unit = UNIT_TIME},
                                                  {.key = "high_ns", .title = "to", .unit = UNIT_TIME},
                                                  {.key = "raw_ns", .title = "raw", .unit = UNIT_TIME},
                                                  {.key = "bound", .title = "bound"},
                                                  {.key = "least_ns"},
                                                  {.key = "memory"},
                                                  {.key = "cached_bytes"},
                                                  {.key = "launch_ns"}};
    const struct cli_options *options = call->options;
    struct arena *arena = call->arena;
    struct described_launches launches;
    struct models models;
    struct machine_list machines = {0};
    struct document document = {.arena = arena, .title = "Predicted launches"};
    struct table *table = TABLE(arena, columns);
    if (described_read(&launches, options->args[0], arena, err) ||
        models_read(&models, session_config(arena, "", "models"), options->models, arena, err))
        return err->status;
    FOR_EACH(const struct described_launch, launch, launches.items, launches.count) {
        const struct machine *machine = NULL;
        if (find_machine(&machine, &machines, launch->machine, arena, err))
            return err->status;
        add_row(table, launch, machine, &models);
    }
    document_table(&document, "launches", NULL, table);
    return cli_show_document(options, &document, false, err);
}
