/* SPDX-License-Identifier: MIT */
#include <sys/ioctl.h>
#include <unistd.h>

#include "rooftile/clock.h"
#include "rooftile/session.h"

unsigned progress_columns(int fd)
{
    struct winsize size = {0};
    const char *variable = getenv("COLUMNS");
    const long columns = variable ? strtol(variable, NULL, 10) : 0;
    if (isatty(fd) == 1 && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 40)
        return size.ws_col;
    return columns >= 40 && columns <= 10000 ? (unsigned)columns : 100;
}

/* In a pipe, prints a progress line once a command has taken this long, and then at this interval. */
static const uint64_t progress_first_ns = 1500000000, progress_every_ns = 5000000000;
static uint64_t progress_next_ns;

static char progress_line[512];

static void redraw_progress(void)
{
    if (progress_line[0])
        fprintf(stderr, "\r\033[K%s", progress_line);
    fflush(stderr);
}

static void clear_progress(void)
{
    if (progress_line[0])
        fputs("\r\033[K", stderr);
}

bool progress_is_drawn(const struct cli_options *options)
{
    if (options->progress != PROGRESS_AUTO)
        return options->progress == PROGRESS_ALWAYS;
    return !options->quiet && isatty(STDERR_FILENO) == 1;
}

void progress_begin(void)
{
    progress_next_ns = clock_now_ns() + progress_first_ns;
}

void progress_said(void)
{
    progress_next_ns = clock_now_ns() + progress_every_ns;
}

void progress_show(const struct cli_options *options, const char *format, ...)
{
    va_list args;
    SCOPED(text_release) struct text line = {0}, shown = {0};
    const bool drawn = progress_is_drawn(options);
    if (!drawn && (options->quiet || options->progress == PROGRESS_NEVER || clock_now_ns() < progress_next_ns))
        return;
    va_start(args, format);
    text_vaddf(&line, format, args);
    va_end(args);
    text_add_printable(&shown, line.data);
    if (!drawn) {
        fprintf(stderr, "... %s\n", shown.data);
        progress_said();
        return;
    }
    snprintf(progress_line, sizeof(progress_line), "%s", shown.data);
    const unsigned columns = progress_columns(STDERR_FILENO);
    if (strlen(progress_line) >= columns)
        progress_line[columns - 1] = '\0'; /* a wrapped line could not be redrawn in place */
    log_set_status_line(clear_progress, redraw_progress);
    redraw_progress();
}

void progress_clear(void)
{
    clear_progress();
    progress_line[0] = '\0';
    fflush(stderr);
}
