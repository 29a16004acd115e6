/* SPDX-License-Identifier: MIT
 *
 * Completion scripts for shells, from the tables of commands and options. Names of kernels, suites and devices are
 * asked of the program itself when they are needed.
 */
#ifndef ROOFTILE_COMPLETION_H
#define ROOFTILE_COMPLETION_H

#include "cli.h"

struct completion_shell {
    const char *name;
    void (*write)(struct text *out);
};

extern const struct completion_shell completion_shells[]; /* ends with name == NULL */

#endif
