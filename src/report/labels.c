/* SPDX-License-Identifier: MIT
 *
 * Labels of a table for a terminal. They say every parameter that varies anywhere in the plan. Neighbouring cases of
 * one kernel share most of them, so what a run of rows has in common becomes its heading, and they keep what differs.
 */

#include "report_internal.h"

enum { MAX_WORDS = 32 };

struct words {
    const char *word[MAX_WORDS];
    size_t count;
};

/* The last word takes the rest. */
static struct words split(const char *label, struct arena *arena)
{
    struct words words = {.count = 0};
    for (char *p = arena_strdup(arena, label), *end; p && words.count < MAX_WORDS; p = end ? end + 1 : NULL) {
        end = words.count + 1 < MAX_WORDS ? strchr(p, ' ') : NULL;
        words.word[words.count++] = p;
        if (end)
            *end = '\0';
    }
    return words;
}

static const char *join(const struct words *words, uint32_t which, const char *before, struct arena *arena)
{
    struct text text = {0};
    for (size_t k = 0; k < words->count; k++)
        if (which & 1u << k)
            text_addf(&text, "%s%s", text.length ? " " : before, words->word[k]);
    return text_take(&text, arena);
}

struct row_label *group_labels(const char *const *labels, size_t count, struct arena *arena)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct row_label *grouped = arena_array(arena, count + 1, sizeof(*grouped));
    for (size_t k = 0, length; k < count; k += length) {
        const struct words first = split(labels[k], &scratch);
        uint32_t varies = 0; /* the words that vary among the rows under one heading */
        /* Two rows may differ in anything; a further one joins when no other word begins to vary. */
        for (length = 1; k + length < count; length++) {
            const struct words next = split(labels[k + length], &scratch);
            uint32_t now = varies;
            for (size_t w = 0; w < first.count && next.count == first.count; w++)
                now |= strcmp(first.word[w], next.word[w]) ? 1u << w : 0;
            if (next.count != first.count || now & 1 || (length >= 2 && now != varies))
                break;
            varies = now;
        }
        for (size_t row = k; row < k + length; row++) {
            const struct words words = split(labels[row], &scratch);
            grouped[row].text = varies ? join(&words, varies, "  ", arena) : labels[row];
        }
        grouped[k].heading = varies ? join(&first, ~varies, "", arena) : NULL;
        arena_reset(&scratch);
    }
    return grouped;
}
