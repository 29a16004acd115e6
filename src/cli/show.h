/* SPDX-License-Identifier: MIT
 *
 * Documents (rooftile/table.h) on their way to the user.
 */
#ifndef ROOFTILE_SHOW_H
#define ROOFTILE_SHOW_H

#include "cli.h"
#include "rooftile/report.h"
#include "rooftile/table.h"

/* How text looks on standard output. */
struct report_options show_options(const struct cli_options *options);

/* As JSON where --json says; as text on standard output unless that is where the JSON went, or JSON was all that was
 * asked for (`both` false). */
enum status show_document(const struct document *document, const struct cli_options *options, bool both,
                          struct err *err);

#endif
