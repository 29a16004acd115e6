/* SPDX-License-Identifier: MIT */
#include "vendor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

#include "rooftile/clock.h"

bool vendor_find_symbols(void *api, void *handle, const struct vendor_symbol *symbols, size_t count, const char *whole,
                         struct text *missing)
{
    size_t required = 0, found = 0;
    for (size_t i = 0; i < count; ++i) {
        void *address = dlsym(handle, symbols[i].name);
        required += symbols[i].required;
        found += symbols[i].required && address;
        if (address) /* a function pointer, which ISO C cannot convert */
            memcpy((char *)api + symbols[i].offset, &address, sizeof(address));
        else if (symbols[i].required)
            text_addf(missing, "%s%s", missing->length ? ", " : "", symbols[i].name);
    }
    if (!found) {
        text_clear(missing);
        text_addf(missing, "all functions of %s", whole);
    }
    return found == required;
}

bool vendor_explain_permission(struct text *why, const char *path)
{
    struct stat file;
    if (stat(path, &file) || access(path, R_OK | W_OK) == 0)
        return false;
    const struct group *group = getgrgid(file.st_gid);
    text_addf(why, ": no permission on %s (mode %04o, group %s)", path, (unsigned)file.st_mode & 07777u,
              group ? group->gr_name : "unknown");
    return true;
}

/* ---- counting in a child ---- */

struct answer {
    int count;
    char why[2000];
};

_Noreturn static void child_main(int answers, int (*count_here)(struct text *why, const void *context),
                                 const void *context)
{
    struct answer answer = {0};
    struct text why = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    answer.count = count_here(&why, context);
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

int vendor_count(struct text *why, const char *library, int (*count_here)(struct text *why, const void *context),
                 const void *context, int timeout_ms)
{
    int answers[2], wait_status = 0;
    struct answer answer = {0};
    if (pipe2(answers, O_CLOEXEC)) {
        text_addf(why, "cannot make a pipe: %s", strerror(errno));
        return 0;
    }
    const pid_t child = fork();
    if (child == 0)
        child_main(answers[1], count_here, context);
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
        explain_death(why, library, wait_status);
    else
        text_addf(why, "%s did not count its devices within %.3g s", library, timeout_ms / 1e3);
    return answer.count;
}
