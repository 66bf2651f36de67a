#pragma once

#include <feedline/device/host_device.hpp>

#include "network.hpp"
#include "options.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mnist {

/// A meeting point where ranks that are threads of one process add up their values.
class cpu_team {
 public:
  explicit cpu_team(const process_ranks& ranks)
      : arrived_{static_cast<std::ptrdiff_t>(ranks.here.size())}, values_(ranks.here.size()) {}

  /// Gives every rank the sum, added in the order of ranks. All must call it alike.
  template <class Value>
  void sum(int rank, Value* values, std::size_t count) {
    values_[static_cast<std::size_t>(rank)] = values;
    arrived_.arrive_and_wait();
    if (rank == 0) {
      for (std::size_t other = 1; other < values_.size(); ++other)
        for (std::size_t i = 0; i < count; ++i) values[i] += static_cast<Value*>(values_[other])[i];
      for (std::size_t other = 1; other < values_.size(); ++other)
        std::copy_n(values, count, static_cast<Value*>(values_[other]));
    }
    arrived_.arrive_and_wait();
  }

 private:
  std::barrier<> arrived_;
  std::vector<void*> values_;  // one for each rank
};

/// The functions that a network needs, computed by the CPU on the calling thread; `gpu` has the
/// same for a GPU.
class cpu {
 public:
  using team = cpu_team;

  explicit cpu(const rank& self = {}) : rank_{self.share.rank} {}
  /// Sums are over this rank alone until it joins.
  void join(cpu_team& all) { team_ = &all; }

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

  /// Sums values that earlier work wrote over all ranks, in place. Work after `wait_for_sums` finds
  /// the sums.
  template <class Value>
  void sum(Value* values, std::size_t count) {
    if (team_ != nullptr) team_->sum(rank_, values, count);
  }
  void wait_for_sums() {}

  /// Measure how long the computing waits for data: call these before a batch is taken, and after.
  void begin_wait() {
    waits_since_ = clock::now();
    if (!epoch_since_) epoch_since_ = waits_since_;
  }
  void end_wait() {
    const auto now = clock::now();
    times_.waited += now - waits_since_;
    times_.took = now - *epoch_since_;
  }
  /// Times since the last call. A GPU's work is done then.
  epoch_times take_times() {
    epoch_since_.reset();
    return std::exchange(times_, {});
  }

 private:
  using clock = std::chrono::steady_clock;
  int rank_;
  cpu_team* team_ = nullptr;
  feedline::device_ptr device_ = feedline::make_host_device();
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  clock::time_point waits_since_;
  std::optional<clock::time_point> epoch_since_;
  epoch_times times_;
};

}  // namespace mnist
