/* SPDX-License-Identifier: MIT
 *
 * The man page: what --help prints of every command, and what no command's help has. Text is set as it stands, so that
 * there is one layout of options and examples.
 */

#include "cli.h"
#include "rooftile_version.h"

struct fact {
    const char *name, *meaning;
};

static const struct fact variables[] = {
    {"ROOFTILE_DEVICE", "the device, when there is no --device"},
    {"ROOFTILE_KERNELS", "folders with kernels, separated by colons, instead of the built-in ones"},
    {"ROOFTILE_CONFIGS", "folder with suites, machines and schemas instead of the built-in one"},
    {"ROOFTILE_KERNEL_COMPILER", "the compiler of kernels"},
    {"ROOFTILE_COMPILE_TIMEOUT", "how many seconds one compilation may take; 1200"},
    {"ROOFTILE_OBJDUMP", "the disassembler of kernels, an llvm-objdump"},
    {"ROOFTILE_NVDISASM", "the disassembler of kernels for NVIDIA, an nvdisasm or cuobjdump"},
    {"ROOFTILE_CACHE", "folder of compiled kernels, instead of ~/.cache/rooftile"},
    {"ROOFTILE_DATA", "folder of measured ceilings, instead of ~/.local/share/rooftile"},
    {"ROOFTILE_HISTORY", "the history's file, when there is no --db"},
    {"ROOFTILE_BUSY_MS", "how long to wait while another program writes to the history; 10000"},
    {"ROOFTILE_HIP_LIBRARY", "the libamdhip64 to load, instead of the newest found"},
    {"ROOFTILE_OPENBLAS", "the OpenBLAS to load on the CPU device, instead of libopenblas.so.0"},
    {"ROOFTILE_CUBLASLT", "the libcublasLt to load on NVIDIA GPUs, instead of the newest found"},
    {"ROOFTILE_CUBLAS", "the libcublas to load on NVIDIA GPUs, instead of the newest found"},
    {"ROOFTILE_HIPBLASLT", "the libhipblaslt to load on AMD GPUs, instead of the newest found"},
    {"ROOFTILE_ROCBLAS", "the librocblas to load on AMD GPUs, instead of the newest found"},
    {"ROOFTILE_SYSFS", "where the kernel's files about GPUs are, instead of /sys"},
    {"ROOFTILE_CUDA_LIBRARY", "the libcuda.so.1 to load, instead of the driver's"},
    {"ROOFTILE_NVML_LIBRARY", "the libnvidia-ml.so.1 to load, for power, clocks and temperature of NVIDIA GPUs"},
    {"ROOFTILE_NVTX_LIBRARY",
     "a libnvToolsExt that marks ranges, with --profile, instead of the tool in NVTX_INJECTION64_PATH"},
    {"ROOFTILE_ROCTX_LIBRARY", "the library that marks ranges for a profiler, with --profile, on AMD GPUs"},
    {"COLUMNS", "how wide tables and sentences are where standard output is no terminal (default: 100); messages, "
                "findings and listings are whole lines, for grep"},
    {"NO_COLOR", "when not empty: no colours"},
    {NULL, NULL},
};

static const struct fact files[] = {
    {"PREFIX/share/rooftile/kernels", "kernels, each a source file and a manifest"},
    {"PREFIX/share/rooftile/configs", "suites, machine files and schemas"},
    {"~/.cache/rooftile", "compiled kernels; may be deleted at any time"},
    {"~/.local/share/rooftile/machines", "the ceilings that 'rooftile roofline' measured"},
    {NULL, NULL},
};

static const struct fact exit_codes[] = {
    {"0", "ok"},
    {"1", "findings: a wrong result, a crash, a speed beyond a physical peak"},
    {"2", "usage or configuration"},
    {"3", "could not measure, or nothing was measured"},
    {"4", "inconclusive, or time ran out, with --strict"},
    {"130", "interrupted; the partial result is valid"},
    {NULL, NULL},
};

/* Lines as they stand; one that begins with a dot would be a request. */
static void add_lines(struct text *out, const char *lines)
{
    text_add(out, ".Bd -literal -compact\n");
    for (const char *line = lines; *line;) {
        SCOPED(text_release) struct text one = {0};
        const size_t length = strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
        text_addn(&one, line, length);
        text_add(out, *line == '.' ? "\\&" : "");
        text_add_escaped(out, ESCAPE_ROFF, one.data);
        line += length;
    }
    text_add(out, ".Ed\n");
}

static void add_facts(struct text *out, const char *section, const struct fact *facts)
{
    text_addf(out, ".Sh %s\n.Bl -tag -width 130\n", section);
    for (const struct fact *fact = facts; fact->name; fact++) {
        text_add(out, ".It \"");
        text_add_escaped(out, ESCAPE_ROFF, fact->name);
        text_add(out, "\"\n");
        text_add_escaped(out, ESCAPE_ROFF, fact->meaning);
        text_add(out, "\n");
    }
    text_add(out, ".El\n");
}

static void man_page(struct text *out)
{
    const struct report_options look = {0};
    text_add(out, ".\\\" SPDX-License-Identifier: MIT\n.\\\" Written by 'rooftile man'.\n"
                  ".Dd " ROOFTILE_DATE "\n.Dt ROOFTILE 1\n.Os \"rooftile " ROOFTILE_VERSION "\"\n"
                  ".Sh NAME\n.Nm rooftile\n.Nd measure GPU kernels against the roofline of the machine\n"
                  ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar option ...\n.Op Ar argument ...\n"
                  ".Nm\n.Fl \\-version\n.Op Fl \\-json Op Ar file\n"
                  ".Sh DESCRIPTION\n"
                  "Options and arguments may be mixed; a long option is written in full, and its value as\n"
                  ".Ql \\-\\-option value\nor\n.Ql \\-\\-option=value .\n"
                  "If an option is given twice, the last one counts, unless it is repeatable.\n"
                  "Results go to standard output, everything else to standard error.\n.Pp\n");
    SCOPED(text_release) struct text overview = {0};
    help_overview(&overview, &look);
    add_lines(out, overview.data);
    text_add(out, ".Sh COMMANDS\n");
    for (const struct command *command = commands; command->name; command++) {
        SCOPED(text_release) struct text help = {0};
        help_command(&help, command, &look);
        text_addf(out, ".Ss rooftile %s\n", command->name);
        add_lines(out, help.data);
    }
    add_facts(out, "ENVIRONMENT", variables);
    add_facts(out, "FILES", files);
    add_facts(out, "EXIT STATUS", exit_codes);
}

enum status cmd_man(struct call *call, UNUSED struct err *err)
{
    man_page(&call->out);
    return STATUS_OK;
}
