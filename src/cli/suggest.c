/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "options.h"

const char *suggest(const char *word, const char *const *candidates, size_t count)
{
    const char *begun = NULL;
    for (size_t k = 0; k < count && strlen(word) > 1; k++)
        if (candidates[k] && text_starts(candidates[k], word) && (!begun || strlen(candidates[k]) < strlen(begun)))
            begun = candidates[k];
    return begun ? begun : text_nearest(word, candidates, count);
}
