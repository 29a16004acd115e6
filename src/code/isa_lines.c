/* SPDX-License-Identifier: MIT
 *
 * Source lines of instructions, read from a code object's DWARF by libdw. This runs in a child process: DWARF may be
 * malicious, and a failure in the library must only lose the lines.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codeobj_internal.h"
#include "isa_internal.h"
#include "rooftile/clock.h"
#include "rooftile/file.h"

#define LIMIT_SECONDS 10u
#define LIMIT_BYTES (128u << 20) /* of the child's output: eight million rows */
/* decompressed; libdw decompresses everything, however small the file was */
#define LIMIT_DWARF_BYTES (UINT64_C(1) << 30)
#define LIMIT_MEMORY_BYTES (UINT64_C(3) << 28) /* for libdw: 90 bytes per byte of line-table DWARF */
#define PATH_LONGEST 4096u
#define NS_PER_MS UINT64_C(1000000)

/* A sanitizer's shadow counts as data. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_SHADOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SHADOW 1
#endif
#endif
#ifndef HAS_SHADOW
#define HAS_SHADOW 0
#endif

/* A row of a line table as the child writes it. The name of a new file follows; other rows keep the last one. */
struct row {
    uint64_t address;
    uint32_t line; /* 0: a sequence ends here, or it is unknown */
    uint32_t name_bytes;
};

/* ---- the child ---- */

static void write_lines(FILE *out, Dwarf_Lines *lines, size_t count)
{
    const char *last = NULL;
    for (size_t k = 0; k < count; k++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, k);
        Dwarf_Addr address = 0;
        int number = 0;
        bool ends = false;
        if (!line || dwarf_lineaddr(line, &address) || dwarf_lineno(line, &number) ||
            dwarf_lineendsequence(line, &ends))
            continue;
        const char *name = dwarf_linesrc(line, NULL, NULL);
        const size_t length = name ? strlen(name) : 0;
        const bool is_known = !ends && number > 0 && length > 0 && length < PATH_LONGEST;
        const bool is_new = is_known && (!last || strcmp(last, name) != 0);
        const struct row row = {address, is_known ? (uint32_t)number : 0, is_new ? (uint32_t)length : 0};
        fwrite(&row, sizeof(row), 1, out);
        if (is_new)
            fwrite(name, 1, length, out);
        last = is_known ? name : last;
    }
}

enum { READ_WHOLE, READ_DAMAGED, READ_WITHOUT_MEMORY };

__attribute__((noreturn)) static void without_memory(void)
{
    _exit(READ_WITHOUT_MEMORY);
}

/* Output is correct even if it is incomplete. */
static int read_dwarf(int fd, const struct codeobj *object)
{
    struct err err = {0};
    Elf *elf = NULL;
    FILE *out = fdopen(fd, "w");
    if (!out || elf_open(&elf, (struct bytes){object->bytes, object->size_bytes}, &err))
        return READ_DAMAGED;
    errno = 0;
    Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    if (dwarf)
        dwarf_new_oom_handler(dwarf, without_memory);
    Dwarf_CU *unit = NULL;
    Dwarf_Files *files = NULL;
    Dwarf_Lines *lines = NULL;
    Dwarf_Off at = 0, next = 0;
    size_t file_count = 0, line_count = 0;
    int ended = dwarf ? 0 : -1;
    while (ended == 0) {
        ended = dwarf_next_lines(dwarf, at, &next, &unit, &files, &file_count, &lines, &line_count);
        if (ended == 0)
            write_lines(out, lines, line_count);
        ended = ended == 0 && next <= at ? 1 : ended;
        at = next;
    }
    if (errno == ENOMEM) /* even if libdw continues without the section */
        return fflush(out), READ_WITHOUT_MEMORY;
    return fflush(out) == 0 && ended >= 0 ? READ_WHOLE : READ_DAMAGED;
}

static void limit(__rlimit_resource_t resource, rlim_t most)
{
    const struct rlimit limits = {most, most};
    setrlimit(resource, &limits);
}

static _Noreturn void child(int fd, const struct codeobj *object)
{
    unsigned long pages = 0; /* of data inherited by the fork */
    FILE *file = fopen("/proc/self/statm", "r");
    const bool known = file && fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) == 1;
    if (file)
        fclose(file);
    limit(RLIMIT_CPU, LIMIT_SECONDS);
    limit(RLIMIT_FSIZE, LIMIT_BYTES);
    limit(RLIMIT_CORE, 0);
    if (!HAS_SHADOW)
        limit(RLIMIT_DATA, (known ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : 0) + LIMIT_MEMORY_BYTES);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    _exit(read_dwarf(fd, object));
}

/* Returns NULL if it exited normally. */
static const char *wait_for(pid_t pid)
{
    static const char slow[] = "reading the object's DWARF takes longer than 10 s: it was stopped";
    static const char long_table[] = "the object's DWARF has more than 128 MiB of lines: what follows is not read";
    static const char large[] = "reading the object's DWARF takes more than 768 MiB: what follows is not read";
    static const char damaged[] = "the object's DWARF is damaged";
    const uint64_t deadline_ns = clock_now_ns() + 2 * LIMIT_SECONDS * 1000 * NS_PER_MS;
    int status = 0;
    bool is_late = false;
    for (;;) {
        const pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return NULL;
        if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == READ_WITHOUT_MEMORY)
            return large;
        if (ended == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
            return long_table;
        if (ended == pid)
            return is_late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) ? slow : damaged;
        if (ended < 0 && errno != EINTR)
            return damaged;
        if (!is_late && clock_now_ns() > deadline_ns)
            is_late = kill(pid, SIGKILL) == 0;
        clock_sleep_ns(NS_PER_MS / 2);
    }
}

/* ---- parsing the output ---- */

struct place {
    uint64_t address;
    size_t number; /* as in the table */
    const char *file;
    uint32_t line;
};

struct places {
    struct place *items;
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const bool begins = x->line > 0, other_begins = y->line > 0; /* another sequence may begin where one ends */
    return x->address != y->address ? ORDER(x->address, y->address)
           : begins != other_begins ? ORDER(begins, other_begins)
                                    : ORDER(x->number, y->number);
}

/* A path may hold any bytes; '?' replaces those that are not text. */
static const char *readable(const char *path, size_t length, struct arena *arena)
{
    char *text = arena_strndup(arena, path, length);
    for (size_t k = 0; k < length;) {
        const size_t taken = text_utf8_length((const unsigned char *)text + k, length - k);
        const bool is_text = taken > 1 || (taken == 1 && text[k] >= ' ' && text[k] != 0x7f);
        text[k] = is_text ? text[k] : '?';
        k += taken ? taken : 1;
    }
    return text;
}

static void read_rows(struct places *places, const char *data, size_t size, struct arena *arena)
{
    const char *file = NULL;
    bool is_sorted = true;
    size_t count = 0;
    struct row next;
    for (size_t at = 0; at <= size && size - at >= sizeof(next); at += sizeof(next) + next.name_bytes, count++)
        memcpy(&next, data + at, sizeof(next));
    places->items = arena_array(arena, count, sizeof(*places->items));
    for (size_t at = 0; size - at >= sizeof(struct row);) {
        struct row row;
        memcpy(&row, data + at, sizeof(row));
        at += sizeof(row);
        if (row.name_bytes > size - at)
            break;
        if (row.name_bytes)
            file = readable(data + at, row.name_bytes, arena);
        at += row.name_bytes;
        struct place *place = &places->items[places->count];
        *place = (struct place){row.address, places->count, row.line ? file : NULL, file ? row.line : 0};
        is_sorted &= !places->count || by_address(place - 1, place) < 0;
        places->count++;
    }
    if (!is_sorted)
        qsort(places->items, places->count, sizeof(*places->items), by_address);
}

/* Returns the first row at or after an address. */
static size_t find_place(const struct places *places, uint64_t address)
{
    return ISA_BELOW(places->items, places->count, address, address);
}

/* The first row at a kernel's start is its own; others there may belong to inlined code. */
static const char *file_at(const struct places *places, uint64_t address)
{
    size_t k = find_place(places, address);
    while (k < places->count && places->items[k].address == address && !places->items[k].file)
        k++;
    return k < places->count && places->items[k].address == address ? places->items[k].file : NULL;
}

static void place(struct isa_kernel *kernel, const struct places *places)
{
    size_t next = kernel->instruction_count ? find_place(places, kernel->instructions[0].address) : 0;
    kernel->file = file_at(places, kernel->code.code_address);
    FOR_EACH(struct isa_instruction, in, kernel->instructions, kernel->instruction_count) {
        while (next < places->count && places->items[next].address <= in->address)
            next++;
        in->file = next ? places->items[next - 1].file : NULL;
        in->line = in->file ? places->items[next - 1].line : 0;
    }
}

/* ---- all kernels ---- */

/* True if there is a line table. *problem is set if it cannot be read. */
static bool has_lines(const char **problem, const struct codeobj *object)
{
    Elf *elf = NULL;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    struct err err = {0};
    size_t names = 0;
    uint64_t bytes = 0;
    bool found = false, is_old = false;
    if (elf_open(&elf, (struct bytes){object->bytes, object->size_bytes}, &err))
        return false;
    while (!elf_getshdrstrndx(elf, &names) && (section = elf_nextscn(elf, section))) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        const bool is_dwarf = name && text_starts(name, ".debug_");
        GElf_Chdr packed = {0}; /* a small section may claim any decompressed size */
        const bool is_packed = is_dwarf && header.sh_flags & SHF_COMPRESSED;
        const bool has_size = is_packed && gelf_getchdr(section, &packed);
        const uint64_t more = is_packed ? (has_size ? packed.ch_size : 0) : is_dwarf ? header.sh_size : 0;
        found |= is_dwarf && strcmp(name, ".debug_line") == 0;
        is_old |= name && text_starts(name, ".zdebug_");
        bytes = more < LIMIT_DWARF_BYTES ? bytes + more : LIMIT_DWARF_BYTES + 1;
        if (bytes > LIMIT_DWARF_BYTES)
            break;
    }
    elf_end(elf);
    if (bytes > LIMIT_DWARF_BYTES)
        *problem = "the object's DWARF is larger than 1 GiB: it is not read";
    else if (is_old)
        *problem = "the object's DWARF is compressed in the old form (.zdebug_line), which is not read";
    return found || *problem;
}

static const char *read_lines(struct places *places, const struct codeobj *object, struct arena *arena)
{
    const int fd = memfd_create("rooftile-lines", MFD_CLOEXEC);
    struct stat info;
    const char *problem = NULL;
    if (fd < 0)
        return "no memory for them";
    fflush(NULL); /* so that the child does not write our buffered output */
    const pid_t pid = fork();
    if (pid == 0)
        child(fd, object);
    problem = pid < 0 ? "no process to read the object's DWARF" : wait_for(pid);
    const size_t size = fstat(fd, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
    void *data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (data != MAP_FAILED) {
        read_rows(places, data, size, arena);
        munmap(data, size);
    }
    close(fd);
    return problem;
}

void isa_lines_read(struct isa *isa, const struct codeobj *object, struct arena *arena)
{
    struct places places = {0};
    if (!has_lines(&isa->lines_problem, object) || isa->lines_problem)
        return;
    isa->lines_problem = read_lines(&places, object, arena);
    for (size_t k = 0; k < isa->kernel_count && places.count; k++)
        place(&isa->kernels[k], &places);
}

/* Returns the file of most of a loop's own instructions, with or without shared files. The majority does not depend on
 * the order. */
static const char *common_file(const struct isa_instruction *from, const struct isa_instruction *end, size_t loop,
                               bool with_shared)
{
    const char *file = NULL;
    size_t votes = 0;
    for (const struct isa_instruction *in = from; in < end; in++) {
        if (in->loop != loop || !in->file)
            continue;
        /* used by all kernels */
        const bool is_shared = text_starts(in->file, "include/") || strstr(in->file, "/include/");
        if (is_shared && !with_shared)
            continue;
        if (!votes)
            file = in->file;
        if (strcmp(in->file, file) == 0)
            votes++;
        else
            votes--;
    }
    return file;
}

static struct isa_lines lines_of(const struct isa_instruction *from, const struct isa_instruction *end, size_t loop,
                                 const char *file)
{
    struct isa_lines lines = {0};
    for (const struct isa_instruction *in = from; in < end; in++) {
        if (in->loop != loop || !in->file || strcmp(in->file, file) != 0)
            continue;
        lines.first = !lines.file || in->line < lines.first ? in->line : lines.first;
        lines.last = in->line > lines.last ? in->line : lines.last;
        lines.file = in->file;
    }
    return lines;
}

struct isa_lines isa_loop_lines(const struct isa_kernel *kernel, size_t loop)
{
    const size_t count = kernel->instruction_count;
    const struct isa_instruction *all = kernel->instructions;
    const struct isa_instruction *from = all + isa_find(all, count, kernel->loops[loop].first_address);
    const struct isa_instruction *end = all + isa_find(all, count, kernel->loops[loop].last_address + 1);
    const struct isa_lines lines = kernel->file ? lines_of(from, end, loop, kernel->file) : (struct isa_lines){0};
    const char *most = lines.file ? NULL : common_file(from, end, loop, false);
    if (!lines.file && !most)
        most = common_file(from, end, loop, true);
    return most ? lines_of(from, end, loop, most) : lines;
}
