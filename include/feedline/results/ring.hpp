#pragma once

#include <feedline/device/device.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>
#include <feedline/results/result.hpp>
#include <feedline/results/source_lease.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace feedline::detail {
class result_slots;
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How large a ring is. Its pinned memory is `slots` × `slot_bytes`, rounded up to 256 each,
/// allocated once.
struct result_options {
  std::size_t slot_bytes = 0;  ///< most bytes of one result; at least 1
  std::size_t slots = 4;       ///< results that are under way or held at once; at least 1
};

/// The way back: results (predictions, embeddings, losses) from the device to the CPU, by a ring of
/// pinned memory. One thread pushes, another takes them in the order of the pushes:
///
///     feedline::result_ring results{gpu, {.slot_bytes = batch_size * sizeof(float)}};
///     // the training thread, for each batch:
///     results.push(loss, bytes, feedline::stream_ref{stream}, {.batch = batch.index()});
///     // after the last:
///     results.finish();
///     // the CPU's thread:
///     while (const auto result = results.next()) write(result->values<float>());
///
/// A push waits for no device: an event orders its copy, on a stream of the ring's own, behind the
/// work issued on the pusher's stream so far, and a `source_lease` orders that stream behind the
/// copy. The CPU gets a result once its copy is done, and the device writes a slot again once the
/// CPU has given it back.
///
/// Errors: if the device refuses a call, the pusher and, behind the results that were pushed
/// before, the taker get a `stage_error` of the stage `results`, and so from then on.
///
/// Threads: one pushes at a time, one takes at a time; both may be the same thread, with `try_push`
/// or `try_next`. Any thread may call `stop`. Neither may be in a call when the ring is destroyed.
/// Leases and results may outlive it. A child of fork cannot use it.
class result_ring {
 public:
  /// Allocates; blocks.
  /// @throws usage_error for sizes that cannot be; out_of_memory, device_error.
  result_ring(const device_ptr& device, const result_options& options);
  result_ring(const result_ring&) = delete;
  result_ring& operator=(const result_ring&) = delete;
  /// As `stop`. Results that nobody took are dropped. Memory that copies still use is freed as a
  /// loader's.
  ~result_ring();

  /// Issues the copy of a result to the CPU. Blocks while all slots are under way or held: for the
  /// taker, or for copies that the taker waits for.
  /// @param from   Device memory, written by work on `stream`.
  /// @param bytes  At most `slot_bytes`; 0 sends the tag alone.
  /// @param stream That the memory is written on, and overwritten on later.
  /// @return Ends when the memory is to be overwritten. Nothing if the ring was stopped.
  /// @throws usage_error if the result is too large, the stream is none of the device's or is being
  /// captured, or after `finish`: nothing is pushed then. stage_error if the ring has failed: the
  /// copy may be under way.
  std::optional<source_lease> push(const void* from, std::size_t bytes, stream_ref stream,
                                   const result_tag& tag = {});
  /// The same, but never blocks: nothing, with nothing pushed, also if no slot is free.
  [[nodiscard]] std::optional<source_lease> try_push(const void* from, std::size_t bytes,
                                                     stream_ref stream, const result_tag& tag = {});
  /// No result follows: `next` gives those that were pushed, then nothing. May be called again.
  /// Pusher.
  void finish();

  /// The next result in the order of the pushes; blocks until it is pushed and its copy done,
  /// without using the CPU. Nothing after the last one, and once stopped. Taker.
  /// @throws stage_error if the ring has failed, behind the results before the failure.
  [[nodiscard]] optional_result next();
  /// The same, but never blocks: nothing also if none is there yet. Taker. @throws as `next`.
  [[nodiscard]] optional_result try_next();

  /// Wakes who waits here: nothing is pushed or given any more. For a side that cannot go on. Waits
  /// for nobody. Any thread.
  void stop() noexcept;

  /// Most bytes of one result, as asked for.
  [[nodiscard]] std::size_t slot_bytes() const noexcept;
  [[nodiscard]] std::size_t slots() const noexcept;

 private:
  std::shared_ptr<detail::result_slots> slots_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
