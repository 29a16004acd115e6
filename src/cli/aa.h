/* SPDX-License-Identifier: MIT
 *
 * What an A/A run taught, and how it is shown.
 */
#ifndef ROOFTILE_AA_H
#define ROOFTILE_AA_H

#include "cli.h"
#include "rooftile/noise_file.h"

#define AA_CLASSES 64

struct aa {
    struct arena *arena;
    const struct result *result;
    const char *class_names[AA_CLASSES];
    struct noise_class classes[AA_CLASSES];
    size_t class_count;
    const struct result_case **of; /* the result's case of each row */
    struct noise_case *cases;
    size_t count;
    struct noise_summary summary;
    const char *path; /* of the noise file; NULL: nothing was learned */
};

/* A table on standard output, or JSON (configs/schema/noise.schema.json) where --json says. */
enum status aa_show(const struct aa *aa, const struct cli_options *options, struct err *err);

#endif
