/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_REPORT_LABELS_H
#define ROOFTILE_REPORT_LABELS_H

#include "rooftile/result.h"

struct row_label {
    const char *heading; /* a line above this row; NULL: none */
    const char *text;    /* of the row, indented below a heading */
};

/* One per case, printable. */
const struct row_label *row_labels(const struct result *result, struct arena *arena);

#endif
