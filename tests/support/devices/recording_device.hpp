#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/device/host_device.hpp>

#include "support/devices/scripted_device.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace feedline::test {

/// One call that a device got.
struct recorded_call {
  device_call what;
  event_handle event = event_handle::none;
  stream_ref stream = {};
  std::size_t bytes = 0;  ///< size of a copy

  friend bool operator==(const recorded_call&, const recorded_call&) = default;
};

/// A device that writes down which calls it gets on events and streams, in order. Its copies are
/// done at once; its events are done unless a test says otherwise. Threads: any.
class recording_device final : public device {
 public:
  /// The answer of `is_done` and the work of `sync`; may throw. Set before the device is used.
  std::function<bool(event_handle)> on_is_done = [](event_handle) { return true; };
  std::function<void(event_handle)> on_sync = [](event_handle) {};
  /// Called at each copy, assembly, record and wait; may throw.
  std::function<void(const recorded_call&)> on_call = [](const recorded_call&) {};

  /// Memory that was never freed goes with the device.
  ~recording_device() override {
    for (const auto& [memory, bytes] : blocks_) host_->free(memory_kind::device, memory, bytes);
  }

  [[nodiscard]] std::vector<recorded_call> calls() const {
    const std::scoped_lock lock{mutex_};
    return calls_;
  }
  void forget_calls() {
    const std::scoped_lock lock{mutex_};
    calls_.clear();
  }

  [[nodiscard]] device_capabilities capabilities() const override {
    return {.name = "recording", .reads_staging = false};
  }
  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override {
    void* const memory = host_->allocate(kind, bytes);
    const std::scoped_lock lock{mutex_};
    blocks_[memory] = bytes;
    return memory;
  }
  void free(memory_kind kind, void* memory, std::size_t bytes) noexcept override {
    {
      const std::scoped_lock lock{mutex_};
      blocks_.erase(memory);
    }
    host_->free(kind, memory, bytes);
  }
  [[nodiscard]] std::size_t blocks() const {
    const std::scoped_lock lock{mutex_};
    return blocks_.size();
  }
  [[nodiscard]] stream_ref make_stream() override {
    return stream_ref::from_raw(&streams_[next_stream_++]);
  }
  void destroy_stream(stream_ref) noexcept override {}
  [[nodiscard]] event_handle make_event() override { return event_handle{++last_event_}; }
  void destroy_event(event_handle) noexcept override {}

  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    note({.what = device_call::copy, .stream = stream, .bytes = bytes});
    host_->copy(to, from, bytes, {});
  }
  void copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    note({.what = device_call::copy_back, .stream = stream, .bytes = bytes});
    host_->copy_back(to, from, bytes, {});
  }
  void assemble(const assembly& work, stream_ref stream) override {
    note({.what = device_call::assemble, .stream = stream});
    host_->assemble(work, {});
  }
  [[nodiscard]] const std::byte* map(std::span<const std::byte> memory) override {
    return memory.data();
  }
  void unmap(std::span<const std::byte>) noexcept override {}
  void record(event_handle event, stream_ref stream) override {
    note({.what = device_call::record, .event = event, .stream = stream});
  }
  void wait(stream_ref stream, event_handle event) override {
    note({.what = device_call::wait, .event = event, .stream = stream});
  }
  [[nodiscard]] bool is_done(event_handle event) override { return on_is_done(event); }
  void sync(event_handle event) override {
    note({.what = device_call::sync, .event = event});
    on_sync(event);
  }
  void check(stream_ref) const override {}

 private:
  void note(const recorded_call& call) {
    {
      const std::scoped_lock lock{mutex_};
      calls_.push_back(call);
    }
    if (call.what != device_call::sync) on_call(call);
  }

  device_ptr host_ = make_host_device();
  mutable std::mutex mutex_;
  std::map<void*, std::size_t> blocks_;
  std::vector<recorded_call> calls_;
  char streams_[8] = {};
  std::size_t next_stream_ = 0;
  std::uintptr_t last_event_ = 0;
};

}  // namespace feedline::test
