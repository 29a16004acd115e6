/* SPDX-License-Identifier: MIT
 *
 * What the parts of inspect's text share.
 */
#ifndef ROOFTILE_INSPECT_VIEW_H
#define ROOFTILE_INSPECT_VIEW_H

#include "inspect.h"

struct inspect_view {
    struct text *out;
    const struct cli_options *options;
    struct arena *arena;
    unsigned columns;
    bool color;
};

/* Where a file's kernels come from: container, targets. */
void inspect_head(const struct inspect_view *view, const struct inspection *inspection);

/* One line per kernel: a table per file, and one for all kernels of the catalog. */
void inspect_table(const struct inspect_view *view, const struct inspection *list, size_t count);

void inspect_code(struct text *out, const struct isa_kernel *kernel, bool color); /* instructions, work, loops */

#endif
