#pragma once

#include "cuda/decode/jpeg/batch.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// A batch as the kernels that decode it see it: all pointers are to device memory.
struct jpeg_batch {
  const jpeg_image* images = nullptr;
  std::uint32_t count = 0;
  bool allow_damaged = false;
  std::byte* memory = nullptr;   ///< memory in which the images have been placed
  std::uint32_t* bad = nullptr;  ///< one word for each load
};

// Each function loads the kernels issued below, on the current GPU. @throws cuda_error.

void load_scan_kernels();
void load_pixel_kernels();  ///< tables and samples, too
void load_resize_kernels();
void load_wide_resize_kernel();

// Each function issues its kernels on a stream of the current GPU. @throws cuda_error.

/// Writes the table of a batch's images to device memory.
void issue_table(std::span<const jpeg_image> images, jpeg_image* table, cudaStream_t stream);
/// Checks headers, and decodes scans to the coefficients of their blocks. Sets the `bad` words of
/// loads whose headers differ from what the load says, and of loads with damaged scans unless
/// damage is allowed. @param images The batch's, on the host.
void issue_scans(const jpeg_batch& batch, std::span<const jpeg_image> images, cudaStream_t stream);
/// Makes samples from coefficients.
void issue_samples(const jpeg_batch& batch, cudaStream_t stream);
/// Makes pixels from samples.
void issue_pixels(const jpeg_batch& batch, cudaStream_t stream);

/// Resizes decoded images to their rows, and fills the rest of these: bit for bit like `resampler`
/// and `place_pixels` on the same pixels.
/// @param row The row for which the images were placed. @param images The batch's, on the host.
void issue_resizes(const jpeg_batch& batch, const image_row& row,
                   std::span<const jpeg_image> images, cudaStream_t stream);

/// The part of `issue_resizes` for rows of u16, for which the taps have been written: resizes
/// images, bit for bit like `resampler`. @param tiles Tiles of the largest image, and the images.
void issue_wide_resizes(const jpeg_batch& batch, const image_row& row, dim3 tiles,
                        cudaStream_t stream);

}  // namespace feedline::detail
