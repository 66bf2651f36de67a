#pragma once

#include <feedline/device/assembly.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace feedline::detail {

/// Rows of fewer bytes are gathered by a kernel: the driver's call takes its time for each copy,
/// whatever its size, and for short ones longer than the bus.
inline constexpr std::size_t least_copied_row_bytes = std::size_t{64} << 10;

/// Gathers a field's rows out of mapped host memory by the GPU's copy engine, where that is as fast
/// as a kernel: long rows, copied as they are, all of them cached. No multiprocessor is used, so
/// the consumer's kernels have them all. Issues the copies on a stream of the current GPU, and
/// returns.
/// @return False: a kernel is to do it, and may overwrite what was issued.
[[nodiscard]] bool gather_by_copy_engine(const assembly& work, const field_assembly& field,
                                         cudaStream_t stream);

}  // namespace feedline::detail
