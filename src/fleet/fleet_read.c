/* SPDX-License-Identifier: MIT
 *
 * Results become devices with readings. Of a result nothing is kept but what is judged, so that ten thousand of them
 * fit.
 */

#include "fleet_internal.h"
#include "rooftile/file.h"
#include "rooftile/journal.h"

/* ---- metrics ---- */

static bool is_together(const struct result *result)
{
    return result->job.started_together_ns > 0;
}

/* Cases stand in the same order in all results of a suite, so the next one is nearly always the one behind the last. */
static size_t metric_of(struct fleet *fleet, const struct result_case *c, bool together, size_t *next)
{
    const double bytes = c->work.read_bytes + c->work.write_bytes, amount = c->work.flops > 0 ? c->work.flops : bytes;
    for (size_t tried = 0; tried < fleet->metric_count; tried++) {
        const size_t at = (*next + tried) % fleet->metric_count;
        const struct fleet_metric *metric = &fleet->metrics[at];
        if (text_ends(metric->name, FLEET_TOGETHER) != together || strcmp(metric->id, c->id) ||
            fabs(metric->amount - amount) > 1e-9 * metric->amount)
            continue;
        *next = at + 1;
        return at;
    }
    const char *unit = c->work.flops > 0 ? machine_unit_rate(c->work.unit) : bytes > 0 ? "B/s" : "ns";
    const struct fleet_metric metric = {.name =
                                            arena_printf(fleet->arena, "%s%s", c->label && *c->label ? c->label : c->id,
                                                         together ? FLEET_TOGETHER : ""),
                                        .id = arena_strdup(fleet->arena, c->id),
                                        .kind = arena_strdup(fleet->arena, c->class ? c->class : ""),
                                        .level = arena_strdup(fleet->arena, c->lower_bound.ceiling_name),
                                        .unit = arena_strdup(fleet->arena, unit),
                                        .amount = amount};
    ARENA_PUSH(fleet->arena, fleet->metrics, fleet->metric_count, metric);
    return *next = fleet->metric_count - 1;
}

/* Whether an id, "kernel/n=64;dtype=f32", has this part. */
static bool has_part(const char *id, const char *part, size_t length)
{
    for (const char *at = id + strcspn(id, "/"); *at; at += 1 + strcspn(at + 1, ";"))
        if (!strncmp(at + 1, part, length) && (!at[1 + length] || at[1 + length] == ';'))
            return true;
    return false;
}

/* "n=64": the parts of its id that others of the same label lack; "" where there is none such. */
static const char *told_by(const struct fleet *fleet, const struct fleet_metric *metric)
{
    const char *line = "";
    for (const char *at = metric->id + strcspn(metric->id, "/"); *at; at += 1 + strcspn(at + 1, ";")) {
        const size_t length = strcspn(at + 1, ";");
        size_t k = 0;
        while (k < fleet->metric_count &&
               (strcmp(fleet->metrics[k].name, metric->name) != 0 || has_part(fleet->metrics[k].id, at + 1, length)))
            k++;
        if (k < fleet->metric_count)
            line = arena_printf(fleet->arena, "%s %.*s", line, (int)length, at + 1);
    }
    return line;
}

/* Results of several suites may lie together, and a label has only what differs within its own. */
static void tell_apart(struct fleet *fleet)
{
    const char **names = arena_array(fleet->arena, fleet->metric_count + 1, sizeof(*names));
    for (size_t k = 0; k < fleet->metric_count; k++) {
        const struct fleet_metric *metric = &fleet->metrics[k];
        const bool together = text_ends(metric->name, FLEET_TOGETHER);
        const size_t length = strlen(metric->name) - (together ? strlen(FLEET_TOGETHER) : 0);
        names[k] = arena_printf(fleet->arena, "%.*s%s%s", (int)length, metric->name, told_by(fleet, metric),
                                together ? FLEET_TOGETHER : "");
    }
    for (size_t k = 0; k < fleet->metric_count; k++)
        fleet->metrics[k].name = names[k];
}

/* ---- readings ---- */

static double grown(double before, double after)
{
    return after - before; /* NaN where either is */
}

static struct fleet_reading reading_of(const struct result_case *c, struct arena *arena)
{
    struct fleet_reading reading = {.time_ns = NAN, .fastest_ns = NAN, .noise = NAN};
    double trials[64];
    size_t count = 0;
    const char *finding = result_case_finding(c);
    if (*finding || c->status == CASE_ERROR)
        reading.problem =
            arena_printf(arena, "%s: %s%s%.200s", c->label ? c->label : c->id, *finding ? finding : "error",
                         c->reason && *c->reason ? ": " : "", c->reason ? c->reason : "");
    reading.cycles = c->cycles;
    reading.core_hz = c->core_hz;
    reading.memory_hz = c->after.memory_hz;
    reading.temp_c = c->after.temp_c;
    reading.power_w = c->after.power_w;
    reading.violation_power = grown(c->before.violation_power, c->after.violation_power);
    reading.violation_heat = fmax(fmax(grown(c->before.violation_thermal, c->after.violation_thermal),
                                       grown(c->before.violation_hbm, c->after.violation_hbm)),
                                  grown(c->before.violation_vr, c->after.violation_vr));
    if (!result_case_counts(c))
        return reading;
    reading.time_ns = reading.fastest_ns = result_case_time(c);
    for (size_t k = 0; k < c->trial_count && count < COUNT_OF(trials); k++)
        if (c->trials[k].median_ns > 0) {
            trials[count++] = log(c->trials[k].median_ns);
            reading.fastest_ns = fmin(reading.fastest_ns, c->trials[k].median_ns);
        }
    reading.noise = count > 1 ? robust_sd(trials, count) : NAN;
    return reading;
}

/* ---- facts ---- */

static void add_fact(struct fleet_device *device, struct fleet *fleet, const char *key, const char *value)
{
    struct fleet_fact *facts = (struct fleet_fact *)device->facts;
    ARENA_PUSH(fleet->arena, facts, device->fact_count,
               (struct fleet_fact){key, arena_strdup(fleet->arena, value ? value : "")});
    device->facts = facts;
}

static const char *pcie_of(const struct device_info *d, struct arena *arena)
{
    if (!d->pcie.width || !d->pcie.max_width)
        return "";
    return arena_printf(arena, "x%u of x%u", d->pcie.width, d->pcie.max_width);
}

static const char *nic_words(const struct device_nic *nic, struct arena *arena)
{
    const bool fewer = nic->width && nic->width < nic->max_width;
    const char *lanes = fewer ? arena_printf(arena, " on %u of %u lanes", nic->width, nic->max_width) : "";
    const char *rate =
        nic->max_bytes_per_s > 0 ? arena_printf(arena, " at %.0f Gb/s", nic->max_bytes_per_s * 8 / 1e9) : "";
    return arena_printf(arena, "%s%s%s", nic->state, rate, lanes);
}

/* "8 active at 400 Gb/s, 1 up at 10 Gb/s": what the cards are called is no difference. */
static const char *nics_of(const struct device_info *d, struct arena *arena)
{
    struct text text = {0};
    const char *each[DEVICE_MAX_NICS];
    for (uint32_t k = 0; k < d->nic_count; k++)
        each[k] = nic_words(&d->nics[k], arena);
    for (uint32_t k = 0; k < d->nic_count; k++) {
        uint32_t before = 0, same = 0;
        for (uint32_t other = 0; other < d->nic_count; other++) {
            const bool alike = !strcmp(each[other], each[k]);
            before += alike && other < k;
            same += alike;
        }
        if (!before)
            text_addf(&text, "%s%u %s", text.length ? ", " : "", same, each[k]);
    }
    return text_take(&text, arena);
}

/* The first FLEET_GROUP_FACTS make the group. */
static void take_facts(struct fleet_device *device, struct fleet *fleet, const struct result *result)
{
    const struct device_info *d = &result->device;
    struct arena *arena = fleet->arena;
    char text[64] = "";
    add_fact(device, fleet, "model", *d->name ? d->name : d->id);
    add_fact(device, fleet, "target", d->arch);
    add_fact(device, fleet, "compute units", arena_printf(arena, "%u", d->cus));
    add_fact(device, fleet, "partition", d->partition);
    if (d->power_cap_w > 0)
        snprintf(text, sizeof(text), "%.0f W", d->power_cap_w);
    add_fact(device, fleet, "power cap", text);
    add_fact(device, fleet, "driver", d->driver);
    const struct fleet_fact others[] = {
        {"vbios", d->vbios},
        {"firmware", d->firmware},
        {"performance level", d->perf_level},
        {"memory", d->memory_bytes ? arena_printf(arena, "%.0f GiB", (double)d->memory_bytes / 0x1p30) : ""},
        {"PCIe lanes", pcie_of(d, arena)},
        {"network cards", nics_of(d, arena)},
        {"Linux", result->kernel_release},
        {"system", result->os},
        {"processor", result->cpu_name},
        {"governor", result->governor},
        {"container", result->container},
        {"compiler", result->compiler},
        {"suite", result->config_sha256 ? arena_printf(arena, "%.12s", result->config_sha256) : ""},
        {"rooftile",
         arena_printf(arena, "%s%s%s", result->tool_version ? result->tool_version : "",
                      result->tool_git && *result->tool_git ? " " : "", result->tool_git ? result->tool_git : "")},
    };
    for (size_t k = 0; k < COUNT_OF(others); k++)
        add_fact(device, fleet, others[k].key, others[k].value);
    for (size_t k = 0; k < result->env_count; k++)
        if (!strstr(result->env[k].key, "VISIBLE_DEVICES")) /* differs from rank to rank by its purpose */
            add_fact(device, fleet, arena_strdup(arena, result->env[k].key), result->env[k].value);
}

/* ---- results ---- */

static const char *node_of(const struct result *result, struct arena *arena)
{
    if (result->job.node && *result->job.node)
        return arena_strdup(arena, result->job.node);
    return arena_printf(arena, "host-%.8s", result->host_id_hash && *result->host_id_hash ? result->host_id_hash : "?");
}

/* What --budget leaves out is said in its cases, and nothing is wrong with the device that had some. */
static const char *why_not_whole(const struct result *result)
{
    if (!result->status || !strcmp(result->status, "complete"))
        return NULL;
    const size_t late = COUNT_WHERE(c, result->cases, result->case_count,
                                    c->status == CASE_SKIPPED && text_starts(c->reason, RESULT_LATE_REASON));
    const size_t measured = COUNT_WHERE(c, result->cases, result->case_count, c->status != CASE_SKIPPED);
    return !late ? "the run did not end" : measured ? NULL : "nothing was measured before its budget ran out";
}

static void fleet_add(struct fleet *fleet, const struct result *result, UNUSED const char *path)
{
    const struct device_info *d = &result->device;
    struct fleet_device device = {.node = node_of(result, fleet->arena),
                                  .expected = result->job.devices,
                                  .rank = result->job.rank,
                                  .world = result->job.world};
    /* Without a number of its own a device is told by its process: each may see a single one. */
    const char *own = *d->uuid      ? d->uuid
                      : *d->pci_bdf ? d->pci_bdf
                                    : arena_printf(fleet->arena, "%s#%u", d->id, result->job.local_rank);
    struct fleet_run run = {.run_id = arena_strdup(fleet->arena, result->run_id ? result->run_id : "")};
    const bool together = is_together(result);
    size_t next = 0;
    device.name = arena_printf(fleet->arena, result->job.local_rank ? "%s %s#%u" : "%s %s", device.node, d->id,
                               result->job.local_rank);
    device.key = arena_printf(fleet->arena, "%s|%s|%s", device.node, own, d->id);
    device.problem = why_not_whole(result);
    take_facts(&device, fleet, result);
    run.readings = arena_array(fleet->arena, result->case_count + 1, sizeof(*run.readings));
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (c->status == CASE_SKIPPED)
            continue;
        run.readings[run.count].metric = metric_of(fleet, c, together, &next);
        run.readings[run.count++].reading = reading_of(c, fleet->arena);
    }
    run.together = together;
    fleet->predicted = fleet->predicted || result->predicted;
    if (result->finished_at && (!fleet->date || strcmp(result->finished_at, fleet->date) > 0))
        fleet->date = arena_strdup(fleet->arena, result->finished_at);
    device.run = arena_copy(fleet->arena, &run, sizeof(run));
    ARENA_PUSH(fleet->arena, fleet->devices, fleet->device_count, device);
    fleet->files++;
}

/* ---- files ---- */

static void note(struct fleet *fleet, const char *path, const char *why)
{
    const char *own = text_starts(why, path) ? why + strlen(path) : why;
    own += strspn(own, ": ");
    ARENA_PUSH(fleet->arena, fleet->unread, fleet->unread_count, arena_printf(fleet->arena, "%s: %.300s", path, own));
}

static void read_file(struct fleet *fleet, const char *path, struct arena *scratch)
{
    const struct result *result = NULL;
    struct err err = {0};
    if (result_read_light(&result, path, scratch, &err))
        note(fleet, path, err.text);
    else
        fleet_add(fleet, result, path);
    arena_reset(scratch);
}

static enum status read_folder(struct fleet *fleet, const char *path, struct arena *scratch, struct err *err)
{
    static const char *const suffixes[] = {".json", JOURNAL_SUFFIX};
    for (size_t s = 0; s < COUNT_OF(suffixes); s++) {
        char **paths = NULL;
        size_t count = 0;
        if (file_list(&paths, &count, path, suffixes[s], fleet->arena, err))
            return err->status;
        for (size_t k = 0; k < count; k++)
            if (!s || !file_exists(arena_strndup(scratch, paths[k], strlen(paths[k]) - strlen(JOURNAL_SUFFIX))))
                read_file(fleet, paths[k], scratch);
    }
    return STATUS_OK;
}

enum status fleet_read(struct fleet *fleet, const char *const *paths, size_t count, struct err *err)
{
    SCOPED(arena_release) struct arena scratch = {0};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        if (file_is_dir(paths[k]))
            status = read_folder(fleet, paths[k], &scratch, err);
        else if (file_exists(paths[k]))
            read_file(fleet, paths[k], &scratch);
        else
            status = err_set(err, ERR_CONFIG, "there is no file or folder %s", paths[k]);
    }
    tell_apart(fleet);
    return status;
}
