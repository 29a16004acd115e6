/* SPDX-License-Identifier: MIT
 *
 * Ablation twins: a kernel whose manifest names them under "isolate" is compiled again with ISOLATE, and leaves a part
 * of itself out. What it computes then is of no use; what it takes says what the other part takes.
 *
 *     if constexpr (ISOLATE == ISOLATE_LOADS)   no arithmetic: memory is read as before, and keep() uses what came
 *     if constexpr (ISOLATE == ISOLATE_MATH)    no loads and stores of memory: arithmetic on what is at hand
 */
#ifndef ROOFTILE_ISOLATE_H
#define ROOFTILE_ISOLATE_H

#ifndef ISOLATE
#define ISOLATE 0
#endif
#define ISOLATE_LOADS 1
#define ISOLATE_MATH 2

#endif
