#pragma once

/// Before functions that kernels call too.
#if defined(__CUDACC__)
#define FEEDLINE_HOST_DEVICE __host__ __device__
#else
#define FEEDLINE_HOST_DEVICE
#endif
