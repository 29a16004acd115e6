/* SPDX-License-Identifier: MIT
 *
 * The memory of a walk: kernel arguments, the dispatch packet, buffers by their fills, and stored data.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

#define PAGE_BYTES (PAGE_DWORDS * 4u)
#define MOST_PAGES (1u << 18) /* 64 MiB of values; the rest is unknown */

/* ---- arguments ---- */

static void put(struct memory *memory, size_t offset, uint64_t value, size_t bytes)
{
    for (size_t k = 0; k < bytes && offset + k < sizeof(memory->kernarg); k++) {
        memory->kernarg[offset + k] = (uint8_t)(k < 8 ? value >> 8 * k : 0);
        memory->kernarg_known[offset + k] = 1;
    }
}

/* Writes the hidden arguments ("Code Object V5 Kernel Argument Metadata" of LLVM's AMDGPUUsage). */
static void put_hidden(struct memory *memory, const struct codeobj_arg *arg)
{
    static const char axes[] = "xyz";
    const struct walk_launch *launch = memory->launch;
    const char *kind = arg->value_kind, *last = strrchr(kind, '_');
    const char *axis = last && last[1] && !last[2] ? strchr(axes, last[1]) : NULL;
    const size_t at = axis ? (size_t)(axis - axes) : 0;
    if (text_starts(kind, "hidden_block_count_"))
        put(memory, arg->offset_bytes, launch->grid[at], arg->size_bytes);
    else if (text_starts(kind, "hidden_group_size_"))
        put(memory, arg->offset_bytes, launch->block[at], arg->size_bytes);
    else if (text_starts(kind, "hidden_remainder_") || text_starts(kind, "hidden_global_offset_"))
        put(memory, arg->offset_bytes, 0, arg->size_bytes);
    else if (strcmp(kind, "hidden_grid_dims") == 0)
        put(memory, arg->offset_bytes, 3, arg->size_bytes);
    else if (strcmp(kind, "hidden_dynamic_lds_size") == 0)
        put(memory, arg->offset_bytes, launch->lds_bytes, arg->size_bytes);
}

/* Reads hsa_kernel_dispatch_packet_t: sizes of the workgroup and of the grid in work-items. */
static bool read_packet(const struct walk_launch *launch, uint64_t offset, uint32_t *value)
{
    switch (offset) {
    case 4:
        *value = launch->block[0] | launch->block[1] << 16;
        return true;
    case 8:
        *value = launch->block[2];
        return true;
    case 12:
    case 16:
    case 20:
        *value = launch->grid[(offset - 12) / 4] * launch->block[(offset - 12) / 4];
        return true;
    default:
        return false;
    }
}

/* ---- pages ---- */

void memory_init(struct memory *memory, const struct walk_launch *launch, struct arena *arena)
{
    *memory = (struct memory){.launch = launch};
    memory->unknown = arena_array(arena, launch->buffer_count + 1, sizeof(*memory->unknown));
    memory->stored = arena_array(arena, launch->buffer_count + 1, sizeof(*memory->stored));
    for (size_t k = 0; k < launch->kernarg_bytes && k < sizeof(memory->kernarg); k++) {
        memory->kernarg[k] = launch->kernarg[k];
        memory->kernarg_known[k] = !launch->kernarg_known || launch->kernarg_known[k];
    }
    const struct codeobj_kernel *kernel = &launch->code->isa->code;
    for (size_t k = 0; k < kernel->arg_count; k++)
        if (kernel->args[k].hidden)
            put_hidden(memory, &kernel->args[k]);
}

bool memory_is_blank(const struct memory *memory, size_t buffer)
{
    return buffer != NO_BUFFER && !memory->stored[buffer] &&
           (memory->unknown[buffer] || !memory->launch->buffers[buffer].fill);
}

void memory_release(struct memory *memory)
{
    for (size_t k = 0; k < memory->page_count; k++)
        free(memory->pages[k]);
    free(memory->pages);
    lines_release(&memory->keys);
    memory->pages = NULL;
    memory->last = NULL;
    memory->page_count = 0;
}

/* Drops the stores of a workgroup before the next one is walked. */
void memory_forget_written(struct memory *memory)
{
    size_t kept = 0;
    lines_release(&memory->keys);
    for (size_t k = 0; k < memory->page_count; k++) {
        if (memory->pages[k]->written) {
            free(memory->pages[k]);
            continue;
        }
        (void)lines_touch(&memory->keys, memory->pages[k]->key);
        memory->pages[kept++] = memory->pages[k];
    }
    memory->page_count = kept;
    memory->last = NULL;
    memset(memory->unknown, 0, (memory->launch->buffer_count + 1) * sizeof(*memory->unknown));
    memset(memory->stored, 0, (memory->launch->buffer_count + 1) * sizeof(*memory->stored));
}

void memory_forget_buffer(struct memory *memory, size_t buffer)
{
    const struct walk_buffer *gone = &memory->launch->buffers[buffer];
    memory->unknown[buffer] = memory->stored[buffer] = true;
    for (size_t k = 0; k < memory->page_count; k++) {
        struct page *page = memory->pages[k];
        if ((page->key + 1) * PAGE_BYTES <= gone->base || page->key * PAGE_BYTES >= gone->base + gone->size_bytes)
            continue;
        page->known = 0;
        page->written = true;
    }
}

size_t memory_buffer(const struct memory *memory, uint64_t address)
{
    const struct walk_launch *launch = memory->launch;
    for (size_t k = 0; k < launch->buffer_count; k++)
        if (address - launch->buffers[k].base < launch->buffers[k].size_bytes)
            return k;
    return NO_BUFFER;
}

/* Fills in the part of a page that lies in the buffer. Buffers may begin and end inside a page. */
static void evaluate(struct page *page, const struct walk_buffer *buffer)
{
    const uint64_t from = page->key * PAGE_BYTES, bytes = dtype_bytes(buffer->fill->dtype);
    const uint64_t first = from > buffer->base ? from - buffer->base : 0;
    uint64_t last = from + PAGE_BYTES - buffer->base;
    last = last > buffer->fill->count * bytes ? buffer->fill->count * bytes : last;
    uint8_t values[PAGE_BYTES + 32];
    struct err err = {0};
    const uint64_t element = first / bytes, count = (last + bytes - 1) / bytes - element;
    if (first >= last || buffer->base % 4 || count * bytes > sizeof(values) ||
        fill_range(buffer->fill, values, element, count, &err))
        return;
    for (uint64_t at = (first + 3) / 4 * 4; at + 4 <= last; at += 4) {
        const uint64_t dword = (buffer->base + at - from) / 4;
        memcpy(&page->values[dword], values + (at - element * bytes), 4);
        page->known |= UINT64_C(1) << dword;
    }
    /* The last elements of a buffer that ends within a dword. */
    if (last % 4 && last > first) {
        const uint64_t dword = (buffer->base + last - from) / 4;
        memcpy(&page->values[dword], values + (last / 4 * 4 - element * bytes), last % 4);
        page->known |= UINT64_C(1) << dword;
    }
}

static struct page *make_page(struct memory *memory, uint64_t key)
{
    if (memory->page_count >= MOST_PAGES)
        return NULL;
    struct page *page = new_zeroed(1, sizeof(*page));
    page->key = key;
    for (size_t k = 0; k < memory->launch->buffer_count; k++) {
        const struct walk_buffer *buffer = &memory->launch->buffers[k];
        if (buffer->fill && !memory->unknown[k] && key * PAGE_BYTES + PAGE_BYTES > buffer->base &&
            key * PAGE_BYTES < buffer->base + buffer->size_bytes)
            evaluate(page, buffer);
    }
    (void)lines_touch(&memory->keys, key);
    ARRAY_PUSH(memory->pages, memory->page_count, page);
    return page;
}

static struct page *memory_page(struct memory *memory, uint64_t address)
{
    const uint64_t key = address / PAGE_BYTES;
    if (memory->last && memory->last->key == key)
        return memory->last;
    const uint32_t at = lines_find(&memory->keys, key);
    struct page *page = at ? memory->pages[at - 1] : make_page(memory, key);
    if (page)
        memory->last = page;
    return page;
}

bool memory_read(struct memory *memory, uint64_t address, uint32_t *value)
{
    *value = 0;
    if (address - KERNARG_BASE < sizeof(memory->kernarg) - 3) {
        bool known = true;
        for (unsigned k = 0; k < 4; k++) {
            *value |= (uint32_t)memory->kernarg[address - KERNARG_BASE + k] << 8 * k;
            known &= memory->kernarg_known[address - KERNARG_BASE + k];
        }
        return known;
    }
    if (address - PACKET_BASE < 64)
        return read_packet(memory->launch, address - PACKET_BASE, value);
    const struct page *page = memory_page(memory, address);
    const uint64_t dword = address % PAGE_BYTES / 4;
    if (!page || !(page->known >> dword & 1))
        return false;
    *value = page->values[dword];
    return true;
}

void memory_write(struct memory *memory, uint64_t address, uint32_t value, bool known)
{
    struct page *page = memory_page(memory, address);
    const uint64_t dword = address % PAGE_BYTES / 4, bit = UINT64_C(1) << dword;
    if (!page)
        return;
    page->written = true;
    page->values[dword] = known ? value : 0;
    page->known = known ? page->known | bit : page->known & ~bit;
}
