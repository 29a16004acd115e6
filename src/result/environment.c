/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/log.h"
#include "rooftile/result.h"
#include "rooftile/rng.h"

/* Set by the build; a build without them says so. */
#ifndef ROOFTILE_VERSION
#define ROOFTILE_VERSION "unknown"
#endif
#ifndef ROOFTILE_GIT
#define ROOFTILE_GIT ""
#endif
#ifndef ROOFTILE_DIRTY
#define ROOFTILE_DIRTY false
#endif
#ifndef ROOFTILE_BUILD_FLAGS
#define ROOFTILE_BUILD_FLAGS ""
#endif

/* First line of a small file such as those of /proc and /sys; "" when it cannot be read. */
static const char *first_line(const char *path, struct arena *arena)
{
    char line[512] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return "";
    if (!fgets(line, sizeof(line), file))
        line[0] = '\0';
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return arena_strdup(arena, line);
}

/* The value behind `key` in a file of "key<blanks><separator>value" lines, without quotes. */
static const char *value_of(const char *path, const char *key, char separator, struct arena *arena)
{
    char line[1024];
    const char *found = "";
    FILE *file = fopen(path, "re");
    while (file && !found[0] && fgets(line, sizeof(line), file)) {
        char *value = strchr(line, separator);
        if (!value || strncmp(line, key, strlen(key)) != 0)
            continue;
        size_t length = strlen(key);
        while (isspace((unsigned char)line[length]))
            length++;
        if (line + length != value)
            continue;
        value++;
        value += strspn(value, " \t\"");
        value[strcspn(value, "\"\n")] = '\0';
        found = arena_strdup(arena, value);
    }
    if (file)
        fclose(file);
    return found;
}

static const char *container(struct arena *arena)
{
    const char *named = getenv("container");
    if (named && named[0])
        return arena_strdup(arena, named);
    if (file_exists("/.dockerenv"))
        return "docker";
    if (file_exists("/run/.containerenv"))
        return "podman";
    const char *cgroup = first_line("/proc/1/cgroup", arena);
    if (strstr(cgroup, "kubepods"))
        return "kubernetes";
    return strstr(cgroup, "docker") || strstr(cgroup, "containerd") || strstr(cgroup, "lxc") ? "container" : "";
}

static uint32_t count_numa_nodes(void)
{
    uint32_t count = 0;
    DIR *dir = opendir("/sys/devices/system/node");
    if (!dir)
        return 0;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        count += strncmp(entry->d_name, "node", 4) == 0 && isdigit((unsigned char)entry->d_name[4]);
    closedir(dir);
    return count;
}

static void take_host(struct result *result, struct arena *arena)
{
    struct utsname names;
    char hex[HASH_TEXT];
    const char *id = first_line("/etc/machine-id", arena);
    hash_sha256(hex, id, strlen(id));
    result->host_id_hash = id[0] ? arena_strdup(arena, hex) : "";
    result->kernel_release = uname(&names) ? "" : arena_printf(arena, "%s %s", names.sysname, names.release);
    result->os = value_of("/etc/os-release", "PRETTY_NAME", '=', arena);
    result->cpu_name = value_of("/proc/cpuinfo", "model name", ':', arena);
    result->governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", arena);
    result->container = container(arena);
    result->numa_nodes = count_numa_nodes();
}

/* ---- the variables that change what is measured ---- */

static int compare_labels(const void *a, const void *b)
{
    return strcmp(((const struct result_label *)a)->key, ((const struct result_label *)b)->key);
}

static bool matters(const char *variable)
{
    static const char *const prefixes[] = {"HSA_", "HIP_", "ROC", "GPU_", "OMP_"};
    for (size_t k = 0; k < sizeof(prefixes) / sizeof(prefixes[0]); k++)
        if (strncmp(variable, prefixes[k], strlen(prefixes[k])) == 0 && strncmp(variable, "ROOFTILE_", 9) != 0)
            return true;
    return false;
}

static void take_env(struct result *result, struct arena *arena)
{
    size_t count = 0;
    for (char **variable = environ; *variable; variable++)
        count += matters(*variable) && strchr(*variable, '=');
    struct result_label *labels = arena_array(arena, count + 1, sizeof(*labels));
    count = 0;
    for (char **variable = environ; *variable; variable++) {
        const char *equals = strchr(*variable, '=');
        if (!matters(*variable) || !equals)
            continue;
        labels[count].key = arena_strndup(arena, *variable, (size_t)(equals - *variable));
        labels[count++].value = arena_strdup(arena, equals + 1);
    }
    qsort(labels, count, sizeof(*labels), compare_labels);
    result->env = labels;
    result->env_count = count;
}

/* ---- continuous integration: variables only, so that no git is needed ---- */

static const char *first_env(const char *const *names, size_t count, struct arena *arena)
{
    for (size_t k = 0; k < count; k++) {
        const char *value = getenv(names[k]);
        if (value && value[0])
            return arena_strdup(arena, value);
    }
    return "";
}

static void take_ci(struct result *result, struct arena *arena)
{
    static const char *const commits[] = {"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BUILDKITE_COMMIT"};
    static const char *const branches[] = {"GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "GIT_BRANCH",
                                           "BUILDKITE_BRANCH"};
    static const char *const urls[] = {"CI_JOB_URL", "BUILD_URL", "BUILDKITE_BUILD_URL"};
    const char *server = getenv("GITHUB_SERVER_URL"), *repository = getenv("GITHUB_REPOSITORY"), *run = getenv("GITHUB_RUN_ID");
    result->commit = first_env(commits, sizeof(commits) / sizeof(commits[0]), arena);
    result->branch = first_env(branches, sizeof(branches) / sizeof(branches[0]), arena);
    result->ci_url = server && repository && run ? arena_printf(arena, "%s/%s/actions/runs/%s", server, repository, run)
                                                 : first_env(urls, sizeof(urls) / sizeof(urls[0]), arena);
}

/* ---- identity of the run ---- */

static const char *uuid_text(uint64_t high, uint64_t low, struct arena *arena)
{
    high = (high & ~0xf000ull) | 0x4000ull;                      /* RFC 9562: version 4 */
    low = (low & ~0xc000000000000000ull) | 0x8000000000000000ull; /* and its variant */
    return arena_printf(arena, "%08llx-%04llx-%04llx-%04llx-%012llx", (unsigned long long)(high >> 32),
                        (unsigned long long)(high >> 16 & 0xffff), (unsigned long long)(high & 0xffff),
                        (unsigned long long)(low >> 48), (unsigned long long)(low & 0xffffffffffffull));
}

static const char *run_id(const struct result *result, bool predicted, struct arena *arena)
{
    uint64_t words[2];
    const char *config = result->config_sha256 ? result->config_sha256 : "";
    if (!predicted && getrandom(words, sizeof(words), 0) == (ssize_t)sizeof(words))
        return uuid_text(words[0], words[1], arena);
    const uint64_t seed = rng_derive(result->seed, config);
    return uuid_text(rng_at(seed, 0), rng_at(seed, 1), arena);
}

static void fix_times(struct result *result, struct arena *arena)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    char text[32], *end;
    struct tm parts;
    const time_t seconds = epoch ? (time_t)strtoll(epoch, &end, 10) : 0;
    if (epoch && end != epoch && !*end && gmtime_r(&seconds, &parts) &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
        result->started_at = arena_strdup(arena, text);
    result->finished_at = result->started_at;
}

/* What makes times comparable: not which unit, not when, nor a clock that is measured anew each time. */
static void take_fingerprint(struct result *result, struct arena *arena)
{
    const struct device_info *d = &result->device;
    const char *text = arena_printf(arena, "%s|%s|%s|%s|%s|%u|%u|%u|%llu|%s", d->backend, d->name, d->arch, d->target, d->driver,
                                    d->cus, d->xccs, d->wave, (unsigned long long)d->memory_bytes,
                                    strcmp(d->backend, "cpu") == 0 ? result->governor : "");
    hash_sha256(result->fingerprint, text, strlen(text));
}

static void take_warnings(struct result *result, struct arena *arena)
{
    const size_t count = log_warning_count();
    const char **warnings = arena_array(arena, count + 1, sizeof(*warnings));
    for (size_t k = 0; k < count; k++)
        warnings[k] = arena_strdup(arena, log_warning_at(k));
    result->warnings = warnings;
    result->warning_count = count;
}

void result_environment(struct result *result, const struct device_info *device, int argc, char **argv, struct arena *arena)
{
    result->tool_version = ROOFTILE_VERSION;
    result->tool_git = ROOFTILE_GIT;
    result->tool_dirty = ROOFTILE_DIRTY;
    result->tool_build = ROOFTILE_BUILD_FLAGS;
    result->device = *device;
    result->predicted = device->predicted;
    result->argv = (const char *const *)argv;
    result->argc = (size_t)argc;
    take_host(result, arena);
    take_env(result, arena);
    take_ci(result, arena);
    take_warnings(result, arena);
    take_fingerprint(result, arena);
    result->run_id = run_id(result, device->predicted, arena);
    if (device->predicted)
        fix_times(result, arena);
}
