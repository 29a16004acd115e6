/* SPDX-License-Identifier: MIT
 *
 * Session: the consecutive stages of every command that plans, compiles or measures.
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

/* Callbacks to the program around a session. A NULL member is not called. */
struct session_host {
    /* A case of a run (not of a mere verification) is done: `done` of `total` are. */
    void (*case_done)(const struct session *session, const struct result_case *result_case, size_t done, size_t total);
    /* Explains a word that is neither kernel nor suite nor file. Extends the error, which reports the word as unknown.
     * STATUS_OK: the word is unknown here too. */
    enum status (*explain)(const struct cli_options *options, const char *word, struct arena *arena, struct err *err);
};

/* ---- options: each is filled by a row of the command line's table of options ---- */

struct duration {
    const char *text; /* as given; NULL: not given */
    double ns;        /* above 0; 0: not given */
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
    /* -o and --json mean the same everywhere: `-o FILE` is the file for the command's result, `--json FILE` the file
     * for it as JSON. For commands that both make and show a file (command.makes_file), both are the same, and only
     * `out` is set. The others have `json` and `out`, and a name that ends in .json, .csv, .md or .xml sets
     * `format`. */
    const char *out;                /* -o, --out FILE */
    const char *json;               /* --json FILE or - */
    const char *result;             /* --result FILE: the measurements themselves */
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
    struct duration budget;                      /* --budget TIME: for the whole command */
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
    bool manifest;             /* --manifest: write the beginning of a manifest */
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
    bool help;            /* -h, --help: handled before the command runs */
    enum color_mode color;
    enum { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER } progress;
    bool quiet;
    int verbose;
    const char *command;             /* the command of these options, for messages; NULL: none */
    const struct session_host *host; /* NULL: no callbacks */
    const char *const *args;         /* positional */
    size_t arg_count;
    int argc; /* the whole command line, for the result file */
    char **argv;
};

struct session {
    const struct cli_options *options;
    struct arena *arena;
    const char *const *args; /* suites and kernels; NULL: use the command line's */
    size_t arg_count;
    bool at_check_params;     /* plan every kernel at its check size */
    const char *kernel_dir;   /* its kernels take precedence over all others; NULL: none */
    const char *compiler;     /* to build kernels with; NULL: any */
    const char *const *flags; /* its flags in addition to those of the manifests */
    size_t flag_count;
    uint64_t trial_seed; /* for the order of cases in this trial; 0: --seed */

    bool any_code; /* also accept code objects without a manifest, using their metadata */

    /* Results of the stages. */
    const char *guess;    /* the manifest generated for a code object without one; NULL: none */
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
    struct machine machine; /* its path is "" if no ceilings are known */
    const char *cpu_target; /* compilation target for references */
    struct plan *plan;
    struct build_result *builds;

    /* Inputs of predictions. */
    const struct machine *complete; /* `machine`, completed by numbers of related machines */
    const struct machine_borrowed *borrowed;
    const struct build_result *walked; /* by code of the plan; NULL: every case is described */
    struct predictor *predictor;       /* shared with a caller for several predictions; NULL: none */
    /* Called with each prediction as it is made; NULL: the plan stores them. */
    void (*predicted)(struct session *session, size_t at, const struct prediction *prediction);
    void *context; /* for the caller */

    struct result_job job; /* this run's place among many, set if there is a launcher */
    struct run_together together;
    struct device_ranks ranks; /* world 0: this process does collectives alone */

    struct journal **journals; /* of measurements that are in no result file yet (execute_journals_done) */
    size_t journal_count;
};

enum session_stage {
    /* Reads the arguments: suites (a path, or a name in configs/), manifests or kernel names. Starts --budget. */
    SESSION_SUITES = 1,
    /* Reads kernel folders: --kernels, then the suites' own, then the built-in ones. A kernel in none of them may have
     * its manifest in the working folder. */
    SESSION_CATALOG = 2,
    /* Opens --device or the best one present (-v reports why) in a short-lived worker to get its facts. */
    SESSION_DEVICE = 4,
    /* Reads --machine, else the measured file of this exact device, else the model's file by PCI id. Having none is no
     * error. */
    SESSION_MACHINE = 8,
    SESSION_PLAN = 16,
    /* Returns ERR_CONFIG if a case's values are invalid (a grid of zero, sizes that overflow); then nothing runs. */
    SESSION_VALID = 32,
    /* Compiles the plan's codes, with progress. A failed compilation is recorded, not returned as an error. */
    SESSION_CODE = 64,
    /* Predicts every case, in the same way for every command. AMD code is walked, and compiled first if needed, with
     * progress. All other cases are predicted from the stated work. For a CPU's cases that depend on accesses, the same
     * source is also compiled for a GPU and walked. With --described, or without a compiler, only the stated work is
     * used. */
    SESSION_PREDICT = 128,
    SESSION_PREPARE = SESSION_SUITES | SESSION_CATALOG | SESSION_DEVICE | SESSION_MACHINE | SESSION_PLAN,
};

/* Runs these stages (enum session_stage, or'd), up to the first that fails. */
enum status session_go(struct session *session, unsigned stages, struct err *err);

/* ---- words of the command line (arguments.c) ---- */

/* Call it if a reader of `wanted` ("a suite") refused a file. The error then explains what the file is, if known. */
enum status argument_explain(struct err *err, const char *path, const char *wanted, struct arena *arena);
/* Calls result_read, or (light) result_read_light, for a file that the user named. */
enum status argument_result(const struct result **result, const char *path, bool light, struct arena *arena,
                            struct err *err);
/* Adds one word to the session's suites, kernels or manifests. */
enum status argument_add(struct session *session, const char *word, const struct measure_options *base,
                         struct err *err);
/* Returns the session's kernels, which must be in its catalog, with patterns expanded. */
enum status argument_kernels(const char ***names, size_t *count, struct session *session, struct err *err);
/* Returns the error for a word that is neither kernel nor suite: what it may be, or what to write instead. */
enum status argument_unknown(const struct session *session, const char *word, struct err *err);
/* Returns the manifest of a kernel of this name in the working folder; NULL if there is none. */
const char *argument_manifest_here(const struct session *session, const char *word);
/* Whether the word names a suite, a kernel or a file of either. */
bool argument_is_known(const char *word, struct arena *arena);
/* ---- code without a manifest (foreign.c) ---- */

/* Finds the only kernel of a file that passes --filter. The same kernel in objects for several targets counts once.
 * ERR_USAGE. */
struct codeobj_file;
struct codeobj_kernel;
enum status foreign_kernel(const struct codeobj_kernel **found, const struct codeobj_file *file,
                           const struct cli_options *options, struct err *err);
/* Adds the code's kernel to the session, with a manifest generated from its metadata. */
enum status foreign_add(struct session *session, const char *path, struct err *err);
/* Adds a note to the prediction of such a kernel that its sizes are assumed. */
void foreign_note(struct prediction *prediction, const struct session *session, const struct plan_case *plan_case);

/* Warns about kernels of the plan whose manifest from 'inspect --manifest' is not filled in yet. */
void foreign_ask(const struct session *session);

/* Marks the cases of the plan whose image is missing, contains no code or lacks the kernel (invalid), or is for other
 * targets (skipped, but still compared at check parameters). Needs no device (codes.c). */
void session_check_images(struct session *session);

/* ---- stages ---- */

/* Starts the time of --budget, unless it has started in this process. SESSION_SUITES calls it. */
enum status session_start_budget(const struct duration *budget, struct err *err);

/* Replaces SESSION_SUITES: takes every kernel of `kernel_dir`, or else of the catalog, with or without helpers. */
enum status session_all_kernels(struct session *session, bool helpers, struct err *err);
/* Whether a kernel serves other kernels and is no benchmark: a reference, by its name, or a service, by its tag. */
bool session_is_helper(const struct manifest *manifest);

/* Replaces SESSION_DEVICE and SESSION_MACHINE if code is built ahead of time for this target. Uses the facts of a
 * machine file with the same gfx name, or the minimum facts of the target's family. */
enum status session_target(struct session *session, const char *arch, struct err *err);
/* Finds the compilation target of references, which run on the CPU whatever the device under test is. */
enum status session_reference_target(struct session *session, struct err *err);

/* Implements the stage SESSION_PREDICT. */
enum status session_predict(struct session *session, struct err *err);
/* Reports each kernel whose stated work disagrees in all of its cases with its walked code; returns their number. */
size_t session_say_work(const struct session *session);

/* Plans one suite with the session's device and machine, without --set and --filter. */
enum status session_plan_suite(const struct plan **plan, struct session *session, const struct suite *suite,
                               struct err *err);
/* Builds a plan's codes with the session's settings. */
enum status session_build_plan(struct build_result **builds, struct session *session, const struct plan *plan,
                               struct err *err);
/* Returns the plan with only those codes that run on the processor, or only the others. `numbers` maps them to their
 * indices in the whole plan. */
struct plan session_codes_of(const struct plan *plan, bool cpu, const size_t **numbers, struct arena *arena);
/* The number of the plan's codes that are not yet compiled, and an estimate of the compile time; 0 on sim. */
struct uncompiled {
    size_t count;
    double time_ns;
};
enum status session_uncompiled(struct uncompiled *uncompiled, struct session *session, struct err *err);

/* ---- signals and budgets that end a command early ---- */

/* The first Ctrl-C, SIGTERM or SIGHUP requests an orderly end (session_stop becomes STOP_SIGNAL). A further one after
 * at least half a second ends the program at once with exit code 130; the delay exists because timeout(1) sends its
 * signal twice. A command with nothing to lose also ends at once if an orderly end takes longer than `grace_s` seconds
 * (0: no limit). With --budget, the end of the time requests it (STOP_BUDGET). There is one budget for the whole
 * program: of several sessions (--ab) the first starts it. */
enum { STOP_NOT, STOP_SIGNAL, STOP_BUDGET };
extern volatile int session_stop;
extern const char *volatile session_last_words; /* written to standard error by an immediate end; NULL: none */
void session_catch_signals(unsigned grace_s);

/* Whether ERR_INTERRUPTED means the end of the budget, which is no error: the remaining cases are skipped with that
 * reason. */
bool session_late(enum status status);
/* Returns that reason: "the time budget of 60s ran out before this was <what>". */
const char *session_late_reason(const struct session *session, const char *what);

/* ---- progress (progress.c) ---- */

/* Shows the current activity. On a terminal it is one line, which log output clears and redraws (log_set_status_line).
 * In a pipe it is a separate line, "... compiling for gfx942: 17 of 53 (stream.hip)", every few seconds. */
bool progress_is_drawn(const struct cli_options *options); /* whether the terminal's line is wanted */
void progress_show(const struct cli_options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));
void progress_clear(void);
void progress_begin(void); /* call at the program's start, from which a pipe's first line is delayed */
/* Delays a pipe's next line, because another message has just shown progress. */
void progress_said(void);

/* Returns the number of columns: of the terminal at a file descriptor, else of COLUMNS, else 100. */
unsigned progress_columns(int fd);

/* ---- machine files (session_machine.c) ----
 *
 * One gfx name covers several products, and one card may be several devices: an eighth of an MI300X must not be judged
 * by the ceilings of the whole card. */

/* Return configs/<folder>/<name>, and every file of that folder with this suffix; none without a configs folder. */
char *session_config(struct arena *arena, const char *folder, const char *name);
enum status session_configs(char ***paths, size_t *count, const char *folder, const char *suffix, struct arena *arena,
                            struct err *err);

/* Lists the suites: the JSON files of configs/ itself, not of its folders for machines and schemas. */
enum status session_suites(const char *const **paths, size_t *count, struct arena *arena, struct err *err);

enum machine_match {
    MATCH_NO,    /* another product */
    MATCH_MODE,  /* the product in another partition mode */
    MATCH_UNITS, /* the id with another number of compute units: another product with that id, or a part of the card */
    MATCH_YES
};
enum machine_match session_match(const struct machine *machine, const struct device_info *info);

/* Finds the machine file of this device's model and partition mode; NULL if there is none. */
enum status session_sheet(const struct machine **sheet, const struct device_info *info, struct arena *arena,
                          struct err *err);

/* Returns where `rooftile roofline` saves the measured machine of this device, and `run` reads it. */
enum status session_machine_file(const char **path, const struct device_info *info, bool make, struct arena *arena,
                                 struct err *err);
/* Writes the identity of a device for its machine file. */
void session_device_id(char out[static 512], const struct device_info *info);
/* Implements the stage SESSION_MACHINE. ERR_USAGE: --machine belongs to another device. */
enum status session_machine(struct session *session, struct err *err);

/* Finds a machine for predictions by its name in configs/machines or by its file, completed by numbers of related
 * machines. *machine is NULL if there is no such file. */
enum status session_known_machine(struct machine **machine, const char *name, struct arena *arena, struct err *err);
/* Returns ERR_USAGE for an unknown machine name. Lists the machines, or those with the target of this name. */
enum status session_unknown_machine(const char *name, struct arena *arena, struct err *err);
/* Returns the machine of `sim:NAME`, where NAME is a name in configs/machines or a file, and the facts of the simulated
 * device. ERR_USAGE: there is none. */
enum status session_model(struct machine *machine, struct device_info *info, const char *model, struct arena *arena,
                          struct err *err);

#endif
