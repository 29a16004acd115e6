/* SPDX-License-Identifier: MIT */
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rooftile/file.h"
#include "rooftile/hash.h"
#include "rooftile/log.h"
#include "rooftile/result.h"
#include "rooftile_version.h"

extern char **environ;

/* Returns the content of a small file in /proc, /sys or /etc; "" on failure. */
static char *small_file(const char *path, struct arena *arena)
{
    char *data = NULL;
    size_t length = 0;
    struct err ignored = {0};
    return file_read(&data, &length, path, 1 << 20, arena, &ignored) ? arena_strdup(arena, "") : data;
}

/* Returns the value after `key` up to the end of its line, without surrounding quotes, blanks and colons; "" if the key
 * is missing. */
static char *value_of(const char *text, const char *key, struct arena *arena)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (!text_starts(line, key))
            continue;
        const char *from = line + strlen(key);
        from += strspn(from, " \t:=\"");
        size_t length = strcspn(from, "\n");
        while (length && strchr(" \"\t", from[length - 1]))
            length--;
        return arena_strndup(arena, from, length);
    }
    return arena_strdup(arena, "");
}

static const char *first_of(const char *const *names, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const char *value = getenv(names[k]);
        if (value && value[0])
            return value;
    }
    return "";
}

static void describe_host(struct result *result, struct arena *arena)
{
    struct utsname system = {0};
    char hash[HASH_TEXT] = "";
    const char *machine_id = small_file("/etc/machine-id", arena);
    uname(&system);
    if (machine_id[0])
        hash_sha256(hash, machine_id, strlen(machine_id));
    result->host_id_hash = arena_strdup(arena, hash);
    result->kernel_release = arena_strdup(arena, system.release);
    result->os = value_of(small_file("/etc/os-release", arena), "PRETTY_NAME", arena);
    result->cpu_name = value_of(small_file("/proc/cpuinfo", arena), "model name", arena);
    const char *governor = small_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", arena);
    result->governor = arena_strndup(arena, governor, strcspn(governor, "\n"));
    result->container = file_exists("/.dockerenv") ? "docker" : file_exists("/run/.containerenv") ? "podman" : "";
    while (file_is_dir(arena_printf(arena, "/sys/devices/system/node/node%u", result->numa_nodes)))
        result->numa_nodes++;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct result_label *)a)->key, ((const struct result_label *)b)->key);
}

/* Collects variables that change the behaviour of vendor runtimes and OpenMP. */
static void describe_variables(struct result *result, struct arena *arena)
{
    static const char *const prefixes[] = {"HSA_", "HIP_", "ROC", "GPU_", "AMD_", "CUDA_", "OMP_"};
    struct result_label *env = NULL;
    for (size_t k = 0; environ && environ[k]; k++) {
        const char *equals = strchr(environ[k], '=');
        if (equals && COUNT_WHERE(prefix, prefixes, COUNT_OF(prefixes), text_starts(environ[k], *prefix)))
            ARENA_PUSH(arena, env, result->env_count,
                       (struct result_label){arena_strndup(arena, environ[k], (size_t)(equals - environ[k])),
                                             arena_strdup(arena, equals + 1)});
    }
    if (env)
        qsort(env, result->env_count, sizeof(*env), by_key); /* their order in memory is arbitrary */
    result->env = env;
}

/* A UUID of RFC 9562, version 4; on sim it is made from the seed, so that the same input gives the same output. */
static const char *run_id(uint64_t seed, bool predicted, struct arena *arena)
{
    uint8_t random[16];
    char hex[HASH_TEXT];
    if (predicted || getrandom(random, sizeof(random), 0) != sizeof(random))
        hash_sha256(hex, &seed, sizeof(seed));
    else
        hash_sha256(hex, random, sizeof(random));
    const unsigned variant = 8 | ((unsigned)(hex[16] <= '9' ? hex[16] - '0' : hex[16] - 'a' + 10) & 3);
    return arena_printf(arena, "%.8s-%.4s-4%.3s-%x%.3s-%.12s", hex, hex + 8, hex + 13, variant, hex + 17, hex + 20);
}

/* Hashes the properties that must be equal for two results to be compared without a warning. */
static void fingerprint(struct result *result, struct arena *arena)
{
    const struct device_info *device = &result->device;
    const char *all = arena_printf(arena, "%s|%s|%s|%s|%s|%u|%u|%s|%s|%s|%s|%s|%s|%g", device->backend, device->name,
                                   device->arch, device->target, device->driver, device->cus, device->wave,
                                   result->kernel_release, result->governor, device->partition, device->vbios,
                                   device->firmware, device->perf_level, device->power_cap_w);
    hash_sha256(result->fingerprint, all, strlen(all));
}

void result_take_warnings(struct result *result, struct arena *arena)
{
    const size_t count = log_warning_count();
    const char **warnings = arena_array(arena, count + 1, sizeof(*warnings));
    for (size_t k = 0; k < count; k++)
        warnings[k] = arena_strdup(arena, log_warning_at(k));
    result->warnings = warnings;
    result->warning_count = count;
}

void result_environment(struct result *result, const struct device_info *device, int argc, char **argv,
                        struct arena *arena)
{
    result->tool_version = ROOFTILE_VERSION;
    result->tool_git = ROOFTILE_GIT;
    result->tool_dirty = ROOFTILE_GIT_DIRTY;
    result->tool_build = ROOFTILE_COMPILER " " ROOFTILE_BUILD_TYPE;
    result->argc = (size_t)argc;
    result->argv = (const char *const *)argv;
    result->device = *device;
    result->run_id = run_id(result->seed, device->predicted, arena);
    describe_host(result, arena);
    describe_variables(result, arena);
    static const char *const commit[] = {"ROOFTILE_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"};
    static const char *const branch[] = {"ROOFTILE_BRANCH", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "GIT_BRANCH"};
    static const char *const url[] = {"ROOFTILE_CI_URL", "CI_JOB_URL", "BUILD_URL"};
    result->commit = first_of(commit, 4);
    result->branch = first_of(branch, 4);
    const char *server = getenv("GITHUB_SERVER_URL"), *repository = getenv("GITHUB_REPOSITORY"),
               *run = getenv("GITHUB_RUN_ID");
    result->ci_url = first_of(url, 3);
    if (!result->ci_url[0] && server && repository && run)
        result->ci_url = arena_printf(arena, "%s/%s/actions/runs/%s", server, repository, run);
    fingerprint(result, arena);
    result_take_warnings(result, arena);
}
