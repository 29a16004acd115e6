/* SPDX-License-Identifier: MIT
 *
 * The 64-byte kernel descriptor: what the hardware is told (AMDGPUUsage, "Kernel Descriptor", compute_pgm_rsrc1 and 3).
 */
#include <string.h>

#include "codeobj_internal.h"
#include "rooftile/hash.h"

#define WGP_MODE_BIT 29 /* COMPUTE_PGM_RSRC1.ENABLE_WGP_MODE, gfx10 and later */

#define DESCRIPTOR_BYTES 64u
/* Where its fields lie. */
enum {
    AT_GROUP = 0,
    AT_PRIVATE = 4,
    AT_KERNARG = 8,
    AT_ENTRY = 16,
    AT_RSRC3 = 44,
    AT_RSRC1 = 48,
    AT_RSRC2 = 52,
    AT_PROPERTIES = 56
};
#define PROPERTY_WAVE32 (1u << 10)

/* How the hardware counts registers (LLVM AMDGPUBaseInfo.cpp: getVGPREncodingGranule, getVGPRAllocGranule). The first
 * pattern that matches: `prefix` is the start of the target's name. [0] wave 64, [1] wave 32. */
static const struct {
    const char *prefix;
    unsigned encoding[2], allocation[2];
    bool unified;
} granule_rows[] = {
    {"gfx90a", {8, 0}, {8, 0}, true},
    {"gfx94", {8, 0}, {8, 0}, true},
    {"gfx950", {8, 0}, {8, 0}, true},
    {"gfx9-4-generic", {8, 0}, {8, 0}, true},
    {"gfx9", {4, 0}, {4, 0}, false},
    {"gfx1250", {0, 16}, {0, 16}, false},
    {"gfx1251", {0, 16}, {0, 16}, false},
    {"gfx101", {4, 8}, {4, 8}, false},
    {"gfx10-1", {4, 8}, {4, 8}, false},
    {"gfx10", {4, 8}, {8, 16}, false},
    {"gfx1100", {4, 8}, {12, 24}, false},
    {"gfx1101", {4, 8}, {12, 24}, false},
    {"gfx1151", {4, 8}, {12, 24}, false},
    {"gfx12", {4, 8}, {12, 24}, false},
    {"gfx11-generic", {4, 8}, {12, 24}, false},
    {"gfx11", {4, 8}, {8, 16}, false},
};

bool codeobj_granules(struct codeobj_granules *granules, const char *target, uint32_t wave)
{
    const unsigned column = wave == 32;
    for (size_t k = 0; k < sizeof(granule_rows) / sizeof(*granule_rows); k++)
        if (strncmp(target, granule_rows[k].prefix, strlen(granule_rows[k].prefix)) == 0) {
            if (!granule_rows[k].encoding[column])
                return false;
            *granules = (struct codeobj_granules){granule_rows[k].encoding[column], granule_rows[k].allocation[column],
                                                  granule_rows[k].unified};
            return true;
        }
    return false;
}

/* On a unified file everything behind accum_offset is AGPRs; a kernel without any pads its arch part there. */
static void split_registers(struct codeobj_kernel *kernel, bool unified, bool has_acc_file)
{
    const uint32_t all = kernel->allocated_vgprs;
    kernel->arch_vgprs = all;
    if (unified) {
        kernel->accum_offset = ((kernel->rsrc3 & 0x3f) + 1) * 4;
        const bool splits = kernel->agpr_count && kernel->accum_offset < all;
        kernel->arch_vgprs = splits ? kernel->accum_offset : all;
        kernel->acc_vgprs = splits ? all - kernel->accum_offset : 0;
    } else if (has_acc_file && kernel->agpr_count) {
        kernel->acc_vgprs = all;
    }
}

static void count_registers(struct codeobj_kernel *kernel, const char *target)
{
    struct codeobj_granules granules;
    if (codeobj_granules(&granules, target, kernel->wave)) {
        kernel->encoded_vgprs = ((kernel->rsrc1 & 0x3f) + 1) * granules.encoding;
        const uint32_t short_of = kernel->encoded_vgprs % granules.allocation;
        kernel->allocated_vgprs = kernel->encoded_vgprs + (short_of ? granules.allocation - short_of : 0);
        split_registers(kernel, granules.unified, strcmp(target, "gfx908") == 0);
    }
    /* GRANULATED_WAVEFRONT_SGPR_COUNT is 2 * (blocks of 16 - 1) on gfx9 and reserved from gfx10 on. */
    if (strncmp(target, "gfx9", 4) == 0)
        kernel->encoded_sgprs = ((kernel->rsrc1 >> 6 & 0xf) / 2 + 1) * 16;
}

static void find_code(struct codeobj_kernel *kernel, const struct elf_image *image, uint64_t address)
{
    struct bytes code;
    if (!elf_image_at(&code, image, address))
        return;
    const uint64_t extent = elf_image_extent(image, address);
    if (extent && extent < code.size)
        code.size = (size_t)extent;
    kernel->code = code.data;
    kernel->code_bytes = code.size;
    kernel->code_offset = (uint64_t)(code.data - image->bytes.data);
    kernel->code_address = address;
    hash_sha256(kernel->code_sha256, code.data, code.size);
}

void descriptor_read(struct codeobj_kernel *kernel, const struct elf_image *image, const char *target)
{
    const struct elf_symbol *symbol = elf_image_symbol(image, kernel->symbol);
    struct bytes at;
    if (!symbol || !elf_image_at(&at, image, symbol->address) || at.size < DESCRIPTOR_BYTES)
        return;
    kernel->has_descriptor = true;
    kernel->descriptor_group_bytes = load_u32(at.data + AT_GROUP);
    kernel->descriptor_private_bytes = load_u32(at.data + AT_PRIVATE);
    kernel->descriptor_kernarg_bytes = load_u32(at.data + AT_KERNARG);
    kernel->rsrc1 = load_u32(at.data + AT_RSRC1);
    kernel->rsrc2 = load_u32(at.data + AT_RSRC2);
    kernel->rsrc3 = load_u32(at.data + AT_RSRC3);
    kernel->properties = load_u16(at.data + AT_PROPERTIES);
    if (!kernel->wave)
        kernel->wave = kernel->properties & PROPERTY_WAVE32 ? 32 : 64;
    count_registers(kernel, target);
    /* Unsigned arithmetic wraps as the hardware's does: the offset is signed. */
    find_code(kernel, image, symbol->address + load_u64(at.data + AT_ENTRY));
}

bool codeobj_wgp_mode(const struct codeobj_kernel *kernel)
{
    return kernel->has_descriptor ? kernel->rsrc1 >> WGP_MODE_BIT & 1 : kernel->workgroup_processor_mode;
}
