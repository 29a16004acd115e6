/* SPDX-License-Identifier: MIT
 *
 * Converts results to devices with readings. Only the judged values are retained, so that ten thousand results fit in
 * memory.
 */

#include "fleet_internal.h"
#include "rooftile/file.h"
#include "rooftile/journal.h"

/* ---- metrics ---- */

/* Cases have the same order in all results of a suite, so the search starts after the last one found. */
static size_t metric_of(struct fleet *fleet, const struct result_case *c, bool together, size_t *next)
{
    const bool latency = result_is_latency(c), special = !strcmp(c->lower_bound.ceiling_name, TRANSCENDENTAL_UNIT);
    const double bytes = c->work.read_bytes + c->work.write_bytes,
                 operations = special && c->work.transcendentals > 0 ? c->work.transcendentals : c->work.flops,
                 amount = operations > 0 ? operations : bytes;
    for (size_t tried = 0; tried < fleet->metric_count; tried++) {
        const size_t at = (*next + tried) % fleet->metric_count;
        const struct fleet_metric *metric = &fleet->metrics[at];
        if (metric->together != together || strcmp(metric->id, c->id) ||
            fabs(metric->amount - amount) > 1e-9 * metric->amount)
            continue;
        *next = at + 1;
        return at;
    }
    const char *unit = latency || !(amount > 0) ? "ns"
                       : operations > 0         ? machine_unit_rate(special ? TRANSCENDENTAL_UNIT : c->work.unit)
                                                : "B/s";
    const struct fleet_metric metric = {.name = arena_strdup(fleet->arena, case_name(c)),
                                        .id = arena_strdup(fleet->arena, c->id),
                                        .kind = arena_strdup(fleet->arena, text_or_empty(c->class)),
                                        .level = arena_strdup(fleet->arena, c->lower_bound.ceiling_name),
                                        .unit = arena_strdup(fleet->arena, unit),
                                        .together = together,
                                        .amount = amount,
                                        .each = latency && c->work.items > 1 ? c->work.items : 1};
    ARENA_PUSH(fleet->arena, fleet->metrics, fleet->metric_count, metric);
    return *next = fleet->metric_count - 1;
}

/* Returns the parameters of an id such as "kernel/n=64;dtype=f32". */
static const char *parts_of(const char *id)
{
    const char *slash = strchr(id, '/');
    return slash ? slash + 1 : "";
}

/* Several suites may be read together, and a label only has what differs within its suite. Adds the parts of the id,
 * such as "n=64", that other metrics with the same label lack. */
static void tell_apart(struct fleet *fleet)
{
    const char **names = arena_array(fleet->arena, fleet->metric_count + 1, sizeof(*names));
    for (size_t k = 0; k < fleet->metric_count; k++) {
        const struct fleet_metric *metric = &fleet->metrics[k];
        names[k] = metric->name;
        for (const char *at = parts_of(metric->id); *at; at += strspn(at, ";")) {
            const size_t length = strcspn(at, ";");
            if (COUNT_WHERE(other, fleet->metrics, fleet->metric_count,
                            other->together == metric->together && !strcmp(other->name, metric->name) &&
                                !text_has_word(parts_of(other->id), ";", at, length)))
                names[k] = arena_printf(fleet->arena, "%s %.*s", names[k], (int)length, at);
            at += length;
        }
    }
    for (size_t k = 0; k < fleet->metric_count; k++)
        fleet->metrics[k].name =
            arena_printf(fleet->arena, "%s%s", names[k], fleet->metrics[k].together ? FLEET_TOGETHER : "");
}

/* ---- readings ---- */

static struct fleet_reading reading_of(const struct result_case *c, struct arena *arena)
{
    const struct device_sense *a = &c->before, *b = &c->after;
    const char *finding = result_case_finding(c), *reason = text_or_empty(c->reason);
    struct fleet_reading reading = {
        .time_ns = NAN,
        .fastest_ns = NAN,
        .noise = NAN,
        .core_hz = c->core_hz,
        .memory_hz = b->memory_hz,
        .temp_c = b->temp_c,
        .power_w = b->power_w,
        /* NaN if either is */
        .violation_power = b->violation_power - a->violation_power,
        .violation_heat = fmax(fmax(b->violation_thermal - a->violation_thermal, b->violation_hbm - a->violation_hbm),
                               b->violation_vr - a->violation_vr)};
    double times[SHIFT_MAX_TRIALS];
    if (*finding || c->status == CASE_ERROR)
        reading.problem = arena_printf(arena, "%s: %s%s%.200s", case_name(c), *finding ? finding : "error",
                                       *reason ? ": " : "", reason);
    if (!result_case_counts(c))
        return reading;
    const size_t count = result_trial_times(times, c);
    reading.time_ns = reading.fastest_ns = result_case_time(c);
    for (size_t k = 0; k < count; k++) {
        reading.fastest_ns = fmin(reading.fastest_ns, times[k]);
        times[k] = log(times[k]);
    }
    reading.noise = robust_sd(times, count);
    return reading;
}

/* ---- facts ---- */

/* Returns "8 active at 400 Gb/s, 1 up at 10 Gb/s"; the cards' names are not a difference. */
static const char *nics_of(const struct device_info *d, struct arena *arena)
{
    struct text text = {0};
    const char *each[DEVICE_MAX_NICS];
    for (uint32_t k = 0; k < d->nic_count; k++) {
        const struct device_nic *nic = &d->nics[k];
        const bool fewer = nic->width && nic->width < nic->max_width;
        const char *lanes = fewer ? arena_printf(arena, " on %u of %u lanes", nic->width, nic->max_width) : "";
        const char *rate =
            nic->max_bytes_per_s > 0 ? arena_printf(arena, " at %.0f Gb/s", nic->max_bytes_per_s * 8 / 1e9) : "";
        each[k] = arena_printf(arena, "%s%s%s", nic->state, rate, lanes);
    }
    for (uint32_t k = 0; k < d->nic_count; k++)
        if (!text_among(each[k], each, k))
            text_addf(&text, "%s%zu %s", text.length ? ", " : "",
                      COUNT_WHERE(other, each, d->nic_count, !strcmp(*other, each[k])), each[k]);
    return text_take(&text, arena);
}

/* The first FLEET_GROUP_FACTS facts define the group. */
static void take_facts(struct fleet_device *device, struct fleet *fleet, const struct result *result)
{
    const struct device_info *d = &result->device;
    struct arena *arena = fleet->arena;
    const bool pcie = d->pcie.width && d->pcie.max_width, built = result->tool_git && *result->tool_git;
    const struct fleet_fact known[] = {
        {"model", *d->name ? d->name : d->id},
        {"target", d->arch},
        {"compute units", arena_printf(arena, "%u", d->cus)},
        {"partition", d->partition},
        {"power cap", d->power_cap_w > 0 ? arena_printf(arena, "%.0f W", d->power_cap_w) : ""},
        {"driver", d->driver},
        {"vbios", d->vbios},
        {"firmware", d->firmware},
        {"performance level", d->perf_level},
        {"memory", d->memory_bytes ? arena_printf(arena, "%.0f GiB", (double)d->memory_bytes / 0x1p30) : ""},
        {"PCIe lanes", pcie ? arena_printf(arena, "x%u of x%u", d->pcie.width, d->pcie.max_width) : ""},
        {"network cards", nics_of(d, arena)},
        {"Linux", result->kernel_release},
        {"system", result->os},
        {"processor", result->cpu_name},
        {"governor", result->governor},
        {"container", result->container},
        {"compiler", result->compiler},
        {"suite", result->config_sha256 ? arena_printf(arena, "%.12s", result->config_sha256) : ""},
        {"rooftile", arena_printf(arena, "%s%s%s", text_or_empty(result->tool_version), built ? " " : "",
                                  built ? result->tool_git : "")},
    };
    struct fleet_fact *facts = arena_array(arena, COUNT_OF(known) + result->env_count, sizeof(*facts));
    FOR_EACH(const struct fleet_fact, fact, known, COUNT_OF(known))
        facts[device->fact_count++] = (struct fleet_fact){fact->key, arena_strdup(arena, text_or_empty(fact->value))};
    FOR_EACH(const struct result_label, variable, result->env, result->env_count)
        if (!strstr(variable->key, "VISIBLE_DEVICES")) /* differs between ranks on purpose */
            facts[device->fact_count++] = (struct fleet_fact){arena_strdup(arena, variable->key),
                                                              arena_strdup(arena, text_or_empty(variable->value))};
    device->facts = facts;
}

/* ---- results ---- */

/* Cases skipped because of --budget are marked as such, and do not count against the device if it measured others. */
static const char *why_not_whole(const struct result *result)
{
    if (!result->status || !strcmp(result->status, "complete"))
        return NULL;
    const size_t late = COUNT_WHERE(c, result->cases, result->case_count,
                                    c->status == CASE_SKIPPED && text_starts(c->reason, RESULT_LATE_REASON));
    const size_t measured = COUNT_WHERE(c, result->cases, result->case_count, c->status != CASE_SKIPPED);
    return !late ? "the run did not end" : measured ? NULL : "nothing was measured before its budget ran out";
}

static void fleet_add(struct fleet *fleet, const struct result *result)
{
    const struct device_info *d = &result->device;
    const struct result_job *job = &result->job;
    struct arena *arena = fleet->arena;
    const char *host = text_or_empty(result->host_id_hash);
    struct fleet_device device = {.problem = why_not_whole(result),
                                  .expected = job->devices,
                                  .rank = job->rank,
                                  .world = job->world,
                                  .node = job->node && *job->node
                                              ? arena_strdup(arena, job->node)
                                              : arena_printf(arena, "host-%.8s", *host ? host : "?")};
    /* A device without a unique id is identified by its process, as each process may see a single device. */
    const char *own = *d->uuid      ? d->uuid
                      : *d->pci_bdf ? d->pci_bdf
                                    : arena_printf(arena, "%s#%u", d->id, job->local_rank);
    struct fleet_run *run = arena_alloc(arena, sizeof(*run));
    size_t next = 0;
    device.name = arena_printf(arena, job->local_rank ? "%s %s#%u" : "%s %s", device.node, d->id, job->local_rank);
    device.key = arena_printf(arena, "%s|%s|%s", device.node, own, d->id);
    take_facts(&device, fleet, result);
    run->run_id = arena_strdup(arena, text_or_empty(result->run_id));
    run->together = job->started_together_ns > 0;
    run->readings = arena_array(arena, result->case_count + 1, sizeof(*run->readings));
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        if (c->status == CASE_SKIPPED)
            continue;
        run->readings[run->count].metric = metric_of(fleet, c, run->together, &next);
        run->readings[run->count++].reading = reading_of(c, arena);
    }
    device.run = run;
    fleet->predicted = fleet->predicted || result->predicted;
    if (result->finished_at && (!fleet->date || strcmp(result->finished_at, fleet->date) > 0))
        fleet->date = arena_strdup(arena, result->finished_at);
    ARENA_PUSH(arena, fleet->devices, fleet->device_count, device);
}

/* ---- files ---- */

static void read_file(struct fleet *fleet, const char *path, struct arena *scratch)
{
    const struct result *result = NULL;
    struct err err = {0};
    if (!result_read_light(&result, path, scratch, &err) && !result_check_measured(result, &err)) {
        fleet_add(fleet, result);
    } else {
        const char *why = text_starts(err.text, path) ? err.text + strlen(path) : err.text;
        ARENA_PUSH(fleet->arena, fleet->unread, fleet->unread_count,
                   arena_printf(fleet->arena, "%s: %.300s", path, why + strspn(why, ": ")));
    }
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
