/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_COMPLETION_INTERNAL_H
#define ROOFTILE_COMPLETION_INTERNAL_H

#include "completion.h"

/* What may stand as an argument of a command, from its `args`: words in small letters are choices, capitals are kinds.
 */
struct completion_kinds {
    bool names; /* kernels and suites */
    bool files;
    char choices[128]; /* separated by spaces */
};
struct completion_kinds completion_kinds(const struct command *command);

/* The choices separated by spaces. */
void completion_choices(struct text *out, const char *const *choices);

/* Help for one line of a menu: up to the first semicolon or bracket, without what a shell would take for its own. */
void completion_brief(struct text *out, const char *help);

void completion_bash(struct text *out);
void completion_zsh(struct text *out);
void completion_fish(struct text *out);

#endif
