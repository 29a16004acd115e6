/* SPDX-License-Identifier: MIT
 *
 * Reads code objects, the compiled form of GPU kernels, without a GPU, ROCm or CUDA. From AMD compilers: a plain code
 * object (.co, .hsaco), a clang offload bundle, compressed or not, or an executable, library or object of the host with
 * bundles inside its .hip_fatbin section (several, one after the other, compressed or not). From NVIDIA's: a cubin, or
 * PTX.
 *
 * Sources: the AMDGPU metadata note (msgpack; "Code Object V3+ Metadata" in LLVM's AMDGPUUsage) for the compiler's
 * view, the 64-byte kernel descriptor NAME.kd ("Kernel Descriptor") for the hardware's settings, the symbol table for
 * the location of the instructions. Compiler and hardware may disagree: launch bounds can allocate 169 VGPRs although
 * .vgpr_count is 2.
 *
 * A cubin has no metadata note. vgpr_count is then registers per thread, private_segment_bytes the stack frame (spilled
 * registers, arrays outside registers, call frames), group_segment_bytes the static shared memory, and kernarg_bytes
 * and the arguments come from constant bank 0; it is unknown which arguments are pointers. AMD-only members are 0.
 * ptxas marks the instructions that spill: their bytes are spill_store_bytes and spill_load_bytes, as `ptxas -v` prints
 * them.
 *
 * PTX is not machine code: the driver compiles it at load time and chooses the registers (is_ptx). It has the arguments
 * (but not which are pointers), static shared memory and the launch bounds; `code` is the kernel's text.
 *
 * Input may be hostile: every offset and size is checked, and a broken file is ERR_CONFIG with the reason. Everything
 * lives in the arena. Sizes are bytes, registers count 32-bit registers per lane.
 */
#ifndef ROOFTILE_CODEOBJ_H
#define ROOFTILE_CODEOBJ_H

#include "rooftile/base.h"

#define CODEOBJ_LIMIT_BYTES (2u << 30) /* limit of a file, and of a bundle after decompression: RCCL has 1.2 GB */

/* An argument in the kernarg segment. */
struct codeobj_arg {
    const char *name; /* "" if the compiler omitted it (it mostly does for HIP) */
    const char *type; /* "" likewise; OpenCL writes "float*" */
    uint32_t offset_bytes;
    uint32_t size_bytes;
    const char *value_kind;    /* "global_buffer" "by_value" "dynamic_shared_pointer" "hidden_block_count_x" ... */
    bool hidden;               /* filled in by the runtime: value_kind is hidden_* */
    bool is_pointer;           /* global_buffer, dynamic_shared_pointer, image, sampler, pipe, queue */
    const char *address_space; /* "global" "local" "constant" ...; "" unknown */
    const char *access;        /* "read_only" "write_only" "read_write", as declared, otherwise as used; "" unknown */
    const char *actual_access; /* how the code uses a pointer that is __restrict; "" for all others */
};

struct codeobj_kernel {
    const char *name;               /* .name, as passed to hipModuleGetFunction; mangled for C++ */
    const char *symbol;             /* of the descriptor, "NAME.kd" */
    const struct codeobj_arg *args; /* in the order of the metadata: explicit ones first, then hidden ones */
    size_t arg_count;
    size_t explicit_count; /* args[0 .. explicit_count) are passed by a launch; hidden ones follow */

    /* From the metadata, written by the compiler. */
    uint32_t vgpr_count; /* gfx90a and later CDNA: arch and acc registers together (arch aligned to 4) */
    uint32_t agpr_count; /* 0 if there are none */
    uint32_t sgpr_count; /* including VCC, flat_scratch and XNACK */
    uint32_t vgpr_spills, sgpr_spills;
    bool spill_bytes_known;                       /* a cubin of CUDA 13 or later, or one that marks spills; never AMD */
    uint64_t spill_store_bytes, spill_load_bytes; /* per thread, each instruction counted once */
    uint32_t barriers;                            /* number of barriers that a cubin's block uses; 0 for AMD */
    uint32_t group_segment_bytes;                 /* static LDS; the launch adds dynamic LDS */
    uint32_t private_segment_bytes;               /* scratch per lane; a lower bound if uses_dynamic_stack */
    uint32_t kernarg_bytes;
    uint32_t wave;              /* 64 or 32 */
    bool is_ptx;                /* the driver chooses registers, stack and spills, so 0 means unknown */
    uint32_t max_block;         /* .max_flat_workgroup_size, lanes; 0 unknown */
    uint32_t required_block[3]; /* .reqd_workgroup_size; 0 0 0 if there is no requirement */
    bool uses_dynamic_stack;
    /* gfx10 and later: a workgroup may use both CUs of a WGP; from the descriptor if there is one, since metadata only
     * have it from version 5 on */
    bool wgp_mode;

    /* From the kernel descriptor, which configures the hardware. All 0 if !has_descriptor. */
    bool has_descriptor;
    const char *code_problem; /* why the kernel has no code; NULL: it has, or the reason is unknown */
    uint32_t encoded_vgprs;   /* (GRANULATED_WORKITEM_VGPR_COUNT + 1) * encoding granule of target and wave;
                                * 0: target unknown */
    /* encoded_vgprs rounded up to the allocation granule: the registers that a wave occupies */
    uint32_t allocated_vgprs;
    /* of allocated_vgprs: up to ACCUM_OFFSET in a unified file if the kernel has AGPRs, otherwise all */
    uint32_t arch_vgprs;
    uint32_t user_sgprs;    /* set before a wave starts; workgroup ids follow */
    uint32_t workgroup_ids; /* bits 0, 1, 2: whether x, y and z are among the ids that follow */
    uint32_t properties;    /* KERNEL_CODE_PROPERTIES: bit k tells whether user_sgprs has the k-th item */
    /* allocated AGPRs; 0 if the kernel has none. gfx908: a separate file of the same size as arch_vgprs */
    uint32_t acc_vgprs;

    /* The instructions. NULL and 0 if the entry point is outside every loaded segment. */
    const unsigned char *code;
    /* up to the next kernel, the next function or the end of the section, regardless of labels and symbol sizes;
     * without padding after the symbol's size */
    size_t code_bytes;
    uint64_t code_address; /* virtual, as in disassemblies */
    char code_sha256[65];  /* "" without code */
};

/* Code outside kernels: a device function, whether called or not. Not listed for a cubin or PTX. */
struct codeobj_function {
    const char *name; /* mangled; "" if it is not printable */
    uint64_t address;
    uint64_t size_bytes; /* up to the following code, including padding */
};

struct codeobj {
    const unsigned char *bytes; /* the ELF image only */
    size_t size_bytes;
    uint64_t hash; /* of the bytes */
    /* index of the first object with these bytes, which is the only one that is read and has the kernels */
    size_t first;
    const char *id;       /* the bundle's entry id "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"; "": no bundle */
    const char *target;   /* "gfx942", "gfx9-4-generic", "sm_90a"; from metadata, else the ELF header's flags */
    const char *features; /* "sramecc+:xnack-"; "" any */
    bool target_of_id;    /* taken from `id`, as neither the metadata nor the flags name a target */
    unsigned abi;         /* code object version: 3, 4, 5 or 6; of a cubin 7 or 8 */
    const struct codeobj_kernel *kernels; /* in the order of the metadata */
    size_t kernel_count;
    const struct codeobj_function *functions; /* by address */
    size_t function_count;
};

/* A bundle entry other than an AMDGPU code object: the host's placeholder, SPIR-V, another vendor's code. */
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

/* The same for bytes in memory. The result points into `bytes`, which must live as long as the arena. */
enum status codeobj_parse(const struct codeobj_file **file, const char *path, const void *bytes, size_t size_bytes,
                          struct arena *arena, struct err *err);

/* "code object", "offload bundle", "compressed offload bundle", "executable" and "PTX", for messages. */
extern const char *const codeobj_containers[];

/* Returns the object that the AMD runtime would load on a device "gfx942" or "gfx942:sramecc+:xnack-": for the same
 * processor, with no feature set differently from the device; among several, the one that sets the most features. NULL:
 * none. If a bundle has several objects for one target (several translation units), it is the first: see
 * codeobj_find_kernel. */
const struct codeobj *codeobj_for_target(const struct codeobj_file *file, const char *target);

/* Returns the kernel with this name in one object, or NULL. */
const struct codeobj_kernel *codeobj_kernel(const struct codeobj *object, const char *name);

/* Returns the first kernel with this name in any object, which *object receives; NULL: none. */
const struct codeobj_kernel *codeobj_find_kernel(const struct codeobj **object, const struct codeobj_file *file,
                                                 const char *name);

/* Returns every target of the file once, "gfx90a gfx942:xnack-", for messages. */
char *codeobj_targets(const struct codeobj_file *file, struct arena *arena);

/* Units in which the hardware counts vector registers, per lane (LLVM's AMDGPUBaseInfo; occupancy of a kernel uses the
 * same numbers). */
struct codeobj_granules {
    uint32_t encoding;   /* unit of the descriptor's field */
    uint32_t allocation; /* unit of a wave's allocation */
    bool unified;        /* AGPRs follow the arch VGPRs in one file (gfx90a, 94x, 950) */
};
/* Returns false, and writes nothing, if the target is unknown. */
bool codeobj_granules(struct codeobj_granules *granules, const char *target, uint32_t wave);

#endif
