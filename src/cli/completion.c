/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "pages.h"

/* ---- what shells have in common ---- */

/* How a shell is told what the value of an option may be. */
struct values {
    const char *choices, *choices_end; /* around the words */
    const char *device, *folder, *file, *other;
};

static void add_values(struct text *out, const struct values *values, const struct option_row *row)
{
    const char *const completes[] = {[COMPLETE_NOTHING] = values->other,
                                     [COMPLETE_FILE] = values->file,
                                     [COMPLETE_FOLDER] = values->folder,
                                     [COMPLETE_DEVICE] = values->device};
    text_add(out, row->choices ? values->choices : completes[row->complete]);
    for (size_t k = 0; row->choices && row->choices[k]; k++)
        text_addf(out, "%s%s", k ? " " : "", row->choices[k]);
    text_add(out, row->choices ? values->choices_end : "");
}

/* What may stand as an argument of a command, from its `args`: words in small letters are choices, capitals are kinds.
 */
static bool takes_names(const struct command *command) /* of kernels and suites */
{
    return strstr(command->args, "KERNEL") || strstr(command->args, "SUITE");
}

static bool takes_files(const struct command *command)
{
    return strstr(command->args, "SUITE") || strstr(command->args, "RESULT") || strstr(command->args, "FILE");
}

/* The choices between `before` and `after`; nothing where there are none. */
static bool add_argument_choices(struct text *out, const char *before, const struct command *command, const char *after)
{
    static const char small[] = "abcdefghijklmnopqrstuvwxyz";
    const char *at = command->args + strcspn(command->args, small);
    if (!*at)
        return false;
    text_add(out, before);
    for (const char *gap = ""; *at; gap = " ") {
        const size_t length = strspn(at, small);
        text_add(out, gap);
        text_addn(out, at, length);
        at += length;
        at += strcspn(at, small);
    }
    text_add(out, after);
    return true;
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
    static const struct values values = {
        "choices='",    "' ;;\n",       "choices=$(rooftile devices --names 2>/dev/null) ;;\n",
        "kind=-d ;;\n", "kind=-f ;;\n", "return ;;\n"};
    for (size_t id = OPT_END + 1; id < OPT_COUNT; id++) {
        const struct option_row *row = &option_rows[id];
        if (!row->argument)
            continue;
        text_addf(out, "        --%s", row->name);
        if (row->key)
            text_addf(out, "|-%c", row->key);
        text_add(out, ") ");
        add_values(out, &values, row);
    }
}

static void bash_name(const struct page *page, const struct command *command)
{
    text_addf(page->out, " %s", command->name);
}

static void bash_begin(const struct page *page, const struct command *command)
{
    text_addf(page->out, "        %s) opts='", command->name);
}

static void bash_option(const struct page *page, const struct command *command, const struct option_row *row,
                        bool common, size_t index)
{
    text_addf(page->out, "%s--%s", index || (common && *command->options) ? " " : "", row->name);
}

static void bash_end(const struct page *page, const struct command *command)
{
    text_add(page->out, "'; args='");
    add_argument_choices(page->out, "", command, "");
    text_addf(page->out, "'%s%s ;;\n", takes_names(command) ? "; names=yes" : "",
              takes_files(command) ? "; kind=-f" : "");
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
                  "        [[ $cur == *:* ]] && COMPREPLY=(\"${COMPREPLY[@]#\"${cur%\"${cur##*:}\"}\"}\")\n"
                  "        return\n"
                  "    fi\n"
                  "    for ((k = 1; k < last; k++)); do\n"
                  "        case ${words[k]} in -*) ;; *) command=${words[k]}; break ;; esac\n"
                  "    done\n"
                  "    case $command in\n"
                  "        '') opts='--help --version'; args='help");
    page_walk(&(struct page){.out = out, .begin = bash_name}, NULL);
    text_add(out, "' ;;\n");
    page_walk(&(struct page){out, false, bash_begin, bash_option, bash_end}, NULL);
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

static void zsh_name(const struct page *page, const struct command *command)
{
    text_addf(page->out, "        '%s:", command->name);
    add_brief(page->out, command->summary);
    text_add(page->out, "'\n");
}

static void zsh_begin(const struct page *page, const struct command *command)
{
    text_addf(page->out, "    %s) _arguments -S", command->name);
}

static void zsh_option(const struct page *page, const struct command *command, const struct option_row *row,
                       bool common, size_t index)
{
    static const struct values values = {"(", ")", "_rooftile_devices", "_files -/", "_files", ""};
    (void)command, (void)common, (void)index;
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
    add_values(&tail, &values, row);
    if (row->key)
        text_addf(page->out, " \\\n        '%s-%c%s%s'", star, row->key, row->argument ? "+" : "", tail.data);
    text_addf(page->out, " \\\n        '%s--%s%s%s'", star, row->name, row->argument ? "=" : "", tail.data);
    text_release(&tail);
}

static void zsh_end(const struct page *page, const struct command *command)
{
    struct text before = {0};
    text_addf(&before, " \\\n        '1:%s:(", command->name);
    if (add_argument_choices(page->out, before.data, command, ")'"))
        text_add(page->out, " ;;\n");
    else if (takes_names(command))
        text_add(page->out, " \\\n        '*:kernel or suite:_rooftile_names' ;;\n");
    else
        text_add(page->out, takes_files(command) ? " \\\n        '*:result:_files -g \"*.json\"' ;;\n" : " ;;\n");
    text_release(&before);
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
                  "_rooftile() {\n"
                  "    local curcontext=$curcontext state line\n"
                  "    local -a commands=(\n");
    page_walk(&(struct page){.out = out, .begin = zsh_name}, NULL);
    text_add(out, "    )\n"
                  "    _arguments -C '(- *)--help[show help]' '(- *)--version[show the version]' \\\n"
                  "        '1:command:->command' '*::argument:->argument' && return\n"
                  "    if [[ $state == command ]]; then _describe command commands; return; fi\n"
                  "    case $line[1] in\n");
    page_walk(&(struct page){out, false, zsh_begin, zsh_option, zsh_end}, NULL);
    text_add(out, "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _rooftile ]]; then _rooftile \"$@\"; else compdef _rooftile rooftile; fi\n");
}

/* ---- fish ---- */

static void fish_line(struct text *out, const struct command *command)
{
    text_addf(out, "complete -c rooftile -n '__fish_seen_subcommand_from %s'", command->name);
}

static void fish_begin(const struct page *page, const struct command *command)
{
    text_addf(page->out, "complete -c rooftile -n __fish_use_subcommand -a %s -d '", command->name);
    add_brief(page->out, command->summary);
    text_add(page->out, "'\n");
}

static void fish_option(const struct page *page, const struct command *command, const struct option_row *row,
                        bool common, size_t index)
{
    static const struct values values = {
        " -x -a '", "'",  " -x -a '(rooftile devices --names 2>/dev/null)'", " -x -a '(__fish_complete_directories)'",
        " -r -F",   " -x"};
    (void)common, (void)index;
    fish_line(page->out, command);
    text_addf(page->out, " -l %s", row->name);
    if (row->key)
        text_addf(page->out, " -s %c", row->key);
    if (row->argument)
        add_values(page->out, &values, row);
    text_add(page->out, " -d '");
    add_brief(page->out, row->help);
    text_add(page->out, "'\n");
}

static void fish_end(const struct page *page, const struct command *command)
{
    struct text before = {0};
    fish_line(&before, command);
    text_add(&before, " -a '");
    add_argument_choices(page->out, before.data, command, "'\n");
    if (takes_names(command))
        text_addf(page->out, "%s(rooftile list --names 2>/dev/null)'\n", before.data);
    if (takes_files(command))
        text_addf(page->out, "%s(__fish_complete_suffix .json)'\n", before.data);
    text_release(&before);
}

static void completion_fish(struct text *out)
{
    text_add(out, "# fish completion of rooftile, written by 'rooftile completion fish'\n"
                  "complete -c rooftile -f\n"
                  "complete -c rooftile -n __fish_use_subcommand -l version -d 'show the version'\n"
                  "complete -c rooftile -n __fish_use_subcommand -l help -s h -d 'show help'\n");
    page_walk(&(struct page){out, false, fish_begin, fish_option, fish_end}, NULL);
}

/* ---- the command ---- */

const struct completion_shell completion_shells[] = {
    {"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}, {NULL, NULL}};

int cmd_completion(const struct cli_options *options, struct arena *arena)
{
    struct err err = {0};
    struct text text = {0};
    const char **names = NULL, *name = options->args[0];
    size_t count = 0;
    const struct completion_shell *shell = completion_shells;
    for (; shell->name && strcmp(shell->name, name) != 0; shell++)
        ARENA_PUSH(arena, names, count, shell->name);
    if (!shell->name) {
        err_set(&err, ERR_USAGE, "unknown shell '%s'", name);
        err_nearest(&err, name, names, count, "there are bash, zsh and fish");
        return cli_fail(&err);
    }
    shell->write(&text);
    const enum status status = cli_write(options->out, &text, &err);
    text_release(&text);
    return status ? cli_fail(&err) : 0;
}
