/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "rooftile_version.h"

#define LINE_COLUMNS 66 /* of the source; escapes make a line longer */

/* ---- roff ---- */

/* Lines of text; a line that starts with a dot would be a request. */
static void add_lines(struct text *out, const char *lines)
{
    for (const char *line = lines; *line;) {
        SCOPED(text_release) struct text one = {0};
        const size_t length = strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
        text_addn(&one, line, length);
        text_add(out, *line == '.' ? "\\&" : "");
        text_add_escaped(out, ESCAPE_ROFF, one.data);
        line += length;
    }
}

/* Lines of a moderate length, each sentence on a new one, as mdoc wants it. */
static void add_sentences(struct text *out, const char *words)
{
    while (*words) {
        SCOPED(text_release) struct text lines = {0}, sentence = {0};
        const size_t line = strcspn(words, "\n");
        const char *stop = memmem(words, line, ". ", 2);
        const size_t length = stop ? (size_t)(stop - words) + 1 : line;
        text_addn(&sentence, words, length);
        text_add_wrapped(&lines, sentence.data, 0, 0, LINE_COLUMNS);
        text_add(&lines, "\n");
        add_lines(out, lines.data);
        words += length + strspn(words + length, " ");
        if (*words == '\n') {
            text_add(out, ".Pp\n");
            words += strspn(words, "\n");
        }
    }
}

/* What the tables have without a capital and a full stop. */
static void add_sentence(struct text *out, const char *words, bool capital)
{
    SCOPED(text_release) struct text sentence = {0};
    text_addf(&sentence, "%s.", words);
    if (capital)
        sentence.data[0] = (char)toupper((unsigned char)sentence.data[0]);
    add_sentences(out, sentence.data);
}

/* An argument of a macro: quoted when it has spaces or could be taken for a macro or punctuation. */
static void add_argument(struct text *out, const char *word)
{
    text_add(out, " \"");
    text_add_escaped(out, ESCAPE_ROFF, word);
    text_add(out, "\"");
}

static void add_example_block(struct text *out, const char *examples)
{
    text_add(out, ".Bd -literal -compact\n");
    add_lines(out, examples);
    text_add(out, ".Ed\n");
}

/* ---- parts ---- */

static void add_option(struct text *out, const struct option_row *row)
{
    text_add(out, ".It");
    if (row->key)
        text_addf(out, " Fl %c ,", row->key);
    text_add(out, " Fl \\-");
    text_add_escaped(out, ESCAPE_ROFF, row->name);
    if (row->argument) {
        text_add(out, " Ar");
        add_argument(out, row->argument);
    }
    text_add(out, "\n");
    add_sentence(out, row->help, !row->choices); /* the name of a choice stays as it is typed */
}

static void add_options(struct text *out, const struct option_row *const *rows, size_t count)
{
    text_add(out, ".Bl -tag -width Ds\n");
    for (size_t k = 0; k < count; k++)
        add_option(out, rows[k]);
    text_add(out, ".El\n");
}

/* The common options have a section of their own. */
static void add_command(struct text *out, const struct command *command)
{
    const struct option_row *rows[MOST_OPTIONS];
    const size_t own = options_of(rows, command) - COMMON_COUNT;
    text_addf(out, ".Ss rooftile %s%s", command->name, *command->args ? " " : "");
    text_add_escaped(out, ESCAPE_ROFF, command->args);
    text_add(out, "\n");
    add_sentence(out, command->summary, true);
    text_add(out, ".Pp\n");
    add_example_block(out, command->examples);
    add_options(out, rows, own);
    if (command->details) {
        text_add(out, ".Pp\n");
        add_sentences(out, command->details);
    }
}

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

/* A section with a list of names and what they mean. */
static void add_facts(struct text *out, const char *section, const char *width, const char *macro,
                      const struct fact *facts)
{
    text_addf(out, ".Sh %s\n.Bl -tag -width %s\n", section, width);
    for (const struct fact *fact = facts; fact->name; fact++) {
        text_addf(out, ".It%s", macro);
        add_argument(out, fact->name);
        text_add(out, "\n");
        add_sentences(out, fact->meaning);
    }
    text_add(out, ".El\n");
}

/* "2026-01-31" as mdoc wants it: "January 31, 2026". */
static void add_date(struct text *out, const char *date)
{
    static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                         "July",    "August",   "September", "October", "November", "December"};
    unsigned year = 0, month = 0, day = 0;
    if (sscanf(date, "%4u-%2u-%2u", &year, &month, &day) == 3 && month >= 1 && month <= 12)
        text_addf(out, ".Dd %s %u, %u\n", months[month - 1], day, year);
    else
        text_addf(out, ".Dd %s\n", date);
}

void man_page(struct text *out)
{
    text_add(out, ".\\\" SPDX-License-Identifier: MIT\n.\\\" Written by 'rooftile man'.\n");
    add_date(out, ROOFTILE_DATE);
    text_add(out, ".Dt ROOFTILE 1\n.Os \"rooftile " ROOFTILE_VERSION "\"\n"
                  ".Sh NAME\n.Nm rooftile\n.Nd measure GPU kernels against the roofline of the machine\n"
                  ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar option ...\n.Op Ar argument ...\n"
                  ".Nm\n.Fl \\-version\n.Op Fl \\-json Op Ar file\n"
                  ".Sh DESCRIPTION\n");
    add_sentences(out, overview_summary);
    text_add(out, ".Pp\nOptions and arguments may be mixed; a long option is written in full, and its value as\n"
                  ".Ql \\-\\-option value\nor\n.Ql \\-\\-option=value .\n"
                  "Of an option given twice the last one counts, unless it is repeatable.\n"
                  "Results go to standard output, everything else to standard error.\n"
                  ".Sh COMMANDS\n");
    for (const struct command *command = commands; command->name; command++)
        add_command(out, command);
    const struct option_row *rows[MOST_OPTIONS];
    text_add(out, ".Ss Common options\n"
                  "Every command takes these, and they may also stand before it.\n");
    add_options(out, rows, options_of(rows, NULL));
    add_facts(out, "ENVIRONMENT", "Ds", " Ev", variables);
    add_facts(out, "FILES", "Ds", " Pa", files);
    add_facts(out, "EXIT STATUS", "130", "", exit_codes);
    text_add(out, ".Sh EXAMPLES\n");
    add_example_block(out, overview_examples);
}

enum status cmd_man(struct call *call, UNUSED struct err *err)
{
    man_page(&call->out);
    return STATUS_OK;
}
