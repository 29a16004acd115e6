/* SPDX-License-Identifier: MIT
 *
 * Elements of O = softmax(scale * Q K') V in f64, each by the sums that define it, for all attention kernels. q and o
 * are [token][head_q][D], k and v [token][head_kv][D]; starts are where sequences begin, batch + 1 of them. `single`:
 * every sequence has one query, and q_starts is not read. `page`: key `i` of sequence s is token table[s * pages + i /
 * page] * page + i % page.
 *
 * Causal: the last query of a sequence sees all its keys, each one before it one key less. A score below the range of
 * f32 is minus infinity; a query that sees nothing else, or no key at all, gives 0.
 */
#include "portable.h"
#include "reference_types.h"

typedef reference_element<DTYPE> element;

/* e^x by its series, for x <= 0. */
__device__ static double power_of_e(double x)
{
    if (x < -700)
        return 0;
    const double turns = __builtin_floor(x * 1.4426950408889634 + 0.5);
    const double rest =
        (x - turns * 0.693147180369123816490) - turns * 1.90821492927058770002e-10; /* ln 2 in two parts */
    double sum = 1;
    for (int term = 16; term > 0; --term)
        sum = 1 + sum * rest / term;
    return sum * reference_power_of_two(static_cast<int>(turns));
}

extern "C" __global__ void attention_reference(double *result, const uint64_t *index, const element *q,
    const element *k, const element *v, const uint32_t *q_starts, const uint32_t *k_starts, const uint32_t *table,
    uint32_t batch, uint32_t d_count, uint32_t heads_q, uint32_t heads_kv, uint32_t causal, uint32_t single,
    uint32_t page, uint32_t pages, double scale, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t d = index[sample] % d_count, head = index[sample] / d_count % heads_q,
                   token = index[sample] / d_count / heads_q;
    uint32_t sequence = 0;
    while (sequence + 1 < batch && token >= (single ? sequence + 1 : q_starts[sequence + 1]))
        ++sequence;
    const uint64_t q_end = single ? sequence + 1 : q_starts[sequence + 1];
    const int64_t keys = k_starts[sequence + 1] - static_cast<int64_t>(k_starts[sequence]);
    const int64_t hidden = causal ? static_cast<int64_t>(q_end - 1 - token) : 0;
    double top = -__builtin_inf(), sum = 0, total = 0;
    for (int64_t key = 0; key < keys - hidden; ++key) {
        const uint64_t at = page ? table[sequence * pages + key / page] * static_cast<uint64_t>(page) + key % page
                                 : k_starts[sequence] + static_cast<uint64_t>(key);
        const uint64_t row = (at * heads_kv + head / (heads_q / heads_kv)) * d_count;
        double score = 0;
        for (uint64_t i = 0; i < d_count; ++i)
            score += reference_number<DTYPE>(q[(token * heads_q + head) * d_count + i]) *
                     reference_number<DTYPE>(k[row + i]);
        score *= scale;
        if (!(score > -3.4028234663852886e38))
            continue;
        if (score > top) {
            const double shrink = power_of_e(top - score);
            sum *= shrink;
            total *= shrink;
            top = score;
        }
        const double weight = power_of_e(score - top);
        sum += weight;
        total += weight * reference_number<DTYPE>(v[row + d]);
    }
    result[sample] = sum > 0 ? total / sum : 0;
}
