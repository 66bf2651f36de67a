#pragma once

#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstdint>
#include <memory>

namespace feedline::detail {
class result_slots;
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The ring's hold on device memory that it copies from. When it is destroyed, or assigned to, the
/// stream that pushed is made to wait for that copy: what is issued on it from then on may
/// overwrite the memory. The host waits for nothing.
///
/// Where it ends decides what overlaps the copy. As a temporary it ends at once, and the copy
/// stands in the stream's order like a kernel. Kept until the memory is needed again, the copy runs
/// beside the work that was issued meanwhile:
///
///     std::optional<feedline::source_lease> copying[2];    // one for each of two buffers
///     for (int step = 0; step < steps; ++step) {
///       auto& mine = copying[step % 2];
///       mine.reset();                                      // the copy of two steps ago
///       predict(out[step % 2], stream);
///       mine = results.push(out[step % 2], bytes, feedline::stream_ref{stream});
///     }
///
/// It must end before the work that overwrites the memory is issued: to assign the next push's
/// lease to it, behind that work, is too late.
///
/// The memory must not be freed before the copy is done: end the lease, and free in the stream's
/// order (`cudaFreeAsync`), or with `cudaFree`, which waits. The stream must outlive the lease. A
/// lease that ends while its stream is captured blocks until the copy is done, and leaves the
/// capture alone. If the device refuses to let the stream wait, the ring fails, and the lease
/// blocks likewise.
///
/// Threads: one at a time; any may destroy it, but only the one that pushed if that was on
/// `cudaStreamPerThread`, whose name means another stream elsewhere. May outlive the ring. In a
/// child of fork it may be destroyed, which does nothing there.
class source_lease {
 public:
  source_lease(source_lease&& other) noexcept;
  source_lease& operator=(source_lease&& other) noexcept;
  source_lease(const source_lease&) = delete;
  source_lease& operator=(const source_lease&) = delete;
  ~source_lease();

 private:
  friend class detail::result_slots;
  source_lease(std::shared_ptr<detail::result_slots> slots, slot_index slot, std::uint64_t number,
               stream_ref stream) noexcept;
  void release() noexcept;

  std::shared_ptr<detail::result_slots> slots_;
  slot_index slot_{};
  std::uint64_t number_ = 0;
  stream_ref stream_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
