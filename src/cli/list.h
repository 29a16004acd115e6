/* SPDX-License-Identifier: MIT
 *
 * Listing: the kernels and suites that `rooftile list` was asked for, and the document that shows them.
 */
#ifndef ROOFTILE_LIST_H
#define ROOFTILE_LIST_H

#include "cli.h"
#include "rooftile/catalog.h"
#include "rooftile/suite.h"
#include "rooftile/table.h"

struct listed_suite {
    const char *name; /* as `rooftile run` takes it: the file's name without .json, or the path as given */
    const char *path;
    const struct suite *suite; /* NULL: it cannot be read, or was not (--names) */
    const char *problem;       /* why it cannot be read */
};

struct listing {
    struct arena *arena;
    struct catalog catalog;
    const struct manifest **kernels; /* chosen ones, by family and then by name */
    size_t kernel_count;
    struct listed_suite *suites;
    size_t suite_count;
    bool full; /* named one by one: show everything about them */
};

/* The folder a kernel's manifest stands in: "memory", "gemm". */
const char *list_family(const struct manifest *manifest);
/* References compute what is right for other kernels; nobody measures them. */
bool list_is_reference(const struct manifest *manifest);

/* Everything for programs (`data`); for people an overview, or what was named one by one in full. */
void list_document(struct document *document, const struct listing *listing, bool data);
/* The GPUs that code is compiled for, each with the compiler at hand. */
void list_targets(struct document *document);

#endif
