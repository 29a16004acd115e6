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

enum style { STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_CYAN };
/* Adds text in a style; plain without colour. */
void styled(struct text *out, const struct report_options *options, enum style style, const char *text);

#define FIGURE_TEXT 48
/* "12.3 us +-0.2 %"; "-" without samples. */
const char *figure_time(char out[static FIGURE_TEXT], const struct result_case *c);
/* The rate that its bound is about: GFLOP/s where arithmetic bounds it, else GB/s, else time per item; "" for none. */
const char *figure_rate(char out[static FIGURE_TEXT], const struct result_case *c);
/* "98 %": of the roof. */
const char *figure_fraction(char out[static FIGURE_TEXT], const struct result_case *c);
/* "0.167", "12.8", "1024"; "-" without arithmetic or bytes. */
const char *figure_intensity(char out[static FIGURE_TEXT], const struct result_case *c);
/* "expect", "WRONG", "-". */
const char *figure_verified(const struct result_case *c);
/* Flags as words, separated by commas. */
void figure_flags(struct text *out, const struct result_case *c);

/* The line that must stand wherever predicted numbers are shown. */
void predicted_banner(struct text *out, const struct result *result, const struct report_options *options);

#endif
