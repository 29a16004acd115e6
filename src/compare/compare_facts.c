/* SPDX-License-Identifier: MIT */

#include "rooftile/compare.h"
#include "rooftile/units.h"

enum { MOST_DIFFERENCES = 256 };
static const double ceiling_tolerance = 0.01; /* smaller changes of a measured ceiling are noise */

/* ---- key figures ---- */

static bool same_declaration(const struct result_kpi *a, const struct result_kpi *b)
{
    if (strcmp(a->method, b->method) != 0 || strcmp(a->of, b->of) != 0 || a->filter_count != b->filter_count ||
        a->higher_is_better != b->higher_is_better || a->case_count != b->case_count)
        return false;
    for (size_t k = 0; k < a->filter_count; k++)
        if (strcmp(a->filters[k], b->filters[k]) != 0)
            return false;
    return true;
}

/* Converts a key figure to a time, where larger is worse; 0 if that is not possible. */
static double as_time(double value, bool higher_is_better)
{
    const double time = higher_is_better ? 1 / value : value;
    return value > 0 && isfinite(value) && isfinite(time) ? time : 0;
}

static const double *as_times(const struct result_kpi *kpi, size_t *count, struct arena *arena)
{
    double *times = arena_array(arena, kpi->trial_count + 1, sizeof(*times));
    *count = 0;
    for (size_t k = 0; k < kpi->trial_count && *count < SHIFT_MAX_TRIALS; k++) {
        const double time = as_time(kpi->trial_values[k], kpi->higher_is_better);
        if (time > 0)
            times[(*count)++] = time;
    }
    if (!*count)
        times[(*count)++] = as_time(kpi->value, kpi->higher_is_better);
    return times;
}

static enum status judge_kpi(struct compare_kpi *out, const struct result_kpi *base, const struct result_kpi *now,
                             const struct shift_options *options, struct arena *arena, struct err *err)
{
    struct shift_case in = {0};
    if (!same_declaration(base, now)) {
        out->reason = "declared differently, or of other cases, in the two results";
        return STATUS_OK;
    }
    out->lost = isfinite(base->value) && !isfinite(now->value);
    for (int is_base = 0; is_base < 2; is_base++) {
        const struct result_kpi *kpi = is_base ? base : now;
        if (as_time(kpi->value, kpi->higher_is_better) > 0)
            continue;
        out->reason = arena_printf(arena, "%s: %s", is_base ? "in the base" : "in the new result",
                                   isfinite(kpi->value)          ? "its value is not above 0"
                                   : *text_or_empty(kpi->reason) ? kpi->reason
                                                                 : "no value");
        return STATUS_OK;
    }
    in.base_ns = as_times(base, &in.base_trials, arena);
    in.new_ns = as_times(now, &in.new_trials, arena);
    if (shift_compare(&out->shift, &in, options, err))
        return err_within(err, "key figure '%s'", now->name);
    out->judged = true;
    return STATUS_OK;
}

enum status compare_kpis(struct comparison *comparison, struct arena *arena, struct err *err)
{
    const struct result *base = comparison->base, *now = comparison->now;
    struct compare_kpi *kpis = arena_array(arena, base->kpi_count + now->kpi_count + 1, sizeof(*kpis));
    size_t count = 0;
    for (size_t k = 0; k < now->kpi_count + base->kpi_count; k++) { /* those that only the base has come last */
        const bool of_base = k >= now->kpi_count;
        const struct result_kpi *kpi = of_base ? &base->kpis[k - now->kpi_count] : &now->kpis[k];
        const struct result_kpi *old = FIND_ROW(base->kpis, base->kpi_count, name, kpi->name);
        if (of_base && FIND_ROW(now->kpis, now->kpi_count, name, kpi->name))
            continue;
        struct compare_kpi *out = &kpis[count++];
        *out = (struct compare_kpi){.name = kpi->name,
                                    .of = kpi->of,
                                    .unit = kpi->unit,
                                    .higher_is_better = kpi->higher_is_better,
                                    .base = old ? old->value : NAN,
                                    .now = of_base ? NAN : kpi->value,
                                    .reason = of_base ? "not in the new result"
                                              : old   ? ""
                                                      : "not in the base",
                                    .lost = of_base && isfinite(kpi->value)};
        if (!of_base && old && judge_kpi(out, old, kpi, &comparison->options, arena, err))
            return err->status;
    }
    comparison->kpis = kpis;
    comparison->kpi_count = count;
    return STATUS_OK;
}

/* ---- other differences ---- */

static void differ(struct comparison *to, const char *what, const char *base, const char *now)
{
    const struct compare_difference difference = {what, text_or_empty(base), text_or_empty(now)};
    if (strcmp(difference.base, difference.now) != 0 && to->difference_count < MOST_DIFFERENCES)
        to->differences[to->difference_count++] = difference;
}

static void differ_ceiling(struct comparison *to, const char *name, const struct ceiling *a, const struct ceiling *b,
                           const char *unit, struct arena *arena)
{
    const double was = ceiling_value(a), is = ceiling_value(b);
    char before[UNITS_TEXT], after[UNITS_TEXT];
    const bool alike = was > 0 && is > 0 && fabs(is / was - 1) <= ceiling_tolerance;
    if (!alike && (was > 0 || is > 0))
        differ(to, arena_printf(arena, "ceiling %s", name),
               arena_printf(arena, "%s (%s)", units_rate(before, was, unit), ceiling_kind(a)),
               arena_printf(arena, "%s (%s)", units_rate(after, is, unit), ceiling_kind(b)));
}

void compare_differences(struct comparison *to, struct arena *arena)
{
    const struct result *a = to->base, *b = to->now;
    const struct machine *was = &a->machine, *is = &b->machine;
    struct identity_fact x, y;
    to->differences = arena_array(arena, MOST_DIFFERENCES, sizeof(*to->differences));
    differ(to, "rooftile", a->tool_version, b->tool_version);
    differ(to, "rooftile git", a->tool_git, b->tool_git);
    differ(to, "commit", a->commit, b->commit);
    differ(to, "suite", a->config_sha256, b->config_sha256);
    differ(to, "kernel compiler", a->compiler, b->compiler);
    differ(to, "seed", arena_printf(arena, "%llu", (unsigned long long)a->seed),
           arena_printf(arena, "%llu", (unsigned long long)b->seed));
    differ(to, "host", a->host_id_hash, b->host_id_hash);
    differ(to, "operating system", a->os, b->os);
    differ(to, "CPU", a->cpu_name, b->cpu_name);
    differ(to, "container", a->container, b->container);
    for (size_t k = 0; result_fact(&x, a, k, arena) && result_fact(&y, b, k, arena); k++)
        differ(to, x.name, x.value, y.value);
    for (size_t k = 0; k < a->env_count + b->env_count; k++) { /* variables that only the new result has come last */
        const struct result_label *set = k < a->env_count ? &a->env[k] : &b->env[k - a->env_count];
        const struct result_label *old = FIND_ROW(a->env, a->env_count, key, set->key);
        const struct result_label *new = FIND_ROW(b->env, b->env_count, key, set->key);
        if (k < a->env_count || !old || !*old->value)
            differ(to, arena_printf(arena, "$%s", set->key), old ? old->value : "", new ? new->value : "");
    }
    differ(to, "ceilings", was->level_count || was->unit_count ? "known" : "none",
           is->level_count || is->unit_count ? "known" : "none");
    for (uint32_t k = 0; k < is->level_count; k++)
        for (uint32_t n = 0; n < was->level_count; n++)
            if (!strcmp(was->levels[n].name, is->levels[k].name))
                differ_ceiling(to, is->levels[k].name, &was->levels[n].bandwidth, &is->levels[k].bandwidth, "B/s",
                               arena);
    for (uint32_t k = 0; k < is->unit_count; k++) {
        const struct machine_unit *unit = machine_unit(was, is->units[k].name);
        if (unit)
            differ_ceiling(to, unit->name, &unit->peak, &is->units[k].peak, machine_unit_rate(unit->name), arena);
    }
    to->same_fingerprint = a->fingerprint[0] && !strcmp(a->fingerprint, b->fingerprint);
}
