#pragma once

#include "cuda/decode/jpeg/batch.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// A batch as the kernels that decode it know it: all pointers are to device memory.
struct jpeg_batch {
  const jpeg_image* images = nullptr;
  std::uint32_t count = 0;
  bool allow_damaged = false;
  std::byte* memory = nullptr;   ///< in which images have their places
  std::uint32_t* bad = nullptr;  ///< of each load
};

// Each loads the kernels that are issued below, on the current GPU. @throws cuda_error.

void load_scan_kernels();
void load_pixel_kernels();  ///< tables and samples, too
void load_resize_kernels();

// Each issues its kernels on a stream of the current GPU. @throws cuda_error.

/// Writes the table of a batch's images to device memory.
void issue_table(std::span<const jpeg_image> images, jpeg_image* table, cudaStream_t stream);
/// Looks at headers, and decodes scans to the coefficients of their blocks. Sets the words of loads
/// whose headers are not theirs, and of those whose scans are not whole, if that matters.
void issue_scans(const jpeg_batch& batch, cudaStream_t stream);
/// Makes samples of coefficients.
void issue_samples(const jpeg_batch& batch, cudaStream_t stream);
/// Makes pixels of samples.
void issue_pixels(const jpeg_batch& batch, cudaStream_t stream);

/// Resizes decoded images to their rows: to the bit what `resampler` makes of the same pixels.
/// @param row As they have their places for.
void issue_resizes(const jpeg_batch& batch, const image_row& row, cudaStream_t stream);

}  // namespace feedline::detail
