/* SPDX-License-Identifier: MIT
 *
 * How `rooftile list` shows a kernel.
 */
#ifndef ROOFTILE_LIST_H
#define ROOFTILE_LIST_H

#include "rooftile/manifest.h"
#include "rooftile/suite.h"
#include "rooftile/table.h"

/* The folder a kernel's manifest stands in: "memory", "gemm". */
const char *list_family(const struct manifest *manifest);
/* References compute what is right for other kernels and are not measured. */
bool list_is_reference(const struct manifest *manifest);
/* The tags that say more than the family does, separated by commas. */
const char *list_tags(const struct manifest *manifest, struct arena *arena);
/* The parameters that a suite sets and sweeps for a kernel: "n=1,2,..,64 (7 values) dtype=f32". */
const char *list_sweeps(const struct suite_case *entry, struct arena *arena);

/* Two columns for people, and a section of a document with such a table; none where that is empty. */
struct table *list_items(struct arena *arena);
void list_item(struct table *items, const char *left, const char *right);
void list_part(struct document *document, const char *title, struct table *table);

/* One kernel in full, for people. */
void list_kernel(struct document *document, const struct manifest *manifest);
/* All that is known of these kernels, for programs. */
const struct table *list_kernels(const struct manifest *const *kernels, size_t count, struct arena *arena);

#endif
