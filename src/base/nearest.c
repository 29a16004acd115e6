/* SPDX-License-Identifier: MIT
 *
 * Finds the candidate nearest to a misspelled word.
 */
#include "rooftile/base.h"

/* Longer words are not misspelled options or parameters. */
#define NEAREST_LIMIT 64

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters of either case are equal, and so are the separators between words. */
static char folded(char c)
{
    return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

/* Insertions, deletions, replacements and swaps of neighbours cost 1 each (optimal string alignment); uses three
 * rolling rows. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][NEAREST_LIMIT + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t replaced = last[j - 1] + (folded(a[i - 1]) != folded(b[j - 1]));
            row[j] = min_of(replaced, min_of(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min_of(row[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[b_length];
}

/* Returns the shortest candidate that starts with `word`. */
static const char *continued(const char *word, const char *const *candidates, size_t count)
{
    const char *shortest = NULL;
    size_t bound = NEAREST_LIMIT + 1; /* a candidate must stay below it */
    for (size_t i = 0; i < count && word[0] && word[1]; i++) {
        if (!candidates[i] || !text_starts(candidates[i], word) || strlen(candidates[i]) >= bound)
            continue;
        bound = strlen(candidates[i]);
        shortest = candidates[i];
    }
    return shortest;
}

/* Returns the shortest candidate that contains `word`; otherwise the longest that `word` starts with, if it is at least
 * half of it: "triad", "blocksize". */
static const char *related(const char *word, const char *const *candidates, size_t count)
{
    enum { LEAST = 4 };
    const char *shortest = NULL, *longest = NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t length = candidates[i] ? strnlen(candidates[i], NEAREST_LIMIT + 1) : 0;
        if (length < LEAST || length > NEAREST_LIMIT)
            continue;
        if (strlen(word) >= LEAST && strstr(candidates[i], word) && (!shortest || length < strlen(shortest)))
            shortest = candidates[i];
        if (text_starts(word, candidates[i]) && 2 * length >= strlen(word) && (!longest || length > strlen(longest)))
            longest = candidates[i];
    }
    return shortest ? shortest : longest;
}

const char *text_nearest(const char *word, const char *const *candidates, size_t count)
{
    const size_t length = strnlen(word, NEAREST_LIMIT + 1);
    if (length > NEAREST_LIMIT)
        return NULL;
    const char *nearest = continued(word, candidates, count);
    size_t bound = nearest ? 0 : 2 + length / 4; /* a candidate must stay below it */
    for (size_t i = 0; i < count && bound; i++) {
        const size_t other = candidates[i] ? strnlen(candidates[i], NEAREST_LIMIT + 1) : NEAREST_LIMIT + 1;
        if (other > NEAREST_LIMIT)
            continue;
        const size_t distance = edit_distance(word, length, candidates[i], other);
        if (distance < bound) {
            bound = distance;
            nearest = candidates[i];
        }
    }
    return nearest ? nearest : related(word, candidates, count);
}
