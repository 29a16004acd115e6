/* SPDX-License-Identifier: MIT
 *
 * What instructions are and compute, by name. The conventions of work are those of AMD's counters for floating point
 * (SQ_INSTS_VALU_ADD/MUL/TRANS 1, FMA 2), per lane, both values of a pair: moves, selections, compares, min, max and
 * rounding are no operations.
 */
#include <string.h>

#include "isa_internal.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* AMD's, gfx9 to gfx12, from LLVM's AMDGPU instruction names: a mnemonic is what the longest start of it says. */
static const struct isa_opcode amd[] = {
    /* vector ALU; work is in `works` below */
    {ISA_VECTOR, .names = "v_"},
    {ISA_MATRIX, .names = "v_mfma_ v_smfmac_ v_wmma_ v_swmmac_"},
    {ISA_DUAL, .names = "v_dual_"},
    {ISA_PACKED, .names = "v_pk_ v_dot"},
    {ISA_CONVERSION, .names = "v_cvt_"},
    /* v_s_: gfx12's with one value per wave, v_s_exp_f32 */
    {ISA_TRANSCENDENTAL, .names = "v_exp_ v_log_ v_rcp_ v_rsq_ v_sqrt_ v_sin_ v_cos_ v_tanh_ v_s_"},
    {ISA_CROSS_LANE,
     .names = "v_readlane_ v_readfirstlane_ v_writelane_ v_permlane v_mov_b32_dpp v_mov_b32_e64_dpp v_mov_b64_dpp "
              "ds_bpermute_ ds_permute_ ds_swizzle_"},

    /* scalar ALU and memory */
    {ISA_SCALAR, .names = "s_"},
    {ISA_SCALAR_MEMORY, ISA_CONSTANT,
     .names = "s_load_ s_buffer_load_ s_scratch_load_ s_store_ s_buffer_store_ s_scratch_store_"},
    {ISA_ATOMIC, ISA_CONSTANT, .names = "s_atomic_ s_buffer_atomic_"},

    /* control */
    {ISA_BARRIER, .names = "s_barrier"},
    {ISA_WAIT, .names = "s_barrier_wait s_wait"},
    {ISA_BRANCH, .names = "s_branch s_cbranch_ s_setpc_ s_swappc_ s_call_ s_rfe_ s_subvector_loop_"},
    {ISA_OTHER,
     .names = "v_nop s_alloc_vgpr s_atc_probe s_barrier_init s_barrier_join s_barrier_leave s_buffer_prefetch_ "
              "s_clause s_code_end "
              "s_dcache_ s_decperflevel s_delay_alu s_denorm_mode s_endpgm s_get_barrier_state s_get_waveid s_getreg_ "
              "s_gl1_inv "
              "s_icache_inv s_incperflevel s_inst_prefetch s_memrealtime s_memtime s_monitor_sleep s_nop s_prefetch_ "
              "s_round_mode "
              "s_sendmsg s_set_gpr_idx_ s_set_inst_prefetch s_set_vgpr_msb s_sethalt s_setkill s_setprio s_setreg_ "
              "s_singleuse_vdst s_sleep s_trap s_ttracedata s_version s_wakeup "
              "ds_bvh_ ds_direct_load ds_gws_ ds_nop ds_param_load"},

    /* LDS */
    {ISA_ATOMIC, ISA_LDS, .names = "ds_"},
    {ISA_LDS_READ, ISA_LDS, .names = "ds_read ds_load_"},
    {ISA_LDS_WRITE, ISA_LDS, .names = "ds_write ds_store_"},

    /* Vector memory; what is left of these names are cache controls. Images move bytes by their format, which the code
     * does not say: none counted. */
    {ISA_SCRATCH_LOAD, ISA_SCRATCH, .names = "scratch_load_"},
    {ISA_SCRATCH_STORE, ISA_SCRATCH, .names = "scratch_store_"},
    {ISA_LOAD, ISA_GLOBAL,
     .names = "global_load_ flat_load_ buffer_load_ tbuffer_load_ image_load image_sample image_gather"},
    {ISA_STORE, ISA_GLOBAL, .names = "global_store_ flat_store_ buffer_store_ tbuffer_store_ image_store"},
    {ISA_ATOMIC, ISA_GLOBAL, .names = "global_atomic_ flat_atomic_ buffer_atomic_ image_atomic_"},
};

/* Operations of AMD's vector ALU by what follows "v_", "v_pk_" or "v_dual_". */
static const struct {
    unsigned count;
    const char *stems;
} works[] = {
    {1, "add sub subrev mul mullit exp log rcp rsq sqrt sin cos tanh"},
    {2, "fma fmac fmaak fmamk mad mac madak madmk fma_mix fma_mixlo fma_mixhi mad_mix mad_mixlo mad_mixhi div_fmas"},
    {4, "dot2 dot2c dot2acc"},
    {8, "dot4 dot4c"},
    {16, "dot8 dot8c"},
    /* integers alone */
    {1, "addc subb subbrev and or xor xnor not lshl lshlrev lshr lshrrev ashr ashrrev bfe bfi bfm bfrev alignbit "
        "alignbyte perm ffbh ffbl clz ctz cls"},
    {2, "add_lshl lshl_add lshl_or and_or add3 or3 xor3 xad bcnt mbcnt sad_u32"},
    {4, "sad_u16"},
    {8, "sad msad"}, /* four differences of bytes, four sums */
};

/* NVIDIA's of compute capability 7.5 to 12.x, names up to the first '.': those that "CUDA Binary Utilities" (13.1,
 * "Instruction Set Reference": Turing, Ampere and Ada, Hopper, Blackwell) lists, and a few that its disassembler writes
 * besides. */
static const struct isa_opcode sass[] = {
    /* floating point */
    {ISA_VECTOR, .flops = 1, .names = "FADD FADD32I FMUL FMUL32I FHADD FSWZADD DADD DMUL"},
    {ISA_VECTOR, .flops = 2, .names = "FFMA FFMA32I FHFMA DFMA"},
    {ISA_TRANSCENDENTAL, .flops = 1, .names = "MUFU"},
    {ISA_PACKED, .flops = 2, .names = "FADD2 FMUL2 HADD2 HADD2_32I HMUL2 HMUL2_32I"},
    {ISA_PACKED, .flops = 4, .names = "FFMA2 HFMA2 HFMA2_32I"},
    {ISA_PACKED, .names = "HMNMX2 HSET2 HSETP2 VHMNMX"},
    {ISA_MATRIX, .names = "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA UTCHMMA UTCIMMA UTCQMMA UTCOMMA"},

    /* integers */
    {ISA_VECTOR, .ops = 1,
     .names = "IADD IADD32I IMUL IMUL32I LOP LOP32I SHF SHL SHR BMSK BREV FLO POPC SGXT PRMT VIADD VIADDMNMX"},
    {ISA_VECTOR, .ops = 2, .names = "IADD3 IMAD ISCADD ISCADD32I LEA LOP3 VABSDIFF"},
    {ISA_PACKED, .ops = 8, .names = "VABSDIFF4 IDP IDP4A"},

    /* compares, selections, moves, predicates, conversions; between lanes */
    {ISA_VECTOR, .names = "FCHK FMNMX FMNMX3 FSEL FSET FSETP FRND DSETP DMNMX IABS IMNMX ISETP ISET VIMNMX VIMNMX3 MOV "
                          "MOV32I MOV64IUR SEL "
                          "PLOP3 PSETP P2R R2P CS2R"},
    {ISA_CONVERSION, .names = "F2F F2I I2F I2I I2IP I2FP F2IP F2FP"},
    {ISA_CROSS_LANE, .names = "SHFL MOVM VOTE VOTEU MATCH REDUX CREDUX R2UR ELECT"},

    /* memory */
    {ISA_LOAD, ISA_GLOBAL, .names = "LD LDG LDGMC LDGSTS UTMALDG UBLKCP TEX TLD TLD4 TXD SULD"},
    {ISA_STORE, ISA_GLOBAL, .names = "ST STG UTMASTG USTGR SUST"},
    {ISA_ATOMIC, ISA_GLOBAL, .names = "ATOM ATOMG RED REDG UREDGR UTMAREDG UBLKRED SUATOM SURED"},
    {ISA_LDS_READ, ISA_LDS, .names = "LDS LDSM"},
    {ISA_LDS_WRITE, ISA_LDS, .names = "STS STSM STAS"},
    {ISA_ATOMIC, ISA_LDS, .names = "ATOMS REDAS"},
    {ISA_SCRATCH_LOAD, ISA_SCRATCH, .names = "LDL"},
    {ISA_SCRATCH_STORE, ISA_SCRATCH, .names = "STL"},
    {ISA_SCALAR_MEMORY, ISA_CONSTANT, .names = "LDC LDCU ULDC"},

    /* control */
    {ISA_BARRIER, .names = "BAR UCGABAR_ARV SYNCS"},
    {ISA_WAIT, .names = "UCGABAR_WAIT DEPBAR WARPGROUP ACQBULK ACQSHMINIT NANOSLEEP"},
    {ISA_BRANCH, .names = "BRA BRX BRXU JMP JMX JMXU CALL RET"},

    /* once per warp, or none of the above */
    {ISA_OTHER,
     .names =
         "R2B B2R S2R BMOV BPT BREAK BSSY BSYNC CCTL CCTLL CCTLT CGAERRBAR ENDCOLLECTIVE ERRBAR EXIT FENCE GETLMEMBASE "
         "KILL "
         "LDGDEPBAR LDT LDTM LEPC MEMBAR NOP PMTRIG PREEXIT QSPC RPCMOV RTT S2UR CS2UR SETCTAID SETLMEMBASE STT STTM "
         "TMML "
         "TXQ UBLKPF UGETNEXTWORKID UMEMSETS USETMAXREG UTCATOMSWS UTCBAR UTCCP UTCSHIFT UTMACCTL UTMACMDFLUSH UTMAPF "
         "UVIRTCOUNT WARPGROUPSET WARPSYNC YIELD"},

    /* the uniform datapath */
    {ISA_SCALAR, .names = "UBMSK UBREV UCLEA UFADD UF2F UF2FP UF2I UF2IP UFFMA UFLO UFMNMX UFMUL UFRND UFSEL UFSET "
                          "UFSETP UI2F UI2FP UI2I "
                          "UI2IP UIABS UIADD3 UIMAD UIMNMX UISETP ULEA ULEPC ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 "
                          "UPOPC UPRMT UPSETP UR2UP "
                          "USEL USGXT USHF USHL USHR UVIADD UVIMNMX"},
};

/* The longest of these words that `name` starts with, of those behind which one of `ends` or the end follows (NULL:
 * anything). Its length; 0: none. */
static size_t longest_start(const char *words, const char *name, const char *ends)
{
    size_t longest = 0;
    for (const char *word = words; *word;) {
        const size_t length = strcspn(word, " ");
        if (length > longest && strncmp(word, name, length) == 0 &&
            (!ends || !name[length] || strchr(ends, name[length])))
            longest = length;
        word += length + (word[length] == ' ');
    }
    return longest;
}

const struct isa_opcode *isa_opcode_find(const char *mnemonic, bool is_sass)
{
    static const struct isa_opcode unknown = {ISA_OTHER, .names = ""};
    const struct isa_opcode *rows = is_sass ? sass : amd, *found = &unknown;
    const size_t count = is_sass ? COUNT(sass) : COUNT(amd);
    size_t longest = 0;
    for (size_t k = 0; k < count; k++) {
        const size_t length = longest_start(rows[k].names, mnemonic, is_sass ? "." : NULL);
        found = length > longest ? &rows[k] : found;
        longest = length > longest ? length : longest;
    }
    return found;
}

bool isa_starts(const char *name, const char *words)
{
    return longest_start(words, name, NULL) > 0;
}

unsigned isa_stem_work(const char *stem)
{
    unsigned count = 0;
    size_t longest = 0;
    for (size_t k = 0; k < COUNT(works); k++) {
        const size_t length = longest_start(works[k].stems, stem, "_ ");
        count = length > longest ? works[k].count : count;
        longest = length > longest ? length : longest;
    }
    return count;
}
