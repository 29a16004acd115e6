/* SPDX-License-Identifier: MIT
 *
 * Suggests equivalents for words of other tools, from texts/hints.txt. These take precedence over similar names.
 */

#include "cli.h"
#include "texts.h"

bool command_takes(const struct command *command, const char *option)
{
    return command && command->options && text_has_word(command->options, " ", option, strlen(option));
}

/* Returns the next part of a row, without the blanks around it. */
static const char *next_part(char **row)
{
    char *part = *row + strspn(*row, " ");
    size_t length = strcspn(part, "|");
    *row = part + length + (part[length] == '|');
    while (length && part[length - 1] == ' ')
        length--;
    part[length] = '\0';
    return part;
}

enum status hint_add(struct err *err, enum hint_place place, const char *word, const struct command *command)
{
    static const char *const places[] = {"command", "verb", "option", "word", "value"};
    char folded[48], row[512];
    const size_t length = strlen(word);
    for (size_t k = 0; k <= length && length < sizeof(folded); k++)
        folded[k] = word[k] == '_' ? '-' : (char)tolower((unsigned char)word[k]);
    if (length >= sizeof(folded) || (place == HINT_OPTION && command_takes(command, folded)))
        return STATUS_OK;
    for (const char *line = cli_hints; *line; line += strcspn(line, "\n") + 1) {
        char *rest = row;
        snprintf(row, sizeof(row), "%.*s", (int)strcspn(line, "\n"), line);
        if (strcmp(next_part(&rest), places[place]) || !text_has_word(next_part(&rest), " ", folded, length))
            continue;
        const char *option = next_part(&rest), *say = next_part(&rest), *right = *say ? say : option;
        if (*option && !command_takes(command, option) && !text_has_word(COMMON_OPTIONS, " ", option, strlen(option)))
            continue;
        return strchr(right, ' ')
                   ? err_set(err, err->status, "%s; %s", err->text, right)
                   : err_set(err, err->status, "%s; did you mean '%s%s'?", err->text, *say ? "" : "--", right);
    }
    return STATUS_OK;
}
