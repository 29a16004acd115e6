/* SPDX-License-Identifier: MIT
 *
 * The disassembler as a child process: LLVM's llvm-objdump for AMD, NVIDIA's nvdisasm or cuobjdump (which starts
 * nvdisasm itself).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "isa_internal.h"
#include "rooftile/file.h"
#include "rooftile/spawn.h"
#include "rooftile/targets.h"

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

enum status isa_disassemble(char **text, const char **tool, const struct codeobj *object, uint64_t from, uint64_t end,
                            struct arena *arena, struct err *err)
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
