/* SPDX-License-Identifier: MIT
 *
 * Which element of A, B and C a lane holds at e, as the hardware has it. Private: the contract is in tile.h.
 *
 * Sources: ROCm/amd_matrix_instruction_calculator. The order of k only has to agree between A and B, that of C is
 * fixed. Of gfx1250 the calculator knows nothing: what is here follows LLVM's operand types and how Triton and AMD's
 * simulator rocjitsu place C, and no hardware has shown it.
 *   MFMA    A: row = lane % M, k = P * (lane / M) + e, with P elements per lane; B likewise
 *           C of f32 and i32: row = 4 * (64 / M) * (e / 4) + 4 * (lane / M) + e % 4, column = lane % M
 *           C of f64: row = 4 * e + lane / 16, column = lane % 16
 *   gfx11   A: row = lane % 16, k = e, in both halves of the wave; C: row = 2 * e + lane / 16, column = lane % 16
 *   gfx12   A: row = lane % 16, k = 2 * R * (e / R) + R * (lane / 16) + e % R, R elements in 8 bytes, at most all
 *           C: row = 8 * (lane / 16) + e, column = lane % 16
 *   gfx1250 A: row = lane % 16, k = P * (lane / 16) + e, with P elements per lane; C as gfx12
 *   NVIDIA  see simt_tile_nvidia.h
 *   Sparse  A as above, counting what it has; B the same on MFMA, on gfx12 with R the elements of 16 bytes
 *   Packed  k counts bytes. The scaled instructions of gfx950 take a row of bytes in each lane, as MFMA does
 */
#if SIMT_TILE_LAYOUT == SIMT_TILE_PERMUTED
/* Odd multipliers permute the lanes. A, B and C differ in them, and in how k is split into lanes and elements. */
template <class tile_t> __device__ static unsigned simt_tile_a_row(unsigned lane, unsigned)
{
    return tile_t::m - 1 - (lane * 5 + 3) % ROOFTILE_WAVE % tile_t::m;
}

template <class tile_t> __device__ static unsigned simt_tile_a_k(unsigned lane, unsigned e)
{
    return (lane * 5 + 3) % ROOFTILE_WAVE / tile_t::m * tile_t::a_count + e;
}

template <class tile_t> __device__ static unsigned simt_tile_b_column(unsigned lane, unsigned)
{
    return (lane * 3 + 1) % ROOFTILE_WAVE % tile_t::n;
}

template <class tile_t> __device__ static unsigned simt_tile_b_k(unsigned lane, unsigned e)
{
    return (tile_t::b_depth / tile_t::b_count - 1 - (lane * 3 + 1) % ROOFTILE_WAVE / tile_t::n) * tile_t::b_count + e;
}

template <class tile_t> __device__ static unsigned simt_tile_c_row(unsigned lane, unsigned)
{
    return (lane * 7 + 5) % ROOFTILE_WAVE % tile_t::m;
}

template <class tile_t> __device__ static unsigned simt_tile_c_column(unsigned lane, unsigned e)
{
    return (lane * 7 + 5) % ROOFTILE_WAVE / tile_t::m * tile_t::c_count + tile_t::c_count - 1 - e;
}
#elif SIMT_TILE_LAYOUT == SIMT_TILE_NVIDIA
/* Half of the elements in each of two rows of A, of two columns of B, and of two halves of C's columns. */
template <class tile_t> __device__ static unsigned simt_tile_a_row(unsigned lane, unsigned e)
{
    return lane / 4 + e / (tile_t::a_count / 2) * 8;
}

template <class tile_t> __device__ static unsigned simt_tile_a_k(unsigned lane, unsigned e)
{
    return lane % 4 * (tile_t::a_count / 2) + e % (tile_t::a_count / 2);
}

template <class tile_t> __device__ static unsigned simt_tile_b_column(unsigned lane, unsigned e)
{
    return lane / 4 + e / (tile_t::b_count / 2) * 8;
}

template <class tile_t> __device__ static unsigned simt_tile_b_k(unsigned lane, unsigned e)
{
    return lane % 4 * (tile_t::b_count / 2) + e % (tile_t::b_count / 2);
}

template <class tile_t> __device__ static unsigned simt_tile_c_row(unsigned lane, unsigned e)
{
    return lane / 4 + e / 2 % 2 * 8;
}

template <class tile_t> __device__ static unsigned simt_tile_c_column(unsigned lane, unsigned e)
{
    return lane % 4 * 2 + e % 2 + e / 4 * 8;
}
#else
template <class tile_t> __device__ static unsigned simt_tile_a_row(unsigned lane, unsigned)
{
    return lane % tile_t::m;
}

template <class tile_t> __device__ static unsigned simt_tile_b_column(unsigned lane, unsigned)
{
    return lane % tile_t::n;
}

template <class tile_t> __device__ static unsigned simt_tile_c_column(unsigned lane, unsigned)
{
    return lane % tile_t::n;
}

/* The k of element e, with `count` elements per lane, in runs of `run`. */
template <class tile_t> __device__ static unsigned simt_tile_k(unsigned lane, unsigned e, unsigned count, unsigned run)
{
#if SIMT_TILE_LAYOUT == SIMT_TILE_MFMA || SIMT_TILE_LAYOUT == SIMT_TILE_GFX1250
    return count * (lane / tile_t::m) + e;
#elif SIMT_TILE_LAYOUT == SIMT_TILE_GFX11
    return e;
#else
    return 2 * run * (e / run) + run * (lane / 16) + e % run;
#endif
}

template <class tile_t> __device__ static unsigned simt_tile_a_k(unsigned lane, unsigned e)
{
    return simt_tile_k<tile_t>(lane, e, tile_t::a_count, tile_t::run);
}

template <class tile_t> __device__ static unsigned simt_tile_b_k(unsigned lane, unsigned e)
{
    static_assert(tile_t::m == tile_t::n, "the shapes of these instructions are square in M and N");
    return simt_tile_k<tile_t>(lane, e, tile_t::b_count, tile_t::b_run);
}

template <class tile_t> __device__ static unsigned simt_tile_c_row(unsigned lane, unsigned e)
{
#if SIMT_TILE_LAYOUT == SIMT_TILE_MFMA
    if constexpr (sizeof(typename tile_t::acc_t) == 8)
        return 4 * e + lane / 16;
    return 4 * (64 / tile_t::m) * (e / 4) + 4 * (lane / tile_t::m) + e % 4;
#elif SIMT_TILE_LAYOUT == SIMT_TILE_GFX11
    return 2 * e + lane / 16;
#else
    return 8 * (lane / 16) + e;
#endif
}
#endif
