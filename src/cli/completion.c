/* SPDX-License-Identifier: MIT
 *
 * Shell completion: the program completes itself. A shell's script calls `rooftile completion words -- WORD...` with
 * the words of its line and gets the candidates for the last one: one per line, followed by a tab and a description. A
 * last line :file, :folder or :json requests the shell's own files of that kind.
 */

#include "cli.h"
#include "rooftile/targets.h"
#include "texts.h"

static const struct {
    const char *name, *script;
} shells[] = {{"bash", cli_bash}, {"zsh", cli_zsh}, {"fish", cli_fish}};

/* The word to complete. */
struct word {
    struct call *call;
    const char *const *words; /* all words of the line after "rooftile" */
    size_t count;
    const char *option; /* "--option=" if the value is attached to it, else "" */
    const char *start;  /* the required beginning of candidates */
};

/* Offers one candidate, with its help up to where details begin. */
static void offer(const struct word *word, const char *candidate, size_t length, const char *help)
{
    SCOPED(text_release) struct text whole = {0};
    text_addn(&whole, candidate, length);
    if (!text_starts(whole.data, word->start))
        return;
    text_addf(&word->call->out, "%s%s", word->option, whole.data);
    text_addf(&word->call->out, "%s%.*s\n", help ? "\t" : "", help ? (int)strcspn(help, ";(:") : 0, help ? help : "");
}

/* Offers the lines that `rooftile COMMAND FLAG [-- the words of the line]` prints, which are names. */
static void offer_lines(const struct word *word, const char *command, const char *flag, bool with_words)
{
    struct arena *arena = word->call->arena;
    struct cli_options options;
    struct call asked = {.options = &options, .arena = arena};
    struct err err = {0};
    int argc = 0;
    char **argv = arena_array(arena, word->count + 3, sizeof(*argv));
    argv[argc++] = arena_strdup(arena, "rooftile");
    argv[argc++] = arena_strdup(arena, flag);
    argv[argc++] = arena_strdup(arena, "--");
    for (size_t k = 0; k < word->count && with_words; k++)
        argv[argc++] = arena_strdup(arena, word->words[k]);
    if (!options_parse(&options, command_find(command), argc, argv, arena, &err) &&
        !command_find(command)->run(&asked, &err))
        for (const char *line = asked.out.data; line && *line; line += strcspn(line, "\n") + 1)
            offer(word, line, strcspn(line, "\n"), NULL);
    text_release(&asked.out);
}

static void offer_value(const struct word *word, const struct option_row *row)
{
    for (const char *const *choice = row->choices; choice && *choice; choice++)
        offer(word, *choice, strlen(*choice), NULL);
    if (row->complete == COMPLETE_DEVICE)
        offer_lines(word, "devices", "--names", false);
    if (row->complete == COMPLETE_ARCH)
        for (size_t k = 0; k < target_count; k++)
            offer(word, targets[k].arch, strlen(targets[k].arch), targets[k].products);
    if (row->complete == COMPLETE_PARAM)
        offer_lines(word, "list", "--params", true);
    if (row->complete == COMPLETE_FILE || row->complete == COMPLETE_FOLDER)
        text_add(&word->call->out, row->complete == COMPLETE_FILE ? ":file\n" : ":folder\n");
}

/* Offers arguments according to the command's `args`: lower-case words are choices, upper-case words are kinds. */
static void offer_arguments(const struct word *word, const struct command *command)
{
    static const char small[] = "abcdefghijklmnopqrstuvwxyz";
    for (const char *at = command->args + strcspn(command->args, small); *at; at += strcspn(at, small)) {
        offer(word, at, strspn(at, small), NULL);
        at += strspn(at, small);
    }
    if (strstr(command->args, "KERNEL") || strstr(command->args, "SUITE"))
        offer_lines(word, "list", "--names", false);
    if (strstr(command->args, "SUITE") || strstr(command->args, "RESULT") || strstr(command->args, "FILE"))
        text_add(&word->call->out, strstr(command->args, "FILE") ? ":file\n" : ":json\n");
}

/* Returns the option that a word such as "--device", "--device=cpu" or "-d" names. */
static const struct option_row *option_of(const char *word)
{
    for (const struct option_row *row = option_table(); row->name; row++) {
        const size_t length = strlen(row->name);
        if ((row->key && word[0] == '-' && word[1] == row->key && !word[2]) ||
            (text_starts(word, "--") && !strncmp(word + 2, row->name, length) && strchr("=", word[2 + length])))
            return row;
    }
    return NULL;
}

static void complete(struct word *word)
{
    const struct command *command = NULL;
    for (size_t k = 0; k + 1 < word->count && !command; k++)
        command = command_find(word->words[k]);
    const char *const before = word->count > 1 ? word->words[word->count - 2] : "";
    const char *const equals = text_starts(word->start, "--") ? strchr(word->start, '=') : NULL;
    const struct option_row *row = option_of(equals ? word->start : before);
    if (equals) {
        word->option = arena_strndup(word->call->arena, word->start, (size_t)(equals + 1 - word->start));
        word->start = equals + 1;
    }
    if (row && row->argument && !strchr(equals ? "" : before, '=')) {
        offer_value(word, row);
    } else if (word->start[0] == '-') {
        const struct option_row *rows[MOST_OPTIONS];
        const size_t count = options_of(rows, command);
        for (size_t k = 0; k < count; k++) {
            const char *name = arena_printf(word->call->arena, "--%s", rows[k]->name);
            offer(word, name, strlen(name), rows[k]->help);
        }
        if (!command)
            offer(word, "--version", 9, "show the version");
    } else if (command) {
        offer_arguments(word, command);
    } else {
        for (command = command_table(); command->name; command++)
            offer(word, command->name, strlen(command->name), command->summary);
        offer(word, "help", 4, "show help");
    }
}

enum status cmd_completion(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    const char *name = options->args[0];
    if (!strcmp(name, "words")) {
        struct word word = {call, options->args + 1, options->arg_count - 1, "", ""};
        word.start = word.count ? word.words[word.count - 1] : "";
        complete(&word);
        return STATUS_OK;
    }
    for (size_t k = 0; k < COUNT_OF(shells); k++)
        if (!strcmp(shells[k].name, name)) {
            text_add(&call->out, shells[k].script);
            return options_check_count(options->arg_count, 1, 1, "completion", "bash|zsh|fish", err);
        }
    return err_set(err, ERR_USAGE, "there is no completion for '%s', only for bash, zsh and fish", name);
}
