/* SPDX-License-Identifier: MIT
 *
 * Sweep strings as --set takes them: whatever comes, either a list of values or one sentence.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct err err = {0};
    struct sweep sweep = {0};
    const char *text = arena_strndup(&arena, (const char *)data, size);
    const enum status status = sweep_parse(&sweep, "n", text, &arena, &err);
    if (status ? !*err.text : !sweep.count || sweep.count > SUITE_MAX_CASES)
        abort();
    for (size_t k = 0; k < sweep.count; k++)
        if (sweep.values[k].kind == PARAM_NUMBER && !isfinite(sweep.values[k].number))
            abort();
    arena_release(&arena);
    return 0;
}
