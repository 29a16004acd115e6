/* SPDX-License-Identifier: MIT
 *
 * Inspection: what a compiler made of kernels. A code object is read (codeobj.h), disassembled (isa.h) and put beside
 * the occupancy rules (occupancy.h). Needs no GPU. Everything lives in the arena.
 */
#ifndef ROOFTILE_INSPECTION_H
#define ROOFTILE_INSPECTION_H

#include "rooftile/codeobj.h"
#include "rooftile/isa.h"
#include "rooftile/occupancy.h"

/* How a kernel of the catalog is launched. */
struct inspect_launch {
    const char *symbol;
    uint32_t block;               /* threads */
    uint32_t lds_bytes;           /* dynamic */
    const char *const *arg_names; /* what the manifest passes: a buffer's name, or an expression */
    size_t arg_count;
};

struct inspect_kernel {
    const struct codeobj_kernel *code;
    const char *name;                    /* demangled where it was mangled */
    const struct isa_kernel *isa;        /* NULL: not disassembled */
    const struct inspect_launch *launch; /* NULL: not known */

    /* What occupancy is told, and what it says. */
    uint32_t block;
    const char *block_source; /* "the launch" "--block" "required" "the largest allowed" "the most that fit" */
    uint32_t dynamic_lds_bytes;
    struct occupancy occupancy;
    const char *occupancy_problem; /* NULL: occupancy holds */

    /* The disassembly's findings, and those from registers, LDS and occupancy. */
    struct isa_finding *findings;
    size_t finding_count;
};

struct inspect_object {
    const struct codeobj *code;
    size_t entries;          /* bundle entries with exactly these bytes, which are examined once */
    const char *isa_problem; /* why there is no disassembly; NULL: there is */
    const char *tool;        /* the disassembler */
    const struct isa *isa;   /* NULL: there is no disassembly */
    struct inspect_kernel *kernels;
    size_t kernel_count;
    size_t hidden_count; /* kernels that were not asked for */
};

struct inspection {
    const char *path; /* of the file that was read */
    /* of a kernel of the catalog, with the parameters that tell it apart; NULL: a file as it was given */
    const char *label;
    const char *command; /* that built it, quoted for a shell; NULL likewise */
    const struct codeobj_file *file;
    struct inspect_object *objects; /* those that were asked for */
    size_t object_count;
    const char *ir; /* LLVM IR; NULL: not asked for */
};

#define INSPECT_DETAILS_FEW 4u /* so many kernels are shown in full without being asked for */

/* Which parts of a file are examined. Kernels of the catalog come with their launches, files without. */
struct inspect_choice {
    const char *const *archs; /* targets, features behind a colon; none: all */
    size_t arch_count;
    const char *const *filters; /* globs over kernels' names, mangled or not; none: all */
    size_t filter_count;
    bool is_brief;  /* with more than INSPECT_DETAILS_FEW kernels, no source lines and no demangled functions */
    uint32_t block; /* threads of a workgroup; 0: of the launch, else required, else the largest allowed */
    const struct inspect_launch *launches; /* with launches: these kernels alone */
    size_t launch_count;
    /* Returns `executed` of a kernel if its launch can be followed, else NULL. May be NULL. */
    const double *(*execute)(void *context, const struct isa_kernel *isa, const char *target);
    void *context;
};

/* ERR_CONFIG: the file holds no GPU code object, or none that was asked for. */
enum status inspect_file(struct inspection *inspection, const char *path, const struct inspect_choice *choice,
                         struct arena *arena, struct err *err);

/* The registers of a lane: the compiler's count if the hardware allocates just that (rounded up), else the allocation,
 * which launch bounds can make larger. */
struct inspect_registers {
    uint32_t vgprs, agprs;
    bool is_padded; /* allocated beyond what the code uses */
};
struct inspect_registers inspect_registers(const struct codeobj *object, const struct codeobj_kernel *code);

#endif
