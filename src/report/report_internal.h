/* SPDX-License-Identifier: MIT
 *
 * Declarations shared by the files of src/report: tables for people, and figures, tables and words that several
 * reports use.
 */
#ifndef ROOFTILE_REPORT_INTERNAL_H
#define ROOFTILE_REPORT_INTERNAL_H

#include "rooftile/json.h"
#include "rooftile/render.h"

/* ---- words ---- */

/* The unit that a key figure is shown in: percent for a share. */
const char *kpi_shown_unit(const char *of, const char *unit);

/* The share of the ceiling that this time reaches; NaN if it is unknown, or for a chain of dependent operations, to
 * which no ceiling applies. */
struct plan_case;
double ceiling_share(const struct plan_case *plan_case, double time_ns);

/* Formats a value like a cell with this unit; "-" if it is unknown. */
const char *quantity_words(double value, const char *unit, struct arena *arena);
/* "+1.2 %"; "1.2 %" */
const char *change_words(double change, struct arena *arena);
/* Says how many cases were disturbed, without a full stop. */
const char *disturbed_words(const struct result *result, struct arena *arena);
const char *percent_words(double fraction, struct arena *arena);
/* True if two labels begin with the same word. "pointer_chase, all 7", "pointer_chase, 3 of 7" */
bool same_kernel(const char *label, const char *other);
const char *kernel_cases(const char *label, size_t count, size_t of, struct arena *arena);
/* A count as a tile; `some`: its tone if it is not 0. */
struct cell cell_tile(size_t value, enum tone some);
struct count {
    const char *key, *word;
    size_t count;
};
/* Adds the counts to a summary; returns the non-zero ones in words: "1 slower, 11 same". */
const char *count_members(struct table *summary, const struct count *counts, size_t count);

/* ---- rendering ---- */

unsigned report_columns(const struct report_options *options);

/* True if the section has content for these readers (SHOW_*). */
bool section_shown(const struct section *section, unsigned reader);
/* Merges adjacent rows of one family with the same reason into one. */
const struct table *table_with_families(const struct table *all, struct arena *arena);
/* The name of a memory level for people: "MALL (Infinity Cache)". */
const char *level_title(const char *name, struct arena *arena);
/* A table as people see it: a record becomes rows of name and value, a family becomes one row. */
const struct table *table_for_people(const struct table *table, struct arena *arena);
/* The number of rows that people see. */
size_t rows_shown(const struct table *table);
/* True if people see the column. It needs a title, and a value in some row. */
bool column_shown(const struct table *table, size_t column, const struct report_options *options);
/* Writes the indices of the visible columns to `shown`, which has room for all columns; returns their number. */
size_t columns_shown(size_t *shown, const struct table *table, const struct report_options *options);
/* The same without columns that have "-" in every row, which a page omits. */
size_t columns_known(size_t *shown, const struct table *table, const struct report_options *options);
/* The text of a cell in a format without lines for notes: the text that replaces a row's values goes to its `second`
 * column, its note to the `last` one. */
const char *flat_words(const struct table *table, size_t row, size_t column, bool second, bool last,
                       struct arena *arena);
/* Writes an attribute of an element, with a blank before it. */
void html_attribute(struct text *out, const char *name, const char *value);
/* True if some column has a non-empty title. */
bool has_head(const struct table *table);

/* ---- figures of a case (figures.c) ---- */

/* A table with a row per case and every figure. */
struct table *figures_table(const struct result *result, struct arena *arena);
/* One figure by its key or title: in words, and as a number (NaN: unknown). */
const char *figure_words(const char *name, const struct result_case *c, struct arena *arena);
double figure_value(const char *name, const struct result_case *c);
/* The tooltip of a case: its name, and a line for each known figure. */
const char *case_said(const struct result_case *c, struct arena *arena);
/* "203 us ±0.3%", or for a prediction "203 us (162 .. 313 us)". */
const char *time_words(const struct result_case *c, struct arena *arena);
/* True if there is a figure with that key or title; the names of all figures; true if a larger figure is better. */
bool figure_known(const char *name);
size_t figure_names(const char ***names, struct arena *arena);
bool figure_more_is_better(const char *name);

struct flag_words {
    uint32_t flag;
    const char *name, *meaning;
};
extern const struct flag_words flag_words[]; /* the most serious first; ends with flag == 0 */

/* The plan id: the case id without its timer, the key for histories in other tools. */
const char *plain_id(struct arena *arena, const struct result_case *c);
/* A device name for people. Keys use the original name: some processors pad theirs with blanks. */
const char *device_title(const char *name, struct arena *arena);
/* Returns the words of a case label that `keeps` accepts, separated by blanks. */
const char *label_words(const char *label, bool (*keeps)(const char *word, size_t length, const void *context),
                        const void *context, struct arena *arena);
/* Shortens such names for a table: if some of a kernel's (a name's first word) are long, removes the parameter values
 * that most of them have, and the parameters that another one determines. */
const char *const *names_apart(const char *const *names, size_t count, struct arena *arena);
/* The shortened names of the visible rows of a table; NULL if its rows are not cases. */
const char *const *table_names_apart(const struct table *table, struct arena *arena);

/* For JSON: the non-zero terms, in ns (forecast.c), and the notes. */
struct table *prediction_terms(const struct prediction *prediction, struct arena *arena);
struct table *prediction_notes(const struct prediction *prediction, struct arena *arena);
/* Reports the error of the predictions against the measurements; adds nothing unless some case has both. */
void prediction_line(struct document *document, const struct result *result);

/* ---- what a result comes to (result_verdict.c) ---- */

/* Sets title, mark, verdict and action. */
void result_verdict(struct document *document, const struct result *result);
struct cell result_mark(const struct result *result);
/* True if the key figure is the value of this one case. */
bool kpi_is_of(const struct result_kpi *kpi, const struct result_case *c);
/* True if so many cases were disturbed that the run is unfit for comparison. */
bool result_is_disturbed(const struct result *result);
/* The time that a case would save at its roof; 0 for a probe of the device, a launch, or without a roof. */
double time_to_win(const struct result_case *c);
/* Lists the cases that have such a time, the most first; returns their number. */
size_t worth_winning(const struct result_case ***order, const struct result *result, struct arena *arena);

/* ---- formats of other tools ---- */

void report_junit(struct text *out, const struct result *result);
void report_openmetrics(struct text *out, const struct result *result);
void report_nagios(struct text *out, const struct result *result);
void report_gate_openmetrics(struct text *out, const struct history_gate *gate);
void report_google_benchmark(struct text *out, const struct result *result);
void report_bmf(struct text *out, const struct result *result);
void report_gha_smaller(struct text *out, const struct result *result);
void report_gha_bigger(struct text *out, const struct result *result);

void report_html(struct text *out, const struct result *result);
void report_svg(struct text *out, const struct result *result);

/* ---- shared parts of documents ---- */

/* Adds key figures and derived values. */
void result_figures(struct document *document, const struct result *result, const char *suffix);
/* Adds a row for each problem. */
void result_findings(struct document *document, const struct result *result, const char *suffix);
/* The first parts of a comparison page: its verdict, which the document gets, and the changes. */
struct cell comparison_mark(const struct comparison *comparison);
const struct table *comparison_tiles(const struct comparison *comparison, struct arena *arena);
void comparison_sections(struct document *document, const struct comparison *comparison);

/* The first part of a document for programs: a record that names its schema. */
struct table *schema_record(struct arena *arena, const char *id, const char *version);

/* Adds the values that a suite derives: lines, and a table for each matrix and sum. */
void derived_sections(struct document *document, const struct result *result);
/* Adds the known levels, latencies, arithmetic units and other figures. */
void machine_tables(struct document *document, const struct machine *machine);
/* Adds the fastest way to do the same work. */
void sweep_answers(struct document *document, const struct result *result);
/* For cases that represent operators of a trace: the times in the trace, of our kernel and of the library. */
void traced_section(struct document *document, const struct result *result);

/* ---- parts of an inspection ---- */

struct inspect_kernel; /* rooftile/inspection.h */
struct isa_hot;        /* rooftile/isa.h */
struct isa_kernel;
struct codeobj;

struct cell inspect_address(uint64_t address, struct arena *arena); /* "0x1900" */
struct cell inspect_loop(size_t loop);                              /* counted from 1; unknown for ISA_NO_LOOP */
/* The whole analysis; unknown if `isa` is NULL. */
struct cell inspect_code_cell(const struct isa_kernel *isa, const char *target, struct arena *arena);

/* Everything about a kernel, for programs. */
struct cell inspect_kernel_cell(const struct inspect_kernel *kernel, const char *target, struct arena *arena);

/* Adds the sections about a kernel that people see. `target` is named if a file has code for several targets; `isa`:
 * includes the disassembly. */
void inspect_kernel(struct document *document, const struct inspect_kernel *kernel, const struct codeobj *object,
                    const char *target, bool isa);
/* Adds the sections about a kernel's instructions. */
void inspect_code(struct document *document, const struct isa_kernel *isa, const char *target, struct arena *arena);
/* inspect_schedule.c: an iteration of the hot loop (NULL: none), and live registers; nothing for NVIDIA. */
void inspect_schedule(struct text *lines, const struct isa_kernel *isa, const struct isa_hot *hot, const char *target,
                      struct arena *arena);
struct cell inspect_schedule_cell(const struct isa_kernel *isa, size_t loop, const char *target, struct arena *arena);
struct cell inspect_live_cell(const struct isa_kernel *isa, const char *target, struct arena *arena);

/* Two disassemblies side by side. */
struct code_pair; /* rooftile/codediff.h */
const char *codediff_sides(const struct code_pair *pair, struct arena *arena);

#endif
