#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace feedline::bench {

/// Keeps one multiprocessor busy for a number of its clock cycles: a training step's stand-in,
/// which touches no memory. 0 is an empty kernel.
void launch_busy(cudaStream_t stream, std::uint64_t cycles);

}  // namespace feedline::bench
