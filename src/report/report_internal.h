/* SPDX-License-Identifier: MIT
 *
 * What the files of src/report share: the formats' functions, colours, and a case's figures as people read them.
 */
#ifndef ROOFTILE_REPORT_INTERNAL_H
#define ROOFTILE_REPORT_INTERNAL_H

#include "rooftile/report.h"

enum status report_table(struct text *out, const struct result *result, const struct report_options *options,
                         struct err *err);
enum status report_csv(struct text *out, const struct result *result, const struct report_options *options,
                       struct err *err);
enum status report_json(struct text *out, const struct result *result, const struct report_options *options,
                        struct err *err);
enum status report_jsonl(struct text *out, const struct result *result, const struct report_options *options,
                         struct err *err);

enum status report_markdown(struct text *out, const struct result *result, const struct report_options *options,
                            struct err *err);
enum status report_junit(struct text *out, const struct result *result, const struct report_options *options,
                         struct err *err);
enum status report_openmetrics(struct text *out, const struct result *result, const struct report_options *options,
                               struct err *err);
enum status report_google_benchmark(struct text *out, const struct result *result, const struct report_options *options,
                                    struct err *err);
enum status report_bmf(struct text *out, const struct result *result, const struct report_options *options,
                       struct err *err);
enum status report_gha_smaller(struct text *out, const struct result *result, const struct report_options *options,
                               struct err *err);
enum status report_gha_bigger(struct text *out, const struct result *result, const struct report_options *options,
                              struct err *err);

/* The plan id: the case's id without its timer, which other tools keep histories by. */
const char *plain_id(struct arena *arena, const struct result_case *c);
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_CYAN };
/* Adds text in a style; plain without colour. */
void styled(struct text *out, const struct report_options *options, enum style style, const char *text);

unsigned report_columns(const struct report_options *options);

/* A copy that is safe on a terminal: results come from anywhere, and control characters in them become '?'. Line feeds
 * stay. */
const char *printable(struct arena *arena, const char *text);
/* Words, broken at blanks, every line indented. */
void wrapped(struct text *out, const char *prose, unsigned indent, unsigned columns);
/* The same for one line; several (a compiler's message) keep their layout. */
void indented(struct text *out, const char *lines, unsigned indent, unsigned columns);

#define FIGURE_TEXT 48
/* "12.3 us \u00b10.2%"; "-" without samples. */
const char *figure_time(char out[static FIGURE_TEXT], const struct result_case *c);
/* "0.2%": half of the median's interval. */
const char *figure_interval(char out[static FIGURE_TEXT], const struct result_case *c);
/* The rate that its bound is about: GFLOP/s where arithmetic bounds it, else GB/s, else time per item; "" for none. */
const char *figure_rate(char out[static FIGURE_TEXT], const struct result_case *c);
/* "98%": of the roof. Cases that measure a latency have none. */
const char *figure_fraction(char out[static FIGURE_TEXT], const struct result_case *c);
/* "0.167", "12.8", "1024", "33k"; "-" without arithmetic or bytes. */
const char *figure_intensity(char out[static FIGURE_TEXT], const struct result_case *c);
/* "L2", "vector_f32", "launch", "latency", "-". */
const char *figure_bound(const struct result_case *c);
/* "expect", "WRONG", "-". */
const char *figure_verified(const struct result_case *c);
/* What its hot loop mostly holds, "v_fma_f32 97%"; "" unknown. */
const char *figure_loop(char out[static FIGURE_TEXT], const struct result_case *c);

struct flag_words {
    uint32_t flag;
    char mark;
    const char *name, *meaning;
};
extern const struct flag_words flag_words[]; /* the gravest first; ends with flag == 0 */
/* Flags as words, separated by commas; and as letters. */
void figure_flags(struct text *out, const struct result_case *c);
void figure_marks(struct text *out, const struct result_case *c);

/* The line that must stand wherever predicted numbers are shown. */
void predicted_banner(struct text *out, const struct result *result, const struct report_options *options);
void summary_lines(struct text *out, const struct result *result, const struct report_options *options, bool marks);

#endif
