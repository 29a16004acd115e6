/* SPDX-License-Identifier: MIT */

#include "merge_internal.h"
#include "rooftile/hash.h"

/* One trial of the new run. */
struct slot {
    struct result_part part;
    size_t from;    /* which of the results */
    uint32_t trial; /* its index there */
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
        if (!count || by_time(&m->slots[count - 1], &slot)) /* else the rest of one that began in another part */
            m->slots[count++] = slot;
        m->new_index[slot.from][slot.trial] = (uint32_t)(count - 1);
    }
    m->slot_count = count;
}

/* ---- what must be the same ---- */

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

/* As the first trial that has the case had it. */
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
    for (size_t k = 0; k < count; k++) {
        const enum status status =
            merge_case(&cases[k], groups[k].entries, groups[k].count, (uint32_t)m->slot_count, m->arena, err);
        if (status)
            return status;
    }
    out->cases = cases;
    out->case_count = count;
    return STATUS_OK;
}

/* ---- the run ---- */

/* The trials' own run when they have one, else a UUID (version 8: by us) of their identities. */
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

/* Labels that all trials have with one value. */
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
