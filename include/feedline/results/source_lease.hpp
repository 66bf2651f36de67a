#pragma once

#include <feedline/detail/lease.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstdint>

namespace feedline::detail {
class result_slots;

inline namespace FEEDLINE_ABI {

/// The source of a result.
struct leased_source {
  slot_index slot{};
  std::uint64_t number = 0;  ///< the result's
  stream_ref stream = {};    ///< the pusher's
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The ring's lease on device memory that it copies from. When it is destroyed or assigned to, the
/// pusher's stream is made to wait for that copy. So work issued on the stream from then on may
/// overwrite the memory. The host does not wait.
///
/// The end of the lease decides which work overlaps the copy. A temporary lease ends at once, so
/// the copy is ordered in the stream like a kernel. If the lease is kept until the memory is needed
/// again, the copy runs in parallel with the work issued meanwhile:
///
///     std::optional<feedline::source_lease> copying[2];    // one for each of two buffers
///     for (int step = 0; step < steps; ++step) {
///       auto& mine = copying[step % 2];
///       mine.reset();                                      // the copy of two steps ago
///       predict(out[step % 2], stream);
///       mine = results.push(out[step % 2], bytes, feedline::stream_ref{stream});
///     }
///
/// The lease must end before the work that overwrites the memory is issued. Assigning the next
/// push's lease after that work is too late.
///
/// The memory must not be freed before the copy is done. Either end the lease and free in the
/// stream's order (`cudaFreeAsync`), or use `cudaFree`, which waits. The stream must outlive the
/// lease. A lease that ends while its stream is captured blocks until the copy is done, and does
/// not affect the capture. If the device refuses to make the stream wait, the ring fails, and the
/// lease blocks in the same way.
///
/// Threads: one at a time; any thread may destroy it. Exception: if the push was on
/// `cudaStreamPerThread`, only the pushing thread may, because the name means a different stream on
/// other threads. May outlive the ring. In a child of fork it may be destroyed, which does nothing
/// there.
class source_lease {
 public:
  source_lease(source_lease&& other) noexcept;
  source_lease& operator=(source_lease&& other) noexcept;
  source_lease(const source_lease&) = delete;
  source_lease& operator=(const source_lease&) = delete;
  ~source_lease();

 private:
  friend class detail::result_slots;
  using lease_type = detail::lease<detail::result_slots, detail::leased_source>;
  explicit source_lease(lease_type lease) noexcept;

  lease_type lease_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
