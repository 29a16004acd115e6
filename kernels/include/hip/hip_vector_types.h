/* SPDX-License-Identifier: MIT
 *
 * float2, float3, float4 and their like of plain HIP: see hip_runtime.h. Sizes and alignments are HIP's.
 */
#ifndef ROOFTILE_HIP_VECTOR_TYPES_H
#define ROOFTILE_HIP_VECTOR_TYPES_H

template <class type_t, int count> struct HIP_vector_base;
template <class type_t> struct alignas(sizeof(type_t)) HIP_vector_base<type_t, 1> {
    type_t x;
};
template <class type_t> struct alignas(2 * sizeof(type_t)) HIP_vector_base<type_t, 2> {
    type_t x, y;
};
template <class type_t> struct HIP_vector_base<type_t, 3> {
    type_t x, y, z;
};
template <class type_t> struct alignas(4 * sizeof(type_t)) HIP_vector_base<type_t, 4> {
    type_t x, y, z, w;
};

template <class type_t, int count> struct HIP_vector_type : HIP_vector_base<type_t, count> {
    typedef HIP_vector_base<type_t, count> base_t;
    HIP_vector_type() = default;
    __host__ __device__ constexpr explicit HIP_vector_type(type_t all) : base_t{}
    {
        for (int k = 0; k < count; ++k)
            (*this)[k] = all;
    }
    /* All of them, in order. */
    template <class... rest_t>
    __host__ __device__ constexpr HIP_vector_type(type_t first, type_t second, rest_t... rest)
        : base_t{first, second, static_cast<type_t>(rest)...}
    {
        static_assert(sizeof...(rest) + 2 == count, "a vector is made of one value or of all");
    }
    __host__ __device__ type_t &operator[](int k) { return reinterpret_cast<type_t *>(this)[k]; }
    __host__ __device__ const type_t &operator[](int k) const { return reinterpret_cast<const type_t *>(this)[k]; }
};

#define SIMT_ELEMENTWISE(operation)                                                                                    \
    template <class type_t, int count>                                                                                 \
    __host__ __device__ static inline HIP_vector_type<type_t, count> &operator operation##=(                           \
        HIP_vector_type<type_t, count> &a, const HIP_vector_type<type_t, count> &b)                                    \
    {                                                                                                                  \
        for (int k = 0; k < count; ++k)                                                                                \
            a[k] operation## = b[k];                                                                                   \
        return a;                                                                                                      \
    }                                                                                                                  \
    template <class type_t, int count, class scalar_t>                                                                 \
    __host__ __device__ static inline HIP_vector_type<type_t, count> &operator operation##=(                           \
        HIP_vector_type<type_t, count> &a, scalar_t b)                                                                 \
    {                                                                                                                  \
        return a operation## = HIP_vector_type<type_t, count>(static_cast<type_t>(b));                                 \
    }                                                                                                                  \
    template <class type_t, int count>                                                                                 \
    __host__ __device__ static inline HIP_vector_type<type_t, count> operator operation(                               \
        HIP_vector_type<type_t, count> a, const HIP_vector_type<type_t, count> &b)                                     \
    {                                                                                                                  \
        return a operation## = b;                                                                                      \
    }                                                                                                                  \
    template <class type_t, int count, class scalar_t>                                                                 \
    __host__ __device__ static inline HIP_vector_type<type_t, count> operator operation(                               \
        HIP_vector_type<type_t, count> a, scalar_t b)                                                                  \
    {                                                                                                                  \
        return a operation## = b;                                                                                      \
    }                                                                                                                  \
    template <class type_t, int count, class scalar_t>                                                                 \
    __host__ __device__ static inline HIP_vector_type<type_t, count> operator operation(                               \
        scalar_t a, const HIP_vector_type<type_t, count> &b)                                                           \
    {                                                                                                                  \
        HIP_vector_type<type_t, count> all(static_cast<type_t>(a));                                                    \
        return all operation## = b;                                                                                    \
    }
SIMT_ELEMENTWISE(+)
SIMT_ELEMENTWISE(-)
SIMT_ELEMENTWISE(*)
SIMT_ELEMENTWISE(/)
#undef SIMT_ELEMENTWISE

template <class type_t, int count>
__host__ __device__ static inline bool operator==(
    const HIP_vector_type<type_t, count> &a, const HIP_vector_type<type_t, count> &b)
{
    bool equal = true;
    for (int k = 0; k < count; ++k)
        equal = equal && a[k] == b[k];
    return equal;
}

#define SIMT_VECTORS(name, type_t)                                                                                     \
    typedef HIP_vector_type<type_t, 1> name##1;                                                                        \
    typedef HIP_vector_type<type_t, 2> name##2;                                                                        \
    typedef HIP_vector_type<type_t, 3> name##3;                                                                        \
    typedef HIP_vector_type<type_t, 4> name##4;                                                                        \
    __host__ __device__ static inline name##1 make_##name##1(type_t x)                                                 \
    {                                                                                                                  \
        return name##1(x);                                                                                             \
    }                                                                                                                  \
    __host__ __device__ static inline name##2 make_##name##2(type_t x, type_t y)                                       \
    {                                                                                                                  \
        return {x, y};                                                                                                 \
    }                                                                                                                  \
    __host__ __device__ static inline name##3 make_##name##3(type_t x, type_t y, type_t z)                             \
    {                                                                                                                  \
        return {x, y, z};                                                                                              \
    }                                                                                                                  \
    __host__ __device__ static inline name##4 make_##name##4(type_t x, type_t y, type_t z, type_t w)                   \
    {                                                                                                                  \
        return {x, y, z, w};                                                                                           \
    }
SIMT_VECTORS(char, signed char)
SIMT_VECTORS(uchar, unsigned char)
SIMT_VECTORS(short, short)
SIMT_VECTORS(ushort, unsigned short)
SIMT_VECTORS(int, int)
SIMT_VECTORS(uint, unsigned)
SIMT_VECTORS(long, long)
SIMT_VECTORS(ulong, unsigned long)
SIMT_VECTORS(longlong, long long)
SIMT_VECTORS(ulonglong, unsigned long long)
SIMT_VECTORS(float, float)
SIMT_VECTORS(double, double)
#undef SIMT_VECTORS

#endif
