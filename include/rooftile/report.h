/* SPDX-License-Identifier: MIT
 *
 * Reports: turn results into text. A format is one file and one row of the table.
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
    void (*write)(struct text *out, const struct result *result); /* NULL: renders a document (rooftile/render.h) */
};

extern const char *const report_format_names[]; /* their names; NULL after the last */
extern const char report_format_help[];         /* their description for --help */
const struct report_format *report_format_find(const char *name);
void report_write(struct text *out, const struct report_format *format, const struct result *result,
                  const struct report_options *options);

/* Selects and orders the cases to show. */
struct report_selection {
    const char *const *filters; /* like --filter: on ids, labels and kernels */
    size_t filter_count;
    const char *sort; /* a column, by its key or title, or a parameter; "-" before it reverses; NULL: unsorted */
    size_t top;       /* number of cases shown; 0: all */
};
/* Makes a result of the selected cases. Key figures and derived values cover all cases, so a selection has none.
 * ERR_USAGE: nothing matches, or there is no such column. Points into `result`. */
enum status report_select(struct result *out, const struct result *result, const struct report_selection *wanted,
                          struct arena *arena, struct err *err);

/* One HTML page for one result, for a comparison of two (the base first), or for several devices. */
struct report_page {
    const struct result *const *results;
    size_t count;
    const struct comparison *comparison; /* NULL: no comparison */
    const char *const *names;            /* names for results of one device; NULL: named by device */
};
void report_page(struct text *out, const struct report_page *page, const struct report_options *options);
/* Writes one picture of a result as an SVG file. ERR_USAGE: there is none with that name; the message lists them. */
enum status report_picture(struct text *out, const struct result *result, const char *name, struct err *err);

/* Results of two different devices side by side, without a verdict; only the filters of `wanted` are used. ERR_CONFIG:
 * they have no case in common. */
struct document; /* rooftile/table.h */
enum status report_devices(struct document *document, const struct result *a, const struct result *b,
                           const struct report_selection *wanted, struct err *err);

/* Parts that `run` prints while it measures. */
void report_case_line(struct text *out, const struct result_case *result_case, size_t done,
                      size_t total); /* one line per case, for CI logs */
void report_roofline_text(struct text *out, const struct result *result, const struct report_options *options);
void report_machine(struct text *out, const struct machine *machine, const struct report_options *options);

/* Reports of a comparison and of the gate in one of these formats, the gate also in "openmetrics"; a comparison as
 * "html" is the page of its two results. */
#define REPORT_FORMATS "table, json, markdown or junit"
bool report_has_format(const char *format);
void report_comparison(struct text *out, const char *format, const struct comparison *comparison,
                       const struct report_options *options);
void report_gate(struct text *out, const char *format, const struct history_gate *gate,
                 const struct report_options *options);
void gate_document(struct document *document, const struct history_gate *gate);

/* One page of a site, for its index, which begins with those that need a look. */
struct site_page {
    const char *file, *title;
    const char *date; /* of the newest result in it, RFC 3339; NULL: unknown */
    struct cell verdict;
    const char *change;                  /* what happened last */
    const char *words;                   /* what was judged */
    const struct history_window *window; /* NULL: no history */
};
void site_document(struct document *document, const struct site_page *pages, size_t count);

struct inspection; /* rooftile/inspection.h */

/* Inspections: details of a few kernels, one line for each of many; or everything, for programs. */
struct inspect_look {
    bool data;    /* for programs: configs/schema/inspect.schema.json */
    bool details; /* even for many kernels */
    bool isa;     /* include the disassembly */
    bool verbose; /* include commands and empty values */
};
void inspect_document(struct document *document, const struct inspection *list, size_t count,
                      const struct inspect_look *look);

/* A measured case with its prediction, made before by the version that measured it. */
struct judged_case {
    const struct result_case *c;
    const char *machine, *label;
};

/* The table of errors, the worst cases, and in CSV every case. */
void model_error_document(struct document *document, const struct judged_case *cases, size_t count);

/* Two builds of kernels (rooftile/codediff.h): the changed kernels with their causes, then each figure's totals,
 * numbers of kernels that improved and got worse, and the worst. */
struct codediff;
struct codediff_look {
    bool isa;     /* disassembly of kernels that got worse, side by side */
    bool verbose; /* all figures for every changed kernel, not only for those that got worse */
};
void codediff_document(struct document *document, const struct codediff *diff, const struct codediff_look *look);

struct fleet; /* rooftile/fleet.h */

/* A fleet's devices that are not healthy, in every format of documents (with `verbose` the cases behind them, too);
 * metrics for Prometheus; and the line of a Nagios plugin with its exit code: 0 OK, 1 WARNING (drift), 2 CRITICAL, 3
 * UNKNOWN. */
void fleet_document(struct document *document, const struct fleet *fleet, bool verbose);
void fleet_openmetrics(struct text *out, const struct fleet *fleet);
void fleet_nagios(struct text *out, const struct fleet *fleet);
int fleet_nagios_code(const struct fleet *fleet);
/* Maps an exit code of this program to the plugin's. */
int nagios_code(int exit_code);

struct import;
struct import_changes; /* rooftile/import.h */

/* Where the time goes, by operator and shape. `suite`: the file that was made of it (NULL: none); `verbose`: also by
 * operator alone. import_diff_document: the changes between two imports. */
void import_document(struct document *document, const struct import *import, const char *suite, bool verbose);
void import_diff_document(struct document *document, const struct import_changes *changes);

#endif
