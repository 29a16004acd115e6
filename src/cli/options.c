/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "rooftile/report.h"
#include "rooftile/roofline.h"
#include "rooftile/suite.h"

static const char *const node_lists[] = {"bad", "good", NULL};
static const char *const whens[] = {"auto", "always", "never", NULL};
static const char *const cache_modes[] = {"hot", "cold", "rotate", NULL};

#define FLAG(option, field, ...)                                                                                       \
    {                                                                                                                  \
        .name = option, .kind = OPTION_FLAG, .offset = offsetof(struct cli_options, field), .help = __VA_ARGS__        \
    }
#define VALUE(option, type, value, field, ...)                                                                         \
    {                                                                                                                  \
        .name = option, .kind = OPTION_##type, .argument = value, .offset = offsetof(struct cli_options, field),       \
        .help = __VA_ARGS__                                                                                            \
    }
#define LIST(option, type, value, field, count, ...)                                                                   \
    VALUE(option, type, value, field, __VA_ARGS__, .count_offset = offsetof(struct cli_options, count))

const struct option_row option_rows[] = {
    VALUE(
        "device", STRING, "DEV", device,
        "where to run: gpu, hip:1, cpu, cpu:threads=4,level=x86-64-v3, or sim:mi300x, which predicts and "
        "executes nothing; run and plan also take all (every GPU) and local (the GPU of this rank); 'rooftile devices' "
        "lists them (default: the best one present)",
        .key = 'd', .complete = COMPLETE_DEVICE),
    LIST("set", PAIRS, "NAME=VALUES", sets, set_count,
         "set or sweep a parameter: n=1Mi, dtype=f32,f64, n=16Ki..1Gi*2 (geometric), n=0..64+8 (linear); wave=32,64 "
         "and cumode=0,1 compile a kernel for both of RDNA's modes; repeatable",
         .complete = COMPLETE_PARAM),
    LIST("filter", LIST, "GLOB", filters, filter_count, "only what matches, such as 'stream_*'; repeatable"),
    VALUE("seed", U64, "N", seed, "seed of inputs and case order (default: 1)"),
    VALUE("sample-seed", U64, "N", sample_seed,
          "seed that chooses the elements for a reference that cannot compute all (default: a new one each run; the "
          "result has it)"),
    FLAG("quick", quick, "shorter and less precise"),
    FLAG("dry-run", dry_run, "only say what would be run, as 'rooftile plan' does"),
    VALUE("out", STRING, "FILE", out,
          "write the result to FILE, '-' is standard output; the name chooses the format of what can be shown in "
          "several: .json .csv .md .xml .html .svg",
          .key = 'o', .complete = COMPLETE_FILE),
    VALUE("out-dir", STRING, "DIR", out_dir,
          "write a result for each device into DIR, as NODE.DEVICE.json: for 'rooftile fleet'",
          .complete = COMPLETE_FOLDER),
    VALUE("together", CHOICE, "HOW", together,
          "with --out-dir and several devices: alone (one after the other), node (all at once, each case at the same "
          "time) or both (default: what the suite says, else alone)",
          .choices = together_names),
    VALUE("json", STRING, "FILE|-", json, "write the result as JSON to FILE; '-' is standard output",
          .complete = COMPLETE_FILE),
    VALUE("result", STRING, "FILE", result, "keep the measurements behind it, as 'rooftile run -o' would",
          .complete = COMPLETE_FILE),
    VALUE("sort", STRING, "NAME", sort,
          "order by a column or parameter, such as time, rate or n, the best first; -NAME: the other way round"),
    VALUE("top", UNSIGNED, "N", top, "only the first N cases", .most = UINT_MAX),
    VALUE("html", STRING, "FILE", html, "write it as one self-contained web page", .complete = COMPLETE_FILE),
    VALUE("format", WORD, "NAME", format, report_format_help, .choices = report_format_names),
    VALUE("picture", STRING, "NAME", picture,
          "for --format svg: roofline, kernels (time against the lower bound), curve-1 ..., map-1 ... (default: "
          "roofline)"),
    VALUE("machine", STRING, "FILE", machine,
          "machine file with ceilings of the device, or the name of one in configs/machines (default: what 'rooftile "
          "roofline' saved); 'predict', 'explain' and 'roofline' take any device's, 'predict' several, or all",
          .complete = COMPLETE_FILE),
    LIST("kernels", LIST, "DIR", kernel_dirs, kernel_dir_count,
         "folder with kernels of your own, which win over the built-in ones; repeatable", .complete = COMPLETE_FOLDER),
    VALUE("cache", STRING, "DIR", cache_dir, "folder of compiled kernels (default: ~/.cache/rooftile)",
          .complete = COMPLETE_FOLDER),
    VALUE("resume", STRING, "FILE", resume,
          "keep the cases of this partial result that are still the same, and run the others",
          .complete = COMPLETE_FILE),
    FLAG("samples", samples, "keep every sample: those beyond 512 of a case in FILE.samples.bin"),
    FLAG("keep-order", keep_order, "run in the suite's order, not in a random one"),
    VALUE("min-time", TIME, "TIME", min_time, "sample each case at least this long, such as 0.5s"),
    VALUE("max-time", TIME, "TIME", max_time, "stop each case after this time"),
    VALUE(
        "cache-mode", CHOICE, "MODE", cache_mode,
        "state of the caches: hot (as the last launch left them), cold (flushed) or rotate (another copy of the data)",
        .choices = cache_modes),
    VALUE("timer", CHOICE, "TIMER", timer,
          "how launches are timed: dispatch (the kernel's own times), event, batch or graph (many launches a sample), "
          "host (default: auto)",
          .choices = timer_choice_names),
    VALUE("timeout", TIME, "TIME", timeout, "end a case that hangs after this time (default: 120s)"),
    VALUE("budget", TIME, "TIME", budget,
          "stop after this time, such as 60s or 2min, compiling included; the remaining cases are skipped with that "
          "reason"),
    VALUE(
        "trials", UNSIGNED, "N", trials,
        "fresh processes, each with the cases in another random order: 3 for a nightly job, 5 to compare (default: 1)"),
    VALUE("ab", TWO, "A B", ab,
          "measure two builds in turns, A B B A, and compare them: A and B are folders of kernels, compilers, or code "
          "objects",
          .complete = COMPLETE_FILE),
    LIST("label", PAIRS, "KEY=VALUE", labels, label_count, "put a label into the result; repeatable"),
    LIST("arch", SPLIT, "ARCH,...", archs, arch_count,
         "compile for these targets instead of the device, such as gfx942,gfx90a, or by product: mi300x",
         .complete = COMPLETE_ARCH),
    VALUE("jobs", UNSIGNED, "N", jobs, "compile this many at once (default: all cores)", .key = 'j'),
    FLAG("force", force, "compile even what the cache has", .key = 'f'),
    FLAG("allow-flags", allow_flags,
         "accept every compiler flag of a manifest, also those that load plugins, linkers or files: their code runs as "
         "you"),
    FLAG("references", references,
         "only the references, which run on the processor and need clang: for a GPU machine that has none"),
    FLAG("run", run, "also run every kernel at its check size and verify it"),
    FLAG(
        "inject-faults", inject_faults,
        "inject faults (a skipped launch, a flipped output, a perturbed input) and see that verification catches them"),
    FLAG("orders", orders, "with --run: work-items forward, backward and shuffled, so that a missing barrier shows"),
    FLAG("devices", devices, "show two different devices side by side, without a verdict"),
    FLAG("strict", strict,
         "exit with 4 when in doubt: a case saw interference, throttled or has no ceiling, time ran out, a verdict is "
         "open"),
    VALUE("db", STRING, "FILE", db,
          "the history's file (default: $ROOFTILE_HISTORY, else history.db in the data folder)",
          .complete = COMPLETE_FILE),
    VALUE("history", STRING, "FILE", history,
          "write pages of this history's channels and devices into the folder of "
          "--out",
          .complete = COMPLETE_FILE),
    VALUE("channel", STRING, "NAME", channel,
          "runs that belong together: one suite on one schedule (default: nightly)"),
    VALUE("keep", UNSIGNED, "N", keep, "drop all but the newest N runs of the channel", .most = UINT_MAX),
    FLAG("backfill", backfill, "accept an older result, and insert it where it belongs"),
    FLAG("confirm", confirm_devices,
         "list only the devices that a single run shows slow and that should be measured "
         "again, one per line",
         .only = "fleet"),
    VALUE("confirm", STRING, "SUITE", confirm, "before judging, measure again with this suite what seems to have moved",
          .complete = COMPLETE_FILE),
    VALUE("reason", STRING, "TEXT", reason, "why the baseline moves"),
    VALUE("alpha", FRACTION, "P", alpha, "how often a case may be called different when it is not (default: 0.001)"),
    VALUE("delta", FRACTION, "F", delta, "smallest change that is worth a verdict (default: 1%)"),
    LIST("shapes", LIST, "FILE", shapes, shape_count,
         "an eager or capture trace of the same program, for its shapes alone; repeatable", .complete = COMPLETE_FILE),
    VALUE("diff", TWO, "A B", diff, "what changed from one trace to another: per operator and shape, new and gone",
          .complete = COMPLETE_FILE),
    VALUE("batch", UNSIGNED, "N", batch, "of a model's configuration: sequences at once (default: 1)"),
    VALUE("tokens", U64, "N", tokens,
          "of a model's configuration: tokens of the prompt, or of the context with --decode (default: 4096)"),
    VALUE("tp", UNSIGNED, "N", tp, "of a model's configuration: devices that share each layer (default: 1)"),
    FLAG("decode", decode, "of a model's configuration: one new token for each sequence, not a prompt"),
    FLAG("isolate", isolate,
         "also measure the ablation twins that manifests name (loads alone, arithmetic alone, one workgroup), for "
         "'explain'"),
    FLAG("described", described,
         "predict by the work that manifests state: nothing is compiled and walked for it, and such times are marked"),
    VALUE("expect", STRING, "NODES", expect,
          "nodes that should be there, as Slurm lists them: n[001-064,070]; those without a result are missing"),
    VALUE("list", WORD, "bad|good", list, "only names of nodes, one per line: for --exclude= or a host file",
          .choices = node_lists),
    VALUE("baseline", STRING, "FILE", baseline, "times of healthy devices, as 'rooftile fleet --json FILE' wrote them",
          .complete = COMPLETE_FILE),
    FLAG("profile", profile,
         "launch each case once warm and once timed, inside ROCTX (NVTX) ranges named after it, for rocprofv3, rocgdb "
         "or nsys; nothing is verified, and the result is marked as no measurement"),
    VALUE("block", UNSIGNED, "N", block,
          "occupancy for workgroups of this many threads (default: the launch's, else the largest allowed)"),
    VALUE("counters", STRING, "FILE", counters,
          "hardware counters that rocprofv3 --pmc wrote, as CSV or rocpd: measured beside predicted",
          .complete = COMPLETE_FILE),
    VALUE("models", STRING, "FILE", models,
          "constants of the models by description (default: configs/models/described.json)", .complete = COMPLETE_FILE),
    FLAG("isa", isa, "print the disassembly, annotated"),
    VALUE("pin", STRING, "FILE", pin,
          "accepted figures: written if FILE is missing, or with --force; else kernels with worse figures are hurt, "
          "and the others accepted",
          .complete = COMPLETE_FILE),
    FLAG("manifest", manifest, "write the beginning of a manifest for the kernel of a FILE, to be filled in and run"),
    FLAG("ir", ir, "print the LLVM IR that the compiler makes of the source"),
    FLAG("names", names, "names only, one per line"),
    FLAG("params", params, "what --set accepts for the kernels, one per line"),
    FLAG(
        "targets", targets,
        "list the GPUs that kernels can be compiled for instead, with the LLVM that each needs and the compiler found"),
    VALUE("color", CHOICE, "WHEN", color, "auto, always or never; NO_COLOR is honoured", .choices = whens),
    VALUE("progress", CHOICE, "WHEN", progress, "auto, always or never", .choices = whens),
    FLAG("quiet", quiet, "errors only on standard error", .key = 'q'),
    VALUE("verbose", COUNT_UP, NULL, verbose, "say more; twice: debugging output", .key = 'v'),
    FLAG("help", help, "show this", .key = 'h'),
    {.name = NULL},
};

_Static_assert(COLOR_AUTO == 0 && COLOR_ALWAYS == 1 && COLOR_NEVER == 2, "the order of `whens`");
_Static_assert(PROGRESS_AUTO == 0 && PROGRESS_ALWAYS == 1 && PROGRESS_NEVER == 2, "the order of `whens`");

_Static_assert(CACHE_HOT == 0 && CACHE_COLD == 1 && CACHE_ROTATE == 2, "the order of `cache_modes`");

static const struct option_row *find_row(const char *name, size_t length, const struct command *command)
{
    for (const struct option_row *row = option_rows; row->name; row++)
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0 &&
            (!row->only || (command && !strcmp(row->only, command->name))))
            return row;
    return NULL;
}

size_t options_of(const struct option_row *rows[static MOST_OPTIONS], const struct command *command)
{
    const char *const lists[] = {command ? command->options : "", COMMON_OPTIONS};
    size_t count = 0;
    for (size_t k = 0; k < 2; k++)
        for (const char *at = lists[k]; *at; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");
            rows[count++] = find_row(at, length, command);
            at += length;
        }
    return count;
}
