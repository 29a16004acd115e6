/* SPDX-License-Identifier: MIT
 *
 * Inspect: what compilers made of kernels. A code object is read (kernel/codeobj), disassembled (kernel/isa), put
 * beside the occupancy rules (model/occupancy), and shown as text or JSON. Nothing here needs a GPU.
 *
 *     argument -> inspect_file | inspect_catalog -> struct inspection { objects { kernels } } -> text | JSON
 */
#ifndef ROOFTILE_INSPECT_H
#define ROOFTILE_INSPECT_H

#include "cli.h"
#include "rooftile/build.h"
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
    const struct isa_kernel *isa;        /* NULL: not disassembled */
    const struct inspect_launch *launch; /* NULL: not known */

    /* What occupancy is told, and what it says. */
    uint32_t block;
    const char *block_source; /* "the launch" "--block" "required" "the largest allowed" */
    uint32_t dynamic_lds_bytes;
    struct occupancy occupancy;
    const char *occupancy_problem; /* NULL: occupancy holds */

    /* The disassembly's findings, and those from registers, LDS and occupancy. */
    struct isa_finding *findings;
    size_t finding_count;
};

struct inspect_object {
    const struct codeobj *code;
    const char *isa_problem; /* why there is no disassembly; NULL: there is */
    const char *tool;        /* the disassembler */
    struct inspect_kernel *kernels;
    size_t kernel_count;
    size_t hidden_count; /* kernels that --filter left out, or that the catalog kernel does not launch */
};

struct inspection {
    const char *path; /* of the file that was read */
    const char
        *label; /* of a kernel of the catalog, with the parameters that tell it apart; NULL: a file as it was given */
    const char *command; /* that built it, quoted for a shell; NULL likewise */
    const struct codeobj_file *file;
    struct inspect_object *objects; /* those that --arch wants */
    size_t object_count;
    const char *ir; /* --ir, else NULL */
};

/* What of a file is looked at. Catalog kernels give their launches, files none. */
struct inspect_choice {
    const struct cli_options *options;
    const struct inspect_launch *launches;
    size_t launch_count;
    bool ignore_arch; /* the object was built for the target: nothing to choose */
};

/* ERR_CONFIG: the file holds no AMD code object, or none that --arch or --filter wants. */
enum status inspect_file(struct inspection *inspection, const char *path, const struct inspect_choice *choice,
                         struct arena *arena, struct err *err);

/* Builds a kernel or suite of the catalog for each --arch (default: that of the AMD device, else gfx942) and inspects
 * every code object. Appends to *list, which holds *count. */
enum status inspect_catalog(struct inspection **list, size_t *count, const char *name,
                            const struct cli_options *options, struct arena *arena, struct err *err);

/* Puts the disassembly's findings and our own together. */
void inspect_find(struct inspect_kernel *kernel, const struct codeobj *object, struct arena *arena);

/* The registers of a lane as the compiler counts them when the hardware allocates just these (rounded up), else what it
 * allocates: launch bounds can make it more. */
struct inspect_registers {
    uint32_t vgprs, agprs;
    bool is_padded; /* allocated beyond what the code uses */
};
struct inspect_registers inspect_registers(const struct codeobj *object, const struct codeobj_kernel *code);

/* ---- as text ---- */

/* Details of few kernels; a table of many, unless details are asked for. */
void inspect_text(struct text *out, const struct inspection *list, size_t count, const struct cli_options *options,
                  struct arena *arena);

/* configs/schema/inspect.schema.json describes it. */
void inspect_json(struct text *out, const struct inspection *list, size_t count);

#endif
