#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/statistics/trace.hpp>

#include "device/trace/device.hpp"
#include "statistics/stage_clock.hpp"
#include "statistics/trace_recorder.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace feedline::detail {

/// Receives the activities of a pipeline's threads. It tells profilers, as named ranges of the
/// device's, and records it if a trace is wanted.
///
/// Threads: `snapshot` by any; a clock's functions by the clock's thread.
class activity_recorder final : public activity_listener {
 public:
  /// @param events Same as `loader_options::expert.trace_events`. @throws device_error
  activity_recorder(device_ptr device, const loader_plan& plan, std::size_t events);

  /// The device for the pipeline to use: if its work is traced, a tracing one.
  [[nodiscard]] device_ptr traced() const noexcept { return traced_ ? traced_ : device_; }
  /// Call it once the pipeline has made its streams, before it starts its threads.
  void follow(const stage_clock& transfer, const stage_clock& consumer);

  void on_activity(const activity_span& ended, activity next) noexcept override;
  /// Records the number of readers and staging slots that work from now on. Any thread.
  void on_tuning(int readers, std::size_t staging_slots) noexcept;

  /// Same as `traced_device::end_epoch` and `traced_device::leave_epoch`. Consumer.
  void end_epoch(stream_ref stream) noexcept {
    if (traced_) traced_->end_epoch(stream);
  }
  void leave_epoch() noexcept {
    if (traced_) traced_->leave_epoch();
  }
  /// @throws usage_error where no trace is wanted.
  [[nodiscard]] trace snapshot() const;

 private:
  [[nodiscard]] trace_lane_record& lane_of(const activity_span& span) noexcept;

  const device_ptr device_;
  std::shared_ptr<trace_recorder> recorder_;  ///< null where no trace is wanted
  std::shared_ptr<traced_device> traced_;     ///< null if streams are not traced
  std::vector<trace_lane_record*> readers_;
  trace_lane_record* transfer_ = nullptr;
  trace_lane_record* consumer_ = nullptr;
};

}  // namespace feedline::detail
