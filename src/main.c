/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "cli/cli.h"

/* Twice what any command was seen to need. Threads have as much: an overflow there is a crash without a word. */
#define LEAST_STACK_BYTES (512u * 1024u)

/* A file opened under the number of a closed standard stream would receive our messages. Writing to a closed standard
 * output fails, as it does to a full disk: what was asked for is lost. */
static void open_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd)
            abort();
}

static bool stack_suffices(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= LEAST_STACK_BYTES)
        return true;
    fprintf(stderr, "rooftile: error: the stack is limited to %llu KiB, at least %u are needed: ulimit -s 8192\n",
            (unsigned long long)limit.rlim_cur / 1024, LEAST_STACK_BYTES / 1024);
    return false;
}

int main(int argc, char **argv)
{
    open_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* what goes beyond a limit of file sizes (ulimit -f) is then an error of its write */
    return stack_suffices() ? cli_main(argc, argv) : 3;
}
