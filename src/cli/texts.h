/* SPDX-License-Identifier: MIT
 *
 * The files of src/cli/texts, which are embedded in the program (texts.S). Each ends in a zero byte.
 */
#ifndef ROOFTILE_CLI_TEXTS_H
#define ROOFTILE_CLI_TEXTS_H

extern char cli_commands[], cli_options[]; /* writable, because they are cut into strings */
extern const char cli_hints[], cli_man_facts[], cli_bash[], cli_zsh[], cli_fish[];

/* Returns the text before `end`, which is cut off there; *at receives the text after it. */
char *texts_cut(char **at, const char *end);

#endif
