/* SPDX-License-Identifier: MIT
 *
 * The disassembler as a child process: LLVM's llvm-objdump for AMD, NVIDIA's nvdisasm or cuobjdump (which starts
 * nvdisasm itself).
 */
#include <errno.h>
#include <stdio.h>
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
    const char *image; /* path of the code object */
    uint64_t from, end;
    unsigned llvm_needed; /* 0: any */
    const char *asked;    /* what the user named, NULL: nothing */
    struct text tried;    /* names of those that do not know the target */
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

static enum status run(struct job *job, const char *const *argv, struct err *err)
{
    struct spawn_result ran = {0};
    if (spawn_run(&ran, argv, NULL, OUTPUT_LIMIT_BYTES, TOOL_TIMEOUT_MS, job->arena, err))
        return err->status;
    if (!target_is_nvidia(job->target) && is_unknown_target(ran.errors))
        return STATUS_OK;
    if (ran.timed_out)
        return err_set(err, ERR_IO, "%s: gave no answer in %d s", job->tool, TOOL_TIMEOUT_MS / 1000);
    if (ran.exit_code != 0)
        return err_set(err, ERR_IO, "%s: exit code %d: %.*s", job->tool, ran.exit_code, (int)strcspn(ran.errors, "\n"),
                       ran.errors);
    job->text = ran.output;
    return STATUS_OK;
}

/* ---- AMD ---- */

/* Tries a program when it is there; `llvm` is its version by name, 0 unknown. */
static enum status try_objdump(struct job *job, const char *name, unsigned llvm, struct err *err)
{
    const char *path = job->text ? NULL : spawn_which(job->arena, name);
    enum status status = STATUS_OK;
    if (!path)
        return STATUS_OK;
    job->tool = path;
    const char *const argv[] = {path,
                                "-d",
                                arena_printf(job->arena, "--start-address=0x%llx", (unsigned long long)job->from),
                                arena_printf(job->arena, "--stop-address=0x%llx", (unsigned long long)job->end),
                                job->image,
                                NULL};
    /* An LLVM that does not know the target aborts with a stack dump, which takes a while. */
    if (!llvm || llvm >= job->llvm_needed)
        status = run(job, argv, err);
    if (!status && !job->text)
        text_addf(&job->tried, "%s%s", job->tried.length ? ", " : "", path_base(path));
    return status;
}

static enum status no_objdump(const struct job *job, struct err *err)
{
    char needed[64] = "";
    if (job->llvm_needed)
        snprintf(needed, sizeof(needed), " of LLVM %u or newer", job->llvm_needed);
    if (job->tried.length)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s is unknown to %s: its instructions need llvm-objdump%s (ROOFTILE_OBJDUMP names one)",
                       job->target, job->tried.data, needed);
    if (job->asked)
        return err_set(err, ERR_UNSUPPORTED, "ROOFTILE_OBJDUMP: no program %s; instructions of %s need llvm-objdump%s",
                       job->asked, job->target, needed);
    return err_set(err, ERR_UNSUPPORTED,
                   "no llvm-objdump on PATH or in ROCM_PATH: instructions of %s need llvm-objdump%s (ROOFTILE_OBJDUMP "
                   "names one)",
                   job->target, needed);
}

/* The first LLVM that knows the target. */
static enum status run_objdump(struct job *job, struct err *err)
{
    const char *rocm = getenv("ROCM_PATH");
    job->llvm_needed = llvm_needed(job->target, job->arena);
    enum status status = STATUS_OK;
    if (job->asked) {
        status = try_objdump(job, job->asked, 0, err);
    } else {
        if (rocm && *rocm)
            status = try_objdump(job, arena_printf(job->arena, "%s/llvm/bin/llvm-objdump", rocm), 0, err);
        if (!status)
            status = try_objdump(job, "/opt/rocm/llvm/bin/llvm-objdump", 0, err);
        for (unsigned llvm = LLVM_NEWEST; llvm >= LLVM_OLDEST && !status; llvm--)
            status = try_objdump(job, arena_printf(job->arena, "llvm-objdump-%u", llvm), llvm, err);
        if (!status)
            status = try_objdump(job, "llvm-objdump", 0, err);
    }
    return status || job->text ? status : no_objdump(job, err);
}

/* ---- NVIDIA ---- */

static const char *find_cuda(const char *name, struct arena *arena)
{
    const char *home = getenv("CUDA_HOME");
    const char *path = home && *home ? spawn_which(arena, arena_printf(arena, "%s/bin/%s", home, name)) : NULL;
    path = path ? path : spawn_which(arena, name);
    return path ? path : spawn_which(arena, arena_printf(arena, CUDA_DEFAULT "/%s", name));
}

static enum status run_nvdisasm(struct job *job, struct err *err)
{
    job->tool = job->asked ? spawn_which(job->arena, job->asked) : find_cuda("nvdisasm", job->arena);
    if (!job->tool && job->asked)
        return err_set(err, ERR_UNSUPPORTED,
                       "ROOFTILE_NVDISASM: no program %s; instructions of %s need nvdisasm or cuobjdump", job->asked,
                       job->target);
    job->tool = job->tool ? job->tool : find_cuda("cuobjdump", job->arena);
    if (!job->tool)
        return err_set(err, ERR_UNSUPPORTED,
                       "no nvdisasm and no cuobjdump in CUDA_HOME, on PATH or in " CUDA_DEFAULT
                       ": instructions of %s need one (ROOFTILE_NVDISASM names it)",
                       job->target);
    const bool dumps = text_starts(path_base(job->tool), "cuobjdump");
    return run(job, (const char *const[]){job->tool, dumps ? "--dump-sass" : "--print-code", job->image, NULL}, err);
}

enum status isa_disassemble(char **text, const char **tool, const void *bytes, size_t size, const char *target,
                            uint64_t from, uint64_t end, struct arena *arena, struct err *err)
{
    const bool is_sass = target_is_nvidia(target);
    const char *asked = getenv(is_sass ? "ROOFTILE_NVDISASM" : "ROOFTILE_OBJDUMP");
    int fd = -1;
    struct job job = {.target = target, .from = from, .end = end, .arena = arena};
    job.asked = asked && *asked ? asked : NULL;
    enum status status = open_image(&fd, bytes, size, err);
    job.image = arena_printf(arena, "/proc/%ld/fd/%d", (long)getpid(), fd);
    if (!status)
        status = is_sass ? run_nvdisasm(&job, err) : run_objdump(&job, err);
    if (!status) {
        *text = job.text;
        *tool = job.tool;
    }
    text_release(&job.tried);
    if (fd >= 0)
        close(fd);
    return status;
}
