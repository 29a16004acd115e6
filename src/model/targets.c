/* SPDX-License-Identifier: MIT */
#include "rooftile/targets.h"

#include "rooftile/occupancy.h"

/* ---- properties of families of targets ---- */

#define KIB 1024u

static const struct occupancy_words amd = {"CU", "workgroup", "wave", "VGPR", "LDS", false};
static const struct occupancy_words nvidia = {"SM", "block", "warp", "register", "shared memory", true};

/* Occupancy: occupancy.h has the sources. A GCN or CDNA compute unit, an RDNA one (the LDS granule of gfx10 and later
 * is 512 bytes in LLVM, and 1024 in the RDNA 2 manual, 3.6.6; allocation follows LLVM), and NVIDIA's SM since compute
 * capability 8.0. */
#define GCN_CU(lds, granule)                                                                                           \
    .words = &amd, .wave = 64, .simds_cu = 4, .sgpr_file = 800, .waves = 8, .barriers_cu = 16, .lds_cu = (lds),        \
    .lds_max = (lds), .lds_granule = (granule)
#define GCN_VGPRS .vgpr_file = 256, .vgpr_granule = 4, .vgpr_encoding = 4, .vgprs_max = 256, .waves_llvm = 10
#define UNIFIED_VGPRS                                                                                                  \
    .vgpr_file = 512, .vgpr_granule = 8, .vgpr_encoding = 8, .vgprs_max = 512, .agprs = AGPRS_UNIFIED, .waves_llvm = 8
#define RDNA_CU(file, granule, most)                                                                                   \
    .words = &amd, .wave = 32, .has_wave64 = true, .has_wgp = true, .simds_cu = 2, .vgpr_file = (file),                \
    .vgpr_granule = (granule), .vgpr_encoding = 8, .vgprs_max = 256, .waves = (most), .waves_llvm = (most),            \
    .lds_cu = 64 * KIB, .lds_max = 64 * KIB, .lds_granule = 512, .barriers_cu = 16
#define NVIDIA_SM(most, lds, groups)                                                                                   \
    .words = &nvidia, .wave = 32, .simds_cu = 4, .vgpr_file = 512, .vgpr_granule = 8, .vgprs_max = 255,                \
    .waves = (most), .waves_llvm = (most), .lds_cu = (lds)*KIB, .lds_max = ((lds)-1) * KIB, .lds_granule = 128,        \
    .lds_reserved = KIB, .groups_cu = (groups)

/* Matrix instructions: the instruction sets' manuals ("Matrix Arithmetic Instructions" of CDNA, "WMMA" of RDNA 3 and
 * 4), AMD's matrix instruction calculator, LLVM's VOP3PInstructions.td; for NVIDIA PTX ISA, "mma.sync". */
#define MFMA(holder_lanes)                                                                                             \
    .matrix_lanes = 64, .matrix_size = 32, .matrix_layout = 2, .matrix_holders = (holder_lanes), .matrix_rows = 1
#define WMMA(layout, holder_lanes)                                                                                     \
    .matrix_lanes = 32, .matrix_size = 16, .matrix_layout = (layout), .matrix_holders = (holder_lanes), .matrix_rows = 1
#define MMA_SYNC                                                                                                       \
    .matrix_lanes = 32, .matrix_size = 16, .matrix_layout = 3, .matrix_holders = 32, .matrix_rows = 2,                 \
    .matrix_k_f64 = 4, .matrix_k_xf32 = 8, .matrix_k_f16 = 16, .matrix_k_bf16 = 16, .matrix_k_i8 = 32,                 \
    .matrix_k_f16_sums = 16
#define GFX94_MATRIX                                                                                                   \
    MFMA(64), .matrix_k_f64 = 4, .matrix_k_f32 = 4, .matrix_k_xf32 = 8, .matrix_k_f16 = 16, .matrix_k_bf16 = 16,       \
              .matrix_k_fp8_fnuz = 32, .matrix_k_i8 = 32, .matrix_k_sparse_f16 = 32, .matrix_k_sparse_i8 = 64,         \
              .matrix_k_sparse_fp8_fnuz = 64
#define GFX11_MATRIX                                                                                                   \
    WMMA(11, 16), .matrix_k_f16 = 16, .matrix_k_bf16 = 16, .matrix_k_i8 = 16, .matrix_k_i4 = 16,                       \
                  .matrix_k_f16_sums = 16, .matrix_k_bf16_sums = 16
#define GFX12_MATRIX                                                                                                   \
    WMMA(12, 32), .matrix_k_f16 = 16, .matrix_k_bf16 = 16, .matrix_k_fp8_ocp = 16, .matrix_k_i8 = 16,                  \
                  .matrix_k_i4 = 32, .matrix_k_sparse_f16 = 32, .matrix_k_sparse_i8 = 32,                              \
                  .matrix_k_sparse_fp8_ocp = 32, .matrix_k_f16_sums = 16, .matrix_k_bf16_sums = 16
/* No sparse ones: the layout of their A is not documented. */
#define GFX1250_MATRIX                                                                                                 \
    WMMA(1250, 32), .matrix_k_f32 = 4, .matrix_k_f16 = 32, .matrix_k_bf16 = 32, .matrix_k_fp8_ocp = 128,               \
                    .matrix_k_mx = 128, .matrix_k_i8 = 64, .matrix_k_f16_sums = 32, .matrix_k_bf16_sums = 32

/* Rates. Vector units: AMD's instruction set manuals and white papers (CDNA: 64 lanes, from gfx90a on packed pairs of
 * f32; RDNA: two SIMDs of 32 lanes, from gfx11 on in pairs), the throughput table of the CUDA C++ Programming Guide.
 * Transcendental ones: a quarter of the lanes of GCN, CDNA and RDNA by LLVM's SISchedule.td, whose comment on
 * WriteTrans32 is "F16 or F32 transcendental instructions (these are quarter rate)", for all of them, and whose latency
 * of GCN and CDNA, 1 / (operations / cycle) / 4, is 4 for it and 1 for Write32Bit, from AMD's Accelerated Parallel
 * Processing guide; 16 per SM in the CUDA guide's table. Loads and stores: 64 bytes in each direction (GCN, CDNA), or
 * 128. */
#define AMD_RATES(f32, f64, bytes)                                                                                     \
    .rate_f32 = (f32), .rate_f64 = (f64), .rate_transcendental = 16, .rate_bytes = (bytes)

/* Vector units: LLVM's AMDGPU.td (packed f16 since GFX9; v_dot4 in FeatureDot1Insts and FeatureDot8Insts;
 * v_dot2_f32_bf16 in FeatureDot12Insts; atomics by FeatureAtomic... and FeatureFlatAtomic...; v_pk_fma_f32 in
 * FeaturePackedFP32Ops); NVIDIA: PTX's fma.f16x2, dp4a, atom.add. */
#define AMD_VECTOR                                                                                                     \
    .f16 = 1, .dpp = 1, .unaligned_access = 1, .named_registers = 1, .atomic_add_lds_f32 = 1, .atomic_max_lds_f32 = 1, \
    .atomic_max_lds_f64 = 1
#define AMD_DOTS .i8_dot = 1, .f16_dot = 1, .i4_dot = 1
#define CDNA_ATOMICS                                                                                                   \
    .atomic_add_f16 = 1, .atomic_add_f32 = 1, .atomic_add_f64 = 1, .atomic_add_lds_f64 = 1, .atomic_max_f64 = 1
#define GFX10_VECTOR AMD_VECTOR, .permlane16 = 1, .atomic_max_f32 = 1, .atomic_max_f64 = 1, AMD_RATES(128, 0, 256)
#define GFX11_UNITS AMD_VECTOR, AMD_DOTS, .bf16_dot = 1, .permlane16 = 1, .atomic_add_f32 = 1, .atomic_max_f32 = 1
#define GFX11_VECTOR GFX11_UNITS, AMD_RATES(256, 0, 256)
#define GFX12_UNITS GFX11_UNITS, .atomic_add_f16 = 1, .atomic_add_lds_f16 = 1
#define GFX12_VECTOR GFX12_UNITS, AMD_RATES(256, 0, 256)
/* 8-bit floats: ptxas of CUDA 12 and 13 has an mma.sync instruction for them on sm_89, sm_120 and sm_121; elsewhere it
 * converts them to f16. A source may declare 48 KiB of shared memory; more can be requested at launch. */
#define NVIDIA_VECTOR(transcendental)                                                                                  \
    .f16 = 1, .i8_dot = 1, .atomic_add_f16 = 1, .atomic_add_f32 = 1, .atomic_add_f64 = 1, .lds_declared = 48 * KIB,    \
    .rate_f32 = 256, .rate_f64 = 128, .rate_transcendental = (transcendental), .rate_bytes = 256
/* In addition to the processor's features (run/facts.c). LDS: as much as the kernels of the largest GPU declare. */
#define CPU_VECTOR                                                                                                     \
    .cpu = 1, .f16_dot = 1, .i4_dot = 1, .fp8_ocp = 1, .fp8_fnuz = 1, .dpp = 1, .permlane16 = 1,                       \
    .unaligned_access = 1, .atomic_add_f16 = 1, .atomic_add_f32 = 1, .atomic_add_f64 = 1, .atomic_add_lds_f16 = 1,     \
    .atomic_add_lds_f32 = 1, .atomic_add_lds_f64 = 1, .atomic_max_f32 = 1, .atomic_max_f64 = 1,                        \
    .atomic_max_lds_f32 = 1, .atomic_max_lds_f64 = 1, .lds_declared = 160 * KIB

/* The first row with the target's name applies. Rows whose names end in '*' are for targets without a row of their own,
 * such as gfx11-generic: their processor is unknown, and so is occupancy. */
static const struct target_family families[] = {
    {{"gfx906", GCN_CU(64 * KIB, 512), GCN_VGPRS}, {AMD_VECTOR, AMD_DOTS, AMD_RATES(128, 64, 128)}},
    {{"gfx900 gfx902 gfx904 gfx909 gfx90c", GCN_CU(64 * KIB, 512), GCN_VGPRS}, {AMD_VECTOR, AMD_RATES(128, 64, 128)}},
    {{"gfx908", GCN_CU(64 * KIB, 512), GCN_VGPRS, .agprs = AGPRS_SEPARATE},
     {MFMA(64), .matrix_k_f32 = 4, .matrix_k_f16 = 16, .matrix_k_bf16 = 8, .matrix_k_i8 = 16, AMD_VECTOR, AMD_DOTS,
      .atomic_add_f16 = 1, .atomic_add_f32 = 1, AMD_RATES(128, 64, 128)}},
    {{"gfx90a", GCN_CU(64 * KIB, 512), UNIFIED_VGPRS},
     {MFMA(64), .matrix_k_f64 = 4, .matrix_k_f32 = 4, .matrix_k_f16 = 16, .matrix_k_bf16 = 16, .matrix_k_i8 = 16,
      AMD_VECTOR, AMD_DOTS, .packed_f32 = 1, CDNA_ATOMICS, AMD_RATES(256, 128, 128)}},
    {{"gfx940 gfx941 gfx942", GCN_CU(64 * KIB, 512), UNIFIED_VGPRS},
     {GFX94_MATRIX, .fp8_fnuz = 1, AMD_VECTOR, AMD_DOTS, .packed_f32 = 1, CDNA_ATOMICS, .atomic_add_lds_f16 = 1,
      AMD_RATES(256, 128, 256)}},
    {{"gfx950", GCN_CU(160 * KIB, 1280), UNIFIED_VGPRS},
     {MFMA(64), .matrix_k_f64 = 4, .matrix_k_f32 = 4, .matrix_k_f16 = 32, .matrix_k_bf16 = 32, .matrix_k_i8 = 64,
      .matrix_k_fp8_ocp = 128, .matrix_k_mx = 128, .matrix_k_sparse_f16 = 64, .matrix_k_sparse_i8 = 128,
      .matrix_k_sparse_fp8_ocp = 128, .fp8_ocp = 1, AMD_VECTOR, AMD_DOTS, .bf16_dot = 1, .packed_f32 = 1, CDNA_ATOMICS,
      .atomic_add_lds_f16 = 1, AMD_RATES(256, 128, 256)}},
    {{"gfx1011", RDNA_CU(1024, 8, 20)}, {GFX10_VECTOR, AMD_DOTS}},
    {{"gfx1010 gfx1012 gfx1013", RDNA_CU(1024, 8, 20)}, {GFX10_VECTOR}},
    {{"gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036", RDNA_CU(1024, 16, 16)}, {GFX10_VECTOR, AMD_DOTS}},
    {{"gfx1102 gfx1103 gfx1150 gfx1152 gfx1153", RDNA_CU(1024, 16, 16)}, {GFX11_MATRIX, GFX11_VECTOR}},
    {{"gfx1100 gfx1101 gfx1151", RDNA_CU(1536, 24, 16)}, {GFX11_MATRIX, GFX11_VECTOR}},
    {{"gfx1200 gfx1201", RDNA_CU(1536, 24, 16)}, {GFX12_MATRIX, .fp8_ocp = 1, GFX12_VECTOR}},
    /* A CU of these targets has the four SIMDs of a WGP, and no WGP mode. */
    {{"gfx1250 gfx1251", .words = &amd, .wave = 32, .simds_cu = 4, .vgpr_file = 1024, .vgpr_granule = 16,
      .vgpr_encoding = 16, .vgprs_max = 1024, .waves = 16, .waves_llvm = 16, .lds_cu = 320 * KIB, .lds_max = 320 * KIB,
      .lds_granule = 2048, .barriers_cu = 16},
     {GFX1250_MATRIX, .fp8_ocp = 1, AMD_VECTOR, .i8_dot = 1, .i4_dot = 1, .packed_f32 = 1, .permlane16 = 1,
      CDNA_ATOMICS, .atomic_max_f32 = 1, .atomic_add_lds_f16 = 1}},
    {{"sm_80", NVIDIA_SM(16, 164, 32)}, {MMA_SYNC, .matrix_k_i4 = 64, NVIDIA_VECTOR(16)}},
    {{"sm_86", NVIDIA_SM(12, 100, 16)}, {MMA_SYNC, .matrix_k_i4 = 64, NVIDIA_VECTOR(16)}},
    {{"sm_87", NVIDIA_SM(12, 164, 16)}, {MMA_SYNC, .matrix_k_i4 = 64, NVIDIA_VECTOR(16)}},
    {{"sm_89", NVIDIA_SM(12, 100, 24)},
     {MMA_SYNC, .matrix_k_fp8_ocp = 32, .matrix_k_i4 = 64, .fp8_ocp = 1, NVIDIA_VECTOR(16)}},
    {{"sm_90 sm_90a", NVIDIA_SM(16, 228, 32), .barriers_cu = 64},
     {MMA_SYNC, .matrix_k_fp8_ocp = 32, .fp8_ocp = 1, .fp8_as_f16 = 1, NVIDIA_VECTOR(16)}},
    {{"sm_100 sm_100a sm_100f", NVIDIA_SM(16, 228, 32), .barriers_cu = 64},
     {MMA_SYNC, .matrix_k_fp8_ocp = 32, .fp8_ocp = 1, .fp8_as_f16 = 2, NVIDIA_VECTOR(16)}},
    /* Twice the exponentials of sm_100; the other functions are not documented. */
    {{"sm_103 sm_103a sm_103f", NVIDIA_SM(16, 228, 32), .barriers_cu = 64},
     {MMA_SYNC, .matrix_k_fp8_ocp = 32, .fp8_ocp = 1, .fp8_as_f16 = 2, NVIDIA_VECTOR(0)}},
    {{"sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f", NVIDIA_SM(12, 100, 24), .barriers_cu = 24},
     {MMA_SYNC, .matrix_k_fp8_ocp = 32, .fp8_ocp = 1, NVIDIA_VECTOR(16)}},
    {{.targets = "gfx94*"},
     {GFX94_MATRIX, .fp8_fnuz = 1, AMD_VECTOR, AMD_DOTS, .packed_f32 = 1, CDNA_ATOMICS, AMD_RATES(256, 128, 256)}},
    {{.targets = "gfx9*"}, {AMD_VECTOR}},
    {{.targets = "gfx103*"}, {GFX10_VECTOR, AMD_DOTS}},
    {{.targets = "gfx10*"}, {GFX10_VECTOR}},
    {{.targets = "gfx11*"}, {GFX11_MATRIX, GFX11_VECTOR}},
    {{.targets = "gfx120*"}, {GFX12_MATRIX, .fp8_ocp = 1, GFX12_VECTOR}},
    {{.targets = "gfx12*"}, {GFX12_UNITS}},
    {{.targets = "sm_*"}, {MMA_SYNC, .matrix_k_fp8_ocp = 32, .fp8_ocp = 1, .fp8_as_f16 = 2, NVIDIA_VECTOR(0)}},
};

/* The CPU device executes fragments as loops (kernels/include/simt_tile_cpu.h): in waves of 64 all shapes of MFMA, in
 * waves of 32 those of gfx12, or by the parameter `layout` those of gfx11, gfx1250 or NVIDIA. */
static const struct target_facts cpu_wave64 = {GFX94_MATRIX, .matrix_k_fp8_ocp = 128, .matrix_k_mx = 128, CPU_VECTOR};
static const struct target_facts cpu_wave32[] = {
    {GFX12_MATRIX, CPU_VECTOR},
    {GFX11_MATRIX, CPU_VECTOR},
    {MMA_SYNC, .matrix_k_fp8_ocp = 32, CPU_VECTOR},
    {GFX1250_MATRIX, CPU_VECTOR},
};

const struct target_family *target_family_added;

static bool is_named(const char *names, const char *target)
{
    char arch[32], name[32];
    snprintf(arch, sizeof(arch), "%.*s", (int)strcspn(target, ":"), target);
    for (const char *at = names; *arch && *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " "), at);
        if (text_matches(arch, name))
            return true;
    }
    return false;
}

static const struct target_family *family_of(const char *target)
{
    if (target_family_added && is_named(target_family_added->limits.targets, target))
        return target_family_added;
    for (size_t k = 0; k < sizeof(families) / sizeof(*families); k++)
        if (is_named(families[k].limits.targets, target))
            return &families[k];
    return NULL;
}

const struct occupancy_limits *occupancy_limits(const char *target)
{
    const struct target_family *family = family_of(target);
    return family && family->limits.words ? &family->limits : NULL;
}

const struct target_facts *target_facts(const char *target)
{
    static const struct target_facts unknown;
    const struct target_family *family = family_of(target);
    return family ? &family->facts : &unknown;
}

const struct target_facts *target_cpu_facts(uint32_t wave, size_t *layouts)
{
    *layouts = wave == 32 ? sizeof(cpu_wave32) / sizeof(*cpu_wave32) : 1;
    return wave == 32 ? cpu_wave32 : &cpu_wave64;
}

/* ---- targets by name ---- */

const struct target targets[] = {
    {"gfx906", "Radeon VII, Instinct MI50, MI60", 14, NULL},
    {"gfx908", "Instinct MI100", 14, NULL},
    {"gfx90a", "Instinct MI210, MI250, MI250X", 14, NULL},
    {"gfx942", "Instinct MI300A, MI300X, MI325X", 17, NULL},
    {"gfx950", "Instinct MI350P, MI350X, MI355X", 20, NULL},
    {"gfx1030", "Radeon RX 6800, RX 6900 XT, PRO W6800", 14, NULL},
    {"gfx1100", "Radeon RX 7900 XT, RX 7900 XTX, PRO W7900", 15, NULL},
    {"gfx1101", "Radeon RX 7700 XT, RX 7800 XT, PRO W7700", 15, NULL},
    {"gfx1102", "Radeon RX 7600", 15, NULL},
    {"gfx1151", "Ryzen AI Max (Radeon 8060S)", 17, NULL},
    {"gfx1200", "Radeon RX 9060 XT", 18, NULL},
    {"gfx1201", "Radeon RX 9070, RX 9070 XT, AI PRO R9700", 18, NULL},
    {"gfx1250", "Instinct MI455X and others of the MI400 series", 22, NULL},
    {"sm_80", "A100, A30", 19, "11.0"},
    {"sm_89", "GeForce RTX 4090, L4, L40, L40S", 19, "11.8"},
    {"sm_90a", "H100, H200, GH200", 19, "12.0"},
    {"sm_100a", "B200, GB200", 20, "12.8"},
    {"sm_120a", "GeForce RTX 5090, RTX PRO 6000 Blackwell", 20, "12.8"},
};
const size_t target_count = sizeof(targets) / sizeof(*targets);

bool target_is_amd(const char *arch)
{
    return text_starts(arch, "gfx");
}

bool target_is_nvidia(const char *arch)
{
    return text_starts(arch, "sm_");
}

const char *target_unit_word(const char *arch)
{
    return target_is_amd(arch) ? amd.unit : target_is_nvidia(arch) ? nvidia.unit : "thread";
}

/* PTX ISA's "Release Notes": the first version with each target; for 89 and 90 the first with 8-bit floats in mma. */
unsigned target_ptx(const char *arch)
{
    static const struct {
        unsigned long sm;
        unsigned version;
    } firsts[] = {{80, 70}, {86, 71}, {87, 74}, {89, 84}, {100, 86}, {103, 88}, {120, 87}, {121, 88}};
    const unsigned long sm = target_is_nvidia(arch) ? strtoul(arch + strlen("sm_"), NULL, 10) : 0;
    unsigned version = firsts[0].version;
    for (size_t k = 0; k < sizeof(firsts) / sizeof(*firsts); k++)
        if (firsts[k].sm <= sm)
            version = firsts[k].version;
    return version;
}

const struct target *target_find(const char *arch)
{
    const size_t length = strcspn(arch, ":");
    for (size_t k = 0; k < target_count; k++)
        if (strlen(targets[k].arch) == length && strncmp(targets[k].arch, arch, length) == 0)
            return &targets[k];
    return NULL;
}

/* 9 for gfx90a and gfx9-4-generic, 11 for gfx1151 and gfx11-generic: the last two characters are minor and stepping. */
static unsigned long gfx_major(const char *arch)
{
    if (!target_is_amd(arch))
        return 0;
    const size_t length = strcspn(arch + 3, "-:");
    char major[8] = "";
    if (length >= sizeof(major))
        return 0;
    memcpy(major, arch + 3, length);
    if (arch[3 + length] != '-' && length > 2)
        major[length - 2] = '\0';
    return strtoul(major, NULL, 10);
}

struct target_modes target_modes(const char *arch)
{
    if (text_starts(arch, "gfx125")) /* CDNA again: 320 KiB of LDS per compute unit, waves of 32 only */
        return (struct target_modes){.wave32 = true, .wave = 32};
    if (target_is_nvidia(arch))
        return (struct target_modes){.wave32 = true, .wave = 32};
    if (gfx_major(arch) >= 10)
        return (struct target_modes){.wave32 = true, .wave64 = true, .wgp = true, .wave = 32};
    return (struct target_modes){.wave64 = true, .wave = 64};
}

enum status target_check_modes(const char *arch, uint32_t wave, bool cumode, struct err *err)
{
    const struct target_modes modes = target_modes(arch);
    if (wave != 64 && wave != 32)
        return err_set(err, ERR_UNSUPPORTED, "no device has waves of %u lanes", wave);
    if (wave == 64 ? !modes.wave64 : !modes.wave32)
        return err_set(err, ERR_UNSUPPORTED, "%s has waves of %u lanes only", arch, wave == 64 ? 32u : 64u);
    if (cumode && !modes.wgp)
        return err_set(err, ERR_UNSUPPORTED, "%s has no WGP mode: CU mode is not a choice there", arch);
    return STATUS_OK;
}
