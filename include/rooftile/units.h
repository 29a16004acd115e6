/* SPDX-License-Identifier: MIT
 *
 * Units: quantities as people write them ("16Ki", "0.5 s", "2.1 GHz") and read them ("1.50 GiB", "12.3 us", "24.1
 * GB/s"). Machine-readable output never uses these: it has base units (ns, bytes, Hz) and plain JSON numbers.
 */
#ifndef ROOFTILE_UNITS_H
#define ROOFTILE_UNITS_H

#include "rooftile/base.h"

#define UNITS_TEXT 32 /* room for any formatted quantity */

/* Parses a number with an optional binary (Ki Mi Gi Ti) or decimal (k M G T) suffix and nothing else: "268435456",
 * "256Mi", "1e6", "0.5k". Rejects hex, inf, nan and a bare sign, and a number beyond a double, with *value infinite. */
bool units_parse_number(double *value, const char *text);

/* Writes the shortest digits that read back as the same finite number. */
#define UNITS_DIGITS 32
const char *units_digits(char out[static UNITS_DIGITS], double value);

/* Parses a duration: number and ns | us | ms | s | min, with or without a space; rejects a bare number. */
bool units_parse_time_ns(double *time_ns, const char *text);

/* Each writes into `out` (UNITS_TEXT bytes) and returns it. Three significant digits; NaN and negative print as "-". */
const char *units_time(char *out, double time_ns);     /* "12.3 us" */
const char *units_bytes(char *out, double size_bytes); /* "1.50 GiB", binary */
/* "24.1 GB/s", decimal: unit "B/s", "FLOP/s", "OP/s" */
const char *units_rate(char *out, double per_second, const char *unit);
/* formats by unit: "ns" as a time, "B/s" "FLOP/s" "Hz" "1/s" as a rate, "1" without a unit, others after the number */
const char *units_quantity(char *out, double value, const char *unit);
const char *units_hz(char *out, double hz); /* "2.31 GHz" */
/* 0.873 -> "87 %", 0.025 -> "2.5 %"; a value below 1 is never "100 %". */
const char *units_percent(char *out, double fraction);
const char *units_change(char *out, double fraction); /* "+2.5 %" */
/* 33554432 -> "32Mi" if exact, else "33.6M"; small ones plain */
const char *units_count(char *out, double count);

#endif
