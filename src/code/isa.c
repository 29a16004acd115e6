/* SPDX-License-Identifier: MIT
 *
 * Kernels out of a disassembly, with their sums; and the disassembler as a child process: LLVM's llvm-objdump for AMD,
 * NVIDIA's nvdisasm or cuobjdump (which starts nvdisasm itself).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "isa_internal.h"
#include "rooftile/file.h"
#include "rooftile/spawn.h"
#include "rooftile/targets.h"

size_t isa_find(const struct isa_instruction *items, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- sums ---- */

static const unsigned width_bytes[ISA_WIDTHS] = {1, 2, 4, 8, 12, 16, 32, 64};

unsigned isa_width_bytes(enum isa_width width)
{
    return width_bytes[width];
}

static enum isa_width width_of(uint32_t bytes)
{
    unsigned width = 0;
    while (width + 1 < ISA_WIDTHS && width_bytes[width] < bytes)
        width++;
    return (enum isa_width)width;
}

static bool is_store(const struct isa_instruction *in)
{
    if (in->kind == ISA_SCALAR_MEMORY)
        return isa_has_word(in->mnemonic, "store");
    return in->kind == ISA_STORE || in->kind == ISA_LDS_WRITE || in->kind == ISA_SCRATCH_STORE;
}

static void traffic_add(struct isa_traffic *traffic, const struct isa_instruction *in)
{
    const enum isa_width width = width_of(in->bytes);
    if (in->kind == ISA_ATOMIC) {
        traffic->atomics++;
        traffic->atomic_bytes += in->bytes;
    } else if (is_store(in)) {
        traffic->stores++;
        traffic->store_bytes += in->bytes;
        traffic->stores_by_width[width] += in->bytes > 0;
    } else {
        traffic->loads++;
        traffic->load_bytes += in->bytes;
        traffic->loads_by_width[width] += in->bytes > 0;
    }
}

static void mix_add(struct isa_mix *mix, const struct isa_instruction *in)
{
    mix->instructions++;
    mix->operations += in->kind == ISA_DUAL ? 2 : 1;
    mix->count[in->kind]++;
    mix->code_bytes += in->size;
    mix->flops += in->flops;
    mix->ops += in->ops;
    if (in->space != ISA_NO_SPACE)
        traffic_add(&mix->traffic[in->space], in);
    if (in->kind != ISA_MATRIX)
        return;
    *(in->is_integer ? &mix->matrix_ops : &mix->matrix_flops) += in->matrix_ops;
    mix->matrix_cycles += in->matrix_cycles;
    mix->matrix_unknown += in->matrix_cycles == 0;
}

static void mix_fill(struct isa_kernel *kernel)
{
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        mix_add(&kernel->mix, in);
        if (in->loop != ISA_NO_LOOP)
            mix_add(&kernel->loops[in->loop].own, in);
        for (size_t loop = in->loop; loop != ISA_NO_LOOP; loop = kernel->loops[loop].parent)
            mix_add(&kernel->loops[loop].inclusive, in);
    }
}

double isa_flops_per_wave(const struct isa_mix *mix, unsigned wave)
{
    return (double)mix->flops * wave + (double)mix->matrix_flops;
}

double isa_ops_per_wave(const struct isa_mix *mix, unsigned wave)
{
    return (double)mix->ops * wave + (double)mix->matrix_ops;
}

double isa_global_bytes_per_wave(const struct isa_mix *mix, unsigned wave)
{
    const struct isa_traffic *global = &mix->traffic[ISA_GLOBAL];
    return (double)(global->load_bytes + global->store_bytes + global->atomic_bytes) * wave;
}

double isa_intensity(const struct isa_mix *mix, unsigned wave)
{
    const double flops = isa_flops_per_wave(mix, wave), bytes = isa_global_bytes_per_wave(mix, wave);
    if (bytes > 0)
        return flops / bytes;
    return flops > 0 ? INFINITY : NAN;
}

/* ---- one kernel ---- */

static bool is_padding(const struct isa_instruction *in)
{
    const bool traps = in->ends_block && in->target == in->address && in->target; /* NVIDIA's: BRA to itself */
    return traps || text_has_word("s_nop s_code_end NOP", " ", in->mnemonic, strlen(in->mnemonic));
}

/* First scalar registers of the descriptors in s[0:3] and wherever the kernel copied it to. */
#define MAX_DESCRIPTORS 8u
struct descriptors {
    unsigned first[MAX_DESCRIPTORS];
    unsigned count;
};

static struct descriptors find_descriptors(const struct isa_kernel *kernel)
{
    struct descriptors found = {.count = 1};
    for (size_t i = 0; i < kernel->instruction_count && found.count < MAX_DESCRIPTORS; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        if (strcmp(in->mnemonic, "s_mov_b64") == 0 && text_starts(in->operands, "s[") &&
            text_ends(in->operands, ", s[0:1]"))
            found.first[found.count++] = (unsigned)strtoul(in->operands + 2, NULL, 10);
    }
    return found;
}

static bool uses_descriptor(const struct isa_instruction *in, const struct descriptors *descriptors)
{
    const char *at = strstr(in->operands, ", s[");
    const unsigned first = at ? (unsigned)strtoul(at + strlen(", s["), NULL, 10) : 0;
    for (unsigned i = 0; at && i < descriptors->count; i++)
        if (first == descriptors->first[i])
            return true;
    return false;
}

/* Up to gfx90a and gfx10 the stack lies behind the buffer descriptor that the runtime puts into s[0:3]. Without a stack
 * these registers may hold a program's own buffer. */
static void mark_scratch(struct isa_kernel *kernel)
{
    const struct descriptors descriptors = find_descriptors(kernel);
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        struct isa_instruction *in = &kernel->instructions[i];
        if (!text_starts(in->mnemonic, "buffer_") || (in->kind != ISA_LOAD && in->kind != ISA_STORE) ||
            !uses_descriptor(in, &descriptors))
            continue;
        in->kind = in->kind == ISA_LOAD ? ISA_SCRATCH_LOAD : ISA_SCRATCH_STORE;
        in->space = ISA_SCRATCH;
    }
}

bool isa_is_call(const struct isa_instruction *in)
{
    return isa_starts(in->mnemonic, "s_swappc s_call") || (text_starts(in->mnemonic, "CALL") && !in->target);
}

static enum status read_kernel(struct isa_kernel *kernel, const struct isa_listing *listing, const char *target,
                               struct arena *arena, struct err *err)
{
    const uint64_t from = kernel->code.code_address, end = from + kernel->code.code_bytes;
    const size_t first = isa_find(listing->items, listing->count, from);
    size_t last = isa_find(listing->items, listing->count, end);
    while (last > first && is_padding(&listing->items[last - 1]))
        last--;
    if (last <= first)
        return err_set(err, ERR_CONFIG, "%s: the disassembly has no instruction at 0x%llx", kernel->code.name,
                       (unsigned long long)from);
    kernel->instruction_count = last - first;
    kernel->instructions = arena_copy(arena, listing->items + first, (last - first) * sizeof(*kernel->instructions));
    for (size_t i = 0; i < listing->unknown_count; i++)
        kernel->unknown += listing->unknown[i] >= from && listing->unknown[i] < end;
    if (!kernel->code.wave)
        kernel->code.wave = target_modes(target).wave;
    if (kernel->code.private_segment_bytes)
        mark_scratch(kernel);
    for (size_t i = 0; i < kernel->instruction_count; i++)
        kernel->calls += isa_is_call(&kernel->instructions[i]);
    isa_loops_find(kernel, arena);
    mix_fill(kernel);
    isa_findings_fill(kernel, target, arena);
    return STATUS_OK;
}

enum status isa_parse(struct isa *isa, const char *target, const char *text, const struct codeobj_kernel *kernels,
                      size_t count, struct arena *arena, struct err *err)
{
    struct isa_listing listing = {0};
    struct isa found = {.kernel_count = count};
    target = arena_strndup(arena, target, strcspn(target, ":")); /* without features */
    found.kernels = arena_array(arena, count, sizeof(*found.kernels));
    for (size_t i = 0; i < count; i++) {
        found.kernels[i].code = kernels[i];
        if (i == 0 || target_is_nvidia(target))
            isa_listing_read(&listing, kernels[i].name, target, text, arena);
        const enum status status = read_kernel(&found.kernels[i], &listing, target, arena, err);
        if (status)
            return status;
    }
    *isa = found;
    return STATUS_OK;
}

/* ---- the disassembler ---- */

#define LLVM_NEWEST 25u
#define LLVM_OLDEST 14u

/* A library of ten thousand kernels; more is cut, and the kernels behind the cut are missed by name. */
#define OUTPUT_LIMIT_BYTES ((size_t)1 << 30)
#define TOOL_TIMEOUT_MS 600000

#define CUDA_DEFAULT "/usr/local/cuda/bin"

/* Targets that LLVM 14 lacks, and the release that brought them. */
static const struct {
    const char *target; /* pattern */
    unsigned llvm;
} needs[] = {
    {"gfx94[012]", 17},    {"gfx950", 20},        {"gfx9-4-generic", 20}, {"gfx9-generic", 19},
    {"gfx1036", 15},       {"gfx110[0123]", 15},  {"gfx115[01]", 17},     {"gfx1152", 19},
    {"gfx1153", 20},       {"gfx120[01]", 18},    {"gfx125[01]", 22},     {"gfx10-[13]-generic", 19},
    {"gfx11-generic", 19}, {"gfx12-generic", 19},
};

/* What llvm-objdump says of a target that it does not know. */
static const char *const unknown_target[] = {
    "is not a recognized processor",
    "not yet supported for subtarget",
    "can't find target",
    "unable to get target",
};

/* What is to be disassembled, and the programs tried for it. */
struct job {
    const char *target;
    bool is_sass;
    const char *image; /* path of the code object */
    uint64_t from, end;
    unsigned llvm_needed; /* 0: any */
    const char *asked;    /* what the user named, NULL: nothing */
    const char *tried;    /* names of those that do not know the target; NULL: none */
    const char *tool;     /* the last one tried */
    char *text;           /* what it wrote; NULL: it does not know the target */
    struct arena *arena;
};

static unsigned llvm_needed(const char *target, struct arena *arena)
{
    const char *name = arena_strndup(arena, target, strcspn(target, ":"));
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
        if (text_matches(name, needs[i].target))
            return needs[i].llvm;
    return 0;
}

/* A file in memory: nothing is left behind, however we end. The child reaches it through our /proc entry. */
static enum status open_image(int *fd, const void *bytes, size_t size, struct err *err)
{
    const char *at = bytes;
    *fd = memfd_create("rooftile-codeobj", MFD_CLOEXEC);
    while (*fd >= 0 && size > 0) {
        const ssize_t put = write(*fd, at, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            break;
        at += put;
        size -= (size_t)put;
    }
    if (*fd < 0 || size > 0)
        return err_set(err, ERR_IO, "cannot prepare the code object for the disassembler: %s", strerror(errno));
    return STATUS_OK;
}

static bool is_unknown_target(const char *words)
{
    for (size_t i = 0; i < sizeof(unknown_target) / sizeof(*unknown_target); i++)
        if (strstr(words, unknown_target[i]))
            return true;
    return false;
}

static enum status run(struct job *job, struct err *err)
{
    const bool dumps = text_starts(path_base(job->tool), "cuobjdump");
    const char *const sass[] = {job->tool, dumps ? "--dump-sass" : "--print-code", job->image, NULL};
    const char *const amd[] = {job->tool,
                               "-d",
                               arena_printf(job->arena, "--start-address=0x%llx", (unsigned long long)job->from),
                               arena_printf(job->arena, "--stop-address=0x%llx", (unsigned long long)job->end),
                               job->image,
                               NULL};
    struct spawn_result ran = {0};
    if (spawn_run(&ran, job->is_sass ? sass : amd, NULL, OUTPUT_LIMIT_BYTES, TOOL_TIMEOUT_MS, job->arena, err))
        return err->status;
    if (!job->is_sass && is_unknown_target(ran.errors))
        return STATUS_OK;
    if (ran.timed_out)
        return err_set(err, ERR_IO, "%s: gave no answer in %d s", job->tool, TOOL_TIMEOUT_MS / 1000);
    if (ran.exit_code != 0)
        return err_set(err, ERR_IO, "%s: exit code %d: %.*s", job->tool, ran.exit_code, (int)strcspn(ran.errors, "\n"),
                       ran.errors);
    job->text = ran.output;
    return STATUS_OK;
}

/* Tries a program when it is there and none before it knew the target; `llvm` is its version by name, 0 unknown. */
static enum status try_tool(struct job *job, const char *name, unsigned llvm, struct err *err)
{
    const char *path = job->text ? NULL : spawn_which(job->arena, name);
    enum status status = STATUS_OK;
    if (!path)
        return STATUS_OK;
    job->tool = path;
    /* An LLVM that does not know the target aborts with a stack dump, which takes a while. */
    if (!llvm || llvm >= job->llvm_needed)
        status = run(job, err);
    if (!status && !job->text)
        job->tried = job->tried ? arena_printf(job->arena, "%s, %s", job->tried, path_base(path)) : path_base(path);
    return status;
}

static enum status try_amd(struct job *job, struct err *err)
{
    const char *rocm = getenv("ROCM_PATH");
    enum status status = STATUS_OK;
    if (rocm && *rocm)
        status = try_tool(job, arena_printf(job->arena, "%s/llvm/bin/llvm-objdump", rocm), 0, err);
    if (!status)
        status = try_tool(job, "/opt/rocm/llvm/bin/llvm-objdump", 0, err);
    for (unsigned llvm = LLVM_NEWEST; llvm >= LLVM_OLDEST && !status; llvm--)
        status = try_tool(job, arena_printf(job->arena, "llvm-objdump-%u", llvm), llvm, err);
    return status ? status : try_tool(job, "llvm-objdump", 0, err);
}

static enum status try_nvidia(struct job *job, struct err *err)
{
    static const char *const names[] = {"nvdisasm", "cuobjdump"};
    const char *home = getenv("CUDA_HOME");
    enum status status = STATUS_OK;
    for (size_t k = 0; k < 2 && !status; k++) {
        if (home && *home)
            status = try_tool(job, arena_printf(job->arena, "%s/bin/%s", home, names[k]), 0, err);
        if (!status)
            status = try_tool(job, names[k], 0, err);
        if (!status)
            status = try_tool(job, arena_printf(job->arena, CUDA_DEFAULT "/%s", names[k]), 0, err);
    }
    return status;
}

static enum status no_tool(const struct job *job, struct err *err)
{
    const char *variable = job->is_sass ? "ROOFTILE_NVDISASM" : "ROOFTILE_OBJDUMP";
    const char *needed = job->is_sass ? "nvdisasm or cuobjdump" : "llvm-objdump";
    if (job->llvm_needed)
        needed = arena_printf(job->arena, "llvm-objdump of LLVM %u or newer", job->llvm_needed);
    if (job->tried)
        return err_set(err, ERR_UNSUPPORTED, "%s is unknown to %s: its instructions need %s (%s names one)",
                       job->target, job->tried, needed, variable);
    if (job->asked)
        return err_set(err, ERR_UNSUPPORTED, "%s: no program %s; instructions of %s need %s", variable, job->asked,
                       job->target, needed);
    if (job->is_sass)
        return err_set(err, ERR_UNSUPPORTED,
                       "no nvdisasm and no cuobjdump in CUDA_HOME, on PATH or in " CUDA_DEFAULT
                       ": instructions of %s need one (%s names it)",
                       job->target, variable);
    return err_set(err, ERR_UNSUPPORTED,
                   "no llvm-objdump on PATH or in ROCM_PATH: instructions of %s need %s (%s names one)", job->target,
                   needed, variable);
}

/* The text of the kernels at [from, end), and the path of the program that wrote it. */
static enum status disassemble(char **text, const char **tool, const struct codeobj *object, uint64_t from,
                               uint64_t end, struct arena *arena, struct err *err)
{
    const bool is_sass = target_is_nvidia(object->target);
    const char *asked = getenv(is_sass ? "ROOFTILE_NVDISASM" : "ROOFTILE_OBJDUMP");
    int fd = -1;
    struct job job = {.target = object->target,
                      .is_sass = is_sass,
                      .from = from,
                      .end = end,
                      .llvm_needed = llvm_needed(object->target, arena),
                      .asked = asked && *asked ? asked : NULL,
                      .arena = arena};
    enum status status = open_image(&fd, object->bytes, object->size_bytes, err);
    job.image = arena_printf(arena, "/proc/%ld/fd/%d", (long)getpid(), fd);
    if (!status && job.asked)
        status = try_tool(&job, job.asked, 0, err);
    else if (!status)
        status = is_sass ? try_nvidia(&job, err) : try_amd(&job, err);
    if (!status && !job.text)
        status = no_tool(&job, err);
    if (!status) {
        *text = job.text;
        *tool = job.tool;
    }
    if (fd >= 0)
        close(fd);
    return status;
}

enum status isa_read(struct isa *isa, const struct codeobj *object, const struct codeobj_kernel *kernels, size_t count,
                     struct arena *arena, struct err *err)
{
    struct isa found;
    uint64_t from = UINT64_MAX, end = 0;
    char *text = NULL;
    const char *tool = NULL;
    if (count && kernels[0].is_ptx)
        return err_set(err, ERR_UNSUPPORTED, "it is PTX, text that the driver makes instructions of");
    for (size_t i = 0; i < count; i++) {
        const uint64_t behind = kernels[i].code_address + kernels[i].code_bytes;
        from = kernels[i].code_address < from ? kernels[i].code_address : from;
        end = behind > end ? behind : end;
    }
    enum status status = STATUS_OK;
    if (count)
        status = disassemble(&text, &tool, object, from, end, arena, err);
    if (!status)
        status = isa_parse(&found, object->target, text, kernels, count, arena, err);
    if (status)
        return status;
    found.tool = tool;
    *isa = found;
    return STATUS_OK;
}
