/* SPDX-License-Identifier: MIT */
#error "there are no cooperative groups: write __syncthreads(), and __shfl_down() and its like with a width"
