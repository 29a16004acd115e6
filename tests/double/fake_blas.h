/* SPDX-License-Identifier: MIT
 *
 * Stand-ins for cuBLAS, cuBLASLt, rocBLAS and hipBLASLt in host memory, for tests: fake_blas.c is one of them by its
 * definition (FAKE_CUBLASLT, ...). Products are summed as the textbook has them, column by column, and what a real
 * library refuses is refused: leading dimensions that are too small, types that do not go together, a wrong size of an
 * attribute, an algorithm of another description. What they are
 * told through the environment, at each call: FAKE_BLAS_FAIL=function:nth:code   the nth call of the function since the
 * state was cleared fails with that code FAKE_BLAS_VERSION=n                instead of 130100 (13.1.0), "4.2.1.fake"
 * and 100203 (1.2.3) FAKE_BLAS_NONE=1                   the heuristic finds no algorithm, and calls it a success
 * FAKE_BLAS_OLD leaves out what old versions lack.
 */
#ifndef FAKE_BLAS_H
#define FAKE_BLAS_H

#include <stddef.h>

struct fake_blas_state {
    unsigned seen; /* calls of the function that is to fail */
    int live;      /* handles, descriptions, layouts and preferences */
    unsigned heuristics, products;
    void *stream;    /* of the last product, */
    void *workspace; /* ... what it was given, */
    size_t workspace_bytes;
    int math;                           /* ... the mode of mathematics, */
    int sum;                            /* ... and the number of its sums' type */
    unsigned alignments[4], reductions; /* as the last heuristic was asked for */
};

/* Exported as "fake_blas_state". */
struct fake_blas_state *fake_blas_state(void);

#endif
