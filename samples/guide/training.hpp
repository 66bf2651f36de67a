#pragma once

#include <cstdint>

struct CUstream_st;
using cudaStream_t = CUstream_st*;  // same as in the CUDA runtime, for machines that have none

// Functions that stand for the user's own kernels in the code of README.md and docs/guide.
void train_step(const std::uint8_t* images, const std::uint8_t* labels, std::uint64_t samples,
                cudaStream_t stream);
void brighten(const std::uint8_t* in, float* out, std::uint64_t samples, cudaStream_t stream);
void embed(const std::uint8_t* images, float* out, std::uint64_t samples, cudaStream_t stream);
