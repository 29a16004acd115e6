/* SPDX-License-Identifier: MIT
 *
 * Scalar instructions: the table of their meanings, and the execution of each form. Both generations' names are in
 * one row: gfx9's, then those of gfx10 to gfx12.
 */
#include <math.h>
#include <string.h>

#include "walk_vector.h"

/* Extracts a bit field, whose offset and width are both in the second source. */
static uint64_t field(uint64_t value, uint64_t what, unsigned bits, bool is_signed)
{
    const unsigned from = (unsigned)what & (bits - 1), width = (unsigned)(what >> 16) & 127;
    if (!width)
        return 0;
    value >>= from;
    if (width < bits)
        value &= (UINT64_C(1) << width) - 1;
    if (is_signed && width < bits && value >> (width - 1) & 1)
        value |= UINT64_MAX << width;
    return value;
}

/* ---- results ---- */

#define I(x) ((int32_t)(uint32_t)(x))
#define SCALAR(names, count, name, flag, expression)                                                                   \
    static uint64_t name(uint64_t a, uint64_t b, bool *scc)                                                            \
    {                                                                                                                  \
        (void)a, (void)b, (void)scc;                                                                                   \
        return (uint64_t)(expression);                                                                                 \
    }
/* Functions that set SCC themselves: a carry or a condition. */
#define OWN(names, count, name, flag, condition, expression)                                                           \
    static uint64_t name(uint64_t a, uint64_t b, bool *scc)                                                            \
    {                                                                                                                  \
        const uint64_t result = (uint64_t)(expression);                                                                \
        *scc = condition;                                                                                              \
        return result;                                                                                                 \
    }

/* Sums of 32 bits with a carry, which is any bit above them. */
#define CARRY(name, expression)                                                                                        \
    static uint64_t name(uint64_t a, uint64_t b, bool *scc)                                                            \
    {                                                                                                                  \
        const uint64_t sum = expression;                                                                               \
        *scc = sum >> 32 & 1;                                                                                          \
        return (uint32_t)sum;                                                                                          \
    }

#include "walk_scalar.h"
SCALAR("v_s_rcp_f32", 1, rcp_f32, 0, bits_of(1.0f / float_of(a)))
CARRY(addc, a + b + *scc)
CARRY(subb, a - b - *scc)

/* ---- how they are executed ---- */

void source_get(const struct wave *wave, const struct isa_operand *operand, bool wide, uint64_t *value, uint64_t *known)
{
    uint32_t low, low_known;
    if (wide) {
        scalar_get64(wave, operand, value, known);
        return;
    }
    scalar_get(wave, operand, 0, &low, &low_known);
    *value = low;
    *known = low_known | ~(uint64_t)UINT32_MAX;
}

static void result_set(struct wave *wave, const struct op *op, bool wide, uint64_t value, uint64_t known)
{
    if (wide)
        scalar_set64(wave, &op->operands[0], value, known);
    else
        scalar_set(wave, &op->operands[0], 0, (uint32_t)value, (uint32_t)known);
}

static void scc_set(struct wave *wave, bool value, bool known)
{
    wave->scc = value && known;
    wave->scc_known = known;
    wave->scc_compared = false;
}

static void scalar_execute(struct wave *wave, const struct op *op)
{
    const struct meaning *meaning = op->meaning;
    const bool adds = meaning->flags & ADDS_TO_RESULT; /* s_addk_i32: d = d + constant */
    uint64_t a, b = 0, a_known, b_known = UINT64_MAX;
    bool scc = wave->scc;
    source_get(wave, &op->operands[adds ? 0 : 1], meaning->flags & SOURCE0_WIDE, &a, &a_known);
    if (meaning->sources > 1)
        source_get(wave, &op->operands[adds ? 1 : 2], meaning->flags & SOURCE1_WIDE, &b, &b_known);
    const bool known =
        a_known == UINT64_MAX && b_known == UINT64_MAX && (!(meaning->flags & READS_SCC) || wave->scc_known);
    const uint64_t result = known ? meaning->scalar(a, b, &scc) : 0, mask = known ? UINT64_MAX : 0;
    result_set(wave, op, meaning->flags & RESULT_WIDE, result, mask);
    if (meaning->flags & SETS_SCC)
        scc_set(wave, meaning->flags & SCC_OWN ? scc : result != 0, known);
}

/* Moves preserve which bits are known. */
static void move_execute(struct wave *wave, const struct op *op)
{
    uint64_t value, known;
    source_get(wave, &op->operands[1], op->width == 64, &value, &known);
    if (op->meaning->detail && !wave->scc_known) { /* s_cmov */
        known = 0;
    } else if (op->meaning->detail && !wave->scc) {
        return;
    }
    result_set(wave, op, op->width == 64, value, known);
}

/* s_add_pc_i64 and calls leave the decoded code. */
static void getpc_execute(struct wave *wave, const struct op *op)
{
    scalar_set64(wave, &op->operands[0], op->in->address + op->in->size, UINT64_MAX);
}

static void setpc_execute(struct wave *wave, const struct op *op)
{
    uint64_t address, known;
    scalar_get64(wave, &op->operands[op->meaning->detail], &address, &known);
    for (size_t k = 0; k < wave->code->count && known == UINT64_MAX; k++) {
        if (wave->code->ops[k].in->address != address)
            continue;
        if (op->meaning->detail)
            scalar_set64(wave, &op->operands[0], op->in->address + op->in->size, UINT64_MAX);
        wave->at = k;
        return;
    }
    if (op->meaning->detail == 1) /* the called function is not decoded, so the call is skipped */
        note_not_executed(wave->group->walker, op);
    else
        wave->state = WAVE_ENDED;
}

enum logic { LOGIC_AND, LOGIC_OR, LOGIC_XOR, LOGIC_NOT_SECOND = 4, LOGIC_INVERTS = 8, LOGIC_NOT_FIRST = 16 };

/* A bit of AND is known if one source has a known 0, a bit of OR if one has a known 1. */
static void logic(unsigned how, uint64_t a, uint64_t a_known, uint64_t b, uint64_t b_known, uint64_t *value,
                  uint64_t *known)
{
    a = how & LOGIC_NOT_FIRST ? ~a : a;
    b = how & LOGIC_NOT_SECOND ? ~b : b;
    if ((how & 3) == LOGIC_AND) {
        const uint64_t zeros = (a_known & ~a) | (b_known & ~b);
        *known = (a_known & b_known) | zeros;
        *value = a & b & ~zeros;
    } else if ((how & 3) == LOGIC_OR) {
        *known = (a_known & b_known) | (a_known & a) | (b_known & b);
        *value = (a & a_known) | (b & b_known);
    } else {
        *known = a_known & b_known;
        *value = a ^ b;
    }
    *value = (how & LOGIC_INVERTS ? ~*value : *value) & *known;
}

static void scc_nonzero(struct wave *wave, uint64_t value, uint64_t known, uint64_t width)
{
    scc_set(wave, value & known & width, (value & known & width) || (known & width) == width);
}

static void logic_execute(struct wave *wave, const struct op *op)
{
    const bool wide = op->width == 64;
    uint64_t a, a_known, b = 0, b_known = UINT64_MAX, value, known;
    source_get(wave, &op->operands[1], wide, &a, &a_known);
    if (op->operand_count > 2)
        source_get(wave, &op->operands[2], wide, &b, &b_known);
    logic(op->meaning->detail, a, a_known, b, b_known, &value, &known);
    result_set(wave, op, wide, value, known);
    scc_nonzero(wave, value, known, wide ? UINT64_MAX : UINT32_MAX);
}

/* s_and_saveexec: d = EXEC, EXEC = a op EXEC; s_and_not1_wrexec: d = EXEC = the result. */
static void saveexec_execute(struct wave *wave, const struct op *op)
{
    const bool wide = op->width == 64, writes = strstr(op->in->mnemonic, "wrexec");
    const uint64_t width = wide ? UINT64_MAX : UINT32_MAX, before = wave->exec;
    uint64_t a, a_known, value, known;
    source_get(wave, &op->operands[1], wide, &a, &a_known);
    logic(op->meaning->detail, a, a_known, before, UINT64_MAX, &value, &known);
    exec_set(wave, value, known | ~width);
    result_set(wave, op, wide, writes ? wave->exec : before, UINT64_MAX);
    scc_set(wave, wave->exec != 0, true);
}

static void shift_execute(struct wave *wave, const struct op *op)
{
    uint64_t a, a_known, by, by_known;
    source_get(wave, &op->operands[1], false, &a, &a_known);
    source_get(wave, &op->operands[2], false, &by, &by_known);
    const unsigned bits = (unsigned)by & 31;
    const uint32_t value = (uint32_t)a, known = (uint32_t)a_known;
    uint32_t result = op->meaning->detail ? value >> bits : value << bits;
    uint32_t result_known =
        op->meaning->detail ? known >> bits | ~(UINT32_MAX >> bits) : known << bits | ((UINT32_C(1) << bits) - 1);
    if (by_known != UINT64_MAX)
        result_known = 0;
    result &= result_known;
    scalar_set(wave, &op->operands[0], 0, result, result_known);
    scc_nonzero(wave, result, result_known, UINT32_MAX);
}

static void bitset_execute(struct wave *wave, const struct op *op)
{
    uint64_t value, known, bit, bit_known;
    source_get(wave, &op->operands[0], false, &value, &known);
    source_get(wave, &op->operands[1], false, &bit, &bit_known);
    const uint32_t mask = UINT32_C(1) << (bit & 31);
    const uint32_t result = op->meaning->detail ? (uint32_t)value | mask : (uint32_t)value & ~mask;
    scalar_set(wave, &op->operands[0], 0, result, bit_known == UINT64_MAX ? (uint32_t)known | mask : 0);
}

static void bitcmp_execute(struct wave *wave, const struct op *op)
{
    uint64_t value, known, bit, bit_known;
    const bool wide = op->width == 64;
    source_get(wave, &op->operands[0], wide, &value, &known);
    source_get(wave, &op->operands[1], false, &bit, &bit_known);
    bit &= wide ? 63 : 31;
    scc_set(wave, (value >> bit & 1) == op->meaning->detail, bit_known == UINT64_MAX && (known >> bit & 1));
}

static void cselect_execute(struct wave *wave, const struct op *op)
{
    const bool wide = op->width == 64;
    uint64_t a, a_known, b, b_known, value, known;
    source_get(wave, &op->operands[1], wide, &a, &a_known);
    source_get(wave, &op->operands[2], wide, &b, &b_known);
    value = wave->scc ? a : b;
    known = wave->scc ? a_known : b_known;
    if (!wave->scc_known) {
        value = a;
        known = a_known & b_known & ~(a ^ b);
    }
    result_set(wave, op, wide, value, known);
}

/* s_fmac_f32, s_fmamk_f32, s_fmaak_f32 */
static void scalar_fma_execute(struct wave *wave, const struct op *op)
{
    uint64_t a, b, c, a_known, b_known, c_known;
    source_get(wave, &op->operands[1], false, &a, &a_known);
    source_get(wave, &op->operands[2], false, &b, &b_known);
    source_get(wave, &op->operands[op->meaning->detail], false, &c, &c_known);
    const double sum = (double)float_of(a) * (double)float_of(b) + (double)float_of(c);
    const bool known = (a_known & b_known & c_known) == UINT64_MAX;
    scalar_set(wave, &op->operands[0], 0, (uint32_t)bits_of((float)sum), known ? UINT32_MAX : 0);
}

/* ---- the table ---- */

#undef SCALAR
#undef OWN
#define SCALAR(text, count, name, flag, expression) PLAIN(text, count, name, flag),
#define OWN(text, count, name, flag, condition, expression) PLAIN(text, count, name, SETS_SCC | SCC_OWN | (flag)),
#define PLAIN(text, count, function, more)                                                                             \
    {                                                                                                                  \
        .names = text, .execute = scalar_execute, .scalar = function, .sources = count, .flags = more                  \
    }
#define WIDES (SOURCE0_WIDE | RESULT_WIDE)
#define OTHER(text, function, how)                                                                                     \
    {                                                                                                                  \
        .names = text, .execute = function, .detail = how                                                              \
    }
/* clang-format off */
const struct meaning scalar_meanings[] = {
#include "walk_scalar.h"
    OTHER("s_mov_b32 s_mov_b64 s_movk_i32", move_execute, 0),
    OTHER("s_cmov_b32 s_cmov_b64 s_cmovk_i32", move_execute, 1),
    PLAIN("s_addc_u32 s_add_co_ci_u32", 2, addc, SETS_SCC | SCC_OWN | READS_SCC),
    PLAIN("s_subb_u32 s_sub_co_ci_u32", 2, subb, SETS_SCC | SCC_OWN | READS_SCC),
    PLAIN("s_addk_i32 s_addk_co_i32", 2, add_i32, SETS_SCC | SCC_OWN | ADDS_TO_RESULT),
     PLAIN("s_mul_i32", 2, mul, 0),
    OTHER("s_lshl_b32", shift_execute, 0), OTHER("s_lshr_b32", shift_execute, 1),
    PLAIN("s_ff1_i32_b64 s_ctz_i32_b64", 1, ff1_32, SOURCE0_WIDE),
    PLAIN("s_bcnt1_i32_b64", 1, bcnt1, SETS_SCC | SOURCE0_WIDE),
     OTHER("s_fmac_f32", scalar_fma_execute, 0),
    OTHER("s_fmamk_f32 s_fmaak_f32", scalar_fma_execute, 3),
    {.names = "v_s_rcp_f32", .execute = scalar_execute, .scalar = rcp_f32, .sources = 1, .class =
          WALK_TRANSCENDENTAL},
    OTHER("s_and_b32 s_and_b64", logic_execute, LOGIC_AND), OTHER("s_or_b32 s_or_b64", logic_execute, LOGIC_OR),
    OTHER("s_xor_b32 s_xor_b64", logic_execute, LOGIC_XOR), OTHER("s_nand_b32 s_nand_b64", logic_execute, LOGIC_AND |
        LOGIC_INVERTS),
    OTHER("s_nor_b32 s_nor_b64", logic_execute, LOGIC_OR | LOGIC_INVERTS),
    OTHER("s_xnor_b32 s_xnor_b64", logic_execute, LOGIC_XOR | LOGIC_INVERTS),
    OTHER("s_andn2_b32 s_andn2_b64 s_and_not1_b32 s_and_not1_b64", logic_execute, LOGIC_AND | LOGIC_NOT_SECOND),
    OTHER("s_orn2_b32 s_orn2_b64 s_or_not1_b32 s_or_not1_b64", logic_execute, LOGIC_OR | LOGIC_NOT_SECOND),
    OTHER("s_not_b32 s_not_b64", logic_execute, LOGIC_OR | LOGIC_INVERTS),
    OTHER("s_and_saveexec_b32 s_and_saveexec_b64", saveexec_execute, LOGIC_AND),
    OTHER("s_or_saveexec_b32 s_or_saveexec_b64", saveexec_execute, LOGIC_OR),
    OTHER("s_xor_saveexec_b32 s_xor_saveexec_b64", saveexec_execute, LOGIC_XOR),
    OTHER("s_andn2_saveexec_b32 s_andn2_saveexec_b64 s_and_not1_saveexec_b32 s_and_not1_saveexec_b64 "
          "s_andn2_wrexec_b64 s_andn2_wrexec_b32 "
          "s_and_not1_wrexec_b32 s_and_not1_wrexec_b64", saveexec_execute, LOGIC_AND | LOGIC_NOT_SECOND),
    OTHER("s_orn2_saveexec_b32 s_orn2_saveexec_b64 s_or_not1_saveexec_b32 s_or_not1_saveexec_b64", saveexec_execute,
        LOGIC_OR | LOGIC_NOT_SECOND),
    OTHER("s_andn1_saveexec_b32 s_andn1_saveexec_b64 s_and_not0_saveexec_b32 s_and_not0_saveexec_b64 "
          "s_andn1_wrexec_b64 s_andn1_wrexec_b32 "
          "s_and_not0_wrexec_b32 s_and_not0_wrexec_b64", saveexec_execute, LOGIC_AND | LOGIC_NOT_FIRST),
    OTHER("s_orn1_saveexec_b64 s_orn1_saveexec_b32 s_or_not0_saveexec_b32 s_or_not0_saveexec_b64", saveexec_execute,
        LOGIC_OR | LOGIC_NOT_FIRST),
    OTHER("s_nand_saveexec_b32 s_nand_saveexec_b64", saveexec_execute, LOGIC_AND | LOGIC_INVERTS),
    OTHER("s_nor_saveexec_b32 s_nor_saveexec_b64", saveexec_execute, LOGIC_OR | LOGIC_INVERTS),
    OTHER("s_xnor_saveexec_b32 s_xnor_saveexec_b64", saveexec_execute, LOGIC_XOR | LOGIC_INVERTS),
    OTHER("s_bitset0_b32", bitset_execute, 0), OTHER("s_bitset1_b32", bitset_execute, 1),
    OTHER("s_bitcmp0_b32 s_bitcmp0_b64", bitcmp_execute, 0),
    OTHER("s_bitcmp1_b32 s_bitcmp1_b64", bitcmp_execute, 1), OTHER("s_cselect_b32 s_cselect_b64", cselect_execute, 0),
    OTHER("s_getpc_b64", getpc_execute, 0), OTHER("s_setpc_b64", setpc_execute, 0),
    OTHER("s_swappc_b64", setpc_execute, 1),
    OTHER("s_nop s_barrier_signal "
          "s_clause s_delay_alu s_setprio s_sleep s_sethalt s_inst_prefetch s_set_inst_prefetch_distance "
          "s_icache_inv s_dcache_inv "
          "s_dcache_wb s_sendmsg s_setreg_b32 s_setreg_imm32_b32 s_ttracedata s_trap s_round_mode s_denorm_mode "
          "s_wait_alu s_wait_idle "
          "s_waitcnt_depctr s_sendmsghalt s_prefetch_inst s_prefetch_data s_prefetch_inst_pc_rel "
          "s_prefetch_data_pc_rel s_set_vgpr_msb "
          "s_version s_code_end buffer_gl0_inv buffer_gl1_inv buffer_wbl2 buffer_inv buffer_wbinvl1 "
          "buffer_wbinvl1_vol buffer_invl2 "
          "global_inv global_wb global_wbinv s_gl1_inv s_monitor_sleep", nothing_execute, 0),
    OTHER("s_waitcnt s_waitcnt_vscnt s_waitcnt_vmcnt s_waitcnt_lgkmcnt s_waitcnt_expcnt s_wait_loadcnt "
          "s_wait_storecnt s_wait_dscnt s_wait_kmcnt "
          "s_wait_expcnt s_wait_samplecnt s_wait_bvhcnt s_wait_loadcnt_dscnt s_wait_storecnt_dscnt s_wait_event "
          "s_wait_xcnt s_wait_asynccnt",
          nothing_execute, 0),
};
/* clang-format on */
const size_t scalar_meaning_count = COUNT_OF(scalar_meanings);
