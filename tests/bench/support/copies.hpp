#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace feedline::bench {

/// Bytes a second of copies of one size from `from` to `to`, back to back on a stream for about so
/// many seconds.
[[nodiscard]] double copy_rate(void* to, const void* from, std::size_t bytes, cudaStream_t stream,
                               double seconds);

/// The same from pinned memory to the GPU, with memory of its own: the limit of every loader that
/// streams.
[[nodiscard]] double pinned_copy_rate(std::size_t bytes, double seconds);

}  // namespace feedline::bench
