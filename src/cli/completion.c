/* SPDX-License-Identifier: MIT */
#include "completion.h"

#include <ctype.h>
#include <string.h>

#include "options.h"

/* What may stand as an argument of a command, from its `args`: words in small letters are choices, capitals are kinds.
 */
struct argument_kinds {
    bool names; /* kernels and suites */
    bool files;
    char choices[128]; /* separated by spaces */
};

static struct argument_kinds kinds_of(const struct command *command)
{
    struct argument_kinds kinds = {0};
    struct text choices = {0};
    for (const char *at = command->args; *at;) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        if (length) {
            text_addn(&choices, at, length);
            text_add(&choices, " ");
        }
        at += length ? length : 1;
    }
    kinds.names = strstr(command->args, "KERNEL") || strstr(command->args, "SUITE");
    kinds.files = strstr(command->args, "SUITE") || strstr(command->args, "RESULT");
    if (choices.length && choices.length < sizeof(kinds.choices))
        memcpy(kinds.choices, choices.data, choices.length - 1);
    text_release(&choices);
    return kinds;
}

static void add_choices(struct text *out, const char *const *choices)
{
    for (size_t k = 0; choices[k]; k++)
        text_addf(out, "%s%s", k ? " " : "", choices[k]);
}

/* Help for one line of a menu: up to the first semicolon or bracket, without what a shell would take for its own. */
static void add_brief(struct text *out, const char *help)
{
    const size_t length = strcspn(help, ";(:");
    size_t end = length;
    while (end && help[end - 1] == ' ')
        end--;
    for (size_t k = 0; k < end; k++)
        if (!strchr("'\"`$\\[]", help[k]))
            text_addn(out, help + k, 1);
}

/* ---- bash ---- */

static void bash_value_cases(struct text *out)
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
            text_add(out, "words='");
            add_choices(out, row->choices);
            text_add(out, "' ;;\n");
        } else if (row->complete == COMPLETE_DEVICE) {
            text_add(out, "words=$(rooftile devices --names 2>/dev/null) ;;\n");
        } else if (row->complete == COMPLETE_FOLDER) {
            text_add(out, "kind=-d ;;\n");
        } else {
            text_addf(out, "%s ;;\n", row->complete == COMPLETE_FILE ? "kind=-f" : "return");
        }
    }
}

static void bash_command_cases(struct text *out)
{
    for (const struct command *command = commands; command->name; command++) {
        enum option_id ids[OPT_COUNT];
        const size_t count = options_of(ids, command);
        const struct argument_kinds kinds = kinds_of(command);
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

static void write_bash(struct text *out)
{
    text_add(
        out,
        "# bash completion of rooftile, written by 'rooftile completion bash'\n"
        "_rooftile() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
        "    local words= kind= opts= args= names= command= k\n"
        "    COMPREPLY=()\n"
        "    # --opt=value comes as three words\n"
        "    if [[ $cur == '=' ]]; then cur=; elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
        "    case $prev in\n");
    bash_value_cases(out);
    text_add(out, "    esac\n"
                  "    if [[ -n $words || -n $kind ]]; then\n"
                  "        mapfile -t COMPREPLY < <(compgen ${kind:+$kind} ${words:+-W \"$words\"} -- \"$cur\")\n"
                  "        [[ -n $kind ]] && compopt -o filenames\n"
                  "        [[ $words == *:* && $cur == *:* || $prev == *: ]] && declare -F __ltrim_colon_completions "
                  ">/dev/null &&\n"
                  "            __ltrim_colon_completions \"$cur\"\n"
                  "        return\n"
                  "    fi\n"
                  "    for ((k = 1; k < COMP_CWORD; k++)); do\n"
                  "        case ${COMP_WORDS[k]} in -*) ;; *) command=${COMP_WORDS[k]}; break ;; esac\n"
                  "    done\n"
                  "    case $command in\n"
                  "        '') opts='--help --version'; args='help");
    for (const struct command *command = commands; command->name; command++)
        text_addf(out, " %s", command->name);
    text_add(out, "' ;;\n");
    bash_command_cases(out);
    text_add(out, "    esac\n"
                  "    if [[ $cur == -* ]]; then\n"
                  "        words=$opts kind=\n"
                  "    else\n"
                  "        words=$args\n"
                  "        [[ -n $names ]] && words+=\" $(rooftile list --names 2>/dev/null)\"\n"
                  "    fi\n"
                  "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                  "    if [[ -n $kind ]]; then\n"
                  "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X '!*.json' -- \"$cur\"; compgen "
                  "-d -S / -- \"$cur\")\n"
                  "    fi\n"
                  "}\n"
                  "complete -F _rooftile rooftile\n");
}

/* ---- zsh ---- */

static void zsh_option(struct text *out, const struct option_row *row)
{
    const bool repeats = row->kind == OPTION_LIST || row->kind == OPTION_PAIRS || row->kind == OPTION_SPLIT ||
                         row->kind == OPTION_COUNT_UP;
    const char *star = repeats ? "*" : "";
    struct text tail = {0};
    text_add(&tail, "[");
    add_brief(&tail, row->help);
    text_add(&tail, "]");
    if (row->argument) {
        text_add(&tail, ":");
        for (const char *at = row->argument; isupper((unsigned char)*at); at++)
            text_addf(&tail, "%c", tolower((unsigned char)*at));
        text_add(&tail, ":");
    }
    if (row->choices) {
        text_add(&tail, "(");
        add_choices(&tail, row->choices);
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

static void zsh_commands(struct text *out)
{
    for (const struct command *command = commands; command->name; command++) {
        enum option_id ids[OPT_COUNT];
        const size_t count = options_of(ids, command);
        const struct argument_kinds kinds = kinds_of(command);
        text_addf(out, "    %s) _arguments -S", command->name);
        for (size_t k = 0; k < count; k++)
            zsh_option(out, &option_rows[ids[k]]);
        if (kinds.choices[0])
            text_addf(out, " \\\n        '1:%s:(%s)'", command->name, kinds.choices);
        else if (kinds.names)
            text_add(out, " \\\n        '*:kernel or suite:_rooftile_names'");
        else if (kinds.files)
            text_add(out, " \\\n        '*:result:_files -g \"*.json\"'");
        text_add(out, " ;;\n");
    }
}

static void write_zsh(struct text *out)
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
        add_brief(out, command->summary);
        text_add(out, "'\n");
    }
    text_add(out, "    )\n"
                  "    _arguments -C '(- *)--help[show help]' '(- *)--version[show the version]' \\\n"
                  "        '1:command:->command' '*::argument:->argument' && return\n"
                  "    if [[ $state == command ]]; then _describe command commands; return; fi\n"
                  "    case $line[1] in\n");
    zsh_commands(out);
    text_add(out, "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _rooftile ]]; then _rooftile \"$@\"; else compdef _rooftile rooftile; fi\n");
}

/* ---- fish ---- */

static void fish_option(struct text *out, const struct command *command, const struct option_row *row)
{
    text_addf(out, "complete -c rooftile -n '__fish_seen_subcommand_from %s' -l %s", command->name, row->name);
    if (row->key)
        text_addf(out, " -s %c", row->key);
    if (row->choices) {
        text_add(out, " -x -a '");
        add_choices(out, row->choices);
        text_add(out, "'");
    } else if (row->complete == COMPLETE_DEVICE) {
        text_add(out, " -x -a '(rooftile devices --names 2>/dev/null)'");
    } else if (row->complete == COMPLETE_FOLDER) {
        text_add(out, " -x -a '(__fish_complete_directories)'");
    } else if (row->argument) {
        text_add(out, row->complete == COMPLETE_FILE ? " -r -F" : " -x");
    }
    text_add(out, " -d '");
    add_brief(out, row->help);
    text_add(out, "'\n");
}

static void fish_command(struct text *out, const struct command *command)
{
    enum option_id ids[OPT_COUNT];
    const size_t count = options_of(ids, command);
    const struct argument_kinds kinds = kinds_of(command);
    text_addf(out, "complete -c rooftile -n __fish_use_subcommand -a %s -d '", command->name);
    add_brief(out, command->summary);
    text_add(out, "'\n");
    for (size_t k = 0; k < count; k++)
        fish_option(out, command, &option_rows[ids[k]]);
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

static void write_fish(struct text *out)
{
    text_add(out, "# fish completion of rooftile, written by 'rooftile completion fish'\n"
                  "complete -c rooftile -f\n"
                  "complete -c rooftile -n __fish_use_subcommand -l version -d 'show the version'\n"
                  "complete -c rooftile -n __fish_use_subcommand -l help -s h -d 'show help'\n");
    for (const struct command *command = commands; command->name; command++)
        fish_command(out, command);
}

const struct completion_shell completion_shells[] = {
    {"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}, {NULL, NULL}};
