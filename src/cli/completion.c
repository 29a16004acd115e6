/* SPDX-License-Identifier: MIT */

#include "cli.h"

/* ---- what shells have in common ---- */

/* How a shell is told what the value of an option may be. */
struct values {
    const char *choices, *choices_end; /* around the words */
    const char *device, *folder, *file, *arch, *param, *other;
};

static void add_values(struct text *out, const struct values *values, const struct option_row *row)
{
    const char *const completes[] = {
        [COMPLETE_NOTHING] = values->other, [COMPLETE_FILE] = values->file, [COMPLETE_FOLDER] = values->folder,
        [COMPLETE_DEVICE] = values->device, [COMPLETE_ARCH] = values->arch, [COMPLETE_PARAM] = values->param};
    text_add(out, row->choices ? values->choices : completes[row->complete]);
    for (size_t k = 0; row->choices && row->choices[k]; k++)
        text_addf(out, "%s%s", k ? " " : "", row->choices[k]);
    text_add(out, row->choices ? values->choices_end : "");
}

/* What may stand as an argument of a command, from its `args`: words in small letters are choices, capitals are
 * kinds. */
static bool takes_names(const struct command *command) /* of kernels and suites */
{
    return strstr(command->args, "KERNEL") || strstr(command->args, "SUITE");
}

static bool takes_files(const struct command *command)
{
    return strstr(command->args, "SUITE") || strstr(command->args, "RESULT") || strstr(command->args, "FILE");
}

static const char small[] = "abcdefghijklmnopqrstuvwxyz";

static bool takes_choices(const struct command *command)
{
    return command->args[strcspn(command->args, small)];
}

static void add_argument_choices(struct text *out, const struct command *command)
{
    const char *at = command->args + strcspn(command->args, small);
    for (const char *gap = ""; *at; gap = " ") {
        const size_t length = strspn(at, small);
        text_addf(out, "%s%.*s", gap, (int)length, at);
        at += length + strcspn(at + length, small);
    }
}

/* Help for one line of a menu: up to the first semicolon, colon or bracket, without what a shell would take for its
 * own. */
static void add_brief(struct text *out, const char *help)
{
    size_t end = strcspn(help, ";(:");
    while (end && help[end - 1] == ' ')
        end--;
    for (size_t k = 0; k < end; k++)
        if (!strchr("'\"`$\\[]", help[k]))
            text_addn(out, help + k, 1);
}

/* ---- bash ---- */

static void bash_values(struct text *out)
{
    static const struct values values = {"choices='",
                                         "' ;;\n",
                                         "choices=$(rooftile devices --names 2>/dev/null) ;;\n",
                                         "kind=-d ;;\n",
                                         "kind=-f ;;\n",
                                         "choices=$(rooftile list --targets --names 2>/dev/null) ;;\n",
                                         "choices=$(rooftile list --params -- \"${words[@]:2}\" 2>/dev/null) ;;\n",
                                         "return ;;\n"};
    for (const struct option_row *row = option_rows; row->name; row++) {
        if (!row->argument)
            continue;
        text_addf(out, "        --%s", row->name);
        if (row->key)
            text_addf(out, "|-%c", row->key);
        text_add(out, ") ");
        add_values(out, &values, row);
    }
}

static void bash_command(struct text *out, const struct command *command)
{
    const struct option_row *rows[MOST_OPTIONS];
    const size_t count = options_of(rows, command);
    text_addf(out, "        %s) opts='", command->name);
    for (size_t k = 0; k < count; k++)
        text_addf(out, "%s--%s", k ? " " : "", rows[k]->name);
    text_add(out, "'; args='");
    add_argument_choices(out, command);
    text_addf(out, "'%s%s ;;\n", takes_names(command) ? "; names=yes" : "", takes_files(command) ? "; kind=-f" : "");
}

static void completion_bash(struct text *out)
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
    bash_values(out);
    text_add(out, "    esac\n"
                  "    if [[ -n $choices || -n $kind ]]; then\n"
                  "        mapfile -t COMPREPLY < <(compgen ${kind:+$kind} ${choices:+-W \"$choices\"} -- \"$cur\")\n"
                  "        [[ -n $kind ]] && compopt -o filenames\n"
                  "        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
                  "        [[ $cur == *[:=]* ]] && COMPREPLY=(\"${COMPREPLY[@]#\"${cur%\"${cur##*[:=]}\"}\"}\")\n"
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
    for (const struct command *command = commands; command->name; command++)
        bash_command(out, command);
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

/* ---- zsh ---- */

static void zsh_option(struct text *out, const struct option_row *row)
{
    static const struct values values = {
        "(", ")", "_rooftile_devices", "_files -/", "_files", "_rooftile_targets", "_rooftile_params", ""};
    const bool repeats = row->kind == OPTION_LIST || row->kind == OPTION_PAIRS || row->kind == OPTION_SPLIT ||
                         row->kind == OPTION_COUNT_UP;
    const char *star = repeats ? "*" : "";
    SCOPED(text_release) struct text tail = {0};
    text_add(&tail, "[");
    add_brief(&tail, row->help);
    text_add(&tail, "]");
    if (row->argument) {
        text_add(&tail, ":");
        for (const char *at = row->argument; isupper((unsigned char)*at); at++)
            text_addf(&tail, "%c", tolower((unsigned char)*at));
        text_add(&tail, ":");
    }
    add_values(&tail, &values, row);
    if (row->key)
        text_addf(out, " \\\n        '%s-%c%s%s'", star, row->key, row->argument ? "+" : "", tail.data);
    text_addf(out, " \\\n        '%s--%s%s%s'", star, row->name, row->argument ? "=" : "", tail.data);
}

static void zsh_command(struct text *out, const struct command *command)
{
    const struct option_row *rows[MOST_OPTIONS];
    const size_t count = options_of(rows, command);
    text_addf(out, "    %s) _arguments -S", command->name);
    for (size_t k = 0; k < count; k++)
        zsh_option(out, rows[k]);
    if (takes_choices(command)) {
        text_addf(out, " \\\n        '1:%s:(", command->name);
        add_argument_choices(out, command);
        text_add(out, ")'");
    } else if (takes_names(command)) {
        text_add(out, " \\\n        '*:kernel or suite:_rooftile_names'");
    } else if (takes_files(command)) {
        text_add(out, " \\\n        '*:result:_files -g \"*.json\"'");
    }
    text_add(out, " ;;\n");
}

static void completion_zsh(struct text *out)
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
                  "_rooftile_targets() {\n"
                  "    local -a names=(${(f)\"$(rooftile list --targets --names 2>/dev/null)\"})\n"
                  "    compadd -a names\n"
                  "}\n"
                  "_rooftile_params() {\n"
                  "    local -a names=(${(f)\"$(rooftile list --params -- $words 2>/dev/null)\"})\n"
                  "    compadd -S '' -a names\n"
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
    for (const struct command *command = commands; command->name; command++)
        zsh_command(out, command);
    text_add(out, "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _rooftile ]]; then _rooftile \"$@\"; else compdef _rooftile rooftile; fi\n");
}

/* ---- fish ---- */

static void fish_option(struct text *out, const char *line, const struct option_row *row)
{
    static const struct values values = {" -x -a '",
                                         "'",
                                         " -x -a '(rooftile devices --names 2>/dev/null)'",
                                         " -x -a '(__fish_complete_directories)'",
                                         " -r -F",
                                         " -x -a '(rooftile list --targets --names 2>/dev/null)'",
                                         " -x -a '(rooftile list --params -- (commandline -opc) 2>/dev/null)'",
                                         " -x"};
    text_addf(out, "%s -l %s", line, row->name);
    if (row->key)
        text_addf(out, " -s %c", row->key);
    if (row->argument)
        add_values(out, &values, row);
    text_add(out, " -d '");
    add_brief(out, row->help);
    text_add(out, "'\n");
}

static void completion_fish(struct text *out)
{
    text_add(out, "# fish completion of rooftile, written by 'rooftile completion fish'\n"
                  "complete -c rooftile -f\n"
                  "complete -c rooftile -n __fish_use_subcommand -l version -d 'show the version'\n"
                  "complete -c rooftile -n __fish_use_subcommand -l help -s h -d 'show help'\n");
    for (const struct command *command = commands; command->name; command++) {
        const struct option_row *rows[MOST_OPTIONS];
        const size_t count = options_of(rows, command);
        SCOPED(text_release) struct text line = {0};
        text_addf(&line, "complete -c rooftile -n '__fish_seen_subcommand_from %s'", command->name);
        text_addf(out, "complete -c rooftile -n __fish_use_subcommand -a %s -d '", command->name);
        add_brief(out, command->summary);
        text_add(out, "'\n");
        for (size_t k = 0; k < count; k++)
            fish_option(out, line.data, rows[k]);
        if (takes_choices(command)) {
            text_addf(out, "%s -a '", line.data);
            add_argument_choices(out, command);
            text_add(out, "'\n");
        }
        if (takes_names(command))
            text_addf(out, "%s -a '(rooftile list --names 2>/dev/null)'\n", line.data);
        if (takes_files(command))
            text_addf(out, "%s -a '(__fish_complete_suffix .json)'\n", line.data);
    }
}

/* ---- the command ---- */

const struct completion_shell completion_shells[] = {
    {"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}, {NULL, NULL}};

enum status cmd_completion(struct call *call, struct err *err)
{
    const char *name = call->options->args[0];
    for (const struct completion_shell *shell = completion_shells; shell->name; shell++)
        if (!strcmp(shell->name, name)) {
            shell->write(&call->out);
            return STATUS_OK;
        }
    return err_set(err, ERR_USAGE, "there is no completion for '%s', only for bash, zsh and fish", name);
}
