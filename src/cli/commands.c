/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli.h"

#define ANY_NUMBER SIZE_MAX

static const enum option_id run_options[] = {
    OPT_DEVICE,  OPT_SET,        OPT_FILTER,  OPT_OUT,        OPT_FORMAT, OPT_QUICK,   OPT_SEED,     OPT_MACHINE,
    OPT_KERNELS, OPT_CACHE,      OPT_JOBS,    OPT_FORCE,      OPT_RESUME, OPT_SAMPLES, OPT_MIN_TIME, OPT_MAX_TIME,
    OPT_TIMER,   OPT_CACHE_MODE, OPT_TIMEOUT, OPT_KEEP_ORDER, OPT_LABEL,  OPT_STRICT,  OPT_END};
static const enum option_id plan_options[] = {OPT_DEVICE, OPT_SET,        OPT_FILTER,  OPT_JSON,     OPT_QUICK,
                                              OPT_SEED,   OPT_MACHINE,    OPT_KERNELS, OPT_MIN_TIME, OPT_MAX_TIME,
                                              OPT_TIMER,  OPT_CACHE_MODE, OPT_TIMEOUT, OPT_END};
static const enum option_id build_options[] = {OPT_ARCH,    OPT_DEVICE, OPT_SET,  OPT_FILTER, OPT_MACHINE,
                                               OPT_KERNELS, OPT_CACHE,  OPT_JOBS, OPT_FORCE,  OPT_END};
static const enum option_id check_options[] = {OPT_RUN,   OPT_ORDERS,  OPT_PROVE,   OPT_DEVICE, OPT_FILTER,
                                               OPT_OUT,   OPT_SEED,    OPT_KERNELS, OPT_CACHE,  OPT_JOBS,
                                               OPT_FORCE, OPT_TIMEOUT, OPT_END};
static const enum option_id roofline_options[] = {OPT_DEVICE,  OPT_QUICK, OPT_OUT,  OPT_JSON,  OPT_SEED,
                                                  OPT_KERNELS, OPT_CACHE, OPT_JOBS, OPT_FORCE, OPT_END};
static const enum option_id list_options[] = {OPT_FILTER, OPT_NAMES, OPT_JSON, OPT_KERNELS, OPT_END};
static const enum option_id devices_options[] = {OPT_NAMES, OPT_JSON, OPT_END};
static const enum option_id report_options[] = {OPT_FORMAT, OPT_OUT, OPT_END};
static const enum option_id text_options[] = {OPT_OUT, OPT_END};

const struct command commands[] = {
    {.name = "run",
     .args = "SUITE|KERNEL...",
     .summary = "measure kernels, verified, against the roofs of the machine",
     .examples = "  rooftile run quick                        the one-minute suite, any machine\n"
                 "  rooftile run quick -o out/quick.json      and keep the result\n"
                 "  rooftile run my_suite.json --device cpu   a suite of your own\n"
                 "  rooftile run stream_triad --set n=32Mi --set dtype=f64\n"
                 "  rooftile run pointer_chase --set footprint=16Ki..1Gi*2\n"
                 "  rooftile run gemm_lds --device sim:mi300x    predict, execute nothing\n"
                 "  rooftile run quick -o r.json --resume r.json   go on after Ctrl-C\n",
     .details =
         "A SUITE is a JSON file, or the name of one in configs/; a KERNEL is a name of 'rooftile list'. Every "
         "parameter that --set gives several values is swept; several parameters make every combination.\n"
         "Exit codes: 0 ok; 1 findings: a wrong result, a crash, a speed beyond a physical peak; 2 usage or "
         "configuration; 3 could not measure; 4 inconclusive, with --strict; 130 interrupted, with a valid partial "
         "result.",
     .options = run_options,
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_run},
    {.name = "plan",
     .args = "SUITE|KERNEL...",
     .summary = "show what a run would do and how long it would take",
     .examples = "  rooftile plan quick                       every case, its floor, its time\n"
                 "  rooftile plan stream_triad --set n=1Mi..1Gi*4\n"
                 "  rooftile plan quick --device sim:mi300x   on a GPU that is not here\n"
                 "  rooftile plan quick --json plan.json\n",
     .details = "The floor is the least time that the roofs allow; the forecast adds the launch. Both are predictions.",
     .options = plan_options,
     .min_args = 1,
     .max_args = ANY_NUMBER,
     .run = cmd_plan},
    {.name = "build",
     .args = "[SUITE|KERNEL]...",
     .summary = "compile kernels ahead of a run",
     .examples = "  rooftile build quick --arch gfx942,gfx90a   the GPU node needs no compiler\n"
                 "  rooftile build gemm_lds                     for the device of this machine\n"
                 "  rooftile build -v --force                   everything, with paths of objects\n",
     .details = "Without arguments every kernel is compiled. Compiled kernels are kept in a cache that 'rooftile run' "
                "looks into; give --cache to fill another folder. "
                "ROOFTILE_KERNEL_COMPILER names the compiler where the choice is not to be rooftile's.\n"
                "Exit code 1: something did not compile; the compiler's own message is shown.",
     .options = build_options,
     .max_args = ANY_NUMBER,
     .run = cmd_build},
    {.name = "check",
     .args = "[SUITE|KERNEL]...",
     .summary = "check manifests and suites, and with --run the kernels",
     .examples = "  rooftile check                            every manifest\n"
                 "  rooftile check my_suite.json              and a suite\n"
                 "  rooftile check --run                      every kernel at its check size\n"
                 "  rooftile check my_kernel --kernels . --run --orders\n"
                 "  rooftile check --prove                    would a wrong result be noticed?\n",
     .details = "Exit codes: 1 a kernel is wrong, or a fault went unnoticed; 2 a manifest or suite is broken.",
     .options = check_options,
     .max_args = ANY_NUMBER,
     .run = cmd_check},
    {.name = "roofline",
     .args = "[SUITE]",
     .summary = "measure the roofs of this machine",
     .examples = "  rooftile roofline                         a few minutes, saved for 'run'\n"
                 "  rooftile roofline --quick                 at most 45 seconds\n"
                 "  rooftile roofline -o node7.json           into a machine file of your own\n"
                 "  rooftile run quick --machine node7.json\n",
     .details = "The roofs are the bandwidth of each memory level and the peak of each arithmetic unit. Cache levels "
                "are found in the measurements, not looked up in a table. -o names the machine file; --json "
                "keeps the measurements behind it.",
     .options = roofline_options,
     .max_args = 1,
     .run = cmd_roofline},
    {.name = "list",
     .args = "[KERNEL|SUITE]...",
     .summary = "list kernels and suites, or show one in full",
     .examples = "  rooftile list                             everything, one line each\n"
                 "  rooftile list stream_triad                one kernel in full\n"
                 "  rooftile list --filter 'stream_*'\n"
                 "  rooftile list --json -                    for programs\n",
     .details = "With the name of a family, such as memory, its kernels are listed. --filter looks at names, families "
                "and tags.",
     .options = list_options,
     .max_args = ANY_NUMBER,
     .run = cmd_list},
    {.name = "devices",
     .args = "",
     .summary = "list the devices, or say exactly why one is off",
     .examples = "  rooftile devices\n"
                 "  rooftile devices --json -                 for programs\n",
     .options = devices_options,
     .run = cmd_devices},
    {.name = "report",
     .args = "RESULT",
     .summary = "print a result file as a table, CSV or JSON",
     .examples = "  rooftile report out/quick.json            the table again\n"
                 "  rooftile report r.json --format csv -o r.csv\n"
                 "  rooftile report r.json --format jsonl | grep stream_\n",
     .options = report_options,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_report},
    {.name = "schema",
     .args = "[suite|manifest|machine|result]",
     .summary = "print the JSON Schema of a file format, or list them",
     .examples = "  rooftile schema suite > suite.schema.json   for an editor or validator\n"
                 "  rooftile schema                             which there are\n",
     .options = text_options,
     .max_args = 1,
     .run = cmd_schema},
    {.name = "completion",
     .args = "bash|zsh|fish",
     .summary = "print a completion script for a shell",
     .examples = "  source <(rooftile completion bash)        this shell only\n"
                 "  rooftile completion zsh -o ~/.zfunc/_rooftile\n"
                 "  rooftile completion fish -o ~/.config/fish/completions/rooftile.fish\n",
     .options = text_options,
     .min_args = 1,
     .max_args = 1,
     .run = cmd_completion},
    {.name = "man",
     .args = "",
     .summary = "print the man page (as mdoc source)",
     .examples = "  rooftile man | man -l -                   read it\n"
                 "  rooftile man -o rooftile.1\n",
     .options = text_options,
     .run = cmd_man},
    {.name = NULL},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
