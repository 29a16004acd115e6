/* SPDX-License-Identifier: MIT
 *
 * ROCTX: named ranges that rocprofv3 shows beside the kernels, through whichever of ROCm's libraries is there. The
 * library is looked for when the first range begins: a process that marks nothing never loads it.
 */
#ifndef ROOFTILE_DEVICE_ROCTX_H
#define ROOFTILE_DEVICE_ROCTX_H

#include <stdbool.h>

#include "rooftile/err.h"

struct roctx {
    bool tried;
    int (*push)(const char *name);
    int (*pop)(void);
};

/* ERR_UNSUPPORTED, naming the libraries looked for, where there is none. ROOFTILE_ROCTX_LIBRARY names another. */
enum status roctx_push(struct roctx *roctx, const char *name, struct err *err);
void roctx_pop(struct roctx *roctx); /* nothing without a library */

#endif
