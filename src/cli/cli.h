/* SPDX-License-Identifier: MIT
 *
 * The command line: one table of commands, one table of options. Parsing, help, the man page and shell completion all
 * come from these two tables. Exit codes: 0 ok, 1 findings, 2 usage or configuration, 3 could not measure, 4
 * inconclusive with --strict, 130 interrupted.
 */
#ifndef ROOFTILE_CLI_H
#define ROOFTILE_CLI_H

#include "rooftile/log.h"
#include "rooftile/report.h"
#include "rooftile/table.h"

/* ---- options: one row each ----
 *
 * A long option is written in full (no abbreviations), its value as "--opt value" or "--opt=value"; short ones may be
 * joined ("-vq", "-ofile"). Options and arguments may be mixed; "--" ends the options. Of a single-value option given
 * twice the last one counts. */

struct duration {
    const char *text; /* as it was given; NULL: it was not */
    double ns;        /* above 0; 0 when it was not given */
};

struct cli_options {
    const char *device;      /* -d, --device DEV; NULL = the best one present */
    const char *const *sets; /* --set NAME=SWEEP, repeatable */
    size_t set_count;
    const char *const *filters; /* --filter GLOB, repeatable */
    size_t filter_count;
    uint64_t seed;        /* --seed N, default 1 */
    uint64_t sample_seed; /* --sample-seed N; 0: drawn */
    bool quick;           /* --quick */
    /* -o and --json mean the same everywhere: `-o FILE` is where the result of the command goes, `--json FILE` where it
     * goes as JSON. For commands that make a file and show it, too (command.makes_file), both are the same, and only
     * `out` is set; the others have `json` and `out`, and a name that ends in .json, .csv, .md or .xml sets `format`.
     */
    const char *out;                /* -o, --out FILE */
    const char *json;               /* --json FILE or - */
    const char *result;             /* --result FILE: the measurements behind it */
    const char *sort;               /* --sort NAME */
    unsigned top;                   /* --top N; 0: all */
    bool dry_run;                   /* --dry-run */
    bool params;                    /* --params */
    const char *format;             /* --format NAME */
    const char *html;               /* --html FILE */
    const char *picture;            /* --picture NAME */
    const char *machine;            /* --machine FILE or name */
    const char *const *kernel_dirs; /* --kernels DIR, repeatable; before the built-in ones */
    size_t kernel_dir_count;
    const char *cache_dir;                       /* --cache DIR */
    const char *resume;                          /* --resume FILE */
    bool samples;                                /* --samples: raw samples in the result file */
    bool keep_order;                             /* --keep-order */
    struct duration min_time, max_time, timeout; /* --min-time, --max-time, --timeout TIME */
    struct duration budget;                      /* --budget TIME: of the whole command */
    int cache_mode, timer, together; /* --cache-mode, --timer, --together: enums of these names; -1: not given */
    const char *const *labels;       /* --label KEY=VALUE */
    size_t label_count;
    const char *const *archs; /* --arch A,B: split */
    size_t arch_count;
    unsigned trials;   /* --trials N; 0 = one */
    const char *ab[2]; /* --ab A B: kernel folders, compilers or code objects; NULL = not a comparison */
    /* history: --db FILE, --channel NAME, --confirm SUITE, --reason TEXT */
    const char *db, *history, *channel, *confirm, *reason;
    unsigned keep;       /* --keep N runs; 0 = all */
    bool backfill;       /* --backfill */
    double alpha, delta; /* --alpha, --delta: above 0, below 1; 0: not given */
    unsigned jobs;       /* -j, --jobs N */
    bool allow_flags;    /* --allow-flags */
    bool force, run, inject_faults, orders, strict, devices;
    bool references;           /* --references */
    bool profile;              /* --profile */
    bool isolate;              /* --isolate */
    bool described;            /* --described */
    bool names;                /* --names: names only, one per line */
    bool targets;              /* --targets */
    unsigned block;            /* --block N: threads of a workgroup; 0 = the launch's */
    bool isa, ir;              /* --isa, --ir: the disassembly, the LLVM IR */
    const char *truth;         /* --truth FILE */
    const char *counters;      /* --counters FILE */
    const char *models;        /* --models FILE */
    bool manifest;             /* --manifest: the beginning of one */
    const char *pin;           /* --pin FILE: accepted figures */
    const char *diff[2];       /* --diff A B: two traces; NULL = not a comparison */
    const char *const *shapes; /* --shapes FILE, repeatable */
    size_t shape_count;
    unsigned batch, tp; /* --batch N, --tp N; 0: not given */
    uint64_t tokens;    /* --tokens N; 0: not given */
    bool decode;        /* --decode */
    const char *out_dir, *expect, *list,
        *baseline;        /* --out-dir DIR, --expect NODES, --list bad|good, --baseline FILE */
    bool confirm_devices; /* --confirm of fleet: list the devices to measure again */
    bool help;            /* -h, --help: answered before the command runs */
    enum color_mode color;
    enum { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER } progress;
    bool quiet;
    int verbose;
    const struct command *command; /* whose options these are */
    const char *const *args;       /* positional */
    size_t arg_count;
    int argc; /* the whole command line, for the result file */
    char **argv;
};

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

/* What a shell offers for a value besides the choices. */
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
    const char *only; /* the only command that has it, if other commands have another option of that name; else NULL */
    char key;         /* short form, or 0 */
    enum option_kind kind;
    const char *argument; /* name of the value; NULL: takes none */
    const char *help;
    size_t offset, count_offset; /* into struct cli_options */
    const char *const *choices;  /* NULL-terminated; also offered to shells for OPTION_STRING */
    unsigned most;               /* of OPTION_UNSIGNED; 0: 1024 */
    enum option_complete complete;
};

extern const struct option_row option_rows[]; /* ends with name == NULL */
#define MOST_OPTIONS 64

/* What every command takes, after its own. */
#define COMMON_OPTIONS "color progress quiet verbose help"
#define COMMON_COUNT 5

/* ---- commands ---- */

/* One call of a command. */
struct call {
    const struct cli_options *options;
    struct arena *arena;
    struct text out; /* what is printed when the command is done, unless it failed */
    int code;        /* the exit code then: findings, doubts, an interrupt */
};
typedef enum status command_function(struct call *call, struct err *err);

struct command {
    const char *name;
    const char *args;     /* "[SUITE|KERNEL]..."; lower-case words are literal: "bash|zsh|fish" */
    const char *summary;  /* one line */
    const char *examples; /* lines "  rooftile run ...   what it does" */
    const char *details;  /* paragraphs after the options; NULL = none */
    const char *options;  /* their names, in the order of --help; the common ones are added */
    size_t min_args, max_args;
    command_function *run;
    bool prints_to_out; /* what the call prints goes to --out, if given */
    bool makes_file;    /* --out is a JSON file that it writes in addition to what it prints */
};

extern const struct command commands[];                                /* ends with name == NULL */
const struct command *command_find(const char *name);                  /* NULL: unknown */
bool command_takes(const struct command *command, const char *option); /* one of its own; a NULL command takes none */

/* ---- what other tools call it (hints.c) ---- */

enum hint_place {
    HINT_COMMAND,
    HINT_VERB,   /* behind 'history' */
    HINT_OPTION, /* without its dashes */
    HINT_WORD,   /* where kernels and suites are named */
    HINT_VALUE,  /* "option=value" */
};

/* If the word is known from other tools, appends what to write instead to the recorded text and returns the recorded
 * status; STATUS_OK: it is not known, or the command (NULL: none yet) has nothing like it. */
enum status hint_add(struct err *err, enum hint_place place, const char *word, const struct command *command);

command_function cmd_run, cmd_plan, cmd_build, cmd_check, cmd_roofline, cmd_list, cmd_devices, cmd_inspect,
    cmd_codediff, cmd_predict, cmd_explain, cmd_model_error, cmd_merge, cmd_report, cmd_schema, cmd_history, cmd_aa,
    cmd_compare, cmd_completion, cmd_man;
command_function cmd_import, cmd_fleet;

/* The whole program: finds the command, parses its options, runs it; returns the exit code. */
int cli_main(int argc, char **argv);

/* The command's options (NULL: none), then the common ones; returns how many. */
size_t options_of(const struct option_row *rows[static MOST_OPTIONS], const struct command *command);

/* Fills `options` from argv[1..]. ERR_USAGE with the message as it is shown. With --help among the words the number of
 * arguments is not checked. */
enum status options_parse(struct cli_options *options, const struct command *command, int argc, char **argv,
                          struct arena *arena, struct err *err);

/* ERR_USAGE "'rooftile report' expects 1 argument (RESULT), got 0" unless it is one of `least` to `most`. */
enum status options_check_count(size_t count, size_t least, size_t most, const char *command, const char *args,
                                struct err *err);

/* The index of the first word that is neither a common option nor the value of one (argc: none); checks those before
 * it. */
enum status options_first_argument(int *index, int argc, char **argv, struct arena *arena, struct err *err);

/* ---- pages: what is generated from the tables of commands and options ---- */

#define HELP_COLUMNS 80

extern const char overview_summary[];  /* one sentence */
extern const char overview_examples[]; /* lines like those of a command */

/* What `rooftile COMMAND --help` and `rooftile` alone print: examples first, HELP_COLUMNS at most. */
void help_command(struct text *out, const struct command *command, const struct report_options *look);
void help_overview(struct text *out, const struct report_options *look);

/* ---- the user's terminal and files ---- */

/* To standard output, at once. A signal or the end of a budget waits until it is written, so that slow readers get
 * whole lines. */
void cli_put(const char *data, size_t length);
/* To a file; NULL or "-": standard output, whose write errors are reported at the end of the program. */
enum status cli_write(const char *path, const struct text *text, struct err *err);
void cli_print(struct text *text); /* on standard output; releases the text */

/* How text looks that goes to this file (NULL or "-": standard output). */
struct report_options cli_look(const struct cli_options *options, const char *path);

/* Writes `what` as text in one of the formats of --format; "json" for the file of --json. */
typedef void show_function(struct text *out, const char *format, const void *what, const struct report_options *look);

/* JSON is wanted, and nothing but what programs read. */
bool cli_wants_json(const struct cli_options *options);

/* As JSON where --json says; in --format, else as a table, in the file `path` (NULL: standard output), unless that is
 * where the JSON went. */
enum status cli_show(const struct cli_options *options, const char *path, show_function *write, const void *what,
                     struct err *err);

/* A document as a table on standard output or in --out, or as JSON where --json says; both with `both`. */
enum status cli_show_document(const struct cli_options *options, const struct document *document, bool both,
                              struct err *err);

/* ERR_USAGE when there are no comparisons in the format of --format. */
enum status comparison_check_format(const struct cli_options *options, struct err *err);
/* Compares two results by `options` and what is known of the machine's noise, and shows it (cli_show). */
enum status comparison_show(struct comparison *comparison, const struct result *base, const struct result *now,
                            struct compare_options *options, const struct call *call, const char *path,
                            struct err *err);

/* ERR_IO unless a file can be written there: found out before an hour of measuring. NULL and "-" are fine. */
enum status cli_check_output(const char *path, struct arena *arena, struct err *err);

/* The path without its suffix, where it has it. */
const char *cli_stem(const char *path, const char *suffix, struct arena *arena);

/* What is going on now: one line on the terminal, which log output clears and redraws (log_set_status_line); in a pipe
 * a line of its own, "... compiling for gfx942: 17 of 53 (stream.hip)", every few seconds. */
bool cli_progress(const struct cli_options *options); /* the one on the terminal is wanted */
void progress_show(const struct cli_options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_clear(void);
/* Something else has just said how far it is: a pipe's next line can wait. */
void progress_said(void);

#endif
