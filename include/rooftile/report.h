/* SPDX-License-Identifier: MIT
 *
 * Reports: results in, text out. A format is one file and one row of the table.
 */
#ifndef ROOFTILE_REPORT_H
#define ROOFTILE_REPORT_H

#include "rooftile/compare.h"
#include "rooftile/history.h"
#include "rooftile/result.h"

struct report_options {
    bool color;
    unsigned columns; /* terminal width; 0: 100 */
    bool verbose;     /* more columns */
};

struct report_format {
    const char *name;                                             /* "table" "csv" "json" "jsonl" ... */
    void (*write)(struct text *out, const struct result *result); /* NULL: a document, rendered (rooftile/render.h) */
};

extern const char *const report_format_names[]; /* the same names; NULL after the last */
extern const char report_format_help[];         /* what --help says of them */
const struct report_format *report_format_find(const char *name);
void report_write(struct text *out, const struct report_format *format, const struct result *result,
                  const struct report_options *options);

/* What of a result is shown, and in which order. */
struct report_selection {
    const char *const *filters; /* as --filter takes them, on ids, labels and kernels */
    size_t filter_count;
    const char *sort; /* a column, by its key or title, or a parameter; "-" before it: the other way; NULL: as it is */
    size_t top;       /* the first so many; 0: all */
};
/* Key figures and derived values are of all cases, so a selection has none. ERR_USAGE: nothing matches, or there is no
 * such column. Points into `result`. */
enum status report_select(struct result *out, const struct result *result, const struct report_selection *wanted,
                          struct arena *arena, struct err *err);

/* One HTML page of one result, of two that are compared (the base first), or of several devices. */
struct report_page {
    const struct result *const *results;
    size_t count;
    const struct comparison *comparison; /* NULL: they are not compared */
    const char *const *names;            /* what results of one device are called; NULL: by their devices */
};
void report_page(struct text *out, const struct report_page *page, const struct report_options *options);
/* A picture of a result as an SVG file. ERR_USAGE: it has none of that name; the message names those it has. */
enum status report_picture(struct text *out, const struct result *result, const char *name, struct err *err);

/* Results of two different devices side by side, without a verdict; of `wanted` only the filters are used. ERR_CONFIG:
 * they have no case in common. */
struct document; /* rooftile/table.h */
enum status report_devices(struct document *document, const struct result *a, const struct result *b,
                           const struct report_selection *wanted, struct err *err);

/* Parts that `run` prints as it goes. */
void report_case_line(struct text *out, const struct result_case *result_case, size_t done,
                      size_t total); /* one line per case, for CI logs */
void report_roofline_text(struct text *out, const struct result *result, const struct report_options *options);
void report_machine(struct text *out, const struct machine *machine, const struct report_options *options);

/* A comparison, and what the gate found: in one of these formats, the gate also in "openmetrics"; a comparison as
 * "html" is the page of its two results. */
#define REPORT_FORMATS "table, json, markdown or junit"
bool report_has_format(const char *format);
void report_comparison(struct text *out, const char *format, const struct comparison *comparison,
                       const struct report_options *options);
void report_gate(struct text *out, const char *format, const struct history_gate *gate,
                 const struct report_options *options);
void gate_document(struct document *document, const struct history_gate *gate);

/* One page of a site, for the index. */
struct site_page {
    const char *file, *title;
    const char *date; /* of the newest in it, RFC 3339; NULL unknown */
    struct cell verdict;
    const char *words; /* what it is of; "" */
};
void site_document(struct document *document, const struct site_page *pages, size_t count);

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

/* A case that was measured, and predicted before: its own prediction, by whatever version measured. */
struct judged_case {
    const struct result_case *c;
    const char *machine, *label;
};

/* The table of errors, the worst cases, and (CSV) every case. */
void model_error_document(struct document *document, const struct judged_case *cases, size_t count);

/* Two builds of kernels (rooftile/codediff.h): the kernels that changed with their causes, then each figure's totals,
 * helped and hurt, and the worst. */
struct codediff;
struct codediff_look {
    bool isa;     /* the disassembly of what was hurt, side by side */
    bool verbose; /* every kernel that changed with all its figures, not only those that were hurt */
};
void codediff_document(struct document *document, const struct codediff *diff, const struct codediff_look *look);

struct fleet; /* rooftile/fleet.h */

/* Devices side by side, in every format of documents; metrics for Prometheus; and the one line of a Nagios plugin, with
 * its exit code: 0 OK, 1 WARNING (drift), 2 CRITICAL, 3 UNKNOWN. */
void fleet_document(struct document *document, const struct fleet *fleet);
void fleet_openmetrics(struct text *out, const struct fleet *fleet);
void fleet_nagios(struct text *out, const struct fleet *fleet);
int fleet_nagios_code(const struct fleet *fleet);
/* The plugin's code for any exit code of this program. */
int nagios_code(int exit_code);

struct import;
struct import_changes; /* rooftile/import.h */

/* Where the time goes, by operator and shape; `verbose`: also by operator alone. import_diff_document: what changed. */
void import_document(struct document *document, const struct import *import, bool verbose);
void import_diff_document(struct document *document, const struct import_changes *changes);

#endif
