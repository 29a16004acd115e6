/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_IMPORT_AGGREGATE_H
#define ROOFTILE_IMPORT_AGGREGATE_H

#include "trace.h"

/* Adds up what was read: rows, operators, timeline. */
void aggregate(struct import *out, struct trace *trace, struct arena *arena);

/* Gives events without operator those of the same kernels elsewhere (import.h). */
void fill_from_capture(struct trace *trace);

/* Fills kernel, params, library of a row (mapping.c). */
void row_map(struct import_row *row, const struct trace_operator *operator, struct arena * arena);

#endif
