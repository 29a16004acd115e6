/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_IMPORT_AGGREGATE_H
#define ROOFTILE_IMPORT_AGGREGATE_H

#include "trace.h"

/* Adds up what was read: rows, operators, timeline. */
void aggregate(struct import *out, struct trace *trace, struct arena *arena);

/* The launch from an operator's signature; NULL: Triton did not compile it. The grid comes from its events. */
struct import_launch *launch_read(const char *signature, struct arena *arena);
void launch_set_grid(struct import_launch *launch, const char *named);
/* Three of "8,1,1 256,1,1". */
void launch_numbers(double out[3], const char **at);

/* Gives events without an operator the operators of the same kernels in a capture or eager trace (import.h). */
void fill_from_capture(struct trace *trace);

/* Fills kernel, params, library of a row (mapping.c), where the manifests in `kernels` take them; NULL: these are not
 * asked. */
void row_map(struct import_row *row, const struct trace_operator *operator, const struct catalog * kernels,
             struct arena *arena);
/* NULL: no model (described.c). */
const struct described *row_described(const struct trace_operator *operator, struct arena * arena);
double row_flops(const struct trace_operator *operator, const struct described * described); /* NaN: not known */

#endif
