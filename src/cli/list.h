/* SPDX-License-Identifier: MIT
 *
 * Listing: the kernels and suites that `rooftile list` was asked for, and the two ways to show them.
 */
#ifndef ROOFTILE_LIST_H
#define ROOFTILE_LIST_H

#include "cli.h"
#include "rooftile/catalog.h"
#include "rooftile/suite.h"

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
/* Oracles compute what is right for other kernels; nobody measures them. */
bool list_is_oracle(const struct manifest *manifest);
const char *list_role_name(enum buffer_role role);

void list_text(struct text *out, const struct listing *listing, unsigned columns, bool color);
void list_json(struct text *out, const struct listing *listing);
/* The AMD GPUs that code is compiled for, each with the compiler at hand. */
void list_targets(struct text *out, bool json, bool names, bool color, struct arena *arena);

#endif
