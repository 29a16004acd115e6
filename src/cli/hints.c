/* SPDX-License-Identifier: MIT
 *
 * What people write who know other tools, and what it is here: one table, asked before a near name is looked for.
 */

#include "cli.h"

static const struct hint {
    enum hint_place place;
    const char *words;  /* in small letters, with '-' for '_' */
    const char *option; /* only for commands that take it; NULL: for all */
    const char *say;    /* one word: the right one; more: a sentence; NULL: that option is the right one */
} hints[] = {
    {HINT_COMMAND, "bench benchmark measure perf stat record exec launch start", NULL, "run"},
    {HINT_COMMAND, "show print view summary html plot stats", NULL, "report"},
    {HINT_COMMAND, "diff cmp", NULL, "compare"},
    {HINT_COMMAND, "ls kernels suites", NULL, "list"},
    {HINT_COMMAND, "gpus info query machines doctor status", NULL, "devices"},
    {HINT_COMMAND, "targets archs", NULL, "'rooftile list --targets' shows them"},
    {HINT_COMMAND, "compile make", NULL, "build"},
    {HINT_COMMAND, "verify test validate lint", NULL, "check"},
    {HINT_COMMAND, "disassemble disasm objdump asm occupancy-of", NULL, "inspect"},
    {HINT_COMMAND, "calibrate characterize ceilings peak", NULL, "roofline"},
    {HINT_COMMAND, "estimate simulate", NULL, "predict"},
    {HINT_COMMAND, "analyze analyse why", NULL, "explain"},
    {HINT_COMMAND, "export convert", NULL, "'rooftile report RESULT --format NAME' writes other formats"},
    {HINT_COMMAND, "sweep tune autotune", NULL, "'rooftile run KERNEL --set n=1Mi..64Mi*2' sweeps a parameter"},
    {HINT_COMMAND, "init new create", NULL, "kernels/README.md shows how to write a kernel, which is two files"},
    {HINT_COMMAND, "gate add accept prune", NULL, "that belongs to 'rooftile history'"},
    {HINT_COMMAND, "profile prof rocprof rocprofv3 nsys ncu", NULL,
     "'rocprofv3 --kernel-trace -- rooftile run KERNEL --profile' profiles one"},
    {HINT_COMMAND, "trace", NULL, "import"},
    {HINT_COMMAND,
     "all-reduce-perf all-gather-perf reduce-scatter-perf alltoall-perf broadcast-perf sendrecv-perf reduce-perf", NULL,
     "'rooftile run collectives' measures them by size"},
    {HINT_COMMAND, "quickstart gpu-check emulate", NULL, "it is a script, in the folder scripts"},

    {HINT_VERB, "list ls log print", NULL, "show"},
    {HINT_VERB, "import insert push record", NULL, "add"},
    {HINT_VERB, "delete remove rm drop clean", NULL, "prune"},
    {HINT_VERB, "judge verdict compare diff", NULL, "gate"},

    {HINT_OPTION, "target mcpu march gpu-architecture gpu-arch offload-arch", "arch", NULL},
    {HINT_OPTION, "gpu gpus devices device-id dev backend g ngpus", "device", NULL},
    {HINT_OPTION, "arch target mcpu gpu-architecture gpu-arch offload-arch", "device",
     "it is compiled for the --device that is there; 'rooftile build --arch' compiles for others"},
    {HINT_OPTION, "arch device gpu target machines model m", "machine",
     "the machine is --machine NAME, such as mi300x"},
    {HINT_OPTION, "output output-file outfile benchmark-out", "out", NULL},
    {HINT_OPTION, "threads", "device", "a CPU's are --device cpu:threads=N; --jobs compiles several kernels at once"},
    {HINT_OPTION, "parallel", "jobs", NULL},
    {HINT_OPTION, "repeat repeats reps repetitions runs r benchmark-repetitions", "trials", NULL},
    {HINT_OPTION,
     "iterations iters iter num-iters time warmup warmups warm-up warmup-iters num-warmups min-samples min-noise "
     "max-noise w benchmark-min-warmup-time stopping-criterion skip-time run-once no-batch min-runs max-runs",
     "min-time", "a case is warmed up and sampled until its median is known; --min-time and --max-time bound that"},
    {HINT_OPTION, "benchmark-min-time", "min-time", NULL},
    {HINT_OPTION, "limit head", "top", NULL},
    {HINT_OPTION, "plot chart graph", "out",
     "-o FILE.html and -o FILE.svg have pictures, of a result also: 'rooftile report'"},
    {HINT_OPTION, "sort-by order-by", "sort", NULL},
    {HINT_OPTION, "param params parameter axis axes a p s d args define", "set", "a parameter is --set NAME=VALUES"},
    {HINT_OPTION, "b e min-bytes max-bytes minbytes maxbytes stepbytes stepfactor sizes", "set",
     "kernels are named without an option, and sizes are --set n=1Mi..64Mi*2"},
    {HINT_OPTION, "kernel kernel-name k suite benchmark config test name", "kernels",
     "kernels and suites are named without an option, as in 'rooftile run quick'"},
    {HINT_OPTION, "benchmark-filter only match", "filter", NULL},
    {HINT_OPTION, "tag tags family", "filter", NULL},
    {HINT_OPTION, "exclude skip ignore", "filter", "--filter '!PATTERN' takes cases out"},
    {HINT_OPTION, "cpu hip cuda sim", "device", "a device is --device NAME, such as cpu or sim:mi300x"},
    {HINT_OPTION, "list-devices", NULL, "'rooftile devices' shows them"},
    {HINT_OPTION, "benchmark-color", "color", NULL},
    {HINT_OPTION,
     "csv md markdown xml junit html jsonl f benchmark-format output-format benchmark-out-format "
     "benchmark-counters-tabular export-json export-csv export-markdown yaml",
     "format", "the format is --format NAME, or the end of -o FILE"},
    {HINT_OPTION, "cold flush flush-cache hot", "cache-mode",
     "the state of caches is --cache-mode hot, cold or rotate"},
    {HINT_OPTION, "list list-kernels list-benchmarks list-tests benchmark-list-tests l", NULL,
     "'rooftile list' shows kernels and suites"},
    {HINT_OPTION, "all", "names", "without an option all are listed"},
    {HINT_OPTION, "all", "references", "without a name every kernel is compiled"},
    {HINT_OPTION, "all", "orders", "without a name every kernel is checked"},
    {HINT_OPTION, "all", NULL, "'*' in quotes names every kernel"},
    {HINT_OPTION, "file input result results base baseline new trace", NULL, "files are named without an option"},
    {HINT_OPTION, "threshold tolerance min-change", "delta", NULL},
    {HINT_OPTION, "asm disassemble disasm dump-isa sass", "isa", NULL},
    {HINT_OPTION, "stats hip-trace sys-trace kernel-trace trace pmc nvtx roctx", "profile",
     "--profile prepares a run for rocprofv3, which takes such options itself"},
    {HINT_OPTION, "check verify validate c no-verify skip-verify", "device",
     "every case is verified before it is timed; 'rooftile check --run' verifies alone"},
    {HINT_OPTION, "time-limit duration", "budget", NULL},
    {HINT_OPTION, "output-directory output-dir outdir", "out-dir", NULL},
    {HINT_OPTION, "benchmark-enable-random-interleaving shuffle random", "keep-order",
     "cases run in random order; --keep-order keeps that of the suite"},
    {HINT_OPTION, "persistence-mode pm lock-gpu-clocks lgc throttle-threshold throttle-recovery-delay", "min-time",
     "clocks are left as they are (amd-smi, nvidia-smi set them); samples at a fallen clock do not count"},
    {HINT_OPTION, "roof-only no-roof", "profile", "'rooftile roofline' measures the ceilings, once for all runs"},
    {HINT_OPTION, "silent", "quiet", NULL},
    {HINT_OPTION, "debug", "verbose", NULL},
    {HINT_OPTION, "usage ?", "help", NULL},

    {HINT_WORD, "all everything", NULL, "'*' in quotes names every kernel, and a suite names many, such as quick"},
    {HINT_WORD, "kernels suites benchmarks tests names", NULL, "'rooftile list' shows kernels and suites"},
    {HINT_WORD, "set", NULL, "a parameter is --set NAME=VALUES"},
    {HINT_WORD, "help", NULL, "'rooftile COMMAND --help' shows it"},
    {HINT_WORD, "machines gpus", NULL, "'rooftile devices' shows them"},
    {HINT_WORD, "targets archs", NULL, "'rooftile list --targets' shows them"},
    {HINT_WORD, "tags families", NULL, "'rooftile list --filter NAME' looks at names, families and tags"},
    {HINT_WORD, "matmul mm sgemm hgemm dgemm", NULL, "gemm"},
    {HINT_WORD, "flash-attention flashattention flash-attn fmha mha sdpa", NULL, "attention"},
    {HINT_WORD, "bandwidth bw membw babelstream", NULL, "memory"},
    {HINT_WORD, "flops tflops peak", NULL, "compute"},
    {HINT_WORD, "saxpy daxpy axpy", NULL, "stream_triad"},
    {HINT_WORD, "p2p nvlink xgmi", NULL, "links"},
    {HINT_WORD, "nccl rccl allreduce", NULL, "collectives"},
    {HINT_WORD, "pcie memcpy h2d d2h", NULL, "transfers"},
    {HINT_WORD, "smoke default", NULL, "quick"},

    {HINT_VALUE, "format=md format=gfm", NULL, "markdown"},
    {HINT_VALUE, "format=xml", NULL, "junit"},
    {HINT_VALUE, "format=prometheus format=prom", NULL, "openmetrics"},
    {HINT_VALUE, "format=console format=text format=txt", NULL, "table"},
    {HINT_VALUE, "format=yaml", NULL, "json"},
    {HINT_VALUE, "format=gbench format=benchmark", NULL, "google-benchmark"},
    {HINT_VALUE, "format=excel format=xlsx format=tsv format=spreadsheet", NULL, "csv"},
    {HINT_VALUE, "out=.pdf out=.png out=.jpg out=.xlsx out=.xls out=.docx out=.gz out=.zst out=.zip", NULL,
     "the end of the name may be .html (with pictures), .svg, .csv, .md, .xml or .json"},
    {HINT_VALUE, "cache=cold cache=hot cache=rotate cache=warm cache=flush", NULL,
     "the state of caches is --cache-mode hot, cold or rotate"},
    {HINT_VALUE, "cache-mode=warm", NULL, "hot"},
    {HINT_VALUE, "cache-mode=flush cache-mode=flushed", NULL, "cold"},
    {HINT_VALUE, "color=yes color=on color=true color=1", NULL, "always"},
    {HINT_VALUE, "color=no color=off color=false color=0", NULL, "never"},
    {HINT_VALUE, "set", NULL, "as in --set n=1Mi or --set n=1Mi..64Mi*2"},
    {HINT_VALUE, "arch=native", NULL, "'rooftile devices' names the target of a GPU that is here"},
    {HINT_VALUE, "arch=cdna arch=cdna1", NULL, "gfx908"},
    {HINT_VALUE, "arch=cdna2", NULL, "gfx90a"},
    {HINT_VALUE, "arch=cdna3 arch=mi300", NULL, "gfx942"},
    {HINT_VALUE, "arch=cdna4 arch=mi350", NULL, "gfx950"},
    {HINT_VALUE, "arch=rdna2", NULL, "gfx1030"},
    {HINT_VALUE, "arch=rdna3", NULL, "gfx1100"},
    {HINT_VALUE, "arch=rdna4", NULL, "gfx1201"},
    {HINT_VALUE, "arch=ampere", NULL, "sm_80"},
    {HINT_VALUE, "arch=ada", NULL, "sm_89"},
    {HINT_VALUE, "arch=hopper", NULL, "sm_90a"},
    {HINT_VALUE, "arch=blackwell", NULL, "sm_100a"},
};

bool command_takes(const struct command *command, const char *option)
{
    return command && command->options && text_has_word(command->options, " ", option, strlen(option));
}

enum status hint_add(struct err *err, enum hint_place place, const char *word, const struct command *command)
{
    char folded[48];
    const size_t length = strlen(word);
    for (size_t k = 0; k <= length && length < sizeof(folded); k++)
        folded[k] = word[k] == '_' ? '-' : (char)tolower((unsigned char)word[k]);
    const bool known = place == HINT_OPTION && length < sizeof(folded) && command_takes(command, folded);
    for (size_t k = 0; k < sizeof(hints) / sizeof(*hints) && length < sizeof(folded) && !known; k++) {
        const struct hint *hint = &hints[k];
        const char *right = hint->say ? hint->say : hint->option;
        const bool taken = !hint->option || command_takes(command, hint->option) ||
                           text_has_word(COMMON_OPTIONS, " ", hint->option, strlen(hint->option));
        if (hint->place != place || !taken || !text_has_word(hint->words, " ", folded, length))
            continue;
        return strchr(right, ' ')
                   ? err_set(err, err->status, "%s; %s", err->text, right)
                   : err_set(err, err->status, "%s; did you mean '%s%s'?", err->text, hint->say ? "" : "--", right);
    }
    return STATUS_OK;
}
