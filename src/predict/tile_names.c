/* SPDX-License-Identifier: MIT
 *
 * Extracts the tiles of matrix products from the names of library kernels.
 */
#include <regex.h>

#include "rooftile/describe.h"

#define NUMBER "([0-9]+)"
#define SIDE "([89]|[0-9]{2,})"
#define LONG_SIDE "(1[6-9]|[2-9][0-9]|[0-9]{3,})"
#define USUAL_DEPTH 128

/* What names look like, and which part has the tile's rows, columns and depth. */
static const struct {
    const char *pattern;
    size_t m, n, k;
} forms[] = {
    {"MT" SIDE "x" NUMBER "(x" NUMBER ")?", 2, 1, 4}, /* Tensile names columns first */
    {"BpreShuffle_" SIDE "x" NUMBER "(x" NUMBER ")?", 1, 2, 4},
    {"_tn_" SIDE "x" NUMBER "(x" NUMBER ")?", 1, 2, 4},
    {"bf16_t" SIDE "x" NUMBER "(x" NUMBER ")?", 1, 2, 4},
    {"_(64|128|192|256|320|384|448|512|768|1024)x" SIDE "x" NUMBER "x" NUMBER, 2, 3, 4}, /* behind the work-items */
    {"_" LONG_SIDE "x" LONG_SIDE "x" LONG_SIDE "([^x0-9]|$)", 1, 2, 3},
};

bool gemm_tile_of_name(struct gemm_tile *tile, const char *kernel)
{
    bool found = false;
    for (size_t form = 0; form < COUNT_OF(forms) && !found; form++) {
        regex_t pattern;
        regmatch_t at[8];
        if (regcomp(&pattern, forms[form].pattern, REG_EXTENDED))
            continue;
        found = !regexec(&pattern, kernel, COUNT_OF(at), at, 0);
        regfree(&pattern);
        const regmatch_t depth = at[forms[form].k];
        if (found)
            *tile = (struct gemm_tile){strtod(kernel + at[forms[form].m].rm_so, NULL),
                                       strtod(kernel + at[forms[form].n].rm_so, NULL),
                                       depth.rm_so < 0 ? USUAL_DEPTH : strtod(kernel + depth.rm_so, NULL)};
    }
    return found;
}
