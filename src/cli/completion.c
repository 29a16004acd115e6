/* SPDX-License-Identifier: MIT */
#include "completion_internal.h"

#include <string.h>

struct completion_kinds completion_kinds(const struct command *command)
{
    struct completion_kinds kinds = {0};
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
    kinds.files = strstr(command->args, "SUITE") || strstr(command->args, "RESULT") || strstr(command->args, "FILE");
    if (choices.length && choices.length < sizeof(kinds.choices))
        memcpy(kinds.choices, choices.data, choices.length - 1);
    text_release(&choices);
    return kinds;
}

void completion_choices(struct text *out, const char *const *choices)
{
    for (size_t k = 0; choices[k]; k++)
        text_addf(out, "%s%s", k ? " " : "", choices[k]);
}

void completion_brief(struct text *out, const char *help)
{
    const size_t length = strcspn(help, ";(:");
    size_t end = length;
    while (end && help[end - 1] == ' ')
        end--;
    for (size_t k = 0; k < end; k++)
        if (!strchr("'\"`$\\[]", help[k]))
            text_addn(out, help + k, 1);
}

const struct completion_shell completion_shells[] = {
    {"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}, {NULL, NULL}};
