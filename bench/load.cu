/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* load.cu - a matrix product that keeps a GPU busy: C[z] = A B[z], row-major, fp32
 *
 * A block of 16 x 16 threads makes a tile of 128 x 128, each thread 8 x 8 of it in registers; tiles
 * of A and B go through shared memory, eight deep. Grid: n / 128 columns, n / 128 rows, matrices.
 *
 * The program holds it as PTX, which the driver compiles for its GPU, so no build needs nvcc. After
 * a change (bench/local.mk has the command) make load.ptx again and commit both; a lint checks.
 */

#define TILE 128
#define DEPTH 8
#define THREADS 256
#define SIDE 16 /* threads of a block along each side */
#define PART 8 /* rows and columns of a thread */

/* A thread's rows are threadIdx / SIDE + SIDE * i, its columns threadIdx % SIDE + SIDE * j. */
static __device__ void multiply(const float (*as)[TILE], const float (*bs)[TILE],
				float (*sum)[PART])
{
	const int row = (int)threadIdx.x / SIDE, column = (int)threadIdx.x % SIDE;

#pragma unroll
	for (int k = 0; k < DEPTH; k++) {
		float x[PART], y[PART];

#pragma unroll
		for (int i = 0; i < PART; i++) {
			x[i] = as[k][row + SIDE * i];
			y[i] = bs[k][column + SIDE * i];
		}
#pragma unroll
		for (int i = 0; i < PART; i++) {
#pragma unroll
			for (int j = 0; j < PART; j++)
				sum[i][j] += x[i] * y[j];
		}
	}
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
	nt_load_product(const float *a, const float *b, float *c, int n)
{
	__shared__ float as[DEPTH][TILE], bs[DEPTH][TILE];
	const size_t matrix = (size_t)n * (size_t)n * blockIdx.z;
	const int first_row = (int)blockIdx.y * TILE, first_column = (int)blockIdx.x * TILE;
	const int t = (int)threadIdx.x;
	float sum[PART][PART] = { { 0 } };

	for (int k = 0; k < n; k += DEPTH) {
		/* Four elements of each a thread. */
		for (int i = t; i < TILE * DEPTH; i += THREADS) {
			as[i % DEPTH][i / DEPTH] =
				a[(size_t)(first_row + i / DEPTH) * n + k + i % DEPTH];
			bs[i / TILE][i % TILE] =
				b[matrix + (size_t)(k + i / TILE) * n + first_column + i % TILE];
		}
		__syncthreads();
		multiply(as, bs, sum);
		__syncthreads();
	}
	for (int i = 0; i < PART; i++) {
		for (int j = 0; j < PART; j++)
			c[matrix + (size_t)(first_row + t / SIDE + SIDE * i) * n + first_column +
			  t % SIDE + SIDE * j] = sum[i][j];
	}
}
