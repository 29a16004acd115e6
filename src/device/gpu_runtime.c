/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"
#include "rooftile/clock.h"

/* ---- finding the library ---- */

/* What was found is in `gpu`; else why each candidate was no good. */
struct gpu_search {
    struct gpu *gpu;
    struct text problems;
};

struct gpu *gpu_new(const struct gpu_vendor *vendor)
{
    struct gpu *gpu = new_zeroed(1, vendor->size_bytes);
    gpu->device.ops = vendor->ops;
    gpu->vendor = vendor;
    return gpu;
}

/* The loader's message begins with the name that it was given; with another one when that was found and lacks
 * something. */
static bool is_absent(const char *message, const char *name)
{
    return text_starts(message, name) && message[strlen(name)] == ':' && strstr(message, "No such file");
}

enum gpu_found gpu_try_library(struct gpu_search *search, const char *name, bool named)
{
    struct gpu *gpu = search->gpu;
    const char *also = search->problems.length ? "; " : "";
    void *handle = dlopen(name, RTLD_NOW | gpu->vendor->open_flags);
    if (!handle) {
        const char *message = dlerror();
        const bool absent = is_absent(message, name);
        if (named || !absent)
            text_addf(&search->problems, "%s%s", also, message);
        return absent ? GPU_ABSENT : GPU_USELESS;
    }
    struct text missing = {0};
    const bool usable = library_find_symbols(gpu, handle, gpu->vendor->symbols, gpu->vendor->whole, &missing);
    if (usable) {
        Dl_info file = {0};
        dladdr(dlsym(handle, gpu->vendor->symbols[0].name), &file);
        snprintf(gpu->path, sizeof(gpu->path), "%s", file.dli_fname ? file.dli_fname : name);
    } else {
        text_addf(&search->problems, "%s%s lacks %s", also, name, missing.data);
        dlclose(handle);
    }
    text_release(&missing);
    return usable ? GPU_USABLE : GPU_USELESS;
}

enum status gpu_find_library(struct gpu *gpu, struct err *err)
{
    struct gpu_search search = {.gpu = gpu};
    const char *named = getenv(gpu->vendor->variable);
    enum status status = STATUS_OK;
    const bool found =
        named && *named ? gpu_try_library(&search, named, true) == GPU_USABLE : gpu->vendor->search(&search);
    if (!found)
        status =
            err_set(err, ERR_DEVICE_LOST, "%s", search.problems.length ? search.problems.data : gpu->vendor->absent);
    text_release(&search.problems);
    return status;
}

const char *gpu_lacks(const struct gpu *gpu, enum gpu_feature feature)
{
    for (const struct library_symbol *row = gpu->vendor->symbols; row->name; ++row) {
        void *function;
        memcpy(&function, (const char *)gpu + row->offset, sizeof(function));
        if (row->need == feature && !function)
            return row->name;
    }
    return NULL;
}

enum status gpu_require(const struct gpu *gpu, enum gpu_feature feature, struct err *err)
{
    const char *missing = gpu_lacks(gpu, feature);
    return missing ? err_set(err, ERR_UNSUPPORTED, "%s lacks %s", gpu->path, missing) : STATUS_OK;
}

/* ---- starting it ---- */

/* True when a device file is there and this user may not use it. */
static bool explain_permission(struct text *why, const char *path)
{
    struct stat file;
    if (stat(path, &file) || access(path, R_OK | W_OK) == 0)
        return false;
    const struct group *group = getgrgid(file.st_gid);
    text_addf(why, ": no permission on %s (mode %04o, group %s)", path, (unsigned)file.st_mode & 07777u,
              group ? group->gr_name : "unknown");
    return true;
}

/* True when this is why there is none: there is no such file, or this user may not use one. */
static bool explain_file(struct text *why, const struct gpu_device_file *file, const char *dev)
{
    struct text pattern = {0};
    glob_t nodes = {0};
    bool explained = false;
    text_addf(&pattern, "%s/%s", dev, file->pattern);
    if (glob(pattern.data, 0, NULL, &nodes) == 0)
        for (size_t i = 0; i < nodes.gl_pathc && !explained; ++i)
            explained = explain_permission(why, nodes.gl_pathv[i]);
    else if ((explained = file->means != NULL))
        text_addf(why, ": there is no %s/%s (%s)", dev, file->name, file->means);
    globfree(&nodes);
    text_release(&pattern);
    return explained;
}

void gpu_explain_absence(struct text *why, const struct gpu_vendor *vendor, const char *dev)
{
    for (const struct gpu_device_file *file = vendor->files; file->pattern; ++file)
        if (explain_file(why, file, dev))
            break;
    for (const char *const *mask = vendor->masks; *mask; ++mask)
        if (getenv(*mask))
            text_addf(why, "; %s=%s selects devices", *mask, getenv(*mask));
}

/* What the library's own words leave open. */
static void explain_failure(struct text *why, const struct gpu_vendor *vendor, unsigned code)
{
    for (const struct gpu_hint *hint = vendor->hints; hint->code; ++hint) {
        if (hint->code != code)
            continue;
        if (hint->files)
            gpu_explain_absence(why, vendor, "/dev");
        if (hint->means)
            text_addf(why, ": %s", hint->means);
    }
}

static enum status count_devices(struct gpu *gpu, gpu_error *code, struct err *err)
{
    int count = 0;
    if (gpu->vendor->prepare_start)
        gpu->vendor->prepare_start();
    *code = gpu->api.init(0);
    if (gpu_check(gpu, *code, offsetof(struct gpu, api.init), err))
        return err->status;
    *code = gpu->api.count(&count);
    if (gpu_check(gpu, *code, offsetof(struct gpu, api.count), err))
        return err->status;
    *code = count > 0 ? GPU_SUCCESS : GPU_NO_DEVICE;
    gpu->count = count < GPU_MAX_DEVICES ? count : GPU_MAX_DEVICES;
    for (int i = 0; i < gpu->count; ++i)
        gpu->handles[i] = i;
    return gpu->count > 0 && gpu->vendor->started ? gpu->vendor->started(gpu, err) : STATUS_OK;
}

enum status gpu_start(struct gpu *gpu, struct err *err)
{
    struct err cause = {0};
    struct text why = {0};
    gpu_error code = GPU_SUCCESS;
    const enum status status = count_devices(gpu, &code, &cause);
    if (!status && gpu->count > 0)
        return STATUS_OK;
    gpu->count = 0;
    text_addf(&why, "%s finds no GPU%s%s", gpu->path, status ? ", " : "", cause.text);
    explain_failure(&why, gpu->vendor, code);
    err_set(err, ERR_DEVICE_LOST, "%s", why.data);
    text_release(&why);
    return ERR_DEVICE_LOST;
}

/* ---- counting in a child ---- */

struct answer {
    int count;
    char why[2000];
};

static int count_here(struct text *why, const struct gpu_vendor *vendor)
{
    struct gpu *gpu = gpu_new(vendor);
    struct err err = {0};
    if (gpu_find_library(gpu, &err) || gpu_start(gpu, &err))
        text_add(why, err.text);
    const int count = gpu->count;
    free(gpu);
    return count;
}

_Noreturn static void child_main(int answers, const struct gpu_vendor *vendor)
{
    struct answer answer = {0};
    struct text why = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    answer.count = count_here(&why, vendor);
    snprintf(answer.why, sizeof(answer.why), "%s", why.data ? why.data : "");
    const ssize_t written = write(answers, &answer, sizeof(answer));
    _exit(written == (ssize_t)sizeof(answer) ? 0 : 1); /* without the destructors of the library */
}

enum outcome { ANSWERED, DIED, LATE };

/* A pipe takes the answer whole: it is smaller than PIPE_BUF. */
static enum outcome receive(struct answer *answer, int answers, int timeout_ms)
{
    const uint64_t start_ns = clock_now_ns();
    struct pollfd watch = {.fd = answers, .events = POLLIN};
    for (;;) {
        const int64_t left_ms = timeout_ms - (int64_t)((clock_now_ns() - start_ns) / 1000000);
        const int ready = poll(&watch, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready > 0)
            return read(answers, answer, sizeof(*answer)) == (ssize_t)sizeof(*answer) ? ANSWERED : DIED;
        if (ready == 0 || errno != EINTR)
            return LATE;
    }
}

static void explain_death(struct text *why, const char *library, int wait_status)
{
    if (WIFSIGNALED(wait_status))
        text_addf(why, "%s died of SIG%s while counting its devices", library, sigabbrev_np(WTERMSIG(wait_status)));
    else
        text_addf(why, "%s ended the process (exit code %d) while counting its devices", library,
                  WEXITSTATUS(wait_status));
}

int gpu_count(struct text *why, const struct gpu_vendor *vendor, int timeout_ms)
{
    int answers[2], wait_status = 0;
    struct answer answer = {0};
    if (pipe2(answers, O_CLOEXEC)) {
        text_addf(why, "cannot make a pipe: %s", strerror(errno));
        return 0;
    }
    const pid_t child = fork();
    if (child == 0)
        child_main(answers[1], vendor);
    close(answers[1]);
    if (child < 0) {
        text_addf(why, "cannot start a process: %s", strerror(errno));
        close(answers[0]);
        return 0;
    }
    const enum outcome outcome = receive(&answer, answers[0], timeout_ms);
    close(answers[0]);
    if (outcome == LATE)
        kill(child, SIGKILL);
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
        ;
    if (outcome == ANSWERED)
        text_add(why, answer.why);
    else if (outcome == DIED)
        explain_death(why, vendor->library, wait_status);
    else
        text_addf(why, "%s did not count its devices within %.3g s", vendor->library, timeout_ms / 1e3);
    return answer.count;
}
