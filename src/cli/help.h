/* SPDX-License-Identifier: MIT
 *
 * Help: what `rooftile COMMAND --help` and `rooftile` alone print. Examples first, 80 columns at most.
 */
#ifndef ROOFTILE_HELP_H
#define ROOFTILE_HELP_H

#include "cli.h"

#define HELP_COLUMNS 80

extern const char overview_summary[];  /* one sentence */
extern const char overview_examples[]; /* lines like those of a command */

void help_overview(struct text *out, bool color);
void help_command(struct text *out, const struct command *command, bool color);

#endif
