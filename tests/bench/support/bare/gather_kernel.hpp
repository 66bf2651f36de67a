#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace feedline::bench {

/// The plain gather that placements are measured against: `count` rows of `rows`, in the order of
/// `samples` and one after the other, to `out`. Loads and stores of 16 bytes, four in progress a
/// thread. `rows` may lie on the GPU or in registered host memory; `samples` and `out` lie on the
/// GPU.
/// @param row_bytes A multiple of 16; `count` rows are less than 32 GiB.
/// @param blocks 0: one for each piece of work there is.
void gather_on_gpu(const void* rows, std::size_t row_bytes, const std::uint32_t* samples,
                   std::size_t count, void* out, unsigned blocks, cudaStream_t stream);

}  // namespace feedline::bench
