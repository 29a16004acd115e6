/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_TEST_COMMA_LOCALE_H
#define ROOFTILE_TEST_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

/* Sets a locale with a decimal comma; false: none is installed. The caller sets "C" again. */
static inline bool comma_locale_set(void)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof(locales) / sizeof(*locales); i++)
        if (setlocale(LC_ALL, locales[i]))
            return true;
    return false;
}

#endif
