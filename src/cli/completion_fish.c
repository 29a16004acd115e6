/* SPDX-License-Identifier: MIT */
#include "completion_internal.h"
#include "options.h"

static void write_option(struct text *out, const struct command *command, const struct option_row *row)
{
    text_addf(out, "complete -c rooftile -n '__fish_seen_subcommand_from %s' -l %s", command->name, row->name);
    if (row->key)
        text_addf(out, " -s %c", row->key);
    if (row->choices) {
        text_add(out, " -x -a '");
        completion_choices(out, row->choices);
        text_add(out, "'");
    } else if (row->complete == COMPLETE_DEVICE) {
        text_add(out, " -x -a '(rooftile devices --names 2>/dev/null)'");
    } else if (row->complete == COMPLETE_FOLDER) {
        text_add(out, " -x -a '(__fish_complete_directories)'");
    } else if (row->argument) {
        text_add(out, row->complete == COMPLETE_FILE ? " -r -F" : " -x");
    }
    text_add(out, " -d '");
    completion_brief(out, row->help);
    text_add(out, "'\n");
}

static void write_command(struct text *out, const struct command *command)
{
    enum option_id ids[OPT_COUNT];
    const size_t count = options_of(ids, command);
    const struct completion_kinds kinds = completion_kinds(command);
    text_addf(out, "complete -c rooftile -n __fish_use_subcommand -a %s -d '", command->name);
    completion_brief(out, command->summary);
    text_add(out, "'\n");
    for (size_t k = 0; k < count; k++)
        write_option(out, command, &option_rows[ids[k]]);
    if (kinds.choices[0])
        text_addf(out, "complete -c rooftile -n '__fish_seen_subcommand_from %s' -a '%s'\n", command->name,
                  kinds.choices);
    if (kinds.names)
        text_addf(out,
                  "complete -c rooftile -n '__fish_seen_subcommand_from %s' -a '(rooftile list --names 2>/dev/null)'\n",
                  command->name);
    if (kinds.files)
        text_addf(out, "complete -c rooftile -n '__fish_seen_subcommand_from %s' -a '(__fish_complete_suffix .json)'\n",
                  command->name);
}

void completion_fish(struct text *out)
{
    text_add(out, "# fish completion of rooftile, written by 'rooftile completion fish'\n"
                  "complete -c rooftile -f\n"
                  "complete -c rooftile -n __fish_use_subcommand -l version -d 'show the version'\n"
                  "complete -c rooftile -n __fish_use_subcommand -l help -s h -d 'show help'\n");
    for (const struct command *command = commands; command->name; command++)
        write_command(out, command);
}
