/* SPDX-License-Identifier: MIT */
#include "rooftile/cpu_target.h"

/* Levels of the x86-64 psABI, each including the previous one. `proc` lists the flags of /proc/cpuinfo that it needs,
 * `features` the -m names of those that cpu_target_has is asked for. */
static const struct {
    const char *name;
    const char *proc;
    const char *features;
} levels[] = {
    {"x86-64", "", "sse2"},
    {"x86-64-v2", "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3", "sse4.2"},
    {"x86-64-v3", "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave", "avx avx2 fma f16c"},
    {"x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl", "avx512f avx512bw avx512cd avx512dq avx512vl"},
};
enum { LEVEL_COUNT = sizeof(levels) / sizeof(levels[0]) };

/* Features of a level that hypervisors hide individually and that code can do without: "no-" before the -m name in a
 * target. `level` is the first with the feature. Sorted, like the table below. */
static const struct {
    const char *proc;
    const char *feature;
    size_t level;
} spared[] = {{"bmi1", "no-bmi", 2}, {"bmi2", "no-bmi2", 2}, {"abm", "no-lzcnt", 2}, {"movbe", "no-movbe", 2}};

/* Features beyond a level, used only from that level on. Sorted by feature, so that the text does not depend on the
 * order in which a kernel lists its flags. */
static const struct {
    const char *proc;
    const char *feature;
    size_t level;
} extras[] = {
    {"avx512_bf16", "avx512bf16", 3}, {"avx512_bitalg", "avx512bitalg", 3},
    {"avx512_fp16", "avx512fp16", 3}, {"avx512ifma", "avx512ifma", 3},
    {"avx512vbmi", "avx512vbmi", 3},  {"avx512_vbmi2", "avx512vbmi2", 3},
    {"avx512_vnni", "avx512vnni", 3}, {"avx512_vpopcntdq", "avx512vpopcntdq", 3},
    {"avx_vnni", "avxvnni", 2},
};
enum { EXTRA_COUNT = sizeof(extras) / sizeof(extras[0]) };

bool backend_is_cpu(const char *backend)
{
    return !strcmp(backend, "cpu");
}

const char *cpu_target_arch(void)
{
#if defined(__x86_64__)
    return "x86-64";
#elif defined(__aarch64__)
    return "aarch64";
#else
#error "the CPU device knows x86-64 and aarch64"
#endif
}

static bool is_word(const char *known, const char *word, size_t length)
{
    return strlen(known) == length && memcmp(known, word, length) == 0;
}

/* Spared features do not count. */
static bool has_all(const char *list, const char *words)
{
    while (*words) {
        const size_t length = strcspn(words, " ");
        if (!COUNT_WHERE(row, spared, COUNT_OF(spared), is_word(row->proc, words, length)) &&
            !text_has_word(list, " \t\n", words, length))
            return false;
        words += length;
        words += strspn(words, " ");
    }
    return true;
}

void cpu_target_resolve(struct text *target, const char *flags, const char *most)
{
    if (strcmp(cpu_target_arch(), "x86-64") != 0) {
        text_add(target, "armv8-a");
        return;
    }
    size_t level = 0;
    while (level + 1 < LEVEL_COUNT && strcmp(levels[level].name, most) && has_all(flags, levels[level + 1].proc))
        ++level;
    text_add(target, levels[level].name);
    for (size_t i = 0; i < EXTRA_COUNT; ++i)
        if (extras[i].level <= level && has_all(flags, extras[i].proc))
            text_addf(target, ",%s", extras[i].feature);
    for (size_t i = 0; i < COUNT_OF(spared); i++)
        if (spared[i].level <= level && !text_has_word(flags, " \t\n", spared[i].proc, strlen(spared[i].proc)))
            text_addf(target, ",%s", spared[i].feature);
}

/* Uses the kernel's list rather than cpuid, because it reflects what the operating system saves and what was disabled
 * at boot. */
void cpu_target_detect(struct text *target, const char *most)
{
    char line[8192];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !found && fgets(line, sizeof(line), file))
        found = text_starts(line, "flags") || text_starts(line, "Features");
    if (file)
        fclose(file);
    cpu_target_resolve(target, found ? line + strcspn(line, ":") + (strchr(line, ':') != NULL) : "", most);
}

bool cpu_target_has(const char *target, const char *feature)
{
    const size_t length = strlen(feature);
    const size_t first = strcspn(target, ",");
    for (size_t i = LEVEL_COUNT; i-- > 0;) {
        if (!is_word(levels[i].name, target, first))
            continue;
        for (size_t below = 0; below <= i; ++below)
            if (text_has_word(levels[below].features, " ", feature, length))
                return true;
    }
    return target[first] == ',' && text_has_word(target + first, ",", feature, length);
}

unsigned cpu_vector_bytes(const char *target)
{
    return cpu_target_has(target, "avx512f") ? 64 : cpu_target_has(target, "avx") ? 32 : 16;
}

unsigned cpu_vector_registers(const char *target)
{
    return text_starts(target, "x86-64") && !cpu_target_has(target, "avx512f") ? 16 : 32;
}

static bool is_level(const char *name, size_t length)
{
    for (size_t i = 0; i < LEVEL_COUNT; ++i)
        if (is_word(levels[i].name, name, length))
            return true;
    return is_word("armv8-a", name, length);
}

bool cpu_target_is_level(const char *name)
{
    return text_starts(name, cpu_target_arch()) && is_level(name, strlen(name));
}

enum status cpu_target_flags(const char *target, const char ***flags, size_t *count, struct arena *arena,
                             struct err *err)
{
    size_t words = 2; /* the level and the vector width */
    for (const char *at = target; *at; ++at)
        words += *at == ',';
    const char **list = arena_array(arena, words, sizeof(*list));
    size_t length = strcspn(target, ","), used = 0;
    if (!is_level(target, length))
        return err_set(err, ERR_CONFIG, "unknown CPU architecture level '%.*s' in target '%s'", (int)length, target,
                       target);
    list[used++] = arena_printf(arena, "-march=%.*s", (int)length, target);
    for (const char *at = target + length; *at; at += length) {
        ++at;
        length = strcspn(at, ",");
        if (!COUNT_WHERE(row, extras, EXTRA_COUNT, is_word(row->feature, at, length)) &&
            !COUNT_WHERE(row, spared, COUNT_OF(spared), is_word(row->feature, at, length)))
            return err_set(err, ERR_CONFIG, "unknown CPU feature '%.*s' in target '%s'", (int)length, at, target);
        list[used++] = arena_printf(arena, "-m%.*s", (int)length, at);
    }
    /* At this level compilers prefer 256 bits to save clock frequency; a roofline needs the widest unit. */
    if (cpu_target_has(target, "avx512f"))
        list[used++] = "-mprefer-vector-width=512";
    *flags = list;
    *count = used;
    return STATUS_OK;
}
