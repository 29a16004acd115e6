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

/* The output; a family's head is written before its first sample. */
struct metrics {
    struct text *out;
    const char *prefix; /* of all names: "rooftile_" */
    struct arena arena;
};

struct family {
    const char *name; /* without the prefix */
    const char *unit; /* OpenMetrics: the name ends with it; NULL: none */
    const char *help;
};

static void add_head(struct metrics *m, const struct family *family)
{
    text_addf(m->out, "# HELP %s%s %s\n# TYPE %s%s gauge\n", m->prefix, family->name, family->help, m->prefix,
              family->name);
    if (family->unit)
        text_addf(m->out, "# UNIT %s%s %s\n", m->prefix, family->name, family->unit);
}

/* A NULL key ends `labels`. */
static void add_sample(struct metrics *m, const char *name, double value, const struct result_label *labels)
{
    text_addf(m->out, "%s%s", m->prefix, name);
    for (size_t k = 0; labels[k].key; k++) {
        text_addf(m->out, "%c%s=\"", k ? ',' : '{', labels[k].key);
        text_add_escaped(m->out, ESCAPE_C, labels[k].value);
        text_add(m->out, "\"");
    }
    text_addf(m->out, "} %.*g\n", fabs(value) >= 1e9 && value == floor(value) ? 15 : 9, value);
}

static void add_single(struct metrics *m, const struct family *family, double value, const struct result_label *labels)
{
    if (!isfinite(value))
        return;
    add_head(m, family);
    add_sample(m, family->name, value, labels);
}

/* RFC 3339 as Unix time; NaN if it is invalid. */
static double unix_time(const char *text)
{
    struct tm tm = {0};
    return text && strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) ? (double)timegm(&tm) : NAN;
}

/* ---- cases ---- */

struct case_family {
    struct family family;
    const char *figure; /* of a case that counts; NULL: use `value` */
    double scale;
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

static bool is_whole(const struct result_case *c)
{
    return !strcmp(machine_unit_rate(c->work.unit), "OP/s");
}

static double flops(const struct result_case *c)
{
    return result_case_counts(c) && !is_whole(c) ? figure_value("flops_per_s", c) : NAN;
}

static double ops(const struct result_case *c)
{
    return result_case_counts(c) && is_whole(c) ? figure_value("flops_per_s", c) : NAN;
}

static double low(const struct result_case *c)
{
    return result_case_counts(c) && c->timer == TIMED_SIM ? c->prediction.low_ns : NAN;
}

static double high(const struct result_case *c)
{
    return result_case_counts(c) && c->timer == TIMED_SIM ? c->prediction.high_ns : NAN;
}

static const struct case_family case_families[] = {
    {{"case_time_seconds", "seconds", "Median time of one launch, or its prediction."}, "time", 1e-9, NULL},
    {{"case_time_interval_ratio", "ratio", "Half of the median's 95 % interval, relative to it."},
     "\u00b195 %",
     1,
     NULL},
    {{"case_time_low_seconds", "seconds", "Where the 80 % interval of a predicted time begins."}, NULL, 1e-9, low},
    {{"case_time_high_seconds", "seconds", "Where it ends."}, NULL, 1e-9, high},
    {{"case_bytes_per_second", "bytes_per_second", "Bytes of the algorithm's minimum traffic per second."},
     "bytes_per_s",
     1,
     NULL},
    {{"case_flops_per_second", "flops_per_second", "Floating-point operations per second."}, NULL, 1, flops},
    {{"case_ops_per_second", "ops_per_second", "Operations on whole numbers per second."}, NULL, 1, ops},
    {{"case_ceiling_ratio", "ratio", "Fraction of the roofline's ceiling that was reached."},
     "fraction_of_ceiling",
     1,
     NULL},
    {{"case_ok", NULL, "1: measured, nothing wrong with it; 0: failed, crashed, timed out, wrong or impossible."},
     NULL,
     1,
     ok},
    {{"case_wrong", NULL, "1: the kernel's result is wrong; 0: it was verified."}, NULL, 1, wrong},
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

static void write_cases(struct metrics *m, const struct result *result)
{
    FOR_EACH(const struct case_family, family, case_families, COUNT_OF(case_families)) {
        bool some = false;
        for (size_t k = 0; k < result->case_count; k++) {
            const struct result_case *c = &result->cases[k];
            const double value = !family->figure         ? family->value(c)
                                 : result_case_counts(c) ? figure_value(family->figure, c)
                                                         : NAN;
            if (!isfinite(value))
                continue;
            if (!some)
                add_head(m, &family->family);
            some = true;
            add_sample(m, family->family.name, value * family->scale, case_labels(result, c, &m->arena));
        }
    }
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
        add_head(m, &families[first]);
        for (size_t k = first; k < result->kpi_count; k++)
            if (!strcmp(families[k].name, name))
                add_sample(m, name, result->kpis[k].value * scales[k],
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
    write_cases(&m, result);
    write_kpis(&m, result);
    add_single(&m, &complete, !result->status || !strcmp(result->status, "complete"), labels);
    add_single(&m, &ended, unix_time(result->finished_at), labels);
    text_add(out, "# EOF\n");
    arena_release(&m.arena);
}

/* ---- the gate ---- */

static void write_changes(struct metrics *m, const struct history_gate *gate)
{
    static const struct family change = {"gate_change_ratio", "ratio",
                                         "New level / old level - 1 of what is confirmed, open or tentative."};
    bool some = false;
    FOR_EACH(const struct history_series, s, gate->series, gate->count) {
        const double value = s->finding == FINDING_OPEN ? s->level : s->shift;
        if (s->finding < FINDING_CONFIRMED || s->finding > FINDING_TENTATIVE || !isfinite(value))
            continue;
        if (!some)
            add_head(m, &change);
        some = true;
        add_sample(m, change.name, value,
                   (struct result_label[]){{"case", s->case_id},
                                           {"timer", s->timer},
                                           {"kind", s->is_kpi     ? "kpi"
                                                    : s->is_class ? "class"
                                                                  : "case"},
                                           {"finding", history_finding_names[s->finding]},
                                           {"worse", s->slower ? "1" : "0"},
                                           {"channel", gate->channel},
                                           {"gpu", gate->device},
                                           {NULL, NULL}});
    }
}

void report_gate_openmetrics(struct text *out, const struct history_gate *gate)
{
    static const struct family verdict = {"gate_regression", NULL,
                                          "1: something is slower for good, broken or missing; 0: nothing is."};
    static const struct family series = {"gate_series", NULL, "How many series the gate says this of."};
    static const struct family judged = {"gate_run_timestamp_seconds", "seconds",
                                         "When the run that was judged started, in Unix time."};
    const struct {
        const char *word;
        size_t count;
    } counts[] = {{"confirmed", gate->findings[FINDING_CONFIRMED]},
                  {"open", gate->findings[FINDING_OPEN]},
                  {"tentative", gate->findings[FINDING_TENTATIVE]},
                  {"broken", gate->findings[FINDING_BROKEN]},
                  {"missing", gate->findings[FINDING_MISSING]},
                  {"slow", gate->findings[FINDING_SLOW]},
                  {"changed", gate->findings[FINDING_CHANGED]},
                  {"timer", gate->findings[FINDING_TIMER]},
                  {"improved", gate->findings[FINDING_IMPROVED]},
                  {"learning", gate->learning},
                  {"quiet", gate->quiet},
                  {"faster", gate->faster},
                  {"too_noisy", gate->too_noisy}};
    struct metrics m = {.out = out, .prefix = "rooftile_"};
    const struct result_label labels[] = {{"channel", gate->channel}, {"gpu", gate->device}, {NULL, NULL}};
    add_single(&m, &verdict, history_exit_code(gate, false) == 1, labels);
    add_head(&m, &series);
    for (size_t k = 0; k < COUNT_OF(counts); k++)
        add_sample(&m, series.name, (double)counts[k].count,
                   (struct result_label[]){{"state", counts[k].word}, labels[0], labels[1], labels[2]});
    write_changes(&m, gate);
    add_single(&m, &judged, unix_time(gate->run), labels);
    text_add(out, "# EOF\n");
    arena_release(&m.arena);
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
    if (fleet->device_count)
        add_head(&m, &bad);
    FOR_EACH(const struct fleet_device, d, fleet->devices, fleet->device_count)
        add_sample(&m, bad.name, d->verdict >= FLEET_SLOW,
                   (struct result_label[]){{"node", d->node},
                                           {"device", d->name},
                                           {"key", d->key},
                                           {"verdict", fleet_verdict_names[d->verdict]},
                                           {NULL, NULL}});
    if (fleet->outlier_count)
        add_head(&m, &slower);
    FOR_EACH(const struct fleet_outlier, o, fleet->outliers, fleet->outlier_count)
        add_sample(&m, slower.name, o->change,
                   (struct result_label[]){{"device", fleet->devices[o->device].name},
                                           {"key", fleet->devices[o->device].key},
                                           {"case", fleet->metrics[o->metric].name},
                                           {"cause", fleet_cause_names[o->cause]},
                                           {NULL, NULL}});
    if (fleet->spread_count)
        add_head(&m, &median);
    FOR_EACH(const struct fleet_spread, s, fleet->spreads, fleet->spread_count)
        add_sample(&m, median.name, s->median_ns * 1e-9,
                   (struct result_label[]){{"group", fleet->groups[s->group].name},
                                           {"case", fleet->metrics[s->metric].name},
                                           {"id", fleet->metrics[s->metric].id},
                                           {NULL, NULL}});
    add_single(&m, &missing, (double)fleet->missing_count, labels);
    text_add(out, "# EOF\n");
    arena_release(&m.arena);
}
