/* SPDX-License-Identifier: MIT
 *
 * Suite files: whatever comes, either a suite or one sentence with its place. "kernels" folders are looked up, never
 * read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct suite *suite = NULL;
    struct measure_options base;
    measure_defaults(&base);
    const char *text = arena_copy(&arena, data, size);
    const enum status status = suite_parse(&suite, "fuzz.json", text, size, &base, &arena, &err);
    if (status ? suite || strncmp(err.text, "fuzz.json", 9) != 0 : !suite || !suite->case_count)
        abort();
    arena_release(&arena);
    return 0;
}
