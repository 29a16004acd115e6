/* SPDX-License-Identifier: MIT
 *
 * Which cases of two results belong together, and which pairs may be compared.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_internal.h"
#include "rooftile/text.h"

/* ---- may these two be compared at all? ---- */

static bool is_profile(const struct result *result)
{
    for (size_t k = 0; k < result->label_count; k++)
        if (!strcmp(result->labels[k].key, "profile") && !strcmp(result->labels[k].value, "not a measurement"))
            return true;
    for (size_t k = 0; k < result->case_count; k++)
        if (result->cases[k].flags & FLAG_PROFILED)
            return true;
    return false;
}

static bool differ(const char *a, const char *b)
{
    return a[0] && b[0] && strcmp(a, b) != 0;
}

enum status compare_allowed(const struct result *base, const struct result *now, struct err *err)
{
    const struct device_info *a = &base->device, *b = &now->device;
    if (base->predicted != now->predicted)
        return err_set(err, ERR_CONFIG, "one of the two is predicted (nothing was executed), the other measured");
    if (is_profile(base) || is_profile(now))
        return err_set(err, ERR_CONFIG, "the %s was run with --profile: it is no measurement",
                       is_profile(base) ? "base" : "new result");
    if (strcmp(a->backend, b->backend) != 0 || strcmp(a->name, b->name) != 0 || strcmp(a->arch, b->arch) != 0)
        return err_set(err, ERR_CONFIG, "different devices: %s '%s' (%s) and %s '%s' (%s)", a->backend, a->name,
                       a->arch, b->backend, b->name, b->arch);
    if (a->cus != b->cus || a->wave != b->wave)
        return err_set(err, ERR_CONFIG, "different devices: %u CUs of wave %u, and %u of wave %u", a->cus, a->wave,
                       b->cus, b->wave);
    if (differ(a->partition, b->partition))
        return err_set(err, ERR_CONFIG, "different partition modes: %s and %s", a->partition, b->partition);
    if (differ(a->uuid, b->uuid) || differ(a->serial_hash, b->serial_hash))
        return err_set(err, ERR_CONFIG,
                       "two different cards of one model; cards differ by more than the shifts that are looked for");
    return STATUS_OK;
}

/* ---- matching ---- */

struct entry {
    const char *id;
    size_t length;
    const struct result_case *c;
};

static int by_id(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    const int order = strncmp(p->id, q->id, p->length < q->length ? p->length : q->length);
    return order ? order : (p->length > q->length) - (p->length < q->length);
}

static enum status index_of(struct entry **out, const struct result *result, const char *which, struct arena *arena,
                            struct err *err)
{
    struct entry *entries = arena_array(arena, result->case_count + 1, sizeof(*entries));
    for (size_t k = 0; k < result->case_count; k++)
        entries[k] = (struct entry){result->cases[k].id, result_id_length(result->cases[k].id), &result->cases[k]};
    qsort(entries, result->case_count, sizeof(*entries), by_id);
    for (size_t k = 1; k < result->case_count; k++)
        if (!by_id(&entries[k - 1], &entries[k]))
            return err_set(err, ERR_CONFIG, "%s has the case %.*s twice", which, (int)entries[k].length, entries[k].id);
    *out = entries;
    return STATUS_OK;
}

static const struct result_case *find(const struct entry *entries, size_t count, const struct result_case *c)
{
    const struct entry key = {c->id, result_id_length(c->id), NULL};
    const struct entry *found = bsearch(&key, entries, count, sizeof(*entries), by_id);
    return found ? found->c : NULL;
}

static void add_case(struct comparing *comparing, const struct result_case *base, const struct result_case *now)
{
    const struct result_case *named = now ? now : base;
    const char *id = arena_strndup(comparing->arena, named->id, result_id_length(named->id));
    if (!text_filtered(comparing->options->filters, comparing->options->filter_count, id, named->kernel))
        return;
    comparing->cases[comparing->count++] = (struct compare_case){.id = id,
                                                                 .label = named->label ? named->label : id,
                                                                 .class = named->class ? named->class : "",
                                                                 .base = base,
                                                                 .now = now,
                                                                 .reason = "",
                                                                 .cycles_ratio = NAN};
}

static enum status match(struct comparing *comparing, const struct result *base, const struct result *now,
                         struct err *err)
{
    struct entry *old = NULL, *new = NULL;
    enum status status = index_of(&old, base, "the base", comparing->arena, err);
    if (!status)
        status = index_of(&new, now, "the new result", comparing->arena, err);
    if (status)
        return status;
    comparing->cases = arena_array(comparing->arena, base->case_count + now->case_count + 1, sizeof(*comparing->cases));
    for (size_t k = 0; k < now->case_count; k++)
        add_case(comparing, find(old, base->case_count, &now->cases[k]), &now->cases[k]);
    for (size_t k = 0; k < base->case_count; k++)
        if (!find(new, now->case_count, &base->cases[k]))
            add_case(comparing, &base->cases[k], NULL);
    return STATUS_OK;
}

/* ---- one case ---- */

static const char *trouble(const struct result_case *c, struct arena *arena)
{
    const bool wrong = c->verification.verdict == VERIFY_FAIL && c->verification.reason[0];
    const char *finding = result_case_finding(c), *reason = wrong ? c->verification.reason : c->reason ? c->reason : "";
    return arena_printf(arena, "%s%s%.400s", finding[0] ? finding : case_status_name(c->status), reason[0] ? ": " : "",
                        reason);
}

static bool same_work(const struct work *a, const struct work *b)
{
    const double values[][2] = {
        {a->read_bytes, b->read_bytes}, {a->write_bytes, b->write_bytes}, {a->flops, b->flops}, {a->items, b->items}};
    for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++)
        if (fabs(values[k][0] - values[k][1]) > 1e-9 * fmax(fabs(values[k][0]), fabs(values[k][1])))
            return false;
    return true;
}

/* NULL, or why two measured cases of one id cannot be compared. */
static const char *incomparable(const struct result_case *a, const struct result_case *b, struct arena *arena)
{
    if (a->timer != b->timer)
        return arena_printf(arena, "timed by '%s' and by '%s': what each leaves out differs", timer_name(a->timer),
                            timer_name(b->timer));
    if (a->cache != b->cache)
        return arena_printf(arena, "cache mode %s and %s", cache_mode_name(a->cache), cache_mode_name(b->cache));
    if (result_work_known(&a->work) && result_work_known(&b->work) && !same_work(&a->work, &b->work))
        return "the work of a launch is not the same: the kernel, its manifest or the device's facts changed";
    return NULL;
}

static void classify(struct compare_case *c, struct arena *arena)
{
    const bool had = c->base && result_case_counts(c->base), has = c->now && result_case_counts(c->now);
    if (!c->now) {
        c->state = COMPARE_MISSING;
        c->reason = "not in the new result";
    } else if (!c->base) {
        c->state = COMPARE_NEW;
        c->reason = has ? "not in the base" : arena_printf(arena, "not in the base; %s", trouble(c->now, arena));
    } else if (had && has) {
        const char *why = incomparable(c->base, c->now, arena);
        c->state = why ? COMPARE_REFUSED : COMPARE_JUDGED;
        c->reason = why ? why : "";
    } else if (had && c->now->status == CASE_SKIPPED) {
        c->state = COMPARE_MISSING; /* what was measured and is not any more is a hole, whatever the reason */
        c->reason = trouble(c->now, arena);
    } else if (had || has) {
        c->state = had ? COMPARE_BROKEN : c->base->status == CASE_SKIPPED ? COMPARE_NEW : COMPARE_FIXED;
        c->reason = arena_printf(arena, "%s%s", had ? "" : "was ", trouble(had ? c->now : c->base, arena));
    } else {
        const bool skipped = c->now->status == CASE_SKIPPED;
        c->state = skipped ? COMPARE_SKIPPED : c->base->status == CASE_SKIPPED ? COMPARE_BROKEN : COMPARE_BOTH_BROKEN;
        c->reason = trouble(c->now, arena);
    }
}

enum status compare_match(struct comparing *comparing, const struct result *base, const struct result *now,
                          struct err *err)
{
    const struct compare_options *options = comparing->options;
    enum status status = match(comparing, base, now, err);
    if (!status && !comparing->count)
        return err_set(err, ERR_CONFIG, "there is no case to compare%s",
                       options->filter_count ? ": the filter leaves none" : "");
    for (size_t k = 0; k < comparing->count && !status; k++)
        classify(&comparing->cases[k], comparing->arena);
    return status;
}
