/* SPDX-License-Identifier: MIT
 *
 * Samples beside a result: `samples_file` of a case says where they stand, and `samples_hz_file` their clocks. The file
 * is opened once for all cases, and each case reads its own parts.
 */
#ifndef ROOFTILE_RESULT_SAMPLES_FILE_H
#define ROOFTILE_RESULT_SAMPLES_FILE_H

#include <stdint.h>

#include "rooftile/result.h"

struct samples_file {
    const char *folder; /* the result's */
    char *name;         /* of the file that was looked for last; NULL: none yet */
    int fd;             /* -1: it does not exist */
    uint64_t size_bytes;
};

void samples_file_release(struct samples_file *file);

/* Reads and checks the samples and clocks that `json`, the case, says are beside it. A file that does not exist is no
 * error: results travel without their samples. */
enum status samples_file_read(struct samples_file *file, struct result_case *c, const struct json *json,
                              struct arena *arena, struct err *err);

#endif
