/* SPDX-License-Identifier: MIT */
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

#include "hip.h"
#include "rooftile/clock.h"

struct answer {
    int count;
    char why[2000];
};

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

static bool explain_render_nodes(struct text *why, const char *dev)
{
    struct text pattern = {0};
    glob_t nodes = {0};
    bool explained = false;
    text_addf(&pattern, "%s/dri/renderD*", dev);
    if (glob(pattern.data, 0, NULL, &nodes) == 0)
        for (size_t i = 0; i < nodes.gl_pathc && !explained; ++i)
            explained = explain_permission(why, nodes.gl_pathv[i]);
    globfree(&nodes);
    text_release(&pattern);
    return explained;
}

void hip_explain_absence(struct text *why, const char *dev)
{
    static const char *const masks[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};
    struct text kfd = {0};
    text_addf(&kfd, "%s/kfd", dev);
    if (access(kfd.data, F_OK))
        text_addf(why, ": there is no %s (the amdgpu driver is not loaded, or this container was not given it)",
                  kfd.data);
    else if (!explain_permission(why, kfd.data))
        explain_render_nodes(why, dev);
    text_release(&kfd);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); ++i)
        if (getenv(masks[i]))
            text_addf(why, "; %s=%s selects devices", masks[i], getenv(masks[i]));
}

/* Debian 12's library answers "invalid device" to hipInit, and "no device" to the rest, when there is no GPU. */
enum status hip_start(int *count, const struct hip_library *library, struct err *err)
{
    struct err cause = {0};
    struct text why = {0};
    int counted = 0;
    hip_error code = library->api.hipInit(0);
    enum status status = hip_check(&library->api, code, "hipInit", &cause);
    if (!status) {
        code = library->api.hipGetDeviceCount(&counted);
        status = hip_check(&library->api, code, "hipGetDeviceCount", &cause);
    }
    if (!status && counted > 0) {
        *count = counted;
        return STATUS_OK;
    }
    text_addf(&why, "%s finds no GPU%s%s", library->path, status ? ", " : "", cause.text);
    if (!status || code == HIP_NO_DEVICE || code == HIP_INVALID_DEVICE)
        hip_explain_absence(&why, "/dev");
    err_set(err, ERR_DEVICE_LOST, "%s", why.data);
    text_release(&why);
    return ERR_DEVICE_LOST;
}

static int count_here(struct text *why)
{
    struct hip_library library;
    struct err err = {0};
    int count = 0;
    if (hip_library_open(&library, &err) || hip_start(&count, &library, &err))
        text_add(why, err.text);
    return count;
}

_Noreturn static void child_main(int answers)
{
    struct answer answer = {0};
    struct text why = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    answer.count = count_here(&why);
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

static void explain_death(struct text *why, int wait_status)
{
    if (WIFSIGNALED(wait_status))
        text_addf(why, "libamdhip64 died of SIG%s while counting its devices", sigabbrev_np(WTERMSIG(wait_status)));
    else
        text_addf(why, "libamdhip64 ended the process (exit code %d) while counting its devices",
                  WEXITSTATUS(wait_status));
}

int hip_count(struct text *why, int timeout_ms)
{
    int answers[2], wait_status = 0;
    struct answer answer = {0};
    if (pipe2(answers, O_CLOEXEC)) {
        text_addf(why, "cannot make a pipe: %s", strerror(errno));
        return 0;
    }
    const pid_t child = fork();
    if (child == 0)
        child_main(answers[1]);
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
        explain_death(why, wait_status);
    else
        text_addf(why, "libamdhip64 did not count its devices within %.3g s", timeout_ms / 1e3);
    return answer.count;
}
