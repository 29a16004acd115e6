/* SPDX-License-Identifier: MIT */
#include "aa.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rooftile/json_out.h"
#include "rooftile/units.h"

enum { MOST_ROWS = 40 };

/* ---- table ---- */

static void put_percent(struct text *out, double fraction, int width)
{
    char cell[32];
    if (isfinite(fraction))
        snprintf(cell, sizeof(cell), fraction < 0.0995 ? "%.2f %%" : "%.0f %%", fraction * 100);
    else
        snprintf(cell, sizeof(cell), "-");
    text_addf(out, "  %*s", width, cell);
}

/* The noisiest first; what is as noisy as another in the order of the run. */
static int by_sigma(const void *a, const void *b)
{
    const struct noise_case *p = *(const struct noise_case *const *)a, *q = *(const struct noise_case *const *)b;
    const double x = isfinite(p->sigma) ? p->sigma : -1, y = isfinite(q->sigma) ? q->sigma : -1;
    return x != y ? (x < y) - (x > y) : (p > q) - (p < q);
}

static void put_rows(struct text *out, const struct aa *aa, bool all)
{
    const struct noise_case **order = arena_array(aa->arena, aa->count + 1, sizeof(const struct noise_case *));
    const size_t shown = all || aa->count < MOST_ROWS ? aa->count : MOST_ROWS;
    size_t width = strlen("case");
    for (size_t k = 0; k < aa->count; k++)
        order[k] = &aa->cases[k];
    qsort(order, aa->count, sizeof(*order), by_sigma);
    for (size_t k = 0; k < shown; k++) {
        const size_t columns = text_columns(aa->of[order[k] - aa->cases]->label);
        width = columns > width ? columns : width;
    }
    text_pad(out, width, ' ');
    text_add(out, "                                  a change shows from\ncase");
    text_pad(out, width - 4, ' ');
    text_addf(out, "  %9s  %8s  %8s  %10s  %10s\n", "time", "noise", "sd", "5 v 5", "7 nights");
    for (size_t k = 0; k < shown; k++) {
        const struct noise_case *noise = order[k];
        const struct result_case *c = aa->of[noise - aa->cases];
        char time[UNITS_TEXT];
        text_add(out, c->label);
        text_pad(out, width - text_columns(c->label), ' ');
        text_addf(out, "  %9s", units_time(time, c->stats.median));
        put_percent(out, noise->sigma, 8);
        put_percent(out, noise->sd, 8);
        put_percent(out, noise->mde_compare, 10);
        put_percent(out, noise->mde_week, 10);
        text_add(out, noise->too_noisy ? "  too noisy to gate\n" : "\n");
    }
    if (shown < aa->count)
        text_addf(out, "... and %zu quieter ones (-v shows them)\n", aa->count - shown);
}

static void put_summary(struct text *out, const struct aa *aa)
{
    const struct noise_summary *s = &aa->summary;
    text_addf(out, "\n%zu case%s, %u trials each, on %s\n", s->cases, s->cases == 1 ? "" : "s",
              aa->result->trials ? aa->result->trials : 1, aa->result->device.name);
    text_add(out, "noise: how far one trial's median lies from the next's (robust; sd has the glitches in it)\n");
    if (!s->learned) {
        text_addf(out, "nothing is learned from fewer than %d trials\n", SHIFT_LEARNED_TRIALS);
        return;
    }
    text_addf(
        out, "  half of the cases below %.2f %%, 3 of 4 below %.2f %%, 99 of 100 below %.2f %%, the noisiest %.2f %%\n",
        s->median * 100, s->q3 * 100, s->p99 * 100, s->max * 100);
    text_addf(out, "  %.0f %% of the cases stay under %.1f %%; %zu %s too noisy to gate\n", s->quiet_share * 100,
              NOISE_QUIET * 100, s->too_noisy, s->too_noisy == 1 ? "is" : "are");
    for (size_t k = 0; k < aa->class_count; k++)
        if (aa->classes[k].sigma > 0)
            text_addf(out, "  %-8s %.2f %% (%zu case%s)\n", aa->class_names[k], aa->classes[k].sigma * 100,
                      aa->classes[k].cases, aa->classes[k].cases == 1 ? "" : "s");
    if (aa->path)
        text_addf(out, "learned: compare and the gate will use %s\n", aa->path);
}

/* ---- JSON: the noise file's members, and what follows from them ---- */

static void put_distribution(struct json_out *out, const struct noise_summary *s)
{
    const struct {
        const char *key;
        double value;
    } quantiles[] = {{"min", s->min}, {"p10", s->p10}, {"q1", s->q1},   {"median", s->median},
                     {"q3", s->q3},   {"p90", s->p90}, {"p99", s->p99}, {"max", s->max}};
    json_out_object(out, "sigma");
    for (size_t k = 0; k < sizeof(quantiles) / sizeof(*quantiles); k++)
        json_out_number(out, quantiles[k].key, quantiles[k].value);
    json_out_end(out);
    json_out_number(out, "quiet_share", s->quiet_share);
    json_out_number(out, "too_noisy", (double)s->too_noisy);
}

static void put_classes(struct json_out *out, const struct aa *aa)
{
    json_out_array(out, "classes");
    for (size_t k = 0; k < aa->class_count; k++) {
        json_out_object(out, NULL);
        json_out_string(out, "class", aa->class_names[k]);
        json_out_number(out, "sigma", aa->classes[k].sigma > 0 ? aa->classes[k].sigma : NAN);
        json_out_number(out, "cases", (double)aa->classes[k].cases);
        json_out_end(out);
    }
    json_out_end(out);
}

static void put_cases(struct json_out *out, const struct aa *aa)
{
    json_out_array(out, "cases");
    for (size_t k = 0; k < aa->count; k++) {
        const struct noise_case *noise = &aa->cases[k];
        json_out_object(out, NULL);
        json_out_string(out, "id", aa->of[k]->id);
        json_out_string(out, "class", aa->of[k]->class ? aa->of[k]->class : "");
        json_out_number(out, "sigma", noise->sigma > 0 ? noise->sigma : NAN);
        json_out_number(out, "trials", (double)noise->trials);
        json_out_number(out, "sd", noise->sd);
        json_out_number(out, "mde_compare", noise->mde_compare);
        json_out_number(out, "mde_night", noise->mde_night);
        json_out_number(out, "mde_week", noise->mde_week);
        json_out_bool(out, "too_noisy", noise->too_noisy);
        json_out_end(out);
    }
    json_out_end(out);
}

static void put_json(struct text *text, const struct aa *aa)
{
    struct json_out *out = json_out_new();
    json_out_string(out, "schema", NOISE_FILE_SCHEMA);
    json_out_string(out, "fingerprint", aa->result->fingerprint);
    json_out_string(out, "device", aa->result->device.name);
    json_out_string(out, "learned_at", aa->result->finished_at ? aa->result->finished_at : "");
    json_out_bool(out, "predicted", aa->result->predicted);
    json_out_number(out, "trials", aa->result->trials ? aa->result->trials : 1);
    put_distribution(out, &aa->summary);
    put_classes(out, aa);
    put_cases(out, aa);
    json_out_finish(out, text, true);
    text_add(text, "\n");
    json_out_free(out);
}

enum status aa_show(const struct aa *aa, const struct cli_options *options, struct err *err)
{
    struct text text = {0};
    enum status status = STATUS_OK;
    if (options->json) {
        put_json(&text, aa);
        status = cli_write(options->json, &text, err);
        text_clear(&text);
    }
    if (!status && !(options->json && !strcmp(options->json, "-"))) {
        if (aa->result->predicted)
            text_add(&text, "PREDICTED: nothing was executed; this is the simulated noise\n");
        put_rows(&text, aa, options->verbose > 0);
        put_summary(&text, aa);
        fputs(text.data, stdout);
    }
    text_release(&text);
    return status;
}
