/* SPDX-License-Identifier: MIT
 *
 * Errors: a status returned, and one sentence that says the exact cause.
 *
 * The first function that knows the cause writes it with err_set(); the functions above it add only *where*, with
 * err_within(). Sentences are lower case, without a full stop, and state facts, not guesses. A function that fails
 * leaves its outputs untouched. A case that fails to build, run or verify is not an error in this sense: it is data in
 * the result.
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
    ERR_DEVICE,        /* the device refused an operation; data of its case */
    ERR_DEVICE_MEMORY, /* the device has not enough memory; data of its case */
    ERR_DEVICE_LOST,   /* no device, or it is gone; exit 3 */
    ERR_TIMEOUT,       /* the watchdog ended it; data of its case */
    ERR_UNSUPPORTED,   /* this device or compiler cannot do it: a skip with a reason */
    ERR_INTERRUPTED,   /* Ctrl-C; exit 130 after a valid partial result */
};

/* Zero-initialised by its owner ({0}); `text` is always terminated and cut at its end with "..." when too long. */
struct err {
    enum status status;
    char text[6000];
};

/* Records the cause (replacing what was there) and returns `status`. */
enum status err_set(struct err *err, enum status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "<where>: " before the recorded text and returns the recorded status. */
enum status err_within(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The error for filters (at least one) that no case matches. */
enum status err_no_match(struct err *err, const char *const *filters, size_t count);
/* Appends "; did you mean '<the nearest>'?" to the recorded text if a candidate is near to `word` (text_nearest), else
 * "; <otherwise>" unless that is NULL, and returns the recorded status. */
enum status err_nearest(struct err *err, const char *word, const char *const *candidates, size_t count,
                        const char *otherwise);

/* The process exit code that a status asks for: 0, 2, 3 or 130 (1 and 4 are findings, never errors). */
int err_exit_code(enum status status);

#endif
