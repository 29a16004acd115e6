/* SPDX-License-Identifier: MIT */
#include "completion_internal.h"
#include "options.h"

static void write_values(struct text *out)
{
    for (size_t id = OPT_END + 1; id < OPT_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        if (!row->argument)
            continue;
        text_addf(out, "        --%s", row->name);
        if (row->key)
            text_addf(out, "|-%c", row->key);
        text_add(out, ") ");
        if (row->choices) {
            text_add(out, "choices='");
            completion_choices(out, row->choices);
            text_add(out, "' ;;\n");
        } else if (row->complete == COMPLETE_DEVICE) {
            text_add(out, "choices=$(rooftile devices --names 2>/dev/null) ;;\n");
        } else if (row->complete == COMPLETE_FOLDER) {
            text_add(out, "kind=-d ;;\n");
        } else {
            text_addf(out, "%s ;;\n", row->complete == COMPLETE_FILE ? "kind=-f" : "return");
        }
    }
}

static void write_commands(struct text *out)
{
    for (const struct command *command = commands; command->name; command++) {
        enum option_id ids[OPT_COUNT];
        const size_t count = options_of(ids, command);
        const struct completion_kinds kinds = completion_kinds(command);
        text_addf(out, "        %s) opts='", command->name);
        for (size_t k = 0; k < count; k++)
            text_addf(out, "%s--%s", k ? " " : "", option_rows[ids[k]].name);
        text_addf(out, "'; args='%s'", kinds.choices);
        if (kinds.names)
            text_add(out, "; names=yes");
        if (kinds.files)
            text_add(out, "; kind=-f");
        text_add(out, " ;;\n");
    }
}

static void write_start(struct text *out)
{
    text_add(out, "# bash completion of rooftile, written by 'rooftile completion bash'\n"
                  "_rooftile() {\n"
                  "    local line=${COMP_LINE:0:COMP_POINT} words=() last cur prev k\n"
                  "    local choices='' kind='' opts='' args='' names='' command=''\n"
                  "    # bash cuts words at ':' and '=' too, so they are cut again here\n"
                  "    read -ra words <<<\"$line\"\n"
                  "    [[ $line == *[[:space:]] ]] && words+=('')\n"
                  "    last=$((${#words[@]} - 1))\n"
                  "    cur=${words[last]} prev=${words[last - 1]}\n"
                  "    if [[ $cur == --*=* ]]; then prev=${cur%%=*} cur=${cur#*=}; fi\n"
                  "    COMPREPLY=()\n"
                  "    case $prev in\n");
}

static void write_end(struct text *out)
{
    text_add(out, "    esac\n"
                  "    if [[ $cur == -* ]]; then\n"
                  "        choices=$opts kind=''\n"
                  "    else\n"
                  "        choices=$args\n"
                  "        [[ -n $names ]] && choices+=\" $(rooftile list --names 2>/dev/null)\"\n"
                  "    fi\n"
                  "    mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
                  "    if [[ -n $kind ]]; then\n"
                  "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(\n"
                  "            compgen -f -X '!*.json' -- \"$cur\"\n"
                  "            compgen -d -S / -- \"$cur\"\n"
                  "        )\n"
                  "    fi\n"
                  "}\n"
                  "complete -F _rooftile rooftile\n");
}

void completion_bash(struct text *out)
{
    write_start(out);
    write_values(out);
    text_add(out, "    esac\n"
                  "    if [[ -n $choices || -n $kind ]]; then\n"
                  "        mapfile -t COMPREPLY < <(compgen ${kind:+$kind} ${choices:+-W \"$choices\"} -- \"$cur\")\n"
                  "        [[ -n $kind ]] && compopt -o filenames\n"
                  "        [[ $cur == *:* ]] && COMPREPLY=(\"${COMPREPLY[@]#\"${cur%\"${cur##*:}\"}\"}\")\n"
                  "        return\n"
                  "    fi\n"
                  "    for ((k = 1; k < last; k++)); do\n"
                  "        case ${words[k]} in -*) ;; *) command=${words[k]}; break ;; esac\n"
                  "    done\n"
                  "    case $command in\n"
                  "        '') opts='--help --version'; args='help");
    for (const struct command *command = commands; command->name; command++)
        text_addf(out, " %s", command->name);
    text_add(out, "' ;;\n");
    write_commands(out);
    write_end(out);
}
