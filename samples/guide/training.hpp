#pragma once

#include <cstdint>

struct CUstream_st;
using cudaStream_t = CUstream_st*;  // as the CUDA runtime has it, for machines that have none

// What stands for the user's own kernels in the code that README.md and docs/guide show.
void train_step(const std::uint8_t* images, const std::uint8_t* labels, std::uint64_t samples,
                cudaStream_t stream);
void brighten(const std::uint8_t* in, float* out, std::uint64_t samples, cudaStream_t stream);
void embed(const std::uint8_t* images, float* out, std::uint64_t samples, cudaStream_t stream);
