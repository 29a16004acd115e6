/* SPDX-License-Identifier: MIT
 *
 * The parts of `rooftile list` as text.
 */
#ifndef ROOFTILE_LIST_VIEW_H
#define ROOFTILE_LIST_VIEW_H

#include "list.h"

struct list_view {
    struct text *out;
    struct arena *arena;
    unsigned columns;
    bool color;
};

/* The tags that say more than the family does, separated by commas. */
char *list_tags(struct arena *arena, const struct manifest *manifest);

/* Everything about one kernel, or one suite (which has been read). */
void list_kernel(const struct list_view *view, const struct manifest *manifest);
void list_suite(const struct list_view *view, const struct listed_suite *listed);

#endif
