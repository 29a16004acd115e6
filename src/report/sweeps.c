/* SPDX-License-Identifier: MIT
 *
 * What a sweep answers: which of the cases that do the same work does it fastest, and what all of them have in common.
 */

#include "report_internal.h"

enum { MOST_ANSWERS = 8, MOST_EQUALS = 3, MOST_CASES = 4096 };

/* Works, and shares of them, that differ by less are the same: partial results of another number of workgroups. */
static const double same_within = 0.01;

static bool same(double a, double b)
{
    return fabs(a - b) <= same_within * fmax(fabs(a), fabs(b));
}

static double bytes_of(const struct result_case *c)
{
    return c->work.read_bytes + c->work.write_bytes;
}

/* How much a case does, in what it is about. */
static double amount_of(const struct result_case *c)
{
    return c->work.items > 0 ? c->work.items : bytes_of(c) > 0 ? bytes_of(c) : c->work.flops;
}

/* They do the same to every item; `all`: to as many of them, too. */
static bool comparable(const struct result_case *a, const struct result_case *b, bool all)
{
    const double scale = all ? 1 : amount_of(b) / amount_of(a);
    return a->cache == b->cache && !strcmp(a->work.unit, b->work.unit) && same(amount_of(a) * scale, amount_of(b)) &&
           same(a->work.flops * scale, b->work.flops) && same(bytes_of(a) * scale, bytes_of(b));
}

/* ---- groups ---- */

struct group {
    const struct result_case **cases;
    size_t count;
};

struct answers {
    const struct result *result;
    struct document *document;
    size_t given;
};

static bool can_answer(const struct result_case *c)
{
    return result_case_counts(c) && result_work_known(&c->work);
}

/* Those that can be compared with case `first`, unless an earlier one has them. */
static struct group group_of(const struct answers *answers, size_t first, bool all)
{
    const struct result *result = answers->result;
    struct group group = {
        .cases = arena_array(answers->document->arena, result->case_count - first, sizeof(const struct result_case *))};
    for (size_t k = 0; k < first; k++)
        if (can_answer(&result->cases[k]) && comparable(&result->cases[k], &result->cases[first], all))
            return group;
    for (size_t k = first; k < result->case_count; k++)
        if (can_answer(&result->cases[k]) && comparable(&result->cases[first], &result->cases[k], all))
            group.cases[group.count++] = &result->cases[k];
    return group;
}

/* ---- one answer ---- */

static double time_each(const struct result_case *c)
{
    return result_case_time(c) / amount_of(c);
}

/* By the intervals of their times, and of several trials by how far these lie apart. */
static bool within_noise(const struct result_case *best, const struct result_case *other)
{
    double high = result_case_interval(best).high_ns, low = result_case_interval(other).low_ns;
    for (size_t k = 0; k < best->trial_count; k++)
        high = fmax(high, best->trials[k].median_ns);
    for (size_t k = 0; k < other->trial_count; k++)
        low = fmin(low, other->trials[k].median_ns);
    return high / amount_of(best) >= low / amount_of(other);
}

/* The words of its label that other cases lack (`own`), or have; without the kernel's name. */
static const char *words_of(const struct result_case *c, const struct group *group, bool own, struct arena *arena)
{
    struct text words = {0};
    const char *label = case_name(c);
    for (const char *at = label + strcspn(label, " "); *at;) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, " ");
        bool shared = true;
        for (size_t k = 0; k < group->count; k++)
            shared = shared && text_has_word(case_name(group->cases[k]), " ", at, length);
        if (length && shared != own)
            text_addf(&words, "%s%.*s", words.length ? " " : "", (int)length, at);
        at += length;
    }
    return text_take(&words, arena);
}

static const char *equals_of(const struct group *group, const struct result_case *best, size_t *count,
                             struct arena *arena)
{
    const char *list = "";
    *count = 0;
    for (size_t k = 0; k < group->count; k++) {
        const struct result_case *c = group->cases[k];
        if (c == best || !within_noise(best, c))
            continue;
        if ((*count)++ < MOST_EQUALS)
            list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", words_of(c, group, true, arena));
    }
    return *count > MOST_EQUALS ? arena_printf(arena, "%s and %zu more", list, *count - MOST_EQUALS) : list;
}

static void answer(struct answers *answers, const struct group *group)
{
    struct arena *arena = answers->document->arena;
    const struct result_case *best = group->cases[0], *worst = best;
    size_t equals = 0;
    for (size_t k = 1; k < group->count; k++) {
        best = time_each(group->cases[k]) < time_each(best) ? group->cases[k] : best;
        worst = time_each(group->cases[k]) > time_each(worst) ? group->cases[k] : worst;
    }
    const char *rest = words_of(best, group, false, arena), *list = equals_of(group, best, &equals, arena);
    const char *head = arena_printf(arena, "best%s%s: ", *rest ? " with " : "", rest);
    const char *own = words_of(best, group, true, arena);
    const char *noise = answers->result->predicted ? "the interval" : "noise";
    if (!*own || answers->given++ >= MOST_ANSWERS)
        return;
    if (equals + 1 == group->count)
        document_text(answers->document, SHOW_PEOPLE, TONE_PLAIN,
                      "%snone, all %zu %sare within %s of each other: %s, %s", head, group->count,
                      group->count < answers->result->case_count ? "that do the same work " : "", noise, own, list);
    else
        document_text(answers->document, SHOW_PEOPLE, TONE_BOLD, "%s%s, %.3g times the worst%s%s%s%s", head, own,
                      time_each(worst) / time_each(best), equals ? "; within " : "", equals ? noise : "",
                      equals ? " of " : "", list);
}

/* Of a single kernel, as suites of many have their key figures: cases that do the same work in other ways. Where only
 * the amount of work was swept they are compared by what an item takes. */
void sweep_answers(struct document *document, const struct result *result)
{
    struct answers answers = {.result = result, .document = document};
    if (result->case_count > MOST_CASES) /* each is compared with each, for one line */
        return;
    for (size_t k = 1; k < result->case_count; k++)
        if (strcmp(result->cases[k].kernel, result->cases[0].kernel) != 0)
            return;
    for (int all = 1; all >= 0 && !answers.given; all--)
        for (size_t k = 0; k < result->case_count; k++) {
            if (!can_answer(&result->cases[k]))
                continue;
            const struct group group = group_of(&answers, k, all);
            if (group.count > 1)
                answer(&answers, &group);
        }
    if (answers.given > MOST_ANSWERS)
        document_text(document, SHOW_PEOPLE, TONE_PLAIN, "... and %zu more such groups", answers.given - MOST_ANSWERS);
}

/* ---- what all cases share ---- */

static const struct param_value *shared_param(const struct result *result, const char *name)
{
    const struct param_value *first = result_param(&result->cases[0], name);
    for (size_t k = 1; k < result->case_count && first; k++) {
        const struct param_value *other = result_param(&result->cases[k], name);
        if (!other || !param_equal(first, other))
            return NULL;
    }
    return first;
}

void shared_params(struct document *document, const struct result *result)
{
    SCOPED(text_release) struct text line = {0};
    for (size_t p = 0; result->case_count && p < result->cases[0].param_count; p++) {
        const char *name = result->cases[0].params[p].name;
        const struct param_value *value = shared_param(result, name);
        if (!value)
            continue;
        const bool exact = value->kind == PARAM_NUMBER && fmod(value->number, 1024) == 0 && value->number > 0;
        text_addf(&line, " %s=%s", name,
                  exact ? quantity_words(value->number, UNIT_SIZE, document->arena)
                        : param_text(document->arena, value));
    }
    if (line.length)
        document_text(document, SHOW_PEOPLE, TONE_PLAIN, "all:%s", line.data);
}
