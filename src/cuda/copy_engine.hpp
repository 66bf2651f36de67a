#pragma once

#include <feedline/backend/assembly.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace feedline::detail {

/// Rows of fewer bytes are gathered by a kernel: the driver's call takes a fixed time for each
/// copy, and for short copies that is longer than the transfer.
inline constexpr std::size_t least_copied_row_bytes = std::size_t{64} << 10;

/// Gathers a field's rows from mapped host memory by the GPU's copy engine, if that is as fast as a
/// kernel: for long rows that are copied unchanged and are all cached. It uses no multiprocessor,
/// so all of them stay available to the consumer's kernels. Issues the copies on a stream of the
/// current GPU, and returns.
/// @return False if a kernel must gather the rows; it may overwrite what was issued.
[[nodiscard]] bool gather_by_copy_engine(const assembly& work, const field_assembly& field,
                                         cudaStream_t stream);

}  // namespace feedline::detail
