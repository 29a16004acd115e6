#include <hip/hip_runtime.h>

namespace grid {
__host__ __device__ inline int at(dim3 size, int x, int y) { return y * size.x + x; }
} // namespace grid

__global__ void __launch_bounds__(256) jacobi(const double *u, double *next, int nx, int ny)
{
    const dim3 size(nx, ny);
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    const bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
    next[grid::at(size, x, y)] = edge ? u[grid::at(size, x, y)]
                                      : 0.25 * (u[grid::at(size, x - 1, y)] + u[grid::at(size, x + 1, y)] +
                                                u[grid::at(size, x, y - 1)] + u[grid::at(size, x, y + 1)]);
}
