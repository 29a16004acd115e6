/* SPDX-License-Identifier: MIT
 *
 * Code objects: what a compiler made of GPU kernels, read without a GPU, ROCm or CUDA. From AMD compilers: a plain code
 * object (.co, .hsaco), a clang offload bundle, compressed or not, or an executable, library or object of the host with
 * bundles inside its .hip_fatbin section (several, one after the other, compressed or not). From NVIDIA's: a cubin, or
 * PTX.
 *
 * Sources: the AMDGPU metadata note (msgpack; "Code Object V3+ Metadata" in LLVM's AMDGPUUsage) for what the compiler
 * says, the 64-byte kernel descriptor NAME.kd ("Kernel Descriptor") for what the hardware is told, the symbol table for
 * where the instructions are. Compiler and hardware may disagree: launch bounds can allocate 169 VGPRs where
 * .vgpr_count says 2.
 *
 * A cubin has no metadata note. vgpr_count is then registers per thread, private_segment_bytes the stack frame (spilled
 * registers, arrays without registers, what calls need), group_segment_bytes static shared memory, kernarg_bytes and
 * the arguments those of constant bank 0; which arguments are pointers is not known. Members that only AMD has are 0.
 * ptxas marks the instructions that spill: their bytes are spill_store_bytes and spill_load_bytes, which `ptxas -v`
 * prints, too.
 *
 * PTX is not machine code: the driver compiles it when it loads it, and chooses the registers (is_ptx). It gives the
 * arguments (but not which are pointers), static shared memory and the launch bounds; `code` is the kernel's text.
 *
 * Input may be hostile: every offset and size is checked, and a broken file is ERR_CONFIG with the reason. Everything
 * lives in the arena. Sizes are bytes, registers count 32-bit registers per lane.
 */
#ifndef ROOFTILE_CODEOBJ_H
#define ROOFTILE_CODEOBJ_H

#include "rooftile/base.h"

#define CODEOBJ_LIMIT_BYTES (2u << 30) /* largest file, and largest bundle after decompression: RCCL has 1.2 GB */

/* One argument as the kernel's prologue finds it in the kernarg segment. */
struct codeobj_arg {
    const char *name; /* "" when the compiler left it out (it mostly does for HIP) */
    const char *type; /* "" likewise; OpenCL writes "float*" */
    uint32_t offset_bytes;
    uint32_t size_bytes;
    const char *value_kind;    /* "global_buffer" "by_value" "dynamic_shared_pointer" "hidden_block_count_x" ... */
    bool hidden;               /* filled in by the runtime: value_kind is hidden_* */
    bool is_pointer;           /* global_buffer, dynamic_shared_pointer, image, sampler, pipe, queue */
    const char *address_space; /* "global" "local" "constant" ...; "" unknown */
    const char *access;        /* "read_only" "write_only" "read_write", as declared, else the actual one; "" unknown */
    const char *actual_access; /* what the code does with a pointer that is __restrict; "" for all others */
};

struct codeobj_kernel {
    const char *name;               /* .name: what hipModuleGetFunction takes; mangled for C++ */
    const char *symbol;             /* of the descriptor, "NAME.kd" */
    const struct codeobj_arg *args; /* in the order of the metadata: explicit ones first, then hidden ones */
    size_t arg_count;
    size_t explicit_count; /* args[0 .. explicit_count) are the ones a launch passes; hidden ones follow */

    /* From the metadata: what the compiler says. */
    uint32_t vgpr_count; /* gfx90a and later CDNA: arch and acc registers together (arch aligned to 4) */
    uint32_t agpr_count; /* 0 where there are none */
    uint32_t sgpr_count; /* with VCC, flat_scratch and XNACK extras */
    uint32_t vgpr_spills, sgpr_spills;
    bool spill_bytes_known; /* a cubin of CUDA 13 or later, or one that marks spills; AMD's never */
    uint64_t spill_store_bytes, spill_load_bytes; /* of a thread, each instruction once */
    uint32_t barriers;                            /* that a block of a cubin's names; 0 for AMD */
    uint32_t group_segment_bytes;                 /* static LDS; a launch adds its dynamic LDS */
    uint32_t private_segment_bytes;               /* scratch of each lane; a lower bound when uses_dynamic_stack */
    uint32_t kernarg_bytes;
    uint32_t wave;              /* 64 or 32 */
    bool is_ptx;                /* registers, stack and spills are the driver's choice: 0 here is "not known" */
    uint32_t max_block;         /* .max_flat_workgroup_size, lanes; 0 unknown */
    uint32_t required_block[3]; /* .reqd_workgroup_size; 0 0 0 when any will do */
    bool uses_dynamic_stack;
    bool wgp_mode; /* gfx10 and later: a workgroup may spread over both CUs of a WGP; by the descriptor
                                * where there is one, as the metadata does not say it before version 5 */

    /* From the kernel descriptor: what the hardware is told. All 0 when !has_descriptor. */
    bool has_descriptor;
    const char
        *code_problem; /* why there is no code although the metadata names the kernel; NULL: no reason known, or code */
    uint32_t encoded_vgprs;   /* (GRANULATED_WORKITEM_VGPR_COUNT + 1) * encoding granule of target and wave;
                                * 0: target unknown */
    uint32_t allocated_vgprs; /* that, rounded up to the allocation granule: what a wave takes of the file */
    uint32_t arch_vgprs;      /* of allocated_vgprs: up to ACCUM_OFFSET in a unified file when the kernel has AGPRs,
                                * else all */
    uint32_t user_sgprs;      /* that are set before a wave starts; workgroup ids follow */
    uint32_t workgroup_ids;   /* bits 0, 1, 2: x, y and z are among what follows */
    uint32_t properties;      /* KERNEL_CODE_PROPERTIES: bit k stands for the k-th item in user_sgprs */
    uint32_t acc_vgprs;       /* AGPRs allocated; 0 when the kernel has none. gfx908: another file of the same size as
                                * arch_vgprs */

    /* The instructions. NULL and 0 when the entry point lies outside every loaded segment. */
    const unsigned char *code;
    size_t code_bytes;     /* up to the next kernel, the next function or the end of the section, whatever labels and
                            * sizes say; without padding behind the symbol's size */
    uint64_t code_address; /* virtual, as disassemblers print it */
    char code_sha256[65];  /* "" when there is no code */
};

/* Code that is not a kernel: a device function, called or not. None are listed for a cubin or PTX. */
struct codeobj_function {
    const char *name; /* mangled; "": it cannot be printed */
    uint64_t address;
    uint64_t size_bytes; /* up to what follows, padding included */
};

struct codeobj {
    const unsigned char *bytes; /* the ELF image alone */
    size_t size_bytes;
    uint64_t hash;        /* of the bytes */
    size_t first;         /* index of the first object with these bytes; only that one is read, and gives the kernels */
    const char *id;       /* the bundle's entry id "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"; "": no bundle */
    const char *target;   /* "gfx942", "gfx9-4-generic", "sm_90a"; from metadata, else the ELF header's flags */
    const char *features; /* "sramecc+:xnack-"; "" any */
    bool target_of_id;    /* neither the metadata nor the flags name a target: it is taken from `id` */
    unsigned abi;         /* code object version: 3, 4, 5 or 6; of a cubin 7 or 8 */
    const struct codeobj_kernel *kernels; /* in the order of the metadata */
    size_t kernel_count;
    const struct codeobj_function *functions; /* by address */
    size_t function_count;
};

/* A bundle's entry that is not an AMDGPU code object: the host's place holder, SPIR-V, another vendor's. */
struct codeobj_other {
    const char *id;
    uint64_t size_bytes;
};

enum codeobj_container { CODEOBJ_PLAIN, CODEOBJ_BUNDLE, CODEOBJ_COMPRESSED, CODEOBJ_EXECUTABLE, CODEOBJ_PTX };

struct codeobj_file {
    const char *path;
    enum codeobj_container container;
    const struct codeobj *objects; /* at least one, in file order */
    size_t count;
    const struct codeobj_other *others;
    size_t other_count;
};

/* ERR_CONFIG "PATH: not a code object: ..." | "PATH: ... truncated ..." | "PATH: ... has no AMDGPU metadata note". */
enum status codeobj_read(const struct codeobj_file **file, const char *path, struct arena *arena, struct err *err);

/* The same for bytes already in memory. The result points into `bytes`, which must live as long as the arena. */
enum status codeobj_parse(const struct codeobj_file **file, const char *path, const void *bytes, size_t size_bytes,
                          struct arena *arena, struct err *err);

/* "code object" "offload bundle" "compressed offload bundle" "executable" "PTX": for messages. */
const char *codeobj_container_name(enum codeobj_container container);

/* The object that the AMD runtime would load on a device "gfx942" or "gfx942:sramecc+:xnack-": for the same processor,
 * with no feature set otherwise than on the device; of several, the one that sets the most features. NULL: none. From a
 * bundle with several objects for one target (several translation units) it is the first: see codeobj_find_kernel. */
const struct codeobj *codeobj_for_target(const struct codeobj_file *file, const char *target);

/* The kernel with this name in one object, or NULL. */
const struct codeobj_kernel *codeobj_kernel(const struct codeobj *object, const char *name);

/* The first kernel with this name in any object, and in *object where it was; NULL: none. */
const struct codeobj_kernel *codeobj_find_kernel(const struct codeobj **object, const struct codeobj_file *file,
                                                 const char *name);

/* Every target of the file once, "gfx90a gfx942:xnack-": for messages. */
char *codeobj_targets(const struct codeobj_file *file, struct arena *arena);

/* How the hardware counts vector registers, per lane (LLVM's AMDGPUBaseInfo; occupancy of a kernel uses the same
 * numbers). */
struct codeobj_granules {
    uint32_t encoding;   /* the descriptor's field counts these */
    uint32_t allocation; /* a wave gets a multiple of this */
    bool unified;        /* AGPRs lie behind the arch VGPRs in one file (gfx90a, 94x, 950) */
};
/* False for a target that is not known; then nothing is written. */
bool codeobj_granules(struct codeobj_granules *granules, const char *target, uint32_t wave);

#endif
