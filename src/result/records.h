/* SPDX-License-Identifier: MIT
 *
 * Results as JSON: the tables (records.c), one case with its samples (case_json.c), samples in a file of their own
 * (samples_file.c), and the whole document (result_json.c).
 */
#ifndef ROOFTILE_RESULT_RECORDS_H
#define ROOFTILE_RESULT_RECORDS_H

#include "rooftile/record.h"
#include "rooftile/result.h"

/* Tables of struct result (without cases, derived values and key figures), and of its derived values and key figures.
 * Keys are those of configs/schema/result.schema.json. */
extern const struct record result_record, derived_record, kpi_record;

/* Write and read the value of a derived value (derived_value.c). Members of a wrong type stay unknown. */
void derived_value_put(struct json_out *out, const char *key, const void *at);
record_get_fn derived_value_get;

/* Destination of the samples of cases. */
struct sidecar {
    const char *name;  /* NULL: no sidecar is written */
    struct text bytes; /* f64 (clocks: f32), little-endian, case after case */
    size_t inline_max; /* more samples per trial than this go to the sidecar; without a sidecar they are dropped */
};

#define SAMPLES_INLINE 512

/* Writes all members before "cases"; if `goes_on`, without the end of the object. */
void result_head_json(struct text *out, const struct result *result, bool goes_on);

void case_json(struct json_out *out, const struct result_case *result_case, struct sidecar *sidecar);
/* With a `passing` arena the samples are read into it, checked and dropped, and the clocks are not read. */
enum status case_from_json(struct result_case *out, const cJSON *json, struct arena *arena, struct arena *passing,
                           struct err *err);

/* Returns ERR_CONFIG if parts of a case contradict each other. */
enum status case_check(const struct result_case *c, const cJSON *json, struct err *err);

/* The sidecar of a result that is being read: opened once for all cases; each case reads its own parts. */
struct samples_file {
    const char *folder; /* that of the result */
    char *name;         /* the file opened last; NULL: none yet */
    int fd;             /* -1: the file does not exist */
    uint64_t size_bytes;
};
void samples_file_release(struct samples_file *file);

/* Reads and checks the samples and clocks that `json`, the case, says are in the sidecar. A missing file is no error:
 * results may be copied without their samples. */
enum status samples_file_read(struct samples_file *file, struct result_case *c, const cJSON *json, struct arena *arena,
                              struct err *err);
/* Appends samples and clocks to the sidecar and writes their location to the case. */
void samples_file_add(struct sidecar *sidecar, const struct result_case *c, struct json_out *out);

#endif
