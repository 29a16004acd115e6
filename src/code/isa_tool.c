/* SPDX-License-Identifier: MIT
 *
 * The disassembler, LLVM's llvm-objdump as a child process.
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
#define MAX_TOOLS (LLVM_NEWEST - LLVM_OLDEST + 4u)

/* A library of ten thousand kernels; more is cut, and the kernels behind the cut are missed by name. */
#define OUTPUT_LIMIT_BYTES ((size_t)1 << 30)
#define TOOL_TIMEOUT_MS 600000

/* Targets that LLVM 14 lacks, and the release that brought them. */
static const struct {
    const char *target; /* pattern */
    unsigned llvm;
} needs[] = {
    {"gfx94[012]", 17},         {"gfx950", 20},        {"gfx9-4-generic", 20},
    {"gfx9-generic", 19},       {"gfx1036", 15},       {"gfx110[0123]", 15},
    {"gfx115[01]", 17},         {"gfx1152", 19},       {"gfx1153", 20},
    {"gfx120[01]", 18},         {"gfx1250", 22},       {"gfx1251", 22},
    {"gfx10-[13]-generic", 19}, {"gfx11-generic", 19}, {"gfx12-generic", 19},
};

/* What llvm-objdump says of a target that it does not know. */
static const char *const unknown_target[] = {
    "is not a recognized processor",
    "not yet supported for subtarget",
    "can't find target",
    "unable to get target",
};

struct tool {
    const char *path;
    unsigned llvm; /* from its name; 0 unknown */
};

struct tools {
    struct tool items[MAX_TOOLS];
    size_t count;
};

unsigned isa_llvm_needed(const char *target)
{
    char name[32];
    const size_t length = strcspn(target, ":");
    if (length >= sizeof(name))
        return 0;
    memcpy(name, target, length);
    name[length] = '\0';
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
        if (text_matches(name, needs[i].target))
            return needs[i].llvm;
    return 0;
}

static void add_tool(struct tools *tools, const char *name, unsigned llvm, struct arena *arena)
{
    const char *path = spawn_which(arena, name);
    if (path && tools->count < MAX_TOOLS)
        tools->items[tools->count++] = (struct tool){path, llvm};
}

static void find_tools(struct tools *tools, struct arena *arena)
{
    const char *asked = getenv("ROOFTILE_OBJDUMP");
    const char *rocm = getenv("ROCM_PATH");
    if (asked && *asked) {
        add_tool(tools, asked, 0, arena);
        return;
    }
    if (rocm && *rocm)
        add_tool(tools, arena_printf(arena, "%s/llvm/bin/llvm-objdump", rocm), 0, arena);
    add_tool(tools, "/opt/rocm/llvm/bin/llvm-objdump", 0, arena);
    for (unsigned llvm = LLVM_NEWEST; llvm >= LLVM_OLDEST; llvm--)
        add_tool(tools, arena_printf(arena, "llvm-objdump-%u", llvm), llvm, arena);
    add_tool(tools, "llvm-objdump", 0, arena);
}

static enum status no_tool(const char *target, const char *tried, struct err *err)
{
    const char *asked = getenv("ROOFTILE_OBJDUMP");
    const unsigned llvm = isa_llvm_needed(target);
    char needed[64] = "";
    if (llvm)
        snprintf(needed, sizeof(needed), " of LLVM %u or newer", llvm);
    if (*tried)
        return err_set(err, ERR_UNSUPPORTED,
                       "%s is unknown to %s: its instructions need llvm-objdump%s (ROOFTILE_OBJDUMP names one)", target,
                       tried, needed);
    if (asked && *asked)
        return err_set(err, ERR_UNSUPPORTED, "ROOFTILE_OBJDUMP: no program %s; instructions of %s need llvm-objdump%s",
                       asked, target, needed);
    return err_set(
        err, ERR_UNSUPPORTED,
        "no llvm-objdump on PATH or in ROCM_PATH: instructions of %s need llvm-objdump%s (ROOFTILE_OBJDUMP names one)",
        target, needed);
}

static bool is_unknown_target(const char *words)
{
    for (size_t i = 0; i < sizeof(unknown_target) / sizeof(*unknown_target); i++)
        if (strstr(words, unknown_target[i]))
            return true;
    return false;
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

enum status isa_tool_run(struct spawn_result *ran, const char *const *argv, struct arena *arena, struct err *err)
{
    return spawn_run(ran, argv, NULL, OUTPUT_LIMIT_BYTES, TOOL_TIMEOUT_MS, arena, err);
}

enum status isa_tool_failed(const struct spawn_result *ran, const char *tool, struct err *err)
{
    if (ran->timed_out)
        return err_set(err, ERR_IO, "%s: gave no answer in %d s", tool, TOOL_TIMEOUT_MS / 1000);
    if (ran->exit_code != 0)
        return err_set(err, ERR_IO, "%s: exit code %d: %.*s", tool, ran->exit_code, (int)strcspn(ran->errors, "\n"),
                       ran->errors);
    return STATUS_OK;
}

struct range {
    uint64_t from, end;
};

static struct range range_of(const struct isa_symbol *symbols, size_t count)
{
    struct range range = {UINT64_MAX, 0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t end = symbols[i].address + symbols[i].size;
        range.from = symbols[i].address < range.from ? symbols[i].address : range.from;
        range.end = end > range.end ? end : range.end;
    }
    return range;
}

/* ERR_UNSUPPORTED without a text: this tool does not know the target. */
static enum status run_tool(char **text, const struct tool *tool, int fd, struct range range, struct arena *arena,
                            struct err *err)
{
    struct spawn_result ran = {0};
    const char *const argv[] = {
        tool->path,
        "-d",
        arena_printf(arena, "--start-address=0x%llx", (unsigned long long)range.from),
        arena_printf(arena, "--stop-address=0x%llx", (unsigned long long)range.end),
        arena_printf(arena, "/proc/%ld/fd/%d", (long)getpid(), fd),
        NULL,
    };
    const enum status status = isa_tool_run(&ran, argv, arena, err);
    if (status)
        return status;
    if (is_unknown_target(ran.errors))
        return ERR_UNSUPPORTED;
    if (isa_tool_failed(&ran, tool->path, err))
        return err->status;
    *text = ran.output;
    return STATUS_OK;
}

/* The first LLVM that knows the target. */
static enum status disassemble(char **text, const char **path, int fd, const char *target, struct range range,
                               struct arena *arena, struct err *err)
{
    struct tools tools = {0};
    struct text tried = {0};
    const unsigned needed = isa_llvm_needed(target);
    enum status status = ERR_UNSUPPORTED;
    find_tools(&tools, arena);
    for (size_t k = 0; k < tools.count && status == ERR_UNSUPPORTED; k++) {
        const struct tool *tool = &tools.items[k];
        *path = tool->path;
        /* An LLVM that does not know the target aborts with a stack dump, which takes a while. */
        if (!tool->llvm || tool->llvm >= needed)
            status = run_tool(text, tool, fd, range, arena, err);
        if (status == ERR_UNSUPPORTED)
            text_addf(&tried, "%s%s", tried.length ? ", " : "", path_base(tool->path));
    }
    if (status == ERR_UNSUPPORTED)
        status = no_tool(target, tried.length ? tried.data : "", err);
    text_release(&tried);
    return status;
}

enum status isa_read(struct isa *isa, const void *bytes, size_t size, const char *target,
                     const struct isa_symbol *symbols, size_t symbol_count, struct arena *arena, struct err *err)
{
    char *text = NULL;
    const char *tool = NULL;
    struct isa found;
    int fd = -1;
    if (!symbol_count)
        return isa_parse(isa, target, "", symbols, 0, arena, err);
    enum status status = open_image(&fd, bytes, size, err);
    if (!status && target_is_nvidia(target))
        status = isa_sass_disassemble(&text, &tool, fd, target, arena, err);
    else if (!status)
        status = disassemble(&text, &tool, fd, target, range_of(symbols, symbol_count), arena, err);
    if (!status)
        status = isa_parse(&found, target, text, symbols, symbol_count, arena, err);
    if (!status) {
        found.tool = tool;
        *isa = found;
    }
    if (fd >= 0)
        close(fd);
    return status;
}
