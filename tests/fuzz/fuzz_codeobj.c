/* SPDX-License-Identifier: MIT
 *
 * Any bytes: a code object or one clear error. The first byte says what the others are, so that they get past the
 * magics: a whole file, a metadata note, the inside of a bundle, or changes to a good object.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../unit/code/codeobj_image.h"
#include "rooftile/codeobj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum shape { SHAPE_FILE, SHAPE_NOTE, SHAPE_BUNDLE, SHAPE_COMPRESSED, SHAPE_CHANGES, SHAPE_ENTRY, SHAPE_COUNT };

/* Pairs of a place and a byte over a good image. */
static unsigned char *changed(size_t *size, const uint8_t *data, size_t count, struct arena *arena)
{
    unsigned char *image = image_make(size, image_note, sizeof(image_note) - 1, 0x54c, arena);
    for (size_t k = 0; k + 3 <= count; k += 3)
        image[(data[k] | (size_t)data[k + 1] << 8) % *size] = data[k + 2];
    return image;
}

static unsigned char *behind(size_t *size, const char *magic, const uint8_t *data, size_t count, struct arena *arena)
{
    const size_t length = strlen(magic);
    unsigned char *bytes = arena_alloc(arena, length + count + 1);
    memcpy(bytes, magic, length);
    memcpy(bytes + length, data, count);
    *size = length + count;
    return bytes;
}

static const void *shaped(size_t *size, enum shape shape, const uint8_t *data, size_t count, struct arena *arena)
{
    const struct image_entry entry = {"hipv4-amdgcn-amd-amdhsa--gfx942", data, count};
    *size = count;
    switch (shape) {
    case SHAPE_NOTE:
        return image_make(size, data, count, 0x54c, arena);
    case SHAPE_BUNDLE:
        return behind(size, "__CLANG_OFFLOAD_BUNDLE__", data, count, arena);
    case SHAPE_COMPRESSED:
        return behind(size, "CCOB", data, count, arena);
    case SHAPE_CHANGES:
        return changed(size, data, count, arena);
    case SHAPE_ENTRY:
        return image_bundle(size, &entry, 1, arena);
    default:
        return data;
    }
}

/* Everything that is said to be there can be read. */
static void touch(const struct codeobj_file *file, struct arena *arena)
{
    unsigned sum = 0;
    assert(file->count > 0);
    (void)codeobj_targets(file, arena);
    (void)codeobj_for_target(file, "gfx942:sramecc+:xnack-");
    for (size_t o = 0; o < file->count; o++) {
        const struct codeobj *object = &file->objects[o];
        assert(object->target && object->features && object->id);
        sum += object->bytes[object->size_bytes - 1];
        for (size_t k = 0; k < object->kernel_count; k++) {
            const struct codeobj_kernel *kernel = &object->kernels[k];
            assert(*kernel->name && *kernel->symbol && kernel->explicit_count <= kernel->arg_count);
            assert(codeobj_kernel(object, kernel->name));
            for (size_t a = 0; a < kernel->arg_count; a++)
                assert(kernel->args[a].hidden == (a >= kernel->explicit_count));
            if (kernel->code)
                sum += kernel->code[kernel->code_bytes - 1];
        }
    }
    assert(sum < UINT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct err err = {0};
    const struct codeobj_file *file = NULL;
    if (!size)
        return 0;
    size_t length = 0;
    const void *bytes = shaped(&length, data[0] % SHAPE_COUNT, data + 1, size - 1, &arena);
    if (codeobj_parse(&file, "fuzz.co", bytes, length, &arena, &err)) {
        assert(err.status == ERR_CONFIG && strncmp(err.text, "fuzz.co: ", 9) == 0);
        assert(!file);
    } else {
        touch(file, &arena);
    }
    arena_release(&arena);
    return 0;
}
