#pragma once

#include <feedline/device/host_device.hpp>
#include <feedline/device/stream_ref.hpp>

#include "network.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mnist {

/// The functions that a network needs, computed by the CPU on the calling thread; `gpu` has the
/// same for a GPU.
class cpu : public alone {
 public:
  std::string name() const { return "cpu"; }
  feedline::device_ptr device() const { return device_; }  ///< loaders deliver to it
  feedline::stream_ref stream() const { return {}; }       ///< to take batches on

  /// Allocates memory that is filled with zeros.
  template <class Value>
  Value* allocate(std::size_t count) {
    memory_.push_back(std::make_unique<std::byte[]>(count * sizeof(Value)));
    return reinterpret_cast<Value*>(memory_.back().get());
  }
  template <class Value>
  void upload(std::span<const Value> from, Value* to) {
    std::copy(from.begin(), from.end(), to);
  }
  template <class Value>
  void download(const Value* from, std::span<Value> to) {
    std::copy_n(from, to.size(), to.data());
  }

  /// out = left × right + keep × out.
  static void multiply(const matrix& left, const matrix& right, float keep, float* out);

  template <class Operation>
  void for_each(std::size_t count, Operation operation) {
    for (std::size_t i = 0; i < count; ++i) operation(i);
  }

  /// Begins to measure the time of the work that is issued from here on.
  void begin() { began_ = std::chrono::steady_clock::now(); }
  /// Seconds that this work took. Waits for its end.
  double seconds() const {
    return std::chrono::duration<double>{std::chrono::steady_clock::now() - began_}.count();
  }

 private:
  std::chrono::steady_clock::time_point began_;
  feedline::device_ptr device_ = feedline::make_host_device();
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

}  // namespace mnist
