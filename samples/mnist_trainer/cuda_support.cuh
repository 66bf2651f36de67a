#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

/// Throws std::runtime_error with CUDA's words and the place unless the call succeeded.
#define FEEDLINE_SAMPLE_CHECK(call) ::mnist::check((call), #call, __FILE__, __LINE__)

namespace mnist {

void check(cudaError_t error, const char* call, const char* file, int line);
void check(cublasStatus_t status, const char* call, const char* file, int line);

/// Threads in a block, and blocks enough for a thread an element.
inline constexpr unsigned block_threads = 256;
[[nodiscard]] constexpr unsigned blocks_for(std::size_t elements) {
  return static_cast<unsigned>((elements + block_threads - 1) / block_threads);
}

/// A stream of the current GPU that waits for no other implicitly.
class cuda_stream {
 public:
  cuda_stream();
  cuda_stream(const cuda_stream&) = delete;
  cuda_stream& operator=(const cuda_stream&) = delete;
  ~cuda_stream();

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  /// Blocks the host until all work issued on the stream is done.
  void sync() const;

 private:
  cudaStream_t stream_ = nullptr;
};

/// cuBLAS on one stream.
class cublas {
 public:
  explicit cublas(const cuda_stream& stream);
  cublas(const cublas&) = delete;
  cublas& operator=(const cublas&) = delete;
  ~cublas();

  [[nodiscard]] cublasHandle_t get() const noexcept { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

/// Bytes on the current GPU, zeroed by the stream. Freed when all work on the GPU is done.
class device_memory {
 public:
  device_memory(std::size_t bytes, const cuda_stream& stream);
  device_memory(device_memory&& other) noexcept;
  device_memory& operator=(device_memory&&) = delete;
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  ~device_memory();

  [[nodiscard]] void* get() const noexcept { return memory_; }

 private:
  void* memory_ = nullptr;
};

/// An array on the current GPU.
template <class T>
class device_array {
 public:
  device_array(std::size_t count, const cuda_stream& stream) : memory_{count * sizeof(T), stream} {}

  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.get()); }

  /// Copies from the host, which may reuse its array on return.
  void upload(std::span<const T> from, const cuda_stream& stream) {
    FEEDLINE_SAMPLE_CHECK(cudaMemcpyAsync(data(), from.data(), from.size_bytes(),
                                          cudaMemcpyHostToDevice, stream.get()));
    stream.sync();
  }
  /// The first element, once all work issued on the stream is done.
  [[nodiscard]] T first(const cuda_stream& stream) const {
    T value{};
    FEEDLINE_SAMPLE_CHECK(
        cudaMemcpyAsync(&value, data(), sizeof value, cudaMemcpyDeviceToHost, stream.get()));
    stream.sync();
    return value;
  }

 private:
  device_memory memory_;
};

}  // namespace mnist
