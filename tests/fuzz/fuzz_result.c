/* SPDX-License-Identifier: MIT
 *
 * Any bytes: a result or one clear error. What is accepted is written, read again and merged with itself (refused: it
 * is the same trial) and with a copy under another id. The seeds of interest are results of runs.
 */
#include <stdlib.h>
#include <string.h>

#include "rooftile/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct result *result, struct arena *arena)
{
    static const char *const names[] = {"a", "b"};
    struct err err = {0};
    struct text first = {0}, second = {0};
    const struct result *again = NULL;
    struct result other = *result, merged;
    const struct result *parts[] = {result, &other};
    result_document(&first, result);
    if (!result_parse(&again, "again", first.data, first.length, arena, &err)) {
        result_document(&second, again);
        if (strcmp(first.data, second.data) != 0)
            abort();
    }
    if (!result_merge(&merged, parts, names, 2, arena, &err))
        abort();
    other.run_id = "another";
    other.part_count = 0;
    if (!result_merge(&merged, parts, names, 2, arena, &err)) {
        text_clear(&first);
        result_document(&first, &merged);
    }
    text_release(&first);
    text_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct result *result = NULL;
    const enum status status = result_parse(&result, "fuzz.json", (const char *)data, size, &arena, &err);
    if (!status)
        use(result, &arena);
    else if (status != ERR_CONFIG || result || !strstr(err.text, "fuzz.json:"))
        abort();
    arena_release(&arena);
    return 0;
}
