/* SPDX-License-Identifier: MIT */
#include "report_internal.h"

enum status report_json(struct text *out, const struct result *result, const struct report_options *options,
                        struct err *err)
{
    (void)options;
    (void)err;
    result_document(out, result);
    return STATUS_OK;
}

enum status report_jsonl(struct text *out, const struct result *result, const struct report_options *options,
                         struct err *err)
{
    (void)options;
    (void)err;
    text_addf(out, "{\"event\":\"start\",\"predicted\":%s,\"cases\":%zu}\n", result->predicted ? "true" : "false",
              result->case_count);
    for (size_t k = 0; k < result->case_count; k++) {
        text_add(out, "{\"event\":\"case\",\"case\":");
        result_case_json(out, &result->cases[k]);
        text_add(out, "}\n");
    }
    for (size_t k = 0; k < result->kpi_count; k++) {
        text_add(out, "{\"event\":\"kpi\",\"kpi\":");
        result_kpi_json(out, &result->kpis[k]);
        text_add(out, "}\n");
    }
    text_addf(out, "{\"event\":\"end\",\"status\":\"%s\",\"cases\":%zu}\n",
              result->status ? result->status : "complete", result->case_count);
    return STATUS_OK;
}
