#pragma once

#include <feedline/device/device.hpp>

#include "support/wrapped_device.hpp"

#include <cstdint>
#include <utility>

namespace feedline::test {

/// What a forgetful device leaves out: the three edges that keep slots from being overwritten or
/// read too soon.
enum class forgotten : std::uint8_t {
  nothing,
  copy_waits_for_consumer,  ///< the copy stream does not wait for the end of a lease
  consumer_waits_for_copy,  ///< the consumer's stream does not wait for the copy
  reader_waits_for_copy,    ///< the host takes every copy for done
};

/// Another device, but for one edge: the mutant that a test of the edge must catch. Without it such
/// a test could pass by luck.
class forgetful_device final : public wrapped_device {
 public:
  /// @param consumer The consumer's stream, by which the two stream waits are told apart.
  forgetful_device(device_ptr real, stream_ref consumer, forgotten edge)
      : wrapped_device{std::move(real)}, consumer_{consumer}, edge_{edge} {}

  void wait(stream_ref stream, event_handle event) override {
    if (edge_ == forgotten::consumer_waits_for_copy && stream == consumer_) return;
    if (edge_ == forgotten::copy_waits_for_consumer && stream != consumer_) return;
    wrapped_device::wait(stream, event);
  }
  [[nodiscard]] bool is_done(event_handle event) override {
    return edge_ == forgotten::reader_waits_for_copy || wrapped_device::is_done(event);
  }

 private:
  stream_ref consumer_;
  forgotten edge_;
};

}  // namespace feedline::test
