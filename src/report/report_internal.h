/* SPDX-License-Identifier: MIT
 *
 * What the files of src/report share: tables as people see them, and figures, tables and words that several reports
 * use.
 */
#ifndef ROOFTILE_REPORT_INTERNAL_H
#define ROOFTILE_REPORT_INTERNAL_H

#include "rooftile/json.h"
#include "rooftile/render.h"

/* ---- words ---- */

/* The unit in which people read a key figure: a share as percent. */
const char *kpi_shown_unit(const char *of, const char *unit);

/* Of its ceiling, in this time; NaN: not known, or a chain, of which no ceiling says anything. */
struct plan_case;
double ceiling_share(const struct plan_case *plan_case, double time_ns);

/* A value as a cell of this unit is read; "-" where it is unknown. */
const char *quantity_words(double value, const char *unit, struct arena *arena);
/* "+1.2 %"; "1.2 %" */
const char *change_words(double change, struct arena *arena);
/* How many cases a neighbour disturbed and by how much, as a sentence without its end; "": none. */
const char *disturbed_words(const struct result *result, struct arena *arena);
const char *percent_words(double fraction, struct arena *arena);
struct count {
    const char *key, *word;
    size_t count;
};
/* Members of a summary, and for people those that are not 0: "1 slower, 11 same". */
const char *count_members(struct table *summary, const struct count *counts, size_t count);

/* ---- rendering ---- */

unsigned report_columns(const struct report_options *options);

/* Does the section have anything for these readers (SHOW_*)? */
bool section_shown(const struct section *section, unsigned reader);
/* Neighbours of one family and with one reason are one row. */
const struct table *table_with_families(const struct table *all, struct arena *arena);
/* A table as people see it: of a record its members as rows of name and value, and families in one row. */
const struct table *table_for_people(const struct table *table, struct arena *arena);
/* Rows that people see. */
size_t rows_shown(const struct table *table);
/* Do people see the column? It needs a title, and a value in some row. */
bool column_shown(const struct table *table, size_t column, const struct report_options *options);
/* Which columns they see, into `shown`, which has room for all; how many. */
size_t columns_shown(size_t *shown, const struct table *table, const struct report_options *options);
/* The same, without columns that have "-" in every row, which a page need not show. */
size_t columns_known(size_t *shown, const struct table *table, const struct report_options *options);
/* A cell where notes have no line of their own: what became of a row stands in its `second` column, the note below it
 * in its `last` one. */
const char *flat_words(const struct table *table, size_t row, size_t column, bool second, bool last,
                       struct arena *arena);
/* An attribute of an element, with a blank before it. */
void html_attribute(struct text *out, const char *name, const char *value);
/* Some column that is shown has a head. */
bool has_head(const struct table *table);

/* ---- figures of a case (figures.c) ---- */

/* A row per case with every figure. */
struct table *figures_table(const struct result *result, struct arena *arena);
/* One figure, by its key or title; in words, and as a number (NaN: unknown). */
const char *figure_words(const char *name, const struct result_case *c, struct arena *arena);
double figure_value(const char *name, const struct result_case *c);
/* Its name and a line for each figure that is known, for who points at its mark in a picture. */
const char *case_said(const struct result_case *c, struct arena *arena);
/* "203 us ±0.3%", or of a prediction "203 us (162 .. 313 us)". */
const char *time_words(const struct result_case *c, struct arena *arena);
/* Is there a figure of that key or title? All of their names. Is more of it better? */
bool figure_known(const char *name);
size_t figure_names(const char ***names, struct arena *arena);
bool figure_more_is_better(const char *name);

struct flag_words {
    uint32_t flag;
    const char *name, *meaning;
};
extern const struct flag_words flag_words[]; /* the gravest first; ends with flag == 0 */

/* The plan id: the case's id without its timer, which other tools keep histories by. */
const char *plain_id(struct arena *arena, const struct result_case *c);
/* A device's name as people read it. Keys have it as it was read: some processors pad theirs with blanks. */
const char *device_title(const char *name, struct arena *arena);
/* The words of a case's label that `keeps` lets stand, with a blank between them. */
const char *label_words(const char *label, bool (*keeps)(const char *word, size_t length, const void *context),
                        const void *context, struct arena *arena);
/* Such names shortened for a table: where some are long, without the parameters' values that most names of a kernel (a
 * name's first word) have. `usual` (may be NULL) gets these values, a line for each kernel. */
const char *const *names_apart(const char *const *names, size_t count, const char **usual, struct arena *arena);
/* Those of a table's rows that people see; NULL where rows are no cases. */
const char *const *table_names_apart(const struct table *table, const char **usual, struct arena *arena);

/* For JSON: the terms that are not 0, in ns (forecast.c); and the notes. */
struct table *prediction_terms(const struct prediction *prediction, struct arena *arena);
struct table *prediction_notes(const struct prediction *prediction, struct arena *arena);
/* How far its predictions were from what was measured; adds nothing if nothing was predicted and measured. */
void prediction_line(struct document *document, const struct result *result);

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

/* ---- parts of several documents ---- */

/* Key figures, and what a suite derives. */
void result_figures(struct document *document, const struct result *result, const char *suffix);
/* What is wrong, a row each. */
void result_findings(struct document *document, const struct result *result, const char *suffix);
/* What a page of a comparison begins with: its verdict, and what changed. */
struct cell comparison_mark(const struct comparison *comparison);
void comparison_sections(struct document *document, const struct comparison *comparison);

/* What a document for programs begins with: a record that names its schema. */
struct table *schema_record(struct arena *arena, const char *id, const char *version);

/* What a suite derives from its cases: lines, and a table for each matrix, sum and, with `ratios`, comparison. */
void derived_sections(struct document *document, const struct result *result, bool ratios);
/* Known levels, latencies, arithmetic units and other figures. */
void machine_tables(struct document *document, const struct machine *machine);
/* Parameters that all cases share, in one line. sweep_answers: which way of doing the same work is the fastest. */
void shared_params(struct document *document, const struct result *result);
void sweep_answers(struct document *document, const struct result *result);
/* For cases that stand for operators of a trace: the times of trace, our kernel and the library. */
void traced_section(struct document *document, const struct result *result);
/* Which library the cases of one kernel called, once. */
void library_lines(struct document *document, const struct result *result);

/* ---- parts of an inspection ---- */

struct inspect_kernel; /* rooftile/inspection.h */
struct isa_hot;        /* rooftile/isa.h */
struct isa_kernel;
struct codeobj;

struct cell inspect_address(uint64_t address, struct arena *arena); /* "0x1900" */
struct cell inspect_loop(size_t loop);                              /* counted from 1; ISA_NO_LOOP is unknown */
/* All of it; NULL is unknown. */
struct cell inspect_code_cell(const struct isa_kernel *isa, const char *target, struct arena *arena);

/* All of a kernel for programs. */
struct cell inspect_kernel_cell(const struct inspect_kernel *kernel, const char *target, struct arena *arena);

/* Adds the sections that people see of a kernel. `target` is said where a file has code for several; `isa`: the
 * disassembly too. */
void inspect_kernel(struct document *document, const struct inspect_kernel *kernel, const struct codeobj *object,
                    const char *target, bool isa);
/* Those of its instructions. */
void inspect_code(struct document *document, const struct isa_kernel *isa, const char *target, struct arena *arena);
/* inspect_schedule.c: of a turn of the hot loop (NULL: there is none), and live registers; of NVIDIA's nothing. */
void inspect_schedule(struct text *lines, const struct isa_kernel *isa, const struct isa_hot *hot, const char *target,
                      struct arena *arena);
struct cell inspect_schedule_cell(const struct isa_kernel *isa, size_t loop, const char *target, struct arena *arena);
struct cell inspect_live_cell(const struct isa_kernel *isa, const char *target, struct arena *arena);

/* Two disassemblies side by side. */
struct code_pair; /* rooftile/codediff.h */
const char *codediff_sides(const struct code_pair *pair, struct arena *arena);

#endif
