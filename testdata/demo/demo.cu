// Two kernels, so small that the wheel around them is a demonstration and a test input.
extern "C" __global__ void add_one(float *values) { values[threadIdx.x] += 1.0f; }

extern "C" __global__ void scale(float *values, float factor) { values[threadIdx.x] *= factor; }
