#pragma once

#include <feedline/device/device_ptr.hpp>
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

/// Size of a ring. Its pinned memory is `slots` × `slot_bytes`, each slot rounded up to a
/// multiple of 256, allocated once.
struct result_options {
  std::size_t slot_bytes = 0;  ///< maximum size of a result; at least 1
  std::size_t slots = 4;       ///< results that are in flight or held at once; at least 1
};

/// Returns results (predictions, embeddings, losses) from the device to the CPU through a ring of
/// pinned memory. One thread pushes results, and another takes them in the order of the pushes:
///
///     feedline::result_ring results{gpu, {.slot_bytes = batch_size * sizeof(float)}};
///     // the training thread, for each batch:
///     results.push(loss, bytes, feedline::stream_ref{stream}, {.batch = batch.index()});
///     // after the last:
///     results.finish();
///     // the CPU's thread:
///     while (const auto result = results.next()) write(result->values<float>());
///
/// A push does not wait for the device. Its copy runs on a stream of the ring's own; an event
/// orders it after the work issued on the pusher's stream so far. A `source_lease` orders the
/// pusher's stream after the copy. The CPU gets a result once its copy is done. The device writes a
/// slot again once the CPU has returned it.
///
/// Errors: if the device refuses a call, the pusher gets a `stage_error` of the stage `results`.
/// The taker gets it after the results that were pushed before. All later calls throw it too.
///
/// Threads: one thread pushes at a time, one takes at a time. Both may be the same thread if it
/// uses `try_push` or `try_next`. Any thread may call `stop`. Neither may be in a call when the
/// ring is destroyed. Leases and results may outlive the ring. A child of fork cannot use it.
class result_ring {
 public:
  /// Allocates; blocks.
  /// @throws usage_error for invalid sizes; out_of_memory, device_error.
  result_ring(const device_ptr& device, const result_options& options);
  result_ring(const result_ring&) = delete;
  result_ring& operator=(const result_ring&) = delete;
  /// Stops the ring like `stop`. Results that were not taken are dropped. Memory that copies still
  /// use is freed later, like a loader's (see `batch`).
  ~result_ring();

  /// Issues the copy of a result to the CPU. Blocks while all slots are in flight or held, until
  /// the taker returns one.
  /// @param from   Device memory, written by work on `stream`.
  /// @param bytes  At most `slot_bytes`; 0 sends the tag alone.
  /// @param stream Stream on which the memory is written, and overwritten later.
  /// @return A lease to end before the memory is overwritten. Empty if the ring was stopped.
  /// @throws usage_error if the result is too large, the stream is not one of the device's or is
  /// being captured, or after `finish`; nothing is pushed then. stage_error if the ring has failed;
  /// the copy may be in progress.
  std::optional<source_lease> push(const void* from, std::size_t bytes, stream_ref stream,
                                   const result_tag& tag = {});
  /// Same, but never blocks. Also returns nothing, without pushing, if no slot is free.
  [[nodiscard]] std::optional<source_lease> try_push(const void* from, std::size_t bytes,
                                                     stream_ref stream, const result_tag& tag = {});
  /// Declares that no result follows: `next` returns those that were pushed, then nothing. May be
  /// called again. For the pusher.
  void finish();

  /// Returns the next result in the order of the pushes. Blocks until it is pushed and its copy is
  /// done, without using the CPU. Returns nothing after the last one, and after `stop`. For the
  /// taker.
  /// @throws stage_error if the ring has failed, after the results pushed before the failure.
  [[nodiscard]] optional_result next();
  /// Same, but never blocks: also returns nothing if no result is ready. For the taker. @throws
  /// like `next`.
  [[nodiscard]] optional_result try_next();

  /// Wakes all waiting threads. Nothing is pushed or returned any more. For a side that cannot
  /// continue. Does not wait. Any thread.
  void stop() noexcept;

  /// Maximum size of a result, as in the options.
  [[nodiscard]] std::size_t slot_bytes() const noexcept;
  [[nodiscard]] std::size_t slots() const noexcept;

 private:
  std::shared_ptr<detail::result_slots> slots_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
