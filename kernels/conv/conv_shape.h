/* SPDX-License-Identifier: MIT
 *
 * The convolution that the kernels of this folder compute, NHWC:
 *
 *     y[n][p][q][k] = sum over r, s, c of x[n][p * stride - pad + r][q * stride - pad + s][c] * w[k][r][s][c]
 *
 * x is n x height x width x channels, w filters x R x S x channels, y n x out_height x out_width x filters; what lies
 * beyond x is zero. Pixels number y's (n, p, q); tap r, s of the filter has number r * S + s.
 */
#ifndef ROOFTILE_CONV_SHAPE_H
#define ROOFTILE_CONV_SHAPE_H

struct conv_shape {
    uint32_t height, width, channels, out_height, out_width, filters, stride, pad;
    uint32_t pixels; /* n * out_height * out_width */
};

/* For one pixel: the row and column of x under the filter's first tap, which may be negative. */
struct conv_corner {
    uint32_t image;
    int32_t row, column;
};

__device__ static conv_corner conv_corner_of(const conv_shape &shape, uint32_t pixel)
{
    const uint32_t line = pixel / shape.out_width, image = line / shape.out_height;
    const uint32_t p = line - image * shape.out_height, q = pixel - line * shape.out_width;
    return {image, static_cast<int32_t>(p * shape.stride) - static_cast<int32_t>(shape.pad),
        static_cast<int32_t>(q * shape.stride) - static_cast<int32_t>(shape.pad)};
}

/* Is tap r, s inside x? Negative rows are large as unsigned numbers. */
__device__ static bool conv_is_inside(const conv_shape &shape, const conv_corner &corner, uint32_t r, uint32_t s)
{
    return static_cast<uint32_t>(corner.row) + r < shape.height &&
           static_cast<uint32_t>(corner.column) + s < shape.width;
}

#endif
