/* SPDX-License-Identifier: MIT
 *
 * Classifies instructions of either vendor by name: kind, bytes and work. Work follows the conventions of AMD's
 * floating-point counters (SQ_INSTS_VALU_ADD/MUL/TRANS 1, FMA 2), per lane, for both values of a pair: moves,
 * selections, compares, min, max and rounding are no operations.
 */

#include "isa_internal.h"
#include "rooftile/targets.h"

/* The class of all names with one of these words; the row with the longest matching word applies. */
struct row {
    enum isa_kind kind;
    enum isa_space space;
    uint8_t flops, ops, bytes; /* as in struct isa_instruction */
    const char *names;         /* with blanks between them */
};

/* AMD, gfx9 to gfx12, from LLVM's AMDGPU instruction names: the longest matching prefix of a mnemonic applies. */
static const struct row amd[] = {
    /* vector ALU; work is in `works` below */
    {ISA_VECTOR, .names = "v_"},
    {ISA_MATRIX, .names = "v_mfma_ v_smfmac_ v_wmma_ v_swmmac_"},
    {ISA_DUAL, .names = "v_dual_"},
    {ISA_PACKED, .names = "v_pk_ v_dot"},
    {ISA_CONVERSION, .names = "v_cvt_"},
    /* v_s_: gfx12's instructions with one value per wave, such as v_s_exp_f32 */
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
    {ISA_BRANCH, .names = "s_branch s_cbranch_ s_setpc_ s_set_pc_ s_swappc_ s_swap_pc_ s_call_ s_add_pc_ s_rfe_ "
                          "s_subvector_loop_"},
    {ISA_OTHER,
     .names = "v_nop v_wmma_ld_scale s_alloc_vgpr s_atc_probe s_barrier_init s_barrier_join s_barrier_leave "
              "s_buffer_prefetch_ "
              "s_clause s_code_end s_dcache_ s_decperflevel s_delay_alu s_denorm_mode s_endpgm s_get_barrier_state "
              "s_get_waveid s_getreg_ s_gl1_inv s_icache_inv s_incperflevel s_inst_prefetch s_memrealtime s_memtime "
              "s_monitor_sleep s_nop s_prefetch_ s_round_mode s_sendmsg s_set_gpr_idx_ s_set_inst_prefetch "
              "s_set_vgpr_msb s_sethalt s_setkill s_setprio s_setreg_ s_singleuse_vdst s_sleep s_trap s_ttracedata "
              "s_version s_wakeup ds_bvh_ ds_direct_load ds_gws_ ds_nop ds_param_load"},

    /* LDS */
    {ISA_ATOMIC, ISA_LDS, .names = "ds_"},
    {ISA_LDS_READ, ISA_LDS, .names = "ds_read ds_load_"},
    {ISA_LDS_WRITE, ISA_LDS, .names = "ds_write ds_store_"},

    /* Vector memory; the remaining names are cache control. Images and tensors move bytes by descriptors, blocks by a
     * mask, which are not in the code: no bytes are counted. */
    {ISA_SCRATCH_LOAD, ISA_SCRATCH, .names = "scratch_load_"},
    {ISA_SCRATCH_STORE, ISA_SCRATCH, .names = "scratch_store_"},
    {ISA_LOAD, ISA_GLOBAL,
     .names = "global_load_ flat_load_ buffer_load_ tbuffer_load_ image_load image_sample image_gather cluster_load_ "
              "tensor_load_"},
    {ISA_STORE, ISA_GLOBAL,
     .names = "global_store_ flat_store_ buffer_store_ tbuffer_store_ image_store tensor_store_"},
    {ISA_ATOMIC, ISA_GLOBAL, .names = "global_atomic_ flat_atomic_ buffer_atomic_ image_atomic_"},
};

/* Operations of AMD's vector ALU by the name after "v_", "v_pk_" or "v_dual_". */
static const struct row works[] = {
    {.ops = 1, .names = "add sub subrev mul mullit exp log rcp rsq sqrt sin cos tanh"},
    {.ops = 2,
     .names =
         "fma fmac fmaak fmamk mad mac madak madmk fma_mix fma_mixlo fma_mixhi mad_mix mad_mixlo mad_mixhi div_fmas"},
    {.ops = 4, .names = "dot2 dot2c dot2acc"},
    {.ops = 8, .names = "dot4 dot4c"},
    {.ops = 16, .names = "dot8 dot8c"},
    /* integers only */
    {.ops = 1,
     .names = "addc subb subbrev and or xor xnor not lshl lshlrev lshr lshrrev ashr ashrrev bfe bfi bfm bfrev "
              "alignbit alignbyte perm ffbh ffbl clz ctz cls"},
    {.ops = 2, .names = "add_lshl lshl_add lshl_or and_or add3 or3 xor3 xad bcnt mbcnt sad_u32"},
    {.ops = 4, .names = "sad_u16"},
    {.ops = 8, .names = "sad msad"}, /* four differences of bytes, four sums */
};

/* NVIDIA, compute capability 7.5 to 12.x, by names up to the first '.': those in "CUDA Binary Utilities" (13.1,
 * "Instruction Set Reference": Turing, Ampere and Ada, Hopper, Blackwell), and a few more that its disassembler
 * writes. */
static const struct row sass[] = {
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
    {ISA_VECTOR, .names = "FCHK FMNMX FMNMX3 FSEL FSET FSETP FRND DSETP DMNMX IABS IMNMX ISETP ISET VIMNMX VIMNMX3 "
                          "MOV MOV32I MOV64IUR SEL PLOP3 PSETP P2R R2P CS2R"},
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
         "R2B B2R S2R BMOV BPT BREAK BSSY BSYNC CCTL CCTLL CCTLT CGAERRBAR ENDCOLLECTIVE ERRBAR EXIT FENCE "
         "GETLMEMBASE KILL LDGDEPBAR LDT LDTM LEPC MEMBAR NOP PMTRIG PREEXIT QSPC RPCMOV RTT S2UR CS2UR SETCTAID "
         "SETLMEMBASE STT STTM TMML TXQ UBLKPF UGETNEXTWORKID UMEMSETS USETMAXREG UTCATOMSWS UTCBAR UTCCP UTCSHIFT "
         "UTMACCTL UTMACMDFLUSH UTMAPF UVIRTCOUNT WARPGROUPSET WARPSYNC YIELD"},

    /* the uniform datapath */
    {ISA_SCALAR, .names = "UBMSK UBREV UCLEA UFADD UF2F UF2FP UF2I UF2IP UFFMA UFLO UFMNMX UFMUL UFRND UFSEL UFSET "
                          "UFSETP UI2F UI2FP UI2I UI2IP UIABS UIADD3 UIMAD UIMNMX UISETP ULEA ULEPC ULOP ULOP3 "
                          "ULOP32I UMOV UP2UR UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR UVIADD "
                          "UVIMNMX"},
};

/* Bytes of an access, or of an atomic's operand, by a word of the mnemonic; AMD's words are in lower case. */
static const struct row widths[] = {
    {.bytes = 1, .names = "b8 u8 i8 byte ubyte sbyte U8 S8"},
    {.bytes = 2, .names = "b16 u16 i16 short ushort sshort f16 bf16 U16 S16"},
    {.bytes = 4, .names = "dword b32 u32 i32 f32 x"},
    {.bytes = 8, .names = "dwordx2 x2 b64 u64 i64 f64 xy 64 U64 S64 F64"},
    {.bytes = 12, .names = "dwordx3 b96 xyz 96"},
    {.bytes = 16, .names = "dwordx4 b128 xyzw 128"},
    {.bytes = 32, .names = "dwordx8 b256 256"},
    {.bytes = 64, .names = "dwordx16 b512"},
};

/* ---- names ---- */

/* Returns the length of the longest of these words that `name` starts with and that is followed by one of `ends` or the
 * end (NULL: by anything); 0: none. */
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

/* Returns the row with the longest such word, or NULL. */
static const struct row *find_row(const struct row *rows, size_t count, const char *name, const char *ends)
{
    const struct row *found = NULL;
    size_t longest = 0;
    for (size_t k = 0; k < count; k++) {
        const size_t length = longest_start(rows[k].names, name, ends);
        found = length > longest ? &rows[k] : found;
        longest = length > longest ? length : longest;
    }
    return found;
}

size_t isa_start(const char *name, const char *words)
{
    return longest_start(words, name, NULL);
}

bool isa_starts(const char *name, const char *words)
{
    return isa_start(name, words) > 0;
}

/* Returns the length of the next word of a name, separated by '_' or '.'; 0 at its end. */
static size_t next_word(const char **at, size_t before)
{
    *at += before;
    *at += **at == '_' || **at == '.';
    return strcspn(*at, "_. ");
}

bool isa_has_word(const char *name, const char *words)
{
    for (size_t size = next_word(&name, 0); size; size = next_word(&name, size))
        if (text_has_word(words, " ", name, size))
            return true;
    return false;
}

bool isa_is_opcode(const struct isa_instruction *in, const char *names)
{
    return text_has_word(names, " ", in->mnemonic, strcspn(in->mnemonic, "."));
}

/* ---- bytes ---- */

#define DEFAULT_BYTES 4u /* NVIDIA, without a word */

/* Their size is in a descriptor, or unknown. */
static const char widthless[] =
    "UTMALDG UTMASTG UTMAREDG UBLKCP UBLKRED TEX TLD TLD4 TXD SULD SUST SUATOM SURED USTGR UREDGR";

/* The first word with a width applies: in ds_read_b64_tr_b16 a later one is the width of the transposed elements. */
unsigned isa_bytes_named(const char *name)
{
    const struct row *row = NULL;
    for (size_t size = next_word(&name, 0); size && !row; size = next_word(&name, size))
        row = find_row(widths, COUNT_OF(widths), name, "_. ");
    return row ? row->bytes : 0;
}

static unsigned sass_bytes(const struct isa_instruction *in)
{
    if (isa_is_opcode(in, widthless))
        return 0;
    /* Four lanes hold a row of a matrix of 8 x 8 halves, 4 bytes each; the last word is the number of matrices: 1, 2 or
     * 4. */
    if (isa_is_opcode(in, "LDSM STSM")) {
        const char *last = strrchr(in->mnemonic, '.');
        const unsigned long count = last ? strtoul(last + 1 + (last[1] == 'x'), NULL, 10) : 1;
        return count == 2 || count == 4 ? 4 * (unsigned)count : 4;
    }
    const unsigned bytes = isa_bytes_named(in->mnemonic);
    return bytes ? bytes : DEFAULT_BYTES;
}

/* ---- work ---- */

static void classify_amd(struct isa_instruction *in, struct arena *arena)
{
    static const char *const stems[] = {"v_pk_", "v_dual_", "v_"};
    struct isa_access access;
    if (isa_access_named(&access, in->mnemonic)) {
        in->access = arena_copy(arena, &access, sizeof(access));
        in->bytes = in->space == ISA_NO_SPACE ? 0 : access.bytes * (access.pair ? 2u : 1u);
    }
    if ((in->kind != ISA_VECTOR && in->kind != ISA_PACKED && in->kind != ISA_DUAL && in->kind != ISA_TRANSCENDENTAL) ||
        text_starts(in->mnemonic, "v_s_")) /* one value per wave, like scalar instructions */
        return;
    for (size_t k = 0; k < COUNT_OF(stems); k++)
        if (text_starts(in->mnemonic, stems[k])) {
            /* A word of the name marks floating point: v_dot2_f32_f16 has one, v_mad_u64_u32 has not. */
            const char *stem = in->mnemonic + strlen(stems[k]);
            const struct row *work = find_row(works, COUNT_OF(works), stem, "_ ");
            *(isa_has_word(stem, "f64 f32 f16 bf16") ? &in->flops : &in->ops) += work ? work->ops * (k ? 1u : 2u) : 0;
            return;
        }
}

void isa_classify(struct isa_instruction *in, const char *target, struct arena *arena)
{
    const bool is_sass = target_is_nvidia(target);
    const struct row *row =
        is_sass ? find_row(sass, COUNT_OF(sass), in->mnemonic, ".") : find_row(amd, COUNT_OF(amd), in->mnemonic, NULL);
    in->kind = row ? row->kind : ISA_OTHER;
    in->space = row ? row->space : ISA_NO_SPACE;
    in->flops = row ? row->flops : 0;
    in->ops = row ? row->ops : 0;
    if (in->kind == ISA_MATRIX)
        isa_matrix_fill(in, target);
    if (!is_sass)
        classify_amd(in, arena);
    else if (in->space != ISA_NO_SPACE)
        in->bytes = sass_bytes(in);
}

/* ---- corrections by operands ---- */

static bool reads_zeros(const struct isa_instruction *in)
{
    return strstr(in->operands, ", RZ, RZ, ") || strstr(in->operands, ", -RZ, RZ, ");
}

/* NVIDIA's compilers use some opcodes for other purposes: a multiplication by zero is a move, for example. The
 * remaining work is counted. */
static void correct_sass(struct isa_instruction *in)
{
    const char *name = in->mnemonic, *sources = strchr(in->operands, ',');
    if (isa_is_opcode(in, "IMAD")) {
        const bool moves = isa_has_word(name, "MOV") || reads_zeros(in);
        in->ops = moves ? 0 : isa_has_word(name, "SHL IADD X") ? 1 : in->ops;
    } else if (isa_is_opcode(in, "IADD3 LOP3") && sources && (strstr(sources, " RZ") || strstr(sources, " URZ"))) {
        in->ops = 1;
    } else if (isa_is_opcode(in, "HFMA2") && reads_zeros(in)) {
        in->kind = ISA_VECTOR;
        in->flops = 0;
    } else if (isa_is_opcode(in, "HADD2") && isa_has_word(name, "F32")) { /* the only conversion from f16 to f32 */
        in->kind = ISA_CONVERSION;
        in->flops = 0;
    } else if (isa_is_opcode(in, "IDP") && isa_has_word(name, "2A")) {
        in->ops = 4;
    } else if ((isa_is_opcode(in, "CS2R") && strstr(in->operands, "SR_")) || /* reads a clock; with SRZ it is a move */
               (isa_is_opcode(in, "WARPGROUP") && !isa_has_word(name, "DEPBAR"))) {
        in->kind = ISA_OTHER;
    } else if (isa_is_opcode(in, "SYNCS") && isa_has_word(name, "PHASECHK")) {
        in->kind = ISA_WAIT;
    }
}

void isa_correct(struct isa_instruction *in, const char *target)
{
    if (!target_is_nvidia(target)) {
        if (in->kind == ISA_MATRIX && strstr(in->mnemonic, "f8f6f4"))
            isa_matrix_fill(in, target);
        return;
    }
    if (strcmp(in->guard, "@!PT") != 0 && strcmp(in->guard, "@!UPT") != 0) {
        correct_sass(in);
        return;
    }
    /* It never executes; it fills an issue slot. */
    in->kind = ISA_OTHER;
    in->space = ISA_NO_SPACE;
    in->bytes = in->flops = in->ops = in->matrix_ops = in->matrix_cycles = 0;
}
