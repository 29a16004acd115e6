/* SPDX-License-Identifier: MIT
 *
 * cmocka's assert_float_equal cuts doubles to floats.
 */
#ifndef ROOFTILE_TESTS_NEAR_H
#define ROOFTILE_TESTS_NEAR_H

#include <math.h>

#define assert_near(got, want, within)                                                                                 \
    do {                                                                                                               \
        const double got_ = (got), want_ = (want);                                                                     \
        if (!(fabs(got_ - want_) <= (within)))                                                                         \
            fail_msg("%s is %.17g, expected %.17g", #got, got_, want_);                                                \
    } while (0)

#endif
