/* SPDX-License-Identifier: MIT
 *
 * The command line: one table of commands, one table of options. Parsing, help, the man page and shell completion all
 * come from these two tables. Exit codes: 0 ok, 1 findings, 2 usage or configuration, 3 could not measure, 4
 * inconclusive with --strict, 130 interrupted.
 */
#ifndef ROOFTILE_CLI_H
#define ROOFTILE_CLI_H

#include <sys/types.h>

#include "rooftile/measure.h"
#include "rooftile/report.h"
#include "rooftile/table.h"

/* ---- options: one row each ----
 *
 * A long option is written in full (no abbreviations), its value as "--opt value" or "--opt=value"; short ones may be
 * joined ("-vq", "-ofile"). Options and arguments may be mixed; "--" ends the options. If a single-value option is
 * given twice, the last one counts. */

enum option_kind {
    OPTION_FLAG,     /* bool becomes true */
    OPTION_COUNT_UP, /* int is incremented */
    OPTION_STRING,   /* const char * */
    OPTION_WORD,     /* const char *, one of the choices */
    OPTION_CHOICE,   /* an enum or int: the index of the choice */
    OPTION_LIST,     /* repeatable: pointer to an array of strings, and its size_t count */
    OPTION_PAIRS,    /* the same; each must be NAME=VALUE */
    OPTION_SPLIT,    /* the same; split at commas */
    OPTION_TWO,      /* const char *[2]: two words */
    OPTION_U64,
    OPTION_UNSIGNED, /* from 1 */
    OPTION_TIME,     /* struct duration, above 0 */
    OPTION_FRACTION, /* double: "0.01" or "1%", above 0 and below 1 */
};

/* Values that a shell offers in addition to the choices. */
enum option_complete {
    COMPLETE_NOTHING,
    COMPLETE_FILE,
    COMPLETE_FOLDER,
    COMPLETE_DEVICE,
    COMPLETE_ARCH,
    COMPLETE_PARAM
};

struct option_row {
    const char *name;
    const char *only; /* the only command with this option, if others reuse its name; else NULL */
    char key;         /* short form, or 0 */
    enum option_kind kind;
    const char *argument; /* name of the value; NULL: takes none */
    const char *help;
    size_t offset, count_offset; /* of the field in struct cli_options */
    const char *const *choices;  /* NULL-terminated; also offered to shells for OPTION_STRING */
    unsigned most;               /* maximum of OPTION_UNSIGNED; 0: 1024 */
    enum option_complete complete;
};

const struct option_row *option_table(void); /* ends with name == NULL */
#define MOST_OPTIONS 64

/* Options of every command, listed after its own. */
#define COMMON_OPTIONS "color progress quiet verbose help"
#define COMMON_COUNT 5

/* ---- commands ---- */

/* One call of a command. */
struct call {
    const struct cli_options *options;
    struct arena *arena;
    struct text out; /* printed after the command, unless it failed */
    int code;        /* the exit code if it did not fail: findings, doubts, an interrupt */
};
typedef enum status command_function(struct call *call, struct err *err);

struct command {
    const char *name;
    const char *args;     /* "[SUITE|KERNEL]..."; lower-case words are literal: "bash|zsh|fish" */
    const char *summary;  /* one line */
    const char *examples; /* lines "  rooftile run ...   what it does", without the newline of the last */
    const char *details;  /* paragraphs after the options, with blank lines between them; NULL = none */
    const char *options;  /* option names in the order of --help; the common ones are added */
    const char *formats;  /* those of --format, "table, json"; NULL: all of a result */
    size_t main_options;  /* number of the first options that the brief help explains */
    size_t min_args, max_args;
    command_function *run;
    bool prints_to_out; /* output goes to --out, if given */
    bool makes_file;    /* --out is a JSON file written in addition to the printed output */
};

const struct command *command_table(void);                             /* ends with name == NULL */
const struct command *command_find(const char *name);                  /* NULL: unknown */
bool command_takes(const struct command *command, const char *option); /* its own options only; NULL: false */

/* ---- other tools' names (hints.c) ---- */

enum hint_place {
    HINT_COMMAND,
    HINT_VERB,   /* in place of a verb of 'history' */
    HINT_OPTION, /* without its dashes */
    HINT_WORD,   /* in place of a kernel or suite */
    HINT_VALUE,  /* "option=value" */
};

/* If other tools use this word, appends what to write instead to the recorded error text and returns the recorded
 * status. Returns STATUS_OK if the word is unknown, or if the command (NULL: none yet) has no equivalent. */
enum status hint_add(struct err *err, enum hint_place place, const char *word, const struct command *command);

command_function cmd_run, cmd_plan, cmd_build, cmd_check, cmd_roofline, cmd_list, cmd_devices, cmd_inspect,
    cmd_codediff, cmd_predict, cmd_explain, cmd_model_error, cmd_merge, cmd_report, cmd_schema, cmd_history, cmd_aa,
    cmd_compare, cmd_completion, cmd_man;
command_function cmd_import, cmd_fleet;

extern const struct session_host cli_host; /* for every session of the command line */

/* Runs the whole program: finds the command, parses its options, runs it. Returns the exit code. */
int cli_main(int argc, char **argv);

/* Collects the command's options (NULL: none), then the common ones. Returns their number. */
size_t options_of(const struct option_row *rows[static MOST_OPTIONS], const struct command *command);

/* Fills `options` from argv[1..]. ERR_USAGE has the message for the user. With --help the number of arguments is not
 * checked. */
enum status options_parse(struct cli_options *options, const struct command *command, int argc, char **argv,
                          struct arena *arena, struct err *err);

/* Returns ERR_USAGE "'rooftile report' expects 1 argument (RESULT), got 0" unless `count` is from `least` to `most`. */
enum status options_check_count(size_t count, size_t least, size_t most, const char *command, const char *args,
                                struct err *err);

/* Finds the first word that is neither a common option nor its value (argc: none), and checks those before it. */
enum status options_first_argument(int *index, int argc, char **argv, struct arena *arena, struct err *err);

/* ---- words of the command line (words.c) ---- */

/* Replaces product names and nvcc's names in --arch by targets. */
enum status argument_archs(struct cli_options *options, struct arena *arena, struct err *err);
/* Returns ERR_USAGE, with the option to write, if an argument is the name of a machine. */
enum status argument_machines(const struct cli_options *options, struct arena *arena, struct err *err);

/* Explains a word that the session does not know (struct session_host). */
enum status argument_is_other(const struct cli_options *options, const char *word, struct arena *arena,
                              struct err *err);

/* ---- report (site.c) ---- */

/* Writes pages of a history (options->db; NULL: none) and of folders of fleets' results (the arguments) into the folder
 * options->out. */
enum status site_write(const struct call *call, struct err *err);

/* ---- several devices (devices.c) ---- */

/* One of the devices that --device A,B (or, for a plan, --machine A,B) names. */
struct per_device {
    const char *name;            /* as given */
    struct cli_options options;  /* the command line with only this device */
    struct session session;      /* uses `options` */
    const struct result *result; /* NULL: not run */
    pid_t pid;                   /* the process that measures it; 0: none */
};

/* Returns at least one device. ERR_USAGE: an unknown device, a repeated one, or a different number of machines. */
enum status devices_of(struct per_device **sides, size_t *count, const struct cli_options *options, struct arena *arena,
                       struct err *err);
/* Reads suites and kernels once for all devices. */
enum status devices_suites(struct per_device *sides, size_t count, struct err *err);
/* Returns "FILE.sim-mi300x.json" for "FILE.json": a result belongs to one device, so each device has its own file. */
char *device_file(const char *path, const struct per_device *side, struct arena *arena);
/* Makes one table of the planned cases, with columns for each device: time, bound, and speed or share of the ceiling. A
 * row is one request of the suites, because the case ids differ if the devices' variants have different parameters. */
void devices_document(struct document *document, const struct per_device *sides, size_t count);

/* ---- predictions (cmd_predict.c) ---- */

/* Returns the machines that --machine names, each as a sim device. */
enum status predict_sides(struct per_device **sides, size_t *count, const struct cli_options *options,
                          struct arena *arena, struct err *err);
/* Predicts described launches (rooftile/describe.h), each on the machine that it names (predict_launches.c). */
bool launches_is_file(const char *word, struct arena *arena);
enum status predict_launches(struct call *call, struct err *err);

/* `run --ab A B`: measures the same suite with two kernel folders, two compilers or two code objects under one driver,
 * in turns in one run, and compares the results. Prints the comparison. The exit code is that of `compare`, or of the
 * run if it could not be measured. -o FILE writes the two results as "<FILE without .json>.a.json" and "....b.json". */
enum status ab_run(struct call *call, struct err *err);

/* ---- pages generated from the tables of commands and options ---- */

#define HELP_COLUMNS 80

extern const char overview_summary[];  /* one sentence */
extern const char overview_examples[]; /* formatted like those of a command */

/* Prints the help of `rooftile COMMAND --help` and of `rooftile` alone: examples first, at most HELP_COLUMNS wide. The
 * help of a command fits a screen, unless look->verbose asks for all of it. */
void help_command(struct text *out, const struct command *command, const struct report_options *look);
void help_overview(struct text *out, const struct report_options *look);

/* ---- the user's terminal and files ---- */

/* Writes to standard output immediately. Signals and the end of a budget are deferred until it is written, so that slow
 * readers get whole lines. */
void cli_put(const char *data, size_t length);
/* Writes to a file. NULL or "-" means standard output, whose write errors are reported at the end of the program. */
enum status cli_write(const char *path, const struct text *text, struct err *err);
void cli_print(struct text *text); /* on standard output; releases the text */

/* Returns how text for this file looks (NULL or "-": standard output). */
struct report_options cli_look(const struct cli_options *options, const char *path);

/* Writes `what` as text in one of the formats of --format; "json" for the file of --json. */
typedef void show_function(struct text *out, const char *format, const void *what, const struct report_options *look);

/* Whether only JSON for programs is wanted on standard output. */
bool cli_wants_json(const struct cli_options *options);

/* Writes JSON to where --json says. Also writes the format of --format, by default a table, to the file `path` (NULL:
 * standard output), unless the JSON went there. */
enum status cli_show(const struct cli_options *options, const char *path, show_function *write, const void *what,
                     struct err *err);

/* Writes a document as a table to standard output or --out, or as JSON to where --json says; as both with `both`. */
enum status cli_show_document(const struct cli_options *options, const struct document *document, bool both,
                              struct err *err);

/* Returns ERR_USAGE if comparisons do not support the format of --format. */
enum status comparison_check_format(const struct cli_options *options, struct err *err);
/* Compares two results by `options` and the machine's known noise, and shows the comparison (cli_show). */
enum status comparison_show(struct comparison *comparison, const struct result *base, const struct result *now,
                            struct compare_options *options, const struct call *call, const char *path,
                            struct err *err);

/* Checks before an hour of measuring that the file can be written; ERR_IO if not. NULL and "-" are fine. */
enum status cli_check_output(const char *path, struct arena *arena, struct err *err);

#endif
