/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "texts.h"

#define ANY_NUMBER SIZE_MAX

/* Only the names; texts/commands.txt has the rest. */
static struct command commands[] = {
    {.name = "run", .run = cmd_run, .min_args = 1, .max_args = ANY_NUMBER, .makes_file = true},
    {.name = "plan", .run = cmd_plan, .min_args = 1, .max_args = ANY_NUMBER},
    {.name = "build", .run = cmd_build, .max_args = ANY_NUMBER},
    {.name = "check", .run = cmd_check, .max_args = ANY_NUMBER, .makes_file = true},
    {.name = "roofline", .run = cmd_roofline, .max_args = 1, .makes_file = true},
    {.name = "list", .run = cmd_list, .max_args = ANY_NUMBER},
    {.name = "devices", .run = cmd_devices},
    {.name = "inspect", .run = cmd_inspect, .min_args = 1, .max_args = ANY_NUMBER},
    {.name = "codediff", .run = cmd_codediff, .min_args = 2, .max_args = ANY_NUMBER},
    {.name = "import", .run = cmd_import, .max_args = ANY_NUMBER},
    {.name = "report", .run = cmd_report, .max_args = ANY_NUMBER},
    {.name = "predict", .run = cmd_predict, .min_args = 1, .max_args = ANY_NUMBER},
    {.name = "explain", .run = cmd_explain, .min_args = 1, .max_args = ANY_NUMBER},
    {.name = "model-error", .run = cmd_model_error, .min_args = 1, .max_args = ANY_NUMBER},
    {.name = "merge", .run = cmd_merge, .min_args = 2, .max_args = ANY_NUMBER, .makes_file = true},
    {.name = "compare", .run = cmd_compare, .min_args = 2, .max_args = 2},
    {.name = "fleet", .run = cmd_fleet, .min_args = 1, .max_args = ANY_NUMBER},
    {.name = "aa", .run = cmd_aa, .min_args = 1, .max_args = ANY_NUMBER, .makes_file = true},
    {.name = "history", .run = cmd_history, .min_args = 1, .max_args = ANY_NUMBER, .prints_to_out = true},
    {.name = "schema", .run = cmd_schema, .max_args = 1, .prints_to_out = true},
    {.name = "completion", .run = cmd_completion, .min_args = 1, .max_args = ANY_NUMBER, .prints_to_out = true},
    {.name = "man", .run = cmd_man, .prints_to_out = true},
    {.name = NULL},
};

char *texts_cut(char **at, const char *end)
{
    char *start = *at, *found = strstr(start, end);
    *found = '\0';
    *at = found + strlen(end);
    return start;
}

/* Reads a block of the text: the command with its arguments, and on the next line its summary; examples; paragraphs of
 * details, if any; options, the main ones before a '|', and below them the formats if they are not those of a result.
 * Blank lines separate them. */
static void read_command(char *at)
{
    char *name = texts_cut(&at, "\n"), *args = strchr(name, ' ');
    struct command *command = commands;
    const size_t length = strcspn(name, " ");
    while (strncmp(command->name, name, length) || command->name[length])
        command++;
    command->args = args ? args + 1 : "";
    command->summary = texts_cut(&at, "\n\n");
    command->examples = texts_cut(&at, "\n\n");
    command->details = text_starts(at, "options: ") ? NULL : texts_cut(&at, "\n\noptions: ");
    command->options = command->details ? at : at + strlen("options: ");
    char *main_end = strchr(at, '|'), *formats = strstr(at, "\nformats: ");
    if (formats) {
        *formats = '\0';
        command->formats = formats + strlen("\nformats: ");
    }
    for (const char *p = command->options; *p && (!main_end || p < main_end);
         p += strcspn(p, " "), p += strspn(p, " |"))
        command->main_options++;
    if (main_end)
        *main_end = ' ';
    for (char *end = command->details ? strchr(command->details, '\n') : NULL; end; end = strchr(end, '\n'))
        if (end[1] == '\n')
            end += 2;
        else
            *end = ' '; /* within a paragraph */
}

const struct command *command_table(void)
{
    if (!commands[0].summary)
        for (char *at = cli_commands; *at;)
            read_command(texts_cut(&at, "\n%\n"));
    return commands;
}

const struct command *command_find(const char *name)
{
    for (const struct command *command = command_table(); command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
