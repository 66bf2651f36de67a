#pragma once

/// Before functions that kernels call too.
#if defined(__CUDACC__)
#define FEEDLINE_HOST_DEVICE __host__ __device__
#else
#define FEEDLINE_HOST_DEVICE
#endif

/// Before large functions that kernels call more than once, so that each is compiled once.
#if defined(__CUDACC__)
#define FEEDLINE_SEPARATE __noinline__
#else
#define FEEDLINE_SEPARATE
#endif

/// Before loops that mostly end after one round, which kernels would else repeat in advance.
#if defined(__CUDA_ARCH__)
#define FEEDLINE_SHORT_LOOP _Pragma("unroll 1")
#else
#define FEEDLINE_SHORT_LOOP
#endif
