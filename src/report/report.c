/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "report_internal.h"

const struct report_format report_formats[] = {
    {"table", "for people: one row per case, then the roofline", report_table},
    {"csv", "one row per case, base units, RFC 4180", report_csv},
    {"json", "the result itself, as `run --out` writes it", report_json},
    {"jsonl", "one event per line", report_jsonl},
    {"markdown", "a summary that fits a pull request's comment", report_markdown},
    {"junit", "JUnit XML: a case is a test, a finding is a failure", report_junit},
    {"openmetrics", "for Prometheus' textfile collector", report_openmetrics},
    {"google-benchmark", "google/benchmark's JSON: a trial is a repetition", report_google_benchmark},
    {"bmf", "Bencher Metric Format", report_bmf},
    {"github-action-benchmark", "customSmallerIsBetter: times, and key figures that should fall", report_gha_smaller},
    {"github-action-benchmark-bigger", "customBiggerIsBetter: rates, and key figures that should rise",
     report_gha_bigger},
    {NULL, NULL, NULL},
};

const struct report_format *report_format_find(const char *name)
{
    for (const struct report_format *format = report_formats; format->name; format++)
        if (!strcmp(format->name, name))
            return format;
    return NULL;
}
