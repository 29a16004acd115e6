/* SPDX-License-Identifier: MIT
 *
 * How a gemm kernel stores its results: kinds of D and C, and alpha and beta. Needs the type `sum` of accumulators and
 * OUT, one of the kinds.
 */
/* Kinds of D and C: the type in memory, with conversions to and from the accumulators' type. */
template <class stored_t> struct out_plain {
    typedef stored_t type;
};
struct out_f32 : out_plain<float> {};
struct out_f64 : out_plain<double> {};
struct out_i32 : out_plain<int32_t> {};
struct out_f16 : out_plain<float16> {};
struct out_bf16 : out_plain<uint16_t> {};

template <class kind> __device__ static sum number_of(const kind &, typename kind::type value)
{
    return static_cast<sum>(value);
}

template <class kind> __device__ static typename kind::type stored_of(const kind &, sum value)
{
    return static_cast<typename kind::type>(value);
}

__device__ static sum number_of(const out_bf16 &, uint16_t value)
{
    return static_cast<sum>(__builtin_bit_cast(float, static_cast<uint32_t>(value) << 16));
}

/* To nearest even; a NaN stays one. */
__device__ static uint16_t stored_of(const out_bf16 &, sum value)
{
    const uint32_t bits = __builtin_bit_cast(uint32_t, static_cast<float>(value));
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return static_cast<uint16_t>(bits >> 16 | 0x40u);
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* alpha * product + beta * c; without beta nothing is read. Integers wrap. */
__device__ static OUT::type blend(sum product, sum alpha, sum beta, const OUT::type *c)
{
    if constexpr (static_cast<sum>(0.5) == 0) {
        const uint32_t scaled = static_cast<uint32_t>(alpha) * static_cast<uint32_t>(product);
        const uint32_t rest = beta != 0 ? static_cast<uint32_t>(beta) * static_cast<uint32_t>(*c) : 0;
        return stored_of(OUT(), static_cast<sum>(scaled + rest));
    } else {
        return stored_of(OUT(), beta != 0 ? alpha * product + beta * number_of(OUT(), *c) : alpha * product);
    }
}
