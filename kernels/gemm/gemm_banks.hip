/* SPDX-License-Identifier: MIT
 *
 * Counts the LDS bank conflicts of gemm_matrix on the CPU device, from the same index functions (gemm_k_tile.h,
 * tile.h). Each lane works out the addresses of its reads and writes; lanes that LDS serves together compare banks. The
 * result is how many of them ask a bank for other words than the lane does, in its worst access. 0 is no conflict;
 * lanes that ask for the same word are served at once.
 *
 * Which lanes are served together: 32 banks of 4 bytes give a group of lanes 128 bytes per clock, that is 8 lanes of 16
 * bytes, 16 of 8, 32 of 4. They are adjacent, except in reads of 16 bytes by a wave of 64, where halves of two such
 * groups go together: 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27, and the same from 32 on.
 * Sources: AMD, "Avoiding LDS Bank Conflicts on AMD GPUs Using CK-Tile Framework" (ROCm blog, July 2025), and
 * Composable Kernel's "Understanding AMD GPU LDS and Bank Conflicts". Nothing is documented for RDNA: adjacent lanes
 * are assumed there, and with HALVES also the order above; a good swizzle is free of conflicts with both. NVIDIA serves
 * adjacent lanes: 16 bytes of 8 at a time, 8 bytes of half a warp (A. Kerr, "Developing CUDA Kernels to Push Tensor
 * Cores to the Absolute Limit on NVIDIA A100", GTC 2020); with its fragments (TILE_LAYOUT 3) these are of two rows.
 *
 * Defines: as gemm_matrix has them for its K tiles; HALVES: reads in the order above, else by adjacent lanes.
 */
#include "portable.h"
#include "tile.h"
#include "gemm_k_tile.h"

using fragment = tile<M, M, K, IN, IN::acc_t>;
typedef fragment::in_t element;

static constexpr unsigned LANES = WM * WN * ROOFTILE_WAVE;
using group_of = k_tile_group<fragment>;
using a_tile = k_tile<BM, BK, sizeof(element), !TA, SWIZZLE, LANES>;
using b_tile = k_tile<BN, BK, sizeof(element), TB, SWIZZLE, LANES>;

/* The number of the group that serves a lane. */
template <unsigned bytes, bool reads> __device__ static constexpr unsigned served_with(unsigned lane)
{
    if (!reads || bytes < 16 || !HALVES)
        return lane * bytes / 128;
    const unsigned four = lane / 4 % 8; /* of 32 lanes */
    constexpr unsigned order[8] = {0, 1, 2, 3, 1, 0, 3, 2};
    return lane / 32 * 4 + order[four];
}

/* Lanes served together with this one that want other words of one of its banks. `address` is in bytes. */
template <unsigned bytes, bool reads> __device__ unsigned clashes_at(unsigned address)
{
    const unsigned self = served_with<bytes, reads>(lane_id());
    unsigned most = 0;
    for (unsigned word = 0; word < bytes / 4; ++word) {
        const unsigned mine = address / 4 + word;
        unsigned clashes = 0;
        for (unsigned lane = 0; lane < wave_size(); ++lane) {
            const unsigned first = __shfl(address, lane) / 4;
            bool clash = false;
            for (unsigned other = 0; other < bytes / 4; ++other)
                clash = clash || (served_with<bytes, reads>(lane) == self && (first + other) % 32 == mine % 32 &&
                                     first + other != mine);
            clashes += clash;
        }
        most = clashes > most ? clashes : most;
    }
    return most;
}

/* The worst of this lane's writes and reads of one operand's K tile. `first`: the wave's first row. */
template <class k_tile_t, bool is_a> __device__ unsigned worst_of(unsigned first, unsigned tiles)
{
    constexpr unsigned width = k_tile_t::words * 4;
    unsigned worst = 0;
    for (unsigned move = 0; move < k_tile_t::moves; move += k_tile_t::k_block)
        for (unsigned i = 0; i < (k_tile_t::k_contiguous ? 1 : k_tile_t::pack); ++i) {
            const unsigned row = k_tile_move_row<k_tile_t>(threadIdx.x, move),
                           k = k_tile_move_k<k_tile_t>(threadIdx.x, move);
            const unsigned at =
                k_tile_unit<k_tile_t>(row + i, k / k_tile_t::pack) * 16 + k % k_tile_t::pack * sizeof(element);
            const unsigned found = clashes_at<width, false>(at);
            worst = found > worst ? found : worst;
        }
    const unsigned row = first + (is_a ? tile_a_row<fragment>(0) : tile_b_column<fragment>(0));
    const unsigned k = is_a ? tile_a_k<fragment>(0) : tile_b_k<fragment>(0);
    const unsigned base = k_tile_unit<k_tile_t>(row, k_tile_first_unit<fragment>(k));
    constexpr unsigned step_chunks = group_of::depth / k_tile_t::pack;
    for (unsigned number = 0; number < tiles * group_of::rows; ++number)
        for (unsigned chunk = 0; chunk < BK / group_of::depth * step_chunks; ++chunk) {
            if (chunk % step_chunks >= group_of::lane_units)
                continue;
            const unsigned at = k_tile_unit_plus<k_tile_t>(base, number * group_of::row_stride, chunk);
            const unsigned found = clashes_at<16, true>(at * 16);
            worst = found > worst ? found : worst;
        }
    return worst;
}

extern "C" __global__ __launch_bounds__(LANES) void gemm_banks(uint32_t *conflicts)
{
    const unsigned wave = threadIdx.x / ROOFTILE_WAVE;
    const unsigned a = worst_of<a_tile, true>(wave / WN * (BM / WM), BM / WM / M);
    const unsigned b = worst_of<b_tile, false>(wave % WN * (BN / WN), BN / WN / M);
    conflicts[threadIdx.x] = a > b ? a : b;
}
