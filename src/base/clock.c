/* SPDX-License-Identifier: MIT */
#include "rooftile/clock.h"

#include <time.h>

#define NS_PER_S 1000000000u

uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void clock_sleep_ns(uint64_t duration_ns)
{
    /* Sleeps on for the remaining time after a signal. Uses CLOCK_MONOTONIC, because the kernel cannot sleep on the raw
     * clock. */
    struct timespec left = {.tv_sec = (time_t)(duration_ns / NS_PER_S), .tv_nsec = (long)(duration_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

void clock_utc(char out[static 32])
{
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
