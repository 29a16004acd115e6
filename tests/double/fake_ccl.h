/* SPDX-License-Identifier: MIT */
#ifndef FAKE_CCL_H
#define FAKE_CCL_H

struct fake_ccl_state {
    unsigned seen; /* calls of the function that is to fail; a test sets it to 0 before it starts */
    int live;      /* communicators */
    int collectives;
    int devices[64]; /* of the last communicators' ranks */
};

/* Exported as "fake_ccl_state". */
struct fake_ccl_state *fake_ccl_state(void);

#endif
