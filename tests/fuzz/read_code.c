/* SPDX-License-Identifier: MIT
 *
 * Readers of compiled code: code objects, and the disassembler's text of AMD and NVIDIA GPUs.
 */
#include <stdint.h>
#include <string.h>

#include "../unit/code/codeobj_image.h"
#include "fuzz.h"
#include "rooftile/codeobj.h"
#include "rooftile/isa.h"
#include "rooftile/walk.h"

/* ---- code objects ---- */

/* A file as it is; or behind a digit that says what it is, so that it gets past the magics: a metadata note, the inside
 * of a bundle, changes to a good object, or its table of source lines. */
enum shape {
    SHAPE_FILE,
    SHAPE_NOTE,
    SHAPE_BUNDLE,
    SHAPE_COMPRESSED,
    SHAPE_CHANGES,
    SHAPE_ENTRY,
    SHAPE_LINES,
    SHAPE_COUNT
};

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
    case SHAPE_LINES:
        return image_lines(size, data, count, arena);
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
    must(file->count > 0);
    (void)codeobj_targets(file, arena);
    (void)codeobj_for_target(file, "gfx942:sramecc+:xnack-");
    for (size_t o = 0; o < file->count; o++) {
        const struct codeobj *object = &file->objects[o];
        must(object->target && object->features && object->id);
        sum += object->bytes[object->size_bytes - 1];
        isa_lines_read(&(struct isa){0}, object, arena);
        for (size_t f = 0; f < object->function_count; f++)
            must(object->functions[f].name && (!f || object->functions[f].address > object->functions[f - 1].address));
        for (size_t k = 0; k < object->kernel_count; k++) {
            const struct codeobj_kernel *kernel = &object->kernels[k];
            must(*kernel->name && *kernel->symbol && kernel->explicit_count <= kernel->arg_count);
            must(codeobj_kernel(object, kernel->name));
            for (size_t a = 0; a < kernel->arg_count; a++)
                must(kernel->args[a].hidden == (a >= kernel->explicit_count));
            if (kernel->code)
                sum += kernel->code[kernel->code_bytes - 1];
        }
    }
    must(sum < UINT32_MAX);
}

bool fuzz_codeobj(const char *text, size_t length, struct arena *arena)
{
    const struct codeobj_file *file = NULL;
    struct err err = {0};
    size_t size = 0;
    const size_t skip = *text > '0' && *text < '0' + SHAPE_COUNT;
    const enum shape shape = skip ? (enum shape)(*text - '0') : SHAPE_FILE;
    const void *bytes = shaped(&size, shape, (const uint8_t *)text + skip, length - skip, arena);
    if (codeobj_parse(&file, "fuzz.co", bytes, size, arena, &err)) {
        must(err.status == ERR_CONFIG && strncmp(err.text, "fuzz.co: ", 9) == 0);
        must(!file);
        return false;
    }
    touch(file, arena);
    return true;
}

/* ---- disassembly: instructions with sums that agree, or one sentence ---- */

static void check_sums(const struct isa_kernel *kernel)
{
    uint64_t instructions = 0;
    for (unsigned kind = 0; kind < ISA_KINDS; kind++)
        instructions += kernel->mix.count[kind];
    must(instructions == kernel->instruction_count && kernel->mix.instructions == instructions);
    for (size_t i = 0; i < kernel->loop_count; i++)
        must(kernel->loops[i].first_address <= kernel->loops[i].last_address &&
             kernel->loops[i].own.instructions <= kernel->loops[i].inclusive.instructions);
}

/* `kernels`: one that is the whole text, or that and a part of it, which may not be there. */
static bool listing(const char *target, const char *text, size_t kernels, struct arena *arena)
{
    const struct codeobj_kernel symbols[] = {{.name = "all", .code_bytes = UINT64_MAX, .private_segment_bytes = 16},
                                             {.name = "some", .code_address = 0x1000, .code_bytes = 0x100, .wave = 64}};
    struct err err = {0};
    struct isa isa = {0};
    struct text out = {0};
    const enum status status =
        isa_parse(&isa, &(struct codeobj){.target = target}, text, symbols, kernels, arena, &err);
    must(status ? *err.text != '\0' : isa.kernel_count > 0);
    for (size_t k = 0; !status && k < isa.kernel_count; k++) {
        check_sums(&isa.kernels[k]);
        isa_print(&out, &isa.kernels[k]);
    }
    text_release(&out);
    return !status;
}

static bool listings(const char *target, const char *text, struct arena *arena)
{
    listing(target, text, 2, arena);
    return listing(target, text, 1, arena);
}

bool fuzz_isa(const char *text, size_t length, struct arena *arena)
{
    static const char *const targets[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"};
    return listings(targets[length % 5], text, arena);
}

bool fuzz_sass(const char *text, size_t length, struct arena *arena)
{
    static const char *const targets[] = {"sm_80", "sm_90a", "sm_100a", "sm_120a"};
    return listings(targets[length % 4], text, arena);
}

/* ---- the walk: whatever the instructions are, it ends within its budget ---- */

static bool walks(const char *target, const char *text, uint32_t wave, struct arena *arena)
{
    const struct codeobj_kernel kernel = {.name = "all",
                                          .code_bytes = UINT64_MAX,
                                          .wave = wave,
                                          .properties = 8,
                                          .user_sgprs = 2,
                                          .workgroup_ids = 7,
                                          .group_segment_bytes = 4096};
    const struct walk_options options = {
        .clocks = walk_clocks_usual, .line_bytes = 128, .l1_lines = 16, .l2_lines = 64, .dies = 2, .budget = 5000};
    static const uint8_t kernarg[64] = {0, 0, 0, 0, 0, 1};
    const struct walk_buffer buffer = {.base = UINT64_C(1) << 40, .size_bytes = 4096};
    struct err err = {0};
    struct isa isa = {0};
    struct walk_result result;
    if (isa_parse(&isa, &(struct codeobj){.target = target}, text, &kernel, 1, arena, &err))
        return false;
    const struct walk_launch launch = {.code = walk_decode(&isa.kernels[0], target, arena),
                                       .code_object = &isa.kernels[0],
                                       .target = target,
                                       .grid = {8, 4, 1},
                                       .block = {64, 2, 1},
                                       .kernarg = kernarg,
                                       .kernarg_bytes = sizeof(kernarg),
                                       .buffers = &buffer,
                                       .buffer_count = 1};
    must(!walk_run(&result, &launch, &options, arena, &err));
    must(result.sums.instructions >= 0 && result.clocks >= 0 && result.sums.waves == (wave == 32 ? 4 : 2));
    return true;
}

bool fuzz_walk(const char *text, size_t length, struct arena *arena)
{
    static const char *const targets[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"};
    const char *target = targets[length % 5];
    return walks(target, text, length % 5 > 2 ? 32 : 64, arena);
}
