/* SPDX-License-Identifier: MIT
 *
 * Metrics for Prometheus: valid as OpenMetrics 1.0 and as the older text format that node_exporter's textfile
 * collector reads, hence no timestamps, and nothing after "# EOF". A family has one unit; predictions have families of
 * their own. The labels of a case are its kernel, its parameters (param_n="4096"), device, mode and plan id.
 */
#include <time.h>

#include "report_internal.h"
#include "rooftile/fleet.h"
#include "rooftile/history.h"

struct family {
    const char *name; /* without the prefix */
    const char *unit; /* OpenMetrics: the name ends with it; NULL: none */
    const char *help;
};

struct metrics {
    struct text *out;
    const char *prefix;           /* of all names: "rooftile_" */
    const struct family *written; /* the family whose head was written last */
    struct arena arena;
};

/* Adds nothing for NaN. The family's head comes before its first sample. A NULL key ends `labels`. */
static void add_sample(struct metrics *m, const struct family *family, double value, const struct result_label *labels)
{
    if (!isfinite(value))
        return;
    if (m->written != family)
        text_addf(m->out, "# HELP %s%s %s\n# TYPE %s%s gauge\n", m->prefix, family->name, family->help, m->prefix,
                  family->name);
    if (m->written != family && family->unit)
        text_addf(m->out, "# UNIT %s%s %s\n", m->prefix, family->name, family->unit);
    m->written = family;
    text_addf(m->out, "%s%s", m->prefix, family->name);
    for (size_t k = 0; labels[k].key; k++) {
        text_addf(m->out, "%c%s=\"", k ? ',' : '{', labels[k].key);
        text_add_escaped(m->out, ESCAPE_C, labels[k].value);
        text_add(m->out, "\"");
    }
    text_addf(m->out, "} %.*g\n", fabs(value) >= 1e9 && value == floor(value) ? 15 : 9, value);
}

static void finish(struct metrics *m)
{
    text_add(m->out, "# EOF\n");
    arena_release(&m->arena);
}

/* RFC 3339 as Unix time; NaN if it is invalid. */
static double unix_time(const char *text)
{
    struct tm tm = {0};
    return text && strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) ? (double)timegm(&tm) : NAN;
}

/* ---- cases ---- */

/* Times are written in seconds; the figures are in ns. */
struct case_family {
    struct family family;
    const char *figure;                           /* of a case that counts; NULL: use `value` */
    bool (*has)(const struct result_case *c);     /* NULL: all cases have the figure */
    double (*value)(const struct result_case *c); /* NaN: no sample */
};

static double ok(const struct result_case *c)
{
    return c->status == CASE_SKIPPED ? NAN : c->status == CASE_OK && !*result_case_finding(c);
}

static double wrong(const struct result_case *c)
{
    return c->verification.verdict == VERIFY_PASS ? 0 : c->verification.verdict == VERIFY_FAIL ? 1 : NAN;
}

static bool counts_whole(const struct result_case *c)
{
    return !strcmp(machine_unit_rate(c->work.unit), "OP/s");
}

static bool counts_floats(const struct result_case *c)
{
    return !counts_whole(c);
}

static bool is_simulated(const struct result_case *c)
{
    return c->timer == TIMED_SIM;
}

static const struct case_family case_families[] = {
    {{"case_time_seconds", "seconds", "Median time of one launch, or its prediction."}, .figure = "time"},
    {{"case_time_interval_ratio", "ratio", "Half of the median's 95 % interval, relative to it."},
     .figure = "\u00b195 %"},
    {{"case_time_low_seconds", "seconds", "Where the 80 % interval of a predicted time begins."},
     .figure = "predicted_low_ns",
     .has = is_simulated},
    {{"case_time_high_seconds", "seconds", "Where it ends."}, .figure = "predicted_high_ns", .has = is_simulated},
    {{"case_bytes_per_second", "bytes_per_second", "Bytes of the algorithm's minimum traffic per second."},
     .figure = "bytes_per_s"},
    {{"case_flops_per_second", "flops_per_second", "Floating-point operations per second."},
     .figure = "flops_per_s",
     .has = counts_floats},
    {{"case_ops_per_second", "ops_per_second", "Operations on whole numbers per second."},
     .figure = "flops_per_s",
     .has = counts_whole},
    {{"case_ceiling_ratio", "ratio", "Fraction of the roofline's ceiling that was reached."},
     .figure = "fraction_of_ceiling"},
    {{"case_ok", NULL, "1: measured, nothing wrong with it; 0: failed, crashed, timed out, wrong or impossible."},
     .value = ok},
    {{"case_wrong", NULL, "1: the kernel's result is wrong; 0: it was verified."}, .value = wrong},
};

static const struct result_label *case_labels(const struct result *result, const struct result_case *c,
                                              struct arena *arena)
{
    const struct result_label fixed[] = {{"case", plain_id(arena, c)},
                                         {"kernel", c->kernel},
                                         {"gpu", result->device.name},
                                         {"arch", result->device.arch},
                                         {"mode", cache_mode_names[c->cache]}};
    struct result_label *labels = arena_array(arena, COUNT_OF(fixed) + c->param_count + 1, sizeof(*labels));
    size_t count = COUNT_OF(fixed);
    memcpy(labels, fixed, sizeof(fixed));
    for (size_t k = 0; k < c->param_count; k++)
        if (!c->params[k].name[text_word(c->params[k].name)]) /* only the id has parameters with other names */
            labels[count++] = (struct result_label){arena_printf(arena, "param_%s", c->params[k].name),
                                                    param_text(arena, &c->params[k].value)};
    return labels;
}

/* ---- key figures: a family for each unit ---- */

static const struct kpi_unit {
    const char *unit, *name; /* NULL: any other unit, by its letters */
    double scale;
} kpi_units[] = {{"ns", "seconds", 1e-9},
                 {"B/s", "bytes_per_second", 1},
                 {"FLOP/s", "flops_per_second", 1},
                 {"OP/s", "ops_per_second", 1},
                 {"1/s", "per_second", 1},
                 {"Hz", "hertz", 1},
                 {"1", "ratio", 1},
                 {NULL, NULL, 1}};

static void write_kpis(struct metrics *m, const struct result *result)
{
    struct family *families = arena_array(&m->arena, result->kpi_count + 1, sizeof(*families));
    double *scales = arena_array(&m->arena, result->kpi_count + 1, sizeof(*scales));
    for (size_t k = 0; k < result->kpi_count; k++) {
        const struct result_kpi *kpi = &result->kpis[k];
        const struct kpi_unit *known = kpi_units;
        while (known->unit && strcmp(known->unit, kpi->unit) != 0)
            known++;
        char *unit = arena_strdup(&m->arena, known->unit ? known->name : *kpi->unit ? kpi->unit : "value");
        for (char *c = unit; *c; c++)
            *c = isalnum((unsigned char)*c) ? *c : '_';
        scales[k] = known->scale;
        families[k] = (struct family){isfinite(kpi->value) ? arena_printf(&m->arena, "kpi_%s", unit) : "", unit,
                                      "Key figures that the suite declares."};
    }
    for (size_t first = 0; first < result->kpi_count; first++) {
        const char *name = families[first].name;
        if (!*name || FIND_ROW(families, first, name, name))
            continue;
        for (size_t k = first; k < result->kpi_count; k++)
            if (!strcmp(families[k].name, name))
                add_sample(m, &families[first], result->kpis[k].value * scales[k],
                           (struct result_label[]){{"kpi", result->kpis[k].name},
                                                   {"better", result->kpis[k].higher_is_better ? "higher" : "lower"},
                                                   {"gpu", result->device.name},
                                                   {"arch", result->device.arch},
                                                   {NULL, NULL}});
    }
}

/* ---- a result ---- */

void report_openmetrics(struct text *out, const struct result *result)
{
    static const struct family complete = {"run_complete", NULL,
                                           "1: every planned case was run; 0: the run was interrupted."};
    static const struct family ended = {"run_timestamp_seconds", "seconds",
                                        "When the run ended, in Unix time: alert when it gets old."};
    struct metrics m = {.out = out,
                        .prefix = result->predicted          ? "rooftile_predicted_"
                                  : *result->device.emulated ? "rooftile_emulated_"
                                                             : "rooftile_"};
    const struct result_label labels[] = {{"gpu", result->device.name}, {"arch", result->device.arch}, {NULL, NULL}};
    FOR_EACH(const struct case_family, family, case_families, COUNT_OF(case_families)) {
        const bool seconds = !strcmp(text_or_empty(family->family.unit), "seconds");
        FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
            const bool has = result_case_counts(c) && (!family->has || family->has(c));
            const double value = !family->figure ? family->value(c) : has ? figure_value(family->figure, c) : NAN;
            if (isfinite(value))
                add_sample(&m, &family->family, seconds ? value * 1e-9 : value, case_labels(result, c, &m.arena));
        }
    }
    write_kpis(&m, result);
    add_sample(&m, &complete, !result->status || !strcmp(result->status, "complete"), labels);
    add_sample(&m, &ended, unix_time(result->finished_at), labels);
    finish(&m);
}

/* ---- the gate ---- */

static void write_count(struct metrics *m, const struct history_gate *gate, const char *state, size_t count)
{
    static const struct family series = {"gate_series", NULL, "How many series the gate says this of."};
    add_sample(
        m, &series, (double)count,
        (struct result_label[]){{"state", state}, {"channel", gate->channel}, {"gpu", gate->device}, {NULL, NULL}});
}

void report_gate_openmetrics(struct text *out, const struct history_gate *gate)
{
    static const struct family verdict = {"gate_regression", NULL,
                                          "1: something is slower for good, broken or missing; 0: nothing is."};
    static const struct family change = {"gate_change_ratio", "ratio",
                                         "New level / old level - 1 of what is confirmed, open or tentative."};
    static const struct family judged = {"gate_run_timestamp_seconds", "seconds",
                                         "When the run that was judged started, in Unix time."};
    struct metrics m = {.out = out, .prefix = "rooftile_"};
    const struct result_label labels[] = {{"channel", gate->channel}, {"gpu", gate->device}, {NULL, NULL}};
    add_sample(&m, &verdict, history_exit_code(gate, false) == 1, labels);
    for (int k = FINDING_CONFIRMED; k < FINDING_KINDS; k++)
        write_count(&m, gate, history_finding_names[k], gate->findings[k]);
    write_count(&m, gate, "learning", gate->learning);
    write_count(&m, gate, "quiet", gate->quiet);
    write_count(&m, gate, "faster", gate->faster);
    write_count(&m, gate, "too_noisy", gate->too_noisy);
    FOR_EACH(const struct history_series, s, gate->series, gate->count)
        if (s->finding >= FINDING_CONFIRMED && s->finding <= FINDING_TENTATIVE)
            add_sample(&m, &change, s->finding == FINDING_OPEN ? s->level : s->shift,
                       (struct result_label[]){{"case", s->case_id},
                                               {"timer", s->timer},
                                               {"kind", s->is_kpi     ? "kpi"
                                                        : s->is_class ? "class"
                                                                      : "case"},
                                               {"finding", history_finding_names[s->finding]},
                                               {"worse", s->slower ? "1" : "0"},
                                               labels[0],
                                               labels[1],
                                               labels[2]});
    add_sample(&m, &judged, unix_time(gate->run), labels);
    finish(&m);
}

/* ---- a fleet ---- */

void fleet_openmetrics(struct text *out, const struct fleet *fleet)
{
    static const struct family missing = {"fleet_missing", NULL, "Nodes, devices and ranks that gave no result."};
    static const struct family bad = {"fleet_device_bad", NULL, "1: the device is slow or broken; 0: it is not."};
    static const struct family slower = {"fleet_slower_ratio", "ratio",
                                         "Time / median of the others - 1, of devices that are slow."};
    static const struct family median = {"fleet_median_seconds", "seconds", "Median time over the devices of a group."};
    struct metrics m = {.out = out, .prefix = fleet->predicted ? "rooftile_predicted_" : "rooftile_"};
    const struct result_label labels[] = {{"of", "fleet"}, {NULL, NULL}};
    FOR_EACH(const struct fleet_device, d, fleet->devices, fleet->device_count)
        add_sample(&m, &bad, d->verdict >= FLEET_SLOW,
                   (struct result_label[]){{"node", d->node},
                                           {"device", d->name},
                                           {"key", d->key},
                                           {"verdict", fleet_verdict_names[d->verdict]},
                                           {NULL, NULL}});
    FOR_EACH(const struct fleet_outlier, o, fleet->outliers, fleet->outlier_count)
        add_sample(&m, &slower, o->change,
                   (struct result_label[]){{"device", fleet->devices[o->device].name},
                                           {"key", fleet->devices[o->device].key},
                                           {"case", fleet->metrics[o->metric].name},
                                           {"cause", fleet_cause_names[o->cause]},
                                           {NULL, NULL}});
    FOR_EACH(const struct fleet_spread, s, fleet->spreads, fleet->spread_count)
        add_sample(&m, &median, s->median_ns * 1e-9,
                   (struct result_label[]){{"group", fleet->groups[s->group].name},
                                           {"case", fleet->metrics[s->metric].name},
                                           {"id", fleet->metrics[s->metric].id},
                                           {NULL, NULL}});
    add_sample(&m, &missing, (double)fleet->missing_count, labels);
    finish(&m);
}
