#include <hip/hip_runtime.h>

typedef struct {
    int rows;
    float alpha;
} SpmvArgs;

__global__ void spmv_csr_scalar(SpmvArgs args, const int *row_ptr, const int *cols, const float *vals, const float *x, float *y)
{
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < args.rows) {
        float dot = 0;
        int row_start = row_ptr[row];
        int row_end = row_ptr[row + 1];
        for (int jj = row_start; jj < row_end; jj++)
            dot += vals[jj] * __ldg(&x[cols[jj]]);
        y[row] = args.alpha * dot;
    }
}
