#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string>

namespace feedline::detail {

// What is needed of nvJPEG, whose headers are not there when feedline is built. Declared as
// nvjpeg.h of CUDA 12 and 13 has it: enumerations are ints there.

/// nvjpegImage_t: of interleaved pixels the first channel is all.
struct nvjpeg_image {
  unsigned char* channel[4] = {};
  std::size_t pitch[4] = {};
};

struct nvjpegHandle;     // NOLINT(readability-identifier-naming)
struct nvjpegJpegState;  // NOLINT(readability-identifier-naming)

/// The library's functions. They return 0 if all went well.
struct nvjpeg_library {
  /// No allocators (null): the library takes device memory by `cudaMalloc`.
  int (*create)(int backend, void* device_allocator, void* pinned_allocator, unsigned flags,
                nvjpegHandle** handle);
  int (*destroy)(nvjpegHandle* handle);
  int (*create_state)(nvjpegHandle* handle, nvjpegJpegState** state);
  int (*destroy_state)(nvjpegJpegState* state);
  int (*begin_batch)(nvjpegHandle* handle, nvjpegJpegState* state, int images, int threads,
                     int format);
  int (*decode_batch)(nvjpegHandle* handle, nvjpegJpegState* state,
                      const unsigned char* const* files, const std::size_t* bytes,
                      nvjpeg_image* images, cudaStream_t stream);

  /// Null if this machine has none. The first call loads it, and it stays. Any thread.
  [[nodiscard]] static const nvjpeg_library* get() noexcept;
};

/// The JPEG engines of the current GPU, which read files in device memory. One thread's.
class jpeg_engines {
 public:
  /// Without engines if there is no nvJPEG, or it finds none: see `refusal`. Takes some 5 MB of
  /// device memory that nobody counts.
  jpeg_engines() noexcept;
  jpeg_engines(const jpeg_engines&) = delete;
  jpeg_engines& operator=(const jpeg_engines&) = delete;
  ~jpeg_engines();

  /// Why they cannot be used; empty if they can.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

  /// Decodes files to RGB, and blocks the host about as long as that takes.
  /// @param files, bytes, images As many of each, at least 1; the files and pixels are on the GPU.
  /// @return False: at least one header is refused, and no image is decoded.
  [[nodiscard]] bool decode(std::span<const unsigned char* const> files,
                            std::span<const std::size_t> bytes, std::span<nvjpeg_image> images,
                            cudaStream_t stream) noexcept;

 private:
  const nvjpeg_library* library_;
  nvjpegHandle* handle_ = nullptr;
  nvjpegJpegState* state_ = nullptr;
  std::size_t batch_ = 0;  ///< images that the state is made ready for
  std::string refusal_;
};

}  // namespace feedline::detail
