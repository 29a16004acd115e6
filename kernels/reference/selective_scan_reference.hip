/* SPDX-License-Identifier: MIT
 *
 * Elements of Mamba's selective scan in f64: each from all tokens of its sequence up to its own.
 */
#include "portable.h"
#include "reference_types.h"
#include "reference_exp.h"

typedef reference_element<DTYPE> element;

extern "C" __global__ void selective_scan_reference(double *result, const uint64_t *index, const element *x,
    const element *step, const float *rate, const element *b, const element *c, const float *skip, uint32_t length,
    uint32_t channels, uint32_t states, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const uint64_t channel = index[sample] % channels, token = index[sample] / channels;
    double sum = static_cast<double>(skip[channel]) * reference_number<DTYPE>(x[index[sample]]);
    for (uint32_t n = 0; n < states; ++n) {
        double state = 0;
        for (uint64_t t = token / length * length; t <= token; ++t) {
            const double width = reference_number<DTYPE>(step[t * channels + channel]);
            const double decay = exp_exact(width * static_cast<double>(rate[channel * states + n]));
            const double in = reference_number<DTYPE>(x[t * channels + channel]);
            state = decay * state + width * reference_number<DTYPE>(b[t * states + n]) * in;
        }
        sum += state * reference_number<DTYPE>(c[token * states + n]);
    }
    result[sample] = sum;
}
