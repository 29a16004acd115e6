/* SPDX-License-Identifier: MIT
 *
 * The command line: one table of commands, one table of options. Parsing, help, the man page and shell completion all
 * come from these two tables. A command gets a filled struct cli_options and returns an exit code: 0 ok, 1 findings, 2
 * usage or configuration, 3 could not measure, 4 inconclusive with --strict, 130 interrupted.
 */
#ifndef ROOFTILE_CLI_H
#define ROOFTILE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rooftile/arena.h"
#include "rooftile/err.h"
#include "rooftile/log.h"
#include "rooftile/text.h"

enum option_id {
    OPT_END, /* ends a command's list */
    OPT_DEVICE,
    OPT_SET,
    OPT_FILTER,
    OPT_SEED,
    OPT_QUICK,
    OPT_OUT,
    OPT_JSON,
    OPT_FORMAT,
    OPT_HTML,
    OPT_MACHINE,
    OPT_KERNELS,
    OPT_CACHE,
    OPT_RESUME,
    OPT_SAMPLES,
    OPT_KEEP_ORDER,
    OPT_MIN_TIME,
    OPT_MAX_TIME,
    OPT_CACHE_MODE,
    OPT_TIMER,
    OPT_TIMEOUT,
    OPT_BUDGET,
    OPT_TRIALS,
    OPT_AB,
    OPT_LABEL,
    OPT_ARCH,
    OPT_JOBS,
    OPT_FORCE,
    OPT_REFERENCES,
    OPT_RUN,
    OPT_INJECT_FAULTS,
    OPT_ORDERS,
    OPT_STRICT,
    OPT_ALPHA,
    OPT_DB,
    OPT_CHANNEL,
    OPT_KEEP,
    OPT_BACKFILL,
    OPT_CONFIRM,
    OPT_REASON,
    OPT_DELTA,
    OPT_PROFILE,
    OPT_NAMES,
    OPT_TARGETS,
    OPT_BLOCK,
    OPT_ISA,
    OPT_IR,
    OPT_COLOR,
    OPT_PROGRESS,
    OPT_QUIET,
    OPT_VERBOSE,
    OPT_HELP,
    OPT_COUNT
};

struct cli_options {
    const char *device;      /* -d, --device DEV; NULL = the best one present */
    const char *const *sets; /* --set NAME=SWEEP, repeatable */
    size_t set_count;
    const char *const *filters; /* --filter GLOB, repeatable */
    size_t filter_count;
    uint64_t seed;                  /* --seed N, default 1 */
    bool quick;                     /* --quick */
    const char *out;                /* -o, --out FILE */
    const char *json;               /* --json FILE or - */
    const char *format;             /* --format NAME */
    const char *html;               /* --html FILE */
    const char *machine;            /* --machine FILE or name */
    const char *const *kernel_dirs; /* --kernels DIR, repeatable; before the built-in ones */
    size_t kernel_dir_count;
    const char *cache_dir;                     /* --cache DIR */
    const char *resume;                        /* --resume FILE */
    bool samples;                              /* --samples: raw samples in the result file */
    bool keep_order;                           /* --keep-order */
    const char *min_time, *max_time, *timeout; /* time strings */
    const char *budget;                        /* --budget TIME: of the whole command */
    const char *cache_mode, *timer;            /* --cache-mode hot|cold|rotate, --timer auto|dispatch|event|... */
    const char *const *labels;                 /* --label KEY=VALUE */
    size_t label_count;
    const char *const *archs; /* --arch A,B: split */
    size_t arch_count;
    unsigned trials;   /* --trials N; 0 = one */
    const char *ab[2]; /* --ab A B: kernel folders, compilers or code objects; NULL = not a comparison */
    /* history: --db FILE, --channel NAME, --confirm SUITE, --reason TEXT */
    const char *db, *channel, *confirm, *reason;
    unsigned keep;             /* --keep N runs; 0 = all */
    bool backfill;             /* --backfill */
    const char *alpha, *delta; /* --alpha, --delta: fractions */
    unsigned jobs;             /* -j, --jobs N */
    bool force, run, inject_faults, orders, strict;
    bool references; /* --references */
    bool profile;    /* --profile */
    bool names;      /* --names: names only, one per line */
    bool targets;    /* --targets */
    unsigned block;  /* --block N: threads of a workgroup; 0 = the launch's */
    bool isa, ir;    /* --isa, --ir: the disassembly, the LLVM IR */
    bool help;       /* -h, --help: answered before the command runs */
    enum color_mode color;
    enum { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER } progress;
    bool quiet;
    int verbose;
    const char *const *args; /* positional */
    size_t arg_count;
    int argc; /* the whole command line, for the result file */
    char **argv;
};

struct command {
    const char *name;
    const char *args;     /* "[SUITE|KERNEL]..."; words in small letters stand for themselves: "bash|zsh|fish" */
    const char *summary;  /* one line */
    const char *examples; /* lines "  rooftile run ...   what it does" */
    const char *details;  /* paragraphs after the options; NULL = none */
    const enum option_id *options; /* ends with OPT_END; the common ones (color ... help) are added */
    size_t min_args, max_args;
    int (*run)(const struct cli_options *options, struct arena *arena);
};

extern const struct command commands[];               /* ends with name == NULL */
const struct command *command_find(const char *name); /* NULL: unknown */

/* The whole program: finds the command, parses its options, runs it; returns the exit code. */
int cli_main(int argc, char **argv);

/* Prints "rooftile: error: ..." and returns the exit code of the status. */
int cli_fail(const struct err *err);

/* Whether progress and tables may use the terminal of stderr / stdout. */
bool cli_progress(const struct cli_options *options);
unsigned cli_columns(int fd); /* 100 when it is not a terminal */

/* A listing goes to --json FILE when that is given, else it is printed; with --json - it is all that stdout gets. */
enum status cli_write(const char *path, const struct text *text, struct err *err); /* NULL: standard output */

int cmd_run(const struct cli_options *options, struct arena *arena);
int cmd_plan(const struct cli_options *options, struct arena *arena);
int cmd_build(const struct cli_options *options, struct arena *arena);
int cmd_check(const struct cli_options *options, struct arena *arena);
int cmd_roofline(const struct cli_options *options, struct arena *arena);
int cmd_list(const struct cli_options *options, struct arena *arena);
int cmd_devices(const struct cli_options *options, struct arena *arena);
int cmd_inspect(const struct cli_options *options, struct arena *arena);
int cmd_merge(const struct cli_options *options, struct arena *arena);
int cmd_report(const struct cli_options *options, struct arena *arena);
int cmd_schema(const struct cli_options *options, struct arena *arena);
int cmd_history(const struct cli_options *options, struct arena *arena);
int cmd_aa(const struct cli_options *options, struct arena *arena);
int cmd_compare(const struct cli_options *options, struct arena *arena);
int cmd_completion(const struct cli_options *options, struct arena *arena);
int cmd_checkup(const struct cli_options *options, struct arena *arena);
int cmd_man(const struct cli_options *options, struct arena *arena);

#endif
