#pragma once

#include <feedline/backend/device.hpp>

#include "device/trace/stream_lane.hpp"
#include "statistics/stage_clock.hpp"
#include "statistics/trace_recorder.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// A device whose streams record a trace: in one lane for each stream that is created, and one for
/// the consumer's stream. All calls go to the real device, which must measure times.
///
/// It traces copies and assemblies; waits for events that are not done when the wait is issued;
/// and, on the consumer's stream, the time from a slot's arrival to the next mark. Threads: like
/// `device`; streams are created, and `follow` is called, before there are other threads.
class traced_device final : public device {
 public:
  /// Waits for the device once, to read its time. @throws device_error
  traced_device(device_ptr real, std::shared_ptr<trace_recorder> recorder);
  ~traced_device() override;

  /// Traces work from now on. @param transfer, consumer Clocks of the threads that issue it: they
  /// tell which batches it is for. Borrowed.
  void follow(const stage_clock& transfer, const stage_clock& consumer);
  /// Call it when the consumer's epoch ends while its stream still exists.
  void end_epoch(stream_ref stream) noexcept;
  /// Call it when the consumer has left its epoch; its stream may be gone.
  void leave_epoch() noexcept;
  /// Reads the times of what the streams have done.
  void poll() noexcept;

  [[nodiscard]] device_capabilities capabilities() const override;
  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override;
  void free(memory_kind kind, void* memory, std::size_t bytes) noexcept override;
  [[nodiscard]] void* allocate_short_lived(memory_kind kind, std::size_t bytes) override;
  void free_short_lived(memory_kind kind, void* memory, std::size_t bytes) noexcept override;
  [[nodiscard]] std::optional<std::size_t> free_bytes(memory_kind kind) override;
  [[nodiscard]] stream_ref make_stream() override;
  [[nodiscard]] stream_ref make_high_priority_stream() override;
  void destroy_stream(stream_ref stream) noexcept override;
  [[nodiscard]] event_handle make_event() override;
  void destroy_event(event_handle event) noexcept override;
  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override;
  void copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) override;
  void assemble(const assembly& work, stream_ref stream) override;
  [[nodiscard]] const std::byte* map(std::span<const std::byte> memory) override;
  void unmap(std::span<const std::byte> memory) noexcept override;
  void record(event_handle event, stream_ref stream) override;
  void wait(stream_ref stream, event_handle event) override;
  [[nodiscard]] bool is_done(event_handle event) override;
  void sync(event_handle event) override;
  [[nodiscard]] bool tells_times() const noexcept override;
  [[nodiscard]] event_handle make_timed_event() override;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> elapsed(event_handle begin,
                                                                event_handle end) override;
  void begin_thread() noexcept override;
  void begin_range(const char* name) noexcept override;
  void end_range() noexcept override;
  [[nodiscard]] bool is_capturing(stream_ref stream) override;
  [[nodiscard]] stream_ref for_any_thread(stream_ref stream) const override;
  void check(stream_ref stream) const override;

 private:
  friend device_ptr untraced(const device_ptr& device);
  /// Adds a lane for a new stream. @throws what adding one throws: the stream is destroyed then.
  [[nodiscard]] stream_ref followed(stream_ref made);
  /// Null for a stream that was not created here.
  [[nodiscard]] stream_lane* lane_of(stream_ref stream) noexcept;
  [[nodiscard]] work_label transfers() const noexcept;
  [[nodiscard]] bool is_pending(event_handle event) noexcept;
  void mark(stream_lane& lane, stream_ref stream, std::optional<trace_activity> next,
            work_label label = {}) noexcept;
  void take_times() noexcept;

  const device_ptr real_;
  const std::shared_ptr<trace_recorder> recorder_;
  const event anchor_;
  std::mutex mutex_;  ///< guards the clock and the lanes' contents
  device_clock clock_;
  std::vector<std::pair<stream_ref, std::unique_ptr<stream_lane>>> lanes_;
  std::unique_ptr<stream_lane> consumers_;  ///< null until `follow`
  const stage_clock* transfer_ = nullptr;
  const stage_clock* consumer_ = nullptr;
};

/// The device that a traced device wraps, or the device itself: for work that is not traced, by any
/// thread.
[[nodiscard]] inline device_ptr untraced(const device_ptr& device) {
  const auto* const traced = dynamic_cast<const traced_device*>(device.get());
  return traced == nullptr ? device : traced->real_;
}

}  // namespace feedline::detail
