#pragma once

#include "gpu/gate.hpp"
#include "support/devices/wrapped_device.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace feedline::test {

/// A CUDA device whose copies, there and back, wait for a gate on their stream: issued and
/// recorded, but not done until the gate opens.
class held_device final : public wrapped_device {
 public:
  held_device(device_ptr real, gpu_gate& gate) : wrapped_device{std::move(real)}, gate_{gate} {}

  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    gate_.hold(static_cast<cudaStream_t>(stream.get()));
    wrapped_device::copy(to, from, bytes, stream);
    ++copies_;
    copies_.notify_all();
  }

  void copy_back(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    gate_.hold(static_cast<cudaStream_t>(stream.get()));
    wrapped_device::copy_back(to, from, bytes, stream);
  }

  /// Blocks until this many copies to the GPU were issued.
  void wait_for_copies(std::uint64_t count) const {
    for (auto seen = copies_.load(); seen < count; seen = copies_.load()) copies_.wait(seen);
  }

 private:
  gpu_gate& gate_;
  std::atomic<std::uint64_t> copies_{0};
};

/// A CUDA device that counts the copies issued through it.
class counted_device final : public wrapped_device {
 public:
  using wrapped_device::wrapped_device;

  void copy(void* to, const void* from, std::size_t bytes, stream_ref stream) override {
    wrapped_device::copy(to, from, bytes, stream);
    last_ = stream.get();
    ++copies_;
    copies_.notify_all();
  }

  /// Blocks until this many copies were issued.
  void wait_for_copies(std::uint64_t count) const {
    for (auto seen = copies_.load(); seen < count; seen = copies_.load()) copies_.wait(seen);
  }
  /// The stream that copies are issued on, once there was one.
  [[nodiscard]] cudaStream_t copy_stream() const { return static_cast<cudaStream_t>(last_.load()); }

 private:
  std::atomic<void*> last_{nullptr};
  std::atomic<std::uint64_t> copies_{0};
};

}  // namespace feedline::test
