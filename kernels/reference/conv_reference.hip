/* SPDX-License-Identifier: MIT
 *
 * Elements of a convolution in f64, each by the sum that defines it. NHWC; w is filters x taps_r x taps_s x channels; x
 * is zero outside.
 *
 * Defines: DTYPE of x and w, see reference_types.h.
 */
#include "portable.h"
#include "reference_types.h"

typedef reference_element<DTYPE> element;

extern "C" __global__ void conv_reference(double *result, const uint64_t *index, const element *x, const element *w,
    int32_t height, int32_t width, int32_t channels, int32_t out_height, int32_t out_width, int32_t filters,
    int32_t taps_r, int32_t taps_s, int32_t stride, int32_t pad, uint32_t samples)
{
    const unsigned sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples)
        return;
    const int64_t filter = static_cast<int64_t>(index[sample]) % filters,
                  pixel = static_cast<int64_t>(index[sample]) / filters;
    const int64_t q = pixel % out_width, p = pixel / out_width % out_height, image = pixel / out_width / out_height;
    double sum = 0;
    for (int64_t r = 0; r < taps_r; ++r) {
        for (int64_t s = 0; s < taps_s; ++s) {
            const int64_t row = p * stride - pad + r, column = q * stride - pad + s;
            if (row < 0 || row >= height || column < 0 || column >= width)
                continue;
            const element *const from = x + ((image * height + row) * width + column) * channels;
            const element *const by = w + ((filter * taps_r + r) * taps_s + s) * channels;
            for (int64_t c = 0; c < channels; ++c)
                sum += reference_number<DTYPE>(from[c]) * reference_number<DTYPE>(by[c]);
        }
    }
    result[sample] = sum;
}
