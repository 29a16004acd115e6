/* SPDX-License-Identifier: MIT
 *
 * The man page: the --help text of every command, and general sections. Text is copied verbatim, so that options and
 * examples have only one layout.
 */

#include "cli.h"
#include "rooftile_version.h"
#include "texts.h"

/* Copies lines verbatim; a leading dot must be escaped, since it would be a request. */
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

static void man_page(struct text *out)
{
    const struct report_options look = {.verbose = true};
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
    for (const struct command *command = command_table(); command->name; command++) {
        SCOPED(text_release) struct text help = {0};
        help_command(&help, command, &look);
        text_addf(out, ".Ss rooftile %s\n", command->name);
        add_lines(out, help.data);
    }
    text_add(out, cli_man_facts);
}

enum status cmd_man(struct call *call, UNUSED struct err *err)
{
    man_page(&call->out);
    return STATUS_OK;
}
