/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_OPTIONS_INTERNAL_H
#define ROOFTILE_OPTIONS_INTERNAL_H

#include "options.h"

struct parse {
    const struct command *command; /* NULL: the words before the command */
    enum option_id ids[OPT_COUNT];
    size_t id_count;
    int argc;
    char **argv;
    struct cli_options *options;
    const char **args; /* options->args while it is filled */
    struct arena *arena;
    struct err *err;
};

/* ERR_USAGE "<what> '<word>'; try ...", with `length` bytes of the word. */
enum status parse_fail(const struct parse *parse, const char *what, const char *word, int length);

const struct option_row *parse_find_short(const struct parse *parse, char key); /* NULL: there is none */

/* Is this word an option by its looks? "-" is not. */
bool parse_is_option(const char *word);

/* Checks the option at *index against the table, and moves to its value where that is a word of its own. */
enum status parse_check_option(const struct parse *parse, int *index);
/* Every word up to "--". */
enum status parse_check_words(const struct parse *parse);

/* Puts a value into the field of its option. */
enum status parse_store(const struct parse *parse, const struct option_row *row, const char *value);

#endif
