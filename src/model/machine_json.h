/* SPDX-License-Identifier: MIT
 *
 * What the files that read and write machines share.
 */
#ifndef ROOFTILE_MACHINE_JSON_H
#define ROOFTILE_MACHINE_JSON_H

#include "rooftile/json.h"
#include "rooftile/json_out.h"
#include "rooftile/machine.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Numbers of struct machine that stand under "facts". */
#define MACHINE_FACTS 9
extern const struct machine_fact {
    const char *key;
    size_t offset;
    bool whole; /* a uint32_t, else a double */
} machine_facts[MACHINE_FACTS];

/* Unknown keys are errors, except in `open` documents. */
enum status check_keys(const struct json *json, const char *const *keys, size_t count, bool open, struct err *err);
enum status get_text(char *out, size_t size, const struct json *json, const char *key, enum json_need need,
                     struct err *err);
/* A positive number. */
enum status get_positive(double *out, const struct json *json, const char *key, struct err *err);
/* { "value": v, "source": "..." }, absent = unknown. `confidence` may be NULL: the key is then unknown. */
enum status get_sourced(double *value, char *source, size_t size, double *confidence, const struct json *parent,
                        const char *key, bool open, struct err *err);
/* "levels", "units", "latencies" and "figures". */
enum status get_lists(struct machine *machine, const struct json *json, bool open, struct err *err);

#endif
