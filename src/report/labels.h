/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_REPORT_LABELS_H
#define ROOFTILE_REPORT_LABELS_H

#include "rooftile/result.h"

struct row_label {
    const char *heading; /* a line above this row; NULL: none */
    const char *text;    /* of the row, indented below a heading */
};

/* What neighbouring labels share becomes their heading. */
struct row_label *group_labels(const char *const *labels, size_t count, struct arena *arena);

#endif
