/* SPDX-License-Identifier: MIT
 *
 * A row to 8 bits with a scale of its own: scale = largest magnitude / limit, q = value / scale rounded to the nearest
 * code, ties to even. The largest magnitude becomes the type's largest number exactly: nothing saturates. Rows whose
 * magnitudes stay below 1e-33 count as zeros, with scale and q 0, because 1 / scale would overflow.
 *
 * Defines: those of row.h, which comes before it; OUT the type of q.
 */
/* `values(step)` gives the lane's pack of a step, `value(at)` an element of the tail. Both are asked twice. */
template <class values_t, class value_t>
__device__ void row_quantise(
    OUT::type *__restrict q, float *__restrict scale, const row &own, float limit, values_t values, value_t value)
{
    floats tops = 0.0f;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step) {
        if (row_has(own, step)) {
            const floats own_values = values(step);
            tops = pack_larger(tops, pack_larger(own_values, -own_values));
        }
    }
    float top = 0.0f;
#pragma unroll
    for (unsigned e = 0; e < VEC; ++e)
        top = pack_larger(top, static_cast<float>(tops[e]));
    for (unsigned at = row_tail(own); at < own.columns; at += LANES)
        top = pack_larger(top, __builtin_fabsf(value(at)));
    top = row_max<0>(top);

    const bool zero = top < 1.0e-33f;
    const float rate = zero ? 0.0f : limit / top;
    OUT::type *const to = q + own.begin;
    if (!own.exists)
        return;
    if (own.lane == 0)
        scale[own.number] = zero ? 0.0f : top / limit;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step)
        if (row_has(own, step))
            pack_store<OUT, VEC>(to + row_at(own, step), values(step) * rate);
    for (unsigned at = row_tail(own); at < own.columns; at += LANES)
        to[at] = tile_encode<OUT>(value(at) * rate);
}
