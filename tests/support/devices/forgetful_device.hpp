#pragma once

#include <feedline/backend/device.hpp>

#include "support/devices/wrapped_device.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace feedline::test {

/// The edges that a forgetful device can leave out: they keep slots and cached rows from being
/// overwritten or read too early.
enum class forgotten : std::uint8_t {
  nothing,
  copy_waits_for_consumer,  ///< a slot is filled, or a result copied, too early
  consumer_waits_for_copy,  ///< the consumer's stream does not wait for what fills its slot, or
                            ///< for the copy of what it overwrites next
  reader_waits_for_copy,    ///< the host takes every copy for done
  assembly_waits_for_rows,  ///< an assembly does not wait for the one that keeps rows for it
};

/// Another device, except for one edge: the mutant that a test of the edge must catch. Without it
/// such a test could pass by luck. An edge is known by the stream that an event was recorded on and
/// the one that waits for it.
class forgetful_device final : public wrapped_device {
 public:
  /// @param consumer The consumer's stream.
  forgetful_device(device_ptr real, stream_ref consumer, forgotten edge)
      : wrapped_device{std::move(real)}, consumer_{consumer}, edge_{edge} {}

  void record(event_handle event, stream_ref stream) override {
    {
      const std::scoped_lock lock{mutex_};
      recorded_on_[event] = stream;
    }
    wrapped_device::record(event, stream);
  }
  void wait(stream_ref stream, event_handle event) override {
    if (!forgets(stream, event)) wrapped_device::wait(stream, event);
  }
  [[nodiscard]] bool is_done(event_handle event) override {
    return edge_ == forgotten::reader_waits_for_copy || wrapped_device::is_done(event);
  }

 private:
  bool forgets(stream_ref waiting, event_handle event) const {
    const std::scoped_lock lock{mutex_};
    const auto found = recorded_on_.find(event);
    if (found == recorded_on_.end()) return false;  // nothing to wait for yet
    const stream_ref recorded = found->second;
    switch (edge_) {
      case forgotten::copy_waits_for_consumer:
        return recorded == consumer_;
      case forgotten::consumer_waits_for_copy:
        return waiting == consumer_;
      case forgotten::assembly_waits_for_rows:
        return waiting != consumer_ && recorded != consumer_ && recorded != waiting;
      case forgotten::nothing:
      case forgotten::reader_waits_for_copy:
        return false;
    }
    return false;
  }

  stream_ref consumer_;
  forgotten edge_;
  mutable std::mutex mutex_;
  std::map<event_handle, stream_ref> recorded_on_;
};

}  // namespace feedline::test
