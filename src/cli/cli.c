/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <gnu/libc-version.h>
#include <signal.h>
#include <unistd.h>

#include "rooftile/file.h"
#include "rooftile/json.h"
#include "rooftile/render.h"
#include "rooftile_version.h"

static bool is_stdout(const char *path)
{
    return !path || !strcmp(path, "-");
}

static int fail(const struct err *err)
{
    log_error("%s", err->text);
    return err_exit_code(err->status);
}

/* ---- output ---- */

static int stdout_cause; /* why standard output could not be written */

void cli_put(const char *data, size_t length)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    sigset_t ending, before;
    sigemptyset(&ending);
    for (size_t k = 0; k < sizeof(signals) / sizeof(*signals); k++)
        sigaddset(&ending, signals[k]);
    sigprocmask(SIG_BLOCK, &ending, &before);
    errno = 0;
    if (fwrite(data, 1, length, stdout) != length || fflush(stdout))
        stdout_cause = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Every command creates the folder of its output file and reports that. */
static enum status make_folder(const char *dir, struct err *err)
{
    const bool is_there = file_is_dir(dir);
    const enum status status = file_make_dirs(dir, err);
    if (!status && !is_there)
        log_info("made the folder %s", dir);
    return status;
}

static enum status refuse_folder(const char *path, struct err *err)
{
    return file_is_dir(path) || text_ends(path, "/")
               ? err_set(err, ERR_IO, "%s is a folder, where a file is to be written", path)
               : STATUS_OK;
}

enum status cli_write(const char *path, const struct text *text, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    const char *data = text->data ? text->data : "";
    if (!is_stdout(path))
        return refuse_folder(path, err) || make_folder(path_dir(&arena, path), err)
                   ? err->status
                   : file_write(path, data, text->length, err);
    cli_put(data, text->length);
    return STATUS_OK; /* errors show at the end, in finish */
}

void cli_print(struct text *text)
{
    struct err none = {0};
    cli_write(NULL, text, &none);
    text_release(text);
}

struct report_options cli_look(const struct cli_options *options, const char *path)
{
    const bool terminal = is_stdout(path);
    return (struct report_options){.color = terminal && log_use_color(STDOUT_FILENO),
                                   .columns = terminal ? progress_columns(STDOUT_FILENO) : 0,
                                   .verbose = options->verbose > 0};
}

bool cli_wants_json(const struct cli_options *options)
{
    return options->json || (options->format && !strcmp(options->format, "json"));
}

enum status cli_show(const struct cli_options *options, const char *path, show_function *write, const void *what,
                     struct err *err)
{
    const struct report_options look = cli_look(options, path);
    SCOPED(text_release) struct text text = {0};
    enum status status = STATUS_OK;
    if (options->json) {
        write(&text, "json", what, &look);
        status = cli_write(options->json, &text, err);
        text_clear(&text);
    }
    if (!status && (!options->json || !is_stdout(options->json))) {
        write(&text, options->format ? options->format : "table", what, &look);
        status = cli_write(path, &text, err);
    }
    return status;
}

static void write_document(struct text *out, const char *format, const void *what, const struct report_options *look)
{
    render_find(format)(out, what, look);
}

enum status cli_show_document(const struct cli_options *options, const struct document *document, bool both,
                              struct err *err)
{
    const struct report_options look = cli_look(options, options->json);
    const char *format = options->format ? options->format : "table";
    SCOPED(text_release) struct text json = {0};
    const bool csv = !strcmp(format, "csv"), junit = !strcmp(format, "junit");
    if (!render_find(format) || (junit && !document->name) || (csv && !document_main(document)))
        return err_set(err, ERR_USAGE, "--format %s: this is shown as table, markdown, json%s or html", format,
                       document_main(document) ? ", csv" : "");
    if (both || !options->json)
        return cli_show(options, options->out, write_document, document, err);
    render_json(&json, document, &look);
    return cli_write(options->json, &json, err);
}

enum status cli_check_output(const char *path, struct arena *arena, struct err *err)
{
    if (is_stdout(path))
        return STATUS_OK;
    if (refuse_folder(path, err))
        return err->status;
    if (file_is_device(path))
        return access(path, W_OK) ? err_set(err, ERR_IO, "%s: %s", path, strerror(errno)) : STATUS_OK;
    /* The journal is next to a symbolic link, the result next to the link's target. */
    const char *const dirs[] = {path_dir(arena, path), path_dir(arena, path_target(arena, path))};
    enum status status = make_folder(dirs[0], err);
    for (size_t k = 0; k < 2 && !status; k++)
        if (access(dirs[k], W_OK))
            status = err_set(err, ERR_IO, "%s: cannot write into the folder %s: %s", path, dirs[k], strerror(errno));
    return status;
}

/* ---- sessions ---- */

static void say_case(const struct session *session, const struct result_case *result_case, size_t done, size_t total)
{
    const struct cli_options *options = session->options;
    SCOPED(text_release) struct text line = {0};
    if (options->format && !strcmp(options->format, "jsonl")) {
        text_addf(&line, "{\"event\":\"case\",%s\"case\":", session->info.predicted ? "\"predicted\":true," : "");
        result_case_json(&line, result_case);
        text_add(&line, "}\n");
        cli_put(line.data, line.length);
    } else if (!progress_is_drawn(options) && !options->quiet) {
        report_case_line(&line, result_case, done, total);
        fputs(line.data, stderr);
        progress_said();
    }
}

const struct session_host cli_host = {.case_done = say_case, .explain = argument_is_other};

/* ---- commands ---- */

static int unknown_command(const char *word, struct arena *arena)
{
    struct err err = {0};
    const char **names = NULL;
    size_t count = 0;
    err_set(&err, ERR_USAGE, "unknown command '%s'", word);
    if (hint_add(&err, HINT_COMMAND, word, NULL))
        return fail(&err);
    if (argument_is_known(word, arena)) {
        err_set(&err, ERR_USAGE, "'%s' is no command, but 'rooftile run %s' measures it", word, word);
        return fail(&err);
    }
    for (const struct command *command = command_table(); command->name; command++)
        ARENA_PUSH(arena, names, count, command->name);
    err_nearest(&err, word, names, count, "try 'rooftile --help'");
    return fail(&err);
}

/* Shows the help of one command, or (NULL) of the whole program. */
static int show_help(const struct command *command, int verbose)
{
    struct text text = {0};
    const struct report_options look = cli_look(&(struct cli_options){.verbose = verbose}, NULL);
    if (command)
        help_command(&text, command, &look);
    else
        help_overview(&text, &look);
    cli_print(&text);
    return 0;
}

/* `at` is the command's index in argv; common options may precede it. */
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
    if (options_parse(&options, command, argc - 1, words, arena, &err) || argument_archs(&options, arena, &err) ||
        argument_machines(&options, arena, &err))
        return fail(&err);
    options.argc = argc;
    options.argv = argv;
    log_set_color(options.color);
    if (options.quiet)
        log_set_level(LOG_QUIET);
    else if (options.verbose)
        log_set_level(options.verbose > 1 ? LOG_DEBUG : LOG_VERBOSE);
    if (options.help)
        return show_help(command, options.verbose);
    struct call call = {.options = &options, .arena = arena};
    enum status status = command->run(&call, &err);
    if (!status && call.out.length) /* otherwise the command has written its output itself */
        status = cli_write(command->prints_to_out ? options.out : NULL, &call.out, &err);
    text_release(&call.out);
    return status ? fail(&err) : call.code;
}

/* ---- words that replace a command ---- */

static const struct {
    const char *name, *version;
} libraries[] = {ROOFTILE_LIBRARIES{NULL, NULL}};

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
}

static int special_version(int argc, char **argv)
{
    struct err err = {0};
    SCOPED(text_release) struct text text = {0};
    const char *path = NULL;
    if (argc > 1 && strcmp(argv[1], "--json") == 0 && argc < 4) {
        version_json(&text);
        path = argc > 2 ? argv[2] : NULL;
    } else if (argc > 1) {
        err_set(&err, ERR_USAGE,
                "unexpected '%s'; there are 'rooftile --version' and 'rooftile --version --json [FILE|-]'",
                argv[strcmp(argv[1], "--json") == 0 ? 3 : 1]);
    } else {
        /* The program's version, and what it was built from and with (recorded by cmake/version.cmake). */
        text_addf(&text, "rooftile %s", ROOFTILE_VERSION);
        if (ROOFTILE_GIT[0])
            text_addf(&text, " (%s)", ROOFTILE_GIT);
        text_add(&text, "\n");
    }
    const bool failed = err.status || cli_write(path, &text, &err);
    return failed ? fail(&err) : 0;
}

static bool is_one_of(const char *word, const char *words)
{
    return text_has_word(words, " ", word, strlen(word));
}

static int dispatch(int argc, char **argv, struct arena *arena)
{
    struct err err = {0};
    int at = argc;
    const char *of = argc > 2 ? argv[2] : NULL;
    if (argc > 1 && is_one_of(argv[1], "--help -h help"))
        return !of || command_find(of) ? show_help(of ? command_find(of) : NULL, 0) : unknown_command(of, arena);
    if (argc > 1 && is_one_of(argv[1], "--version -V version"))
        return special_version(argc - 1, argv + 1);
    if (options_first_argument(&at, argc, argv, arena, &err))
        return fail(&err);
    return at < argc ? run_command(at, argc, argv, arena) : show_help(NULL, 0);
}

int cli_main(int argc, char **argv)
{
    SCOPED(arena_release) struct arena arena = {0};
    progress_begin();
    const int code = dispatch(argc, argv, &arena);
    struct err err = {0};
    errno = stdout_cause;
    if (!(ferror(stdout) | fflush(stdout)))
        return code;
    /* At the latest, this detects a full disk behind standard output. */
    err_set(&err, ERR_IO, "cannot write standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    return fail(&err);
}
