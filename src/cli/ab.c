/* SPDX-License-Identifier: MIT */
#include "ab.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rooftile/compare.h"
#include "rooftile/file.h"
#include "rooftile/report.h"

enum { DEFAULT_TRIALS = 5 };

enum side_kind { SIDE_KERNELS, SIDE_COMPILER, SIDE_OBJECT };
static const char *const kind_words[] = {"a folder of kernels", "a compiler", "a code object"};

/* One of the two builds. */
struct side {
    const char *word; /* as on the command line */
    enum side_kind kind;
    struct cli_options options;
    struct session session;
    struct trials trials;
    struct result result;
};

/* A folder has kernels; a file that may be executed and is no library is a compiler; any other file is a code object.
 */
static enum status find_kind(struct side *side, struct err *err)
{
    const char *dot = strrchr(side->word, '.');
    const bool named_object = dot && (!strcmp(dot, ".co") || !strcmp(dot, ".hsaco") || !strcmp(dot, ".so"));
    if (file_is_dir(side->word))
        side->kind = SIDE_KERNELS;
    else if (access(side->word, R_OK))
        return err_set(err, ERR_USAGE, "--ab: there is no folder, compiler or code object '%s'", side->word);
    else
        side->kind = !named_object && !access(side->word, X_OK) ? SIDE_COMPILER : SIDE_OBJECT;
    return STATUS_OK;
}

/* The suite's kernels come from this folder first. */
static void use_kernels(struct side *side, const struct cli_options *options, struct arena *arena)
{
    const char **dirs = arena_array(arena, options->kernel_dir_count + 1, sizeof(*dirs));
    dirs[0] = side->word;
    for (size_t k = 0; k < options->kernel_dir_count; k++)
        dirs[k + 1] = options->kernel_dirs[k];
    side->options.kernel_dirs = dirs;
    side->options.kernel_dir_count = options->kernel_dir_count + 1;
}

/* In place of what was compiled for the device under test; references stay what they are. */
static enum status use_object(struct side *side, struct err *err)
{
    const struct plan *plan = side->session.plan;
    const struct plan_case *first = NULL;
    const char *path = path_real(side->session.arena, side->word);
    struct build_result object = {.state = BUILD_CACHED, .object = path ? path : side->word};
    enum status status = hash_sha256_file(object.sha256, side->word, err);
    for (size_t k = 0; k < plan->count && !status; k++) {
        const struct plan_case *c = &plan->cases[k];
        if (c->state != PLAN_READY)
            continue;
        first = first ? first : c;
        if (c->resolved.code != first->resolved.code || c->resolved.code_count > 1)
            return err_set(
                err, ERR_USAGE,
                "--ab %s: a code object stands for one kernel as compiled once, and %s needs another than %s",
                side->word, c->id, c == first ? "one" : first->id);
        side->session.builds[c->resolved.code] = object;
    }
    return status;
}

static enum status build_side(struct side *side, struct err *err)
{
    if (side->kind == SIDE_COMPILER)
        side->session.compiler = side->word;
    enum status status = session_build(&side->session, &session_stop, err);
    if (!status && side->kind == SIDE_OBJECT)
        status = use_object(side, err);
    return status;
}

static enum status prepare_side(struct side *side, const struct cli_options *options, struct arena *arena,
                                struct err *err)
{
    side->options = *options;
    side->session = (struct session){.options = &side->options, .arena = arena};
    side->trials = (struct trials){.session = &side->session};
    if (side->kind == SIDE_KERNELS)
        use_kernels(side, options, arena);
    enum status status = session_prepare(&side->session, err);
    if (!status)
        status = session_refuse_invalid(&side->session, err);
    return status ? status : build_side(side, err);
}

static enum status write_sides(const struct side *sides, const struct cli_options *options, struct arena *arena,
                               struct err *err)
{
    if (!options->out)
        return STATUS_OK;
    const size_t length = strlen(options->out) - (text_ends(options->out, ".json") ? strlen(".json") : 0);
    for (int k = 0; k < 2; k++) {
        char *path = arena_printf(arena, "%.*s.%c.json", (int)length, options->out, "ab"[k]);
        enum status status = result_write(&sides[k].result, path, err);
        if (status)
            return status;
        log_info("%s: %s", sides[k].word, path);
    }
    return STATUS_OK;
}

static enum status compare_sides(struct comparison *comparison, const struct side *sides, struct arena *arena,
                                 struct err *err)
{
    struct compare_options options = {.shift = shift_defaults()};
    enum status status = noise_file_read(&options.noise, noise_file_path(&sides[1].result, arena), arena, err);
    return status ? status : compare_results(comparison, &sides[0].result, &sides[1].result, &options, arena, err);
}

static void print_comparison(const struct comparison *comparison, const struct cli_options *options)
{
    struct text text = {0};
    const struct report_options report = {.color = log_use_color(STDOUT_FILENO), .columns = cli_columns(STDOUT_FILENO)};
    report_comparison(&text, options->format ? options->format : "table", comparison, &report);
    fputs(text.data ? text.data : "", stdout);
    text_release(&text);
}

/* Everything that can be known to be wrong before an hour of measuring. */
static enum status check_options(const struct cli_options *options, struct arena *arena, struct err *err)
{
    if (options->format && !report_has_format(options->format))
        return err_set(err, ERR_USAGE, "a comparison has no format '%s': " REPORT_FORMATS, options->format);
    if (options->out && !strcmp(options->out, "-"))
        return err_set(err, ERR_USAGE,
                       "--ab writes two results, which do not both fit into standard output; give -o a "
                       "file name");
    enum status status = trials_check(options, "--ab", err);
    if (!status && options->out) {
        char *dir = path_dir(arena, options->out);
        status = file_make_dirs(dir, err);
        if (!status && access(dir, W_OK))
            status = err_set(err, ERR_IO, "cannot write into the folder %s", dir);
    }
    return status;
}

static enum status prepare(struct side *sides, const struct cli_options *options, struct arena *arena, struct err *err)
{
    enum status status = check_options(options, arena, err);
    for (int k = 0; k < 2 && !status; k++) {
        sides[k].word = options->ab[k];
        status = find_kind(&sides[k], err);
    }
    if (!status && sides[0].kind != sides[1].kind)
        return err_set(err, ERR_USAGE, "--ab: '%s' is %s and '%s' is %s; give two of a kind", sides[0].word,
                       kind_words[sides[0].kind], sides[1].word, kind_words[sides[1].kind]);
    for (int k = 0; k < 2 && !status; k++)
        status = prepare_side(&sides[k], options, arena, err);
    sides[0].trials.title = "A";
    sides[1].trials.title = "B";
    return status;
}

/* A trial that Ctrl-C cut short would make its missing cases look lost. */
static void drop_incomplete(struct trials *run)
{
    if (run->count && strcmp(run->parts[run->count - 1].status, "complete") != 0)
        run->count--;
}

static enum status join_sides(struct side *sides, bool interrupted, struct err *err)
{
    enum status status = STATUS_OK;
    for (int k = 0; k < 2; k++)
        if (interrupted)
            drop_incomplete(&sides[k].trials);
    if (!sides[0].trials.count || !sides[1].trials.count)
        return err_set(err, ERR_INTERRUPTED,
                       "interrupted before each side had a whole trial: there is nothing to compare");
    for (int k = 0; k < 2 && !status; k++) {
        status = trials_join(&sides[k].result, &sides[k].trials, err);
        if (interrupted)
            sides[k].result.status = "interrupted";
    }
    return status;
}

/* Where nothing could be compared, the runs say why: wrong results are a finding, and no result at all is a failure to
 * measure. */
static int exit_code_of(const struct comparison *comparison, const struct side *sides, bool strict)
{
    const int code = compare_exit_code(comparison, strict);
    const int a = result_exit_code(&sides[0].result), b = result_exit_code(&sides[1].result);
    return code != 2 ? code : a == 1 || b == 1 ? 1 : a ? a : b ? b : code;
}

int ab_run(const struct cli_options *options, struct arena *arena)
{
    struct side *sides = arena_array(arena, 2, sizeof(*sides));
    struct comparison comparison;
    struct err err = {0};
    session_catch_signals();
    enum status status = prepare(sides, options, arena, &err);
    if (status)
        return cli_fail(&err);
    struct trials *const runs[] = {&sides[0].trials, &sides[1].trials};
    status = trials_run(runs, 2, options->trials ? options->trials : DEFAULT_TRIALS, &err);
    const bool interrupted = status == ERR_INTERRUPTED;
    if (status && !interrupted)
        return cli_fail(&err);
    status = join_sides(sides, interrupted, &err);
    if (!status)
        status = write_sides(sides, options, arena, &err);
    if (!status)
        status = compare_sides(&comparison, sides, arena, &err);
    if (status)
        return cli_fail(&err);
    print_comparison(&comparison, options);
    return interrupted ? 130 : exit_code_of(&comparison, sides, options->strict);
}
