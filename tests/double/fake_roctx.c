/* SPDX-License-Identifier: MIT
 *
 * A ROCTX and NVTX library that writes what it is told into the file FAKE_ROCTX_LOG: "push NAME" and "pop", one a line.
 */
#include <stdio.h>
#include <stdlib.h>

int roctxRangePushA(const char *name);
int roctxRangePop(void);
int nvtxRangePushA(const char *name);
int nvtxRangePop(void);

static int depth;

static void write_line(const char *verb, const char *name)
{
    const char *path = getenv("FAKE_ROCTX_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s%s\n", verb, name);
    fclose(file);
}

int roctxRangePushA(const char *name)
{
    write_line("push ", name);
    return depth++;
}

int roctxRangePop(void)
{
    write_line("pop", "");
    return depth--;
}

int nvtxRangePushA(const char *name)
{
    return roctxRangePushA(name);
}

int nvtxRangePop(void)
{
    return roctxRangePop();
}
