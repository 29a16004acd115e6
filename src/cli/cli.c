/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pages.h"
#include "rooftile/file.h"
#include "rooftile/json_out.h"
#include "rooftile_version.h"

int cli_fail(const struct err *err)
{
    log_error("%s", err->text);
    return err_exit_code(err->status);
}

bool cli_progress(const struct cli_options *options)
{
    if (options->progress != PROGRESS_AUTO)
        return options->progress == PROGRESS_ALWAYS;
    return !options->quiet && isatty(STDERR_FILENO) == 1;
}

unsigned cli_columns(int fd)
{
    struct winsize size = {0};
    if (isatty(fd) != 1 || ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 40)
        return 100;
    return size.ws_col;
}

enum status cli_write(const char *path, const struct text *text, struct err *err)
{
    if (path && strcmp(path, "-") != 0)
        return file_write(path, text->data ? text->data : "", text->length, err);
    fwrite(text->data ? text->data : "", 1, text->length, stdout);
    return STATUS_OK; /* what could not be written shows at the end, in finish */
}

static enum status print(const struct text *text)
{
    struct err err = {0};
    return cli_write(NULL, text, &err);
}

/* ---- commands ---- */

static int unknown_command(const char *word, struct arena *arena)
{
    struct err err = {0};
    const char **names = NULL;
    size_t count = 0;
    for (const struct command *command = commands; command->name; command++)
        ARENA_PUSH(arena, names, count, command->name);
    err_set(&err, ERR_USAGE, "unknown command '%s'", word);
    err_nearest(&err, word, names, count, "try 'rooftile --help'");
    return cli_fail(&err);
}

static void apply_common(const struct cli_options *options)
{
    log_set_color(options->color);
    if (options->quiet)
        log_set_level(LOG_QUIET);
    else if (options->verbose)
        log_set_level(options->verbose > 1 ? LOG_DEBUG : LOG_VERBOSE);
}

static int show_help(const struct command *command)
{
    struct text text = {0};
    if (command)
        help_command(&text, command, log_use_color(STDOUT_FILENO));
    else
        help_overview(&text, log_use_color(STDOUT_FILENO));
    print(&text);
    text_release(&text);
    return 0;
}

/* `at` is the command's place in argv; common options may stand before it. */
static int run_command(int at, int argc, char **argv, struct arena *arena)
{
    struct err err = {0};
    struct cli_options options;
    const struct command *command = command_find(argv[at]);
    if (!command)
        return unknown_command(argv[at], arena);
    char **words = arena_array(arena, (size_t)argc + 1, sizeof(*words));
    memcpy(words, argv, (size_t)at * sizeof(*words));
    memcpy(words + at, argv + at + 1, (size_t)(argc - at - 1) * sizeof(*words));
    if (options_parse(&options, command, argc - 1, words, arena, &err))
        return cli_fail(&err);
    options.argc = argc;
    options.argv = argv;
    apply_common(&options);
    return options.help ? show_help(command) : command->run(&options, arena);
}

/* ---- words that stand in place of a command ---- */

static int special_help(int argc, char **argv, struct arena *arena)
{
    const struct command *command = argc < 2 ? NULL : command_find(argv[1]);
    return argc < 2 || command ? show_help(command) : unknown_command(argv[1], arena);
}

static const struct {
    const char *name, *version;
} libraries[] = {ROOFTILE_LIBRARIES{NULL, NULL}};

/* What this program is and what it was built from and with (recorded by cmake/version.cmake). */
static void version_text(struct text *out)
{
    text_addf(out, "rooftile %s", ROOFTILE_VERSION);
    if (ROOFTILE_GIT[0])
        text_addf(out, " (%s)", ROOFTILE_GIT);
    text_add(out, "\n");
}

static void version_json(struct text *out)
{
    struct json_out *json = json_out_new();
    json_out_string(json, "name", "rooftile");
    json_out_string(json, "version", ROOFTILE_VERSION);
    json_out_string(json, "git", ROOFTILE_GIT[0] ? ROOFTILE_GIT : NULL);
    json_out_string(json, "compiler", ROOFTILE_COMPILER);
    json_out_string(json, "build_type", ROOFTILE_BUILD_TYPE);
    json_out_string(json, "target", ROOFTILE_TARGET);
    json_out_object(json, "libraries");
    for (size_t k = 0; libraries[k].name; k++)
        json_out_string(json, libraries[k].name, libraries[k].version);
    json_out_string(json, "glibc", gnu_get_libc_version());
    json_out_end(json);
    json_out_finish(json, out, true);
    text_add(out, "\n");
    json_out_free(json);
}

static int special_version(int argc, char **argv, struct arena *arena)
{
    (void)arena;
    struct err err = {0};
    struct text text = {0};
    const char *path = NULL;
    if (argc > 1 && strcmp(argv[1], "--json") == 0 && argc < 4) {
        version_json(&text);
        path = argc > 2 ? argv[2] : NULL;
    } else if (argc > 1) {
        err_set(&err, ERR_USAGE,
                "unexpected '%s'; there are 'rooftile --version' and 'rooftile --version --json [FILE|-]'",
                argv[strcmp(argv[1], "--json") == 0 ? 3 : 1]);
    } else {
        version_text(&text);
    }
    const bool failed = err.status || cli_write(path, &text, &err);
    text_release(&text);
    return failed ? cli_fail(&err) : 0;
}

static const struct {
    const char *word;
    int (*run)(int argc, char **argv, struct arena *arena);
} specials[] = {
    {"--help", special_help},       {"-h", special_help},    {"help", special_help},
    {"--version", special_version}, {"-V", special_version}, {"version", special_version},
};

static int dispatch(int argc, char **argv, struct arena *arena)
{
    struct err err = {0};
    int at = argc;
    for (size_t k = 0; argc > 1 && k < sizeof(specials) / sizeof(specials[0]); k++)
        if (strcmp(argv[1], specials[k].word) == 0)
            return specials[k].run(argc - 1, argv + 1, arena);
    if (options_first_argument(&at, argc, argv, arena, &err))
        return cli_fail(&err);
    return at < argc ? run_command(at, argc, argv, arena) : show_help(NULL);
}

/* A full disk behind standard output is found out here at the latest. */
static int finish(int code)
{
    errno = 0;
    const bool broken = ferror(stdout) | fflush(stdout);
    if (!broken)
        return code;
    struct err err = {0};
    err_set(&err, ERR_IO, "cannot write standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    return cli_fail(&err);
}

int cli_main(int argc, char **argv)
{
    struct arena arena = {0};
    const int code = finish(dispatch(argc, argv, &arena));
    arena_release(&arena);
    return code;
}
