/* SPDX-License-Identifier: MIT
 *
 * Session: the stages that every command which plans, compiles or measures goes through, one after the other.
 */
#ifndef ROOFTILE_SESSION_H
#define ROOFTILE_SESSION_H

#include "rooftile/build.h"
#include "rooftile/catalog.h"
#include "rooftile/device.h"
#include "rooftile/log.h"
#include "rooftile/machine.h"
#include "rooftile/plan.h"
#include "rooftile/result.h"
#include "rooftile/run.h"

struct session;
struct cli_options;
struct result_case;

/* The program around a session: what it hears of it, and is asked. A NULL member is not called. */
struct session_host {
    /* A case of a run (not of a mere verification) is done: `done` of `total` are. */
    void (*case_done)(const struct session *session, const struct result_case *result_case, size_t done, size_t total);
    /* A word is neither kernel nor suite nor file: what is it? Says so in the error, which has the sentence that it is
     * unknown; STATUS_OK: it is nothing that is known. */
    enum status (*explain)(const struct cli_options *options, const char *word, struct arena *arena, struct err *err);
};

/* ---- what is asked for: a row of the command line's table of options fills each of them ---- */

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
    const char *command;             /* whose options these are, for messages; NULL: no command's */
    const struct session_host *host; /* NULL: nobody listens */
    const char *const *args;         /* positional */
    size_t arg_count;
    int argc; /* the whole command line, for the result file */
    char **argv;
};

struct session {
    const struct cli_options *options;
    struct arena *arena;
    const char *const *args; /* suites and kernels; NULL: those of the command line */
    size_t arg_count;
    bool at_check_params;     /* plan every kernel at its check size */
    const char *kernel_dir;   /* whose kernels win over all others; NULL: none */
    const char *compiler;     /* that kernels are to be built with; NULL: any */
    const char *const *flags; /* that it is given besides those of the manifests */
    size_t flag_count;
    uint64_t trial_seed; /* of the order of cases in this trial; 0: --seed */

    bool any_code; /* code objects without a manifest are taken, by their metadata */

    /* What the stages find. */
    const char *guess;    /* the manifest made of such an object; NULL: none */
    const char **kernels; /* named or matched by arguments */
    size_t kernel_count;
    const char **manifests; /* given as files */
    size_t manifest_count;
    const struct suite **suites;
    size_t suite_count;
    struct catalog catalog;
    struct device_request request;
    struct device_info info;
    struct device_facts facts;
    struct calibration calibration;
    struct machine machine; /* its path is "" when no ceilings are known */
    const char *cpu_target; /* what references are compiled for */
    struct plan *plan;
    struct build_result *builds;

    /* What predictions are made from. */
    const struct machine *complete; /* `machine`, with numbers of its relatives */
    const struct machine_borrowed *borrowed;
    const struct build_result *walked; /* by code of the plan; NULL: every case is described */
    struct predictor *predictor;       /* of a caller who asks it more; NULL: none */
    /* Gets each prediction when it is made; NULL: the plan has them. */
    void (*predicted)(struct session *session, size_t at, const struct prediction *prediction);
    void *context; /* its own */

    struct result_job job; /* where this run stands in one of many; known under a launcher */
    struct run_together together;
    struct device_ranks ranks; /* of a world of 0: this process does collectives alone */

    struct journal **journals; /* of what was measured and is in no result file yet (execute_journals_done) */
    size_t journal_count;
};

enum session_stage {
    /* The arguments are suites (a path, or a name in configs/), manifests or kernel names. --budget begins here. */
    SESSION_SUITES = 1,
    /* Kernel folders: --kernels, then the suites' own, then the built-in ones; a kernel in none of them may have its
     * manifest in the working folder. */
    SESSION_CATALOG = 2,
    /* --device or the best one present (-v says why), opened once in a short-lived worker for its facts. */
    SESSION_DEVICE = 4,
    /* --machine, else the measured file of this very device, else the model's file by PCI id; none is not an error. */
    SESSION_MACHINE = 8,
    SESSION_PLAN = 16,
    /* ERR_CONFIG when a case's values make no sense (a grid of zero, sizes that overflow): then nothing is run. */
    SESSION_VALID = 32,
    /* Compiles what the plan needs, with progress; failures are data. */
    SESSION_CODE = 64,
    /* Predicts every case, for whichever command: by a walk of AMD's code, which is compiled where it is not yet, with
     * progress; else by the stated work, a CPU's cases about accesses by a walk of the same source compiled for a GPU
     * besides. With --described, and where there is no compiler, by the stated work alone. */
    SESSION_PREDICT = 128,
    SESSION_PREPARE = SESSION_SUITES | SESSION_CATALOG | SESSION_DEVICE | SESSION_MACHINE | SESSION_PLAN,
};

/* Goes through these stages (enum session_stage, or'd), up to the first that fails. */
enum status session_go(struct session *session, unsigned stages, struct err *err);

/* ---- words of the command line (arguments.c) ---- */

/* For a file that a reader of `wanted` ("a suite") refused: says in the error what it is instead, if that is known. */
enum status argument_explain(struct err *err, const char *path, const char *wanted, struct arena *arena);
/* result_read, or (light) result_read_light, of a file that the user named. */
enum status argument_result(const struct result **result, const char *path, bool light, struct arena *arena,
                            struct err *err);
/* Takes one word into the session's suites, kernels and manifests. */
enum status argument_add(struct session *session, const char *word, const struct measure_options *base,
                         struct err *err);
/* The session's kernels with patterns expanded; its catalog has them all. */
enum status argument_kernels(const char ***names, size_t *count, struct session *session, struct err *err);
/* The error for a word that is neither kernel nor suite: what it may be, or what to write instead. */
enum status argument_unknown(const struct session *session, const char *word, struct err *err);
/* The manifest of a kernel of this name in the working folder; NULL: there is none. */
const char *argument_manifest_here(const struct session *session, const char *word);
/* It names a suite, a kernel or a file of either. */
bool argument_is_known(const char *word, struct arena *arena);
/* ---- code without a manifest (foreign.c) ---- */

/* The one kernel of a file that --filter leaves; the same in objects for several targets counts once. ERR_USAGE. */
struct codeobj_file;
struct codeobj_kernel;
enum status foreign_kernel(const struct codeobj_kernel **found, const struct codeobj_file *file,
                           const struct cli_options *options, struct err *err);
/* Makes a kernel of the session from it, by a manifest made from its metadata. */
enum status foreign_add(struct session *session, const char *path, struct err *err);
/* Adds a note to the prediction of such a kernel that its sizes are assumed. */
void foreign_note(struct prediction *prediction, const struct session *session, const struct plan_case *plan_case);

/* Warns which of the plan's kernels have a manifest of 'inspect --manifest' that is not filled in yet. */
void foreign_ask(const struct session *session);

/* Marks the cases of the plan whose image is missing, is no code, has no such kernel (invalid) or is for other targets
 * (skipped; at check parameters it is compared all the same). No device is needed for it (codes.c). */
void session_check_images(struct session *session);

/* ---- stages ---- */

/* The time of --budget begins, unless it has begun in this process; SESSION_SUITES does it. */
enum status session_start_budget(const struct duration *budget, struct err *err);

/* In place of SESSION_SUITES: every kernel of `kernel_dir`, else of the catalog; or all but the helpers. */
enum status session_all_kernels(struct session *session, bool helpers, struct err *err);
/* Kernels that serve others and are not benchmarks: references by their name, services by their tag. */
bool session_is_helper(const struct manifest *manifest);

/* In place of SESSION_DEVICE and SESSION_MACHINE, when code is built ahead of time for this target: facts of a machine
 * file of the same gfx name, or what the target's family has at least. */
enum status session_target(struct session *session, const char *arch, struct err *err);
/* Finds what references are compiled for: they run on the CPU, whatever the device under test is. */
enum status session_reference_target(struct session *session, struct err *err);

/* The stage SESSION_PREDICT. */
enum status session_predict(struct session *session, struct err *err);
/* Says of each kernel whose stated work is off in all of its cases from what its walked code does; returns how many. */
size_t session_say_work(const struct session *session);

/* A plan of one suite with the session's device and machine, without --set and --filter. */
enum status session_plan_suite(const struct plan **plan, struct session *session, const struct suite *suite,
                               struct err *err);
/* Builds a plan's codes with the session's settings. */
enum status session_build_plan(struct build_result **builds, struct session *session, const struct plan *plan,
                               struct err *err);
/* The plan with only those codes that run on the processor, or only the others; `numbers`: of each in the whole plan.
 */
struct plan session_codes_of(const struct plan *plan, bool cpu, const size_t **numbers, struct arena *arena);
/* How many of the plan's codes would have to be compiled, and about how long that takes here; 0 on sim. */
struct uncompiled {
    size_t count;
    double time_ns;
};
enum status session_uncompiled(struct uncompiled *uncompiled, struct session *session, struct err *err);

/* ---- what ends a command before its time ---- */

/* Ctrl-C, SIGTERM and SIGHUP: the first one asks for an orderly end (session_stop becomes STOP_SIGNAL). One that comes
 * half a second later or more ends the program at once with 130; the delay is there because timeout(1) sends its signal
 * twice. A command that has nothing to lose ends at once, too, where an orderly end takes longer than `grace_s` seconds
 * (0: as long as it takes). With --budget the end of the time asks for it (STOP_BUDGET). There is one budget for the
 * whole program: of several sessions (--ab) the first starts it. */
enum { STOP_NOT, STOP_SIGNAL, STOP_BUDGET };
extern volatile int session_stop;
extern const char *volatile session_last_words; /* of a command that ends at once, on standard error; NULL: none */
void session_catch_signals(unsigned grace_s);

/* Whether this ERR_INTERRUPTED is the end of the budget, which is no error: what is left is skipped, and says so. */
bool session_late(enum status status);
/* The words for it: "the time budget of 60s ran out before this was <what>". */
const char *session_late_reason(const struct session *session, const char *what);

/* ---- progress (progress.c) ---- */

/* What is going on now: one line on the terminal, which log output clears and redraws (log_set_status_line); in a pipe
 * a line of its own, "... compiling for gfx942: 17 of 53 (stream.hip)", every few seconds. */
bool progress_is_drawn(const struct cli_options *options); /* the one on the terminal is wanted */
void progress_show(const struct cli_options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_clear(void);
void progress_begin(void); /* of the program: a pipe's first line comes a while after it */
/* Something else has just said how far it is: a pipe's next line can wait. */
void progress_said(void);

/* Of the terminal behind a file descriptor, else what COLUMNS says, else 100. */
unsigned progress_columns(int fd);

/* ---- machine files (session_machine.c) ----
 *
 * A gfx name is several products, and one card is several devices: an eighth of an MI300X must not be judged by the
 * ceilings of the whole. */

/* configs/<folder>/<name>, and every file of that folder with this suffix; none without a configs folder. */
char *session_config(struct arena *arena, const char *folder, const char *name);
enum status session_configs(char ***paths, size_t *count, const char *folder, const char *suffix, struct arena *arena,
                            struct err *err);

/* The suites: the JSON files of configs/ itself; its folders hold machines and schemas. */
enum status session_suites(const char *const **paths, size_t *count, struct arena *arena, struct err *err);

enum machine_match {
    MATCH_NO,    /* another product */
    MATCH_MODE,  /* the product in another partition mode */
    MATCH_UNITS, /* the id, but not the number of compute units: another product with the id, or a part of the card */
    MATCH_YES
};
enum machine_match session_match(const struct machine *machine, const struct device_info *info);

/* The machine file of this device's model and partition mode; NULL: there is none. */
enum status session_sheet(const struct machine **sheet, const struct device_info *info, struct arena *arena,
                          struct err *err);

/* Where `rooftile roofline` saves the measured machine of this device, and `run` looks for it. */
enum status session_machine_file(const char **path, const struct device_info *info, bool make, struct arena *arena,
                                 struct err *err);
/* Identity of a device for its machine file. */
void session_device_id(char out[static 512], const struct device_info *info);
/* The stage SESSION_MACHINE. ERR_USAGE: --machine is of another device than the session's. */
enum status session_machine(struct session *session, struct err *err);

/* A machine by its name in configs/machines or its file, with its relatives' numbers where it has none, for
 * predictions; *machine is NULL when there is no such file. */
enum status session_known_machine(struct machine **machine, const char *name, struct arena *arena, struct err *err);
/* ERR_USAGE: no machine has this name. Lists the machines, or those with the target of this name. */
enum status session_unknown_machine(const char *name, struct arena *arena, struct err *err);
/* `sim:NAME`: the machine of that model, a name in configs/machines or a file, and the facts of the device that stands
 * in for it. ERR_USAGE: there is none. */
enum status session_model(struct machine *machine, struct device_info *info, const char *model, struct arena *arena,
                          struct err *err);

#endif
