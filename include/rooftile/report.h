/* SPDX-License-Identifier: MIT
 *
 * Reports: results in, text out. A format is one file and one row of the table.
 */
#ifndef ROOFTILE_REPORT_H
#define ROOFTILE_REPORT_H

#include <stdbool.h>

#include "rooftile/compare.h"
#include "rooftile/err.h"
#include "rooftile/history.h"
#include "rooftile/result.h"
#include "rooftile/text.h"

struct report_options {
    bool color;
    unsigned columns; /* terminal width; 0: 100 */
    bool verbose;     /* more columns */
};

struct report_format {
    const char *name; /* "table" "csv" "json" "jsonl" ... */
    const char *summary;
    void (*write)(struct text *out, const struct result *result); /* NULL: a document, rendered (rooftile/render.h) */
};

extern const struct report_format report_formats[]; /* ends with name == NULL */
const struct report_format *report_format_find(const char *name);
void report_write(struct text *out, const struct report_format *format, const struct result *result,
                  const struct report_options *options);

/* Parts that `run` prints as it goes. */
void report_case_line(struct text *out, const struct result_case *result_case, size_t done,
                      size_t total); /* one line per case, for CI logs */
void report_roofline_text(struct text *out, const struct result *result, const struct report_options *options);
void report_machine(struct text *out, const struct machine *machine, const struct report_options *options);

/* A comparison, and what the gate found: in one of these formats. */
#define REPORT_FORMATS "table, json, markdown or junit"
bool report_has_format(const char *format);
void report_comparison(struct text *out, const char *format, const struct comparison *comparison,
                       const struct report_options *options);
void report_gate(struct text *out, const char *format, const struct history_gate *gate,
                 const struct report_options *options);

struct document;   /* rooftile/table.h */
struct inspection; /* rooftile/inspection.h */

/* Inspections: details of few kernels, one line each of many; or all of it for programs. */
struct inspect_look {
    bool data;    /* for programs: configs/schema/inspect.schema.json */
    bool details; /* however many kernels there are */
    bool isa;     /* with the disassembly */
    bool verbose; /* with commands, and what is empty */
};
void inspect_document(struct document *document, const struct inspection *list, size_t count,
                      const struct inspect_look *look);

#endif
