/* SPDX-License-Identifier: MIT
 *
 * Clang offload bundles ("ClangOffloadBundler" in clang's documentation), plain and compressed with zlib or zstd:
 *     "__CLANG_OFFLOAD_BUNDLE__" u64 count { u64 offset, u64 size, u64 id length, id } ...     offsets from its start
 *     "CCOB" u16 version u16 method { version 1: u32 size | 2: u32 file size, u32 size | 3: u64 file size, u64 size }
 *         u64 hash
 */
#include <zlib.h>
#include <zstd.h>

#include "codeobj_internal.h"

#define PLAIN_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define PLAIN_HEADER_BYTES 32u
#define ENTRY_HEADER_BYTES 24u
#define COMPRESSED_MAGIC "CCOB"
/* One entry for each target and translation unit; the largest libraries have some tens. */
#define MAX_ENTRIES 4096u
#define MAX_BUNDLES 65536u

bool bundle_is_plain(struct bytes bytes)
{
    return bytes_start(bytes, PLAIN_MAGIC);
}

bool bundle_is_compressed(struct bytes bytes)
{
    return bytes_start(bytes, COMPRESSED_MAGIC);
}

/* ---- plain ---- */

/* Reads the entry at *at and advances; *end grows to the end of the bundle's bytes. */
static enum status read_entry(struct codeobj_list *list, struct bytes bytes, uint64_t *at, uint64_t *end,
                              struct err *err)
{
    struct bytes header, name, part;
    const char *id = NULL;
    if (!bytes_part(&header, bytes, *at, ENTRY_HEADER_BYTES) ||
        !bytes_part(&name, bytes, *at + ENTRY_HEADER_BYTES, load_u64(header.data + 16)))
        return err_set(err, ERR_CONFIG, "truncated offload bundle: the table of entries ends after %zu bytes",
                       bytes.size);
    enum status status =
        codeobj_string(&id, (const char *)name.data, name.size, "a bundle entry's id", list->arena, err);
    if (status)
        return status;
    const uint64_t offset = load_u64(header.data), size = load_u64(header.data + 8);
    if (!bytes_part(&part, bytes, offset, size))
        return err_set(err, ERR_CONFIG,
                       "truncated offload bundle: entry '%s' needs %llu bytes from offset %llu, there are %zu", id,
                       (unsigned long long)size, (unsigned long long)offset, bytes.size);
    *at += ENTRY_HEADER_BYTES + name.size;
    *end = offset + size > *end ? offset + size : *end;
    /* An ELF image, unless it is compiled later (SPIR-V, bitcode) or empty. */
    if (strstr(id, "amdgcn-amd-amdhsa") && part.size && !bytes_start(part, "BC\xC0\xDE"))
        return list_add_object(list, part, id, err);
    ARENA_PUSH(list->arena, list->others, list->other_count, (struct codeobj_other){id, size});
    return STATUS_OK;
}

static enum status read_plain(struct codeobj_list *list, struct bytes bytes, uint64_t *used, struct err *err)
{
    if (bytes.size < PLAIN_HEADER_BYTES)
        return err_set(err, ERR_CONFIG, "truncated offload bundle: %zu bytes", bytes.size);
    const uint64_t count = load_u64(bytes.data + strlen(PLAIN_MAGIC));
    if (count > MAX_ENTRIES)
        return err_set(err, ERR_CONFIG, "damaged offload bundle: it claims %llu entries", (unsigned long long)count);
    uint64_t at = PLAIN_HEADER_BYTES, end = PLAIN_HEADER_BYTES;
    enum status status = STATUS_OK;
    for (uint64_t k = 0; k < count && !status; k++)
        status = read_entry(list, bytes, &at, &end, err);
    *used = at > end ? at : end;
    return status;
}

/* ---- compressed ---- */

enum method { METHOD_ZLIB, METHOD_ZSTD };

struct compressed {
    unsigned version, method;
    size_t header_bytes;
    uint64_t file_bytes; /* header and payload; 0: unknown, in version 1 */
    uint64_t plain_bytes;
};

static enum status read_header(struct compressed *header, struct bytes bytes, struct err *err)
{
    static const size_t sizes[] = {0, 20, 24, 32};
    const unsigned version = bytes.size >= 8 ? load_u16(bytes.data + 4) : 0;
    if (bytes.size < 8)
        return err_set(err, ERR_CONFIG, "truncated compressed bundle: %zu bytes", bytes.size);
    if (version < 1 || version > 3)
        return err_set(err, ERR_CONFIG, "compressed bundle of version %u (known: 1, 2, 3)", version);
    if (bytes.size < sizes[version])
        return err_set(err, ERR_CONFIG, "truncated compressed bundle: %zu bytes", bytes.size);
    *header =
        (struct compressed){.version = version, .method = load_u16(bytes.data + 6), .header_bytes = sizes[version]};
    const unsigned char *sizes_at = bytes.data + 8;
    header->file_bytes = version == 3 ? load_u64(sizes_at) : version == 2 ? load_u32(sizes_at) : 0;
    header->plain_bytes = version == 3 ? load_u64(sizes_at + 8) : load_u32(sizes_at + (version == 2 ? 4 : 0));
    if (header->method > METHOD_ZSTD)
        return err_set(err, ERR_CONFIG, "compressed bundle: unknown compression method %u (known: 0 zlib, 1 zstd)",
                       header->method);
    if (header->version > 1 && (header->file_bytes > bytes.size || header->file_bytes < header->header_bytes))
        return err_set(err, ERR_CONFIG, "truncated compressed bundle: it claims %llu bytes, there are %zu",
                       (unsigned long long)header->file_bytes, bytes.size);
    if (header->plain_bytes > CODEOBJ_LIMIT_BYTES)
        return err_set(err, ERR_CONFIG, "compressed bundle: %llu bytes when decompressed, more than the limit of %u",
                       (unsigned long long)header->plain_bytes, CODEOBJ_LIMIT_BYTES);
    return STATUS_OK;
}

static const char *inflate_zlib(unsigned char *out, size_t size, struct bytes payload, size_t *used)
{
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)payload.data,
                       .avail_in = (unsigned)(payload.size < UINT32_MAX ? payload.size : UINT32_MAX),
                       .next_out = out,
                       .avail_out = (unsigned)size};
    if (inflateInit(&stream) != Z_OK)
        return "zlib does not start";
    const int code = inflate(&stream, Z_FINISH);
    const char *problem = code != Z_STREAM_END || stream.total_out != size ? "damaged or truncated zlib data" : NULL;
    *used = stream.total_in;
    inflateEnd(&stream);
    return problem;
}

static const char *inflate_zstd(unsigned char *out, size_t size, struct bytes payload, size_t *used)
{
    const size_t frame = ZSTD_findFrameCompressedSize(payload.data, payload.size);
    if (ZSTD_isError(frame))
        return "damaged or truncated zstd data";
    const size_t got = ZSTD_decompress(out, size, payload.data, frame);
    *used = frame;
    return ZSTD_isError(got) || got != size ? "damaged or truncated zstd data" : NULL;
}

/* Decompresses into separate memory first, because a claimed size must not be charged to the arena. */
static enum status decompress(struct bytes *plain, struct bytes payload, const struct compressed *header, size_t *used,
                              struct arena *arena, struct err *err)
{
    const size_t size = (size_t)header->plain_bytes;
    unsigned char *out = malloc(size + 1);
    if (!out)
        arena_out_of_memory(size);
    const char *problem =
        header->method == METHOD_ZLIB ? inflate_zlib(out, size, payload, used) : inflate_zstd(out, size, payload, used);
    if (!problem)
        *plain = (struct bytes){arena_copy(arena, out, size), size};
    free(out);
    return problem ? err_set(err, ERR_CONFIG, "compressed bundle: %s", problem) : STATUS_OK;
}

static enum status read_compressed(struct codeobj_list *list, struct bytes bytes, uint64_t *used, struct err *err)
{
    struct compressed header = {0};
    struct bytes payload, plain;
    uint64_t ignored;
    size_t taken = 0;
    if (read_header(&header, bytes, err))
        return err->status;
    const uint64_t whole = header.file_bytes ? header.file_bytes : bytes.size;
    if (!bytes_part(&payload, bytes, header.header_bytes, whole - header.header_bytes))
        return err_set(err, ERR_CONFIG, "truncated compressed bundle: %zu bytes", bytes.size);
    if (decompress(&plain, payload, &header, &taken, list->arena, err))
        return err->status;
    *used = header.file_bytes ? header.file_bytes : header.header_bytes + taken;
    if (!bundle_is_plain(plain))
        return err_set(err, ERR_CONFIG, "compressed bundle: what it holds is no offload bundle");
    return read_plain(list, plain, &ignored, err);
}

/* ---- consecutive bundles ---- */

enum status bundle_walk(struct codeobj_list *list, struct bytes bytes, struct err *err)
{
    uint64_t at = 0;
    while (at < bytes.size) {
        const struct bytes rest = {bytes.data + at, bytes.size - (size_t)at};
        uint64_t used = 0;
        enum status status;
        if (bundle_is_plain(rest))
            status = read_plain(list, rest, &used, err);
        else if (bundle_is_compressed(rest))
            status = read_compressed(list, rest, &used, err);
        else
            return list->bundle_count ? STATUS_OK
                                      : err_set(err, ERR_CONFIG, "not a code object: no offload bundle inside");
        if (status)
            return status;
        if (++list->bundle_count > MAX_BUNDLES)
            return err_set(err, ERR_CONFIG, "more than %u offload bundles", MAX_BUNDLES);
        /* The linker aligns each to 4096 bytes, padded with zeros. */
        for (at += used; at < bytes.size && !bytes.data[at];)
            at++;
    }
    return STATUS_OK;
}
