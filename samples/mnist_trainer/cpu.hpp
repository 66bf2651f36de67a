#pragma once

#include <feedline/device/host_device.hpp>

#include "network.hpp"

#include <algorithm>
#include <span>

namespace mnist {

/// What a network needs of the CPU, on the calling thread; `gpu` is the same for a GPU.
class cpu {
 public:
  std::string name() const { return "cpu"; }
  feedline::device_ptr device() const { return device_; }  ///< that loaders deliver to
  feedline::stream_ref stream() const { return {}; }       ///< to take batches on

  /// Zeros.
  float* allocate(std::size_t count) { return memory_.emplace_back(count).data(); }
  void upload(std::span<const float> from, float* to) { std::ranges::copy(from, to); }
  void download(const float* from, std::span<float> to) { std::copy_n(from, to.size(), to.data()); }

  /// out = left × right + keep × out.
  static void multiply(const matrix& left, const matrix& right, float keep, float* out);

  template <class Operation>
  void for_each(std::size_t count, Operation operation) {
    for (std::size_t i = 0; i < count; ++i) operation(i);
  }

  /// How long the computing waits for data: call these before a batch is taken, and after.
  void begin_wait() { begun_ = clock::now(); }
  void end_wait() { waited_ += clock::now() - begun_; }
  /// Since the last call, in all.
  seconds take_waited() { return std::exchange(waited_, {}); }

 private:
  using clock = std::chrono::steady_clock;
  feedline::device_ptr device_ = feedline::make_host_device();
  std::vector<std::vector<float>> memory_;
  clock::time_point begun_;
  seconds waited_{};
};

}  // namespace mnist
