/* SPDX-License-Identifier: MIT
 *
 * Merges trials of one run into one result.
 */

#include "rooftile/hash.h"
#include "rooftile/result.h"

/* One trial of the new run. */
struct slot {
    struct result_part part;
    size_t from;    /* index of the result */
    uint32_t trial; /* index of the trial in that result */
};

struct merging {
    const struct result *const *parts;
    const char *const *names;
    size_t count;
    struct slot *slots;
    size_t slot_count;
    uint32_t **new_index; /* per result: new index of each of its trials */
    struct arena *arena;
};

static size_t trials_of(const struct result *result)
{
    return result->part_count ? result->part_count : 1;
}

static int by_identity(const void *a, const void *b)
{
    const struct result_part *x = &((const struct slot *)a)->part, *y = &((const struct slot *)b)->part;
    return strcmp(x->run_id, y->run_id) ?: ORDER(x->trial_index, y->trial_index);
}

static int by_time(const void *a, const void *b)
{
    const struct result_part *x = &((const struct slot *)a)->part, *y = &((const struct slot *)b)->part;
    return strcmp(x->started_at, y->started_at) ?: by_identity(a, b);
}

static void find_slots(struct merging *m)
{
    size_t total = 0;
    for (size_t k = 0; k < m->count; k++)
        total += trials_of(m->parts[k]);
    m->slots = arena_array(m->arena, total, sizeof(*m->slots));
    m->new_index = arena_array(m->arena, m->count, sizeof(*m->new_index));
    for (size_t k = 0; k < m->count; k++) {
        const struct result *r = m->parts[k];
        const struct result_part itself = {r->run_id, r->started_at, r->trial_index};
        m->new_index[k] = arena_array(m->arena, trials_of(r), sizeof(**m->new_index));
        for (uint32_t trial = 0; trial < trials_of(r); trial++) {
            const struct result_part *part = r->part_count ? &r->parts[trial] : &itself;
            m->slots[m->slot_count++] = (struct slot){
                {text_or_empty(part->run_id), text_or_empty(part->started_at), part->trial_index}, k, trial};
        }
    }
    qsort(m->slots, m->slot_count, sizeof(*m->slots), by_time);
    size_t count = 0;
    for (size_t k = 0; k < m->slot_count; k++) {
        const struct slot slot = m->slots[k];
        if (!count || by_time(&m->slots[count - 1], &slot)) /* else it continues a trial of another part */
            m->slots[count++] = slot;
        m->new_index[slot.from][slot.trial] = (uint32_t)(count - 1);
    }
    m->slot_count = count;
}

/* ---- required agreement ---- */

static enum status check_alike(const struct merging *m, struct err *err)
{
    const size_t first = m->slots[0].from;
    for (size_t k = 0; k < m->count; k++) {
        const struct result *r = m->parts[k];
        const struct result *a = m->parts[first];
        const char *const names[] = {m->names[first], m->names[k]};
        const struct {
            const char *what, *a, *b;
        } rows[] = {{"commit", a->commit, r->commit},
                    {"suite", a->config_sha256, r->config_sha256},
                    {"version of rooftile", a->tool_version, r->tool_version}};
        if (result_same_place(a, r, names, err))
            return err->status;
        for (size_t row = 0; row < COUNT_OF(rows); row++)
            if (strcmp(text_or_empty(rows[row].a), text_or_empty(rows[row].b)) != 0)
                return err_set(err, ERR_CONFIG, "%s and %s are not of one run: %s '%s' and '%s'", names[0], names[1],
                               rows[row].what, text_or_empty(rows[row].a), text_or_empty(rows[row].b));
        FOR_EACH(const struct result_case, c, r->cases, r->case_count)
            if (c->trial_count && c->trials[c->trial_count - 1].index >= trials_of(r))
                return err_set(err, ERR_CONFIG, "%s: %s has a trial that run.parts does not have", m->names[k], c->id);
    }
    return STATUS_OK;
}

/* ---- one case ---- */

/* The entry of one case in one part. */
struct merge_entry {
    const struct result_case *c;
    const struct result *part;
    const char *name;          /* of the part, for messages */
    const uint32_t *new_index; /* of the part's trials, in order */
    uint32_t trial;            /* new index of the part's first trial; entries are sorted by it */
    size_t position;           /* of the case in its part */
};

#define ONLY_IN "only in "

/* From harmless to severe: the worst trial determines the status of the case. */
static const int gravity[] = {
    [CASE_OK] = 0,      [CASE_SKIPPED] = 1, [CASE_NONE] = 2,   [CASE_ERROR] = 3,
    [CASE_TIMEOUT] = 4, [CASE_CRASHED] = 5, [CASE_FAILED] = 6,
};

/* ---- trials ---- */

/* One trial with its samples, if its part has them. */
struct piece {
    struct result_trial trial;
    const char *name; /* of its part */
    const double *samples_ns;
    const float *sample_hz;
};

/* Splits the samples of a part, which are stored trial by trial, into trials. */
static size_t cut(struct piece *pieces, const struct merge_entry *entry)
{
    const struct result_case *c = entry->c;
    const bool measured = c->sample_count > 0;
    const struct result_trial itself = {.status = c->status,
                                        .median_ns = measured ? c->stats.median : NAN,
                                        .min_ns = measured ? c->stats.min : NAN,
                                        .n = (uint32_t)c->sample_count,
                                        .cycles = c->cycles,
                                        .core_hz = c->core_hz,
                                        .flags = c->flags,
                                        .order_index = c->order_index},
                              *trials = c->trial_count ? c->trials : &itself;
    const size_t count = c->trial_count ? c->trial_count : 1;
    size_t offset = 0;
    for (size_t k = 0; k < count; offset += trials[k].n, k++) {
        pieces[k] = (struct piece){.trial = trials[k],
                                   .name = entry->name,
                                   .samples_ns = c->samples_ns ? c->samples_ns + offset : NULL,
                                   .sample_hz = c->sample_hz ? c->sample_hz + offset : NULL};
        pieces[k].trial.index = entry->new_index[trials[k].index];
    }
    return count;
}

static int by_index(const void *a, const void *b)
{
    const struct result_trial *x = &((const struct piece *)a)->trial, *y = &((const struct piece *)b)->trial;
    return ORDER(x->index, y->index);
}

static enum status take_trials(struct result_case *out, struct piece **all, const struct merge_entry *entries,
                               size_t count, struct arena *arena, struct err *err)
{
    size_t total = 0;
    for (size_t k = 0; k < count; k++)
        total += entries[k].c->trial_count ? entries[k].c->trial_count : 1;
    struct piece *pieces = arena_array(arena, total, sizeof(*pieces));
    struct result_trial *trials = arena_array(arena, total, sizeof(*trials));
    total = 0;
    for (size_t k = 0; k < count; k++)
        total += cut(pieces + total, &entries[k]);
    qsort(pieces, total, sizeof(*pieces), by_index);
    for (size_t k = 0; k < total; k++) {
        trials[k] = pieces[k].trial;
        if (k && trials[k].index == trials[k - 1].index)
            return err_set(err, ERR_CONFIG, "%s and %s have the same trial of %s", pieces[k - 1].name, pieces[k].name,
                           entries[0].c->id);
    }
    out->trials = trials;
    out->trial_count = total;
    *all = pieces;
    return STATUS_OK;
}

/* Median over the measured trials of the double at `offset`. */
static double median_of_trials(const struct result_case *c, size_t offset, double *scratch)
{
    size_t known = 0;
    for (size_t k = 0; k < c->trial_count; k++) {
        const double value = *(const double *)(const void *)((const char *)&c->trials[k] + offset);
        if (c->trials[k].n && value > 0)
            scratch[known++] = value;
    }
    return median_of(scratch, known);
}

/* ---- samples and statistics ---- */

static void join_samples(struct result_case *out, const struct piece *pieces, struct arena *arena)
{
    bool times = out->sample_count > 0, clocks = true;
    for (size_t k = 0; k < out->trial_count; k++) {
        times = times && (!pieces[k].trial.n || pieces[k].samples_ns);
        clocks = clocks && (!pieces[k].trial.n || pieces[k].sample_hz);
    }
    if (!times)
        return;
    double *samples = arena_array(arena, out->sample_count, sizeof(*samples));
    float *hz = clocks ? arena_array(arena, out->sample_count, sizeof(*hz)) : NULL;
    size_t at = 0;
    for (size_t k = 0; k < out->trial_count; at += pieces[k].trial.n, k++) {
        if (!pieces[k].trial.n)
            continue;
        memcpy(samples + at, pieces[k].samples_ns, pieces[k].trial.n * sizeof(*samples));
        if (hz)
            memcpy(hz + at, pieces[k].sample_hz, pieces[k].trial.n * sizeof(*hz));
    }
    out->samples_ns = samples;
    out->sample_hz = hz;
}

/* Extremes, mean and sd are exact; the other statistics need all samples, which the median over the parts replaces. */
static void combine_stats(struct summary *out, const struct merge_entry *entries, size_t count, size_t total,
                          double *scratch)
{
    static const size_t middles[] = {
        offsetof(struct summary, ci95), offsetof(struct summary, ci95) + sizeof(double),
        offsetof(struct summary, p05),  offsetof(struct summary, q1),
        offsetof(struct summary, q3),   offsetof(struct summary, p95),
        offsetof(struct summary, mad),  offsetof(struct summary, rel_noise),
        offsetof(struct summary, lag1), offsetof(struct summary, drift),
    };
    *out = (struct summary){.n = total, .min = INFINITY, .modes = 1};
    double sum = 0, squares = 0;
    for (size_t k = 0; k < count; k++)
        if (entries[k].c->sample_count)
            sum += entries[k].c->stats.mean * (double)entries[k].c->sample_count;
    out->mean = sum / (double)total;
    for (size_t k = 0; k < count; k++) {
        const struct summary *s = &entries[k].c->stats;
        const double n = (double)entries[k].c->sample_count;
        if (n < 1)
            continue;
        out->min = fmin(out->min, s->min);
        out->max = fmax(out->max, s->max);
        out->modes = s->modes > out->modes ? s->modes : out->modes;
        squares += (n > 1 ? (n - 1) * s->sd * s->sd : 0) + n * (s->mean - out->mean) * (s->mean - out->mean);
    }
    out->sd = total > 1 ? sqrt(squares / (double)(total - 1)) : NAN;
    for (size_t m = 0; m < sizeof(middles) / sizeof(middles[0]); m++) {
        size_t known = 0;
        for (size_t k = 0; k < count; k++) {
            const double value = *(const double *)(const void *)((const char *)&entries[k].c->stats + middles[m]);
            if (entries[k].c->sample_count && isfinite(value))
                scratch[known++] = value;
        }
        *(double *)(void *)((char *)out + middles[m]) = median_of(scratch, known);
    }
}

static void take_numbers(struct result_case *out, const struct merge_entry *entries, size_t count,
                         const struct piece *pieces, struct arena *arena)
{
    SCOPED(arena_release) struct arena scratch_arena = {0};
    out->sample_count = 0;
    out->samples_ns = NULL;
    out->sample_hz = NULL;
    for (size_t k = 0; k < count; k++)
        out->sample_count += entries[k].c->sample_count;
    double *scratch =
        arena_array(&scratch_arena, 2 * out->sample_count + out->trial_count + count + 1, sizeof(*scratch));
    join_samples(out, pieces, arena);
    if (out->samples_ns)
        summary_compute(&out->stats, out->samples_ns, out->sample_count, scratch);
    else if (out->sample_count)
        combine_stats(&out->stats, entries, count, out->sample_count, scratch);
    if (out->sample_count) {
        result_take_median(out, median_of_trials(out, offsetof(struct result_trial, median_ns), scratch));
        out->predicted_error = result_predicted_error(out);
        out->cycles = median_of_trials(out, offsetof(struct result_trial, cycles), scratch);
        out->core_hz = median_of_trials(out, offsetof(struct result_trial, core_hz), scratch);
    }
}

static void take_metrics(struct result_case *out, const struct merge_entry *entries, size_t count, struct arena *arena)
{
    struct result_metric *metrics = arena_array(arena, out->metric_count + 1, sizeof(*metrics));
    double *values = arena_array(arena, count, sizeof(*values));
    for (size_t m = 0; m < out->metric_count; m++) {
        size_t known = 0;
        metrics[m] = out->metrics[m];
        for (size_t k = 0; k < count; k++) {
            const double value = result_metric(entries[k].c, metrics[m].name);
            if (isfinite(value))
                values[known++] = value;
        }
        metrics[m].value = median_of(values, known);
    }
    out->metrics = metrics;
}

/* ---- outcome ---- */

/* "trial 2 of 3: ..." unless all trials give the same reason, or the part had several trials and names them. */
static const char *reason_of(const struct merge_entry *entry, const struct merge_entry *entries, size_t count,
                             uint32_t trials, struct arena *arena)
{
    const char *reason = text_or_empty(entry->c->reason);
    const size_t others = COUNT_WHERE(one, entries, count, strcmp(text_or_empty(one->c->reason), reason) != 0);
    if (!others || !reason[0] || entry->c->trial_count)
        return reason;
    return arena_printf(arena, "trial %u of %u: %s", entry->trial + 1, trials, reason);
}

static void take_outcome(struct result_case *out, const struct merge_entry *entries, size_t count, uint32_t trials,
                         struct arena *arena)
{
    const struct merge_entry *worst = &entries[0], *flagged = NULL;
    out->flags = 0;
    FOR_EACH(const struct merge_entry, entry, entries, count) {
        const struct verification *v = &entry->c->verification;
        const enum verdict so_far = out->verification.verdict;
        worst = gravity[entry->c->status] > gravity[worst->c->status] ? entry : worst;
        flagged = !flagged && entry->c->flags && *text_or_empty(entry->c->reason) ? entry : flagged;
        out->flags |= entry->c->flags;
        if (so_far != VERIFY_FAIL &&
            (v->verdict == VERIFY_FAIL || (v->verdict == VERIFY_PASS && so_far != VERIFY_PASS)))
            out->verification = *v;
    }
    out->status = worst->c->status;
    out->reason = reason_of(out->status == CASE_OK && flagged ? flagged : worst, entries, count, trials, arena);
    /* A part's remark about trials without this case is outdated. */
    const char *lack = strstr(out->reason, ONLY_IN);
    const size_t before = lack ? (size_t)(lack - out->reason) : 0;
    if (lack)
        out->reason = arena_strndup(arena, out->reason, before > 2 ? before - 2 : 0);
    if (out->trial_count < trials)
        out->reason = arena_printf(arena, "%s%s" ONLY_IN "%zu of %u trials", out->reason, out->reason[0] ? "; " : "",
                                   out->trial_count, trials);
}

static void add_up(struct result_case *out, const struct merge_entry *entries, size_t count, size_t base)
{
    for (size_t k = 0; k < count; k++) {
        const struct result_case *c = entries[k].c;
        if (k == base)
            continue;
        out->wall_ns += c->wall_ns;
        out->clock_unsteady += c->clock_unsteady;
        out->warmup_converged = out->warmup_converged && c->warmup_converged;
        for (int d = 0; d < DISCARD_COUNT; d++)
            out->discarded[d] += c->discarded[d];
        /* A ceiling that a later trial raised applies to all trials. */
        if (c->lower_bound.time_ns > 0 && c->lower_bound.time_ns < out->lower_bound.time_ns)
            out->lower_bound = c->lower_bound;
    }
}

/* Merges all entries of one case (at least one). `trials`: those of the whole run. */
static enum status merge_case(struct result_case *out, const struct merge_entry *entries, size_t count, uint32_t trials,
                              struct arena *arena, struct err *err)
{
    size_t base = 0; /* the first measured trial provides readings before and after, batch and stop reason */
    while (base < count && !entries[base].c->sample_count)
        base++;
    if (base == count)
        base = 0;
    for (size_t k = 0; k < count; k++) {
        const struct merge_entry *a = &entries[base], *b = &entries[k];
        const char *why = result_case_unlike(a->c, b->c, IDENTITY_ALL, arena);
        if (why)
            return err_set(err, ERR_CONFIG, "%s and %s are not trials of one run: %.*s: %s", a->name, b->name,
                           (int)result_id_length(a->c->id), a->c->id, why);
    }
    struct piece *pieces = NULL;
    *out = *entries[base].c;
    if (take_trials(out, &pieces, entries, count, arena, err))
        return err->status;
    add_up(out, entries, count, base);
    take_numbers(out, entries, count, pieces, arena);
    take_metrics(out, entries, count, arena);
    take_outcome(out, entries, count, trials, arena);
    return STATUS_OK;
}

/* ---- cases ---- */

static int by_id(const void *a, const void *b)
{
    const struct merge_entry *x = a, *y = b;
    const size_t length = result_id_length(x->c->id), other = result_id_length(y->c->id);
    return memcmp(x->c->id, y->c->id, length < other ? length : other) ?: ORDER(length, other)
           ?: ORDER(x->trial, y->trial);
}

struct group {
    struct merge_entry *entries;
    size_t count;
};

/* In the order of the first trial that has the case. */
static int by_position(const void *a, const void *b)
{
    const struct merge_entry *x = ((const struct group *)a)->entries, *y = ((const struct group *)b)->entries;
    return ORDER(x->trial, y->trial) ?: ORDER(x->position, y->position);
}

static struct merge_entry *find_entries(size_t *total, const struct merging *m)
{
    for (size_t k = 0; k < m->count; k++)
        *total += m->parts[k]->case_count;
    struct merge_entry *entries = arena_array(m->arena, *total + 1, sizeof(*entries)), *at = entries;
    for (size_t k = 0; k < m->count; k++) {
        uint32_t first = UINT32_MAX;
        for (size_t n = 0; n < trials_of(m->parts[k]); n++)
            first = m->new_index[k][n] < first ? m->new_index[k][n] : first;
        for (size_t n = 0; n < m->parts[k]->case_count; n++)
            *at++ = (struct merge_entry){&m->parts[k]->cases[n], m->parts[k], m->names[k], m->new_index[k], first, n};
    }
    qsort(entries, *total, sizeof(*entries), by_id);
    return entries;
}

static enum status merge_cases(struct result *out, const struct merging *m, struct err *err)
{
    size_t total = 0, count = 0;
    struct merge_entry *entries = find_entries(&total, m);
    struct group *groups = arena_array(m->arena, total + 1, sizeof(*groups));
    for (size_t k = 0; k < total; k++) {
        const size_t length = result_id_length(entries[k].c->id);
        const bool same = k && length == result_id_length(entries[k - 1].c->id) &&
                          !memcmp(entries[k - 1].c->id, entries[k].c->id, length);
        if (same && entries[k - 1].part == entries[k].part)
            return err_set(err, ERR_CONFIG, "%s has the case %s twice", entries[k].name, entries[k].c->id);
        if (!same)
            groups[count++].entries = &entries[k];
        groups[count - 1].count++;
    }
    qsort(groups, count, sizeof(*groups), by_position);
    struct result_case *cases = arena_array(m->arena, count + 1, sizeof(*cases));
    for (size_t k = 0; k < count; k++)
        if (merge_case(&cases[k], groups[k].entries, groups[k].count, (uint32_t)m->slot_count, m->arena, err))
            return err->status;
    out->cases = cases;
    out->case_count = count;
    return STATUS_OK;
}

/* ---- the run ---- */

/* The trials' own run id if they share one, otherwise a UUID (version 8: custom) made from their identities. */
static const char *run_id_of(const struct merging *m)
{
    SCOPED(text_release) struct text all = {0};
    char hex[HASH_TEXT];
    bool one = true;
    for (size_t k = 0; k < m->slot_count; k++) {
        one = one && !strcmp(m->slots[k].part.run_id, m->slots[0].part.run_id);
        text_addf(&all, "%s %u\n", m->slots[k].part.run_id, m->slots[k].part.trial_index);
    }
    hash_sha256(hex, all.data, all.length);
    if (one)
        return m->slots[0].part.run_id;
    return arena_printf(m->arena, "%.8s-%.4s-8%.3s-8%.3s-%.12s", hex, hex + 8, hex + 12, hex + 15, hex + 18);
}

/* Keeps labels with the same value in all trials. */
static void common_labels(struct result *out, const struct merging *m)
{
    struct result_label *labels = arena_array(m->arena, out->label_count + 1, sizeof(*labels));
    size_t count = 0;
    FOR_EACH(const struct result_label, label, out->labels, out->label_count) {
        size_t holders = 0;
        for (size_t n = 0; n < m->count; n++)
            for (size_t j = 0; j < m->parts[n]->label_count; j++)
                holders += !strcmp(m->parts[n]->labels[j].key, label->key) &&
                           !strcmp(m->parts[n]->labels[j].value, label->value);
        if (holders >= m->count)
            labels[count++] = *label;
    }
    out->labels = labels;
    out->label_count = count;
}

static void take_run(struct result *out, const struct merging *m)
{
    struct result_part *parts = arena_array(m->arena, m->slot_count, sizeof(*parts));
    *out = *m->parts[m->slots[0].from];
    for (size_t k = 0; k < m->slot_count; k++)
        parts[k] = m->slots[k].part;
    for (size_t k = 0; k < m->count; k++) {
        const struct result *r = m->parts[k];
        out->raw_samples = out->raw_samples || r->raw_samples;
        if (strcmp(text_or_empty(r->finished_at), text_or_empty(out->finished_at)) > 0)
            out->finished_at = r->finished_at;
        if (!strcmp(text_or_empty(r->status), "interrupted"))
            out->status = r->status;
    }
    out->machine = m->parts[m->slots[m->slot_count - 1].from]->machine; /* ceilings are only ever raised */
    out->run_id = run_id_of(m);
    out->started_at = m->slots[0].part.started_at;
    out->trial_index = 0;
    out->trials = (uint32_t)m->slot_count;
    out->parts = parts;
    out->part_count = m->slot_count;
    const char **warnings = NULL;
    out->warning_count = 0;
    for (size_t k = 0; k < m->slot_count; k++) {
        const struct result *r = m->parts[m->slots[k].from];
        for (size_t n = 0; n < r->warning_count; n++)
            if (!text_among(r->warnings[n], warnings, out->warning_count))
                ARENA_PUSH(m->arena, warnings, out->warning_count, r->warnings[n]);
    }
    out->warnings = warnings;
    common_labels(out, m);
}

enum status result_merge(struct result *out, const struct result *const *parts, const char *const *names, size_t count,
                         struct arena *arena, struct err *err)
{
    struct merging m = {.parts = parts, .names = names, .count = count, .arena = arena};
    struct result merged;
    if (!count)
        return err_set(err, ERR_USAGE, "there is nothing to merge");
    find_slots(&m);
    struct slot *sorted = arena_copy(arena, m.slots, m.slot_count * sizeof(*sorted));
    qsort(sorted, m.slot_count, sizeof(*sorted), by_identity);
    for (size_t k = 1; k < m.slot_count; k++)
        if (!by_identity(&sorted[k - 1], &sorted[k]))
            return err_set(err, ERR_CONFIG, "%s and %s have the same trial: number %u of run %s",
                           names[sorted[k - 1].from], names[sorted[k].from], sorted[k].part.trial_index,
                           sorted[k].part.run_id);
    if (check_alike(&m, err))
        return err->status;
    take_run(&merged, &m);
    if (merge_cases(&merged, &m, err))
        return err->status;
    result_kpis_evaluate(&merged, arena);
    *out = merged;
    return STATUS_OK;
}
