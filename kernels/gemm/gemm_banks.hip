/* SPDX-License-Identifier: MIT
 *
 * Bank conflicts in LDS of gemm_matrix, counted: the same index functions (gemm_slab.h, tile.h) as there, on their
 * addresses alone, on the CPU device. Each lane works out where it would read or write; lanes that LDS serves together
 * compare banks. The result is how many of them ask a bank for other words than the lane does, in its worst access: 0 is
 * no conflict, and the same word serves all.
 *
 * Which lanes are served together: 32 banks of 4 bytes give a group of lanes 128 bytes per clock, that is 8 lanes of 16
 * bytes, 16 of 8, 32 of 4. They are neighbours, except in reads of 16 bytes by a wave of 64, where halves of two such
 * groups go together: 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27, and the same from 32 on.
 * Sources: AMD, "Avoiding LDS Bank Conflicts on AMD GPUs Using CK-Tile Framework" (ROCm blog, July 2025), and
 * Composable Kernel's "Understanding AMD GPU LDS and Bank Conflicts". For RDNA nothing is documented: groups of
 * neighbours are assumed there, and with HALVES the order above as well, which a good swizzle stands. NVIDIA serves
 * neighbours: 16 bytes of 8 lanes at a time, 8 bytes of half a warp (A. Kerr, "Developing CUDA Kernels to Push Tensor
 * Cores to the Absolute Limit on NVIDIA A100", GTC 2020); with its fragments (TILE_LAYOUT 3) these are of two rows.
 *
 * Defines: as gemm_matrix has them for its slabs; HALVES: the order of reads above, else neighbours.
 */
#include "portable.h"
#include "tile.h"

#include "gemm_slab.h"

using fragment = tile<M, M, K, IN, IN::acc_t>;
typedef fragment::in_t element;

static constexpr unsigned LANES = WM * WN * ROOFTILE_WAVE;
using group_of = slab_group<fragment>;
using slab_a = slab<BM, BK, sizeof(element), !TA, SWIZZLE, LANES>;
using slab_b = slab<BN, BK, sizeof(element), TB, SWIZZLE, LANES>;

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

/* All writes and reads of one operand's slab by this lane: the worst. `first`: of the wave's rows. */
template <class slab_t, bool is_a> __device__ unsigned worst_of(unsigned first, unsigned tiles)
{
    constexpr unsigned width = slab_t::words * 4;
    unsigned worst = 0;
    for (unsigned move = 0; move < slab_t::moves; move += slab_t::turn)
        for (unsigned i = 0; i < (slab_t::along ? 1 : slab_t::pack); ++i) {
            const unsigned row = slab_move_row<slab_t>(threadIdx.x, move), k = slab_move_k<slab_t>(threadIdx.x, move);
            const unsigned at = slab_unit<slab_t>(row + i, k / slab_t::pack) * 16 + k % slab_t::pack * sizeof(element);
            const unsigned found = clashes_at<width, false>(at);
            worst = found > worst ? found : worst;
        }
    const unsigned row = first + (is_a ? tile_a_row<fragment>(0) : tile_b_column<fragment>(0));
    const unsigned k = is_a ? tile_a_k<fragment>(0) : tile_b_k<fragment>(0);
    const unsigned base = slab_unit<slab_t>(row, slab_first_unit<fragment>(k));
    constexpr unsigned step_chunks = group_of::depth / slab_t::pack;
    for (unsigned number = 0; number < tiles * group_of::rows; ++number)
        for (unsigned chunk = 0; chunk < BK / group_of::depth * step_chunks; ++chunk) {
            if (chunk % step_chunks >= group_of::lane_units)
                continue;
            const unsigned at = slab_unit_beyond<slab_t>(base, number * group_of::apart, chunk);
            const unsigned found = clashes_at<16, true>(at * 16);
            worst = found > worst ? found : worst;
        }
    return worst;
}

KERNEL __launch_bounds__(WM *WN *ROOFTILE_WAVE) void gemm_banks(uint32_t *conflicts)
{
    const unsigned wave = threadIdx.x / ROOFTILE_WAVE;
    const unsigned a = worst_of<slab_a, true>(wave / WN * (BM / WM), BM / WM / M);
    const unsigned b = worst_of<slab_b, false>(wave % WN * (BN / WN), BN / WN / M);
    conflicts[threadIdx.x] = a > b ? a : b;
}
KERNEL_EXPORT(gemm_banks)
