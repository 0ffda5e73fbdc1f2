// FATHOM_HOST_AND_GPU: marks what is compiled for both, so that one is the other's reference.
//
// Used by what probes of hosts and of GPUs share.
#ifndef FATHOM_KERNELS_MEASURE_HOST_AND_GPU_H_
#define FATHOM_KERNELS_MEASURE_HOST_AND_GPU_H_

#ifdef __CUDACC__
#define FATHOM_HOST_AND_GPU __host__ __device__
#else
#define FATHOM_HOST_AND_GPU
#endif

#endif  // FATHOM_KERNELS_MEASURE_HOST_AND_GPU_H_
