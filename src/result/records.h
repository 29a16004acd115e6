/* SPDX-License-Identifier: MIT
 *
 * Results as JSON: the tables (records.c), one case with its samples (case_json.c), samples in a file of their own
 * (samples_file.c), and the whole document (result_json.c).
 */
#ifndef ROOFTILE_RESULT_RECORDS_H
#define ROOFTILE_RESULT_RECORDS_H

#include "rooftile/record.h"
#include "rooftile/result.h"

/* Of struct result without its cases, derived values and key figures; and of those. Keys are those of
 * configs/schema/result.schema.json. */
extern const struct record result_record, derived_record, kpi_record;

/* The value of a derived one (derived_value.c). What a file has in another form than its method's stays unknown. */
void derived_value_put(struct json_out *out, const char *key, const void *at);
record_get_fn derived_value_get;

/* Where the samples of a case go. */
struct sidecar {
    const char *name;  /* NULL: none is written */
    struct text bytes; /* f64 (clocks: f32), little-endian, case after case */
    size_t inline_max; /* more samples per trial than this go to the sidecar, or nowhere without one */
};

#define SAMPLES_INLINE 512

/* What stands before "cases", without the end of the object where that goes on. */
void result_head_json(struct text *out, const struct result *result, bool goes_on);

void case_json(struct json_out *out, const struct result_case *result_case, struct sidecar *sidecar);
/* With a `passing` arena the samples go there, are checked and dropped, and the clocks are not read. */
enum status case_from_json(struct result_case *out, const cJSON *json, struct arena *arena, struct arena *passing,
                           struct err *err);

/* ERR_CONFIG when parts of a case contradict each other. */
enum status case_check(const struct result_case *c, const cJSON *json, struct err *err);

/* The sidecar of a result that is read: opened once for all cases, and each case reads its own parts. */
struct samples_file {
    const char *folder; /* the result's */
    char *name;         /* of the file that was looked for last; NULL: none yet */
    int fd;             /* -1: it does not exist */
    uint64_t size_bytes;
};
void samples_file_release(struct samples_file *file);

/* Reads and checks the samples and clocks that `json`, the case, says are beside it. A file that does not exist is no
 * error: results travel without their samples. */
enum status samples_file_read(struct samples_file *file, struct result_case *c, const cJSON *json, struct arena *arena,
                              struct err *err);
/* Appends samples and clocks to the sidecar and says in the case where they stand. */
void samples_file_add(struct sidecar *sidecar, const struct result_case *c, struct json_out *out);

#endif
