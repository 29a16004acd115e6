/* SPDX-License-Identifier: MIT
 *
 * What the kernels of rows have in common: LANES lanes own a row of a matrix, go over it once or several times, and
 * agree on sums and maxima in between. A workgroup has BLOCK / LANES rows.
 *
 *     row:    | pack of lane 0 | lane 1 | ... | lane LANES-1 |   step 0
 *             | pack of lane 0 | lane 1 | ... | lane LANES-1 |   step 1 ...   then the tail: elements that fill no pack
 *
 * With HOLD each lane keeps that many packs in registers, as floats, so that memory is read once: rows of up to HOLD *
 * LANES packs. With HOLD 0 every pass reads the row again, from a cache if it fits one: right for rows that are too
 * long for registers, and for CPUs, which have few registers and a fast first cache.
 *
 * Lanes beyond the last row repeat the last row, because wave operations need all of them, and store nothing.
 *
 * Defines: IN the type of elements, tile_f32 and the like; WIDTH bytes of a pack; LANES of a row: within a wave a power
 * of two, or whole waves; BLOCK work-items; HOLD; WHOLE 1: the row is HOLD * LANES packs exactly, so nothing needs a
 * test.
 */
typedef IN::type element;
static constexpr unsigned VEC = WIDTH / sizeof(element);
typedef pack_floats<VEC> floats;
static constexpr int STEPS_AT_ONCE = HOLD ? HOLD : 4;

struct row {
    const element *from; /* the first element */
    uint64_t begin;      /* its number in the matrix */
    uint32_t number;     /* of the row */
    unsigned columns, packs;
    unsigned lane; /* of the row's lanes */
    bool exists;   /* false beyond the last row */
    floats held[HOLD ? HOLD : 1];
};

__device__ static inline unsigned row_steps(const row &own)
{
    return HOLD ? HOLD : (own.packs + LANES - 1 - own.lane) / LANES;
}

__device__ static inline bool row_has(const row &own, unsigned step)
{
    return !HOLD || WHOLE || step * LANES + own.lane < own.packs;
}

/* Where the lane's pack begins in the row. */
__device__ static inline unsigned row_at(const row &own, unsigned step)
{
    return (step * LANES + own.lane) * VEC;
}

/* The lane's first element of the tail; the next are LANES further. */
__device__ static inline unsigned row_tail(const row &own)
{
    return WHOLE ? own.columns : own.packs * VEC + own.lane;
}

/* The row of this lane, not yet loaded. */
__device__ inline row row_open(const element *matrix, uint32_t rows, uint32_t columns)
{
    const unsigned number = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
    row own;
    own.exists = number < rows;
    own.number = own.exists ? number : rows - 1;
    own.begin = static_cast<uint64_t>(own.number) * columns;
    own.from = matrix + own.begin;
    own.columns = columns;
    own.packs = columns / VEC;
    own.lane = threadIdx.x % LANES;
    return own;
}

__device__ static inline void row_load(row &own)
{
    if constexpr (HOLD != 0) {
#pragma unroll
        for (unsigned step = 0; step < HOLD; ++step)
            if (row_has(own, step))
                own.held[step] = pack_load<IN, VEC>(own.from + row_at(own, step));
    }
}

__device__ static inline floats row_pack(const row &own, unsigned step)
{
    if constexpr (HOLD != 0)
        return own.held[step];
    else
        return pack_load<IN, VEC>(own.from + row_at(own, step));
}

/* The lane's sum of squares. Where nothing is held several sums take turns: one alone would wait for itself, a
 * multiply-add's latency for each pack, longer than a cache needs. */
__device__ static inline floats row_squares(const row &own)
{
    constexpr unsigned CHAINS = HOLD ? 1 : 4;
    floats squares[CHAINS] = {};
    const unsigned steps = row_steps(own), whole = HOLD ? 0 : steps / CHAINS * CHAINS;
    for (unsigned step = 0; step < whole; step += CHAINS) {
#pragma unroll
        for (unsigned k = 0; k < CHAINS; ++k) {
            const floats value = row_pack(own, step + k);
            squares[k] = fma(value, value, squares[k]);
        }
    }
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = whole; step < steps; ++step) {
        if (row_has(own, step)) {
            const floats value = row_pack(own, step);
            squares[0] = fma(value, value, squares[0]);
        }
    }
#pragma unroll
    for (unsigned k = 1; k < CHAINS; ++k)
        squares[0] += squares[k];
    return squares[0];
}

/* The row becomes left + right, rounded to its type, and is stored to `to`, from where it is read again if it is not
 * held. The lane's sum of squares. */
__device__ static inline float row_add(row &own, element *to, const element *left, const element *right)
{
    floats squares = 0.0f;
#pragma unroll STEPS_AT_ONCE
    for (unsigned step = 0; step < row_steps(own); ++step) {
        if (row_has(own, step)) {
            const unsigned at = row_at(own, step);
            const floats value = pack_round<IN, VEC>(pack_load<IN, VEC>(left + at) + pack_load<IN, VEC>(right + at));
            if (own.exists)
                pack_store<IN, VEC>(to + at, value);
            if constexpr (HOLD != 0)
                own.held[step] = value;
            squares = fma(value, value, squares);
        }
    }
    float sum = pack_sum<VEC>(squares);
    for (unsigned at = row_tail(own); at < own.columns; at += LANES) {
        const element code = tile_encode<IN>(tile_decode<IN>(left[at]) + tile_decode<IN>(right[at]));
        const float value = tile_decode<IN>(code);
        if (own.exists)
            to[at] = code;
        sum = fma(value, value, sum);
    }
    return sum;
}

/* ---- reductions over the lanes of a row, with the same bits in each. Every `call_site` has its own LDS, so that one
 * barrier is enough ---- */

enum row_operation { ROW_SUM, ROW_MAX };

template <row_operation operation, class value_t> __device__ static value_t row_join(value_t a, value_t b)
{
    if constexpr (operation == ROW_SUM)
        return a + b;
    else
        return a > b ? a : b;
}

template <row_operation operation, int call_site, class value_t> __device__ value_t row_reduce(value_t value)
{
#pragma unroll
    for (unsigned distance = 1; distance < LANES && distance < wave_size(); distance *= 2)
        value = row_join<operation>(value, __shfl_xor(value, distance));
    if constexpr (LANES > wave_size()) {
        constexpr unsigned waves = LANES > wave_size() ? LANES / wave_size() : 1; /* of a row */
        __shared__ value_t parts[BLOCK / wave_size()];
        if (lane_id() == 0)
            parts[wave_id()] = value;
        __syncthreads();
        const unsigned first = wave_id() / waves * waves;
        value = parts[first];
#pragma unroll
        for (unsigned w = 1; w < waves; ++w)
            value = row_join<operation>(value, parts[first + w]);
    }
    return value;
}

template <int call_site, class value_t> __device__ value_t row_sum(value_t value)
{
    return row_reduce<ROW_SUM, call_site>(value);
}

template <int call_site> __device__ float row_max(float value)
{
    return row_reduce<ROW_MAX, call_site>(value);
}
