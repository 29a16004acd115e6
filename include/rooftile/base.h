/* SPDX-License-Identifier: MIT
 *
 * Included by every file: the common part of the C library, memory, errors and text.
 */
#ifndef ROOFTILE_BASE_H
#define ROOFTILE_BASE_H

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Placed before a parameter that only the function's type requires. */
#define UNUSED __attribute__((unused))

#include "rooftile/arena.h"
#include "rooftile/err.h"
#include "rooftile/text.h"

#endif
