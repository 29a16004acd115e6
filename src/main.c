/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>

#include "cli/cli.h"

/* A file opened under the number of a closed standard stream would receive our messages. */
static void open_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd)
            abort();
}

int main(int argc, char **argv)
{
    open_standard_streams();
    return cli_main(argc, argv);
}
