/* SPDX-License-Identifier: MIT
 *
 * `rooftile devices`: lists every backend with its devices, or the exact reason why it is unavailable.
 */

#include "cli.h"
#include "rooftile/file.h"
#include "rooftile/targets.h"
#include "rooftile/units.h"

struct listed_device {
    const char *id;      /* in the syntax of --device */
    const char *problem; /* why it is unusable; NULL: it is usable */
    struct device_info info;
    double bandwidth; /* memory bandwidth from a machine file; 0: unknown */
};

struct listed_backend {
    const struct device_ops *ops;
    const char *why_off; /* NULL: there are devices */
    struct listed_device *devices;
    size_t device_count;
};

/* ---- finding devices ---- */

/* Finds devices that execute, by opening each in a temporary worker. */
static void find_real(struct listed_backend *backend, int count, bool names_only, struct arena *arena)
{
    backend->devices = arena_array(arena, (size_t)count, sizeof(*backend->devices));
    backend->device_count = (size_t)count;
    for (int index = 0; index < count; index++) {
        struct listed_device *device = &backend->devices[index];
        struct device_request request = {.index = index};
        struct err err = {0};
        snprintf(request.backend, sizeof(request.backend), "%s", backend->ops->name);
        device->id = arena_printf(arena, "%s:%d", backend->ops->name, index);
        if (!names_only && run_device_info(&device->info, NULL, &request, &err))
            device->problem = arena_strdup(arena, err.text);
    }
}

/* The models of the sim device are the machine files. */
static void find_models(struct listed_backend *backend, bool names_only, struct arena *arena)
{
    char **paths = NULL;
    size_t count = 0;
    struct err err = {0};
    if (session_configs(&paths, &count, "machines", ".json", arena, &err))
        count = 0;
    backend->devices = arena_array(arena, count + 1, sizeof(*backend->devices));
    backend->device_count = count;
    if (!count)
        backend->why_off = "there is no machine file: no configs folder beside the program; ROOFTILE_CONFIGS names one";
    for (size_t k = 0; k < count; k++) {
        const char *name = path_stem(path_base(paths[k]), ".json", arena);
        backend->devices[k].id = arena_printf(arena, "%s:%s", backend->ops->name, name);
        struct machine *machine = arena_alloc(arena, sizeof(*machine));
        if (names_only)
            continue;
        if (session_model(machine, &backend->devices[k].info, name, arena, &err))
            backend->devices[k].problem = arena_strdup(arena, err.text);
        else if (machine->level_count)
            backend->devices[k].bandwidth = ceiling_value(&machine->levels[machine->level_count - 1].bandwidth);
    }
}

/* ---- as a document ---- */

/* Lists the nearby network interfaces and counts the others. */
static void add_nics(struct text *out, const struct device_info *info)
{
    uint32_t far = 0;
    FOR_EACH(const struct device_nic, nic, info->nics, info->nic_count) {
        const bool near = nic->distance[0] == 'P';
        far += !near;
        if (!near)
            continue;
        text_addf(out, ", NIC %s %s", nic->name, nic->distance);
        if (nic->max_bytes_per_s > 0)
            text_addf(out, " %.0f Gb/s", nic->max_bytes_per_s * 8 / 1e9);
        if (nic->state[0])
            text_addf(out, " %s", nic->state);
    }
    if (far)
        text_addf(out, ", %u NIC%s farther away", far, far > 1 ? "s" : "");
}

/* Returns one sentence of facts, without the unknown ones. */
static const char *sentence_of(const struct listed_device *device, struct arena *arena)
{
    const struct device_info *info = &device->info;
    struct text out = {0};
    char unit[UNITS_TEXT];
    text_addf(&out, "%s: %s", info->name, info->arch);
    if (info->emulated[0])
        text_addf(&out, ", emulated by %s", info->emulated);
    if (info->cus)
        text_addf(&out, ", %u %s%s", info->cus, target_unit_word(info->arch), text_s(info->cus));
    if (info->partition[0])
        text_addf(&out, ", mode %s", info->partition);
    if (info->core_hz > 0)
        text_addf(&out, ", %s", units_hz(unit, info->core_hz));
    text_addf(&out, ", wave %u", info->wave);
    FOR_EACH(const struct device_cache, cache, info->caches, info->cache_count) {
        text_addf(&out, ", %s %s", cache->name, units_bytes(unit, (double)cache->size_bytes));
        if (cache->instances > 1)
            text_addf(&out, " x %u", cache->instances);
    }
    if (info->memory_bytes)
        text_addf(&out, ", memory %s", units_bytes(unit, (double)info->memory_bytes));
    if (info->memory_bytes && device->bandwidth > 0)
        text_addf(&out, " at %s", units_rate(unit, device->bandwidth, "B/s"));
    if (info->pcie.width && info->pcie.width < info->pcie.max_width)
        text_addf(&out, ", PCIe with %u lanes of %u", info->pcie.width, info->pcie.max_width);
    else if (info->pcie.width)
        text_addf(&out, ", PCIe x%u", info->pcie.width);
    for (uint32_t k = 0; k < info->link_count; k++) {
        uint32_t same = 1;
        while (k + 1 < info->link_count && !strcmp(info->links[k].type, info->links[k + 1].type)) {
            same++;
            k++;
        }
        text_addf(&out, ", %u %s link%s", same, info->links[k].type, same > 1 ? "s" : "");
    }
    add_nics(&out, info);
    if (info->note[0] && !info->predicted)
        text_addf(&out, "; %s", info->note);
    return text_take(&out, arena);
}

static struct cell caches(const struct device_info *info, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "name"}, {.key = "size_bytes"}, {.key = "line_bytes"}, {.key = "instances"}};
    struct table *table = TABLE(arena, columns);
    for (uint32_t k = 0; k < info->cache_count; k++)
        table_add(table,
                  (struct cell[]){cell_text(info->caches[k].name), cell_number((double)info->caches[k].size_bytes),
                                  cell_positive(info->caches[k].line_bytes), cell_number(info->caches[k].instances)});
    return cell_table(table);
}

/* Adds a fact unless it is unknown. */
#define FACT(name, member)                                                                                             \
    {                                                                                                                  \
        .key = name, .flags = COLUMN_OPTIONAL, FIELD(struct listed_device, member)                                     \
    }
static const struct table_column device_columns[] = {
    {.key = "id", .title = "", FIELD(struct listed_device, id)},
    {.title = "", .flags = COLUMN_PROSE},
    {.key = "problem", FIELD(struct listed_device, problem)},
    FACT("name", info.name),
    FACT("arch", info.arch),
    FACT("target", info.target),
    FACT("pci_bdf", info.pci_bdf),
    FACT("pci_id", info.pci_id),
    FACT("partition", info.partition),
    FACT("driver", info.driver),
    {.key = "predicted", FIELD(struct listed_device, info.predicted)},
    {.key = "wave", FIELD(struct listed_device, info.wave)},
    FACT("cus", info.cus),
    FACT("max_block", info.max_block),
    FACT("lds_bytes", info.lds_bytes),
    FACT("memory_bytes", info.memory_bytes),
    FACT("memory_bandwidth", bandwidth),
    FACT("core_hz", info.core_hz),
    {.key = "caches"},
    FACT("note", info.note),
    FACT("emulated", info.emulated),
};
enum { PROSE = 1, NAME = 3, CACHES = 18 };

static void add_backend(struct document *document, struct table *backends, const struct listed_backend *backend)
{
    struct table *devices = TABLE(document->arena, device_columns), *shown = devices;
    devices->indent = 2;
    FOR_EACH(const struct listed_device, device, backend->devices, backend->device_count) {
        struct table_row *row = table_add_object(devices, device);
        row->cells[PROSE] =
            cell_text(device->problem ? arena_printf(document->arena, "cannot be used: %s", device->problem)
                                      : sentence_of(device, document->arena));
        row->cells[CACHES] = caches(&device->info, document->arena);
        for (size_t k = NAME; k < devices->column_count && device->problem; k++)
            row->cells[k] = (struct cell){0};
    }
    if (backend->why_off) {
        shown = table_record(document->arena);
        shown->indent = 2;
        table_member(shown, NULL, "off", cell_text(backend->why_off));
    }
    table_add(backends,
              (struct cell[]){cell_text(backend->ops->name), cell_text(backend->ops->summary),
                              cell_bool(!backend->why_off), cell_text(backend->why_off), cell_table(devices)});
    document_add(document,
                 (struct section){
                     .show = SHOW_PEOPLE, .title = backend->ops->name, .text = backend->ops->summary, .table = shown});
}

enum status cmd_devices(struct call *call, struct err *err)
{
    static const struct table_column columns[] = {
        {.key = "name"}, {.key = "summary"}, {.key = "available"}, {.key = "reason"}, {.key = "devices"}};
    const bool names = call->options->names;
    struct document document = {.arena = call->arena};
    struct table *backends = TABLE(call->arena, columns);
    for (size_t k = 0; device_backends[k]; k++) {
        struct listed_backend backend = {.ops = device_backends[k]};
        struct text why = {0};
        const int count = backend.ops->executes ? backend.ops->count(&why) : 0;
        if (!backend.ops->executes)
            find_models(&backend, names, call->arena);
        else if (count > 0)
            find_real(&backend, count, names, call->arena);
        else
            backend.why_off = why.length ? arena_strdup(call->arena, why.data) : "no device";
        text_release(&why);
        for (size_t d = 0; names && d < backend.device_count; d++)
            text_addf(&call->out, "%s\n", backend.devices[d].id);
        if (!names)
            add_backend(&document, backends, &backend);
    }
    if (names)
        return STATUS_OK;
    document_add(&document, (struct section){.show = SHOW_DATA, .key = "backends", .table = backends});
    /* The device that runs without --device. */
    struct device_request request;
    struct text reason = {0};
    struct table *facts = table_record(call->arena);
    device_default(&request, &reason);
    const char *id = request.backend[0] ? arena_printf(call->arena, "%s:%d", request.backend, request.index) : NULL;
    table_member(facts, "default", NULL, cell_text(id));
    table_member(facts, "default_reason", NULL,
                 cell_text(reason.length ? text_take(&reason, call->arena) : "no device can run anything"));
    document_add(&document, (struct section){.show = SHOW_DATA, .table = facts});
    document_text(&document, SHOW_PEOPLE, TONE_PLAIN, id ? "Without --device: %s" : "Without --device nothing can run.",
                  id);
    return cli_show_document(call->options, &document, false, err);
}
