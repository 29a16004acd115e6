/* SPDX-License-Identifier: MIT
 *
 * The man page rooftile(1), as mdoc, from the tables of commands and options.
 */
#ifndef ROOFTILE_MAN_H
#define ROOFTILE_MAN_H

#include "cli.h"

void man_page(struct text *out);

#endif
