/* SPDX-License-Identifier: MIT */
#include "samples_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* O_NONBLOCK: somebody's named pipe must not hang a reader. */
static enum status open_file(struct samples_file *file, const char *name, const struct json *json, struct err *err)
{
    struct arena scratch = {0};
    struct stat facts;
    if (file->name && !strcmp(file->name, name))
        return STATUS_OK;
    if (!name[0] || strchr(name, '/'))
        return json_fail(json, err, "the samples file must stand beside the result, without a folder in its name");
    samples_file_release(file);
    file->fd = open(path_join(&scratch, file->folder, name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int cause = errno;
    arena_release(&scratch);
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

static bool read_at(int fd, void *to, size_t size_bytes, uint64_t offset)
{
    for (size_t done = 0; done < size_bytes;) {
        const ssize_t got = pread(fd, (char *)to + done, size_bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static enum status read_part(const struct samples_file *file, struct result_case *c, uint64_t offset,
                             const char *sha256, const struct json *json, struct arena *arena, struct err *err)
{
    char hex[HASH_TEXT];
    double *samples = arena_array(arena, c->sample_count + 1, sizeof(*samples));
    if (!read_at(file->fd, samples, c->sample_count * sizeof(*samples), offset))
        return json_fail(json, err, "the samples file '%s' cannot be read", file->name);
    hash_sha256(hex, samples, c->sample_count * sizeof(*samples));
    if (strcmp(hex, sha256) != 0)
        return json_fail(json, err, "the samples file is not the one that belongs to this result (its sha256 differs)");
    for (size_t k = 0; k < c->sample_count; k++)
        if (!isfinite(samples[k]) || samples[k] <= 0)
            return json_fail(json, err, "sample %zu in the samples file is not a time above 0", k);
    c->samples_ns = samples;
    return STATUS_OK;
}

enum status samples_file_read(struct samples_file *file, struct result_case *c, const struct json *json,
                              struct arena *arena, struct err *err)
{
    uint64_t offset = 0, count = 0;
    const char *name = "", *type = "", *sha256 = "";
    enum status status = json_get_string(&name, json, "path", JSON_REQUIRED, err);
    if (!status)
        status = json_get_string(&type, json, "dtype", JSON_REQUIRED, err);
    if (!status)
        status = json_get_u64(&offset, json, "offset_bytes", JSON_OPTIONAL, err);
    if (!status)
        status = json_get_u64(&count, json, "count", JSON_REQUIRED, err);
    if (!status)
        status = json_get_string(&sha256, json, "sha256", JSON_REQUIRED, err);
    if (status)
        return status;
    if (strcmp(type, "f64") != 0)
        return json_fail(json_member(json, "dtype"), err, "samples are f64, not '%s'", type);
    if (count != c->sample_count)
        return json_fail(json_member(json, "count"), err, "must be measurement.n = %zu", c->sample_count);
    status = open_file(file, name, json, err);
    if (status || file->fd < 0)
        return status;
    if (offset > file->size_bytes || count > (file->size_bytes - offset) / sizeof(double))
        return json_fail(json, err, "the samples file has %.0f bytes, not %.0f samples at %.0f",
                         (double)file->size_bytes, (double)count, (double)offset);
    return read_part(file, c, offset, sha256, json, arena, err);
}
