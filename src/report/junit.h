/* SPDX-License-Identifier: MIT
 *
 * JUnit XML, the part that Apache Ant's schema and Jenkins' xUnit schema both allow: their element order, no attribute
 * that one of them lacks, at most one of skipped, error and failure in a test case, and a timestamp without zone.
 */
#ifndef ROOFTILE_REPORT_JUNIT_H
#define ROOFTILE_REPORT_JUNIT_H

#include "report_internal.h"

enum junit_outcome { JUNIT_PASSED, JUNIT_FAILURE, JUNIT_ERROR, JUNIT_SKIPPED };

struct junit_case {
    const char *name, *class_name; /* behind "rooftile." */
    double time_s;                 /* that the test took, not what it measured */
    enum junit_outcome outcome;
    const char *type, *message, *body; /* of a failure or an error */
};

struct junit_suite {
    const char *name;               /* "rooftile gate" */
    const char *timestamp;          /* RFC 3339; NULL or no time: 1970 */
    const char *host;               /* NULL or "": localhost */
    const struct table *properties; /* a record; empty ones are skipped */
    const struct junit_case *cases;
    size_t count;
    const char *output; /* NULL: none */
};

void junit_write(struct text *out, const struct junit_suite *suite);

/* Rows of a table as tests: column `name`, and `verdict`, whose tone says what it is: TONE_BAD is a failure, TONE_DIM
 * skipped. The message is the row as people read it. Puts table->row_count tests into `cases`. */
void junit_rows(struct junit_case *cases, const struct table *table, size_t name, size_t verdict,
                const char *class_name, struct arena *arena);

#endif
