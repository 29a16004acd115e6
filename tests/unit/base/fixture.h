/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_TEST_BASE_FIXTURE_H
#define ROOFTILE_TEST_BASE_FIXTURE_H

#include <stdlib.h>

#include "rooftile/arena.h"
#include "rooftile/err.h"

/* What each test of a group has anew. */
struct fixture {
    struct arena arena;
    struct err err;
};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_release(&f->arena);
    free(f);
    return 0;
}

#endif
