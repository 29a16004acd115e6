/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static char line[512];

static void redraw(void)
{
    if (line[0])
        fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
}

static void clear(void)
{
    if (line[0])
        fputs("\r\033[K", stderr);
}

void progress_show(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    const unsigned columns = cli_columns(STDERR_FILENO);
    if (columns > 1 && strlen(line) >= columns)
        line[columns - 1] = '\0'; /* a wrapped line could not be redrawn in place */
    log_set_status_line(clear, redraw);
    redraw();
}

void progress_clear(void)
{
    clear();
    line[0] = '\0';
    fflush(stderr);
}
