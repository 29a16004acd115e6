/* SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "completion_internal.h"
#include "options.h"

static void write_option(struct text *out, const struct option_row *row)
{
    const bool repeats = row->kind == OPTION_LIST || row->kind == OPTION_PAIRS || row->kind == OPTION_SPLIT ||
                         row->kind == OPTION_COUNT_UP;
    const char *star = repeats ? "*" : "";
    struct text tail = {0};
    text_add(&tail, "[");
    completion_brief(&tail, row->help);
    text_add(&tail, "]");
    if (row->argument) {
        text_add(&tail, ":");
        for (const char *at = row->argument; isupper((unsigned char)*at); at++)
            text_addf(&tail, "%c", tolower((unsigned char)*at));
        text_add(&tail, ":");
    }
    if (row->choices) {
        text_add(&tail, "(");
        completion_choices(&tail, row->choices);
        text_add(&tail, ")");
    } else if (row->complete == COMPLETE_DEVICE) {
        text_add(&tail, "_rooftile_devices");
    } else if (row->complete != COMPLETE_NOTHING) {
        text_add(&tail, row->complete == COMPLETE_FOLDER ? "_files -/" : "_files");
    }
    if (row->key)
        text_addf(out, " \\\n        '%s-%c%s%s'", star, row->key, row->argument ? "+" : "", tail.data);
    text_addf(out, " \\\n        '%s--%s%s%s'", star, row->name, row->argument ? "=" : "", tail.data);
    text_release(&tail);
}

static void write_commands(struct text *out)
{
    for (const struct command *command = commands; command->name; command++) {
        enum option_id ids[OPT_COUNT];
        const size_t count = options_of(ids, command);
        const struct completion_kinds kinds = completion_kinds(command);
        text_addf(out, "    %s) _arguments -S", command->name);
        for (size_t k = 0; k < count; k++)
            write_option(out, &option_rows[ids[k]]);
        if (kinds.choices[0])
            text_addf(out, " \\\n        '1:%s:(%s)'", command->name, kinds.choices);
        else if (kinds.names)
            text_add(out, " \\\n        '*:kernel or suite:_rooftile_names'");
        else if (kinds.files)
            text_add(out, " \\\n        '*:result:_files -g \"*.json\"'");
        text_add(out, " ;;\n");
    }
}

void completion_zsh(struct text *out)
{
    text_add(out, "#compdef rooftile\n"
                  "# zsh completion of rooftile, written by 'rooftile completion zsh'\n"
                  "_rooftile_names() {\n"
                  "    local -a names=(${(f)\"$(rooftile list --names 2>/dev/null)\"})\n"
                  "    _alternative 'names:kernel or suite:compadd -a names' 'files:suite file:_files -g \"*.json\"'\n"
                  "}\n"
                  "_rooftile_devices() {\n"
                  "    local -a names=(${(f)\"$(rooftile devices --names 2>/dev/null)\"})\n"
                  "    compadd -a names\n"
                  "}\n"
                  "_rooftile() {\n"
                  "    local curcontext=$curcontext state line\n"
                  "    local -a commands=(\n");
    for (const struct command *command = commands; command->name; command++) {
        text_addf(out, "        '%s:", command->name);
        completion_brief(out, command->summary);
        text_add(out, "'\n");
    }
    text_add(out, "    )\n"
                  "    _arguments -C '(- *)--help[show help]' '(- *)--version[show the version]' \\\n"
                  "        '1:command:->command' '*::argument:->argument' && return\n"
                  "    if [[ $state == command ]]; then _describe command commands; return; fi\n"
                  "    case $line[1] in\n");
    write_commands(out);
    text_add(out, "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _rooftile ]]; then _rooftile \"$@\"; else compdef _rooftile rooftile; fi\n");
}
