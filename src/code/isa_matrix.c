/* SPDX-License-Identifier: MIT
 *
 * Work and time of matrix instructions: the work is in the name, the time follows from the rate of the matrix unit.
 */

#include "isa_internal.h"

/* Operations per clock of one SIMD's matrix unit; the first matching row applies; without one the rate is unknown.
 *
 * AMD, sources: gfx908, gfx90a, gfx942, gfx11 and gfx12 (wave32) from ROCm/amd_matrix_instruction_calculator at
 * 2ef91896; gfx950 from LLVM's SISchedule.td and AMD's "Matrix Core Programming on CDNA3 and CDNA4". gfx950 runs
 * gfx942's shapes at their rate, but halved f64 and dropped xf32. bf8 and fp8 have one rate.
 *
 * NVIDIA: one of an SM's four tensor cores, without sparsity, which doubles it: the rate of the whole chip (A100 and
 * H100 data sheets, at 1.41 and 1.83 GHz) over SMs, partitions and clock. Instructions with a lower rate by design
 * (mma.sync on sm_90 and later) or one that depends on the product (GeForce) are omitted. */
static const struct {
    const char *target, *name; /* patterns */
    uint32_t rate;
} rates[] = {
    /* CDNA 1 and 2 */
    {"gfx9*", "v_mfma_f32_*[0-9_]f32", 64},
    {"gfx9[04-]*", "v_mfma_f64_16x16x4*", 64},
    {"gfx9[04-]*", "v_mfma_f64_4x4x4*", 32},
    {"gfx90[8a]", "v_mfma_f32_*[0-9_]f16", 256},
    {"gfx90[8a]", "v_mfma_f32_*bf16_1k", 256},
    {"gfx90[8a]", "v_mfma_f32_*bf16", 128},
    {"gfx90[8a]", "v_mfma_i32_*", 256},
    /* additions of gfx950 */
    {"gfx950", "v_mfma_f32_16x16x32_*f16", 1024},
    {"gfx950", "v_mfma_f32_32x32x16_*f16", 1024},
    {"gfx950", "v_mfma_i32_16x16x64_i8", 2048},
    {"gfx950", "v_mfma_i32_32x32x32_i8", 2048},
    {"gfx950", "v_mfma_*_f8f6f4", 2048}, /* of operands with 8 bits */
    {"gfx950", "v_mfma_f64_16x16x4*", 32},
    {"gfx950", "v_smfmac_f32_16x16x64_f16", 2048},
    {"gfx950", "v_smfmac_f32_32x32x32_f16", 2048},
    /* CDNA 3 and 4; forms of several blocks have K = 4 and the rate of CDNA 2 */
    {"gfx9[4-]*", "v_mfma_f32_*xf32", 256},
    {"gfx9[45-]*", "v_mfma_f32_*x4[_bf]*f16*", 256},
    {"gfx9[45-]*", "v_mfma_f32_*f16*", 512},
    {"gfx9[45-]*", "v_mfma_f32_*[bf][fp]8*", 1024},
    {"gfx9[45-]*", "v_mfma_i32_*x4[_i]*", 256},
    {"gfx9[45-]*", "v_mfma_i32_*", 1024},
    {"gfx9[45-]*", "v_smfmac_f32_16x16x32_*f16", 1024},
    {"gfx9[45-]*", "v_smfmac_f32_32x32x16_*f16", 1024},
    {"gfx9[45-]*", "v_smfmac_f32_16x16x64_[bf][fp]8_*", 2048},
    {"gfx9[45-]*", "v_smfmac_f32_32x32x32_[bf][fp]8_*", 2048},
    {"gfx9[45-]*", "v_smfmac_i32_16x16x64_i8", 2048},
    {"gfx9[45-]*", "v_smfmac_i32_32x32x32_i8", 2048},
    /* RDNA 3 and 4 */
    {"gfx11*", "v_wmma_*_iu4", 512},
    {"gfx11*", "v_wmma_*", 256},
    {"gfx12[0-]*", "v_wmma_*_16x16x32_iu4", 2048},
    {"gfx12[0-]*", "v_wmma_*_iu[48]", 1024},
    {"gfx12[0-]*", "v_wmma_*_[bf][fp]8", 1024},
    {"gfx12[0-]*", "v_wmma_*f16", 512},
    {"gfx12[0-]*", "v_swmmac_f32_16x16x32_f16", 1024},
    {"gfx12[0-]*", "v_swmmac_f32_16x16x32_[bf][fp]8_*", 2048},

    {"sm_80", "HMMA.*TF32*", 256},
    {"sm_80", "HMMA.*", 512},
    {"sm_80", "IMMA.*.[SU]4*", 2048},
    {"sm_80", "IMMA.*", 1024},
    {"sm_80", "BMMA.*", 8192},
    {"sm_80", "DMMA.*", 32},
    {"sm_90*", "HGMMA.*TF32*", 512},
    {"sm_90*", "HGMMA.*", 1024},
    {"sm_90*", "[QI]GMMA.*", 2048},
};

struct shape {
    unsigned long m, n, k, blocks;
};

/* Reads "16x16x4_4b_f32" or "64x128x16.F32", and the text after the sizes. */
static bool read_product(struct shape *shape, const char *digits)
{
    char *end = NULL;
    *shape = (struct shape){.m = strtoul(digits, &end, 10), .blocks = 1};
    shape->n = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;
    shape->k = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;
    if (!shape->m || !shape->n || !shape->k || shape->m > 256 || shape->n > 512 || shape->k > 1024)
        return false;
    if (isalpha((unsigned char)*end)) {
        /* Names before gfx940 do not give the number of blocks ("v_mfma_f32_32x32x1f32"), but 64 lanes hold A, with
         * this many elements of a type each. */
        const unsigned long each = text_starts(end, "f32") || text_starts(end, "f64")   ? 1
                                   : text_starts(end, "xf") || strcmp(end, "bf16") == 0 ? 2
                                                                                        : 4;
        shape->blocks = 64 * each / (shape->m * shape->k);
        shape->blocks += !shape->blocks;
    } else if (*end == '_' && isdigit((unsigned char)end[1]) && end[1 + strspn(end + 1, "0123456789")] == 'b')
        shape->blocks = strtoul(end + 1, NULL, 10);
    return shape->blocks <= 64;
}

static bool read_shape(struct shape *shape, const char *name)
{
    static const char digits[] = "0123456789";
    for (const char *at = name; (at = strpbrk(at, digits)) != NULL; at += strspn(at, digits)) {
        /* "16816" is 16 x 8 x 16: N is always 8. */
        const size_t rows = text_starts(at, "16") ? 2 : 1, length = strspn(at, digits);
        const bool is_packed = at > name && at[-1] == '.' && length >= rows + 2 && length <= rows + 4 &&
                               at[rows] == '8' && (!at[length] || at[length] == '.');
        if (read_product(shape, at))
            return true;
        if (is_packed) {
            *shape = (struct shape){rows == 2 ? 16 : 8, 8, strtoul(at + rows + 1, NULL, 10), 1};
            return true;
        }
    }
    return false;
}

void isa_matrix_fill(struct isa_instruction *in, const char *target)
{
    struct shape shape;
    in->is_integer = strstr(in->mnemonic, "_i32_") || isa_is_opcode(in, "IMMA BMMA IGMMA BGMMA UTCIMMA");
    if (!read_shape(&shape, in->mnemonic))
        return;
    /* Four warps share the product of a warpgroup. */
    const unsigned long share = isa_is_opcode(in, "HGMMA QGMMA IGMMA BGMMA") ? 4 : 1;
    in->matrix_ops = (uint32_t)(2 * shape.m * shape.n * shape.k * shape.blocks / share);
    /* Twice the rate: sparse products of NVIDIA's, and f8f6f4 without 8-bit operands (cbsz and blgp name the formats of
     * A and B: 0 fp8, 1 bf8, 2 and up have fewer bits). */
    const bool is_double =
        isa_has_word(in->mnemonic, "SP") ||
        (isa_modifier(in, "cbsz") >= 2 && isa_modifier(in, "blgp") >= 2 && isa_has_word(in->mnemonic, "f8f6f4"));
    uint32_t rate = 0;
    for (size_t k = 0; k < COUNT_OF(rates) && !rate; k++)
        if (text_matches(target, rates[k].target) && text_matches(in->mnemonic, rates[k].name))
            rate = rates[k].rate * (is_double ? 2 : 1);
    in->matrix_cycles = rate ? in->matrix_ops / rate : 0;
}
