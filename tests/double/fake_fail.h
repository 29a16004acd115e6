/* SPDX-License-Identifier: MIT
 *
 * A stand-in's function that the environment tells to fail: VARIABLE=function:nth:code. Before it is included,
 * FAKE_FAIL_VARIABLE names the variable, and `state.seen` counts the calls.
 */
#ifndef FAKE_FAIL_H
#define FAKE_FAIL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int told_to_fail(const char *function)
{
    const char *told = getenv(FAKE_FAIL_VARIABLE);
    const size_t length = strlen(function);
    unsigned nth;
    int code;
    if (!told || strncmp(told, function, length) != 0 || sscanf(told + length, ":%u:%d", &nth, &code) != 2)
        return 0;
    return ++state.seen == nth ? code : 0;
}
#define MAY_FAIL()                                                                                                     \
    do {                                                                                                               \
        const int failing = told_to_fail(__func__);                                                                    \
        if (failing)                                                                                                   \
            return failing;                                                                                            \
    } while (0)

#endif
