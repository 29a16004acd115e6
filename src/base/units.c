/* SPDX-License-Identifier: MIT */
#include "rooftile/units.h"

#include <float.h>
#include <locale.h>

struct unit {
    const char *name;
    double scale;
};

static const struct unit number_suffixes[] = {
    {"", 1},    {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40},
    {"k", 1e3}, {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
};
static const struct unit times_read[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}};
static const struct unit times_shown[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
static const struct unit bytes_shown[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
                                          {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}};
static const struct unit prefixes[] = {{"", 1},     {"k", 1e3},  {"M", 1e6}, {"G", 1e9},
                                       {"T", 1e12}, {"P", 1e15}, {"E", 1e18}};
static const struct unit binary_counts[] = {{"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}};

/* Returns the position after the decimal number at `text`; NULL if there is none, or only a form that strtod alone
 * accepts (hex, inf, "1.", leading blanks). */
static const char *read_decimal(double *number, const char *text)
{
    /* Uses the "C" locale; glibc's object for it is static. */
    char *end;
    *number = strtod_l(text, &end, newlocale(LC_ALL_MASK, "C", (locale_t)0));
    const size_t length = (size_t)(end - text);
    const char *point = memchr(text, '.', length);
    if (!length || strspn(text, "+-.0123456789eE") < length || (point && !(point[1] >= '0' && point[1] <= '9')))
        return NULL;
    return end;
}

/* Parses a finite number directly followed by one unit of the table, or after spaces if those are allowed. */
static bool parse_with(double *value, const char *text, const struct unit *units, size_t count, bool spaces)
{
    double number;
    const char *end = read_decimal(&number, text);
    while (end && spaces && *end == ' ')
        end++;
    for (size_t i = 0; i < count && end; i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        *value = number * units[i].scale;
        return isfinite(*value);
    }
    return false;
}

bool units_parse_number(double *value, const char *text)
{
    return parse_with(value, text, number_suffixes, COUNT_OF(number_suffixes), false);
}

const char *units_digits(char out[static UNITS_DIGITS], double value)
{
    if (value == floor(value) && fabs(value) <= 0x1p53) { /* many times faster than printing */
        char whole[UNITS_DIGITS] = "", *at = whole + sizeof(whole) - 1;
        uint64_t left = (uint64_t)fabs(value);
        do
            *--at = (char)('0' + left % 10);
        while (left /= 10);
        if (signbit(value))
            *--at = '-';
        return memcpy(out, at, (size_t)(whole + sizeof(whole) - at));
    }
    /* Up to 15 digits always survive a normal double, so fewer are not tried: %g drops trailing zeros. */
    int precision = fabs(value) < DBL_MIN ? 1 : 15;
    do
        snprintf(out, UNITS_DIGITS, "%.*g", precision, value);
    while (strtod(out, NULL) != value && ++precision <= 17);
    return out;
}

bool units_parse_time_ns(double *time_ns, const char *text)
{
    double value = 0;
    if (!parse_with(&value, text, times_read, COUNT_OF(times_read), true) || value < 0)
        return false;
    *time_ns = value;
    return true;
}

/* Writes three significant digits (all of them from 1000 up). Uses integers, because printf's %f depends on the
 * locale. */
static void put_number(char out[static UNITS_TEXT], double value)
{
    static const long long powers[] = {1, 10, 100, 1000};
    if (value >= 1e15) {
        snprintf(out, UNITS_TEXT, "%.0e", value);
        return;
    }
    for (int decimals = 3; decimals > 0 && value > 0; decimals--) {
        const long long scaled = llround(value * (double)powers[decimals]);
        if (scaled >= 1000)
            continue;
        snprintf(out, UNITS_TEXT, "%lld.%0*lld", scaled / powers[decimals], decimals, scaled % powers[decimals]);
        return;
    }
    snprintf(out, UNITS_TEXT, "%lld", llround(value));
}

/* Writes `value` in the unit where the rounded number is below the next unit: "<number><gap><prefix><suffix>". */
static const char *put_scaled(char *out, double value, const struct unit *units, size_t count, const char *gap,
                              const char *suffix)
{
    if (!isfinite(value) || value < 0) {
        snprintf(out, UNITS_TEXT, "%s", value > 0 ? "inf" : "-");
        return out;
    }
    size_t at = 0;
    while (at + 1 < count && value / units[at].scale >= units[at + 1].scale / units[at].scale - 0.5)
        at++;
    char number[UNITS_TEXT];
    put_number(number, value / units[at].scale);
    snprintf(out, UNITS_TEXT, "%s%s%s%s", number, gap, units[at].name, suffix);
    return out;
}

const char *units_time(char *out, double time_ns)
{
    return put_scaled(out, time_ns, times_shown, COUNT_OF(times_shown), " ", "");
}

const char *units_bytes(char *out, double size_bytes)
{
    /* Bytes below 1000 are whole: "7 B", not "7.00 B". */
    if (size_bytes >= 0 && size_bytes < 1000 && size_bytes == floor(size_bytes)) {
        snprintf(out, UNITS_TEXT, "%d B", (int)size_bytes);
        return out;
    }
    return put_scaled(out, size_bytes, bytes_shown, COUNT_OF(bytes_shown), " ", "");
}

const char *units_rate(char *out, double per_second, const char *unit)
{
    if (!strcmp(unit, "1/s"))
        unit = "/s"; /* a count per second: "1.87 M/s" */
    return put_scaled(out, per_second, prefixes, COUNT_OF(prefixes), " ", unit);
}

const char *units_quantity(char *out, double value, const char *unit)
{
    if (!isfinite(value))
        snprintf(out, UNITS_TEXT, "-");
    else if (!strcmp(unit, "ns"))
        return units_time(out, value);
    else if (!strcmp(unit, "B/s") || !strcmp(unit, "FLOP/s") || !strcmp(unit, "OP/s") || !strcmp(unit, "1/s") ||
             !strcmp(unit, "Hz"))
        return units_rate(out, value, unit);
    else if (!strcmp(unit, "1") && value >= 1e5)
        return put_scaled(out, value, prefixes, COUNT_OF(prefixes), " ", "");
    else if (!strcmp(unit, "1"))
        snprintf(out, UNITS_TEXT, "%.4g", value);
    else
        snprintf(out, UNITS_TEXT, "%.4g %.12s", value, unit);
    return out;
}

const char *units_hz(char *out, double hz)
{
    return units_rate(out, hz, "Hz");
}

const char *units_percent(char *out, double fraction)
{
    const long long tenths = isfinite(fraction) ? llround(fabs(fraction) * 1000) : 0;
    const char *sign = fraction < 0 ? "-" : "";
    if (!isfinite(fraction))
        snprintf(out, UNITS_TEXT, "-");
    else if (!tenths)
        snprintf(out, UNITS_TEXT, fraction != 0 ? "<0.1 %%" : "0 %%");
    else if (tenths < 100 || (tenths >= 995 && tenths < 1000))
        snprintf(out, UNITS_TEXT, "%s%lld.%lld %%", sign, tenths / 10, tenths % 10);
    else
        snprintf(out, UNITS_TEXT, "%s%lld %%", sign, (tenths + 5) / 10);
    return out;
}

const char *units_change(char *out, double fraction)
{
    char words[UNITS_TEXT];
    const bool none = fabs(fraction) < 0.0005;
    snprintf(out, UNITS_TEXT, "%s%s", fraction > 0 || none ? "+" : "", none ? "0.0 %" : units_percent(words, fraction));
    return out;
}

const char *units_count(char *out, double count)
{
    const double plain_limit = 10000;
    const bool whole = count >= 0 && count == floor(count);
    for (size_t i = COUNT_OF(binary_counts); whole && i-- > 0;) {
        const double units = count / binary_counts[i].scale;
        if (units >= 1 && units < plain_limit && units == floor(units)) {
            snprintf(out, UNITS_TEXT, "%d%s", (int)units, binary_counts[i].name);
            return out;
        }
    }
    if (whole && count < plain_limit) {
        snprintf(out, UNITS_TEXT, "%d", (int)count);
        return out;
    }
    return put_scaled(out, count, prefixes, COUNT_OF(prefixes), "", "");
}
