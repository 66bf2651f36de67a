#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace feedline::bench {

/// Keeps one multiprocessor busy for a number of its clock cycles: a training step's stand-in,
/// which touches no memory. 0 is an empty kernel.
void launch_busy(cudaStream_t stream, std::uint64_t cycles);

/// When a kernel ran, in nanoseconds of the GPU's own clock (%globaltimer), which all its
/// multiprocessors share.
struct kernel_stamps {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The same kernel, which notes when it begins and ends. @param stamps In memory of the device.
void launch_stamped(cudaStream_t stream, std::uint64_t cycles, kernel_stamps* stamps);

}  // namespace feedline::bench
