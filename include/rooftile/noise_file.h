/* SPDX-License-Identifier: MIT
 *
 * Noise file: the noise that `rooftile aa` learned on a device, per case and per class, for compare and the gate. One
 * file per device (its fingerprint is in the name) below path_data_dir()/noise, written atomically. A damaged file, or
 * one of another device, is an error and is never silently ignored.
 */
#ifndef ROOFTILE_NOISE_FILE_H
#define ROOFTILE_NOISE_FILE_H

#include "rooftile/noise.h"
#include "rooftile/result.h"

/* configs/schema/noise.schema.json */
#define NOISE_FILE_SCHEMA "https://rooftile.dev/schemas/noise/1/noise.schema.json"

struct noise_file {
    const char *path;
    char fingerprint[65]; /* of the device and environment on which it was learned */
    const char *device, *learned_at;
    const struct noise_case *cases; /* as read: sorted by id, with id, class, sigma and trials only */
    size_t case_count;
    const struct noise_class *classes;
    size_t class_count;
};

/* Returns the path of the file for a result's device; `make` creates the data folder, for writing. */
enum status noise_file_path(const char **path, const struct result *result, bool make, struct arena *arena,
                            struct err *err);
/* Returns STATUS_OK with *file NULL if there is no such file. */
enum status noise_file_read(const struct noise_file **file, const char *path, struct arena *arena, struct err *err);
enum status noise_file_write(const struct noise_file *file, const char *path, struct err *err);

/* Adds entries that only an older file of the same device (NULL: none) has; sorts the cases. */
void noise_file_keep(struct noise_file *file, const struct noise_file *older, struct arena *arena);

/* Returns the prior of a case; members are 0 if nothing is known. */
struct shift_prior noise_file_prior(const struct noise_file *file, const struct result_case *result_case);

#endif
