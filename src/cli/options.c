/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stddef.h>

#include "rooftile/suite.h"

static const char *const whens[] = {"auto", "always", "never", NULL};
static const char *const formats[] = {"table",
                                      "csv",
                                      "json",
                                      "jsonl",
                                      "markdown",
                                      "junit",
                                      "openmetrics",
                                      "google-benchmark",
                                      "bmf",
                                      "github-action-benchmark",
                                      "github-action-benchmark-bigger",
                                      NULL};
static const char *const cache_modes[] = {"hot", "cold", "rotate", NULL};

#define AT(field) .offset = offsetof(struct cli_options, field)
#define LIST_AT(field, count) AT(field), .count_offset = offsetof(struct cli_options, count)

/* In the order of help and man page within a command's own list, which is the command's. */
const struct option_row option_rows[OPT_COUNT] = {
    [OPT_DEVICE] = {"device", 'd', OPTION_STRING, "DEV",
                    "where to run: cpu, cpu:wave=32,threads=4, or sim:mi300x, which predicts and executes nothing; "
                    "'rooftile devices' lists them (default: the best one present)",
                    AT(device), .complete = COMPLETE_DEVICE},
    [OPT_SET] = {"set", 0, OPTION_PAIRS, "NAME=VALUES",
                 "set or sweep a parameter: n=1Mi, dtype=f32,f64, n=16Ki..1Gi*2 (geometric), n=0..64+8 (linear); "
                 "wave=32,64 and cumode=0,1 compile a kernel for both of RDNA's; repeatable",
                 LIST_AT(sets, set_count)},
    [OPT_FILTER] = {"filter", 0, OPTION_LIST, "GLOB", "only what matches, such as 'stream_*'; repeatable",
                    LIST_AT(filters, filter_count)},
    [OPT_SEED] = {"seed", 0, OPTION_U64, "N", "seed of inputs, case order and simulated noise (default: 1)", AT(seed)},
    [OPT_QUICK] = {"quick", 0, OPTION_FLAG, NULL, "shorter and less precise", AT(quick)},
    [OPT_OUT] = {"out", 'o', OPTION_STRING, "FILE", "write there; '-' is standard output", AT(out),
                 .complete = COMPLETE_FILE},
    [OPT_JSON] = {"json", 0, OPTION_STRING, "FILE|-", "write it as JSON to FILE; '-' is standard output", AT(json),
                  .complete = COMPLETE_FILE},
    [OPT_HTML] = {"html", 0, OPTION_STRING, "FILE", "write it as one web page, which needs nothing beside it", AT(html),
                  .complete = COMPLETE_FILE},
    [OPT_FORMAT] = {"format", 0, OPTION_WORD, "NAME",
                    "table (default), csv, json, jsonl (of a run: one event per line, as it happens); markdown, junit; "
                    "for dashboards "
                    "openmetrics, google-benchmark, bmf, github-action-benchmark, github-action-benchmark-bigger",
                    AT(format), .choices = formats},
    [OPT_MACHINE] = {"machine", 0, OPTION_STRING, "FILE",
                     "machine file with the ceilings, or the name of one in configs/machines (default: what 'rooftile "
                     "roofline' saved for this device)",
                     AT(machine), .complete = COMPLETE_FILE},
    [OPT_KERNELS] = {"kernels", 0, OPTION_LIST, "DIR",
                     "folder with kernels of your own, which win over the built-in ones; repeatable",
                     LIST_AT(kernel_dirs, kernel_dir_count), .complete = COMPLETE_FOLDER},
    [OPT_CACHE] = {"cache", 0, OPTION_STRING, "DIR", "folder of compiled kernels (default: ~/.cache/rooftile)",
                   AT(cache_dir), .complete = COMPLETE_FOLDER},
    [OPT_RESUME] = {"resume", 0, OPTION_STRING, "FILE", "keep the cases of this partial result and run the others",
                    AT(resume), .complete = COMPLETE_FILE},
    [OPT_SAMPLES] = {"samples", 0, OPTION_FLAG, NULL,
                     "keep every sample: those beyond 512 of a case in FILE.samples.bin", AT(samples)},
    [OPT_KEEP_ORDER] = {"keep-order", 0, OPTION_FLAG, NULL, "run in the suite's order, not in a random one",
                        AT(keep_order)},
    [OPT_MIN_TIME] = {"min-time", 0, OPTION_STRING, "TIME", "sample each case at least this long, such as 0.5s",
                      AT(min_time)},
    [OPT_MAX_TIME] = {"max-time", 0, OPTION_STRING, "TIME", "stop each case after this time", AT(max_time)},
    [OPT_CACHE_MODE] =
        {"cache-mode", 0, OPTION_WORD, "MODE",
         "state of the caches: hot (as the last launch left them), cold (flushed) or rotate (another copy of the data)",
         AT(cache_mode), .choices = cache_modes},
    [OPT_TIMER] = {"timer", 0, OPTION_WORD, "TIMER",
                   "what takes the time: dispatch (the kernel's own), event, batch or graph (many launches a sample), "
                   "host; by default auto",
                   AT(timer), .choices = timer_choice_names},
    [OPT_TIMEOUT] = {"timeout", 0, OPTION_STRING, "TIME", "end a case that hangs after this time (default: 120s)",
                     AT(timeout)},
    [OPT_BUDGET] = {"budget", 0, OPTION_STRING, "TIME",
                    "stop after so long, such as 60s or 2min, compiling included; what is left is skipped, and says so",
                    AT(budget)},
    [OPT_TRIALS] = {"trials", 0, OPTION_UNSIGNED, "N",
                    "fresh processes, each with the cases in another random order: 3 for a nightly job, 5 to compare "
                    "(default: 1)",
                    AT(trials)},
    [OPT_AB] = {"ab", 0, OPTION_TWO, "A B",
                "measure two builds in turns, A B B A, and compare them: A and B are folders of kernels, compilers, or "
                "code objects",
                AT(ab), .complete = COMPLETE_FILE},
    [OPT_LABEL] = {"label", 0, OPTION_PAIRS, "KEY=VALUE", "put a label into the result; repeatable",
                   LIST_AT(labels, label_count)},
    [OPT_ARCH] = {"arch", 0, OPTION_SPLIT, "ARCH,...",
                  "compile for these targets instead of the device, such as gfx942,gfx90a", LIST_AT(archs, arch_count)},
    [OPT_JOBS] = {"jobs", 'j', OPTION_UNSIGNED, "N", "compile so many at once (default: all cores)", AT(jobs)},
    [OPT_FORCE] = {"force", 'f', OPTION_FLAG, NULL, "compile even what the cache has", AT(force)},
    [OPT_REFERENCES] =
        {"references", 0, OPTION_FLAG, NULL,
         "only the references, which run on the processor and need clang: for a GPU machine that has none",
         AT(references)},
    [OPT_RUN] = {"run", 0, OPTION_FLAG, NULL, "also run every kernel at its check size and verify it", AT(run)},
    [OPT_INJECT_FAULTS] =
        {"inject-faults", 0, OPTION_FLAG, NULL,
         "inject faults (a skipped launch, a flipped output, a perturbed input) and see that verification catches them",
         AT(inject_faults)},
    [OPT_ORDERS] = {"orders", 0, OPTION_FLAG, NULL,
                    "with --run: work-items forward, backward and shuffled, so that a missing barrier shows",
                    AT(orders)},
    [OPT_STRICT] = {"strict", 0, OPTION_FLAG, NULL,
                    "exit with 4 when in doubt: a case saw interference or throttled, a verdict is open", AT(strict)},
    [OPT_DB] = {"db", 0, OPTION_STRING, "FILE",
                "the history's file (default: $ROOFTILE_HISTORY, else history.db in the data folder)", AT(db),
                .complete = COMPLETE_FILE},
    [OPT_CHANNEL] = {"channel", 0, OPTION_STRING, "NAME",
                     "runs that belong together: one suite on one schedule (default: nightly)", AT(channel)},
    [OPT_KEEP] = {"keep", 0, OPTION_UNSIGNED, "N", "drop all but the newest N runs of the channel", AT(keep)},
    [OPT_BACKFILL] = {"backfill", 0, OPTION_FLAG, NULL, "let an older result in where it belongs", AT(backfill)},
    [OPT_CONFIRM] = {"confirm", 0, OPTION_STRING, "SUITE",
                     "measure what seems to have moved again, from this suite, before judging", AT(confirm),
                     .complete = COMPLETE_FILE},
    [OPT_REASON] = {"reason", 0, OPTION_STRING, "TEXT", "why the baseline moves", AT(reason)},
    [OPT_ALPHA] = {"alpha", 0, OPTION_STRING, "P",
                   "how often a case may be called different when it is not (default: 0.001)", AT(alpha)},
    [OPT_DELTA] = {"delta", 0, OPTION_STRING, "F", "smallest change that is worth a verdict (default: 1%)", AT(delta)},
    [OPT_PROFILE] = {"profile", 0, OPTION_FLAG, NULL,
                     "launch each case once warm and once timed, inside ROCTX (NVTX) ranges named after it, for "
                     "rocprofv3, rocgdb or nsys; nothing is verified, and the result is marked as no measurement",
                     AT(profile)},
    [OPT_BLOCK] = {"block", 0, OPTION_UNSIGNED, "N",
                   "occupancy for workgroups of so many threads (default: the launch's, else the largest allowed)",
                   AT(block)},
    [OPT_ISA] = {"isa", 0, OPTION_FLAG, NULL, "print the disassembly, annotated", AT(isa)},
    [OPT_IR] = {"ir", 0, OPTION_FLAG, NULL, "print the LLVM IR that the compiler makes of the source", AT(ir)},
    [OPT_NAMES] = {"names", 0, OPTION_FLAG, NULL, "names only, one per line", AT(names)},
    [OPT_TARGETS] =
        {"targets", 0, OPTION_FLAG, NULL,
         "the GPUs that kernels are compiled for instead, with the LLVM each needs and the compiler at hand",
         AT(targets)},
    [OPT_COLOR] = {"color", 0, OPTION_CHOICE, "WHEN", "auto, always or never; NO_COLOR is honoured", AT(color),
                   .choices = whens},
    [OPT_PROGRESS] = {"progress", 0, OPTION_CHOICE, "WHEN", "auto, always or never", AT(progress), .choices = whens},
    [OPT_QUIET] = {"quiet", 'q', OPTION_FLAG, NULL, "errors only on standard error", AT(quiet)},
    [OPT_VERBOSE] = {"verbose", 'v', OPTION_COUNT_UP, NULL, "say more; twice: debugging output", AT(verbose)},
    [OPT_HELP] = {"help", 'h', OPTION_FLAG, NULL, "show this", AT(help)},
};

const enum option_id common_options[COMMON_OPTIONS] = {OPT_COLOR, OPT_PROGRESS, OPT_QUIET, OPT_VERBOSE, OPT_HELP};

_Static_assert(COLOR_AUTO == 0 && COLOR_ALWAYS == 1 && COLOR_NEVER == 2, "the order of `whens`");
_Static_assert(PROGRESS_AUTO == 0 && PROGRESS_ALWAYS == 1 && PROGRESS_NEVER == 2, "the order of `whens`");

size_t options_of(enum option_id ids[static OPT_COUNT], const struct command *command)
{
    size_t count = 0;
    for (const enum option_id *id = command->options; *id; id++)
        ids[count++] = *id;
    for (size_t k = 0; k < COMMON_OPTIONS; k++)
        ids[count++] = common_options[k];
    return count;
}

void options_defaults(struct cli_options *options)
{
    *options = (struct cli_options){.seed = 1};
}
