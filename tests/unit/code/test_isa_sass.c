/* SPDX-License-Identifier: MIT
 *
 * NVIDIA's instructions: what each is by its name, and kernels in the two formats that NVIDIA's tools write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/isa.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ---- single instructions ---- */

static const struct {
    const char *target, *text;
    enum isa_kind kind;
    enum isa_space space;
    uint32_t bytes, flops, ops, matrix_ops, matrix_cycles;
} instructions[] = {
    {"sm_90a", "FFMA R4, R5.reuse, R6, R4", .kind = ISA_VECTOR, .flops = 2},
    {"sm_90a", "FADD.FTZ R4, R5, -R6", .kind = ISA_VECTOR, .flops = 1},
    {"sm_90a", "FMNMX R4, R5, R6, !PT", .kind = ISA_VECTOR},
    {"sm_90a", "DFMA R4, R6, R8, R10", .kind = ISA_VECTOR, .flops = 2},
    {"sm_100a", "FFMA2 R4, R6, R8, R4", .kind = ISA_PACKED, .flops = 4},
    {"sm_90a", "HFMA2.BF16_V2 R4, R5, R6, R4", .kind = ISA_PACKED, .flops = 4},
    {"sm_80", "HADD2 R4, R5, R6", .kind = ISA_PACKED, .flops = 2},
    /* A constant, and a number as f32. */
    {"sm_80", "HFMA2.MMA R4, -RZ, RZ, 0, 5.9604644775390625e-08", .kind = ISA_VECTOR},
    {"sm_80", "HADD2.F32 R4, -RZ, R5.H0_H0", .kind = ISA_CONVERSION},
    {"sm_80", "F2FP.BF16.F32.PACK_AB R4, R5, R6", .kind = ISA_CONVERSION},
    {"sm_80", "MUFU.EX2 R4, R5", .kind = ISA_TRANSCENDENTAL, .flops = 1},
    {"sm_80", "SHFL.BFLY PT, R4, R5, 0x10, 0x1f", .kind = ISA_CROSS_LANE},

    {"sm_80", "IMAD R4, R5, R6, R7", .kind = ISA_VECTOR, .ops = 2},
    {"sm_80", "IMAD.WIDE.U32 R4, R5, 0x4, R6", .kind = ISA_VECTOR, .ops = 2},
    {"sm_80", "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]", .kind = ISA_VECTOR},
    {"sm_80", "IMAD.U32 R2, RZ, RZ, UR4", .kind = ISA_VECTOR},
    {"sm_80", "IMAD.SHL.U32 R13, R12, 0x10, RZ", .kind = ISA_VECTOR, .ops = 1},
    {"sm_80", "IADD3 R4, R5, R6, R7", .kind = ISA_VECTOR, .ops = 2},
    {"sm_80", "IADD3 R4, P0, R5, R6, RZ", .kind = ISA_VECTOR, .ops = 1},
    {"sm_80", "LOP3.LUT R4, R5, 0xf0, RZ, 0xc0, !PT", .kind = ISA_VECTOR, .ops = 1},
    {"sm_80", "LEA.HI.X R4, R5, R6, R7, 0x2, P0", .kind = ISA_VECTOR, .ops = 2},
    {"sm_80", "IDP.4A.S8.S8 R4, R5, R6, R4", .kind = ISA_PACKED, .ops = 8},
    {"sm_80", "ISETP.GE.AND P0, PT, R0, c[0x0][0x180], PT", .kind = ISA_VECTOR},
    {"sm_90a", "UIADD3 UR4, UR5, 0x1, URZ", .kind = ISA_SCALAR},
    {"sm_80", "CS2R R4, SRZ", .kind = ISA_VECTOR},
    {"sm_80", "CS2R.32 R4, SR_CLOCKLO", .kind = ISA_OTHER},
    {"sm_80", "S2R R0, SR_TID.X", .kind = ISA_OTHER},
    {"sm_99", "NOTHING.KNOWN R0, R1", .kind = ISA_OTHER},

    {"sm_80", "LDG.E.128.CONSTANT R4, [R2.64+0x10]", .kind = ISA_LOAD, .space = ISA_GLOBAL, .bytes = 16},
    {"sm_100a", "LDG.E.ENL2.256 R8, R4, desc[UR4][R2.64]", .kind = ISA_LOAD, .space = ISA_GLOBAL, .bytes = 32},
    {"sm_80", "LDG.E.U8 R4, [R2.64]", .kind = ISA_LOAD, .space = ISA_GLOBAL, .bytes = 1},
    {"sm_80", "LDG.E R4, [R2.64]", .kind = ISA_LOAD, .space = ISA_GLOBAL, .bytes = 4},
    {"sm_80", "LDGSTS.E.BYPASS.LTC128B.128 [R5], [R2.64]", .kind = ISA_LOAD, .space = ISA_GLOBAL, .bytes = 16},
    {"sm_90a", "UTMALDG.2D [UR8], [UR4]", .kind = ISA_LOAD, .space = ISA_GLOBAL, .bytes = 0},
    {"sm_80", "STG.E.64 [R2.64], R4", .kind = ISA_STORE, .space = ISA_GLOBAL, .bytes = 8},
    {"sm_80", "STG.E.U16 [R2.64], R4", .kind = ISA_STORE, .space = ISA_GLOBAL, .bytes = 2},
    {"sm_80", "RED.E.ADD.F64.RN.STRONG.GPU [R2.64], R4", .kind = ISA_ATOMIC, .space = ISA_GLOBAL, .bytes = 8},
    {"sm_80", "ATOMG.E.ADD.STRONG.GPU PT, R4, [R2.64], R5", .kind = ISA_ATOMIC, .space = ISA_GLOBAL, .bytes = 4},
    {"sm_80", "ATOMS.POPC.INC.32 RZ, [R2]", .kind = ISA_ATOMIC, .space = ISA_LDS, .bytes = 4},
    {"sm_80", "LDS.U.128 R4, [R2]", .kind = ISA_LDS_READ, .space = ISA_LDS, .bytes = 16},
    {"sm_80", "LDSM.16.M88.4 R4, [R2]", .kind = ISA_LDS_READ, .space = ISA_LDS, .bytes = 16},
    {"sm_80", "LDSM.16.MT88.2 R4, [R2]", .kind = ISA_LDS_READ, .space = ISA_LDS, .bytes = 8},
    {"sm_80", "LDSM.16.M88 R4, [R2]", .kind = ISA_LDS_READ, .space = ISA_LDS, .bytes = 4},
    {"sm_80", "STS [R2], R4", .kind = ISA_LDS_WRITE, .space = ISA_LDS, .bytes = 4},
    {"sm_80", "LDL.LU R4, [R1+0x8]", .kind = ISA_SCRATCH_LOAD, .space = ISA_SCRATCH, .bytes = 4},
    {"sm_80", "STL.64 [R1], R2", .kind = ISA_SCRATCH_STORE, .space = ISA_SCRATCH, .bytes = 8},
    {"sm_80", "ULDC.64 UR4, c[0x0][0x118]", .kind = ISA_SCALAR_MEMORY, .space = ISA_CONSTANT, .bytes = 8},

    /* Shapes and rates: 2 * 16 * 8 * 16 at 512 per clock. */
    {"sm_80", "HMMA.16816.F32 R4, R8, R12, R4", .kind = ISA_MATRIX, .matrix_ops = 4096, .matrix_cycles = 8},
    {"sm_80", "HMMA.16816.F32.BF16 R4, R8, R12, R4", .kind = ISA_MATRIX, .matrix_ops = 4096, .matrix_cycles = 8},
    {"sm_80", "HMMA.1688.F32.TF32 R4, R8, R12, R4", .kind = ISA_MATRIX, .matrix_ops = 2048, .matrix_cycles = 8},
    {"sm_80", "HMMA.SP.16832.F32 R4, R8, R12, R4, R16, 0x0", .kind = ISA_MATRIX, .matrix_ops = 8192,
     .matrix_cycles = 8},
    {"sm_80", "DMMA.884 R4, R8, R12, R4", .kind = ISA_MATRIX, .matrix_ops = 512, .matrix_cycles = 16},
    {"sm_80", "IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4", .kind = ISA_MATRIX, .matrix_ops = 8192, .matrix_cycles = 8},
    {"sm_80", "IMMA.8816.S8.S8 R4, R8.ROW, R12.COL, R4", .kind = ISA_MATRIX, .matrix_ops = 2048, .matrix_cycles = 2},
    {"sm_80", "IMMA.16864.S4.S4 R4, R8.ROW, R12.COL, R4", .kind = ISA_MATRIX, .matrix_ops = 16384, .matrix_cycles = 8},
    {"sm_80", "BMMA.168256.XOR.POPC R4, R8.ROW, R12.COL, R4", .kind = ISA_MATRIX, .matrix_ops = 65536,
     .matrix_cycles = 8},
    {"sm_90a", "HMMA.16816.F32 R4, R8, R12, R4", .kind = ISA_MATRIX, .matrix_ops = 4096, .matrix_cycles = 0},
    /* A quarter of 2 * 64 * 128 * 16, as four warps share it. */
    {"sm_90a", "HGMMA.64x128x16.F32 R24, gdesc[UR4], R24, gsb0", .kind = ISA_MATRIX, .matrix_ops = 65536,
     .matrix_cycles = 64},
    {"sm_90a", "QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24", .kind = ISA_MATRIX, .matrix_ops = 262144,
     .matrix_cycles = 128},
    {"sm_120a", "QMMA.16832.F32.E4M3.E4M3 R4, R8, R12, R4", .kind = ISA_MATRIX, .matrix_ops = 8192, .matrix_cycles = 0},
    {"sm_120a", "OMMA.SF.16864.F32.E2M1.E2M1.UE8M0 R4, R8, R12, R4, R5, R6, URZ", .kind = ISA_MATRIX,
     .matrix_ops = 16384},
    {"sm_100a", "UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], UPT", .kind = ISA_MATRIX},

    {"sm_80", "BAR.SYNC.DEFER_BLOCKING 0x0", .kind = ISA_BARRIER},
    {"sm_90a", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R4+URZ], R5", .kind = ISA_WAIT},
    {"sm_90a", "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R4+URZ], RZ", .kind = ISA_BARRIER},
    {"sm_80", "DEPBAR.LE SB0, 0x1", .kind = ISA_WAIT},
    {"sm_90a", "WARPGROUP.DEPBAR.LE gsb0, 0x0", .kind = ISA_WAIT},
    {"sm_90a", "WARPGROUP.ARRIVE", .kind = ISA_OTHER},
    {"sm_80", "BSSY B0, `(.L_x_0)", .kind = ISA_OTHER},
    {"sm_80", "@!PT LDS RZ, [RZ]", .kind = ISA_OTHER}, /* never */
    {"sm_80", "@!P0 LDS R4, [R5]", .kind = ISA_LDS_READ, .space = ISA_LDS, .bytes = 4},
};

static void reads_instructions(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(instructions); k++) {
        struct arena arena = {0};
        struct err err = {0};
        struct isa isa;
        const struct codeobj_kernel symbol = {.name = "k", .code_bytes = 4096};
        const char *text = arena_printf(&arena, ".text.k:\n        /*0000*/    %s ;\n        /*0010*/    EXIT ;\n",
                                        instructions[k].text);
        assert_int_equal(
            isa_parse(&isa, &(struct codeobj){.target = instructions[k].target}, text, &symbol, 1, &arena, &err),
            STATUS_OK);
        const struct isa_instruction *in = &isa.kernels[0].instructions[0];
        if (in->kind != instructions[k].kind || in->space != instructions[k].space ||
            in->bytes != instructions[k].bytes || in->flops != instructions[k].flops ||
            in->ops != instructions[k].ops || in->matrix_ops != instructions[k].matrix_ops ||
            in->matrix_cycles != instructions[k].matrix_cycles)
            fail_msg("%s: %s, %s, %u bytes, %u flops, %u ops, %u in %u clocks", instructions[k].text,
                     isa_kinds[in->kind].name, isa_spaces[in->space], in->bytes, in->flops, in->ops, in->matrix_ops,
                     in->matrix_cycles);
        arena_release(&arena);
    }
}

/* ---- whole kernels ---- */

/* Two kernels of which one's name begins like the other's; a loop, a branch around code in it, a call of a function
 * behind the kernel, and what fills the section. */
static const char nvdisasm[] = "\t.headerflags\t@\"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)\"\n"
                               "\t.elftype\t@\"ET_EXEC\"\n\n"
                               "//--------------------- .text.sum2          --------------------------\n"
                               "\t.section\t.text.sum2,\"ax\",@progbits\n"
                               "\t.align\t128\n"
                               "        .global         sum2\n"
                               "        .type           sum2,@function\n"
                               "sum2:\n"
                               ".text.sum2:\n"
                               "        /*0000*/                   MOV R1, c[0x0][0x28] ;\n"
                               "        /*0010*/                   EXIT ;\n"
                               ".L_x_9:\n"
                               "        /*0020*/                   BRA `(.L_x_9);\n"
                               "//--------------------- .text.sum          --------------------------\n"
                               "sum:\n"
                               ".text.sum:\n"
                               "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
                               "        /*0010*/                   S2R R0, SR_TID.X ;\n"
                               "        /*0020*/               @P0 EXIT ;\n"
                               ".L_x_1:\n"
                               "        /*0030*/                   LDG.E.128 R4, desc[UR4][R2.64] ;\n"
                               "        /*0040*/                   BRA.U !UP0, `(.L_x_2) ;\n"
                               "        /*0050*/                   FFMA R8, R4, R5, R8 ;\n"
                               ".L_x_2:\n"
                               "        /*0060*/                   FADD R8, R6, R8 ;\n"
                               "        /*0070*/                   IADD3 R2, R2, 0x10, RZ ;\n"
                               "        /*0080*/              @!P1 BRA `(.L_x_1) ;\n"
                               "        /*0090*/                   CALL.REL.NOINC `($sum$divide) ;\n"
                               "        /*00a0*/                   STG.E desc[UR4][R2.64], R8 ;\n"
                               "        /*00b0*/                   EXIT ;\n"
                               "        .weak           $sum$divide\n"
                               "$sum$divide:\n"
                               "        /*00c0*/                   MUFU.RCP R8, R8 ;\n"
                               "        /*00d0*/                   RET.REL.NODEC R10 `(sum) ;\n"
                               ".L_x_3:\n"
                               "        /*00e0*/                   BRA `(.L_x_3);\n"
                               "        /*00f0*/                   NOP;\n"
                               "        /*0100*/                   NOP;\n";

static const char cuobjdump[] =
    "\nFatbin elf code:\n================\narch = sm_90\ncode version = [1,8]\n\n\tcode for sm_90\n"
    "\t\tFunction : sum2\n"
    "        /*0000*/                   MOV R1, c[0x0][0x28] ;                             /* 0x00000a0000017a02 */\n"
    "                                                                                      /* 0x000fe20000000f00 */\n"
    "        /*0010*/                   EXIT ;                                             /* 0x000000000000794d */\n"
    "\t\t..........\n\n"
    "\t\tFunction : sum\r\n"
    "\t.headerflags\t@\"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)\"\n"
    "        /*0000*/                   LDC R1, c[0x0][0x28] ;                             /* 0x00000a0000017a02 */\n"
    "                                                                                      /* 0x000fe20000000f00 */\n"
    "        /*0010*/                   S2R R0, SR_TID.X ;                                 /* 0x0000000000007919 */\n"
    "        /*0020*/               @P0 EXIT ;                                             /* 0x000000000000094d */\n"
    "        /*0030*/                   LDG.E.128 R4, desc[UR4][R2.64] ;                   /* 0x0000000402087981 */\n"
    "        /*0040*/                   BRA.U !UP0, 0x60 ;                                 /* 0x0000000105087547 */\n"
    "        /*0050*/                   FFMA R8, R4, R5, R8 ;                              /* 0x0000000504087223 */\n"
    "        /*0060*/                   FADD R8, R6, R8 ;                                  /* 0x0000000806087221 */\n"
    "        /*0070*/                   IADD3 R2, R2, 0x10, RZ ;                           /* 0x0000001002027810 */\n"
    "        /*0080*/              @!P1 BRA 0x30 ;                                         /* 0xfffffffffff89947 */\n"
    "        /*0090*/                   CALL.REL.NOINC 0xc0 ;                              /* 0x0000002000007944 */\n"
    "        /*00a0*/                   STG.E desc[UR4][R2.64], R8 ;                       /* 0x0000000802007986 */\n"
    "        /*00b0*/                   EXIT ;                                             /* 0x000000000000794d */\n"
    "        /*00c0*/                   MUFU.RCP R8, R8 ;                                  /* 0x0000000800087308 */\n"
    "        /*00d0*/                   RET.REL.NODEC R10 0x0 ;                            /* 0xfffffffc0ac07950 */\n"
    "        /*00e0*/                   BRA 0xe0;                                          /* 0xfffffffc00fc7947 */\n"
    "        /*00f0*/                   NOP;                                               /* 0x0000000000007918 */\n"
    "\t\t..........\n\n\n\nFatbin ptx code:\n================\n";

static void check_sum(const char *text)
{
    struct arena arena = {0};
    struct err err = {0};
    struct isa isa;
    struct isa_hot hot;
    const struct codeobj_kernel symbols[] = {{.name = "sum", .code_bytes = 4096}, {.name = "sum2", .code_bytes = 4096}};
    assert_int_equal(isa_parse(&isa, &(struct codeobj){.target = "sm_90a"}, text, symbols, 2, &arena, &err), STATUS_OK);
    const struct isa_kernel *kernel = &isa.kernels[0];
    assert_int_equal(isa.kernels[1].instruction_count, 2);
    assert_int_equal(isa.kernels[1].loop_count, 0);
    assert_int_equal(kernel->code.wave, 32);
    assert_int_equal(kernel->instruction_count, 14); /* the branch to itself and what fills the section are none */
    assert_int_equal(kernel->mix.code_bytes, 14 * 16);
    assert_string_equal(kernel->instructions[8].guard, "@!P1");
    assert_int_equal(kernel->instructions[8].target, 0x30);
    assert_int_equal(kernel->instructions[4].target, 0x60);
    assert_false(kernel->instructions[4].ends_block);
    assert_int_equal(kernel->instructions[9].target, 0xc0);
    assert_int_equal(kernel->calls, 1);
    assert_int_equal(kernel->not_followed, 0);
    assert_int_equal(kernel->mix.flops, 4);
    assert_int_equal(kernel->loop_count, 1);
    const struct isa_loop *loop = &kernel->loops[0];
    assert_int_equal(loop->first_address, 0x30);
    assert_int_equal(loop->last_address, 0x80);
    assert_int_equal(loop->own.instructions, 6);
    assert_int_equal(loop->own.flops, 3);
    assert_int_equal(loop->own.ops, 1);
    assert_int_equal(loop->own.traffic[ISA_GLOBAL].loads_by_width[ISA_16], 1);
    assert_true(isa_hot_find(&hot, kernel, &arena));
    assert_int_equal(hot.work, 4);
    assert_string_equal(hot.instruction, "LDG.E.128");
    arena_release(&arena);
}

static void reads_kernels(void **state)
{
    (void)state;
    check_sum(nvdisasm);
    check_sum(cuobjdump);
}

static void says_what_is_not_there(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    struct isa isa;
    const struct codeobj_kernel symbol = {.name = "su", .code_bytes = 64};
    assert_int_equal(isa_parse(&isa, &(struct codeobj){.target = "sm_90a"}, nvdisasm, &symbol, 1, &arena, &err),
                     ERR_CONFIG);
    assert_string_equal(err.text, "su: the disassembly has no instruction at 0x0");
    arena_release(&arena);
}

/* ---- findings ---- */

static const struct {
    const char *text; /* of the loop's body */
    const char *code; /* NULL: nothing */
} findings[] = {
    {"FADD R4, R4, R5", NULL},
    {"LDL R4, [R1]", "scratch-in-loop"},
    {"CALL.ABS.NOINC `(somewhere)", "calls"},
    {"UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], UPT", "matrix-shape"},
    {"BAR.SYNC.DEFER_BLOCKING 0x0", "barrier-per-step"},
    {"F2F.F64.F32 R4, R5", NULL},
};

static void finds(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(findings); k++) {
        struct arena arena = {0};
        struct err err = {0};
        struct isa isa;
        const struct codeobj_kernel symbol = {.name = "k", .code_bytes = 4096, .private_segment_bytes = 8};
        const char *text = arena_printf(&arena,
                                        ".text.k:\n        /*0000*/    S2R R0, SR_TID.X ;\n.L_x_0:\n"
                                        "        /*0010*/    %s ;\n        /*0020*/    @P0 BRA `(.L_x_0) ;\n"
                                        "        /*0030*/    EXIT ;\n",
                                        findings[k].text);
        assert_int_equal(isa_parse(&isa, &(struct codeobj){.target = "sm_100a"}, text, &symbol, 1, &arena, &err),
                         STATUS_OK);
        const struct isa_kernel *kernel = &isa.kernels[0];
        if (kernel->finding_count != (findings[k].code != NULL) ||
            (findings[k].code && strcmp(kernel->findings[0].code, findings[k].code) != 0))
            fail_msg("%s: %zu findings, %s", findings[k].text, kernel->finding_count,
                     kernel->finding_count ? kernel->findings[0].code : "none");
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_instructions),
        cmocka_unit_test(reads_kernels),
        cmocka_unit_test(says_what_is_not_there),
        cmocka_unit_test(finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
