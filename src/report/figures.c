/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report_internal.h"
#include "rooftile/units.h"

void styled(struct text *out, const struct report_options *options, enum style style, const char *text)
{
    static const char *const codes[] = {
        [STYLE_PLAIN] = "",         [STYLE_BOLD] = "\033[1m",    [STYLE_DIM] = "\033[2m",   [STYLE_RED] = "\033[31m",
        [STYLE_GREEN] = "\033[32m", [STYLE_YELLOW] = "\033[33m", [STYLE_CYAN] = "\033[36m",
    };
    if (!options->color || style == STYLE_PLAIN) {
        text_add(out, text);
        return;
    }
    text_add(out, codes[style]);
    text_add(out, text);
    text_add(out, "\033[0m");
}

unsigned report_columns(const struct report_options *options)
{
    return options->columns ? options->columns : 100;
}

const char *figure_interval(char out[static FIGURE_TEXT], const struct result_case *c)
{
    const double percent = (c->stats.ci95[1] - c->stats.ci95[0]) / 2 / c->stats.median * 100;
    snprintf(out, FIGURE_TEXT, percent < 9.95 ? "%.1f%%" : "%.0f%%", percent);
    return out;
}

const char *figure_time(char out[static FIGURE_TEXT], const struct result_case *c)
{
    char time[UNITS_TEXT], interval[FIGURE_TEXT];
    if (!c->sample_count)
        snprintf(out, FIGURE_TEXT, "-");
    else
        snprintf(out, FIGURE_TEXT, "%s \u00b1%.12s", units_time(time, c->stats.median), figure_interval(interval, c));
    return out;
}

static const char *text_of_item(char out[static MACHINE_NAME + 2], const struct result_case *c)
{
    snprintf(out, MACHINE_NAME + 2, "%s/s", c->work.item);
    return out;
}

const char *figure_rate(char out[static FIGURE_TEXT], const struct result_case *c)
{
    char rate[UNITS_TEXT], unit[MACHINE_NAME + 2];
    const bool compute = c->floor.bound[0] ? !c->floor.bound_is_memory : !strcmp(c->class, "compute");
    out[0] = '\0';
    if (!c->sample_count)
        return out;
    if (c->work.item[0] && c->work.items > 0)
        snprintf(out, FIGURE_TEXT, "%s", units_rate(rate, c->items_per_s, text_of_item(unit, c)));
    else if (!strcmp(c->class, "latency") && c->work.items > 1)
        snprintf(out, FIGURE_TEXT, "%s each", units_time(rate, c->stats.median / c->work.items));
    else if (compute && c->flops_per_s > 0)
        snprintf(out, FIGURE_TEXT, "%s", units_rate(rate, c->flops_per_s, machine_unit_rate(c->work.unit)));
    else if (c->bytes_per_s > 0 && isfinite(c->bytes_per_s))
        snprintf(out, FIGURE_TEXT, "%s", units_rate(rate, c->bytes_per_s, "B/s"));
    else if (c->flops_per_s > 0)
        snprintf(out, FIGURE_TEXT, "%s", units_rate(rate, c->flops_per_s, machine_unit_rate(c->work.unit)));
    else if (c->work.items > 1)
        snprintf(out, FIGURE_TEXT, "%s each", units_time(rate, c->stats.median / c->work.items));
    return out;
}

/* Bytes over time say nothing about a chain of dependent loads or an empty launch. */
static bool is_latency(const struct result_case *c)
{
    return !strcmp(c->class, "latency") || !strcmp(c->class, "launch");
}

const char *figure_bound(const struct result_case *c)
{
    if (is_latency(c))
        return c->class;
    return c->floor.bound[0] ? c->floor.bound : "-";
}

const char *figure_fraction(char out[static FIGURE_TEXT], const struct result_case *c)
{
    if (!c->sample_count || !isfinite(c->fraction) || c->fraction <= 0 || is_latency(c))
        snprintf(out, FIGURE_TEXT, "-");
    else if (c->fraction < 0.01)
        snprintf(out, FIGURE_TEXT, "%.1f%%", c->fraction * 100);
    else
        snprintf(out, FIGURE_TEXT, "%.0f%%", c->fraction * 100);
    return out;
}

const char *figure_intensity(char out[static FIGURE_TEXT], const struct result_case *c)
{
    const double intensity = c->floor.intensity;
    if (!isfinite(intensity) || c->work.flops <= 0)
        snprintf(out, FIGURE_TEXT, "-");
    else if (intensity >= 1e7)
        snprintf(out, FIGURE_TEXT, "%.0e", intensity);
    else if (intensity >= 1e4)
        snprintf(out, FIGURE_TEXT, "%.0fk", intensity / 1e3);
    else
        snprintf(out, FIGURE_TEXT, intensity < 100 ? "%.3g" : "%.0f", intensity);
    return out;
}

const char *figure_verified(const struct result_case *c)
{
    switch (c->verification.verdict) {
    case VERIFY_PASS:
        return c->verification.method;
    case VERIFY_FAIL:
        return "WRONG";
    default:
        return "-";
    }
}

const struct flag_words flag_words[] = {
    {FLAG_IMPOSSIBLE, '!', "impossible",
     "faster than a physical peak allows, so the work, the peak or the clock is wrong"},
    {FLAG_ROOF_RAISED, 'r', "roof_raised",
     "faster than the measured roof: both were measured again, and the roof was lifted"},
    {FLAG_DISTURBED, 'd', "disturbed",
     "the machine's reference rates moved over 5 % meanwhile (a neighbour, or a clock)"},
    {FLAG_THROTTLED, 't', "throttled", "the clock fell meanwhile, held back by a power or temperature limit"},
    {FLAG_LAUNCH_BOUND, 'l', "launch_bound", "an empty launch alone takes over 5 % of the time"},
    {FLAG_PROFILED, 'p', "profiled", "one launch marked for a profiler: not a measurement"},
    {0, 0, NULL, NULL},
};

const char *figure_loop(char out[static FIGURE_TEXT], const struct result_case *c)
{
    out[0] = '\0';
    if (c->code.loop_instruction && c->code.loop_instruction[0])
        snprintf(out, FIGURE_TEXT, "%.40s %.0f%%", c->code.loop_instruction, c->code.loop_share * 100);
    return out;
}

void figure_flags(struct text *out, const struct result_case *c)
{
    bool some = false;
    for (const struct flag_words *flag = flag_words; flag->flag; flag++)
        if (c->flags & flag->flag) {
            text_addf(out, "%s%s", some ? "," : "", flag->name);
            some = true;
        }
}

void figure_marks(struct text *out, const struct result_case *c)
{
    for (const struct flag_words *flag = flag_words; flag->flag; flag++)
        if (c->flags & flag->flag)
            text_addf(out, "%c", flag->mark);
}

void predicted_banner(struct text *out, const struct result *result, const struct report_options *options)
{
    if (!result->predicted)
        return;
    styled(out, options, STYLE_BOLD, "PREDICTED: the sim device executes nothing; no time here was measured");
    text_add(out, "\n");
}
