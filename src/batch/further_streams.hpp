#pragma once

#include <feedline/backend/device.hpp>

#include "device/owned.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace feedline::detail {

/// The streams other than the consumer's on which a slot's batches are used (`stream_use`).
///
/// A use begins with a mark on the consumer's stream, and the use's own stream waits for it. It
/// ends with a mark on its own stream, and a *joining stream* of the slot's waits for it.
/// `released` is then recorded on the joining stream, after a mark on the consumer's stream. So
/// neither of the user's streams waits for work that comes after a use begins.
///
/// One event serves for all marks, under a lock: a wait keeps the state that it saw.
///
/// Threads: `begin` and `end` by any that holds a batch of the slot; the rest by the thread that
/// marks, frees or leases it. The cursor may hand out a batch whose use begins meanwhile: then it
/// is marked again.
class further_streams {
 public:
  /// No stream uses the slot yet.
  void reset() noexcept { used_.store(false); }
  /// Whether any stream has: then `release` must record the slot's release.
  [[nodiscard]] bool used() const noexcept { return used_.load(); }
  /// The device refused a mark, so it is unknown when the slot may be used again.
  [[nodiscard]] bool lost() const noexcept { return lost_.load(); }

  /// Makes `stream` wait for the work on `consumers`; neither is under capture. @throws
  /// device_error
  void begin(const device_ptr& device, stream_ref consumers, stream_ref stream) {
    const std::scoped_lock lock{mutex_};
    if (!made_) made_.emplace(device);
    captured_.reserve(captured_.size() + uses_ + 1);
    device->record(made_->mark.get(), consumers);
    device->wait(stream, made_->mark.get());
    used_.store(true);
    ++uses_;
  }
  /// Marks the stream of a use that ends; later if it is under capture. False then.
  /// @throws device_error, and then the slot is lost.
  bool end(device& device, stream_ref stream) {
    const std::scoped_lock lock{mutex_};
    --uses_;
    return mark(device, stream);
  }
  /// Marks the streams that were under capture as their uses ended. False if some still are.
  /// @throws as `end`.
  bool mark_captured(device& device) {
    const std::scoped_lock lock{mutex_};
    for (std::size_t left = captured_.size(); left != 0; --left) {
      const stream_ref stream = captured_.front();
      captured_.erase(captured_.begin());
      mark(device, stream);
    }
    return captured_.empty();
  }
  /// Records the release of a slot that was used. @throws device_error
  void release(device& device, stream_ref consumers, event_handle released) {
    const std::scoped_lock lock{mutex_};
    device.record(made_->mark.get(), consumers);
    device.wait(made_->joint.get(), made_->mark.get());
    device.record(released, made_->joint.get());
  }

 private:
  bool mark(device& device, stream_ref stream) {
    try {
      if (device.is_capturing(stream)) {
        captured_.push_back(stream);  // there is room
        return false;
      }
      device.record(made_->mark.get(), stream);
      device.wait(made_->joint.get(), made_->mark.get());
      return true;
    } catch (...) {
      lost_.store(true);
      throw;
    }
  }

  struct handles {
    explicit handles(const device_ptr& device) : joint{device}, mark{device} {}
    stream joint;
    event mark;
  };

  std::mutex mutex_;
  std::optional<handles> made_;       ///< made by the first use
  std::vector<stream_ref> captured_;  ///< to be marked later
  std::size_t uses_ = 0;
  std::atomic<bool> used_{false};
  std::atomic<bool> lost_{false};
};

}  // namespace feedline::detail
