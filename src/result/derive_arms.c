/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "derive_internal.h"

/* Two clocks agree within a quarter: where users found graphs or waits to mislead, they were apart by a factor. */
static const double most_apart = 0.25;
enum { MOST_ARMS = 16, MOST_FINDINGS = 64 };

struct arms {
    struct arena *arena;
    const struct suite_derive *spec;
    const char *findings[MOST_FINDINGS]; /* what does not agree */
    size_t finding_count;
    const char *absent[MOST_FINDINGS]; /* what could not be compared, and why */
    size_t absent_count;
    size_t measured, compared; /* arms; those with two clocks */
};

static void find(struct arms *arms, const char *text)
{
    if (arms->finding_count < MOST_FINDINGS)
        arms->findings[arms->finding_count++] = text;
}

static void lack(struct arms *arms, const char *text)
{
    if (arms->absent_count < MOST_FINDINGS)
        arms->absent[arms->absent_count++] = text;
}

static const char *arm_name(const struct arms *arms, const struct result_case *c)
{
    const struct param_value *value = derive_param(c, arms->spec->x);
    return arena_printf(arms->arena, "%s %s", arms->spec->x, value ? param_text(arms->arena, value) : "?");
}

static double under(const struct result_case *c, enum timer timer)
{
    return c->timer == timer ? c->stats.median : c->cross_timer == timer ? c->cross_ns : NAN;
}

static void compare_clocks(struct arms *arms, const char *name, double host_ns, double event_ns)
{
    if (isnan(host_ns) || isnan(event_ns))
        return;
    arms->compared++;
    if (fabs(event_ns / host_ns - 1) > most_apart)
        find(arms, arena_printf(arms->arena, "%s: %.4g ns by the host's clock, %.4g by events (%+.0f %%)", name,
                                host_ns, event_ns, (event_ns / host_ns - 1) * 100));
}

static void add_arm(struct json_out *out, struct arms *arms, const struct result_case *c)
{
    const char *name = arm_name(arms, c);
    if (c->status != CASE_OK || !c->sample_count) {
        find(arms,
             arena_printf(arms->arena, "%s %s: %s", name, case_status_name(c->status), c->reason ? c->reason : ""));
        return;
    }
    const double host_ns = under(c, TIMED_HOST), event_ns = under(c, TIMED_EVENT);
    const double counted = derive_quantity(c, arms->spec->y);
    arms->measured++;
    json_out_object(out, NULL);
    json_out_string(out, "arm", name);
    json_out_number(out, "host_ns", host_ns);
    json_out_number(out, "event_ns", event_ns);
    json_out_number(out, "launches", c->work.items);
    json_out_number(out, "counted", counted);
    json_out_end(out);
    if (isnan(counted))
        lack(arms, arena_printf(arms->arena, "%s was not counted", name));
    else if (counted != c->work.items)
        find(arms,
             arena_printf(arms->arena, "%s: %.15g launches, but %.15g were counted", name, c->work.items, counted));
    compare_clocks(arms, name, host_ns, event_ns);
}

/* Members leave out what was skipped; here the reason is part of the answer. */
static void add_skipped(struct arms *arms, const struct result *result)
{
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const char *text;
        size_t seen = 0;
        if (c->status != CASE_SKIPPED || strcmp(c->kernel, arms->spec->kernel))
            continue;
        text = arena_printf(arms->arena, "%s was skipped: %s", arm_name(arms, c), c->reason ? c->reason : "");
        while (seen < arms->absent_count && strcmp(arms->absent[seen], text))
            seen++;
        if (seen == arms->absent_count)
            lack(arms, text);
    }
}

static void put_texts(struct json_out *out, const char *key, const char *const *texts, size_t count)
{
    json_out_array(out, key);
    for (size_t k = 0; k < count; k++)
        json_out_string(out, NULL, texts[k]);
    json_out_end(out);
}

void derive_arms(struct json_out *out, const struct result *result, const struct suite_derive *spec,
                 const struct members *members, size_t group, struct arena *arena)
{
    struct arms arms = {.arena = arena, .spec = spec};
    json_out_array(out, "arms");
    for (size_t k = 0; k < members->count; k++)
        if (members->group[k] == group)
            add_arm(out, &arms, &result->cases[members->cases[k]]);
    json_out_end(out);
    if (arms.compared < arms.measured)
        lack(&arms, arena_printf(arena, "%zu of %zu ways were timed by one clock only", arms.measured - arms.compared,
                                 arms.measured));
    add_skipped(&arms, result);
    json_out_string(out, "verdict",
                    arms.finding_count                    ? "disagree"
                    : !arms.measured || arms.absent_count ? "incomplete"
                                                          : "agree");
    put_texts(out, "disagree", arms.findings, arms.finding_count);
    put_texts(out, "not_compared", arms.absent, arms.absent_count);
}
