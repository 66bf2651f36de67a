#pragma once

#include <feedline/backend/device.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace feedline::test {

/// Another device, call for call: to derive from and change one.
class wrapped_device : public device {
 public:
  explicit wrapped_device(device_ptr real) : real_{std::move(real)} {}

  [[nodiscard]] device_capabilities capabilities() const override { return real_->capabilities(); }
  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override {
    return real_->allocate(kind, bytes);
  }
  void free(memory_kind kind, void* memory, std::size_t bytes) noexcept override {
    real_->free(kind, memory, bytes);
  }
  [[nodiscard]] std::optional<std::size_t> free_bytes(memory_kind kind) override {
    return real_->free_bytes(kind);
  }
  [[nodiscard]] stream_ref make_stream() override { return real_->make_stream(); }
  [[nodiscard]] stream_ref make_high_priority_stream() override {
    return real_->make_high_priority_stream();
  }
  void destroy_stream(stream_ref stream) noexcept override { real_->destroy_stream(stream); }
  [[nodiscard]] event_handle make_event() override { return real_->make_event(); }
  void destroy_event(event_handle event) noexcept override { real_->destroy_event(event); }
  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    real_->copy(to, from, bytes, stream);
  }
  void copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    real_->copy_back(to, from, bytes, stream);
  }
  void assemble(const assembly& work, stream_ref stream) override { real_->assemble(work, stream); }
  [[nodiscard]] const std::byte* map(std::span<const std::byte> memory) override {
    return real_->map(memory);
  }
  void unmap(std::span<const std::byte> memory) noexcept override { real_->unmap(memory); }
  void record(event_handle event, stream_ref stream) override { real_->record(event, stream); }
  void wait(stream_ref stream, event_handle event) override { real_->wait(stream, event); }
  [[nodiscard]] bool is_done(event_handle event) override { return real_->is_done(event); }
  void sync(event_handle event) override { real_->sync(event); }
  [[nodiscard]] bool tells_times() const noexcept override { return real_->tells_times(); }
  [[nodiscard]] event_handle make_timed_event() override { return real_->make_timed_event(); }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> elapsed(event_handle begin,
                                                                event_handle end) override {
    return real_->elapsed(begin, end);
  }
  void begin_thread() noexcept override { real_->begin_thread(); }
  void begin_range(const char* name) noexcept override { real_->begin_range(name); }
  void end_range() noexcept override { real_->end_range(); }
  [[nodiscard]] bool is_capturing(stream_ref stream) override {
    return real_->is_capturing(stream);
  }
  [[nodiscard]] stream_ref for_any_thread(stream_ref stream) const override {
    return real_->for_any_thread(stream);
  }
  void check(stream_ref stream) const override { real_->check(stream); }

 private:
  device_ptr real_;
};

}  // namespace feedline::test
