// SPDX-License-Identifier: MIT
#include "portable.h"

// Takes BYTES of arguments: none, or a pointer and 64-bit words for the rest, all of which are added up.
#define LIST1(name) uint64_t name
#define LIST7(x, name) x(name##0), x(name##1), x(name##2), x(name##3), x(name##4), x(name##5), x(name##6)
#define LIST8(x, name) LIST7(x, name), x(name##7)
#define LIST15(x, name) LIST7(x, name##0), LIST8(x, name##1)
#define LIST16(x, name) LIST8(x, name##0), LIST8(x, name##1)
#define LIST127(x, name)                                                                                               \
    LIST15(x, name##0), LIST16(x, name##1), LIST16(x, name##2), LIST16(x, name##3), LIST16(x, name##4),                \
        LIST16(x, name##5), LIST16(x, name##6), LIST16(x, name##7)
#define ITSELF(name) name

#if BYTES == 0
extern "C" __global__ void launch_args() {}
#elif BYTES == 8
extern "C" __global__ void launch_args(uint32_t *out)
{
    out[0] = 1;
}
#else
#if BYTES == 64
#define WORDS(x) LIST7(x, a)
#elif BYTES == 1024
#define WORDS(x) LIST127(x, a)
#endif
extern "C" __global__ void launch_args(uint32_t *out, WORDS(LIST1))
{
    const uint64_t words[] = {WORDS(ITSELF)};
    uint64_t sum = 1;
#pragma unroll
    for (unsigned k = 0; k < sizeof(words) / sizeof(*words); k++)
        sum += words[k];
    out[0] = static_cast<uint32_t>(sum);
}
#endif
