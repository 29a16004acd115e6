/* SPDX-License-Identifier: MIT
 *
 * Answers from a sweep: the fastest of the cases that do the same work.
 */

#include "report_internal.h"

enum { MOST_ANSWERS = 8, MOST_EQUALS = 3, MOST_CASES = 4096 };

/* Amounts of work, and shares of them, that differ by less count as equal: a different number of workgroups writes
 * other partial results. */
static const double same_within = 0.01;

static bool same(double a, double b)
{
    return fabs(a - b) <= same_within * fmax(fabs(a), fabs(b));
}

/* True if both do the same to every item; `all`: and to the same number of items. */
static bool comparable(const struct result_case *a, const struct result_case *b, bool all)
{
    const struct work *x = &a->work, *y = &b->work;
    const double scale = all ? 1 : result_amount(y) / result_amount(x);
    return a->cache == b->cache && !strcmp(x->unit, y->unit) && same(x->items * scale, y->items) &&
           same(x->flops * scale, y->flops) &&
           same((x->read_bytes + x->write_bytes) * scale, y->read_bytes + y->write_bytes);
}

static bool can_answer(const struct result_case *c)
{
    return result_case_counts(c) && result_work_known(&c->work);
}

/* Comparable cases. */
struct group {
    const struct result_case **cases;
    size_t count;
};

/* ---- one answer ---- */

static bool all_have(const char *word, size_t length, const void *context)
{
    const struct group *group = context;
    return COUNT_WHERE(c, group->cases, group->count, !text_has_word(case_name(*c), " ", word, length)) == 0;
}

static bool some_lack(const char *word, size_t length, const void *context)
{
    return !all_have(word, length, context);
}

static const char *own_words(const struct result_case *c, const struct group *group, struct arena *arena)
{
    return label_words(case_name(c) + strcspn(case_name(c), " "), some_lack, group, arena);
}

static const char *equals_of(const struct group *group, const struct result_case *best, size_t *count,
                             struct arena *arena)
{
    const char *list = "";
    *count = 0;
    for (size_t k = 0; k < group->count; k++) {
        const struct result_case *c = group->cases[k];
        /* By the intervals of their times and, with several trials, by the spread of these. */
        double high = result_case_interval(best).high_ns, low = result_case_interval(c).low_ns;
        for (size_t t = 0; t < best->trial_count; t++)
            high = fmax(high, best->trials[t].median_ns);
        for (size_t t = 0; t < c->trial_count; t++)
            low = fmin(low, c->trials[t].median_ns);
        if (c == best || high / result_amount(&best->work) < low / result_amount(&c->work))
            continue;
        if ((*count)++ < MOST_EQUALS)
            list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", own_words(c, group, arena));
    }
    return *count > MOST_EQUALS ? arena_printf(arena, "%s and %zu more", list, *count - MOST_EQUALS) : list;
}

/* Returns false if cases that do the same work have the same name. */
static bool answer(struct document *document, const struct result *result, const struct group *group)
{
    struct arena *arena = document->arena;
    const struct result_case *best = group->cases[0], *worst = best;
    size_t equals = 0;
    for (size_t k = 1; k < group->count; k++) {
        best = result_time_each(group->cases[k]) < result_time_each(best) ? group->cases[k] : best;
        worst = result_time_each(group->cases[k]) > result_time_each(worst) ? group->cases[k] : worst;
    }
    const char *rest = label_words(case_name(best) + strcspn(case_name(best), " "), all_have, group, arena);
    const char *list = equals_of(group, best, &equals, arena), *own = own_words(best, group, arena);
    const char *head = arena_printf(arena, "best%s%s: ", *rest ? " with " : "", rest);
    const char *noise = result->predicted ? "the interval" : "noise";
    if (*own && equals + 1 == group->count)
        document_text(document, SHOW_PEOPLE, TONE_PLAIN, "%snone, all %zu %sare within %s of each other: %s, %s", head,
                      group->count, group->count < result->case_count ? "that do the same work " : "", noise, own,
                      list);
    else if (*own)
        document_text(document, SHOW_PEOPLE, TONE_BOLD, "%s%s, %.3g times the worst%s%s%s%s", head, own,
                      result_time_each(worst) / result_time_each(best), equals ? "; within " : "", equals ? noise : "",
                      equals ? " of " : "", list);
    return *own;
}

/* Compares cases that do the same work in different ways, for runs of a single kernel: suites of many kernels have key
 * figures for that. If only the amount of work was swept, compares the time per item. */
void sweep_answers(struct document *document, const struct result *result)
{
    const struct result_case *cases = result->cases;
    const size_t count = result->case_count;
    size_t given = 0;
    if (count > MOST_CASES || /* all pairs are compared, for one line */
        COUNT_WHERE(c, cases, count, strcmp(c->kernel, cases[0].kernel) != 0))
        return;
    for (int all = 1; all >= 0 && !given; all--)
        for (size_t k = 0; k < count; k++) {
            struct group group = {arena_array(document->arena, count - k, sizeof(const struct result_case *)), 0};
            /* Skip cases whose group an earlier case has formed. */
            if (!can_answer(&cases[k]) || COUNT_WHERE(c, cases, k, can_answer(c) && comparable(c, &cases[k], all)))
                continue;
            for (size_t n = k; n < count; n++)
                if (can_answer(&cases[n]) && comparable(&cases[k], &cases[n], all))
                    group.cases[group.count++] = &cases[n];
            const size_t before = document->count;
            if (group.count > 1 && answer(document, result, &group) && ++given > MOST_ANSWERS)
                document->count = before;
        }
    if (given > MOST_ANSWERS)
        document_text(document, SHOW_PEOPLE, TONE_PLAIN, "... and %zu more such groups", given - MOST_ANSWERS);
}
