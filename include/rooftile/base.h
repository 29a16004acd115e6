/* SPDX-License-Identifier: MIT
 *
 * What every file knows: the everyday part of the C library, and where memory, errors and text come from.
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

/* Before a parameter that a function has only because others of its type need it. */
#define UNUSED __attribute__((unused))

#include "rooftile/arena.h"
#include "rooftile/err.h"
#include "rooftile/text.h"

#endif
