#pragma once

#include <feedline/device/device.hpp>

#include <cstdint>
#include <memory>
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
class forgetful_device final : public device {
 public:
  /// @param consumer The consumer's stream, by which the two stream waits are told apart.
  forgetful_device(device_ptr real, stream_ref consumer, forgotten edge)
      : real_{std::move(real)}, consumer_{consumer}, edge_{edge} {}

  [[nodiscard]] device_capabilities capabilities() const override { return real_->capabilities(); }
  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override {
    return real_->allocate(kind, bytes);
  }
  void free(memory_kind kind, void* memory, std::size_t bytes) noexcept override {
    real_->free(kind, memory, bytes);
  }
  [[nodiscard]] stream_ref make_stream() override { return real_->make_stream(); }
  void destroy_stream(stream_ref stream) noexcept override { real_->destroy_stream(stream); }
  [[nodiscard]] event_handle make_event() override { return real_->make_event(); }
  void destroy_event(event_handle event) noexcept override { real_->destroy_event(event); }
  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    real_->copy(to, from, bytes, stream);
  }
  void record(event_handle event, stream_ref stream) override { real_->record(event, stream); }
  void wait(stream_ref stream, event_handle event) override {
    if (edge_ == forgotten::consumer_waits_for_copy && stream == consumer_) return;
    if (edge_ == forgotten::copy_waits_for_consumer && stream != consumer_) return;
    real_->wait(stream, event);
  }
  [[nodiscard]] bool is_done(event_handle event) override {
    return edge_ == forgotten::reader_waits_for_copy || real_->is_done(event);
  }
  void sync(event_handle event) override { real_->sync(event); }
  void check(stream_ref stream) const override { real_->check(stream); }

 private:
  device_ptr real_;
  stream_ref consumer_;
  forgotten edge_;
};

}  // namespace feedline::test
