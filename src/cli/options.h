/* SPDX-License-Identifier: MIT
 *
 * Options: one row each, from which parsing, help, the man page and shell completion come.
 *
 * A long option is written in full (no abbreviations), its value as "--opt value" or "--opt=value"; short ones may be
 * joined ("-vq", "-ofile"). Options and arguments may be mixed; "--" ends the options. Of a single-value option given
 * twice the last one counts. Every word is checked against the table first, so that messages are ours and carry a
 * did-you-mean; argp then parses what is known to be right.
 */
#ifndef ROOFTILE_OPTIONS_H
#define ROOFTILE_OPTIONS_H

#include "cli.h"

enum option_kind {
    OPTION_FLAG,     /* bool becomes true */
    OPTION_COUNT_UP, /* int is incremented */
    OPTION_STRING,   /* const char * */
    OPTION_WORD,     /* const char *, one of the choices */
    OPTION_CHOICE,   /* an enum: the index of the choice */
    OPTION_LIST,     /* repeatable: pointer to an array of strings, and its size_t count */
    OPTION_PAIRS,    /* the same; each must be NAME=VALUE */
    OPTION_SPLIT,    /* the same; split at commas */
    OPTION_TWO,      /* const char *[2]: two words */
    OPTION_U64,
    OPTION_UNSIGNED, /* 1..1024 */
};

/* What a shell offers for a value besides the choices. */
enum option_complete { COMPLETE_NOTHING, COMPLETE_FILE, COMPLETE_FOLDER, COMPLETE_DEVICE };

struct option_row {
    const char *name;
    char key; /* short form, or 0 */
    enum option_kind kind;
    const char *argument; /* name of the value; NULL: takes none */
    const char *help;
    size_t offset, count_offset; /* into struct cli_options */
    const char *const *choices;  /* NULL-terminated; also offered to shells for OPTION_STRING */
    enum option_complete complete;
};

extern const struct option_row option_rows[OPT_COUNT]; /* by enum option_id; OPT_END's is empty */

/* What every command takes, after its own. */
#define COMMON_OPTIONS 5
extern const enum option_id common_options[COMMON_OPTIONS];

/* The command's options, then the common ones; returns how many. */
size_t options_of(enum option_id ids[static OPT_COUNT], const struct command *command);

void options_defaults(struct cli_options *options);

/* Fills `options` from argv[1..]. ERR_USAGE with the message as it is shown. With --help among the words the number of
 * arguments is not checked. */
enum status options_parse(struct cli_options *options, const struct command *command, int argc, char **argv,
                          struct arena *arena, struct err *err);

/* The index of the first word that is neither a common option nor the value of one (argc: none); checks those before
 * it. */
enum status options_first_argument(int *index, int argc, char **argv, struct arena *arena, struct err *err);

/* The nearest candidate, or the only sensible continuation when `word` is the beginning of one; NULL: nothing is near.
 */
const char *suggest(const char *word, const char *const *candidates, size_t count);

#endif
