/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "rooftile/units.h"

struct parse {
    const struct command *command; /* NULL: the words before the command */
    const struct option_row *rows[MOST_OPTIONS];
    size_t row_count;
    int argc;
    char **argv;
    int at;                      /* the word being parsed */
    struct cli_options *options; /* to fill */
    const char **args;           /* options->args while it is filled; NULL: the first argument ends it */
    struct arena *arena;
    struct err *err;
};

/* Reports an option without a value; `found` is the option in the value's place, or "". */
static enum status needs_value(const struct parse *parse, const struct option_row *row, const char *found)
{
    return err_set(parse->err, ERR_USAGE, "option '--%s' needs a value: --%s %s%s%s%s", row->name, row->name,
                   row->argument, *found ? " (next is the option '" : "", found, *found ? "')" : "");
}

/* ---- values ---- */

/* Appends an entry to a list; only this table knows its field. */
static void append(const struct parse *parse, const struct option_row *row, const char *value)
{
    void *field = (char *)parse->options + row->offset;
    size_t *count = (void *)((char *)parse->options + row->count_offset);
    const char **list;
    memcpy(&list, field, sizeof(list)); /* its entries are const everywhere else */
    ARENA_PUSH(parse->arena, list, *count, value);
    memcpy(field, &list, sizeof(list));
}

static enum status parse_whole(uint64_t *number, const struct parse *parse, const struct option_row *row,
                               const char *value, uint64_t least, uint64_t most)
{
    char *end = NULL;
    errno = 0;
    const int base = text_starts(value, "0x") ? 16 : 10;
    const unsigned long long parsed = strtoull(value, &end, base);
    if (value[0] < '0' || value[0] > '9' || *end || errno || parsed < least || parsed > most)
        return err_set(parse->err, ERR_USAGE, "--%s %s: expected a whole number from %llu to %llu", row->name, value,
                       (unsigned long long)least, (unsigned long long)most);
    *number = parsed;
    return STATUS_OK;
}

static enum status find_choice(int *choice, const struct parse *parse, const struct option_row *row, const char *value)
{
    size_t count = 0;
    struct text list = {0};
    for (; row->choices[count] && strcmp(row->choices[count], value) != 0; count++)
        text_addf(&list, "%s%s", count ? ", " : "", row->choices[count]);
    *choice = (int)count;
    const char *words = text_take(&list, parse->arena);
    if (row->choices[count])
        return STATUS_OK;
    err_set(parse->err, ERR_USAGE, "--%s %s: unknown %s", row->name, value, row->name);
    if (hint_add(parse->err, HINT_VALUE, arena_printf(parse->arena, "%s=%s", row->name, value), parse->command))
        return ERR_USAGE;
    if (!text_nearest(value, row->choices, count))
        return err_set(parse->err, ERR_USAGE, "--%s %s: expected one of %s", row->name, value, words);
    return err_nearest(parse->err, value, row->choices, count, NULL);
}

static enum status parse_fraction(double *fraction, const struct parse *parse, const struct option_row *row,
                                  const char *value)
{
    char *end = NULL;
    double number = strtod(value, &end);
    if (end != value && !strcmp(end, "%")) {
        number /= 100;
        end++;
    }
    if (end == value || *end || !(number > 0 && number < 1))
        return err_set(parse->err, ERR_USAGE, "--%s %s: expected a fraction above 0 and below 1, such as 0.01 or 1%%",
                       row->name, value);
    *fraction = number;
    return STATUS_OK;
}

/* Stores a value in the field of its option. */
static enum status store(const struct parse *parse, const struct option_row *row, const char *value)
{
    void *field = (char *)parse->options + row->offset;
    uint64_t number = 0;
    double ns = 0;
    int choice = 0;
    enum status status = STATUS_OK;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_COUNT_UP:
        *(int *)field += *(int *)field < INT_MAX;
        break;
    case OPTION_STRING:
        *(const char **)field = value;
        break;
    case OPTION_WORD:
    case OPTION_CHOICE:
        status = find_choice(&choice, parse, row, value);
        if (row->kind == OPTION_WORD)
            *(const char **)field = value;
        else
            memcpy(field, &choice, sizeof(choice)); /* an enum whose type only this table knows */
        break;
    case OPTION_TWO: /* take_two stores them */
        break;
    case OPTION_LIST:
        append(parse, row, value);
        break;
    case OPTION_PAIRS:
        if (!strchr(value, '=') || value[0] == '=') {
            err_set(parse->err, ERR_USAGE, "--%s %s: expected %s", row->name, value, row->argument);
            hint_add(parse->err, HINT_VALUE, row->name, parse->command);
            return ERR_USAGE;
        }
        append(parse, row, value);
        break;
    case OPTION_SPLIT:
        for (const char *at = value;; at++) {
            const size_t length = strcspn(at, ",");
            if (!length)
                return err_set(parse->err, ERR_USAGE, "--%s %s: an element is empty", row->name, value);
            append(parse, row, arena_strndup(parse->arena, at, length));
            at += length;
            if (!*at)
                return STATUS_OK;
        }
    case OPTION_U64:
        status = parse_whole(field, parse, row, value, 0, UINT64_MAX);
        break;
    case OPTION_UNSIGNED:
        status = parse_whole(&number, parse, row, value, 1, row->most ? row->most : 1024);
        *(unsigned *)field = (unsigned)number;
        break;
    case OPTION_TIME:
        if (!units_parse_time_ns(&ns, value) || ns <= 0)
            return err_set(parse->err, ERR_USAGE,
                           "--%s %s: not a duration: a number with ns, us, ms, s or min, such as 0.5s", row->name,
                           value);
        *(struct duration *)field = (struct duration){value, ns};
        break;
    case OPTION_FRACTION:
        return parse_fraction(field, parse, row, value);
    }
    return status;
}

/* ---- words ---- */

static const struct option_row *find_long(const struct parse *parse, const char *name, size_t length)
{
    for (size_t k = 0; k < parse->row_count; k++)
        if (strlen(parse->rows[k]->name) == length && memcmp(parse->rows[k]->name, name, length) == 0)
            return parse->rows[k];
    return NULL;
}

/* Returns "report, history", the commands with this option; "" if none. */
static const char *owners(const struct parse *parse, const char *name)
{
    struct text text = {0};
    for (const struct command *command = command_table(); command->name; command++)
        if (command->options && text_has_word(command->options, " ", name, strlen(name)))
            text_addf(&text, "%s%s", text.length ? ", " : "", command->name);
    return text_take(&text, parse->arena);
}

/* Adds a pointer to the help, and how to set a kernel's parameter of this name if the command can. */
static enum status try_help(const struct parse *parse, const char *name)
{
    const char *command = parse->command ? parse->command->name : "";
    if (find_long(parse, "set", 3) && isalpha((unsigned char)name[0]))
        return err_set(parse->err, ERR_USAGE,
                       "%s; try 'rooftile %s --help', or --set %s=VALUE for a kernel's parameter", parse->err->text,
                       command, name);
    return err_set(parse->err, ERR_USAGE, "%s%s; try 'rooftile %s%s--help'", parse->err->text,
                   *command ? "" : " before the command", command, *command ? " " : "");
}

static enum status unknown_long(const struct parse *parse, const char *word, size_t length)
{
    const char *names[MOST_OPTIONS], *given = arena_strndup(parse->arena, word, length), *name = given + 2;
    const struct option_row *row = option_table(); /* an option of another command, rather than a parameter */
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    for (size_t k = 0; k < parse->row_count; k++)
        names[k] = parse->rows[k]->name;
    if (row->name && parse->command)
        err_set(parse->err, ERR_USAGE, "'%s' is an option of %s, not of %s", given, owners(parse, name),
                parse->command->name);
    else
        err_set(parse->err, ERR_USAGE, "unknown option '%.200s'", given);
    if (row->name && !parse->command && strcmp(name, "list") != 0)
        return err_set(parse->err, ERR_USAGE, "'%s' stands behind its command: 'rooftile COMMAND ... %s%s%s'", given,
                       given, row->argument ? " " : "", row->argument ? row->argument : "");
    if (hint_add(parse->err, HINT_OPTION, name, parse->command))
        return ERR_USAGE;
    if (row->name)
        return row->argument && find_long(parse, "set", 3)
                   ? err_set(parse->err, ERR_USAGE, "%s; a kernel's parameter is --set %s=VALUE", parse->err->text,
                             name)
                   : ERR_USAGE;
    const char *near = text_nearest(name, names, parse->row_count);
    return near ? err_set(parse->err, ERR_USAGE, "%s; did you mean '--%s'?", parse->err->text, near)
                : try_help(parse, name);
}

static const struct option_row *find_short(const struct parse *parse, char key)
{
    for (size_t k = 0; k < parse->row_count; k++)
        if (parse->rows[k]->key == key)
            return parse->rows[k];
    return NULL;
}

/* Reads the next word as the option's value. */
static enum status next_value(const char **value, struct parse *parse, const struct option_row *row)
{
    const char *word = ++parse->at < parse->argc ? parse->argv[parse->at] : "";
    /* Whether the word is itself one of the command's options. */
    const bool is_short = word[0] == '-' && strlen(word) == 2 && find_short(parse, word[1]);
    const bool is_long = text_starts(word, "--") && find_long(parse, word + 2, strcspn(word, "=") - 2);
    if (*word && !is_short && !is_long && strcmp(word, "--") != 0) {
        *value = word;
        return STATUS_OK;
    }
    return needs_value(parse, row, word);
}

/* Stores the option with its value: `attached` to its own word, or (NULL) the next word. */
static enum status take(struct parse *parse, const struct option_row *row, const char *attached)
{
    const char *value = attached;
    if (!row->argument && attached)
        return err_set(parse->err, ERR_USAGE, "option '--%s' takes no value", row->name);
    if (row->kind == OPTION_TWO && attached)
        return err_set(parse->err, ERR_USAGE, "option '--%s' takes two words: --%s %s", row->name, row->name,
                       row->argument);
    const char **two = (void *)((char *)parse->options + row->offset);
    if (row->kind == OPTION_TWO)
        return next_value(&two[0], parse, row) || next_value(&two[1], parse, row) ? ERR_USAGE : STATUS_OK;
    if (attached && !*attached)
        return needs_value(parse, row, "");
    if (row->argument && !attached && next_value(&value, parse, row))
        return ERR_USAGE;
    return store(parse, row, value);
}

/* Parses joined short options. After an option that takes a value, the rest of the word is the value. */
static enum status short_options(struct parse *parse, const char *word)
{
    const struct option_row *meant = find_long(parse, word + 1, strcspn(word + 1, "="));
    if (meant)
        return err_set(parse->err, ERR_USAGE, "unknown option '%s'; did you mean '--%s'?", word, meant->name);
    for (const char *key = word + 1; *key; key++) {
        const struct option_row *row = find_short(parse, *key);
        if (!row) {
            /* The whole word may be another tool's long option ("-arch=gfx942"); otherwise its first letter counts. */
            const char *whole = arena_strndup(parse->arena, word + 1, strcspn(word + 1, "="));
            const char *one = arena_strndup(parse->arena, key, 1);
            err_set(parse->err, ERR_USAGE, "unknown option '-%.200s'", whole);
            if (key == word + 1 && key[1] && hint_add(parse->err, HINT_OPTION, whole, parse->command))
                return ERR_USAGE;
            err_set(parse->err, ERR_USAGE, "unknown option '-%s'", one);
            return hint_add(parse->err, HINT_OPTION, one, parse->command) ? ERR_USAGE : try_help(parse, one);
        }
        enum status status = take(parse, row, row->argument && key[1] ? key + 1 : NULL);
        if (status || row->argument)
            return status;
    }
    return STATUS_OK;
}

static enum status parse_words(struct parse *parse)
{
    bool options_end = false;
    for (parse->at = 1; parse->at < parse->argc; parse->at++) {
        const char *word = parse->argv[parse->at];
        const bool dashes = !options_end && strcmp(word, "--") == 0;
        enum status status = STATUS_OK;
        if (options_end || dashes || word[0] != '-' || !word[1]) {
            if (!parse->args)
                return STATUS_OK;
            if (!dashes)
                parse->args[parse->options->arg_count++] = word;
            options_end |= dashes;
            continue;
        }
        const size_t length = strcspn(word, "=");
        const struct option_row *row = word[1] == '-' ? find_long(parse, word + 2, length - 2) : NULL;
        status = row              ? take(parse, row, word[length] ? word + length + 1 : NULL)
                 : word[1] == '-' ? unknown_long(parse, word, length)
                                  : short_options(parse, word);
        if (status)
            return status;
    }
    return STATUS_OK;
}

enum status options_check_count(size_t count, size_t least, size_t most, const char *command, const char *args,
                                struct err *err)
{
    char wanted[40] = "no argument";
    const size_t bound = count < least ? least : most;
    if (count >= least && count <= most)
        return STATUS_OK;
    if (most)
        snprintf(wanted, sizeof(wanted), "%zu argument%s", bound, text_s(bound));
    return err_set(err, ERR_USAGE, "'rooftile %s' expects %s%s%s%s%s, got %zu", command,
                   least == most   ? ""
                   : count < least ? "at least "
                                   : "at most ",
                   wanted, *args ? " (" : "", args, *args ? ")" : "", count);
}

static enum status check_count(const struct parse *parse)
{
    const struct command *command = parse->command;
    const struct cli_options *options = parse->options;
    const size_t count = options->arg_count;
    if (parse->options->help ||
        !options_check_count(count, command->min_args, command->max_args, command->name, command->args, parse->err))
        return STATUS_OK;
    if (count > command->max_args)
        return err_set(parse->err, ERR_USAGE, "%s, from '%.200s' on; try 'rooftile %s --help'", parse->err->text,
                       options->args[command->max_args], command->name);
    /* Shows the command line of an example, up to the gap before its explanation. */
    const char *example = command->examples + 2, *gap = strstr(example, "  ");
    const size_t line = strcspn(example, "\n"), length = gap && gap < example + line ? (size_t)(gap - example) : line;
    return err_set(parse->err, ERR_USAGE, "%s, as in '%.*s'; try 'rooftile %s --help'", parse->err->text, (int)length,
                   example, command->name);
}

/* Returns the format for a file's suffix; NULL if there is none. */
static const char *format_of_name(const char *name)
{
    static const char *const names[][2] = {{".json", "json"}, {".csv", "csv"},   {".md", "markdown"},
                                           {".xml", "junit"}, {".html", "html"}, {".svg", "svg"}};
    for (size_t k = 0; k < sizeof(names) / sizeof(*names) && name; k++)
        if (text_ends(name, names[k][0]))
            return names[k][1];
    return NULL;
}

/* Refuses a valid value that its author probably meant differently. */
static enum status refuse(const struct parse *parse, const char *option, const char *value, const char *problem)
{
    struct err err = {0};
    err_set(&err, ERR_USAGE, "%s", problem);
    if (!hint_add(&err, HINT_VALUE, arena_printf(parse->arena, "%s=%s", option, value), parse->command))
        return STATUS_OK;
    *parse->err = err;
    return ERR_USAGE;
}

static enum status unite_outputs(const struct parse *parse)
{
    struct cli_options *options = parse->options;
    const char *format = format_of_name(options->out);
    /* Refuses a file name that promises a format which is not written (a spreadsheet's, for example), and `--cache`
     * with a word that is no folder's name, such as cold. */
    const char *end = options->out && !options->format ? strrchr(options->out, '.') : NULL, *cache = options->cache_dir;
    if ((end &&
         refuse(parse, "out", end, arena_printf(parse->arena, "-o %s: such files are not written", options->out))) ||
        (cache && refuse(parse, "cache", cache, arena_printf(parse->arena, "--cache %s: it names a folder", cache))))
        return ERR_USAGE;
    const bool json = format && !strcmp(format, "json");
    if (!parse->command->makes_file) {
        if (!options->format && find_long(parse, json ? "json" : "format", json ? strlen("json") : strlen("format")))
            options->format = format;
        return STATUS_OK;
    }
    if (format && !json)
        return err_set(parse->err, ERR_USAGE,
                       "-o %s: what 'rooftile %s' writes is JSON; of a result 'rooftile report RESULT -o %s' makes the "
                       "other",
                       options->out, parse->command->name, options->out);
    if (options->json && options->out)
        return err_set(parse->err, ERR_USAGE, "-o %s and --json %s say the same thing here; give one of them",
                       options->out, options->json);
    options->out = options->out ? options->out : options->json;
    options->json = NULL;
    return STATUS_OK;
}

static const struct cli_options defaults = {
    .seed = 1, .cache_mode = -1, .timer = -1, .together = -1, .channel = HISTORY_CHANNEL, .host = &cli_host};

enum status options_parse(struct cli_options *options, const struct command *command, int argc, char **argv,
                          struct arena *arena, struct err *err)
{
    struct cli_options parsed = defaults;
    parsed.command = command->name;
    struct parse parse = {
        .command = command, .argc = argc, .argv = argv, .options = &parsed, .arena = arena, .err = err};
    parse.args = arena_array(arena, (size_t)argc + 1, sizeof(*parse.args));
    parsed.args = parse.args;
    parse.row_count = options_of(parse.rows, command);
    enum status status = parse_words(&parse);
    parsed.help |= parsed.arg_count == 1 && !strcmp(parsed.args[0], "help");
    if (!status)
        status = check_count(&parse);
    if (!status)
        status = unite_outputs(&parse);
    if (!status)
        *options = parsed;
    return status;
}

enum status options_first_argument(int *index, int argc, char **argv, struct arena *arena, struct err *err)
{
    struct cli_options common = defaults;
    struct parse parse = {.argc = argc, .argv = argv, .options = &common, .arena = arena, .err = err};
    parse.row_count = options_of(parse.rows, NULL);
    enum status status = parse_words(&parse);
    if (!status)
        *index = parse.at;
    return status;
}
