/* SPDX-License-Identifier: MIT
 *
 * The sidecar of a result: `samples_file` of a case locates its times, `samples_hz_file` its clocks.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples files are little-endian");

void samples_file_release(struct samples_file *file)
{
    if (file->name && file->fd >= 0)
        close(file->fd);
    free(file->name);
    *file = (struct samples_file){.folder = file->folder};
}

/* O_NONBLOCK: a named pipe must not block a reader. */
static enum status open_file(struct samples_file *file, const char *name, const cJSON *json, struct err *err)
{
    SCOPED(arena_release) struct arena scratch = {0};
    struct stat facts;
    if (file->name && !strcmp(file->name, name))
        return STATUS_OK;
    if (!name[0] || strchr(name, '/'))
        return json_fail(json, err, "the samples file must stand beside the result, without a folder in its name");
    samples_file_release(file);
    file->fd = open(path_join(&scratch, file->folder, name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int cause = errno;
    if (file->fd < 0 && cause != ENOENT)
        return json_fail(json, err, "the samples file '%s' cannot be read: %s", name, strerror(cause));
    file->name = strdup(name);
    if (!file->name)
        arena_out_of_memory(strlen(name));
    if (file->fd < 0)
        return STATUS_OK;
    if (fstat(file->fd, &facts) || !S_ISREG(facts.st_mode))
        return json_fail(json, err, "the samples file '%s' is not a regular file", name);
    file->size_bytes = (uint64_t)facts.st_size;
    return STATUS_OK;
}

/* One array of one case and its location. */
struct part {
    const char *key, *type;
    size_t width;
    const char *path, *dtype, *sha256;
    uint64_t offset_bytes, count;
};

#define RECORD_STRUCT struct part
static const struct record_field part_fields[] = {
    FIELD_STRING("path", path, RECORD_REQUIRED),     FIELD_STRING("dtype", dtype, RECORD_REQUIRED),
    FIELD_U64("offset_bytes", offset_bytes),         FIELD_U64("count", count, RECORD_REQUIRED),
    FIELD_STRING("sha256", sha256, RECORD_REQUIRED),
};
static const struct record part_record = {RECORD_TABLE(part_fields)};
#undef RECORD_STRUCT

static const struct part times = {.key = "samples_file", .type = "f64", .width = sizeof(double)};
static const struct part clocks = {.key = "samples_hz_file", .type = "f32", .width = sizeof(float)};

/* ---- writing ---- */

static void add_part(struct sidecar *sidecar, struct part part, const void *values, size_t count, struct json_out *out)
{
    char hex[HASH_TEXT];
    hash_sha256(hex, values, count * part.width);
    part.path = sidecar->name;
    part.dtype = part.type;
    part.offset_bytes = sidecar->bytes.length;
    part.count = count;
    part.sha256 = hex;
    json_out_object(out, part.key);
    record_put(out, &part_record, &part);
    json_out_end(out);
    text_addn(&sidecar->bytes, values, count * part.width);
}

void samples_file_add(struct sidecar *sidecar, const struct result_case *c, struct json_out *out)
{
    add_part(sidecar, times, c->samples_ns, c->sample_count, out);
    if (c->sample_hz)
        add_part(sidecar, clocks, c->sample_hz, c->sample_count, out);
}

/* ---- reading ---- */

/* *values stays NULL if the member or the file is missing. */
static enum status read_part(void **values, struct samples_file *file, const struct result_case *c, struct part part,
                             const cJSON *parent, struct arena *arena, struct err *err)
{
    const cJSON *json = json_member(parent, part.key);
    if (!cJSON_IsObject(json))
        return STATUS_OK;
    if (record_get(&part, &part_record, json, false, arena, err))
        return err->status;
    if (strcmp(part.dtype, part.type) != 0)
        return json_fail(json_member(json, "dtype"), err, "must be %s, not '%s'", part.type, part.dtype);
    if (part.count != c->sample_count)
        return json_fail(json_member(json, "count"), err, "must be measurement.n = %zu", c->sample_count);
    enum status status = open_file(file, part.path, json, err);
    if (status || file->fd < 0)
        return status;
    if (part.offset_bytes > file->size_bytes || part.count > (file->size_bytes - part.offset_bytes) / part.width)
        return json_fail(json, err, "the samples file has %.0f bytes, not %.0f samples at %.0f",
                         (double)file->size_bytes, (double)part.count, (double)part.offset_bytes);
    void *read = arena_array(arena, c->sample_count + 1, part.width);
    if (fd_read_at(file->fd, read, c->sample_count * part.width, part.offset_bytes) < c->sample_count * part.width)
        return json_fail(json, err, "the samples file '%s' cannot be read", file->name);
    char hex[HASH_TEXT];
    hash_sha256(hex, read, c->sample_count * part.width);
    if (strcmp(hex, part.sha256) != 0)
        return json_fail(json, err, "the samples file is not the one that belongs to this result (its sha256 differs)");
    *values = read;
    return STATUS_OK;
}

enum status samples_file_read(struct samples_file *file, struct result_case *c, const cJSON *json, struct arena *arena,
                              struct err *err)
{
    void *samples = NULL, *hz = NULL;
    if (read_part(&samples, file, c, times, json, arena, err) || read_part(&hz, file, c, clocks, json, arena, err))
        return err->status;
    for (size_t k = 0; samples && k < c->sample_count; k++)
        if (!isfinite(((const double *)samples)[k]) || ((const double *)samples)[k] <= 0)
            return json_fail(json_member(json, times.key), err, "sample %zu in the samples file is not a time above 0",
                             k);
    if (samples)
        c->samples_ns = samples;
    if (hz)
        c->sample_hz = hz;
    return STATUS_OK;
}
