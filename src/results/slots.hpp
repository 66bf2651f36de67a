#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/index.hpp>
#include <feedline/results/ring.hpp>

#include "detail/channel.hpp"
#include "detail/failure.hpp"
#include "detail/own_process.hpp"
#include "device/deferred_free.hpp"
#include "device/owned.hpp"
#include "device/slot_ring.hpp"
#include "results/slot.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace feedline::detail {

/// The slots of a result ring, and the leases on them and on sources. `slot.hpp` has the state
/// table.
///
/// Leases keep it alive. Its memory is freed when every copy into it is done. Threads: at each
/// function.
class result_slots final : public slot_ring<result_slot>,
                           public deferred_free,
                           public std::enable_shared_from_this<result_slots> {
 public:
  /// Makes slots whose memory the last owner frees once the device has finished with it. @throws
  /// usage_error, out_of_memory, device_error.
  [[nodiscard]] static std::shared_ptr<result_slots> make(const device_ptr& device,
                                                          const result_options& options);
  result_slots(const device_ptr& device, const result_options& options);
  /// Blocks until no copy writes the slots any more.
  ~result_slots() override { wait_for_device(); }

  [[nodiscard]] const result_options& options() const noexcept { return options_; }
  /// False in a child of fork.
  [[nodiscard]] bool is_own_process() const noexcept { return process_.is_this(); }
  /// A lease was moved: results do not care by which thread.
  void touched() const noexcept {}

  /// free → copying: issues the copy into an unused slot, and puts it in line for the taker.
  /// Returns nothing once stopped, and, if it may not block, if there is no slot. Pusher.
  /// @throws usage_error, stage_error.
  [[nodiscard]] std::optional<source_lease> push(const void* from, std::size_t bytes,
                                                 stream_ref stream, const result_tag& tag,
                                                 bool blocks);
  /// The stream waits for the copy of a result, unless that is known to be done. Any thread.
  void end_lease(const leased_source& ended) noexcept;
  /// No result follows those that were sent. Pusher.
  void finish() noexcept {
    finished_ = true;
    sent_.close();
  }

  /// The slot next in line, once its copy is done. Nothing at the end, once stopped, and, if it may
  /// not block, if it is not there yet. Taker. @throws stage_error.
  [[nodiscard]] std::optional<slot_index> arrived(bool blocks);
  /// copying → held. Taker.
  [[nodiscard]] result hold(slot_index slot);
  /// held → free. Any thread.
  void recycle(slot_index slot);
  /// The same, for destructors.
  void end_lease(const leased_result& ended) noexcept;

  /// Any thread.
  void stop() noexcept {
    stopped_.store(true);
    close();
  }

  /// Whether every copy is done. Any thread.
  [[nodiscard]] bool is_idle() override { return all_done(); }

 private:
  void check(const void* from, std::size_t bytes, stream_ref stream);
  void issue(result_slot& slot, const void* from, stream_ref stream);
  [[nodiscard]] bool is_copied(const result_slot& slot, bool blocks);
  void fail(const result_tag& tag, std::uint64_t number) noexcept;
  void close() noexcept {
    free_.close();
    sent_.close();
  }

  result_options options_;
  own_process process_;
  stream stream_;                  ///< the stream of copies
  event produced_;                 ///< recorded after the work that makes the last result
  channel<slot_index> free_;       ///< results may end on any thread
  spsc_channel<slot_index> sent_;  ///< copying, in the order of the pushes
  failure_table failure_;
  std::atomic<bool> stopped_{false};

  // The pusher's alone.
  std::uint64_t pushed_ = 0;
  bool finished_ = false;
  std::optional<stream_ref> checked_;  ///< the stream of the last push

  // The taker's alone.
  std::optional<slot_index> front_;  ///< taken out of line, its copy not known to be done
  bool broken_ = false;              ///< it has met the failure
  adaptive_spin spin_{spin_time()};  ///< for copies
};

}  // namespace feedline::detail
