/* SPDX-License-Identifier: MIT
 *
 * The disassembler as a child process: LLVM's llvm-objdump for AMD, NVIDIA's nvdisasm or cuobjdump (which starts
 * nvdisasm itself).
 */
#include <sys/mman.h>
#include <unistd.h>

#include "isa_internal.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/spawn.h"
#include "rooftile/targets.h"

#define LLVM_NEWEST 25u
#define LLVM_OLDEST 14u

/* Enough for a library of ten thousand kernels; more is cut off, and the missing kernels are reported by name. */
#define OUTPUT_LIMIT_BYTES ((size_t)1 << 30)
/* LLVM needs a tenth of that. */
#define TOOL_LEAST_MS 30000
#define TOOL_MS_PER_KIB 20

/* Loading LLVM takes as long as disassembling this much code. */
#define PART_BYTES (1u << 19)
#define MAX_PROCESSES 8u

#define CUDA_DEFAULT "/usr/local/cuda/bin"

/* Targets that LLVM 14 lacks, and the first release that has them. */
static const struct {
    const char *target; /* pattern */
    unsigned llvm;
} needs[] = {
    {"gfx94[012]", 17},    {"gfx950", 20},        {"gfx9-4-generic", 20}, {"gfx9-generic", 19},
    {"gfx1036", 15},       {"gfx110[0123]", 15},  {"gfx115[01]", 17},     {"gfx1152", 19},
    {"gfx1153", 20},       {"gfx120[01]", 18},    {"gfx125[01]", 22},     {"gfx10-[13]-generic", 19},
    {"gfx11-generic", 19}, {"gfx12-generic", 19},
};

/* Messages of llvm-objdump for an unknown target. */
static const char *const unknown_target[] = {
    "is not a recognized processor",
    "not yet supported for subtarget",
    "can't find target",
    "unable to get target",
};

/* The code to disassemble, and the programs tried for it. */
struct job {
    const char *target;
    bool is_sass;
    const char *image;             /* path of the code object */
    uint64_t parts[MAX_PROCESSES]; /* where each process starts */
    size_t part_count;
    uint64_t end;
    int timeout_ms;
    unsigned llvm_needed; /* 0: any */
    const char *asked;    /* program chosen by the user, or NULL */
    const char *tried;    /* names of programs that do not know the target, or NULL */
    const char *tool;     /* last program tried */
    char *text;           /* its output; NULL: it does not know the target */
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

/* A file in memory, so that nothing is left behind however the program ends. The child opens it through our /proc
 * entry. */
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

static enum status check(const struct job *job, const struct spawn_result *ran, struct err *err)
{
    if (ran->timed_out)
        return err_set(err, ERR_IO, "%s: gave no answer in %d s", job->tool, job->timeout_ms / 1000);
    if (ran->exit_code != 0)
        return err_set(err, ERR_IO, "%s: exit code %d: %.*s", job->tool, ran->exit_code,
                       (int)strcspn(ran->errors, "\n"), ran->errors);
    return STATUS_OK;
}

static enum status run_sass(struct job *job, struct err *err)
{
    const bool dumps = text_starts(path_base(job->tool), "cuobjdump");
    const char *const argv[] = {job->tool, dumps ? "--dump-sass" : "--print-code", job->image, NULL};
    struct spawn_result ran = {0};
    if (spawn_run(&ran, argv, NULL, OUTPUT_LIMIT_BYTES, job->timeout_ms, job->arena, err) || check(job, &ran, err))
        return err->status;
    job->text = ran.output;
    return STATUS_OK;
}

static const char *const *objdump_argv(const struct job *job, uint64_t from, uint64_t end)
{
    const char *argv[] = {job->tool,
                          "-d",
                          arena_printf(job->arena, "--start-address=0x%llx", (unsigned long long)from),
                          arena_printf(job->arena, "--stop-address=0x%llx", (unsigned long long)end),
                          job->image,
                          NULL};
    return arena_copy(job->arena, argv, sizeof(argv));
}

static char *join(const struct spawn_result *ran, size_t count, struct arena *arena)
{
    size_t size = 0, lengths[MAX_PROCESSES];
    for (size_t k = 0; k < count; k++)
        size += lengths[k] = strlen(ran[k].output);
    char *all = count == 1 ? ran[0].output : arena_alloc(arena, size + 1), *at = all;
    for (size_t k = 0; k < count && count > 1; at += lengths[k++])
        memcpy(at, ran[k].output, lengths[k]);
    return all;
}

/* Large code is divided among several processes, each starting at a kernel. */
static enum status run_amd(struct job *job, struct err *err)
{
    const char *const *argvs[MAX_PROCESSES];
    struct spawn_result ran[MAX_PROCESSES] = {0};
    size_t count = 0;
    for (size_t k = 0; k < job->part_count; k++)
        argvs[count++] = objdump_argv(job, job->parts[k], k + 1 < job->part_count ? job->parts[k + 1] : job->end);
    if (spawn_all(ran, argvs, count, OUTPUT_LIMIT_BYTES, job->timeout_ms, job->arena, err))
        return err->status;
    for (size_t i = 0; i < COUNT_OF(unknown_target); i++)
        if (strstr(ran[0].errors, unknown_target[i]))
            return STATUS_OK;
    for (size_t k = 0; k < count; k++)
        if (check(job, &ran[k], err))
            return err->status;
    job->text = join(ran, count, job->arena);
    return STATUS_OK;
}

/* Tries a program if it exists and no earlier one knew the target; `llvm` is the version in its name, 0: unknown. */
static enum status try_tool(struct job *job, const char *name, unsigned llvm, struct err *err)
{
    const char *path = job->text ? NULL : spawn_which(job->arena, name);
    enum status status = STATUS_OK;
    if (!path)
        return STATUS_OK;
    job->tool = path;
    /* An LLVM that does not know the target aborts slowly, with a stack dump. */
    if (!llvm || llvm >= job->llvm_needed)
        status = job->is_sass ? run_sass(job, err) : run_amd(job, err);
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

/* Divides at starts of kernels, so that no instruction is split. */
static void divide(struct job *job, const struct codeobj *object, uint64_t from)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t most = processors < 1 ? 1 : processors > (long)MAX_PROCESSES ? MAX_PROCESSES : (size_t)processors;
    const uint64_t size = job->end > from ? job->end - from : 0, wanted = size / PART_BYTES + 1;
    const size_t count = wanted < most ? (size_t)wanted : most;
    job->parts[job->part_count++] = from;
    for (size_t part = 1; part < count; part++) {
        const uint64_t ideal = from + size / count * part;
        uint64_t start = job->end;
        for (size_t k = 0; k < object->kernel_count; k++)
            if (object->kernels[k].code && object->kernels[k].code_address >= ideal &&
                object->kernels[k].code_address < start)
                start = object->kernels[k].code_address;
        if (start < job->end && start > job->parts[job->part_count - 1])
            job->parts[job->part_count++] = start;
    }
}

static int timeout_ms(size_t bytes)
{
    const size_t more = bytes / 1024 * TOOL_MS_PER_KIB;
    return TOOL_LEAST_MS + (int)(more < INT_MAX / 2 ? more : INT_MAX / 2);
}

static enum status disassemble(char **text, const char **tool, const struct codeobj *object, uint64_t from,
                               uint64_t end, struct arena *arena, struct err *err)
{
    const bool is_sass = target_is_nvidia(object->target);
    const char *asked = getenv(is_sass ? "ROOFTILE_NVDISASM" : "ROOFTILE_OBJDUMP");
    int fd = -1;
    struct job job = {.target = object->target,
                      .is_sass = is_sass,
                      .end = end,
                      .timeout_ms = timeout_ms(object->size_bytes),
                      .llvm_needed = llvm_needed(object->target, arena),
                      .asked = asked && *asked ? asked : NULL,
                      .arena = arena};
    if (!is_sass)
        divide(&job, object, from);
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

/* Cache of recent requests and answers: predicting, checking and recording a case all request the same code. */
#define KEPT_MOST 64u
#define KEPT_BYTES ((size_t)1 << 23)

static struct {
    struct arena arena;
    struct kept {
        char question[HASH_TEXT];
        const char *text, *tool;
    } items[KEPT_MOST];
    size_t count;
} kept;

static void keep(const char *question, const char *text, const char *tool)
{
    const size_t length = strlen(text);
    if (length > KEPT_BYTES)
        return;
    if (kept.count == KEPT_MOST || kept.arena.used_bytes + length > KEPT_BYTES) {
        arena_release(&kept.arena);
        kept.count = 0;
    }
    struct kept *item = &kept.items[kept.count++];
    *item = (struct kept){.text = arena_strdup(&kept.arena, text), .tool = arena_strdup(&kept.arena, tool)};
    memcpy(item->question, question, HASH_TEXT);
}

enum status isa_disassemble(char **text, const char **tool, const struct codeobj *object, uint64_t from, uint64_t end,
                            struct arena *arena, struct err *err)
{
    char question[HASH_TEXT];
    /* Everything that the answer depends on. */
    static const char *const variables[] = {"ROOFTILE_NVDISASM", "ROOFTILE_OBJDUMP", "ROCM_PATH", "CUDA_HOME", "PATH"};
    struct hash *hash = hash_new();
    hash_add_string(hash, object->target);
    hash_add(hash, object->bytes, object->size_bytes);
    hash_add(hash, (const uint64_t[]){from, end}, 2 * sizeof(from));
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        hash_add_string(hash, getenv(variables[i]));
    hash_hex(hash, question);
    hash_free(hash);
    for (size_t i = 0; i < kept.count; i++)
        if (strcmp(kept.items[i].question, question) == 0) {
            *text = arena_strdup(arena, kept.items[i].text);
            *tool = arena_strdup(arena, kept.items[i].tool);
            return STATUS_OK;
        }
    const enum status status = disassemble(text, tool, object, from, end, arena, err);
    if (!status)
        keep(question, *text, *tool);
    return status;
}
