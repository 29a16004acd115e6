/* SPDX-License-Identifier: MIT
 *
 * Errors: a returned status, and one sentence that states the exact cause.
 *
 * The first function that knows the cause records it with err_set(); its callers add only *where*, with err_within().
 * Sentences are lower case, without a full stop, and state facts, not guesses. A function that fails leaves its outputs
 * untouched. A case that fails to build, run or verify is not an error in this sense: it is data in the result.
 */
#ifndef ROOFTILE_ERR_H
#define ROOFTILE_ERR_H

#include <stddef.h>

enum status {
    STATUS_OK,
    ERR_USAGE,         /* the command line is wrong; exit 2 */
    ERR_CONFIG,        /* a suite, manifest, machine or result file is wrong; exit 2 */
    ERR_IO,            /* a file or pipe could not be read or written; exit 3 */
    ERR_BUILD,         /* a kernel did not compile; data of its case */
    ERR_DEVICE,        /* the device rejected an operation; data of its case */
    ERR_DEVICE_MEMORY, /* the device has too little memory; data of its case */
    ERR_DEVICE_LOST,   /* the device is missing or lost; exit 3 */
    ERR_TIMEOUT,       /* the watchdog ended the case; data of its case */
    ERR_UNSUPPORTED,   /* this device or compiler lacks support: a skip with a reason */
    ERR_INTERRUPTED,   /* Ctrl-C; exit 130 after a valid partial result */
};

/* Zero-initialised by its owner ({0}); `text` is always terminated, and a longer one is truncated with "...". */
struct err {
    enum status status;
    char text[6000];
};

/* Records the cause, replacing an earlier one, and returns `status`. */
enum status err_set(struct err *err, enum status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Prepends "<where>: " to the recorded text and returns the recorded status. */
enum status err_within(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Records the error for filters (at least one) that match no case. */
enum status err_no_match(struct err *err, const char *const *filters, size_t count);
/* Appends "; did you mean '<the nearest>'?" to the recorded text if a candidate is near `word` (text_nearest), else ";
 * <otherwise>" unless that is NULL, and returns the recorded status. */
enum status err_nearest(struct err *err, const char *word, const char *const *candidates, size_t count,
                        const char *otherwise);

/* Returns the process exit code for a status: 0, 2, 3 or 130 (1 and 4 are findings, never errors). */
int err_exit_code(enum status status);

#endif
