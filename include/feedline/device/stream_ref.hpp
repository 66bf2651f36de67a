#pragma once

#include <feedline/export.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <type_traits>

struct CUstream_st;  ///< CUDA's type: a `cudaStream_t` points to it

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Whether pointers to a class are streams of a device. Specialize it for device backends whose
/// streams are of another class than CUDA's:
///
///     template <>
///     inline constexpr bool feedline::is_stream<my_stream> = true;
template <class Class>
inline constexpr bool is_stream = std::is_same_v<Class, CUstream_st>;

/// Borrows a stream of the consumer, the queue that its kernels run on. A stream_ref owns nothing:
/// the stream must outlive every batch taken on it.
///
///     feedline::stream_ref{compute_stream}        // a cudaStream_t
///     feedline::stream_ref{cudaStreamPerThread}   // the calling thread's default stream
///     feedline::stream_ref{}                      // no stream: the consumer runs on the host
///
/// A stream cannot be spelled 0 or nullptr: a compiler flag decides whether these mean the legacy
/// or the per-thread default stream, so they do not compile. Write `cudaStreamLegacy` or
/// `cudaStreamPerThread`. A pointer to anything but a stream does not compile either.
class stream_ref {
 public:
  /// No stream: for devices whose consumer is the host.
  constexpr stream_ref() noexcept = default;

  /// Borrows a device's stream, such as a `cudaStream_t`.
  template <class Handle>
  requires is_stream<Handle>
  explicit stream_ref(Handle* handle) noexcept : handle_{handle} {}

  stream_ref(std::nullptr_t) = delete;
  stream_ref(std::integral auto) = delete;

  /// The device's handle; null for no stream.
  [[nodiscard]] void* get() const noexcept { return handle_; }

  /// Whether there is a stream.
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

  /// For device backends: borrows a handle whose type only the backend knows.
  [[nodiscard]] static stream_ref from_raw(void* handle) noexcept {
    stream_ref stream;
    stream.handle_ = handle;
    return stream;
  }

  friend bool operator==(const stream_ref&, const stream_ref&) = default;

 private:
  void* handle_ = nullptr;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
