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
static void split(struct words *words, const char *label, struct arena *arena)
{
    words->count = 0;
    for (char *p = arena_strdup(arena, label); p && words->count < MAX_WORDS;) {
        char *end = words->count + 1 < MAX_WORDS ? strchr(p, ' ') : NULL;
        words->word[words->count++] = p;
        if (end)
            *end = '\0';
        p = end ? end + 1 : NULL;
    }
}

static const char *join(const struct words *words, uint32_t which, const char *before, struct arena *arena)
{
    struct text text = {0};
    for (size_t k = 0; k < words->count; k++)
        if (which & 1u << k)
            text_addf(&text, "%s%s", text.length ? " " : before, words->word[k]);
    return text_take(&text, arena);
}

/* How many rows from `first` on stand under one heading, and the words that vary among them. Two rows may differ in
 * anything; a further one joins when no other word begins to vary. */
static size_t run_length(uint32_t *varies, const char *const *labels, size_t count, struct arena *scratch)
{
    struct words first, next;
    size_t length = 1;
    *varies = 0;
    split(&first, labels[0], scratch);
    for (; length < count; length++) {
        split(&next, labels[length], scratch);
        if (next.count != first.count || strcmp(next.word[0], first.word[0]) != 0)
            break;
        uint32_t now = *varies;
        for (size_t k = 0; k < first.count; k++)
            now |= strcmp(first.word[k], next.word[k]) ? 1u << k : 0;
        if (length >= 2 && now != *varies)
            break;
        *varies = now;
    }
    return length;
}

struct row_label *group_labels(const char *const *labels, size_t count, struct arena *arena)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct row_label *grouped = arena_array(arena, count + 1, sizeof(*grouped));
    for (size_t k = 0, length; k < count; k += length) {
        struct words words;
        uint32_t varies;
        length = run_length(&varies, &labels[k], count - k, &scratch);
        for (size_t row = k; row < k + length; row++) {
            split(&words, labels[row], &scratch);
            grouped[row].text = varies ? join(&words, varies, "  ", arena) : labels[row];
            if (varies && row == k)
                grouped[k].heading = join(&words, ~varies, "", arena);
            arena_reset(&scratch);
        }
    }
    return grouped;
}
