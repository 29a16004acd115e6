/* SPDX-License-Identifier: MIT
 *
 * The tables of fields of a result: which member of the JSON is which member of the structs. Keys and their order are
 * those of configs/schema/result.schema.json.
 */
#ifndef ROOFTILE_RESULT_CASE_FIELDS_H
#define ROOFTILE_RESULT_CASE_FIELDS_H

#include "fields.h"
#include "rooftile/result.h"

struct field_group {
    const char *key; /* NULL: members of the case itself */
    const struct field *fields;
    size_t count;
};

/* Groups of struct result_case that are plain tables; and of struct result. */
extern const struct field_group group_measurement, group_stats, group_throughput, group_roofline, group_prediction,
    group_verification, group_case_ext, group_verification_ext, group_sense; /* the last: of struct device_sense */
extern const struct field_group group_tool, group_run, group_run_end, group_host, group_gpu, group_software,
    group_calibration, group_device,
    group_part; /* group_gpu and group_device: of struct device_info; calibration, part: of those */

void group_write(struct json_out *out, const struct field_group *group, const void *base);
/* Reads the group's object below `parent` (absent: nothing known), or `parent` itself when the group has no key. */
enum status group_read(void *base, const struct field_group *group, const struct json *parent, struct arena *arena,
                       struct err *err);

/* The JSON of the parts that are not tables. `samples` says where the samples of a case go. */
struct sidecar {
    const char *name;  /* NULL: none is written */
    struct text bytes; /* f64 (clocks: f32), little-endian, case after case */
    bool with_samples; /* false: no samples at all */
    size_t inline_max; /* more samples per trial than this go to the sidecar, or nowhere without one */
};
void case_json(struct json_out *out, const struct result_case *result_case, struct sidecar *sidecar);
/* With a `passing` arena the samples go there, are only looked at and forgotten, and the clocks are not read. */
enum status case_from_json(struct result_case *out, const struct json *json, struct arena *arena, struct arena *passing,
                           struct err *err);

/* case_parts.c: `json` is the case, `measurement` its object of that name. */
void case_put_code(struct json_out *out, const struct result_case *c);
void case_put_telemetry(struct json_out *out, const struct result_case *c);
void case_put_clock(struct json_out *out, const struct result_case *c);
void case_put_trials(struct json_out *out, const struct result_case *c);
void case_put_flags(struct json_out *out, uint32_t flags);
enum status case_get_code(struct result_case *c, const struct json *json, struct arena *arena, struct err *err);
enum status case_get_telemetry(struct result_case *c, const struct json *json, struct arena *arena, struct err *err);
enum status case_get_clock(struct result_case *c, const struct json *measurement, struct arena *arena, struct err *err);
enum status case_get_trials(struct result_case *c, const struct json *json, struct arena *arena, struct err *err);
enum status case_get_flags(uint32_t *flags, const struct json *object, struct err *err);

/* ERR_CONFIG when parts of a case contradict each other. */
enum status case_check(const struct result_case *c, const struct json *json, struct err *err);

/* The key figures. */
void kpis_add(struct text *text, const struct result *result);
enum status kpis_read(struct result *result, const struct json *root, struct arena *arena, struct err *err);

/* The whole document. */
void result_json(struct text *text, const struct result *result, struct sidecar *sidecar);

#define SAMPLES_INLINE 512

#endif
